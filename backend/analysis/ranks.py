"""Spearman's rank correlation of scores with automatic metrics."""

import math
from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from scipy.special import stdtr

_EXACT_UP_TO = 8
"""Number of models up to which the exact p-value over all permutations is worth its cost."""


def spearman(x: Sequence[float], y: Sequence[float]) -> dict[str, Any] | None:
    """Return rho, its p-value by Student's t as in the papers, and the exact one over all permutations.

    The exact p-value is None for many models. Ties get their mean rank. None with fewer than three models, or
    if one side does not vary.
    """
    ranks_x, ranks_y = _ranks(np.asarray(x, float)), _ranks(np.asarray(y, float))
    count = len(ranks_x)
    if count < 3 or ranks_x.std() == 0 or ranks_y.std() == 0:
        return None
    rho = _correlation(ranks_x, ranks_y)
    t = math.inf if abs(rho) >= 1 else rho * math.sqrt((count - 2) / (1 - rho**2))
    exact = _share_of_orders(ranks_x, ranks_y, rho) if count <= _EXACT_UP_TO else None
    return {"rho": rho, "p": float(2 * stdtr(count - 2, -abs(t))), "p_exact": exact, "models": count}


def with_metrics(
    scores: Mapping[str, float], metrics: Mapping[str, Mapping[str, float]]
) -> list[dict[str, Any]]:
    """Return the correlation of scores with each metric, over the models that have both.

    Args:
        scores: by model.
        metrics: by metric, then by model; NaN if a model does not have the metric.

    Each row also names the models `without` the metric.
    """
    found = []
    for metric, values in metrics.items():
        shared = [model for model in scores if math.isfinite(values.get(model, math.nan))]
        row = spearman([scores[model] for model in shared], [values[model] for model in shared])
        empty = {"rho": None, "p": None, "p_exact": None, "models": len(shared)}
        without = [model for model in scores if model not in shared]
        found.append({"metric": metric, **(row or empty), "without": without})
    return found


def _ranks(values: np.ndarray) -> np.ndarray:
    below = (values[:, None] > values).sum(axis=1)
    alike = (values[:, None] == values).sum(axis=1)
    return below + (alike + 1) / 2


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    x, y = x - x.mean(), y - y.mean()
    return float(np.clip((x @ y) / math.sqrt((x @ x) * (y @ y)), -1, 1))


def _share_of_orders(x: np.ndarray, y: np.ndarray, rho: float) -> float:
    """Return the share of all permutations of `y` whose correlation with `x` is at least as far from 0."""
    x, y = x - x.mean(), y - y.mean()
    orders = y[np.array([*permutations(range(len(y)))])]
    all_rho = orders @ x / math.sqrt((x @ x) * (y @ y))
    return float((np.abs(all_rho) >= abs(rho) - 1e-9).mean())
