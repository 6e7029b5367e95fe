"""Constant stimuli over HTTP, on each store: what a session shows, to whom, and what is scored."""

import csv
import json
from collections import Counter

import pytest
from click.testing import CliRunner

from backend.administration.revise import change_settings
from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.responses.export import export
from backend.responses.study_data import study_rows, study_scores
from backend.web.static_demo import write_site
from tests.unit.response_rows import score_file

from . import sample_studies as studies

EXPOSURES = (50, 100, 500, None)
MISTIMED = {"flags": ["mistimed"]}


def added(world, exposures="50,100,500,unlimited", **settings):
    settings = {"images": 8, "spare_images": 8, "panel": "link", **settings}
    return world.add(studies.study(method="exposures", exposures_ms=exposures, **settings))


def test_a_session_shows_each_exposure_as_planned_and_stores_it(each_world):
    study = added(each_world, blocks=2)
    player = each_world.player()

    player.play()

    session = each_world.store.session(player.state["session"])
    planned = [ms for block in session.blocks for ms in block.exposures_ms]
    assert Counter(planned) == dict.fromkeys(EXPOSURES, 4)
    rows = list(study_rows(each_world.store, study))
    assert [row["exposure_ms"] for row in rows] == planned
    assert Counter((row["truth"], row["exposure_ms"]) for row in rows) == {
        (truth, ms): 2 for truth in ("real", "fake") for ms in EXPOSURES
    }


def test_the_page_learns_one_exposure_at_a_time(world):
    added(world, "50,100,500")
    player = world.player()

    told = [player.state, player.begin(), player.answer()]

    for reply in told:
        text = json.dumps(reply)
        assert reply["next"]["exposure_ms"] in (50, 100, 500)
        assert sum(text.count(f"{ms}.0") for ms in (50, 100, 500)) == 1


@pytest.mark.parametrize(
    ("settings", "limits"),
    [
        ({}, "some"),
        ({"exposures": "50,100"}, "all"),
        ({"exposures": "unlimited"}, "none"),
        ({"exposure_design": "between", "exposures": "unlimited,50", "evaluators": 1}, {"all", "none"}),
    ],
)
def test_the_page_is_told_whether_pictures_have_a_time_limit(world, settings, limits):
    added(world, **settings)

    told = {
        world.player().state["protocol"]["time_limits"] for _ in range(4 if isinstance(limits, set) else 1)
    }

    assert told == (limits if isinstance(limits, set) else {limits})


def test_masks_are_sent_where_flashes_are_and_none_without(world):
    added(world)
    with_masks = world.player().begin()
    assert all(len(masks) == 4 for masks in with_masks["trial_masks"])

    world.add(studies.study("bare", "exposures", exposures_ms="50", images=4, panel="link", mask_count=0))
    without = world.player("bare").begin()
    assert (without["masks"], without["trial_masks"]) == ([], [])


@pytest.mark.parametrize("exposures", ["100", "unlimited"])
@pytest.mark.parametrize("has_masks", [True, False])
def test_masks_are_for_pictures_that_vanish_and_only_where_there_are_some(world, exposures, has_masks):
    study = studies.study("one", "exposures", exposures_ms=exposures, images=4, panel="link")
    world.add(study if has_masks else studies.replaced(study, masks=()))

    state = world.player("one").begin()

    are_sent = exposures == "100" and has_masks
    assert bool(state["masks"]) == any(state["trial_masks"]) == are_sent


def test_as_many_masks_as_there_are_come_once_each_and_fewer_come_again(world):
    study = studies.study("one", "exposures", exposures_ms="100", images=4, panel="link", mask_count=4)
    for name, there in (("four", 4), ("two", 2)):
        world.add(studies.replaced(study, name=name, masks=study.masks[:there]))
        drawn = world.player(name).begin()["trial_masks"]

        assert {len(masks) for masks in drawn} == {4}
        assert (there == 4) == all(len(set(masks)) == 4 for masks in drawn)


def test_a_mistimed_flash_is_replaced_at_its_exposure_and_an_unlimited_picture_is_scored(each_world):
    study = added(each_world, "100,unlimited")
    player = each_world.player()
    player.begin()
    replaced = 0

    while player.done is None:
        exposure_ms = player.next["exposure_ms"]
        reply = player.answer(**MISTIMED)
        if exposure_ms is None:
            assert reply["replaced_by"] is None
            continue
        replaced += 1
        assert (reply["was_correct"], reply["next"]["exposure_ms"]) == (None, 100)
        player.images[player.next["trial_index"]] = reply["replaced_by"].rpartition("/")[2]
        player.answer()

    assert replaced == 4
    assert len(list(study_rows(each_world.store, study))) == 8
    assert len(list(study_rows(each_world.store, study, "replaced"))) == 4


def test_after_a_reload_a_flash_is_another_and_an_unlimited_picture_the_same(each_world):
    added(each_world, "100,unlimited")
    player = each_world.player()
    player.begin()
    seen = set()

    while player.done is None:
        before, exposure_ms = player.images[player.next["trial_index"]], player.next["exposure_ms"]
        state = player.post("resume", {}).json["state"]
        player.lease, player.next = state["lease"], state["next"]
        assert player.next["exposure_ms"] == exposure_ms
        player.begin()
        after = player.images[player.next["trial_index"]]
        assert (player.stored(after) != player.stored(before)) == (exposure_ms is not None)
        seen.add(exposure_ms)
        player.answer()

    assert seen == {100, None}


