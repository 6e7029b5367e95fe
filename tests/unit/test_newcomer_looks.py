"""A model that joins a study with planned looks: looks of its own, against those that were judged before."""

import itertools
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from backend.administration import join
from backend.analysis.planning.boundaries import stops
from backend.analysis.planning.looks import LookPlan
from backend.cli import main
from backend.competitions.competition import Competitions
from backend.competitions.pages import competition_page
from backend.competitions.progress import read as read_progress
from backend.competitions.states import state_of
from backend.competitions.submissions import Submission
from backend.competitions.terms import Terms, set_terms
from backend.experiment.planned_looks import aim_of
from backend.experiment.records import FAKE, Stimulus
from backend.foundation.errors import Conflict
from backend.jobs import queue
from backend.jobs.look import have_decided
from backend.report import planned_looks
from backend.responses import study_looks
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.studies import look_records
from backend.studies.closing import close_model
from backend.web import look_course
from backend.web.progress import as_text, progress

from . import sample_studies as studies
from .conftest import World
from .killed import killed_at_each_write

ROOT = Path(__file__).parents[2]
BOTH = [("vae", "wae"), ("wae", "gan")]
"""Pairs of a newcomer `wae`."""
PLAN = {"looks": "5,10,15", "aim": "apart", "spending": "pocock", "images": 8, "panel": "link"}
FAR, NEAR = {"gan": [0, 1], "vae": [6, 7]}, {"gan": [2, 3, 4], "vae": [4, 3, 2]}


def finish(world, evaluators, wrong):
    """Have so many evaluators finish; `wrong` has the numbers of errors of each model's, in turn."""
    counts = {model: itertools.cycle(errors) for model, errors in wrong.items()}
    for _ in range(evaluators):
        player = world.player()
        errors = next(counts[world.store.session(player.state["session"]).model])
        trials = itertools.count()
        player.play(lambda truth, trials=trials, errors=errors: next(trials) >= errors)
        world.clock.move(minutes=1)


def current(world):
    return world.store.study("faces")


def decided(world, store=None, **options):
    return study_looks.decide(store or world.store, current(world), world.clock.now.isoformat(), **options)


def joined(world, model, each=60):
    """Have a model join as `join` stores it, without pictures on disk."""
    rng = Random(model)
    names = [f"{rng.getrandbits(128):032x}.png" for _ in range(each)]
    stimuli = [Stimulus(name, FAKE, model, source=name) for name in names]
    join._grown(world.store, current(world), model, stimuli, (), world.clock.now)
    world.pools["faces"] += stimuli


def begun(world):
    """Return a world with a study whose first two models are apart at the first look."""
    world.add(studies.study(**PLAN))
    finish(world, 10, FAR)
    assert decided(world)["stopped"]
    return world


@pytest.fixture
def judged(world):
    return begun(world)


@pytest.fixture
def each_judged(each_world):
    return begun(each_world)


def records(world, model):
    return look_records.decisions_of(world.store, current(world), model)


def test_a_newcomer_is_run_until_it_is_apart_from_those_before(each_judged):
    joined(each_judged, "wae")
    before = current(each_judged)
    finish(each_judged, 5, {"wae": [4, 3]})
    assert each_judged.open().json["error"]["code"] == "study_full"

    made = decided(each_judged)["newcomers"]["wae"]

    (record,) = records(each_judged, "wae")
    assert (before.has_stopped, before.wanted, before.evaluators_wanted) == (False, {"wae": 5}, 15)
    assert record["evaluators"] == {"gan": 5, "vae": 5, "wae": 5}
    assert (record["decision"], record["reason"]) == ("stop", "the aim apart is reached")
    assert sorted((row["a"], row["b"]) for row in record["pairs"]) == [("vae", "wae"), ("wae", "gan")]
    assert {*record["new"]} == {row["model"] for row in record["scores"]} == {"wae"}
    assert made["saved"] == 10
    after = current(each_judged)
    assert (after.ended, after.ended_at) == (("gan", "vae", "wae"), (5, 5, 5))
    assert (after.newcomer_looks, after.has_stopped) == ((1,), True)
    assert decided(each_judged)["newcomers"]["wae"]["looks"] == [record]


def test_a_newcomer_that_is_not_apart_goes_on_to_the_last_look(judged):
    joined(judged, "wae")
    for looks in (1, 2, 3):
        finish(judged, 5, {"wae": [0, 1]})
        assert judged.open().json["error"]["code"] == "study_full"
        decided(judged)
        assert len(records(judged, "wae")) == looks

    *_, last = records(judged, "wae")
    assert last["reason"] == "it is the last look; the aim apart is not reached"
    assert {(row["a"], row["b"]): row["state"] for row in last["pairs"]}[("vae", "wae")] == "apart"
    assert current(judged).has_stopped
    assert judged.store.taken("faces", "")["wae"] == 15


