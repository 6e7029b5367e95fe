"""F8 and F1/8: by the formulas in another way, by hand, with clusters by hand, and their spread."""

import math

import numpy as np
import pytest

from backend.metrics.cluster_overlap import f_scores
from backend.metrics.set_distances import Options, compare

FEW = Options(replicates=0, kid_subsets=2)


def by_loops(reals, fakes, beta):
    """Return F_beta of the curve, one angle after the other, as a weighted harmonic mean."""
    best = 0.0
    for i in range(1001):
        angle = 1e-10 + i * (math.pi / 2 - 2e-10) / 1000
        slope = math.sin(angle) / math.cos(angle)
        precision = min(1.0, math.fsum(min(slope * p, q) for p, q in zip(reals, fakes, strict=True)))
        recall = min(1.0, math.fsum(min(p, q / slope) for p, q in zip(reals, fakes, strict=True)))
        if precision and recall:
            weight = beta**2 / (1 + beta**2)
            best = max(best, 1 / ((1 - weight) / precision + weight / recall))
    return best


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_formula_on_any_histograms(seed):
    rng = np.random.default_rng(seed)
    reals, fakes = rng.dirichlet(np.full(20, 0.3 + seed % 3), 2)
    fakes = np.where(rng.random(20) < 0.3, 0, fakes)
    fakes = fakes / fakes.sum()

    found = f_scores(reals, fakes)

    assert found == pytest.approx((by_loops(reals, fakes, 8), by_loops(reals, fakes, 1 / 8)), abs=1e-6)


def test_half_of_the_clusters_alike_by_hand():
    # fakes fill the first of two equal clusters: up to slope 2 precision is slope / 2 and recall 1/2, beyond
    # it 1 and 1 / slope. At 2 (between angles of the grid): F_b = (1 + b^2) / 2 / (b^2 + 1/2)
    recall, precision = f_scores(np.array([0.5, 0.5]), np.array([1.0, 0.0]))

    assert recall == pytest.approx(65 / 2 / 64.5, abs=2e-3)
    assert precision == pytest.approx((1 + 1 / 64) / 2 / (1 / 64 + 0.5), abs=2e-3)
    turned = f_scores(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    assert turned == pytest.approx((precision, recall), abs=1e-9)


def test_equal_histograms_have_1_and_disjoint_ones_0():
    alike, apart = np.array([0.25, 0.75, 0, 0]), np.array([0, 0, 0.5, 0.5])

    assert f_scores(alike, alike) == pytest.approx((1, 1))
    assert f_scores(alike, apart) == (0, 0)


def sets(seed=1, sizes=(400, 400)):
    """Return features in thirty clusters, of which the fakes lack ten."""
    rng = np.random.default_rng(seed)
    centres = 6 * rng.standard_normal((30, 16))
    return [
        (centres[rng.integers(0, most, size)] + rng.standard_normal((size, 16))).astype(np.float32)
        for size, most in zip(sizes, (30, 20), strict=True)
    ]


def clusters_by_hand(features, rng):
    """Return labels of Lloyd's k-means of all features, from pictures that lie far from each other."""
    centres = features[rng.integers(len(features), size=1)]
    while len(centres) < 20:
        squared = ((features[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        centres = np.vstack([centres, features[rng.choice(len(features), p=squared / squared.sum())]])
    for _ in range(30):
        labels = ((features[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.stack([features[labels == k].mean(axis=0) for k in range(20)])
    return labels


def test_clusters_by_hand_give_the_same_within_the_spread_over_clusterings():
    reals, fakes = sets()
    both, theirs = np.concatenate([reals, fakes]), []
    for seed in range(10):
        labels = clusters_by_hand(both.astype(float), np.random.default_rng(seed))
        theirs.append(f_scores(*(np.bincount(part, minlength=20) / 400 for part in np.split(labels, 2))))

    found = compare(reals, fakes, FEW)

    for i, name in enumerate(("f8", "f1_8")):
        mean, sd = np.mean([each[i] for each in theirs]), np.std([each[i] for each in theirs], ddof=1)
        assert abs(found[name]["value"] - mean) < 3 * math.hypot(sd, found[name]["sd"])
    assert found["f1_8"]["value"] > 0.9 > found["f8"]["value"]  # nothing strange, but a third is missing


def test_the_same_seed_gives_the_same_numbers_and_sides_may_be_of_other_sizes():
    reals, fakes = sets(2, (300, 900))

    first, again, other = (
        compare(reals, fakes, Options(replicates=0, kid_subsets=2, seed=s)) for s in (0, 0, 1)
    )

    assert [first[name] for name in ("f8", "f1_8")] == [again[name] for name in ("f8", "f1_8")]
    assert first["f8"] != other["f8"]
    assert abs(first["f8"]["value"] - compare(reals, fakes[:300], FEW)["f8"]["value"]) < 0.1


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_extreme_and_far_features_are_clustered_as_others(scale):
    reals, fakes = (side.astype(float) for side in sets())

    moved = compare(scale * (reals + 1000), scale * (fakes + 1000), FEW)

    assert moved["f8"]["value"] == pytest.approx(compare(reals, fakes, FEW)["f8"]["value"], abs=0.1)


def test_too_few_pictures_are_told_and_equal_pictures_are_clustered():
    reals, fakes = sets()

    few = compare(reals[:19], fakes, FEW)["f8"]

    assert few["value"] is None
    assert few["reason"] == "20 clusters need at least 20 pictures on each side; there are 19"
    alike = np.ones((30, 4), np.float32)
    assert compare(alike, alike, FEW)["f1_8"]["value"] == pytest.approx(1)
