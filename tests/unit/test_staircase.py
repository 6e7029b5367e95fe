"""The staircase rule, in the same hand-worked vectors as its JavaScript twin."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend import staircase
from backend.errors import InvalidInput
from backend.staircase import StaircaseRule

VECTORS = json.loads((Path(__file__).parent / "staircase_vectors.json").read_text("utf-8"))


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
