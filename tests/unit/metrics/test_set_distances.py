"""Distances of two sets of pictures, against the definitions and against closed forms."""

import json

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.spatial.distance import cdist

from backend.foundation.errors import InvalidInput
from backend.metrics import feature_blocks, frechet
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


def normal_with(rng, count, mean, covariance):
    """Pictures whose mean and covariance (denominator n - 1) are exactly as given."""
    drawn = features(rng, count, len(mean))
    drawn -= drawn.mean(axis=0)
    root = np.linalg.cholesky(np.cov(drawn, rowvar=False))
    return drawn @ np.linalg.inv(root).T @ np.linalg.cholesky(covariance).T + mean


def test_the_frechet_distance_of_known_normal_distributions_has_a_closed_form():
    """With commuting covariances it is |m1 - m2|² + the sum of (sd1 - sd2)²."""
    rng = np.random.default_rng(1)
    reals = normal_with(rng, 50, np.zeros(3), np.diag([1.0, 4.0, 9.0]))
    fakes = normal_with(rng, 60, np.array([3.0, 0.0, 4.0]), np.diag([4.0, 4.0, 1.0]))

    found = compare(reals, fakes, QUICK)["frechet"]

    assert found["value"] == pytest.approx(25 + 1 + 0 + 4, rel=1e-12)


def test_the_frechet_distance_with_singular_covariances_is_that_of_the_directions_that_vary():
    """Fakes vary in a plane of five dimensions, and reals in a line of it: |sd1 - sd2|² in each direction."""
    rng = np.random.default_rng(1)
    turn = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    line = np.pad(normal_with(rng, 50, np.zeros(2), np.diag([9.0, 1e-300])), ((0, 0), (0, 3))) @ turn
    plane = np.pad(normal_with(rng, 60, np.zeros(2), np.diag([4.0, 16.0])), ((0, 0), (0, 3))) @ turn

    assert compare(line, plane, QUICK)["frechet"]["value"] == pytest.approx(1 + 16, rel=1e-7)
    assert compare(plane, line, QUICK)["frechet"]["value"] == pytest.approx(1 + 16, rel=1e-7)


def test_identical_sets_have_a_frechet_distance_of_0_and_are_covered_wholly():
    rng = np.random.default_rng(1)
    reals = features(rng, 80, 3, shift=7.0) @ rng.standard_normal((3, 6))

    found = compare(reals, reals.copy(), QUICK)

    assert found["frechet"]["value"] == 0.0
    assert found["frechet"]["ci"][0] == 0.0
    assert of_neighbours(found)[:2] == [1.0, 1.0]


def test_features_without_any_variance_have_distances():
    one, other = np.full((30, 4), 0.1), np.full((20, 4), 0.6)

    same, apart = compare(one, one[:20], QUICK), compare(one, other, QUICK)

    assert same["frechet"]["value"] == 0.0
    assert same["kid"]["value"] == pytest.approx(0, abs=1e-12)
    assert of_neighbours(same) == [1.0, 1.0, 0.0, 0.0]  # at the edge of balls of radius 0
    assert apart["frechet"]["value"] == pytest.approx(1.0)
    assert apart["kid"]["value"] == pytest.approx(1.01**3 + 1.36**3 - 2 * 1.06**3)
    assert of_neighbours(apart) == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("scale", [1e150, 1e-150, 1e300, 1e-310])
def test_neighbours_do_not_depend_on_the_scale_of_features(scale):
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 60, 3), features(rng, 50, 3, 1.2)

    found = compare(reals * scale, fakes * scale, QUICK)

    assert of_neighbours(found) == pytest.approx(by_definition(reals, fakes), abs=1e-12)


def test_a_distance_beyond_the_range_of_numbers_is_none_with_a_reason():
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 60, 3), features(rng, 50, 3, 1.2)
    usual = compare(reals, fakes, QUICK)

    large, larger = (compare(reals * scale, fakes * scale, QUICK) for scale in (1e150, 1e300))

    assert large["frechet"]["value"] == pytest.approx(usual["frechet"]["value"] * 1e300, rel=1e-12)
    for found in (large["kid"], larger["kid"], larger["frechet"]):
        assert (found["value"], found["ci"]) == (None, None)
        assert "too large" in found["reason"]


def test_float32_features_give_the_distances_of_the_same_numbers_as_float64():
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 60, 3).astype("float32"), features(rng, 50, 3, 1.2).astype("float32")

    assert compare(reals, fakes, QUICK) == compare(reals.astype(float), fakes.astype(float), QUICK)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_ties_are_decided_exactly_far_from_the_origin_too(offset):
    """Whole numbers have many distances alike; in float64 |x|² + |y|² - 2 x·y is off by some 0.1 at 1e7."""
    rng = np.random.default_rng(1)
    reals, fakes = (rng.integers(0, 9, (count, 5)) + offset for count in (90, 70))

    found = compare(reals, fakes, QUICK)

    assert of_neighbours(found) == pytest.approx(by_definition(reals, fakes), abs=1e-12)


def test_blocks_of_any_size_give_the_same(monkeypatch):
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 70, 3), np.concatenate([features(rng, 40, 3, 1.2), np.zeros((20, 3))])
    whole = compare(reals, fakes, QUICK)

    monkeypatch.setattr(feature_blocks.blocks, "__defaults__", (16,))
    monkeypatch.setattr(feature_blocks.block_count, "__defaults__", (16,))
    in_blocks = compare(reals, fakes, QUICK)

    assert of_neighbours(in_blocks) == of_neighbours(whole)
    for name in NEIGHBOUR_METRICS:
        assert in_blocks[name]["ci"] == pytest.approx(whole[name]["ci"], rel=1e-12)
    assert in_blocks["kid"]["value"] == pytest.approx(whole["kid"]["value"], rel=1e-9)
    assert in_blocks["kid"]["ci"] == pytest.approx(whole["kid"]["ci"], rel=1e-9)


