"""`not_sure` as a third answer over HTTP: where it is allowed, what it pays, what is told and stored."""

import csv
import dataclasses
import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.commands.simulated_evaluators import simulate
from backend.experiment import session as sessions
from backend.experiment.judgments import judgment_of
from backend.experiment.judgments.real_or_fake import INFINITY
from backend.experiment.not_sure import error_of
from backend.experiment.session import Cursor
from backend.experiment.settings import new_protocol
from backend.foundation.errors import InvalidInput
from backend.responses.export import export
from backend.responses.readers import read_answers
from backend.responses.study_data import study_rows, study_scores
from backend.scoring import score_answers

from . import sample_studies as studies
from .conftest import names_of


def added(world, name="faces", method="infinity", **settings):
    settings = {"images": 8, "not_sure": "true", **settings}
    return world.add(studies.study(name, method, **settings))


def added_with_aside(world, **settings):
    """Add a study with two reals and two fakes for practice, and as many for checks."""
    study = studies.study("faces", images=8, not_sure="true", **settings)
    roles = Counter()

    def with_role(stimulus):
        roles[stimulus.truth] += 1
        role = {1: "practice", 2: "practice", 3: "check", 4: "check"}.get(roles[stimulus.truth], "")
        return dataclasses.replace(stimulus, role=role)

    world.pools["faces"] = [with_role(stimulus) for stimulus in studies.pool(study)]
    world.store.add_study(study, world.pools["faces"])
    return study


@pytest.mark.parametrize(
    ("response", "truth", "error"),
    [("real", "real", 0), ("fake", "real", 1), ("not_sure", "real", 0.5), ("not_sure", "left", 0.5)],
)
def test_not_sure_is_half_an_error_whatever_is_right(response, truth, error):
    assert error_of(response, truth) == error


@pytest.mark.parametrize("method", ["infinity", "exposures", "pair"])
def test_it_is_stored_paid_by_half_and_scored_by_half(each_world, method):
    exposures = {"exposures_ms": "unlimited"} if method == "exposures" else {}
    study = added(each_world, method=method, bonus_usd_cents=3, **exposures)
    player = each_world.player()
    player.begin()

    earned = [player.answer(response="not_sure")["earned_usd_cents"] for _ in range(3)]
    while player.done is None:
        player.answer()

    # 3 halves and 5 right of 8: 3 * 1.5 + 5 * 3 = 19.5, rounded up once; 1.5, 3 and 4.5 before that
    assert (earned, player.done["earned_usd_cents"]) == ([2, 3, 5], 20)
    assert (player.done["right"], player.done["not_sure"], player.done["answered"]) == (5, 3, 8)
    rows = list(study_rows(each_world.store, study))
    assert [row["response"] == "not_sure" for row in rows] == [True] * 3 + [False] * 5
    (model,) = study_scores(each_world.store, study)["models"]
    assert (model["score"], model["not_sure"]) == (100 * 1.5 / 8, 100 * 3 / 8)


def test_the_replayed_cursor_is_that_which_was_stored(world):
    study = added(world, bonus_usd_cents=3)
    player = world.player()
    player.begin()
    for response in ("not_sure", "real", "fake", "not_sure"):
        player.answer(response=response)

    session = world.store.session(player.state["session"])
    stored = world.store.cursor(session.id)
    again = sessions.replay(session, study.protocol, stored, world.store.responses(session.id))

    assert stored.not_sure == 2
    assert (again.not_sure, again.right, again.trial_index) == (2, stored.right, 4)


def test_feedback_tells_the_right_answer_once_it_is_stored_and_not_without_feedback(world):
    added(world)
    player = world.player()
    player.begin()
    truth = player.truth(player.images[0])
    reply = player.answer(response="not_sure")
    decided = player.answer()
    assert (reply["was_correct"], reply["right_answer"]) == (False, truth)
    assert (decided["was_correct"], decided["right_answer"]) == (True, None)

    added(world, "quiet", feedback="false", exclusive="false", bonus_usd_cents=2)
    player = world.player("quiet")
    player.begin()
    reply = player.answer(response="not_sure")
    assert [reply[name] for name in ("was_correct", "right_answer", "earned_usd_cents")] == [None] * 3


def test_a_mistimed_flash_answered_not_sure_is_paid_by_half_at_the_end_and_tells_nothing(world):
    study = added(world, method="exposures", exposures_ms="100", bonus_usd_cents=2, images=4, spare_images=4)
    player = world.player()
    player.begin()
    reply = player.answer(response="not_sure", flags=["mistimed"])
    assert (reply["was_correct"], reply["right_answer"], reply["earned_usd_cents"]) == (None, None, 0)

    trial = player.next["trial_index"]
    player.images[trial] = names_of(reply["replaced_by"])
    while player.done is None:
        player.answer()

    assert (player.done["earned_usd_cents"], player.done["not_sure"]) == (4 * 2 + 1, 1)
    session = world.store.session(player.state["session"])
    cursor = world.store.cursor(session.id)
    assert sessions.earned_part_usd_cents(study.protocol, session, cursor) == (0, 9)


