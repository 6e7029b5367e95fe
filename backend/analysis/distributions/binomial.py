"""Exact inference from counts: intervals of shares, binomial tails, ranks that hold a median."""

from typing import Any

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv


def clopper_pearson(count: Any, total: Any, level: float) -> list[Any]:
    """Return the interval (0 to 1) of a share (Clopper and Pearson, 1934); of arrays, a list of them.

    Counts may be halves: the distribution is continued between whole ones.
    """
    count, total, tail = np.asarray(count), np.asarray(total), (1 - level) / 2
    low = np.where(count > 0, betaincinv(np.maximum(count, 0.5), total - count + 1, tail), 0.0)
    high = np.where(count < total, betaincinv(count + 1, np.maximum(total - count, 0.5), 1 - tail), 1.0)
    ends: list[Any] = np.stack([low, high], axis=-1).tolist()
    return ends


def at_least(count: np.ndarray, total: np.ndarray, share: float) -> np.ndarray:
    """Return the probability of `count` or more of `total` answers, each with the probability `share`."""
    result: np.ndarray = np.where(count > 0, bdtrc(count - 1, total, share), 1.0)
    return result


def two_sided(count: np.ndarray, total: np.ndarray, share: float) -> np.ndarray:
    """Return twice the probability of the smaller tail; it may be above 1."""
    result: np.ndarray = 2 * np.minimum(bdtr(count, total, share), at_least(count, total, share))
    return result


def median_rank(count: int, level: float) -> int:
    """Return the largest rank k such that the kth smallest and largest of `count` values hold the median.

    With probability `level` or more, whatever the distribution: fewer than k values are below the median with
    at most half of the rest. 0 if there is none.
    """
    return int(np.searchsorted(bdtr(np.arange(count), count, 0.5), (1 - level) / 2, side="right"))