def test_no_more_pictures_than_features_give_no_frechet_distance_but_a_reason():
    rng = np.random.default_rng(1)

    found = compare(features(rng, 40, 12), features(rng, 12, 12), QUICK)["frechet"]
    wanted = compare(features(rng, 40, 12), features(rng, 12, 12), Options(extrapolate=True, replicates=2))

    assert (found["value"], found["ci"], found["extrapolated"]) == (None, None, None)
    assert found["reason"] == (
        "there are 12 fakes; a Frechet distance of 12 features needs at least 13 pictures on each side, and "
        "--extrapolate 17"
    )
    assert wanted["frechet"]["extrapolated"]["value"] is None
    assert (
        "at least 17 pictures are needed on each side; there are 12 fakes"
        in (wanted["frechet"]["extrapolated"]["reason"])
    )


def test_the_extrapolated_distance_is_free_of_what_finite_numbers_add():
    """Of one distribution with covariance 1, the distance of n pictures is 0 and to second order

    d (2/n) for the means and d (d + 1) / 4 (2/n) for the covariances (a quarter of their squared difference).
    """
    rng = np.random.default_rng(1)
    options = Options(extrapolate=True, replicates=2)

    found = [compare(features(rng, 200, 16), features(rng, 200, 16), options)["frechet"] for _ in range(5)]

    assert np.mean([each["value"] for each in found]) == pytest.approx(0.16 + 0.68, abs=0.1)
    lines = [each["extrapolated"] for each in found]
    assert abs(np.mean([line["value"] for line in lines])) < 0.1
    assert all(line["ci"][0] < 0 < line["ci"][1] for line in lines)
    assert lines[0]["pictures"][0] == [200, 200]
    assert lines[0]["pictures"][-1] == [100, 100]


def test_two_pictures_are_enough_for_a_kernel_distance_and_not_for_neighbours():
    rng = np.random.default_rng(1)

    found = compare(features(rng, 2, 3), features(rng, 5, 3), QUICK)

    assert np.isfinite(found["kid"]["value"])
    assert found["kid"]["subset_size"] == 2
    assert found["kid"]["note"] == "subsets of 2 pictures instead of 50, as there are no more"
    assert found["precision"]["reason"] == "there are 2 reals; 3 nearest neighbours need at least 4"
    assert found["recall"]["value"] is not None
    assert found["recall"]["ci"] is None
    assert "halves" in found["recall"]["reason"]


def test_results_are_plain_data_and_the_same_for_the_same_seed():
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 60, 3), features(rng, 50, 3, 1.2)

    found = compare(reals, fakes, QUICK)

    assert json.loads(json.dumps(found)) == found
    assert compare(reals, fakes, QUICK) == found


def test_progress_is_called_with_items_their_number_and_a_label():
    rng = np.random.default_rng(1)
    seen = []

    def progress(items, total, label):
        done = 0
        for item in items:
            yield item
            done += 1
        seen.append((done, total, label))

    compare(features(rng, 60, 3), features(rng, 50, 3), QUICK, progress)

    assert seen == [(3, 3, "distances"), (10, 10, "clusters")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"level": 1.0}, "level"), ({"replicates": 1}, "replicates"), ({"neighbours": 0}, "neighbours")],
)
def test_options_out_of_range_are_refused(wrong, message):
    with pytest.raises(InvalidInput, match=message):
        Options(**wrong)


def test_influences_are_the_derivative_of_the_frechet_distance_by_weights():
    rng = np.random.default_rng(1)
    reals, fakes = features(rng, 50, 4), features(rng, 60, 4, 1.3, 0.2)
    found = frechet.frechet(feature_blocks.Side(reals), feature_blocks.Side(fakes))

    def with_weight(picture, more):
        weights = np.ones(50)
        weights[picture] += more
        mean = np.average(reals, axis=0, weights=weights)
        covariance = ((reals - mean).T * weights) @ (reals - mean) / weights.sum() * 50 / 49
        return frechet.of_moments(frechet.Moments(mean, covariance), found.fakes).distance

    slopes = [(with_weight(i, 1e-5) - with_weight(i, -1e-5)) / 2e-5 for i in range(50)]

    of_reals, _ = found.influences(feature_blocks.Side(reals), feature_blocks.Side(fakes))
    assert of_reals / 50 == pytest.approx(np.array(slopes), abs=1e-8, rel=1e-5)


@pytest.mark.slow("simulates many evaluators to know an interval's coverage")
def test_intervals_cover_the_expected_values_of_the_distances():
    """Of 120 studies 95%, standard error 2%; docs/set-distances.md has coverage for many kinds."""
    rng = np.random.default_rng(1)
    options = Options(replicates=30, kid_subsets=1, kid_subset_size=2)

    found = [compare(features(rng, 50, 4), features(rng, 60, 4, 0.8, 0.4), options) for _ in range(120)]

    for name in ("frechet", *NEIGHBOUR_METRICS):
        expected = np.mean([each[name]["value"] for each in found])
        covered = np.mean([each[name]["ci"][0] <= expected <= each[name]["ci"][1] for each in found])
        assert covered >= 0.88, name
    expected = np.mean([each["kid"]["full"]["value"] for each in found])
    ends = [each["kid"]["full"]["ci"] for each in found]
    assert np.mean([low <= expected <= high for low, high in ends]) >= 0.88
