"""Better intervals: by hand, by scipy where they meet, and how often they hold the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.intervals import Spread, better_interval, percentile_coverage, wilson
from validate import coverage

shares = st.lists(st.integers(0, 100), min_size=2, max_size=30)


def test_with_very_many_evaluators_it_is_wilsons_own():
    # 30 of 100 as binomial: p = 0.3, variance 0.0021, Wilson's interval from scipy
    ours = wilson(Spread(0.3, 0.3 * 0.7 / 100, 1e9, 100), 0.95)

    theirs = stats.binomtest(30, 100).proportion_ci(0.95, method="wilson")
    assert ours == pytest.approx((theirs.low, theirs.high), abs=1e-6)


def test_nobody_wrong_still_leaves_room_above():
    # 0 of 200: variance 0, t(1) = 12.7062; w = t^2 / 200: the end is w / (1 + w)
    found = better_interval(np.array([0.0, 0.0]), 200, "infinity", 0.95)

    w = 12.7062**2 / 200
    assert found["ci"] == pytest.approx([0, 100 * w / (1 + w)], rel=1e-4)


def test_times_have_students_interval():
    values = np.array([300.0, 320, 310, 350])

    found = better_interval(values, 1800, "time", 0.9)

    theirs = stats.t.interval(0.9, 3, values.mean(), stats.sem(values))
    assert (found["method"], found["ci"]) == ("student", pytest.approx(list(theirs)))


@given(shares)
def test_the_interval_of_a_share_holds_it_and_stays_within_0_and_100(values):
    low, high = better_interval(np.array(values, float), 100 * len(values), "infinity", 0.95)["ci"]

    assert 0 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 100


@given(shares)
def test_right_and_wrong_mirror_each_other(values):
    wrong = better_interval(np.array(values, float), 100 * len(values), "infinity", 0.95)["ci"]
    right = better_interval(100 - np.array(values, float), 100 * len(values), "infinity", 0.95)["ci"]

    assert [100 - end for end in reversed(right)] == pytest.approx(wrong, abs=1e-9)


@pytest.mark.parametrize("evaluators", [5, 10, 30, 120])
def test_what_the_percentile_interval_covers_is_what_simulated_normal_evaluators_show(evaluators):
    """Its ends of normal values are mean -+ 1.96 population SD / sqrt(n); 20,000 studies, SE 0.2%."""
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (20_000, evaluators))
    half = 1.959964 * values.std(axis=1) / evaluators**0.5

    share = np.mean(np.abs(values.mean(axis=1)) < half)

    assert percentile_coverage(evaluators, 0.95) == pytest.approx(share, abs=0.007)


def test_the_other_interval_is_advised_where_the_percentile_method_is_too_narrow_and_says_why():
    rng = np.random.default_rng(1)

    few = better_interval(rng.binomial(100, 0.3, 30).astype(float), 3000, "infinity", 0.95)
    many = better_interval(rng.binomial(100, 0.3, 60).astype(float), 6000, "infinity", 0.95)
    rare = better_interval(np.array([1.0] * 6 + [0.0] * 54), 6000, "infinity", 0.95)

    assert few["advised"]
    assert few["why"] == "the percentile interval of 30 evaluators covers about 93.6%, not 95%"
    assert (many["advised"], many["why"]) == (False, None)
    assert rare["why"] == "6 wrong answers in all are too few for the percentile method"


@pytest.mark.parametrize("population", [*coverage.BINOMIAL[3:], *coverage.SPREAD[1:]], ids=lambda of: of.name)
def test_30_evaluators_cover_as_the_report_says(population):
    """1,500 studies, SE 0.6%; `make validate` has 10,000 of each."""
    found = coverage.coverage(population, 30, 1500, np.random.default_rng(3))

    assert found["percentile"] == pytest.approx(percentile_coverage(30, 0.95), abs=0.02)
    assert found["printed"] == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("evaluators", [5, 10, 20])
@pytest.mark.parametrize("rate", [0.01, 0.1, 0.5])
def test_few_evaluators_are_covered_by_the_advised_interval(rate, evaluators):
    found = coverage.coverage(coverage.Population("", rate), evaluators, 1000, np.random.default_rng(3))

    assert found["advised"] == 1
    assert 0.93 < found["printed"] < 0.98
    assert found["percentile"] < found["printed"]
