"""Intervals of rank correlations over models: what they must satisfy, and their coverage."""

import math

import numpy as np
import pytest
from scipy import stats

from backend.analysis.distributions.rank_intervals import FEWEST, MOST, over_models


def samples(models, r, count, seed):
    """Return ranks of x, and y, of samples of bivariate normal pairs, x in ascending order."""
    rng = np.random.default_rng(seed)
    x = np.sort(rng.standard_normal((count, models)), axis=1)
    return x, r * x + math.sqrt(1 - r**2) * rng.standard_normal((count, models))


@pytest.mark.parametrize("models", [4, 5, 6])
def test_the_interval_of_equal_orders_ends_where_equal_orders_have_a_chance_of_one_in_forty(models):
    found = over_models(1.0, 1.0, models, 0.95)

    assert (found["rho"][1], found["tau"][1]) == (pytest.approx(1), pytest.approx(1))
    r = math.sin(math.pi / 2 * found["tau"][0])
    _, y = samples(models, r, 200_000, 7)
    assert (np.diff(y) > 0).all(axis=1).mean() == pytest.approx(0.025, abs=0.003)
    assert found["rho"][0] == pytest.approx(6 / math.pi * math.asin(r / 2))


@pytest.mark.parametrize("models", [4, 9])
def test_turning_a_metric_around_turns_the_interval_around(models):
    up, down = over_models(0.4, 1 / 3, models, 0.9), over_models(-0.4, -1 / 3, models, 0.9)

    for name in ("rho", "tau"):
        assert up[name] == pytest.approx([-end for end in reversed(down[name])])


@pytest.mark.parametrize(("models", "r"), [(4, 0.95), (6, 0.0), (6, 0.9)])
@pytest.mark.slow("simulates many studies")
def test_intervals_cover_at_least_their_level(models, r):
    x, y = samples(models, r, 400, 3)
    true = {"rho": 6 / math.pi * math.asin(r / 2), "tau": 2 / math.pi * math.asin(r)}
    held = {"rho": 0, "tau": 0}

    for one, other in zip(x, y, strict=True):
        rho, tau = stats.spearmanr(one, other).statistic, stats.kendalltau(one, other).statistic
        for name, (low, high) in over_models(rho, tau, models, 0.95).items():
            held[name] += low <= true[name] <= high

    assert min(held.values()) / 400 >= 0.93


def test_more_models_and_a_lower_level_narrow_it():
    def width(models, level):
        low, high = over_models(0.5, 0.4, models, level)["rho"]
        return high - low

    assert width(5, 0.95) > width(8, 0.95) > width(20, 0.95) > width(MOST + 1, 0.95)
    assert width(8, 0.95) > width(8, 0.8)


def test_too_few_models_have_none():
    assert over_models(1.0, 1.0, FEWEST - 1, 0.95) is None


def test_of_many_models_it_is_that_of_bonett_and_wright():
    # their formulas, by hand: tanh(atanh(.5) -+ 1.96 sqrt((1 + .125) / 100)), and sqrt(.437 / 99)
    found = over_models(0.5, 0.4, 103, 0.95)

    assert found["rho"] == pytest.approx([0.328745, 0.639420], abs=1e-6)
    assert found["tau"] == pytest.approx([0.285290, 0.503413], abs=1e-6)
    # they have no width around 1: that of 60 models, whose samples all have one order
    assert over_models(1.0, 1.0, 103, 0.95) == over_models(1.0, 1.0, 60, 0.95)
    low, high = over_models(-1.0, -1.0, 103, 0.95)["tau"]
    assert -1 == low < high < -0.95
