"""Distances of two sets of pictures, against the definitions and against closed forms."""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist

from backend.foundation.errors import InvalidInput
from backend.metrics.set_distances import Options, compare

QUICK = Options(replicates=20, kid_subsets=10, kid_subset_size=50)
NEIGHBOUR_METRICS = ("precision", "recall", "density", "coverage")


def features(rng, count, dimensions, scale=1.0, shift=0.0):
    return scale * rng.standard_normal((count, dimensions)) + shift


def by_definition(reals, fakes, k=3, density_k=5):
    """Precision, recall, density and coverage from whole matrices of distances."""
    within_reals, within_fakes, across = cdist(reals, reals), cdist(fakes, fakes), cdist(reals, fakes)
    radii, fake_radii = np.sort(within_reals)[:, k], np.sort(within_fakes)[:, k]
    open_radii = np.sort(within_reals)[:, density_k]
    return [
        (across <= radii[:, None]).any(axis=0).mean(),
        (across <= fake_radii).any(axis=1).mean(),
        (across < open_radii[:, None]).sum(axis=0).mean() / density_k,
        (across.min(axis=1) < open_radii).mean(),
    ]


def of_neighbours(found):
    return [found[name]["value"] for name in NEIGHBOUR_METRICS]


def unbiased_mmd(reals, fakes):
    """The U-statistic, pair by pair (Gretton et al., 2012, equation 3)."""

    def kernel(x, y):
        return (x @ y.T / x.shape[1] + 1) ** 3

    n, m = len(reals), len(fakes)
    within = [(kernel(x, x).sum() - np.trace(kernel(x, x))) / (len(x) * (len(x) - 1)) for x in (reals, fakes)]
    return sum(within) - 2 * kernel(reals, fakes).sum() / (n * m)


@pytest.mark.parametrize(("n", "m", "d"), [(60, 90, 4), (40, 30, 1), (300, 250, 30)])
def test_the_frechet_distance_is_the_formula_with_scipys_sqrtm(n, m, d):
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, n, d), features(rng, m, d, 1.3, 0.2)

    found = compare(reals, fakes, QUICK)["frechet"]

    first, second = (np.atleast_2d(np.cov(each, rowvar=False)) for each in (reals, fakes))
    between = np.square(reals.mean(axis=0) - fakes.mean(axis=0)).sum()
    expected = between + np.trace(first + second - 2 * np.real(sqrtm(first @ second)))
    assert found["value"] == pytest.approx(expected, rel=1e-9)
    assert found["ci"][0] < found["value"] < found["ci"][1]


@pytest.mark.parametrize(("n", "m", "d"), [(60, 90, 4), (40, 30, 1), (300, 250, 30)])
def test_neighbour_metrics_are_their_definitions(n, m, d):
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, n, d), features(rng, m, d, 1.3, 0.2)

    found = compare(reals, fakes, QUICK)

    assert of_neighbours(found) == pytest.approx(by_definition(reals, fakes), abs=1e-12)


def test_the_kernel_distance_is_the_definition_for_all_pictures_and_for_subsets():
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 60, 4), features(rng, 70, 4, 1.3, 0.2)

    found = compare(reals, fakes, QUICK)["kid"]

    draws = np.random.RandomState(2020)
    subsets = []
    for _ in range(10):
        some_fakes = fakes[draws.choice(70, 50, replace=False)]
        subsets.append(unbiased_mmd(reals[draws.choice(60, 50, replace=False)], some_fakes))
    assert found["value"] == pytest.approx(np.mean(subsets), rel=1e-12)
    assert found["sd"] == pytest.approx(np.std(subsets), rel=1e-9)
    assert found["full"]["value"] == pytest.approx(unbiased_mmd(reals, fakes), rel=1e-12)


def test_features_of_two_widths_or_with_nan_are_refused():
    rng = np.random.default_rng(1)
    spoiled = features(rng, 9, 3)
    spoiled[4, 1] = np.nan

    with pytest.raises(InvalidInput, match="9 features a picture and the fakes 8"):
        compare(features(rng, 20, 9), features(rng, 20, 8))
    with pytest.raises(InvalidInput, match="the fakes contain NaN or infinity"):
        compare(features(rng, 20, 3), spoiled)
    with pytest.raises(InvalidInput, match="at least 2 pictures on each side; the reals are 1"):
        compare(features(rng, 1, 3), features(rng, 20, 3))
    with pytest.raises(InvalidInput, match="floating-point"):
        compare(np.zeros((5, 3), dtype=int), features(rng, 20, 3))
