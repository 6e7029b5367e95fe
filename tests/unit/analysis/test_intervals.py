"""The interval of shares: by hand, by scipy where they meet, and how often it holds the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.intervals import (
    OverBoth,
    doubts,
    percentile_coverage,
    spread_of,
    student,
    student_quantile,
    wilson,
)
from validate import coverage
from validate.studies import InfinityPopulation


def interval(values, of_images=0.0, images_df=1.0, answers=100):
    """Return the interval in percent of evaluators' percent."""
    values = np.array(values, float)
    people = spread_of(values / 100, answers * len(values))
    (low, high), _ = OverBoth(people, of_images, images_df).interval(0.95)
    return [100 * low, 100 * high]


shares = st.lists(st.integers(0, 100), min_size=2, max_size=30)


def test_with_very_many_evaluators_it_is_wilsons_own():
    # 30 of 100 as binomial: p = 0.3, variance 0.0021, Wilson's interval from scipy
    ours = wilson(0.3, 0.3 * 0.7 / 100, student_quantile(1e9, 0.95), 100)

    theirs = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_independent_responses_have_the_interval_of_their_number():
    theirs = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert wilson(0.3, 0.0, student_quantile(1e9, 0.95), 100) == pytest.approx(
        (theirs.low, theirs.high), abs=1e-6
    )


def test_nobody_wrong_still_leaves_room_above():
    # 0 of 200: variance 0, t(1) = 12.7062; w = t^2 / 200: the end is w / (1 + w)
    w = 12.7062**2 / 200

    assert interval([0, 0]) == pytest.approx([0, 100 * w / (1 + w)], rel=1e-4)


def test_evaluators_cannot_differ_less_than_answers_by_chance():
    # 29, 30, 31 of 100: SD 1, t(2) = 4.30: 4.30 * 0.577 = 2.5 points; 90 of 300 by chance: z = 1.96, Wilson's
    theirs = stats.binomtest(90, 300).proportion_ci(0.95, method="wilson")

    assert interval([29, 30, 31]) == pytest.approx([100 * theirs.low, 100 * theirs.high], abs=1e-9)


def test_pictures_widen_the_interval_by_their_variance_and_degrees_of_freedom():
    # 20, 30, 40: s^2 / n = 0.01 / 3 (df 2); pictures 0.01 (df 10): variance 0.013333, Satterthwaite's df
    # 0.013333^2 / (0.003333^2 / 2 + 0.01^2 / 10) = 11.43
    variance, df = 0.01 / 3 + 0.01, (0.01 / 3 + 0.01) ** 2 / ((0.01 / 3) ** 2 / 2 + 0.01**2 / 10)
    theirs = wilson(0.3, variance, student_quantile(df, 0.95), 300)

    assert interval([20, 30, 40], 0.01, 10) == pytest.approx([100 * end for end in theirs], rel=1e-9)


def test_times_have_students_interval():
    values = np.array([300.0, 320, 310, 350])

    theirs = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert student(spread_of(values, 1800), 0.9) == pytest.approx(list(theirs))


@given(shares)
def test_the_interval_of_a_share_holds_it_and_stays_within_0_and_100(values):
    low, high = interval(values)

    assert 0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 100


@given(shares)
def test_right_and_wrong_mirror_each_other(values):
    wrong = interval(values)
    right = interval(100 - np.array(values, float))

    assert [100 - end for end in reversed(right)] == pytest.approx(wrong, abs=1e-9)


@pytest.mark.parametrize("evaluators", [5, 10, 30, 120])
def test_what_the_percentile_interval_covers_is_what_simulated_normal_evaluators_show(evaluators):
    """Its ends of normal values are mean -+ 1.96 population SD / sqrt(n); 20,000 studies, SE 0.2%."""
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (20_000, evaluators))
    half = 1.959964 * values.std(axis=1) / evaluators**0.5

    share = np.mean(np.abs(values.mean(axis=1)) < half)

    assert percentile_coverage(evaluators, 0.95) == pytest.approx(share, abs=0.007)


def test_the_percentile_interval_is_doubted_where_it_is_too_narrow():
    rng = np.random.default_rng(1)

    few = doubts(rng.binomial(100, 0.3, 30).astype(float), 3000, "infinity", 0.95)
    many = doubts(rng.binomial(100, 0.3, 60).astype(float), 6000, "infinity", 0.95)
    rare = doubts(np.array([1.0] * 6 + [0.0] * 54), 6000, "infinity", 0.95)

    assert few == ["the percentile interval of 30 evaluators covers about 93.6%, not 95%"]
    assert many == []
    assert rare == ["6 wrong answers in all are too few for the percentile method"]


@pytest.mark.parametrize("evaluators", [5, 30])
@pytest.mark.parametrize("pool", [30, 200, None])
@pytest.mark.parametrize("rate", [0.1, 0.5])
@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_the_interval_covers_other_people_and_other_pictures(rate, pool, evaluators):
    """400 studies, SE 1.1%; `make validate` has the table."""
    found = coverage.coverage(InfinityPopulation(rate, pool=pool), evaluators, 400, np.random.default_rng(3))

    assert 0.92 < found["interval"] < 0.985
    assert found["percentile"] < found["interval"]
