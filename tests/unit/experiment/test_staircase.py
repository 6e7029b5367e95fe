"""The staircase rule, in the same hand-worked vectors as its JavaScript twin."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.experiment import staircase
from backend.experiment.staircase import StaircaseRule
from backend.foundation.errors import InvalidInput

VECTORS = json.loads((Path(__file__).parents[1] / "staircase_vectors.json").read_text("utf-8"))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_the_rule_does_what_was_worked_by_hand(vector):
    rule = StaircaseRule(**vector["rule"])
    state, shown = staircase.start(rule), []

    for answer in vector["answers"]:
        shown.append(state.exposure_ms)
        state = staircase.step(rule, state, answer)

    assert shown == vector["exposures_ms"]
    assert state.exposure_ms == vector["next_exposure_ms"]
    assert staircase.modal_exposure(shown) == vector["modal_exposure_ms"]


@pytest.mark.parametrize(
    ("rule", "accuracy"),
    [
        (StaircaseRule(1, 30, 10), 0.25),  # reading A of "3-up/1-down"
        (StaircaseRule(1, 10, 30), 0.75),  # B, weighted up-down (Kaernbach 1991)
        (StaircaseRule(3, 30, 10), 0.25 ** (1 / 3)),  # C, the default
        (StaircaseRule(3, 10, 30), 0.75 ** (1 / 3)),  # D
    ],
)
def test_a_rule_settles_where_its_drift_vanishes(rule, accuracy):
    assert staircase.equilibrium_accuracy(rule) == pytest.approx(accuracy)


@given(st.lists(st.booleans(), max_size=200))
def test_exposures_stay_within_their_bounds(answers):
    rule = StaircaseRule()
    state = staircase.start(rule)

    for answer in answers:
        state = staircase.step(rule, state, answer)

        assert rule.min_ms <= state.exposure_ms <= rule.max_ms
        assert 0 <= state.right_in_a_row < rule.right_to_descend


def test_no_trials_have_no_mode():
    with pytest.raises(InvalidInput, match="without trials has no modal exposure"):
        staircase.modal_exposure([])


@given(
    frame_ms=st.floats(4, 40), down=st.integers(1, 6), up=st.integers(1, 6), answers=st.lists(st.booleans())
)
def test_on_a_display_every_exposure_is_a_whole_number_of_refreshes(frame_ms, down, up, answers):
    rule = staircase.on_display(StaircaseRule(down_ms=10 * down, up_ms=10 * up, min_ms=10), frame_ms)
    state = staircase.start(rule)

    for right in answers:
        state = staircase.step(rule, state, right)

        assert state.exposure_ms == round(state.exposure_ms / frame_ms) * frame_ms
        assert rule.min_ms <= state.exposure_ms <= rule.max_ms


@pytest.mark.parametrize("rate_hz", [60, 75, 90, 120, 144, 240])
def test_in_refreshes_the_rule_settles_where_it_did(rate_hz):
    rule = staircase.NAMED_RULES["hype-2019"]

    settled = staircase.equilibrium_accuracy(staircase.on_display(rule, 1000 / rate_hz))
    assert settled == pytest.approx(staircase.equilibrium_accuracy(rule))
