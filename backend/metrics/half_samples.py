"""Standard errors of precision, recall, density and coverage, from random halves of the pictures.

A bootstrap draws pictures repeatedly, and a duplicate is its own nearest neighbour: it would shrink every
ball. Halves drawn without replacement have no duplicates, and the variance over halves of a statistic,
times the ratio of the pictures in to those left out, estimates its variance (the delete-d jackknife; Shao
and Wu, 1989). Balls are recomputed in each half. A side that enters as a mean over its pictures (fakes in
precision and density, reals in recall) adds the variance of that mean instead. Coverage is a mean over
reals as well, whose balls depend on both sides: its variance is at least that of the mean.
"""

from dataclasses import dataclass

import numpy as np

from backend.metrics.neighbourhoods import Balls
from backend.metrics.neighbours import Neighbours


@dataclass(frozen=True)
class Statistics:
    """Precision, recall, density and coverage, their standard errors, or other numbers on them."""

    precision: float
    recall: float
    density: float
    coverage: float


def neighbours_for_halves(neighbours: int) -> int:
    """Return of how many nearest pictures a random half contains `neighbours`, but once in some 100,000
    times."""
    return 2 * neighbours + int(np.ceil(7 * np.sqrt(neighbours))) + 6


def standard_errors(
    of_reals: Balls, of_fakes: Balls, replicates: int, rng: np.random.Generator
) -> Statistics:
    """Return standard errors; NaN where a half has too few pictures for balls.

    Args:
        of_reals: balls around the reals, with the fakes as points; `of_fakes` the other way round.
    """
    reals, fakes = of_reals.centres, of_fakes.centres
    halves = np.array(
        [_of_halves(of_reals, of_fakes, _half(reals, rng), _half(fakes, rng)) for _ in range(replicates)]
    )
    variance = halves.var(axis=0, ddof=1)
    by_real, by_fake = (len(each) // 2 / (len(each) - len(each) // 2) for each in (reals, fakes))
    return Statistics(
        precision=float(variance[0] * by_real + _of_share(of_reals.is_covered)) ** 0.5,
        recall=float(variance[1] * by_fake + _of_share(of_fakes.is_covered)) ** 0.5,
        density=float(variance[2] * by_real + _of_mean(of_reals.containing / of_reals.density_k)) ** 0.5,
        coverage=float(max(variance[3] * max(by_real, by_fake), _of_share(of_reals.is_occupied))) ** 0.5,
    )


def _half(neighbours: Neighbours, rng: np.random.Generator) -> np.ndarray:
    """Return which pictures of a side are in a random half."""
    is_in = np.zeros(len(neighbours), dtype=bool)
    is_in[rng.permutation(len(neighbours))[: len(neighbours) // 2]] = True
    return is_in


def _of_halves(
    of_reals: Balls, of_fakes: Balls, in_reals: np.ndarray, in_fakes: np.ndarray
) -> tuple[float, float, float, float]:
    """Return the statistics with balls among half of the pictures."""
    open_reach = _reach(of_reals.centres, in_reals, of_reals.density_k)
    return (
        _covered(of_reals, in_reals),
        _covered(of_fakes, in_fakes),
        _density(of_reals, in_reals, open_reach),
        _occupied(of_reals, in_reals, in_fakes, open_reach),
    )


def _reach(centres: Neighbours, is_in: np.ndarray, k: int) -> np.ndarray:
    """Return where in the list of each picture the k-th neighbour is that is in the half; -1 if there is
    none."""
    if is_in.sum() < k + 1:
        return np.full(len(is_in), -1)
    chosen = is_in[centres.which].cumsum(axis=1) >= k
    return np.where(chosen[:, -1], chosen.argmax(axis=1), chosen.shape[1] - 1)


def _covered(balls: Balls, is_in: np.ndarray) -> float:
    """Return the share of points in a closed ball around a picture of the half."""
    reach, pairs = _reach(balls.centres, is_in, balls.k), balls.by_point
    if reach[0] < 0:
        return np.nan
    is_covered = np.zeros(len(balls.is_covered), dtype=bool)
    is_covered[pairs.point[is_in[pairs.centre] & (pairs.level <= reach[pairs.centre])]] = True
    return is_covered.mean()


def _density(balls: Balls, is_in: np.ndarray, reach: np.ndarray) -> float:
    if reach[0] < 0:
        return np.nan
    inside = np.take_along_axis(balls.cumulative, reach[:, None], axis=1)[is_in]
    return inside.sum() / (balls.density_k * len(balls.is_covered))


def _occupied(balls: Balls, is_in: np.ndarray, points_in: np.ndarray, reach: np.ndarray) -> float:
    """Return the share of the half's pictures with a point of the other half in their open ball."""
    if reach[0] < 0:
        return np.nan
    pairs = balls.by_centre
    inside = is_in[pairs.centre] & points_in[pairs.point] & (pairs.level <= reach[pairs.centre])
    is_occupied = np.zeros(len(is_in), dtype=bool)
    is_occupied[pairs.centre[inside]] = True
    return is_occupied.sum() / is_in.sum()


def _of_share(is_so: np.ndarray) -> float:
    """Return the variance of a share, with two more of either kind, so that it never is 0 (Agresti and
    Coull)."""
    share = (is_so.sum() + 2) / (len(is_so) + 4)
    return float(share * (1 - share) / (len(is_so) + 4))


def _of_mean(values: np.ndarray) -> float:
    """Return the variance of a mean; NaN of a single value."""
    return float(values.var(ddof=1) / len(values)) if len(values) > 1 else np.nan
