"""Rank correlations: Spearman's rho and Kendall's tau-b, with their p-values.

p-values are those that papers print (Student's t; Kendall's normal approximation, with its variance for
ties), and the exact ones over all permutations where there are few models.
"""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import two_sided_p

_EXACT_UP_TO = 8
"""Number of models up to which the exact p-value over all permutations is worth its cost."""
_EQUAL = 1e-9  # sums in another order differ by less


def spearman(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> dict[str, Any] | None:
    """Return rho, its p-value by Student's t as in the papers, and the exact one over all permutations.

    The exact p-value is None for many models. Ties get their mean rank. None with fewer than three models, or
    if one side does not vary.
    """
    x, y = np.asarray(x, float), np.asarray(y, float)
    count = len(x)
    if count < 3 or math.isnan(rho := rho_of(x, y)):
        return None
    exact = _share_of_orders(_ranks(x), _ranks(y), rho) if count <= _EXACT_UP_TO else None
    return {"rho": rho, "p": p_of_rho(rho, count), "p_exact": exact, "models": count}


def rho_of(x: np.ndarray, y: np.ndarray) -> float:
    """Return Spearman's rho, NaN if a side does not vary; in O(n log n), as thousands of stimuli need."""
    x, y = _ranks(x), _ranks(y)
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(float((x @ x) * (y @ y)))
    return max(-1.0, min(1.0, float(x @ y) / size)) if size else math.nan


def tau_of(x: np.ndarray, y: np.ndarray) -> float:
    """Return Kendall's tau-b, NaN if a side does not vary; in O(n log n)."""
    from scipy.stats import kendalltau

    return float(kendalltau(x, y, method="asymptotic").statistic)


def p_of_rho(rho: float, count: int) -> float:
    """Return the p-value of rho over `count` models (3 or more), by Student's t with count - 2."""
    t = math.inf if abs(rho) >= 1 else rho * math.sqrt((count - 2) / (1 - rho**2))
    return float(two_sided_p(t, count - 2))


def kendall(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> dict[str, Any] | None:
    """Return tau-b, its p-value by the normal approximation, and the exact one over all permutations.

    The variance of the approximation is Kendall's (1970) for ties. The exact p-value is None for many models
    with ties. None as for `spearman`.
    """
    signs_x, signs_y = _signs(np.asarray(x, float)), _signs(np.asarray(y, float))
    count = len(signs_x)
    if count < 3 or not signs_x.any() or not signs_y.any():
        return None
    size = math.sqrt(np.abs(signs_x).sum() * np.abs(signs_y).sum())
    difference = float((signs_x * signs_y).sum())  # twice the concordant pairs less the discordant ones
    z = difference / 2 / math.sqrt(_kendall_variance(np.asarray(x), np.asarray(y)))
    exact = None
    if np.abs(signs_x).sum() == np.abs(signs_y).sum() == count * (count - 1):
        exact = _share_of_inversions(count, abs(difference) / 2)
    elif count <= _EXACT_UP_TO:
        orders = _orders(count)
        shuffled = signs_y[orders[:, :, None], orders[:, None, :]]
        others = np.einsum("ij,kij->k", signs_x, shuffled)
        exact = float((np.abs(others) >= abs(difference) - _EQUAL).mean())
    return {"tau": difference / size, "p": two_sided_p(z, math.inf), "p_exact": exact, "models": count}


def correlations(scores: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rho and tau-b of each row of `scores` with `values`; NaN where a row does not vary.

    Args:
        scores: of shape (rows, models).
        values: of shape (models,); they vary.
    """
    of_scores, of_values = _signs(scores), _signs(values).astype(np.int32)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.einsum("kij,ij->k", of_scores, of_values, dtype=np.int32)
        tau = both / np.sqrt(np.abs(of_scores).sum(axis=(1, 2), dtype=np.int32) * np.abs(of_values).sum())
        ranks, other = of_scores.sum(axis=2, dtype=np.int32), of_values.sum(axis=1)  # 2 rank - models - 1
        rho = (ranks @ other) / np.sqrt((ranks**2).sum(axis=1) * float((other**2).sum()))
    return np.clip(rho, -1, 1), np.clip(tau, -1, 1)


def _signs(values: np.ndarray) -> np.ndarray:
    """Return the signs of all differences, of shape (..., models, models): -1, 0 or 1."""
    first, second = values[..., :, None], values[..., None, :]
    return (first > second).astype(np.int8) - (first < second).astype(np.int8)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Return ranks from 1; ties get their mean rank."""
    ordered = np.sort(values)
    below, up_to = (np.searchsorted(ordered, values, side) for side in ("left", "right"))
    result: np.ndarray = (below + up_to + 1) / 2
    return result


@lru_cache(maxsize=_EXACT_UP_TO)
def _orders(count: int) -> np.ndarray:
    """Return all permutations of `count` indices: shape (count!, count)."""
    return np.array([*permutations(range(count))])


def _share_of_orders(x: np.ndarray, y: np.ndarray, rho: float) -> float:
    """Return the share of all permutations of `y` whose correlation with `x` is at least as far from 0."""
    x, y = x - x.mean(), y - y.mean()
    all_rho = y[_orders(len(y))] @ x / math.sqrt((x @ x) * (y @ y))
    return float((np.abs(all_rho) >= abs(rho) - _EQUAL).mean())


def _share_of_inversions(count: int, difference: float) -> float:
    """Return the share of all permutations whose concordant pairs differ as far from the discordant ones.

    The number of inversions is a sum of independent uniform numbers from 0 to 0, 1, ..., count - 1.
    """
    shares = np.ones(1)
    for size in range(2, count + 1):
        shares = np.convolve(shares, np.full(size, 1 / size))
    differences = count * (count - 1) / 2 - 2 * np.arange(len(shares))
    return min(1.0, float(shares[np.abs(differences) >= difference - _EQUAL].sum()))


def _kendall_variance(x: np.ndarray, y: np.ndarray) -> float:
    """Return the variance of concordant less discordant pairs if the orders are independent."""
    count = len(x)
    ties = [np.unique(values, return_counts=True)[1].astype(float) for values in (x, y)]
    pairs = [float((t * (t - 1)).sum()) for t in ties]
    triples = [float((t * (t - 1) * (t - 2)).sum()) for t in ties]
    all_pairs = [float((t * (t - 1) * (2 * t + 5)).sum()) for t in ties]
    whole = count * (count - 1)
    return (
        (whole * (2 * count + 5) - sum(all_pairs)) / 18
        + pairs[0] * pairs[1] / (2 * whole)
        + triples[0] * triples[1] / (9 * whole * (count - 2))
    )
