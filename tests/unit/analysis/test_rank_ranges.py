"""Ranges of ranks from the intervals of scores, by hand and by simulation."""

import numpy as np
import pytest
from scipy.stats import norm, t

from backend.analysis.rank_ranges import rank_ranges


def row(score, half, df=None, evaluators=30):
    return {
        "score": score,
        "evaluators": evaluators,
        "interval": {"ci": [score - half, score + half], "df": df},
    }


def test_two_models_are_apart_if_the_interval_of_their_difference_excludes_zero():
    # equal half-widths h combine to h * sqrt(2); one pair needs no correction
    apart, together = [row(50, 1), row(50 - 1.415, 1)], [row(50, 1), row(50 - 1.413, 1)]

    assert rank_ranges(apart, 0.95) == [(1, 1), (2, 2)]
    assert rank_ranges(together, 0.95) == [(1, 2), (1, 2)]


def test_intervals_are_widened_to_bonferronis_level_for_all_pairs():
    # three pairs: 1 - 0.05 / 6 in place of 1 - 0.05 / 2, of Student's t with 9 degrees of freedom
    wider = t.ppf(1 - 0.05 / 6, 9) / t.ppf(0.975, 9)
    least = np.sqrt(2) * wider
    rows = [row(50, 1, 9), row(50 - 1.001 * least, 1, 9), row(50 - 1.999 * least, 1, 9)]

    assert rank_ranges(rows, 0.95) == [(1, 1), (2, 3), (2, 3)]


def test_a_model_without_an_interval_has_no_range_and_takes_none_away():
    rows = [row(50, 1), {"score": 40, "evaluators": 1, "interval": None, "ci": None}, row(10, 1)]

    assert rank_ranges(rows, 0.95) == [(1, 1), None, (2, 2)]
    assert rank_ranges([], 0.95) == []


@pytest.mark.parametrize("evaluators", [8, 30])
def test_all_true_ranks_are_within_their_ranges_as_often_as_said(evaluators):
    rng, models, times = np.random.default_rng(5), 6, 400
    true = np.array([40.0, 40.0, 36.0, 30.0, 29.0, 12.0])
    best = [1 + int((true > own).sum()) for own in true]
    worst = [models - int((true < own).sum()) for own in true]
    right = 0
    for _ in range(times):
        values = rng.normal(true[:, None], 8, (models, evaluators))
        half = t.ppf(0.975, evaluators - 1) * values.std(axis=1, ddof=1) / np.sqrt(evaluators)
        rows = [row(mean, own, evaluators - 1) for mean, own in zip(values.mean(axis=1), half, strict=True)]
        found = rank_ranges(rows, 0.95)
        right += all(a <= c and d <= b for (a, b), c, d in zip(found, best, worst, strict=True))

    # 95% or more, less three standard errors of the simulation
    assert right / times >= 0.95 + norm.ppf(0.00135) * np.sqrt(0.95 * 0.05 / times)