@pytest.mark.parametrize(
    ("method", "settings"), [("infinity", {}), ("pair", {}), ("time", {}), ("exposures", {})]
)
def test_a_study_that_does_not_allow_it_refuses_it_and_stores_nothing(world, method, settings):
    world.add(studies.study("faces", method, images=8, **settings))
    player = world.player()
    player.begin()

    reply = player.post("answers", player.body(response="not_sure"))

    assert reply.status_code == 400
    assert "not 'not_sure'" in reply.json["error"]["message"]
    assert world.store.responses(player.state["session"]) == []
    assert world.store.cursor(player.state["session"]).trial_index == 0


@pytest.mark.parametrize(
    ("method", "kind", "settings", "message", "names"),
    [
        ("time", "study", {}, "not_sure goes with methods 'infinity', 'exposures' and 'pair'", "not_sure"),
        ("tournament", "study", {}, "not_sure goes with methods", "not_sure"),
        ("jnd", "study", {}, "not_sure goes with methods", "not_sure"),
        ("infinity", "qualification", {}, "no answer not_sure in a qualification", "not_sure"),
        ("pair", "qualification", {}, "no answer not_sure in a qualification", "not_sure"),
        ("infinity", "study", {"confidence": "4"}, "either by not_sure or by confidence", "not_sure"),
    ],
)
def test_it_is_refused_at_creation_where_it_makes_no_sense(method, kind, settings, message, names):
    judgment = judgment_of(method)
    of = judgment.methods[method]
    base = of.qualification if kind == "qualification" else of.protocol

    with pytest.raises(InvalidInput, match=message) as refusal:
        judgment.check(new_protocol(base, kind, {"not_sure": "true", **settings}), kind)

    assert ("settings", names) in (refusal.value.keys, *refusal.value.also) or names in str(
        refusal.value.keys
    )


@pytest.mark.parametrize("kinds", [{"picture_checks": 2}, {"instructed_checks": 2}])
def test_on_an_attention_check_it_is_an_answer_like_others_and_not_right(world, kinds):
    study = added_with_aside(world, exclude_checks_below=0.4, **kinds)
    player = world.player()
    player.begin()
    while player.done is None:
        player.answer(response="not_sure")

    rows = list(study_rows(world.store, study))
    checks = [row for row in rows if row["trial_kind"] != "test"]
    assert [row["response"] for row in checks] == ["not_sure"] * 2
    assert {row["excluded"] for row in rows} == {True}


def test_practice_is_neither_paid_nor_counted(world):
    added_with_aside(world, practice_images=2, bonus_usd_cents=2)
    player = world.player()
    player.begin()
    replies = [player.answer(response="not_sure") for _ in range(2)]
    assert [reply["right_answer"] in ("real", "fake") for reply in replies] == [True, True]
    assert replies[-1]["earned_usd_cents"] == 0
    player.play()
    assert (player.done["earned_usd_cents"], player.done["not_sure"]) == (16, 0)


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 1000))
def test_pay_is_whole_cents_rounded_up_once_and_never_above_that_of_right_answers(right, unsure, bonus):
    protocol = INFINITY.changed(bonus_usd_cents=bonus)
    cursor = Cursor(right={"real": right}, not_sure=unsure)

    earned = sessions.earned_usd_cents(protocol, cursor)

    assert 0 <= 2 * earned - bonus * (2 * right + unsure) <= 1
    assert bonus * right <= earned <= bonus * (right + unsure)


def test_an_export_has_it_and_scores_as_the_study_does(world, tmp_path):
    study = added(world)
    for places in ((0, 3), (), (1,)):
        player = world.player()
        player.begin()
        for i in range(8):
            player.answer(**({"response": "not_sure"} if i in places else {"right": i % 2 == 0}))

    export(world.store, study, tmp_path)

    folder = tmp_path / "data"
    read = {path.name: [*csv.DictReader(path.read_text().splitlines())] for path in folder.glob("*.csv")}
    people = read["study-faces_description-evaluators_data.csv"]
    assert sorted(row["not_sure"] for row in people) == ["0.0", "0.125", "0.25"]
    images = read["study-faces_description-images_data.csv"]
    assert sum(float(row["number_guesses_generated"]) % 1 == 0.5 for row in images) in (1, 3)
    again = study_scores(world.store, study)
    path = folder / "study-faces_data.csv"
    assert score_answers(read_answers(path))["models"] == again["models"]
    described = json.loads((tmp_path / "dataset_description.json").read_text())
    assert any("not_sure" in row["description"] for row in described["variableMeasured"])


@pytest.mark.parametrize("method", ["infinity", "exposures", "pair"])
def test_simulated_evaluators_are_not_sure_where_a_study_allows_it(world, method):
    study = added(world, method=method, evaluators=4, images=50)

    simulate(world.store, world.data, "faces", {"all": "0.75"}, seed=1)

    # |evidence| < z(0.6) = 0.253 of Normal(z(0.75) = 0.674, 1): Phi(-0.421) - Phi(-0.928) = 0.160
    # of 400 answers, whose SD is 0.018; pictures differ besides
    rows = list(study_rows(world.store, study, simulated=True))
    assert len(rows) == 400
    share = sum(row["response"] == "not_sure" for row in rows) / len(rows)
    assert 0.1 < share < 0.22
