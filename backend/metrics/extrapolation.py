"""Frechet distance of infinitely many pictures, from a line (Chong and Forsyth, 2020), on both sides.

The distance of finite sets is too large by about c/n, as long as both have more pictures than features. It is
computed for subsets of several sizes, and a line in 1/n is fitted; its intercept is the estimate. Each
subset's distance is corrected by the mean influence of its pictures, which takes most of the noise out of the
line. The interval's variance is that of the influences, plus that of the intercept.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from backend.metrics.feature_blocks import Side
from backend.metrics.frechet import frechet

_SIZES = 5
_SUBSETS = 2
"""Subsets of each size but the whole."""
_LEAST_RATIO = 1.25
"""Of the pictures to the smallest subset, which itself has more pictures than features."""


@dataclass(frozen=True)
class Extrapolation:
    """The distance of infinitely many pictures, of scaled features."""

    distance: float
    variance: float
    """Of the intercept, from the deviations of subsets from the line."""
    shares: tuple[float, ...]
    """Of the pictures of each side that the subsets contain."""
    distances: tuple[float, ...]
    """Mean corrected distance of the subsets of each size."""


def fewest_pictures(dimensions: int) -> int:
    """Return how many pictures each side needs: below, distances of subsets are on no line in 1/n."""
    return int(np.ceil(_LEAST_RATIO * (dimensions + 1)))


def jobs() -> int:
    """Return the number of Frechet distances that are computed."""
    return (_SIZES - 1) * _SUBSETS


def extrapolate(
    reals: Side,
    fakes: Side,
    distance: float,
    influences: tuple[np.ndarray, np.ndarray],
    rng: np.random.Generator,
    tracked: Iterable,
) -> Extrapolation:
    """Return the extrapolated distance.

    Args:
        distance: of all pictures; `influences` are those on it.
        tracked: an iterable of `jobs()` items, advanced with each distance.
    """
    fewest = min(len(reals), len(fakes))
    inverses = np.linspace(1.0, min(2.0, fewest / (reals.dimensions + 1)), _SIZES)
    wanted = [inverse for inverse in inverses[1:] for _ in range(_SUBSETS)]
    values = [
        _of_subset(reals, fakes, influences, 1 / inverse, rng)
        for inverse, _ in zip(wanted, tracked, strict=True)
    ]
    sizes, distances = np.array([1.0, *wanted]), np.array([distance, *values])
    (slope, intercept), covariance = np.polyfit(sizes, distances, 1, cov="unscaled")
    residuals = distances - slope * sizes - intercept
    variance = covariance[1, 1] * float(residuals @ residuals) / (len(sizes) - 2)
    means = [float(distances[sizes == size].mean()) for size in inverses]
    return Extrapolation(float(intercept), float(variance), tuple(1 / inverses), tuple(means))


def _of_subset(
    reals: Side,
    fakes: Side,
    influences: tuple[np.ndarray, np.ndarray],
    share: float,
    rng: np.random.Generator,
) -> float:
    """Return the distance of a random share of both sides, less the mean influences of its pictures."""
    chosen = [rng.permutation(len(side))[: round(share * len(side))] for side in (reals, fakes)]
    distance = frechet(reals.subset(chosen[0]), fakes.subset(chosen[1])).distance
    return distance - sum(float(each[which].mean()) for each, which in zip(influences, chosen, strict=True))
