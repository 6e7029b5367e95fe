"""Follow-ups through the API: stored with the answer in every store, exported, read again, or refused."""

import csv
import json

import pytest

from backend.responses.export import export
from tests.unit.response_rows import read_responses

from .. import sample_studies as studies

ASKED = {
    "images": 4,
    "confidence": "5",
    "reasons": "Hands|Text|Light",
    "reasons_for": "all",
    "comment": "optional",
    "mark": "click",
}
GIVEN = {
    "confidence": 4,
    "confidence_rt": 812.25,
    "reasons": [3, 1],
    "comment": "=sechs Finger, <b>手</b> 👋",
    "mark": [250, 999],
}


def as_posted(player, **changes):
    return player.post("answers", player.body(response="fake", **{**GIVEN, **changes}))


def test_they_are_stored_with_the_answer_and_exported(each_world, tmp_path):
    world = each_world
    study = world.add(studies.study(**ASKED))
    player = world.player()
    player.begin()
    while player.done is None:
        player.answer(response="fake", **GIVEN)

    ((session, _),) = world.store.sessions("faces")
    stored = world.store.responses(session.id)
    scored, *_ = export(world.store, study, tmp_path / "out")
    rows = list(read_responses(scored))
    description = json.loads((tmp_path / "out" / "dataset_description.json").read_text("utf-8"))

    assert [response.facts for response in stored] == [GIVEN] * 4
    expected = {**GIVEN, "reasons": (3, 1), "mark": (250, 999), "confidence_points": 5}
    assert [{name: row[name] for name in expected} for row in rows] == [expected] * 4
    assert set(expected) <= {variable["name"] for variable in description["variableMeasured"]}
    settings = json.loads((tmp_path / "out" / "materials" / "study.json").read_text("utf-8"))["settings"]
    assert settings["reasons"] == ["Hands", "Text", "Light"]


def test_an_export_has_the_columns_that_its_study_asks_for_alone(world, tmp_path):
    study = world.add(studies.study(images=4, confidence="slider"))
    player = world.player()
    player.begin()
    while player.done is None:
        player.answer(confidence=50)

    scored, *_ = export(world.store, study, tmp_path / "out")

    with scored.open(encoding="utf-8") as file:
        header = next(csv.reader(file))
    assert {"confidence", "confidence_points", "confidence_rt"} <= set(header)
    assert not {"reasons", "comment", "mark"} & set(header)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"confidence": 6}, "confidence must be a whole number from 1 to 5 in this study, not 6"),
        ({"confidence": None}, "confidence is missing; this study asks for it with each answer"),
        ({"confidence": "5"}, "confidence must be a number"),
        ({"confidence": True}, "confidence must be a number"),
        ({"confidence": 10**400}, "confidence must be a number"),
        ({"confidence_rt": -1}, "confidence_rt must be a number"),
        ({"reasons": [4]}, "reasons must be different numbers from 1 to 3"),
        ({"reasons": "1 2"}, "reasons must be a list"),
        ({"reasons": [1.5]}, "reasons[0] must be a whole number"),
        ({"comment": "x" * 301}, "comment must be a text of at most 300 characters"),
        ({"comment": "a\nb"}, "control character"),
        ({"comment": "a\ud800"}, "half of a surrogate pair"),
        (
            {"mark": [1001, 0]},
            "mark must be x and y in thousandths of the picture and within it, not [1001, 0]",
        ),
        ({"mark": [1]}, "mark must be x and y"),
        ({"mark": [-1, 5]}, "mark[0] must be a number from 0"),
        ({"mark": [1] * 41}, "mark must be a list of at most 40 numbers"),
    ],
)
def test_what_cannot_be_is_refused_and_the_trial_stays_open(world, changes, message):
    world.add(studies.study(**ASKED))
    player = world.player()
    player.begin()

    refused = as_posted(player, **changes)

    assert refused.status_code == 400
    assert message in refused.json["error"]["message"]
    assert world.store.responses(player.state["session"]) == []
    assert as_posted(player).status_code == 200


def test_an_answer_with_nothing_but_what_is_required_is_accepted(world):
    world.add(studies.study(**{**ASKED, "confidence": "none"}))
    player = world.player()
    player.begin()

    player.answer()

    assert world.store.responses(player.state["session"])[0].facts == {}


def test_the_same_answer_with_other_follow_ups_gets_the_same_reply_and_changes_nothing(world):
    world.add(studies.study(**ASKED))
    player = world.player()
    player.begin()

    first, second = as_posted(player), as_posted(player, confidence=1, comment="another")

    assert (first.status_code, second.status_code) == (200, 200)
    assert first.json == second.json
    (stored,) = world.store.responses(player.state["session"])
    assert stored.facts == GIVEN


def test_a_follow_up_cannot_change_the_judgment(world):
    world.add(studies.study(**ASKED))
    player = world.player()
    player.begin()
    as_posted(player)

    other = player.post("answers", player.body(response="real", **{**GIVEN, "mark": None}))

    assert (other.status_code, other.json["error"]["code"]) == (409, "answer_conflict")


def test_the_staircase_goes_on_as_without_follow_ups(world):
    exposures = []
    for name, asked in {"plain": {}, "asked": {"confidence": "3"}}.items():
        world.add(studies.study(name, "time", images=6, blocks=1, spare_images=0, **asked))
        player = world.player(name)
        player.begin()
        facts = {"confidence": 2} if asked else {}
        while player.done is None:
            exposures.append((name, player.next["exposure_ms"]))
            player.answer(right=player.next["trial_index"] != 2, **facts)

    of = {name: [ms for whose, ms in exposures if whose == name] for name in ("plain", "asked")}
    assert of["plain"] == of["asked"]
    assert len(of["plain"]) == 6


def test_the_page_is_told_what_to_ask_and_after_which_answers(world):
    world.add(studies.study(**{**ASKED, "reasons_for": "fake", "mark_needed": "required"}))
    world.add(studies.study("plain", images=4))

    assert world.player().state["protocol"]["follow_ups"] == {
        "confidence_points": 5,
        "confidence_with": False,
        "reasons": ["Hands", "Text", "Light"],
        "comment": "optional",
        "why_after": ["fake"],
        "mark": "click",
        "where_after": ["fake"],
        "mark_needed": True,
    }
    assert world.player("plain").state["protocol"]["follow_ups"] is None
