"""HYPE-time besides the mode: reversals by hand, and summaries over evaluators who differ."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.analysis.exposures import exposures_of, over_evaluators, reversal_mean, staircases
from backend.analysis.table.response_rows import answers_of
from validate import coverage


def rows_of(shown, was_right, block=lambda trial: trial // 150, order=None):
    for i, (line, right) in enumerate(zip(shown, was_right, strict=True)):
        for trial in order or range(len(line)):
            yield {
                "model": "m", "evaluator": f"e{i}", "truth": "fake", "block": block(trial),
                "trial_index": trial, "exposure_ms": float(line[trial]),
                "response": "fake" if right[trial] else "real",
            }  # fmt: skip


def found_of(shown, was_right, at=0.75, **options):
    answers = answers_of(rows_of(shown, was_right, **options), "time")
    return exposures_of(answers, 0, 0.95, at)


def test_reversals_by_hand():
    # falls to 440, rises to 460, falls to 430, rises: turns at 440, 460, 430; the first is left out
    trace = np.array([500, 470, 440, 440, 450, 460, 430, 440.0])

    assert reversal_mean(trace) == (460 + 430) / 2


def test_an_even_number_of_reversals_loses_two_so_that_they_stay_in_pairs():
    # turns at 440, 460, 430, 450
    assert reversal_mean(np.array([500, 440, 460, 430, 450, 420.0])) == (430 + 450) / 2


@pytest.mark.parametrize("trace", [[500], [500, 500, 500], [500, 470, 440], [500, 470, 480, 450]])
def test_fewer_than_three_reversals_have_no_mean(trace):
    assert reversal_mean(np.array(trace, float)) is None


@given(st.lists(st.sampled_from([-30.0, 0.0, 10.0]), max_size=60))
def test_the_mean_of_reversals_lies_within_the_exposures(moves):
    trace = 5000 + np.cumsum([0.0, *moves])

    mean = reversal_mean(trace)

    assert mean is None or trace.min() <= mean <= trace.max()


def test_staircases_stand_in_the_order_of_trials_whatever_that_of_the_rows():
    shown, right = np.array([[500.0, 470, 480, 490]]), np.array([[True, False, False, True]])

    rows = [*rows_of(shown, right, block=lambda trial: 0, order=[2, 0, 3, 1])]
    (found,) = staircases(answers_of(rows, "time"))

    assert found["exposure_ms"] == [500, 470, 480, 490]
    assert found["was_correct"] == [True, False, False, True]


def test_the_median_counts_those_beyond_the_exposures_by_hand():
    found = over_evaluators([100.0, 300.0, None, 200.0, 1500.0], 50, longest_ms=1000, level=0.9)

    # 100, 200, 300, beyond, beyond; P(none of 5 below the median) = 1/32 is within 5%: ranks 1 and 5
    assert (found["median"], found["median_ci"]) == (300, [100, None])
    assert (found["fitted"], found["beyond"], found["evaluators"]) == (5, 2, 3)
    assert (found["mean"], found["advised"]) == (200, "median")


def test_with_half_of_them_beyond_the_pooled_threshold_is_advised():
    found = over_evaluators([100.0, None], 50, longest_ms=1000, level=0.95)

    assert (found["median"], found["median_ci"], found["advised"]) == (None, None, "pooled")
    assert over_evaluators([], 50, 1000, 0.95)["advised"] == "pooled"


def test_the_interval_of_the_median_holds_it_in_95_of_100_at_least():
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(1000):
        found = over_evaluators((300 * np.exp(rng.normal(0, 0.5, 30))).tolist(), 1, 600, 0.95)
        low, high = found["median_ci"]
        held += low <= 300 <= (high or np.inf)

    # with 30 evaluators the ranks are 10 and 21: 95.7% (any table of the sign test)
    assert held / 1000 == pytest.approx(0.957, abs=0.02)


@pytest.mark.slow("simulates many studies")
def test_known_thresholds_come_back_from_staircases():
    rng = np.random.default_rng(4)
    midpoints = 300 * np.exp(rng.normal(0, 0.2, 30))
    truth = np.median(midpoints) * (0.25 / 0.22) ** (1 / 3)

    found = found_of(*coverage.staircases(midpoints, rng))

    assert found["threshold_ms"]["median"] == pytest.approx(truth, rel=0.1)
    assert found["pooled"]["threshold_ms"] == pytest.approx(truth, rel=0.1)
    assert found["pooled"]["ci"] is None
    # hype-2019 settles where p^3 = 1/4, at 218 ms; its reversals on the way down from 500 ms count too
    equilibrium_ms = 300 * (1 / ((0.63 - 0.5) / 0.47) - 1) ** (-1 / 3)
    assert equilibrium_ms < found["reversal_ms"]["mean"] < truth


def test_exposures_are_counted_as_they_were_shown():
    shown, right = np.array([[100.0, 100.0, 130.0]]), np.array([[True, False, True]])

    assert found_of(shown, right)["points"] == [
        {"exposure_ms": 100.0, "right": 1, "total": 2}, {"exposure_ms": 130.0, "right": 1, "total": 1},
    ]  # fmt: skip


def test_the_median_of_reversals_has_an_interval_between_ranks_and_the_mean_has_none():
    # of one block each; the first reversal is left out: evaluator i has (460 + 430) / 2 + 10 i
    trace = np.array([500, 440, 460, 430, 450.0])
    shown = np.array([trace + 10 * i for i in range(9)])

    found = found_of(shown, np.ones(shown.shape, bool))["reversal_ms"]

    # 9 values: P(at most one below the median) = 10/512 is within 2.5%, so that ranks 2 and 8 hold it
    assert found == {"mean": 485, "evaluators": 9, "median": 485, "median_ci": [455, 515]}


def test_an_evaluator_with_one_response_has_no_function_of_their_own():
    found = found_of(np.array([[500.0]]), np.array([[True]]))

    assert found["evaluators"] == [{"evaluator": "e0", "reversal_ms": None, "psychometric": None}]
    assert found["threshold_ms"]["fitted"] == 0
    assert found["pooled"]["ci"] is None
