"""Precision and recall of distributions by clusters of features (Sajjadi et al., 2018): F_8 and F_1/8.

Features of both sides together are clustered by k-means; the histograms of both sides over the clusters, P of
reals and Q of fakes, give a curve of precision and recall. For slopes lambda = tan(angle),

    precision(lambda) = sum_k min(lambda P_k, Q_k),   recall(lambda) = precision(lambda) / lambda,

at 1,001 angles evenly between 0 and pi / 2, both ends left out by 1e-10 (arXiv 1806.00035). F_beta is the
largest of (1 + beta^2) p r / (beta^2 p + r) on the curve: F_8 weights recall, that is diversity, F_1/8
precision, that is quality; F_1/8 is the column "Precision" of the HYPE papers. They are means over 10
clusterings. It is not the precision of nearest neighbours (`neighbourhoods.py`).

Sides of unequal size would have unequal weight in the clusters, so that each clustering draws as many of the
larger side, without replacement, as the smaller has. The spread is that over clusterings alone: it says how
far the number depends on their random starts, and nothing of other pictures.
"""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from backend.metrics.feature_blocks import Side

CLUSTERS, ANGLES, CLUSTERINGS, BETA = 20, 1001, 10, 8.0
_EDGE = 1e-10
_SAMPLE, _STEPS = 4096, 20
_ROWS = 4096


@dataclass(frozen=True)
class Overlap:
    """F_8 and F_1/8 of several clusterings; arrays of shape (clusterings,)."""

    recall: np.ndarray
    """F_8."""
    precision: np.ndarray
    """F_1/8."""


def overlap(reals: Side, fakes: Side, rng: np.random.Generator, clusterings: Iterable[int]) -> Overlap:
    """Return F_8 and F_1/8 of each clustering, of sides with as many pictures as clusters or more."""
    size, middle = min(len(reals), len(fakes)), (reals.mean + fakes.mean) / 2
    ours, theirs = (_centred(side, middle) for side in (reals, fakes))
    scores = []
    for _ in clusterings:
        both = np.concatenate([_drawn(ours, size, rng), _drawn(theirs, size, rng)])
        labels = assigned(both, centres_of(both, CLUSTERS, rng))
        histograms = [np.bincount(part, minlength=CLUSTERS) / size for part in np.split(labels, 2)]
        scores.append(f_scores(histograms[0], histograms[1]))
    recall, precision = np.array(scores).T
    return Overlap(recall, precision)


def _centred(side: Side, middle: np.ndarray) -> np.ndarray:
    """Return features about a point, in the precision in which they are clustered."""
    return np.concatenate([(side.rows(rows) - middle).astype(np.float32) for rows in side.slices()])


def _drawn(features: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    return features if len(features) == size else features[rng.choice(len(features), size, replace=False)]


def f_scores(reals: np.ndarray, fakes: np.ndarray, beta: float = BETA) -> tuple[float, float]:
    """Return F_beta and F_1/beta of two histograms over the same clusters, each of sum 1."""
    slopes = np.tan(np.linspace(_EDGE, np.pi / 2 - _EDGE, ANGLES))
    precision = np.minimum(slopes[:, None] * reals, fakes).sum(axis=1)
    recall = precision / slopes
    precision, recall = (np.clip(each, 0, 1) for each in (precision, recall))
    return _largest(precision, recall, beta), _largest(precision, recall, 1 / beta)


def _largest(precision: np.ndarray, recall: np.ndarray, beta: float) -> float:
    below = beta**2 * precision + recall
    with np.errstate(invalid="ignore"):
        scores = np.where(below > 0, (1 + beta**2) * precision * recall / below, 0.0)
    return float(scores.max())


def centres_of(features: np.ndarray, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Return the centres of k-means of a random sample, from a start by k-means++."""
    from scipy.cluster.vq import kmeans2

    sample = features[rng.choice(len(features), min(len(features), _SAMPLE), replace=False)]
    distinct = np.unique(sample, axis=0)
    if len(distinct) <= clusters:  # of which k-means++ has no start
        return distinct
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "One of the clusters is empty")
        centres: np.ndarray = kmeans2(sample, clusters, iter=_STEPS, minit="++", seed=rng)[0]
    return centres


def assigned(features: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the index of each picture's nearest centre."""
    return np.concatenate(
        [
            _squared(features[start : start + _ROWS], centres).argmin(axis=1)
            for start in range(0, len(features), _ROWS)
        ]
    )


def _squared(features: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return squared distances, shape (pictures, centres)."""
    squares = (features**2).sum(axis=1)[:, None] - 2 * features @ centres.T + (centres**2).sum(axis=1)
    result: np.ndarray = np.maximum(squares.astype(float), 0.0)
    return result
