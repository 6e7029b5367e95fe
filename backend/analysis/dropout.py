"""Whether models lose evaluators at different rates: a test of those who began and did not finish.

If evaluators who cannot recognize a model's fakes leave more often, the score is biased by those who
remain, so dropout is reported by model. Dropouts are few, and Pearson's statistic is not chi-square
distributed for sparse tables; so it is compared with that of every table of the same margins (the exact
conditional test: Agresti, 1992, section 2), or, if these are too many, of random ones (Patefield, 1981),
including the observed one (Phipson and Smyth, 2010).
"""

from collections import defaultdict
from collections.abc import Sequence
from math import comb, lcm
from typing import Any

import numpy as np

DRAWN = 99_999
"""Number of random tables. The standard error of a p-value of .05 is .0007."""
_MOST_STATES = 20_000


def dropout_test(
    began: Sequence[int], left: Sequence[int], rng: np.random.Generator
) -> dict[str, Any] | None:
    """Return the test that all models lose evaluators at the same rate; None if no difference is possible.

    Args:
        began: number of evaluators of each model.
        left: number of these who did not finish.
        rng: draws tables if there are too many for the exact test.

    Returns:
        `statistic` (Pearson's), `df`, `p`, `method` (`exact` or `monte-carlo`) and the number of `tables`
        drawn (None if exact).
    """
    counts = [(int(n), int(d)) for n, d in zip(began, left, strict=True) if n]
    total, lost = sum(n for n, _ in counts), sum(d for _, d in counts)
    if len(counts) < 2 or lost in (0, total):
        return None
    sizes, dropped = [n for n, _ in counts], [d for _, d in counts]
    share = lost / total
    statistic = sum((d - n * share) ** 2 / (n * share * (1 - share)) for n, d in counts)
    p = _exact(sizes, dropped)
    method, tables = "exact", None
    if p is None:
        p, method, tables = _drawn(sizes, dropped, rng), "monte-carlo", DRAWN
    return {"statistic": statistic, "df": len(counts) - 1, "p": p, "method": method, "tables": tables}


def _order(sizes: Sequence[int]) -> list[int]:
    """Return integer weights w such that sum w d^2 orders tables of these margins as Pearson's statistic."""
    common = lcm(*sizes)
    return [common // n for n in sizes]


def _exact(sizes: Sequence[int], dropped: Sequence[int]) -> float | None:
    """Return p by summation over one model after another; None if there are too many different sums."""
    weights, lost = _order(sizes), sum(dropped)
    observed = sum(w * d * d for w, d in zip(weights, dropped, strict=True))
    ways: dict[tuple[int, int], int] = {(0, 0): 1}
    room = sum(sizes)
    for n, w in zip(sizes, weights, strict=True):
        room -= n
        following: dict[tuple[int, int], int] = defaultdict(int)
        for (sum_left, squares), count in ways.items():
            # at least the dropouts that exceed the capacity of the models after this one
            for d in range(max(0, lost - sum_left - room), min(n, lost - sum_left) + 1):
                following[sum_left + d, squares + w * d * d] += count * comb(n, d)
        if len(following) > _MOST_STATES:
            return None
        ways = following
    extreme = sum(count for (_, squares), count in ways.items() if squares >= observed)
    return extreme / comb(sum(sizes), lost)


def _drawn(sizes: Sequence[int], dropped: Sequence[int], rng: np.random.Generator) -> float:
    tables = rng.multivariate_hypergeometric(sizes, sum(dropped), DRAWN, method="marginals")
    squares = (tables**2 / np.array(sizes)).sum(axis=1)
    observed = sum(d * d / n for n, d in zip(sizes, dropped, strict=True))
    return (1 + int((squares >= observed - 1e-9).sum())) / (DRAWN + 1)
