"""The score and its interval as evaluators came in, one after the other."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.analysis import bootstrap
from backend.analysis.bootstrap import Lattice
from backend.analysis.values import Values

FEWEST = 5
"""Evaluators; resamples of fewer vary so little that their interval is far too narrow to be looked at."""


def narrowing(
    values: Values, order: Sequence[int], level: float = 0.95, points: int = 16
) -> list[dict[str, Any]]:
    """Return score and interval after the first 5, …, n evaluators, at up to `points` numbers of them.

    Empty where there are fewer, and where the exact bootstrap has no lattice.

    Args:
        order: places in `values`, in the order in which the evaluators finished.
    """
    count = len(order)
    if count < FEWEST or values.lattice is None:
        return []
    whole, numbers = values.lattice.whole[list(order)], values.numbers[list(order)]
    rows = []
    for first in sorted({round(n) for n in np.linspace(FEWEST, count, points)}):
        found = bootstrap.exact_on_lattice(Lattice(whole[:first], values.lattice.unit), first, level)
        if found is not None:
            score = float(numbers[:first].mean())
            rows.append({"evaluators": first, "score": score, "ci": [found.low, found.high]})
    return rows
