"""Rank correlations: the papers' values, scipy's, and few models."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.distributions.ranks import correlations, kendall, spearman

# HYPE, tables 1 to 3: StyleGAN, ProGAN, BEGAN, WGAN-GP on CelebA-64; StyleGAN trunc, no-trunc on FFHQ
INFINITY = [50.7, 40.3, 10.0, 3.8, 27.6, 19.0]
TIME = [439.4, 363.7, 111.1, 100.0, 363.2, 240.7]
FID = [131.7, 2.5, 67.7, 43.6, 13.8, 4.4]
KID = [0.005, 0.001, 0.056, 0.046, 0.007, 0.001]
PRECISION = [0.982, 0.990, 0.326, 0.654, 0.976, 0.983]


@pytest.mark.parametrize(
    ("metric", "rho", "p"),
    [(TIME, 1.0, 0.0), (FID, -0.0286, 0.957), (KID, -0.609, 0.200), (PRECISION, 0.657, 0.156)],
)
def test_six_models_have_the_published_correlations(metric, rho, p):
    """HYPE 4.4; KID has a tie."""
    found = spearman(INFINITY, metric)

    assert found["rho"] == pytest.approx(rho, abs=5e-4)
    assert found["p"] == pytest.approx(p, abs=5e-4)


@pytest.mark.parametrize(
    ("metric", "rho", "p"),
    [
        ([0.005, 0.001, 0.056, 0.046], -0.6, 0.40),  # KID
        ([62.9, 53.2, 96.2, 104.0], -0.8, 0.20),  # FID: the text prints precision's value for it
        ([0.982, 0.990, 0.326, 0.654], 0.6, 0.40),  # precision
    ],
)
def test_four_models_on_cifar_have_the_correlations_of_table_5(metric, rho, p):
    found = spearman([23.3, 14.8, 14.5, 13.2], metric)

    assert (found["rho"], found["p"]) == (pytest.approx(rho), pytest.approx(p, abs=5e-3))


def test_the_p_value_of_all_orders_is_counted_by_hand():
    # of 6 orders of three models, two have |rho| = 1
    found = spearman([1, 2, 3], [10, 20, 30])

    assert (found["rho"], found["p_exact"]) == (1.0, pytest.approx(2 / 6))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=4, max_size=12))
def test_it_agrees_with_scipy_with_ties_too(pairs):
    x, y = np.array(pairs, float).T

    found = spearman(x, y)

    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
        return
    theirs = stats.spearmanr(x, y)
    assert found["rho"] == pytest.approx(theirs.statistic, abs=1e-12)
    if abs(found["rho"]) < 1 - 1e-9:
        assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)


@given(st.permutations(range(6)))
def test_the_order_of_models_does_not_matter(order):
    mixed = spearman([INFINITY[i] for i in order], [KID[i] for i in order])

    assert mixed["rho"] == pytest.approx(spearman(INFINITY, KID)["rho"], abs=1e-12)


def test_kendalls_tau_is_counted_by_hand():
    # pairs of (1, 2, 3, 4) with (1, 3, 2, 4): five concordant, one discordant
    found = kendall([1, 2, 3, 4], [1, 3, 2, 4])

    # of 24 orders, one has no inversion, three have one; and as many the other way round
    assert (found["tau"], found["p_exact"]) == (pytest.approx(4 / 6), pytest.approx(8 / 24))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=12))
def test_tau_b_agrees_with_scipy_with_ties_too(pairs):
    x, y = np.array(pairs, float).T

    found = kendall(x, y)

    if len(set(x)) == 1 or len(set(y)) == 1:
        assert found is None
        return
    theirs = stats.kendalltau(x, y, method="asymptotic")
    assert found["tau"] == pytest.approx(theirs.statistic, abs=1e-12)
    assert found["p"] == pytest.approx(theirs.pvalue, rel=1e-9)


@given(st.integers(3, 30), st.randoms(use_true_random=False))
def test_the_exact_p_value_of_tau_agrees_with_scipy(models, random):
    y = random.sample(range(models), models)

    found = kendall(range(models), y)

    assert found["p_exact"] == pytest.approx(stats.kendalltau(range(models), y, method="exact").pvalue)


def test_the_exact_p_value_of_tau_with_ties_is_counted_by_hand():
    # of the orders of (1, 1, 2) beside (1, 2, 3), a third each has two, no and minus two pairs
    found = kendall([1, 2, 3], [1, 1, 2])

    assert found["tau"] == pytest.approx(2 / np.sqrt(6))
    assert found["p_exact"] == pytest.approx(2 / 3)


@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=4))
def test_many_rows_at_once_equal_each_alone(rows):
    values = [3.0, 1.0, 1.0, 7.0, 2.0]

    rho, tau = correlations(np.array(rows, float), np.array(values))

    for i, row in enumerate(rows):
        alone = spearman(row, values), kendall(row, values)
        if alone[0] is None:
            assert np.isnan(rho[i])
            assert np.isnan(tau[i])
        else:
            assert (rho[i], tau[i]) == (pytest.approx(alone[0]["rho"]), pytest.approx(alone[1]["tau"]))
