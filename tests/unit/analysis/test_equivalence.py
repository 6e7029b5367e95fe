"""Equivalence of two models within a margin: by scipy, by Holm's method, in simulations."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.comparisons.equivalence import equivalence
from backend.analysis.distributions.inference import Component, Estimate
from validate.equivalence import outcome
from validate.mixed_sessions import Kind


def found_of(difference, error, df, level=0.95, margin=5.0, third=0.0):
    difference, error, df = (np.array(one, float) for one in (difference, error, df))
    return equivalence(Estimate(difference, Component(error**2, df, third)), level, margin)


@pytest.mark.parametrize("difference", [-6.0, -2.5, 0.0, 4.9, 30.0])
@pytest.mark.parametrize(
    ("error", "df", "level", "margin"), [(1, 2.5, 0.95, 5), (3, 40, 0.9, 2), (0.2, 9, 0.99, 6.2)]
)
def test_a_pairs_p_is_the_larger_of_two_one_sided_t_tests(difference, error, df, level, margin):
    (found,) = found_of([difference], [error], [df], level, margin)

    above = stats.t.sf((difference + margin) / error, df)
    below = stats.t.cdf((difference - margin) / error, df)
    assert found["p"] == found["p_holm"] == pytest.approx(max(above, below), rel=1e-10)
    low, high = stats.t.interval(2 * level - 1, df, difference, error)
    assert [*found["ci"], found["ci_level"]] == pytest.approx([low, high, 2 * level - 1])
    assert found["equivalent_within"] == pytest.approx(max(-low, high))
    assert (found["p"] < 1 - level) == (-margin < low and high < margin)


def test_over_evaluators_alone_it_is_two_tests_of_welch():
    rng = np.random.default_rng(4)
    a, b = rng.normal(50, 4, 20), rng.normal(51, 9, 13)
    va, vb = a.var(ddof=1) / 20, b.var(ddof=1) / 13
    df = (va + vb) ** 2 / (va**2 / 19 + vb**2 / 12)

    (found,) = found_of([a.mean() - b.mean()], [np.sqrt(va + vb)], [df])

    above = stats.ttest_ind(a + 5, b, equal_var=False, alternative="greater").pvalue
    below = stats.ttest_ind(a - 5, b, equal_var=False, alternative="less").pvalue
    assert found["p"] == pytest.approx(max(above, below), rel=1e-9)


@pytest.mark.parametrize("skewness", [0.0, 0.8])
@pytest.mark.parametrize("level", [0.95, 0.8, 0.6])
def test_the_smallest_margin_of_each_pair_is_where_holms_p_reaches_the_level(level, skewness):
    rng = np.random.default_rng(8)
    errors = rng.uniform(0.5, 3, 6)
    pairs = rng.normal(0, 4, 6), errors, rng.uniform(2, 60, 6), skewness * errors**3

    smallest = [row["equivalent_within"] for row in found_of(*pairs[:3], level, third=pairs[3])]

    for place, margin in enumerate(smallest):
        wider, narrower = (
            found_of(*pairs[:3], level, margin + shift, pairs[3])[place]["p_holm"] for shift in (1e-6, -1e-6)
        )
        assert wider < 1 - level < narrower


def test_a_longer_tail_beyond_the_margin_takes_more_to_call_a_pair_equivalent():
    apart = {"difference": [2.0], "error": [1.2], "df": [20]}

    (plain,), (away,), (near,) = (found_of(**apart, third=np.array([tail])) for tail in (0.0, 1.0, -1.0))

    assert away["p"] > plain["p"] == near["p"]
    assert away["equivalent_within"] > plain["equivalent_within"] == near["equivalent_within"]


def test_without_a_margin_there_is_the_smallest_one_alone():
    (found,) = found_of([-12.0], [4.0], [10], margin=None)

    assert (found["margin"], found["p"], found["p_holm"]) == (None, None, None)
    assert found["equivalent_within"] == pytest.approx(12 + 4 * stats.t.ppf(0.95, 10))


@pytest.mark.slow("simulates studies to know how often a verdict is false")
@pytest.mark.parametrize("size", [1, 2])
def test_models_at_the_edge_of_the_margin_are_called_equivalent_as_seldom_as_promised(size):
    """150 studies of 60 people and 20 shared pictures a side; over people alone 17 and 24% are false."""
    found = outcome(Kind((0.3, 0.7), 60, size, 20), 20.0, np.random.default_rng(5), 150)

    assert found["false"] < 0.1
    assert found["d_covers"] > 0.89


@pytest.mark.slow("simulates studies to know how often a verdict is false")
def test_of_several_pairs_any_false_verdict_is_as_seldom():
    """100 studies of four models, of whose six pairs four are at the edge."""
    found = outcome(Kind((0.3, 0.3, 0.7, 0.7), 30, 4, 5000), 20.0, np.random.default_rng(6), 100)

    assert found["false"] < 0.12
    assert found["right"] == 1