def test_two_that_join_at_once_have_looks_of_their_own(judged):
    joined(judged, "wae")
    joined(judged, "dit")
    finish(judged, 10, {"wae": [4, 3], "dit": [0, 1]})

    decided(judged)

    assert [{*records(judged, model)[0]["evaluators"]} for model in ("wae", "dit")] == [
        {"gan", "vae", "wae"},
        {"gan", "vae", "dit"},
    ]
    assert (current(judged).newcomer_looks, current(judged).wanted) == ((1, 1), {"dit": 10})
    joined(judged, "mid")
    finish(judged, 5, {"dit": [0, 1], "mid": [2]})
    while len(records(judged, "mid")) < 1:
        finish(judged, 1, {"dit": [0, 1], "mid": [2]})
        decided(judged)
    assert {*records(judged, "mid")[0]["evaluators"]} == {"gan", "vae", "wae", "mid"}


def test_the_looks_of_a_newcomer_wait_for_those_of_the_first_models(world):
    world.add(studies.study(**PLAN))
    joined(world, "wae")
    finish(world, 15, {**NEAR, "wae": [8]})
    decided(world)
    assert (current(world).looks_done, records(world, "wae")) == (1, [])
    assert world.store.taken("faces", "")["wae"] == 5

    finish(world, 10, FAR)
    decided(world)

    assert current(world).first_have_ended
    (first,) = records(world, "wae")
    assert first["evaluators"] == {"gan": 10, "vae": 10, "wae": 5}


@pytest.mark.parametrize(
    ("aim", "pairs", "decision", "words"),
    [
        ("apart=gan", [("wae", "gan")], "stop", "it differs significantly from gan"),
        ("apart=neighbours", BOTH, "stop", "it differs significantly from every other model"),
        ("ranks=1", BOTH, "stop", "the ranks that are left to every model are at most 1"),
        ("half-width=1", [], "go on", "every 95% interval of a score is at most 1 points to a side"),
        (
            "futility=1",
            BOTH,
            "stop",
            "it differs significantly from every other model, or the last look would",
        ),
        ("equal-within=45", BOTH, "go on", "it and every other model are equal within 45 points"),
    ],
)
def test_each_aim_is_that_of_the_newcomer(world, aim, pairs, decision, words):
    study = world.add(studies.study(**{**PLAN, "aim": aim}))
    assert planned_looks.aim_in_words(study.protocol.looks.plan, "points", is_of_newcomer=True).startswith(
        words
    )
    finish(world, 10, FAR)
    decided(world, is_closed=True)
    joined(world, "wae")
    finish(world, 5, {"wae": [4, 3]})

    decided(world)

    (record,) = records(world, "wae")
    assert sorted((row["a"], row["b"]) for row in record["pairs"]) == pairs
    assert record["decision"] == decision
    if aim == "ranks=1":
        assert record["scores"][0]["ranks"] == [2, 2]


def test_two_that_decide_at_once_make_one_record(each_judged):
    joined(each_judged, "wae")
    finish(each_judged, 5, {"wae": [0, 1]})

    with ThreadPoolExecutor(8) as threads:
        made = [*threads.map(lambda _: decided(each_judged), range(8))]

    (record,) = records(each_judged, "wae")
    assert current(each_judged).newcomer_looks == (1,)
    assert {each["newcomers"]["wae"]["looks"][0]["data"] for each in made} == {record["data"]}


def test_a_process_killed_at_each_write_leaves_what_the_next_one_ends(each_judged):
    joined(each_judged, "wae")
    finish(each_judged, 5, {"wae": [4, 3]})

    seen = []
    for writes in killed_at_each_write(each_judged.store, lambda store: decided(each_judged, store)):
        seen.append((writes, len(records(each_judged, "wae")), current(each_judged).newcomer_looks))
        first = records(each_judged, "wae")
        each_judged.clock.move(days=-3)

    assert seen == [(0, 0, ()), (1, 1, ())]
    assert (records(each_judged, "wae"), current(each_judged).has_stopped) == (first, True)


def test_who_withdraws_from_those_before_changes_no_set_and_holds_nothing_up(judged):
    joined(judged, "wae")
    finish(judged, 5, {"wae": [0, 1]})
    decided(judged)
    gone = next(session.id for session, _ in judged.store.sessions("faces") if session.model == "gan")
    judged.store.erase_session(gone)
    finish(judged, 5, {"wae": [0, 1]})

    study, (finished, newest) = current(judged), judged.store.finished("faces")
    have_decided(judged.store, study, judged.clock.now)
    decided(judged)

    key = f"faces {study.created_at} {finished} {newest} 2"
    assert (finished, study.evaluators_wanted) == (19, 20)
    assert queue.find(judged.store, "look", key) is not None
    first, second = records(judged, "wae")
    assert (first["evaluators"], second["evaluators"]["gan"]) == ({"gan": 5, "vae": 5, "wae": 5}, 4)
    assert second["evaluators"]["wae"] == 10


