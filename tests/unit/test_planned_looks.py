"""A study's plan of looks: checked when it is set, and fixed with its hash once an evaluator comes."""

import itertools
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from click.testing import CliRunner
from scipy.stats import norm

from backend.administration.revise import change_settings
from backend.analysis.planning.boundaries import SPENDING, stops
from backend.analysis.planning.looks import LookPlan
from backend.cli import main
from backend.experiment.planned_looks import SPENDINGS, aim_of
from backend.foundation.errors import Conflict, InvalidInput
from backend.jobs import queue
from backend.jobs.look import have_decided
from backend.jobs.worker import Worker
from backend.report import planned_looks
from backend.responses import study_looks
from backend.studies import look_records
from backend.web import look_course

from . import sample_studies as studies
from .killed import killed_at_each_write

PLAN = {"looks": "5,10,15", "aim": "apart=neighbours", "spending": "pocock"}


def planned(**settings):
    return studies.study(**{"images": 8, "panel": "link", **PLAN, **settings})


def test_settings_give_the_plan_of_the_command_and_its_hash():
    study = planned()

    assert study.protocol.admission.evaluators == 15
    same = LookPlan((5, 10, 15), aim_of("apart=neighbours"), "pocock")
    assert study.protocol.looks.plan.digest == same.digest
    assert planned(aim="apart").protocol.looks.plan.digest != study.protocol.looks.plan.digest
    assert tuple(SPENDING) == SPENDINGS


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"looks": "10,5"}, "looks must rise, such as 15,20,25,30; 5 follows 10"),
        ({"looks": "5,ten"}, "looks are numbers of evaluators such as 15,20,25,30, not '5,ten'"),
        ({"looks": [5, 10.5]}, "looks are numbers of evaluators"),
        ({"looks": "3,10"}, "the first look must be at 5 evaluators or more, not 3"),
        ({"evaluators": 12}, "the last of looks must be evaluators, 12, not 15"),
        ({"aim": "half-width"}, "the aim half-width needs a number above 0, such as half-width=5, not ''"),
        ({"aim": "half-width=nan"}, "needs a number above 0, such as half-width=5, not 'nan'"),
        (
            {"aim": "closer"},
            "the aim must be apart, half-width, equal-within, futility or ranks, not 'closer'",
        ),
        ({"spending": "bonferroni"}, "spending must be one of obrien-fleming, obrien-fleming-whole, pocock"),
        ({"looks": "", "aim": "apart", "looks_hide_scores": True}, "looks_hide_scores goes with looks,"),
        ({"looks": ""}, "aim goes with looks, such as looks=15,20,25,30"),
        (
            {"method": "jnd"},
            "looks goes with methods 'infinity', 'time', 'exposures', 'tournament' and 'pair'",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused(settings, message):
    with pytest.raises(InvalidInput, match=message):
        planned(**settings)


@pytest.mark.parametrize(
    ("models", "settings", "message"),
    [
        (("gan",), {"aim": "apart"}, "the aim apart compares models, and there is one, gan"),
        (("gan", "vae"), {"aim": "apart=wae"}, "apart= must name all, neighbours or a model (gan, "),
        (("gan", "vae"), {"aim": "equal-within=50"}, "the margin must be below 50 points, not 50"),
        (("gan", "vae"), {"class_design": "between"}, "counts the evaluators of a look for each"),
    ],
)  # fmt: skip
def test_a_plan_that_does_not_fit_the_study_is_refused_when_it_is_set(world, models, settings, message):
    world.add(studies.study(images=8, models=models))

    with pytest.raises(InvalidInput, match=message.replace("(", r"\(").replace(")", r"\)")):
        change_settings(world.store, world.data, "faces", {"looks": "5,10", **settings})

    assert not world.store.study("faces").protocol.looks.looks


def test_a_qualification_has_no_looks(world):
    world.add(studies.study("test", kind="qualification", images=8))

    with pytest.raises(InvalidInput, match="has no looks in a qualification"):
        change_settings(world.store, world.data, "test", {"looks": "5,10", "evaluators": 10})


def test_the_plan_is_fixed_with_its_hash_at_the_first_evaluator(each_world):
    study = each_world.add(planned())
    assert each_world.store.study("faces").looks_digest == ""
    each_world.simulate()
    change_settings(each_world.store, each_world.data, "faces", {"looks": "5,10"})

    each_world.open()

    after = each_world.store.study("faces")
    assert after.looks_digest == after.protocol.looks.plan.digest != study.protocol.looks.plan.digest
    assert after.protocol.admission.evaluators == 10
    for change in ({"looks": "5,12"}, {"aim": "apart"}, {"spending": "obrien-fleming"}, {"evaluators": "9"}):
        with pytest.raises(Conflict, match=r"copy it \(`openhype rerun faces`\), and change the copy"):
            change_settings(each_world.store, each_world.data, "faces", change)


def test_status_and_the_api_show_the_plan(world, tmp_path):
    study = world.add(planned())
    world.open(study.name)

    found = [
        CliRunner().invoke(main, ["status", "faces", "--data", str(tmp_path), *more]).stdout
        for more in ([], ["--json"])
    ]

    digest = study.protocol.looks.plan.digest
    line = "looks at 5, 10, 15 of each model, aim apart=neighbours (pocock), fixed on 2026-01-01: plan"
    assert f"{line} {digest[:12]}" in found[0]
    told = json.loads(found[1])["looks"]
    assert (told["looks"], told["digest"], told["fixed_at"][:10]) == ([5, 10, 15], digest, "2026-01-01")


# Decisions


def finish(world, evaluators, wrong):
    """Have as many evaluators of each model finish; `wrong` has their numbers of errors, in turn."""
    counts = {model: itertools.cycle(errors) for model, errors in wrong.items()}
    for _ in range(evaluators * len(wrong)):
        player = world.player()
        errors = next(counts[world.store.session(player.state["session"]).model])
        trials = itertools.count()
        player.play(lambda truth, trials=trials, errors=errors: next(trials) >= errors)
        world.clock.move(minutes=1)


FAR, NEAR = {"gan": [0, 1], "vae": [6, 7]}, {"gan": [2, 3, 4], "vae": [4, 3, 2]}


@pytest.fixture
def begun(each_world):
    each_world.add(planned(aim="apart"))
    return each_world


def decided(world, **options):
    return study_looks.decide(world.store, world.store.study("faces"), world.clock.now.isoformat(), **options)


def records(world):
    return look_records.decisions_of(world.store, world.store.study("faces"))


def test_a_look_is_recorded_once_with_time_evaluators_reason_and_hashes(begun):
    finish(begun, 5, FAR)
    made = decided(begun)
    again = decided(begun)

    (record,) = records(begun)
    assert record["at"] == begun.clock.now.isoformat()
    assert record["plan"] == begun.store.study("faces").looks_digest
    assert record["data"] == made["data"] == again["data"]
    sessions = begun.store.sessions("faces")
    assert sorted(name for some in record["new"].values() for name in some) == sorted(
        session.evaluator for session, _ in sessions
    )
    assert {name: record[name] for name in ("look", "decision", "reason")} == {
        "look": 1, "decision": "stop", "reason": "the aim apart is reached",
    }  # fmt: skip


def test_a_stopped_study_takes_in_nobody_and_open_sessions_finish(begun):
    finish(begun, 5, NEAR)
    decided(begun)
    late = [begun.player(), begun.player()]
    decided(begun, is_closed=True)

    assert begun.open().json["error"]["code"] == "study_full"
    for player in late:
        player.play()
    assert decided(begun)["looks"] == records(begun)
    study = begun.store.study("faces")
    assert (study.ended_at, study.evaluators_wanted) == ((5, 5), 10)


def test_sessions_are_opened_only_up_to_the_next_look(begun):
    finish(begun, 5, NEAR)

    assert begun.open().json["error"]["code"] == "study_full"
    decided(begun)
    finish(begun, 5, NEAR)
    assert begun.open().json["error"]["code"] == "study_full"
    assert len(decided(begun)["looks"]) == 2
    assert begun.store.taken("faces", "") == {"gan": 10, "vae": 10}


def test_a_dropped_model_leaves_and_the_others_go_on(each_world):
    study = planned(aim="apart")
    each_world.add(studies.replaced(study, models=("gan", "vae", "wae")))
    finish(each_world, 5, {"gan": [0, 1], "vae": [5, 6], "wae": [6, 5]})
    decided(each_world)

    study = each_world.store.study("faces")
    assert (study.ended, study.ended_at, study.evaluators_wanted) == (("gan",), (5,), 25)
    finish(each_world, 5, {"vae": [5, 6], "wae": [6, 5]})
    assert each_world.store.taken("faces", "")["vae"] == 10
    assert each_world.open().json["error"]["code"] == "study_full"


def test_the_live_view_has_the_course_against_the_boundaries(begun):
    finish(begun, 5, NEAR)
    study = begun.store.study("faces")
    before = look_course.looks(begun.store, study)
    decided(begun)
    finish(begun, 5, NEAR)
    decided(begun)

    found = look_course.looks(begun.store, begun.store.study("faces"))

    assert (before["boundary"], before["decided"]) == ([], [])
    bounds = LookPlan.of(study.protocol.looks.plan).bounds
    assert found["boundary"] == pytest.approx(bounds)
    for look, record in zip(found["decided"], records(begun), strict=True):
        (point,), (pair,) = look["points"], record["pairs"]
        assert (point["of"], point["p"]) == (["gan", "vae"], pair["p"])
        assert (point["value"] > look["boundary"]) == (pair["p"] < record["error"])
        assert point["value"] == pytest.approx(norm.isf(pair["p"] / 2))
    assert [look["evaluators"] for look in found["decided"]] == [5, 10]
    assert [look["boundary"] for look in found["decided"]] == pytest.approx(bounds[:2])


def test_the_course_of_half_widths_has_the_one_aimed_at(world):
    world.add(planned(aim="half-width=3", spending="obrien-fleming"))
    finish(world, 5, NEAR)
    decided(world)

    found = look_course.looks(world.store, world.store.study("faces"))

    (look,), (record,) = found["decided"], records(world)
    assert found["boundary"] == pytest.approx([3 / 1.6**0.5, 3 / 1.3**0.5, 3])
    assert look["boundary"] == found["boundary"][0]
    assert [point["value"] for point in look["points"]] == [
        (row["ci"][1] - row["ci"][0]) / 2 for row in record["scores"]
    ]


@pytest.mark.parametrize(("wrong", "is_ended"), [(FAR, True), (NEAR, False)])
def test_scores_are_hidden_until_a_look_ends_the_study_if_it_says_so(world, tmp_path, wrong, is_ended):
    world.add(planned(looks_hide_scores=True))
    address, key = "/api/studies/faces", {"Authorization": f"Bearer {world.data.keys().researcher}"}
    finish(world, 5, wrong)
    hidden = [world.http.get(f"{address}/scores", headers=key), run(tmp_path, "score", "faces")]
    report = run(tmp_path, "report", "faces", "-o", str(tmp_path / "report"))
    page, live = world.http.get("/results/faces", headers=key), f"{address}/live"
    before = world.http.get(live, headers=key).json
    decided(world)

    after = world.http.get(live, headers=key).json

    told = "the scores of study faces are hidden until a planned look ends it"
    assert (told in hidden[0].json["error"]["message"], hidden[0].status_code) == (True, 409)
    assert (told in hidden[1].output, hidden[1].exit_code) == (True, 1)
    assert (told in report.output, report.exit_code) == (True, 1)
    assert (page.status_code, told in page.text) == (409, True)
    assert (before["scores"], before["looks"]["hides_scores"]) == (None, True)
    assert (after["scores"] is not None, after["looks"]["hides_scores"]) == (is_ended, not is_ended)
    assert (world.http.get(f"{address}/scores", headers=key).status_code == 200) == is_ended


def test_two_that_decide_at_once_make_one_record(begun):
    finish(begun, 5, NEAR)

    with ThreadPoolExecutor(8) as threads:
        made = [*threads.map(lambda _: decided(begun), range(8))]

    assert len(records(begun)) == begun.store.study("faces").looks_done == 1
    assert {each["data"] for each in made} == {records(begun)[0]["data"]}


def test_a_process_killed_at_each_write_of_a_look_leaves_what_the_next_one_ends(begun):
    finish(begun, 5, FAR)
    study = begun.store.study("faces")

    def run(store):
        study_looks.decide(store, study, begun.clock.now.isoformat())

    seen = []
    for writes in killed_at_each_write(begun.store, run):
        seen.append((writes, len(records(begun)), begun.store.study("faces").looks_done))
        first = records(begun)
        begun.clock.move(days=-3)

    assert seen == [(0, 0, 0), (1, 1, 0)]
    assert records(begun) == first
    assert begun.store.study("faces").has_stopped


def test_a_clock_set_back_changes_no_evaluator_of_a_look_that_was_decided(begun):
    finish(begun, 5, NEAR)
    decided(begun)
    begun.clock.move(days=-30)
    finish(begun, 5, NEAR)

    decided(begun)

    first, second = records(begun)
    assert {*first["new"]["gan"]}.isdisjoint(second["new"]["gan"])
    assert len(second["new"]["gan"]) == 5


def test_who_withdraws_changes_no_decision_and_is_replaced(begun):
    finish(begun, 5, NEAR)
    decided(begun)
    gone = next(session.id for session, _ in begun.store.sessions("faces") if session.model == "gan")
    begun.store.erase_session(gone)

    finish(begun, 5, NEAR)
    assert len(decided(begun)["looks"]) == 1
    begun.player().play()

    assert [look["look"] for look in decided(begun)["looks"]] == [1, 2]


def test_a_study_whose_panel_dried_up_is_closed_on_those_who_came(begun):
    finish(begun, 5, NEAR)
    decided(begun)
    finish(begun, 3, NEAR)

    decided(begun, is_closed=True)

    _, last = records(begun)
    assert (last["decision"], last["is_closed"]) == ("stop", True)
    assert last["evaluators"] == {"gan": 8, "vae": 8}
    assert last["reason"].startswith("closed before 10 evaluators of each model; it is the last look")
    assert begun.open().json["error"]["code"] == "study_full"
    fixed = LookPlan((5, 10, 15), spending="pocock")
    plan = fixed.ended(1, 8)
    assert last["error"] == pytest.approx(plan.errors[-1])
    assert plan.bounds[0] == pytest.approx(fixed.bounds[0])
    assert stops(plan.fractions, plan.bounds).rejects == pytest.approx(0.05, abs=1e-5)


def test_a_study_closed_without_further_evaluators_tests_nothing(begun):
    finish(begun, 4, NEAR)
    decided(begun, is_closed=True)

    (last,) = records(begun)
    assert last["reason"] == "closed before 5 evaluators of each model, with fewer than 5: nothing is tested"
    assert (last["pairs"], last["error"], begun.store.study("faces").has_stopped) == ([], None, True)


def test_a_plan_changed_from_outside_decides_nothing(begun):
    finish(begun, 5, NEAR)
    study = begun.store.study("faces")
    other = study.protocol.changed(looks=(5, 15))
    begun.store.change_study(studies.replaced(study, protocol=other, version=study.version + 1))

    with pytest.raises(Conflict, match="its record was changed from outside, and no look is decided"):
        decided(begun)


def run(tmp_path, *arguments):
    return CliRunner().invoke(main, [*arguments, "--data", str(tmp_path)])


def test_the_export_replays_every_decision(world, tmp_path):
    world.add(planned(aim="apart"))
    finish(world, 5, NEAR)
    decided(world)
    finish(world, 2, NEAR)
    shown = run(tmp_path, "looks", "faces", "--close")
    out = str(tmp_path / "out")
    assert run(tmp_path, "export", "faces", "-o", out).exit_code == 0

    replay = run(tmp_path, "looks", out, "--replay")

    assert [line.split(": ")[1] for line in replay.stdout.splitlines()] == ["same"] * len(records(world))
    assert shown.stdout.count("recorded") == len(records(world)) - 1
    path = tmp_path / "out" / "data" / "study-faces_data.csv"
    path.write_text(path.read_text().replace(",fake,", ",real,", 1))
    changed = run(tmp_path, "looks", out, "--replay")
    assert changed.exit_code == 1
    assert "other, data is" in changed.stdout
    session = next(world.store.sessions("faces"))[0]
    world.store.erase_session(session.id)
    run(tmp_path, "export", "faces", "-o", out)
    replay = run(tmp_path, "looks", out, "--replay")
    assert replay.stdout.splitlines()[-1].endswith(
        "incomplete, 1 of its 14 evaluators are not in the data: they withdrew since"
    )


def test_another_plan_is_no_way_to_look_before_the_planned_look(world, tmp_path):
    world.add(planned())
    finish(world, 5, NEAR)

    found = run(tmp_path, "looks", "faces", "--plan", "5,6")

    assert found.exit_code == 1
    assert "another one would be a look that was not planned" in found.output


def test_a_job_decides_a_look_as_soon_as_its_last_evaluator_finished(world, tmp_path):
    world.add(planned(aim="apart"))
    finish(world, 4, NEAR)
    assert queue.open_jobs(world.store) == []
    finish(world, 1, NEAR)

    (done,) = Worker(world.store, world.data).run_until_idle()

    assert (done.kind, done.state, done.result) == ("look", "done", None)
    assert world.store.study("faces").looks_done == 1
    queue_after = queue.open_jobs(world.store)
    have_decided(world.store, world.store.study("faces"), world.clock())
    assert queue.open_jobs(world.store) == queue_after == []


def test_somebody_whom_the_rule_leaves_out_is_replaced(begun, tmp_path):
    begun.add(studies.replaced(planned(aim="apart", exclude_faster_ms=100), name="quick"))
    for fast in (True, *[False] * 9):
        player = begun.player("quick")
        player.begin()
        for _ in range(8):
            player.answer(rt=50 if fast else 300)
    assert begun.open("quick").json["error"]["code"] == "study_full"

    made = study_looks.decide(begun.store, begun.store.study("quick"), "2026-01-02")

    assert (made["looks"], sum(made["waits_for"].values())) == ([], 1)
    begun.player("quick").play()
    assert len(study_looks.decide(begun.store, begun.store.study("quick"), "2026-01-02")["looks"]) == 1
    assert begun.open("quick").status_code == 201


def test_a_look_at_a_tournament_counts_its_evaluators_once_and_stops_by_ranks(world):
    models = ("gan", "vae", "wae")
    study = studies.study(method="tournament", panel="link", looks="5,8", aim="ranks=3", images=24)
    world.add(studies.replaced(study, models=models))
    rank = {each.name: models.index(each.model) for each in world.pools["faces"] if each.model}
    for person in range(5):
        player = world.player()
        player.begin()
        for trial in range(24):
            left, right = player.stored(player.images[trial]).split(" ")
            body = {
                "lease": player.lease, "trial_index": trial, "stimulus": player.images[trial], "rt": 400,
                "response": "left" if (rank[left] < rank[right]) != ((trial + person) % 12 == 0) else "right",
                "exposure_ms": None, "flags": [],
            }  # fmt: skip
            assert player.post("answers", body).status_code == 200
        world.clock.move(minutes=1)
    assert world.open().json["error"]["code"] == "study_full"

    found = decided(world)

    ranks = [row["ranks"] for row in records(world)[0]["scores"]]
    assert all(worst - best < 3 for best, worst in ranks)
    assert (found["looks"][0]["decision"], world.open().json["error"]["code"]) == ("stop", "study_full")
    assert world.store.study("faces").evaluators_wanted == 5
    section = planned_looks.section(study_looks.exported(world.store, world.store.study("faces")), "")
    assert "saved 3 evaluators (38%)" in section.paragraphs[1]
