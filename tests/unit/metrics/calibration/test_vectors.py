"""Vectors of triplets: their weighted sum is LPIPS' distance; the second is the variance under dropout."""

import numpy as np
import pytest

from backend.foundation.errors import InvalidInput
from backend.metrics.calibration.vectors import Vectors, moments, vectors_of
from backend.metrics.pairs.lpips_weights import read_trunk
from backend.metrics.pairs.nets import ALEX

from ..pairs.test_lpips_weights import trunk_arrays, written


@pytest.fixture(scope="module")
def trunk(tmp_path_factory):
    return read_trunk(written(tmp_path_factory.mktemp("trunk"), trunk_arrays(scale=0.05)), "alex")


@pytest.fixture(scope="module")
def parts():
    return np.random.default_rng(1).integers(0, 256, (3, 2, 40, 33, 3))


def test_the_weighted_sum_of_phi_is_the_distance(trunk, parts):
    from backend.metrics.pairs.lpips import lpips

    rng = np.random.default_rng(2)
    weights = [rng.random(channels) for channels in ALEX.widths]

    vectors = vectors_of(ALEX.widths, moments(trunk, parts))

    expected = lpips(trunk, weights, [*parts])
    assert vectors.distances(np.concatenate(weights)) == pytest.approx(expected, rel=1e-5)


def test_psi_is_the_variance_of_phi_when_entries_are_dropped(trunk, parts):
    """Dropping an entry x with chance 1/2, and doubling it otherwise, gives it the variance x^2."""
    from backend.metrics.pairs.lpips import squared_differences

    entries = next(squared_differences(trunk, parts))[0].double().numpy()
    count = entries.shape[2] * entries.shape[3]

    found = moments(trunk, parts)[:, 0, 1, : ALEX.widths[0]]

    assert found == pytest.approx((entries**2).sum(axis=(2, 3)) / count**2, rel=1e-4)


def made(**values):
    fine = {name: np.ones((3, 5), np.float32) for name in ("phi0", "phi1", "psi0", "psi1")}
    return Vectors((2, 3), **{**fine, **values})


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e-6])
@pytest.mark.parametrize("name", ["phi0", "psi1"])
def test_numbers_that_no_picture_gives_are_refused(name, bad):
    values = np.ones((3, 5), np.float32)
    values[1, 4] = bad

    with pytest.raises(
        InvalidInput, match=f"{name} must be finite numbers of 0 or more; those of triplet 1 "
    ):
        made(**{name: values})


@pytest.mark.parametrize(
    "values", [np.ones((3, 4), np.float32), np.ones((2, 5), np.float32), np.ones((3, 5))]
)
def test_other_shapes_and_precisions_are_refused(values):
    with pytest.raises(InvalidInput, match=r"phi1 must be float32 of shape \(3, 5\)"):
        made(phi1=values)


def test_values_are_divided_by_layer():
    assert [each.tolist() for each in made().by_layer(np.arange(5))] == [[0, 1], [2, 3, 4]]