def test_a_withdrawn_newcomer_is_looked_at_no_more(judged):
    joined(judged, "wae")
    finish(judged, 5, {"wae": [0, 1]})
    close_model(judged.store, current(judged), "wae")

    assert decided(judged)["newcomers"] == {}
    assert current(judged).has_stopped
    assert judged.open().json["error"]["code"] == "study_full"


def test_sessions_of_several_models_take_no_newcomer():
    study = studies.study(**{**PLAN, "models_per_session": "2"}, models=("gan", "vae", "wae"))
    with pytest.raises(Exception, match="its evaluators judge several models: those of a model that joins"):
        join.check(study, "new")


def test_a_closed_study_closes_its_newcomers(judged):
    joined(judged, "wae")
    finish(judged, 3, {"wae": [0, 1]})

    decided(judged, is_closed=True)

    (record,) = records(judged, "wae")
    assert (
        record["reason"] == "closed before 5 evaluators of each model, with fewer than 5: nothing is tested"
    )
    assert current(judged).has_stopped


def test_boundaries_count_the_information_of_those_before(judged):
    joined(judged, "wae")
    finish(judged, 5, {"wae": [0, 1]})
    made = decided(judged)

    (record,) = records(judged, "wae")
    plan = LookPlan((5, 10, 15), aim_of("apart"), "pocock", 1 - 0.05 / 2).against(5)
    assert plan.fractions == pytest.approx(
        [(1 / (1 / n + 1 / 5)) / (1 / (1 / 15 + 1 / 5)) for n in (5, 10, 15)]
    )
    assert record["errors"] == pytest.approx(2 * plan.errors, rel=1e-3)
    assert stops(plan.fractions, plan.bounds).rejects == pytest.approx(0.025, abs=1e-5)
    assert made["newcomers"]["wae"]["waits_for"] == {"wae": 5}


def test_export_replays_the_newcomers_looks(world, tmp_path):
    world.add(studies.study(**PLAN))
    finish(world, 10, FAR)
    decided(world)
    joined(world, "wae")
    finish(world, 5, {"wae": [0, 1]})
    out = str(tmp_path / "out")
    run = lambda *arguments: CliRunner().invoke(main, [*arguments, "--data", str(tmp_path)])  # noqa: E731
    shown = run("looks", "faces")
    assert run("export", "faces", "-o", out).exit_code == 0

    replay = run("looks", out, "--replay")

    assert "looks of wae, which joined, against " in shown.stdout
    assert replay.stdout.splitlines() == ["look 1 (stop): same", "look 1 of wae (go on): same"]
    session = next(session.id for session, _ in world.store.sessions("faces") if session.model == "gan")
    world.store.erase_session(session)
    assert run("export", "faces", "-o", out).exit_code == 0
    assert (
        "look 1 of wae (go on): incomplete, 1 evaluators of gan are not in"
        in run("looks", out, "--replay").stdout
    )


def test_live_view_status_and_report_show_them(world, tmp_path):
    world.add(studies.study(**PLAN, looks_hide_scores=True))
    finish(world, 10, FAR)
    decided(world)
    joined(world, "wae")
    finish(world, 5, {"wae": [0, 1]})
    decided(world)
    study = current(world)

    course = look_course.looks(world.store, study)

    (row,) = course["newcomers"]
    assert (course["next"], row["next"], row["done"], row["against"]) == (None, 10, 1, ["gan", "vae"])
    assert (row["decided"][0]["evaluators"], len(row["boundary"])) == (5, 3)
    text = as_text(progress(world.store, study))
    assert "1 done, stopped" in text
    assert "looks of wae, which joined: 1 done, the next at 10 evaluators" in text
    assert "scores are hidden until the looks have ended" in text
    assert "5 finished of 10 wanted" in text.replace(", 0 ended, 0 active, 0 abandoned, 0 returned", "")
    (*_, table) = planned_looks.section(study_looks.exported(world.store, study), "percent").tables
    assert (table.name, [*table.cells[0]][:3]) == ("newcomer-looks", ["wae", "1", "5"])
    key = {"Authorization": f"Bearer {world.data.keys().researcher}"}
    live = world.http.get("/api/studies/faces/live", headers=key).json
    assert json.dumps(live["looks"]["newcomers"]) == json.dumps(course["newcomers"])


