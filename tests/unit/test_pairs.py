"""Pairs of a real and a fake over HTTP, on each store: what is shown, told, paid, stored and scored."""

import json
from collections import Counter

import pytest

from backend.commands.simulated_evaluators import simulate
from backend.experiment.session import earned_usd_cents, is_shown_again
from backend.responses.study_data import study_rows, study_scores

from . import sample_studies as studies
from .conftest import names_of

MISTIMED = {"flags": ["mistimed"]}
QUALIFIED = {"qualification": "test"}


def added(world, name="faces", kind="study", **settings):
    settings = {"images": 8, "spare_images": 8, **settings}
    return world.add(studies.study(name, "pair", kind, **settings))


def test_the_page_is_told_of_pairs_and_of_no_truth(world):
    added(world)

    told = world.http.get("/api/studies/faces").json
    player = world.player()
    block = player.begin()

    assert (told["judgment"], told["trial_shows"], told["images"]) == ("which_is_real", "pair", 8)
    assert [len(urls.split(" ")) for urls in block["images"]] == [2] * 8
    text = json.dumps([told, player.state, block])
    assert not [word for word in ("gan", "vae", "truth") if word in text]
    assert not [word for word in ('"left"', '"right"') if word in json.dumps([player.state, block])]


def test_a_session_is_answered_paid_by_right_answers_and_stored(each_world):
    study = added(each_world, bonus_usd_cents=2)
    player = each_world.player()

    done = player.play(right=lambda truth: truth == "left")

    session = each_world.store.session(player.state["session"])
    lefts = session.blocks[0].truths.count("left")
    rows = list(study_rows(each_world.store, study))
    assert [row["truth"] for row in rows] == list(session.blocks[0].truths)
    assert {row["response"] for row in rows} == {"left"}
    assert (done["right"], done["answered"], done["earned_usd_cents"]) == (lefts, 8, 2 * lefts)
    cursor = each_world.store.cursor(session.id)
    assert earned_usd_cents(study.protocol, cursor) == 2 * lefts
    for row in rows:
        assert {row["left"], row["right"]} == {"real", session.model}
        assert row[row["truth"]] == "real"
    (model,) = study_scores(each_world.store, study)["models"]
    assert (model["score"], model["responses"]) == (100 * (8 - lefts) / 8, 8)


def test_feedback_tells_right_and_wrong_and_is_left_out_without_it(world):
    added(world)
    player = world.player()
    player.begin()
    assert [player.answer()["was_correct"], player.answer(right=False)["was_correct"]] == [True, False]

    added(world, "quiet", feedback="false", exclusive="false")
    player = world.player("quiet")
    player.begin()
    assert player.answer()["was_correct"] is None


def test_an_answer_that_is_sent_again_counts_once(each_world):
    added(each_world)
    player = each_world.player()
    player.begin()
    body = player.body()

    replies = [player.post("answers", body) for _ in range(2)]

    assert [reply.status_code for reply in replies] == [200, 200]
    assert replies[0].json == replies[1].json
    assert each_world.store.cursor(player.state["session"]).trial_index == 1


@pytest.mark.parametrize("response", ["real", "fake", "tie", "Left", "", 1, None, ["left"]])
def test_other_answers_are_refused(world, response):
    added(world)
    player = world.player()
    player.begin()

    assert player.post("answers", player.body(response=response)).status_code == 400


def test_the_pictures_of_a_pair_cannot_be_swapped(world):
    added(world)
    player = world.player()
    player.begin()
    left, right = player.images[0].split(" ")

    for stimulus in (f"{right} {left}", left, f"{left} {left}", f"{left}  {right}"):
        assert player.post("answers", player.body(stimulus=stimulus)).status_code in (400, 409)


def test_after_a_reload_the_same_pair_is_asked_and_a_flashed_one_is_another_of_its_side(each_world):
    added(each_world, exposures_ms="100,unlimited", images=12)
    player = each_world.player()
    player.begin()
    seen = Counter()

    while player.done is None:
        index, exposure_ms = player.next["trial_index"], player.next["exposure_ms"]
        before = player.images[index]
        state = player.post("resume", {}).json["state"]
        player.lease, player.next = state["lease"], state["next"]
        player.begin()
        after = player.images[index]
        is_again = is_shown_again(each_world.store.cursor(player.state["session"]), index)
        assert (player.stored(after) == player.stored(before)) == (exposure_ms is None or is_again)
        assert player.truth(after) == player.truth(before)
        seen[exposure_ms, is_again] += 1
        player.answer()

    assert {(100, False), (None, False)} <= set(seen)  # (100, True) if there was no spare for the last ones
    assert player.done["complete"] is True


def test_a_mistimed_flash_is_replaced_by_a_pair_of_its_side_and_model_until_none_is_left(each_world):
    study = added(each_world, exposures_ms="100", spare_images=4, bonus_usd_cents=2)
    player = each_world.player()
    player.begin()
    side = player.truth(player.images[0])

    replaced = 0
    while player.done is None:
        reply = player.answer(**MISTIMED)
        assert reply["was_correct"] is None
        if reply["replaced_by"]:
            replaced += 1
            player.images[player.next["trial_index"]] = names_of(reply["replaced_by"])
            assert player.truth(player.images[0]) == side

    assert replaced == 2, "half of the spares are of this side"
    assert (player.done["complete"], player.done["earned_usd_cents"]) == (False, 2 * 3)
    assert len(list(study_rows(each_world.store, study, "replaced"))) == 3


def test_two_evaluators_mirror_each_other_in_number(world):
    added(world, evaluators=10, images=9, models=("gan",))

    sessions = [world.store.session(world.player().state["session"]) for _ in range(2)]

    assert sum(session.blocks[0].truths.count("left") for session in sessions) == 9


@pytest.mark.parametrize(
    ("test_of", "study_of"), [("pair", "infinity"), ("infinity", "pair"), ("pair", "pair")]
)
def test_a_pass_of_either_method_admits_to_studies_of_either(each_world, test_of, study_of):
    each_world.add(studies.study("test", test_of, "qualification", images=8))
    each_world.add(studies.study("faces", study_of, images=8, **QUALIFIED))
    passed, failed = ({"PROLIFIC_PID": "f" * 24}, {"PROLIFIC_PID": "0" * 24})

    assert each_world.open("faces", passed).json["stage"] == "qualification"
    result = each_world.player("test", panel=passed).play()["qualification"]
    assert result["passed"] is True
    assert ("right" in result) == (test_of == "pair")
    assert each_world.open("faces", passed).json["stage"] == "session"
    each_world.player("test", panel=failed).play(right=lambda truth: False)
    refused = each_world.open("faces", failed)
    assert (refused.status_code, refused.json["error"]["code"]) == (403, "not_qualified")


@pytest.mark.parametrize("exposures", [{}, {"exposures_ms": "100,unlimited"}])
def test_simulated_evaluators_play_a_study_and_the_qualification_before_it(world, exposures):
    added(world, "test", "qualification")
    study = added(world, evaluators=3, images=20, **QUALIFIED, **exposures)

    count = simulate(world.store, world.data, "faces", {"gan": "0.9", "vae": "0.5"}, seed=4)

    assert count == 6
    scores = study_scores(world.store, study, simulated=True)
    by_model = {row["model"]: row["score"] for row in scores["models"]}
    assert by_model["gan"] < 25 < by_model["vae"]
