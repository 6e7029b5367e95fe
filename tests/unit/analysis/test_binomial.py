"""Exact inference from counts agrees with scipy's."""

import numpy as np
import pytest
from scipy import stats

from backend.analysis.distributions.binomial import at_least, clopper_pearson, median_rank, two_sided


def test_the_interval_of_a_share_is_clopper_and_pearsons():
    theirs = stats.binomtest(3, 12).proportion_ci(0.95, method="exact")

    assert clopper_pearson(3, 12, 0.95) == pytest.approx([theirs.low, theirs.high])
    assert clopper_pearson(np.array([3, 0]), np.array([12, 4]), 0.95)[0] == clopper_pearson(3, 12, 0.95)
    assert clopper_pearson(0, 4, 0.95)[0] == 0.0
    assert clopper_pearson(4, 4, 0.95)[1] == 1.0


def test_tails_are_the_binomial_distributions():
    count, total = np.array([0, 3, 9]), np.array([9, 9, 9])

    assert at_least(count, total, 0.4) == pytest.approx(stats.binom.sf(count - 1, 9, 0.4))
    assert two_sided(count, total, 0.4)[2] == pytest.approx(2 * 0.4**9)
    assert two_sided(count, total, 0.4)[0] == pytest.approx(2 * 0.6**9)


@pytest.mark.parametrize(("count", "rank"), [(5, 0), (6, 1), (10, 2), (20, 6), (30, 10)])
def test_the_ranks_that_hold_a_median_are_those_of_tables(count, rank):
    # Conover (1999), Practical Nonparametric Statistics, Table A3: the largest rank with P(X < k) <= .025
    assert median_rank(count, 0.95) == rank
