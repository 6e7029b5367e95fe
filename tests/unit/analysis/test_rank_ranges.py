"""Ranges of ranks from the intervals of scores, by hand and by simulation."""

import numpy as np
import pytest
from scipy.stats import norm, t

from backend.analysis.distributions.rank_ranges import rank_ranges
from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from validate.studies import InfinityPopulation, multi_model_study


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


def test_chosen_models_are_ranked_at_the_level_of_all_that_they_were_chosen_of():
    # of four models, six pairs: 1 - 0.05 / 12 in place of 1 - 0.05 / 2 of the normal distribution
    least = np.sqrt(2) * norm.ppf(1 - 0.05 / 12) / norm.ppf(0.975)
    apart, together = [row(50, 1), row(50 - 1.001 * least, 1)], [row(50, 1), row(50 - 0.999 * least, 1)]

    assert rank_ranges(apart, 0.95, chosen_of=4) == [(1, 1), (2, 2)]
    assert rank_ranges(together, 0.95, chosen_of=4) == [(1, 2), (1, 2)]


def test_the_best_of_many_equal_tries_is_not_put_ahead_by_chance():
    rng, tries, times, evaluators = np.random.default_rng(3), 10, 500, 30
    right = 0
    for _ in range(times):
        values = rng.normal(40, 8, (1 + tries, evaluators))
        half = t.ppf(0.975, evaluators - 1) * values.std(axis=1, ddof=1) / np.sqrt(evaluators)
        rows = [row(mean, own, evaluators - 1) for mean, own in zip(values.mean(axis=1), half, strict=True)]
        best = max(rows[1:], key=lambda one: one["score"])
        right += rank_ranges([rows[0], best], 0.95, len(rows)) == [(1, 2), (1, 2)]

    # in 88% of these studies if the pair of the two were all that is counted
    assert right / times >= 0.95 + norm.ppf(0.00135) * np.sqrt(0.95 * 0.05 / times)


def pair_by_pair(rows, level):
    """Return the ranges from the interval of each difference, computed by itself (Zou and Donner, 2008)."""
    tail = (1 - level) / (len(rows) * (len(rows) - 1) / 2)

    def halves(row):
        df, (low, high) = row["interval"]["df"], row["interval"]["ci"]
        student = norm if df is None else t(df)
        wider = student.ppf(1 - tail / 2) / student.ppf((1 + level) / 2)
        return wider * (row["score"] - low), wider * (high - row["score"])

    ranges = []
    for own in rows:
        best, worst = 1, len(rows)
        for other in rows:
            if own is not other:
                (below, above), (other_below, other_above) = halves(own), halves(other)
                difference = own["score"] - other["score"]
                best += difference + np.sqrt(above**2 + other_below**2) < 0
                worst -= difference - np.sqrt(below**2 + other_above**2) > 0
        ranges.append((int(best), int(worst)))
    return ranges


@pytest.mark.parametrize("models", [2, 3, 12, pytest.param(20, marks=pytest.mark.slow("as with 12"))])
def test_the_ranges_are_those_of_each_difference_computed_by_itself(models):
    rng = np.random.default_rng(models)
    for df in (1, 4, 29, None):
        rows = []
        for score in rng.uniform(0, 100, models):
            ci = [score - rng.uniform(0, 9), score + rng.uniform(0, 9)]
            own_df = None if df is None else df * float(rng.uniform(1, 2))
            rows.append({"score": score, "evaluators": 30, "interval": {"ci": ci, "df": own_df}})

        assert rank_ranges(rows, 0.95) == pair_by_pair(rows, 0.95)


MANY = [
    pytest.param(*case, marks=pytest.mark.slow("scores studies of many models"))
    for case in ((15, 30, 0.005, 20), (40, 2, 0.3, 5))
]


@pytest.mark.parametrize(
    ("models", "evaluators", "rate", "studies"),
    [(2, 2, 0.02, 60), (2, 30, 0.02, 150), (6, 3, 0.3, 60), *MANY],
)
def test_equal_models_are_apart_in_5_percent_of_studies_at_most(models, evaluators, rate, studies):
    """Scored as studies are; at shares near 0 and with 2 evaluators, whose scores may well be equal."""
    rng, population = np.random.default_rng(7), InfinityPopulation(rate, pool=40)
    scores, right = scores_of("infinity"), 0
    for _ in range(studies):
        answers = multi_model_study(population, models, evaluators, rng)
        ranges = rank_ranges(scores.model_rows(answers, Options(level=0.95)), 0.95)
        right += all(each == (1, models) for each in ranges)

    assert right / studies >= 0.95 + norm.ppf(0.00135) * np.sqrt(0.95 * 0.05 / studies)
