"""The rule of staircases is read off their answers."""

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.models.rule_inference import infer_rule
from backend.analysis.table.response_rows import answers_of
from backend.experiment import staircase
from backend.experiment.observer import PsychometricObserver
from backend.experiment.staircase import NAMED_RULES, StaircaseRule

BOUNDLESS = StaircaseRule(2, 25, 10, start_ms=300, min_ms=20, max_ms=2000)


def rows_of(rule, threshold=250.0, evaluators=4, trials=150, seed=1):
    """Return rows of evaluators under a rule, out of order."""
    rng, rows = Random(seed), []
    for evaluator in range(evaluators):
        observer = PsychometricObserver(threshold_ms=threshold)
        state = staircase.start(rule)
        for trial in range(trials):
            said = observer.answer("real", state.exposure_ms, rng)
            rows.append(
                {"model": "m", "evaluator": f"e{evaluator}", "block": 0, "trial_index": trial,
                 "exposure_ms": state.exposure_ms, "truth": "real", "response": said}
            )  # fmt: skip
            state = staircase.step(rule, state, said == "real")
    rng.shuffle(rows)
    return rows


def found_of(rows):
    return infer_rule(answers_of(rows, "time"))


@pytest.mark.parametrize("name", NAMED_RULES)
@pytest.mark.parametrize("threshold", [30, 250, 3000])
def test_the_named_rules_are_recognised_wherever_they_move(name, threshold):
    assert found_of(rows_of(NAMED_RULES[name], threshold)) == NAMED_RULES[name]


def test_bounds_that_no_staircase_met_are_the_papers():
    found = found_of(rows_of(BOUNDLESS, 300, trials=15))

    assert found == replace(BOUNDLESS, min_ms=100, max_ms=1000)


def test_bounds_that_staircases_met_are_their_own():
    rule = replace(BOUNDLESS, min_ms=150, max_ms=320)

    found = found_of(rows_of(rule, 30) + [
        {**row, "evaluator": "far", "block": 1} for row in rows_of(rule, 5000, evaluators=1)
    ])  # fmt: skip

    assert found == rule


@given(
    st.builds(
        StaircaseRule,
        right_to_descend=st.integers(1, 4),
        down_ms=st.sampled_from([10, 16.667, 30]),
        up_ms=st.sampled_from([5, 10, 16.667, 30]),
        start_ms=st.sampled_from([300, 500]),
    ),
    st.integers(0, 1000),
)
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_any_rule_foretells_what_it_moved(rule, seed):
    found = found_of(rows_of(rule, seed=seed))

    assert (found.right_to_descend, found.down_ms, found.up_ms) == (
        rule.right_to_descend, rule.down_ms, rule.up_ms,
    )  # fmt: skip


def test_exposures_that_no_rule_moved_have_none():
    rows = [{**row, "exposure_ms": 100 + (37 * i) % 900} for i, row in enumerate(rows_of(BOUNDLESS))]

    assert found_of(rows) is None
    assert found_of([{**row, "exposure_ms": 200} for row in rows]) is None
    assert found_of(rows[:1]) is None
