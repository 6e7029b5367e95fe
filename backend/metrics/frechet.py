"""Frechet distance between the normal distributions with the means and covariances of two sides.

|m1 - m2|² + tr S1 + tr S2 - 2 tr (S1^½ S2 S1^½)^½ (Dowson and Landau, 1982). On features of Inception it is
known as FID (Heusel et al., 2017). No root of a product of matrices is taken, which need not be symmetric:
with S1 = R R', the last trace is the sum of the roots of the eigenvalues of R' S2 R, which is positive
semidefinite, whatever the ranks of S1 and S2.

The interval rests on the derivative of the distance by the weight of a picture (its influence):
|x - m1|² - |(x - m1)|_T² + 2 (x - m1)·(m1 - m2) with T = S1^-½ (S1^½ S2 S1^½)^½ S1^-½, the matrix of the
optimal transport from one normal distribution to the other.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from backend.metrics.feature_blocks import Side

_SMALL = 1e-12
"""Eigenvalues below this share of the largest one are computed as singular values, at full precision."""
_RANK = 1e-13
"""Share of the largest eigenvalue of a covariance matrix below which one is taken for a rounding error."""


@dataclass(frozen=True)
class Moments:
    """Mean and covariance (denominator n - 1) of the scaled features of a side."""

    mean: np.ndarray
    covariance: np.ndarray


def moments(side: Side) -> Moments:
    """Return mean and covariance matrix, float64."""
    total = np.zeros((side.dimensions, side.dimensions))
    for rows in side.slices():
        centred = side.rows(rows) - side.mean
        total += centred.T @ centred
    return Moments(side.mean, total / (len(side) - 1))


@dataclass(frozen=True)
class Frechet:
    """The distance of two sides, and what the influence of pictures needs; all of scaled features."""

    reals: Moments
    fakes: Moments
    distance: float
    _root: np.ndarray
    """R, with R R' the covariance of the reals; columns of zeros beyond its rank."""
    _inverse: np.ndarray
    """The pseudo-inverse of R."""
    _values: np.ndarray
    _vectors: np.ndarray
    """Eigenvalues and eigenvectors of R' S2 R."""

    def influences(self, reals: Side, fakes: Side) -> tuple[np.ndarray, np.ndarray]:
        """Return the influence of each real and each fake on the distance; each has a mean of 0."""
        roots = np.sqrt(self._values)
        is_positive = self._values > _SMALL * self._values[-1]
        to_fakes = self._inverse.T @ self._vectors * np.sqrt(roots)
        to_reals = self._root @ self._vectors[:, is_positive] / np.sqrt(roots[is_positive])
        return (
            _influence(reals, self.reals.mean, self.fakes.mean, to_fakes),
            _influence(fakes, self.fakes.mean, self.reals.mean, to_reals),
        )


def frechet(reals: Side, fakes: Side, step: Callable[[], None] = lambda: None) -> Frechet:
    """Return the Frechet distance of two sides of at least two pictures each."""
    first = moments(reals)
    step()
    second = moments(fakes)
    step()
    return of_moments(first, second)


def of_moments(first: Moments, second: Moments) -> Frechet:
    """Return the Frechet distance from means and covariances."""
    root, inverse = _factor(first.covariance)
    values, vectors = np.linalg.eigh(root.T @ second.covariance @ root)
    values = np.maximum(values, 0.0)
    if values[-1] > 0 and values[0] < _SMALL * values[-1]:
        trace = float(np.linalg.svd(root.T @ _factor(second.covariance)[0], compute_uv=False).sum())
    else:
        trace = float(np.sqrt(values).sum())
    distance = _without_rounding(first, second, trace)
    return Frechet(first, second, distance, root, inverse, values, vectors)


def _without_rounding(first: Moments, second: Moments, trace: float) -> float:
    """Return the distance; 0 where it is too small to be told from rounding errors."""
    between = float(np.square(first.mean - second.mean).sum())
    within = float(np.trace(first.covariance) + np.trace(second.covariance))
    resolution = len(first.mean) * np.finfo(float).eps * within
    difference = within - 2 * trace
    return between + (difference if difference > resolution else 0.0)


def _factor(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return R with R R' the covariance, and its pseudo-inverse."""
    values, vectors = np.linalg.eigh(covariance)
    is_positive = values > _RANK * max(values[-1], 0.0)
    roots = np.sqrt(np.where(is_positive, values, 0.0))
    inverses = np.divide(1.0, roots, out=np.zeros_like(roots), where=is_positive)
    return vectors * roots, (vectors * inverses).T


def _influence(side: Side, mean: np.ndarray, other: np.ndarray, transport: np.ndarray) -> np.ndarray:
    influence = np.empty(len(side))
    for rows in side.slices():
        centred = side.rows(rows) - mean
        spread = np.square(centred).sum(axis=1) - np.square(centred @ transport).sum(axis=1)
        influence[rows] = spread * len(side) / (len(side) - 1) + 2 * centred @ (mean - other)
    return influence - influence.mean()
