"""Distances of two sets of pictures from their features, with intervals over pictures; docs/set-distances.md.

Everything is computed in float64 and in blocks: memory beyond the features stays bounded whatever their
number, but for the matrices of dimensions x dimensions of the Frechet distance.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import t_quantile
from backend.foundation.errors import InvalidInput
from backend.metrics.cluster_overlap import CLUSTERINGS, CLUSTERS, overlap
from backend.metrics.extrapolation import extrapolate, fewest_pictures, jobs
from backend.metrics.feature_blocks import Block, Side, block_count, blocks, sides
from backend.metrics.frechet import frechet
from backend.metrics.half_samples import neighbours_for_halves, standard_errors
from backend.metrics.kernel_distance import KernelSums, kernel_distance, subset_indicators
from backend.metrics.neighbourhoods import Balls
from backend.metrics.neighbours import NeighbourSearch

Progress = Callable[[Iterable, int, str], Iterable]


@dataclass(frozen=True)
class Options:
    """What is computed, and how."""

    level: float = 0.95
    """Level of the intervals (0 to 1)."""
    replicates: int = 200
    """Random halves of the pictures, for the intervals of precision, recall, density and coverage; 0: no
    intervals."""
    seed: int = 0
    """Of the random halves."""
    kid_subsets: int = 100
    kid_subset_size: int = 1000
    neighbours: int = 3
    """k of precision and recall."""
    density_neighbours: int = 5
    """k of density and coverage."""
    extrapolate: bool = False
    """Whether to extrapolate the Frechet distance to infinitely many pictures."""

    def __post_init__(self) -> None:
        least = {"replicates": 0, "seed": 0, "kid_subsets": 1, "kid_subset_size": 2, "neighbours": 1,
                 "density_neighbours": 1}  # fmt: skip
        for name, minimum in least.items():
            if getattr(self, name) < minimum:
                raise InvalidInput(f"{name} must be at least {minimum}, not {getattr(self, name)}")
        if self.replicates == 1:
            raise InvalidInput("replicates must be 0, or at least 2, not 1")
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be between 0 and 1, not {self.level}")


def _silent(items: Iterable, total: int, label: str) -> Iterable:
    return items


def compare(
    reals: np.ndarray, fakes: np.ndarray, options: Options = Options(), progress: Progress = _silent
) -> dict[str, Any]:
    """Return the distances of fakes from reals as plain data.

    Args:
        reals: features, shape (pictures, dimensions), of a floating-point type.
        fakes: the same of a model.
        progress: wraps an iterable: `progress(items, total, label)`.

    Returns:
        `reals`, `fakes` and `dimensions`; `frechet`, `kid`, `precision`, `recall`, `density` and
        `coverage`, each with `value` and `ci`, which are None where a `reason` says why; `f1_8` and `f8`,
        with the `sd` over clusterings instead of an interval.

    Raises:
        InvalidInput: the features are not two arrays of one width with two finite rows or more each.
    """
    _check(reals, fakes)
    both = sides(reals, fakes)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return _distances(*both, options, progress)


def _distances(reals: Side, fakes: Side, options: Options, progress: Progress) -> dict[str, Any]:
    return {
        "reals": len(reals),
        "fakes": len(fakes),
        "dimensions": reals.dimensions,
        "frechet": _frechet(reals, fakes, options, progress),
        **_of_blocks(reals, fakes, options, progress),
        **_of_clusters(reals, fakes, options, progress),
    }


def _of_clusters(reals: Side, fakes: Side, options: Options, progress: Progress) -> dict[str, Any]:
    """Return F_1/8 and F_8, each with its SD over clusterings."""
    fewest = min(len(reals), len(fakes))
    if fewest < CLUSTERS:
        reason = f"{CLUSTERS} clusters need at least {CLUSTERS} pictures on each side; there are {fewest:,}"
        return {name: _none(reason, sd=None) for name in ("f1_8", "f8")}
    rng = np.random.default_rng([options.seed, _OF_CLUSTERS])
    overlaps = overlap(reals, fakes, rng, progress(range(CLUSTERINGS), CLUSTERINGS, "clusters"))
    values = {"f1_8": overlaps.precision, "f8": overlaps.recall}
    return {
        name: {"value": float(each.mean()), "ci": None, "reason": "", "sd": float(each.std(ddof=1))}
        for name, each in values.items()
    }


def _check(reals: np.ndarray, fakes: np.ndarray) -> None:
    for side, features in (("the reals", reals), ("the fakes", fakes)):
        if features.ndim != 2 or features.dtype.kind != "f" or not features.shape[1]:
            raise InvalidInput(
                f"the features of {side} must be floating-point numbers of shape (pictures, dimensions), not "
                f"{features.dtype} of shape {features.shape}"
            )
        if len(features) < 2:
            raise InvalidInput(f"distances need at least 2 pictures on each side; {side} are {len(features)}")
        if not np.isfinite(features).all():
            raise InvalidInput(f"the features of {side} contain NaN or infinity")
    if reals.shape[1] != fakes.shape[1]:
        raise InvalidInput(
            f"the reals have {reals.shape[1]:,} features a picture and the fakes {fakes.shape[1]:,}; "
            "both sides must come from one extractor"
        )


_OF_SUBSETS = 1
"""Tells the random numbers of subsets for the extrapolation from those of halves."""
_OF_CLUSTERS = 2
"""The same of clusterings."""
_TOO_LARGE = "the features are too large: their distance exceeds the range of floating-point numbers"


def _frechet(reals: Side, fakes: Side, options: Options, progress: Progress) -> dict[str, Any]:
    fewest, needed = min(len(reals), len(fakes)), reals.dimensions + 1
    if fewest < needed:
        of_few = (
            f"there are {fewest:,} {'reals' if len(reals) == fewest else 'fakes'}; a Frechet distance of "
        )
        return _none(
            f"{of_few}{reals.dimensions:,} features needs at least {needed:,} pictures on each side, and "
            f"--extrapolate {fewest_pictures(reals.dimensions):,}",
            extrapolated=_too_few_to_extrapolate(reals, fakes) if options.extrapolate else None,
        )
    distance = frechet(reals, fakes)
    influences = distance.influences(reals, fakes)
    variance = sum(float(each.var(ddof=1)) / len(each) for each in influences)
    estimate = _Scaled(reals.exponent, t_quantile(fewest - 1, options.level))
    extrapolated = None
    if options.extrapolate:
        extrapolated = _too_few_to_extrapolate(reals, fakes)
        if extrapolated is None:
            tracked = progress(range(jobs()), jobs(), "extrapolation")
            rng = np.random.default_rng([options.seed, _OF_SUBSETS])
            line = extrapolate(reals, fakes, distance.distance, influences, rng, tracked)
            extrapolated = {
                **estimate.of(line.distance, variance + line.variance),
                "pictures": [[round(share * len(side)) for side in (reals, fakes)] for share in line.shares],
                "distances": [estimate.unscaled(each) for each in line.distances],
            }
    return {**estimate.of(distance.distance, variance, 0.0), "extrapolated": extrapolated}


def _too_few_to_extrapolate(reals: Side, fakes: Side) -> dict[str, Any] | None:
    fewest, needed = min(len(reals), len(fakes)), fewest_pictures(reals.dimensions)
    if fewest >= needed:
        return None
    return _none(
        f"to extrapolate a Frechet distance of {reals.dimensions:,} features, at least {needed:,} pictures "
        f"are needed on each side; there are {fewest:,} {'reals' if len(reals) == fewest else 'fakes'}"
    )


@dataclass(frozen=True)
class _Scaled:
    """Makes plain data of squared distances of scaled features."""

    exponent: int
    quantile: float

    def of(self, value: float, variance: float, least: float = -np.inf) -> dict[str, Any]:
        ci = [self.unscaled(end) for end in _interval(value, variance**0.5, self.quantile, least) or ()]
        value = self.unscaled(value)
        if not np.isfinite([value, *ci]).all():
            return _none(_TOO_LARGE)
        return {"value": value, "ci": ci or None, "reason": ""}

    def unscaled(self, value: float) -> float:
        return float(np.ldexp(value, 2 * self.exponent))


def _of_blocks(reals: Side, fakes: Side, options: Options, progress: Progress) -> dict[str, Any]:
    """Return all that follows from inner products: one pass over each side, one over both."""
    passes = [(reals, reals), (fakes, fakes), (reals, fakes)]
    count = sum(block_count(*each) for each in passes)
    made = iter(progress((block for each in passes for block in blocks(*each)), count, "distances"))
    size = min(options.kid_subset_size, len(reals), len(fakes))
    in_reals, in_fakes = subset_indicators(len(reals), len(fakes), options.kid_subsets, size)
    kernel = (
        KernelSums(reals, reals, in_reals, in_reals),
        KernelSums(fakes, fakes, in_fakes, in_fakes),
        KernelSums(reals, fakes, in_reals, in_fakes),
    )
    exact = max(options.neighbours, options.density_neighbours)
    wanted = neighbours_for_halves(exact)
    searches = NeighbourSearch(reals, wanted, exact), NeighbourSearch(fakes, wanted, exact)
    for side, search, sums in zip((reals, fakes), searches, kernel[:2], strict=True):
        _feed(made, block_count(side, side), search.add, sums.add)
    ks = options.neighbours, options.density_neighbours
    of_reals = Balls(searches[0].neighbours(), fakes, *ks)
    of_fakes = Balls(searches[1].neighbours(), reals, *ks)
    _feed(
        made, block_count(reals, fakes), kernel[2].add, of_reals.add,
        lambda block: of_fakes.add(block, is_transposed=True),
    )  # fmt: skip
    for _ in made:  # closes the progress bar
        pass
    return {"kid": _kid(*kernel, size, options), **_of_balls(of_reals, of_fakes, options)}


def _feed(made: Iterator[Block], count: int, *takers: Callable[[Block], None]) -> None:
    for block in islice(made, count):
        for take in takers:
            take(block)


def _kid(
    reals: KernelSums, fakes: KernelSums, cross: KernelSums, size: int, options: Options
) -> dict[str, Any]:
    distance = kernel_distance(reals, fakes, cross, size)
    quantile = t_quantile(min(len(reals.of_first), len(fakes.of_first)) - 1, options.level)
    cis = distance.interval(quantile), distance.full_interval(quantile)
    counts = {"subsets": options.kid_subsets, "subset_size": size}
    if not np.isfinite([distance.value, distance.sd, distance.full, *cis[0], *cis[1]]).all():
        return _none(_TOO_LARGE, sd=None, full=None, **counts)
    note = ""
    if size < options.kid_subset_size:
        note = f"subsets of {size:,} pictures instead of {options.kid_subset_size:,}, as there are no more"
    return {
        "value": distance.value, "ci": cis[0], "reason": "", "sd": distance.sd, **counts, "note": note,
        "full": {"value": distance.full, "ci": cis[1]},
    }  # fmt: skip


def _of_balls(of_reals: Balls, of_fakes: Balls, options: Options) -> dict[str, Any]:
    k, density_k = options.neighbours, options.density_neighbours
    se = {}
    if options.replicates:
        rng = np.random.default_rng(options.seed)
        se = vars(standard_errors(of_reals, of_fakes, options.replicates, rng))
    density = float(of_reals.containing.mean() / density_k)
    values = {
        "precision": (float(of_reals.is_covered.mean()), "reals", len(of_reals.centres), k, 1.0),
        "recall": (float(of_fakes.is_covered.mean()), "fakes", len(of_fakes.centres), k, 1.0),
        "density": (density, "reals", len(of_reals.centres), density_k, np.inf),
        "coverage": (float(of_reals.is_occupied.mean()), "reals", len(of_reals.centres), density_k, 1.0),
    }
    quantile = t_quantile(min(len(of_reals.centres), len(of_fakes.centres)) - 1, options.level)
    statistics = {}
    for name, (value, side, count, neighbours, most) in values.items():
        if count <= neighbours:
            statistics[name] = _none(
                f"there are {count:,} {side}; {neighbours} nearest neighbours need at least {neighbours + 1}"
            )
            continue
        ci = _interval(value, se.get(name, np.nan), quantile, 0.0, most)
        reason = "" if ci or not options.replicates else "too few pictures for an interval from random halves"
        statistics[name] = {"value": value, "ci": ci, "reason": reason}
    return statistics


def _none(reason: str, **more: Any) -> dict[str, Any]:
    return {"value": None, "ci": None, "reason": reason, **more}


def _interval(
    value: float, se: float, quantile: float, least: float = -np.inf, most: float = np.inf
) -> list[float] | None:
    """Return the interval within the range of the statistic; None if there is no standard error."""
    if not np.isfinite(se):
        return None
    half = quantile * se
    return [float(max(value - half, least)), float(min(value + half, most))]
