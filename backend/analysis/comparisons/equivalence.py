"""Equivalence of two models within a margin, by two one-sided tests (Schuirmann, 1987).

A pair is equivalent if its difference is shown to be above -margin and below margin: p is the larger of the
two one-sided p-values, with the difference's own standard error and degrees of freedom. Of several pairs,
p-values are Holm's (1979), so that the probability of calling any pair equivalent that is not is at most
1 - level. `equivalent_within` is the smallest margin, the same for all pairs, at which that procedure calls
the pair equivalent.
"""

from typing import Any

import numpy as np

from backend.analysis.distributions.inference import Component, Estimate, holm, simultaneous


def equivalence(apart: Estimate, level: float, margin: float | None) -> list[dict[str, Any]]:
    """Return the tests of equivalence of all pairs of models.

    Args:
        apart: the pairs' differences (percentage points, or ms), their variances above 0; of arrays of shape
            (pairs,).
        margin: percentage points, above 0; None for other units, which have no p-values.

    Returns:
        For each pair `margin`, `p`, `p_holm`, `equivalent_within`, and `ci`, the pair's own interval at
        `ci_level`, 1 - 2 (1 - level), which is within the margin if `p` < 1 - level (None for a level of .5
        or less).
    """
    p = [None] * len(apart.value) if margin is None else apart.p_within(margin).tolist()
    smallest = _smallest_margins(apart, level)
    rows = zip(p, holm(p), smallest.tolist(), apart.interval(2 * level - 1), strict=True)
    return [
        {
            "margin": margin,
            "p": alone,
            "p_holm": of_all,
            "equivalent_within": within,
            "ci": ci if level > 0.5 else None,
            "ci_level": round(2 * level - 1, 12) if level > 0.5 else None,
        }
        for alone, of_all, within, ci in rows
    ]


def _smallest_margins(apart: Estimate, level: float) -> np.ndarray:
    """Return the smallest margins at which Holm's procedure rejects, from the first pair to the last."""
    size, total = apart.value, apart.total
    columns = [np.broadcast_to(each, size.shape) for each in (total.variance, total.df, total.third)]

    def margins(pairs: np.ndarray, count: int) -> np.ndarray:
        some = Estimate(size[pairs], Component(*(each[pairs] for each in columns)))
        low, high = np.array(some.interval(2 * simultaneous(level, count) - 1)).T
        result: np.ndarray = np.maximum(-low, high)
        return result

    found, reached, left = np.empty(len(size)), 0.0, np.arange(len(size))
    alone = margins(left, 1)
    left = np.argsort(alone, kind="stable")
    while len(left):
        # only pairs whose margin alone is below that of the first one can be rejected before it
        close = left[: np.searchsorted(alone[left], margins(left[:1], len(left))[0], "right")]
        of_close = margins(close, len(left))
        first = int(np.argmin(of_close))
        reached = max(reached, float(of_close[first]))
        found[close[first]] = reached
        left = np.delete(left, first)
    return found
