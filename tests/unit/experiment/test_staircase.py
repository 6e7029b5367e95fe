"""The staircase rule, in the same hand-worked vectors as its JavaScript twin."""

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.models import simulated_staircase
from backend.analysis.table.evaluator_values import modal_exposures
from backend.analysis.table.response_rows import answers_of
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


# Steps as text, in decimals; and a refresh at 60 Hz as a float has it, whose sums are no decimals.
STEPS = [("16.7", "50.1"), ("33.4", "16.7"), ("8.35", "25.05"), ("0.5", "1.5"), ("16.666667", "50.000001"),
         ("11.11", "33.33"), ("7.7", "2.2"), (repr(1000 / 60), "50"), (repr(1000 / 144), repr(3000 / 144))
]  # fmt: skip


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("seed", range(5))
def test_equal_exposures_are_one_however_they_were_reached(steps, seed):
    down, up = (Fraction(step).limit_denominator(10**6) for step in steps)
    rule = StaircaseRule(1 + seed % 3, float(steps[0]), float(steps[1]))
    rng, state, at, in_a_row = Random(seed), staircase.start(rule), Fraction(500), 0
    floats, exact, rights = [], [], []

    for _ in range(150):
        floats.append(state.exposure_ms)
        exact.append(at)
        rights.append(rng.random() < 0.7)
        state = staircase.step(rule, state, rights[-1])
        in_a_row = (in_a_row + 1) * rights[-1]
        if not rights[-1]:
            at = min(at + up, Fraction(1000))
        elif in_a_row == rule.right_to_descend:
            at, in_a_row = max(at - down, Fraction(100)), 0

    counts = Counter(exact)
    mode = min(ms for ms, count in counts.items() if count == max(counts.values()))
    assert len({*map(staircase.comparable, floats)}) == len(counts)
    assert staircase.modal_exposure(floats) == pytest.approx(float(mode), abs=1e-6)
    rows = [
        {"model": "m", "evaluator": "a", "block": 0, "trial_index": i, "exposure_ms": ms, "truth": "fake",
         "response": "fake" if right else "real"}
        for i, (ms, right) in enumerate(zip(floats, rights, strict=True))
    ]  # fmt: skip
    assert [*modal_exposures(answers_of(rows, "time"))[1]] == [staircase.modal_exposure(floats)]
    dice = np.array([[0.0 if right else 1.0] for right in rights])
    alone, _ = simulated_staircase.blocks(rule, lambda ms: np.full((len(ms), 1), 0.5), dice)
    assert [*alone] == pytest.approx([float(mode)], abs=1e-6)


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
