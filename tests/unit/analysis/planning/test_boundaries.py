import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from backend.analysis.planning.boundaries import (
    bias_at_stop,
    boundaries,
    one_sided_spent,
    p_at_stop,
    spent,
    stops,
)

LOOKS = np.array([10, 15, 20, 25, 30]) / 30


@pytest.mark.parametrize(
    ("spending", "expected"),
    [
        # ldbounds and gsDesign of R (each of two sides .025)
        ("obrien-fleming", [3.7103, 2.9697, 2.5387, 2.2522, 2.0448]),
        # the whole .05 by 2 - 2 Phi(1.96 / sqrt(t)), half a side
        ("obrien-fleming-whole", [3.3948, 2.7873, 2.4489, 2.2320, 2.0799]),
    ],
)
def test_two_sided_boundaries_are_those_of_each_convention(spending, expected):
    assert boundaries(LOOKS, spent(LOOKS, 0.05, spending)) == pytest.approx(expected, abs=1e-4)


def test_boundaries_at_thirds_are_the_published_ones():
    thirds = [1 / 3, 2 / 3, 1]

    assert boundaries(thirds, spent(thirds, 0.05)) == pytest.approx([3.7103, 2.5114, 1.9930], abs=1e-4)


def test_one_sided_boundaries_at_quarters_are_the_published_ones():
    """Reboussin, DeMets, Kim and Lan (2000): one-sided .05."""
    quarters = [0.25, 0.5, 0.75, 1]

    found = boundaries(quarters, one_sided_spent(quarters, 0.05), sides=1)

    assert found == pytest.approx([3.7496, 2.5399, 2.0160, 1.7201], abs=1e-4)


def test_pocock_boundaries_at_equal_steps_are_those_of_their_function():
    """By hand at the first look: .05 ln(1 + (e - 1) / 5) = .0148, z 2.438 (Lan and DeMets, 1983)."""
    fifths = np.arange(1, 6) / 5

    found = boundaries(fifths, spent(fifths, 0.05, "pocock"))

    assert found[0] == pytest.approx(norm.isf(0.05 * np.log(1 + (np.e - 1) / 5) / 2), abs=1e-9)
    assert stops(fifths, found).rejects == pytest.approx(0.05, abs=1e-9)


def test_crossing_probabilities_are_those_of_the_multivariate_normal_distribution():
    information, effect = np.array([4.0, 7.0, 12.0]), 0.6
    bounds = np.array([2.6, 2.3, 2.0])
    roots = np.sqrt(information)
    correlation = np.minimum.outer(roots, roots) / np.maximum.outer(roots, roots)

    found = stops(information, bounds, effect)

    stays = [
        multivariate_normal.cdf(
            bounds[:k] - effect * roots[:k],
            cov=correlation[:k, :k],
            lower_limit=-bounds[:k] - effect * roots[:k],
            abseps=1e-9,
            releps=1e-9,
            maxpts=10**6,
        )
        for k in (1, 2, 3)
    ]
    assert np.cumsum(found.above + found.below) == pytest.approx(1 - np.array(stays), abs=1e-6)


def test_expected_estimate_is_that_of_simulated_studies():
    information, effect = np.array([1.0, 2.0, 3.0]), 1.2
    bounds = boundaries(information, spent(information / 3, 0.05))
    sums = np.cumsum(np.random.default_rng(1).normal(effect, 1, (400_000, 3)), axis=1)
    crossed = np.abs(sums) > bounds * np.sqrt(information)
    at = np.where(crossed.any(axis=1), crossed.argmax(axis=1), 2)

    found = bias_at_stop(information, bounds, effect)

    estimates = sums[np.arange(len(sums)), at] / information[at]
    assert found == pytest.approx(estimates.mean() - effect, abs=4 * estimates.std() / 632)
    assert found > 0.03


def test_no_effect_gives_no_bias_and_the_planned_error_at_each_look():
    bounds = boundaries(LOOKS, spent(LOOKS, 0.05))

    found = stops(LOOKS, bounds)

    assert np.cumsum(found.above + found.below) == pytest.approx(spent(LOOKS, 0.05), abs=1e-9)
    assert found.estimate == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("pictures", [0.2, 1.0, 5.0])
def test_shared_pictures_make_boundaries_by_evaluators_err_less_often(pictures):
    """Pictures add `pictures` times what the planned evaluators do to the variance."""
    information = 1 / (1 / LOOKS + pictures)
    bounds = boundaries(LOOKS, spent(LOOKS, 0.05))

    error = stops(information, bounds).rejects

    assert 0.035 < error < 0.05 - 1e-4


def test_p_at_the_stop_is_the_error_spent_on_the_boundary():
    bounds = boundaries(LOOKS, spent(LOOKS, 0.05))

    found = [p_at_stop(LOOKS[: k + 1], bounds[:k], bounds[k]) for k in range(len(LOOKS))]

    assert found == pytest.approx(spent(LOOKS, 0.05), abs=1e-9)


def test_an_effect_beyond_all_boundaries_stops_at_the_first_look():
    found = stops([1.0, 2.0], [2.0, 2.0], effect=60.0)

    assert found.above == pytest.approx([1, 0])
    assert found.estimate == pytest.approx(60)
