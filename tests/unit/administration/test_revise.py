"""Settings change until somebody real has begun the study, and no session mixes two of them."""

import threading
import time
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration.revise import change_settings
from backend.cli import main
from backend.commands.simulated_evaluators import simulate
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.handlers import create_app
from backend.recruitment import recruit
from backend.responses.study_data import study_rows, study_scores
from backend.stores.opening import open_store
from tests.prolific import Books, Clock, Fake

from .. import sample_studies as studies
from ..killed import killed_at_each_write


@pytest.fixture
def world(each_world):
    return each_world


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8, evaluators=2))


def change(world, name="faces", **settings):
    return change_settings(world.store, world.data, name, settings)


def test_a_running_server_opens_sessions_under_the_new_settings_at_once(world, study):
    pool = list(world.store.stimuli("faces"))
    world.http.get("/api/studies/faces")
    world.simulate()

    change(world, images="12", feedback="false", title="Which is real?")

    told = world.http.get("/api/studies/faces").json
    player = world.player(consent_version=told["consent"]["version"])
    assert (told["title"], told["images"]) == ("Which is real?", 12)
    assert player.state["protocol"]["block_images"] == [12]
    assert player.state["protocol"]["feedback"] is False
    assert list(world.store.stimuli("faces")) == pool


def test_what_is_changed_is_told_and_the_rest_stays(world, study):
    found = change(world, images="12", bonus_usd_cents="2")

    assert found.changed() == {"images": (8, 12), "consent_version": ("1", "2")}
    after = world.store.study("faces")
    assert (after.version, after.created_at) == (2, study.created_at)
    assert after.settings_id != study.settings_id


def test_the_same_settings_change_nothing(world, study):
    world.player(simulated=True).play()

    found = change(world, images="8", size_px="256", method="infinity")

    assert (found.changed(), found.cleared) == ({}, 0)
    assert world.store.study("faces") == study
    assert world.store.finished("faces", simulated=True)[0] == 1


def finished(world):
    world.player().play()


def under_way(world):
    world.player().begin()


def opened(world):
    world.player()


def withdrawn(world):
    state = world.player().state
    path, _, secret = state["withdrawal_url"].partition("#")
    url = f"/api/sessions/{path.rpartition('/')[2]}/withdrawal"
    assert world.http.post(url, json={}, headers={"Authorization": f"Bearer {secret}"}).status_code == 200


def abandoned(world):
    under_way(world)
    world.clock.move(days=3)


@pytest.mark.parametrize("real", [finished, under_way, opened, withdrawn, abandoned])
def test_a_study_that_somebody_real_has_begun_stays_as_it_is(world, study, real):
    real(world)

    with pytest.raises(Conflict, match="study faces was opened to real evaluators on 2026-01-01"):
        change(world, images="12")

    assert world.store.study("faces").protocol == study.protocol


def test_who_waits_for_pay_and_a_panel_that_was_told_count_on_the_settings(world):
    world.add(studies.study("test", kind="qualification", images=20))
    world.add(studies.study(images=8, qualification="test", retainer_usd_cents="10"))
    gate = world.player("test")
    gate.play()
    world.add(studies.study("hands", images=8, base_usd_cents=300))
    hands = world.store.study("hands")
    recruit.begin(world.store, panel(), hands, recruit.plan(hands), "https://x.org")

    waits = world.http.post("/api/studies/faces/waits", json={"qualification_token": gate.token})

    assert waits.status_code == 201
    for name in ("faces", "hands"):
        with pytest.raises(Conflict, match=f"study {name} was opened to real evaluators"):
            change(world, name, images="12")


def panel():
    """Return a panel that nothing goes wrong at."""
    return Fake(Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=Fraction(428, 1000))).panel()


def test_a_recruitment_planned_by_other_settings_is_not_begun(world):
    world.add(studies.study(images=8, base_usd_cents=300))
    planned = world.store.study("faces")
    change(world, base_usd_cents="400")

    with pytest.raises(Conflict, match="the settings of faces were changed in the meantime"):
        recruit.begin(world.store, panel(), planned, recruit.plan(planned), "https://x.org")

    assert list(world.store.entries(recruit.book("faces"))) == []