def test_between_evaluators_each_sees_one_exposure_and_places_are_counted_by_it(each_world):
    study = added(each_world, "50,unlimited", exposure_design="between", evaluators=2)
    players = [each_world.player() for _ in range(8)]
    assert each_world.open().json["error"]["code"] == "study_full"

    for player in players:
        player.play(lambda truth: truth == "real")

    sessions = [session for session, _ in each_world.store.sessions("faces")]
    shown = Counter((session.model, session.blocks[0].exposures_ms) for session in sessions)
    assert shown == {(model, (ms,) * 8): 2 for model in ("gan", "vae") for ms in (50, None)}
    assert {session.arm for session in sessions} == {"50", "unlimited"}
    assert each_world.store.taken("faces", "2020") == dict.fromkeys(
        ("gan/50", "gan/unlimited", "vae/50", "vae/unlimited"), 2
    )
    for row in study_scores(each_world.store, study)["models"]:
        assert [(one["exposure_ms"], one["evaluators"]) for one in row["by_exposure"]] == [(50, 2), (None, 2)]
        assert all((one["fakes_error"], one["reals_error"]) == (100, 0) for one in row["by_exposure"])


def test_an_export_scores_as_the_study_does(world, tmp_path):
    study = added(world, models_per_session=2)
    for _ in range(4):
        world.player().play(lambda truth: truth == "real")

    files = list(export(world.store, study, tmp_path / "out"))

    assert score_file(tmp_path / "out") == study_scores(world.store, study)
    (path,) = (path for path in files if path.name == "study-faces_data.csv")
    rows = list(csv.DictReader(path.read_text().splitlines()))
    assert {(row["method"], row["exposure_ms"]) for row in rows} == {
        ("exposures", "" if ms is None else f"{ms}.0") for ms in EXPOSURES
    }


def test_pay_and_feedback_are_those_of_other_studies(world):
    added(world, feedback="false", bonus_usd_cents=2, base_usd_cents=100)
    player = world.player()
    player.begin()

    reply = player.answer()

    assert (reply["was_correct"], reply["earned_usd_cents"]) == (None, None)
    assert player.play()["earned_usd_cents"] == 100 + 8 * 2


def test_a_qualification_may_come_before(world):
    world.add(studies.study("test", kind="qualification", images=4, panel="link"))
    added(world, qualification="test")
    first = world.open().json
    assert first["stage"] == "qualification"

    player = world.player("test")
    player.play()

    assert world.player(token=player.token).play()["complete"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"exposures_ms": "5", "max_refresh_hz": "120"}, "exposure shorter than a refresh"),
        ({"exposures_ms": ""}, "must name an exposure"),
        ({"exposures_ms": ",".join(map(str, range(50, 60)))}, "each evaluator needs 10 fakes"),
    ],
)
def test_settings_can_be_changed_before_anyone_has_begun_and_bad_ones_are_refused(world, settings, message):
    study = added(world)

    changed = change_settings(world.store, world.data, "faces", {"exposures_ms": "unlimited,80"})
    assert changed.study.protocol.timing.exposures_ms == (80, None)

    with pytest.raises(InvalidInput, match=message):
        change_settings(world.store, world.data, "faces", settings)
    assert world.store.study("faces") == changed.study != study


def test_a_demo_without_a_server_is_refused_in_words(world, tmp_path):
    study = added(world)

    with pytest.raises(InvalidInput, match="faces has fixed exposures"):
        write_site(world.store, study, tmp_path, tmp_path / "out")


def rows_of(text):
    return f"model,evaluator,truth,response,method,exposure_ms\n{text}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (rows_of("m,e,real,fake,exposures,fast\n"), "line 2: exposure_ms must be a number above 0, or empty"),
        (rows_of("m,e,real,fake,exposures,-1\n"), "line 2: exposure_ms must be"),
        (rows_of("m,e,real,fake,exposures,inf\n"), "line 2: exposure_ms must be"),
        (
            rows_of("m,e,real,fake,exposures,50\nm,e,fake,fake,time,50\n"),
            "line 3: method must be 'exposures'",
        ),
        (
            "model,evaluator,truth,response,method\nm,e,real,fake,exposures\n",
            "line 1: Constant stimuli needs the columns exposure_ms too; exposure_ms missing",
        ),
    ],
)
def test_a_bad_file_is_refused_by_line_and_column(tmp_path, text, message):
    (tmp_path / "r.csv").write_text(text)

    with pytest.raises(InvalidInput, match=message):
        score_file(tmp_path / "r.csv")


def test_a_file_from_elsewhere_is_scored_by_exposure(tmp_path):
    lines = [
        f"gan,e{person},{truth},{'fake' if person < right else 'real'},exposures,{ms}"
        for ms, right in ((100, 6), ("unlimited", 9))
        for person in range(10)
        for truth in ("fake", "fake")
    ]
    (tmp_path / "r.csv").write_text(rows_of("\n".join(lines)))

    found = CliRunner().invoke(main, ["score", str(tmp_path / "r.csv"), "--json"])

    (row,) = json.loads(found.output)["models"]
    assert [(one["exposure_ms"], one["accuracy"]) for one in row["by_exposure"]] == [(100, 60), (None, 90)]
    assert row["threshold"] is None