def test_a_competition_lists_a_model_once_its_looks_have_ended(judged):
    joined(judged, "wae")
    record = set_terms(judged.store, current(judged), Terms("Faces", published=True), judged.clock.now)
    finish(judged, 5, {"wae": [0, 1]})
    decided(judged)

    def shown():
        return Competitions(judged.store, judged.clock).of(current(judged), record)

    before = shown()
    assert {row["model"]: (row["evaluators"], row["look"]) for row in before["models"]} == {
        "gan": (5, 1),
        "vae": (5, 1),
    }
    assert (before["evaluators_wanted"], before["looks"]["looks"]) == (15, [5, 10, 15])
    page = competition_page(before, judged.clock.now, "https://s.example")
    assert "5 to 15 for each model, who take part once. It is looked at after 5, 10, 15" in page
    assert "look 1" in page
    one = Submission("s1", "faces", "ada", "wae", "wae", "0" * 64, "2026", joined_at="2026-01-02")
    waiting = state_of(current(judged), one, read_progress(judged.store, current(judged)), None)
    assert (waiting.state, waiting.reason.split(";")[0]) == ("collecting", "5 of 10 evaluators have finished")
    for _ in range(2):
        finish(judged, 5, {"wae": [0, 1]})
        decided(judged)
    judged.clock.move(hours=1)
    after = {row["model"]: (row["evaluators"], row["look"]) for row in shown()["models"]}
    assert after == {"gan": (5, 1), "vae": (5, 1), "wae": (15, 3)}
    scored = state_of(current(judged), one, read_progress(judged.store, current(judged)), None)
    assert (scored.state, scored.reason) == ("scored", None)


def test_a_copy_has_the_decisions_and_refuses_others(judged, copied_store):
    joined(judged, "wae")
    finish(judged, 5, {"wae": [0, 1]})
    decided(judged)
    study = current(judged)
    copied_store.add_study(studies.replaced(study, newcomer_looks=()), judged.pools["faces"])

    look_records.copy(judged.store, copied_store, study)

    assert look_records.decisions_of(copied_store, study, "wae") == records(judged, "wae")
    assert copied_store.study("faces").newcomer_looks == (1,)
    look_records.erase(copied_store, study)
    assert look_records.decisions_of(copied_store, study, "wae") == []
    copied_store.write_entry(look_records.book_of(study, "wae"), "01", 0, {"look": 1})
    with pytest.raises(Conflict, match="look 01 of study faces was decided otherwise at the target"):
        look_records.copy(judged.store, copied_store, study)


@pytest.fixture
def copied_store(tmp_path):
    store = open_store("sqlite:///copy.db", tmp_path)
    yield store
    store.close()


@pytest.mark.slow("two processes, on SQLite and on a DynamoDB")
@pytest.mark.parametrize("is_newcomer", [False, True])
def test_two_processes_on_one_store_decide_a_look_once(shared_world, tmp_path, is_newcomer):
    world, url = shared_world
    world.add(studies.study(**PLAN))
    finish(world, 10, FAR)
    if is_newcomer:
        decided(world)
        joined(world, "wae")
        finish(world, 5, {"wae": [0, 1]})
    begin = tmp_path / "begin"
    command = [sys.executable, "-m", "tests.unit.looking_process", url, str(tmp_path), "faces", str(begin)]
    processes = [
        subprocess.Popen(
            [*command, f"2026-02-0{day}T00:00:00.000Z"], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        for day in (1, 2)
    ]
    try:
        assert [process.stdout.readline() for process in processes] == ["waits\n", "waits\n"]
        begin.touch()
        made = [json.loads(process.communicate(timeout=120)[0]) for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()

    assert [process.returncode for process in processes] == [0, 0]
    model = "wae" if is_newcomer else ""
    (record,) = look_records.decisions_of(world.store, current(world), model)
    assert record["at"] in ("2026-02-01T00:00:00.000Z", "2026-02-02T00:00:00.000Z")
    for first, newcomers in made:
        (look,) = newcomers["wae"] if is_newcomer else first
        assert (look["data"], look["decision"]) == (record["data"], record["decision"])
    study = current(world)
    assert (study.looks_done, study.newcomer_looks) == (1, (1,) if is_newcomer else ())


@pytest.fixture(params=["sqlite", "dynamodb"])
def shared_world(request, tmp_path):
    """A world whose store other processes can open, and the store's URL."""
    url = "sqlite:///openhype.db" if request.param == "sqlite" else request.getfixturevalue("table")
    store = open_store(url, tmp_path)
    yield World(store, DataDir(tmp_path)), url
    store.close()