@pytest.mark.parametrize(
    ("method", "settings", "message"),
    [
        ("infinity", {"size_px": "64"}, "size_px of study faces stays 256, since the pictures were made"),
        ("infinity", {"image_format": "png"}, "image_format of study faces stays auto, since the pictures"),
        ("time", {"masks": "phase"}, "masks of study faces stays texture, since the masks were made"),
        ("time", {"method": "infinity"}, "method of study faces stays time, .* .`openhype create`."),
        ("infinity", {"imags": "8"}, "no setting is called 'imags'"),
        ("infinity", {"images": "9"}, "images must be even"),
        ("infinity", {"images": "400"}, "it has 60 of 200 reals, 60 of 200 fakes of gan"),
        ("infinity", {"staircase": "hype-2019"}, "staircase goes with method 'time'"),
        ("infinity", {"qualification": "hands"}, "a study's qualification must be a qualification"),
        ("infinity", {"panel": "nowhere"}, "nowhere"),
        ("infinity", {"consent_version": "1", "consent_text": "Hello."}, "must be another one than '1'"),
    ],
)
def test_what_cannot_be_changed_is_refused_and_nothing_is(world, method, settings, message):
    world.add(studies.study("hands", images=8))
    study = world.add(studies.study(method=method, images=8))
    world.player(simulated=True).play()

    with pytest.raises(InvalidInput, match=message):
        change(world, **settings)

    assert world.store.study("faces") == study
    assert world.store.finished("faces", simulated=True)[0] == 1


def test_a_study_that_was_made_without_masks_gets_none(world):
    made = studies.study(method="time", images=8, mask_count="0")
    world.add(studies.replaced(made, masks=()))

    with pytest.raises(InvalidInput, match="was made without masks, so that mask_count stays 0"):
        change(world, mask_count="4")


def test_a_study_that_is_not_there_is_said_by_name(world):
    with pytest.raises(NotFound, match="there is no study 'faces'"):
        change(world, images="8")


@pytest.mark.parametrize(
    ("before", "settings", "after"),
    [
        ("1", {"consent_text": "Hello."}, "2"),
        ("9", {"base_usd_cents": "100"}, "10"),
        ("2024-a", {"minutes": "3"}, "2024-a-2"),
        ("v3", {"keep_days": "30"}, "v4"),
        ("1", {"consent_text": "Hello.", "consent_version": "may"}, "may"),
        ("1", {"evaluators": "7", "abandon_after_minutes": "5", "target_wage_usd_cents": "900"}, "1"),
    ],
)
def test_the_version_of_the_consent_changes_with_what_visitors_agree_to(world, before, settings, after):
    world.add(studies.study(images=8, consent_version=before))

    change(world, **settings)

    assert world.store.study("faces").protocol.consent.consent_version == after


def test_who_has_read_an_older_consent_opens_no_session_and_is_told_why(world, study):
    change(world, base_usd_cents="100")

    reply = world.open(consent_version="1")

    assert (reply.status_code, reply.json["error"]["code"]) == (400, "consent_changed")
    assert list(world.store.sessions("faces")) == []
    assert world.store.study("faces").begun_at == ""


def test_simulated_sessions_of_the_settings_before_are_cleared(world, study):
    for _ in range(3):
        world.player(simulated=True).play()
    under_way = world.player(simulated=True)
    under_way.begin()

    found = change(world, images="12")

    assert found.cleared == 4
    assert list(world.store.sessions("faces", simulated=True)) == []
    reply = under_way.post("answers", under_way.body())
    assert (reply.status_code, reply.json["error"]["code"]) == (404, "unknown_session")
    world.player(simulated=True).play()
    assert {row["responses"] for row in scores(world)["models"]} == {12}


def scores(world):
    return study_scores(world.store, world.store.study("faces"), simulated=True)


def test_killed_at_any_write_it_mixes_no_settings_and_is_done_again(world, study):
    for _ in range(3):
        world.player(simulated=True).play()

    kills = []
    for writes in killed_at_each_write(
        world.store, lambda store: change_settings(store, world.data, "faces", {"images": "12"})
    ):
        kills.append(writes)
        now = world.store.study("faces")
        counted = {row["session"] for row in study_rows(world.store, now, simulated=True)}
        if now.protocol.stimuli.images == 8:
            assert (now, len(counted)) == (study, 3)
        else:
            assert counted == set()
    simulate(world.store, world.data, "faces", {})

    assert len(kills) >= 2
    assert world.store.study("faces").protocol.stimuli.images == 12
    assert {row["responses"] for row in scores(world)["models"]} == {24}


