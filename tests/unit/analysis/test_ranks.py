"""Spearman's rank correlation: the papers' values, scipy's, and few models."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from backend.analysis.ranks import spearman, with_metrics

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


def test_models_without_a_metric_are_left_out_and_named():
    scores = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0}
    metrics = {"FID": {"a": 4.0, "b": 3.0, "c": 1.0, "d": math.nan, "x": 9.0}, "KID": {"a": 1.0}}

    fid, kid = with_metrics(scores, metrics)

    assert (fid["rho"], fid["models"], fid["without"]) == (-1.0, 3, ["d"])
    assert (kid["rho"], kid["models"], kid["without"]) == (None, 1, ["b", "c", "d"])