def race(*jobs):
    """Run jobs in threads let go together; return what each returned, or raised."""
    gate, results = threading.Barrier(len(jobs)), [None] * len(jobs)

    def run(i):
        gate.wait()
        try:
            results[i] = jobs[i]()
        except Exception as error:  # noqa: BLE001 - it is the result
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.slow("many processes and threads write at once")
def test_an_opening_and_a_change_at_once_are_never_mixed(world, simulated):
    store = world.store
    other = create_app(store, world.data, world.data.keys(), world.clock).test_client()
    key = {"Authorization": f"Bearer {world.data.keys().researcher}"} if simulated else {}
    body = {"consent_version": "1", "simulated": simulated}
    outcomes, ahead, step, last = set(), 0.02, 0.01, None
    for i in range(30):
        name = f"s{i}"
        world.add(studies.study(name, images=8, evaluators=9, panel="link"))
        world.http.get(f"/api/studies/{name}")

        def opening(http, name=name, ahead=ahead):
            time.sleep(max(ahead, 0))
            return http.post(f"/api/studies/{name}/sessions", json=body, headers=key)

        def changing(name=name, ahead=ahead):
            time.sleep(max(-ahead, 0))
            return change(world, name, abandon_after_minutes="5", mask_count="2")

        # what visitors are told stays, so that only the order of the two decides
        changed, *replies = race(
            changing,
            lambda: opening(world.app.test_client()),
            lambda: opening(other),
        )

        now = store.study(name)
        found = [session for session, _ in store.sessions(name, simulated)]
        assert {session.settings_id for session in found} <= {now.settings_id}
        assert [reply.status_code for reply in replies] == [201, 201]
        if isinstance(changed, Conflict):
            assert (now.protocol.timing.mask_count, len(found)) == (4, 2)
        else:
            assert now.protocol.timing.mask_count == 2
            assert simulated or len(found) == 2
        outcomes.add(type(changed).__name__)
        # whoever came second comes sooner in the next round, so that rounds gather where it is close
        step *= 1 if last in (None, type(changed)) else 0.7
        ahead += step if isinstance(changed, Conflict) else -step
        last = type(changed)
    assert simulated or len(outcomes) == 2, outcomes


def test_two_changes_at_once_are_both_made(world, study):
    race(
        lambda: change(world, images="12"),
        lambda: change(world, evaluators="7"),
        lambda: change(world, minutes="3"),
    )

    now = world.store.study("faces")
    assert (now.protocol.stimuli.images, now.protocol.admission.evaluators, now.protocol.consent.minutes) == (
        12,
        7,
        3,
    )
    assert now.version == 4


def test_the_check_of_flashes_is_made_again_where_the_pictures_are(world):
    study = studies.study(method="time", images=8, size_px="64", blocks="1")
    world.add(studies.replaced(study, notes=("left out 2 files", "photosensitivity: at most 1")))
    folder = world.data.images("faces")

    without = change(world, mask_ms="40")
    folder.mkdir(parents=True)
    for i, name in enumerate([*study.masks, *(f"{i:032x}.png" for i in range(4))]):
        Image.new("L", (64, 64), 60 * (i % 5)).save(folder / name)
    checked = change(world, mask_ms="50")
    same = change(world, title="Look")

    assert without.study.notes[0] == "left out 2 files"
    assert without.new_notes() == [without.study.notes[1]]
    assert "NOT CHECKED since the settings were changed" in without.study.notes[1]
    assert "4 sampled trials at 100 ms" in checked.study.notes[1]
    assert (len(checked.study.notes), same.new_notes()) == (2, [])


class TestCommand:
    @pytest.fixture
    def run(self, tmp_path):
        store = open_store("sqlite:///openhype.db", tmp_path)
        study = studies.study(images=8, evaluators=2)
        store.add_study(study, studies.pool(study))
        store.close()
        return lambda *words: CliRunner().invoke(main, [*words, "--data", str(tmp_path)])

    def test_it_tells_each_change_and_what_became_of_the_rehearsal(self, run):
        run("simulate", "faces")

        done = run("set", "faces", "images=12", "title=Which one?", "feedback=no", "minutes=4.5")

        assert done.exit_code == 0
        assert done.output.splitlines() == [
            "images: 8 -> 12",
            "feedback: true -> false",
            "title: 'Real or fake?' -> 'Which one?'",
            "consent_version: '1' -> '2'",
            "minutes: 10 -> 4.5",
            "removed 4 simulated sessions of the settings before",
        ]
        assert run("set", "faces", "images=12").output == "faces has these settings already\n"

    def test_rules_and_panels_are_told_by_name(self, run, tmp_path):
        (tmp_path / "mine.toml").write_text('name = "mine"\nevaluator = "who"\n')

        shown = run("set", "faces", "panel=link").output
        own = run("set", "faces", f"panel={tmp_path / 'mine.toml'}").output

        assert shown.startswith("panel: prolific -> link\nconsent_version: '1' -> '2'\n")
        assert "panel: link -> mine\n" in own

    @pytest.mark.parametrize(
        ("words", "status", "message"),
        [
            (["set", "faces"], 2, "Missing argument"),
            (["set", "faces", "images"], 2, "must be KEY=VALUE"),
            (["set", "faces", "images=x"], 1, "images must be a whole number, not 'x'"),
            (["set", "nobody", "images=8"], 1, "there is no study 'nobody'"),
            (["set", "faces", "size_px=64"], 1, "remove this one (`openhype delete faces`)"),
        ],
    )
    def test_what_is_wrong_is_one_line(self, run, words, status, message):
        found = run(*words)

        assert (found.exit_code, message in found.stderr) == (status, True), found.stderr
