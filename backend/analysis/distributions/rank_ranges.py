"""Ranges of ranks that the intervals of scores allow, right for all models at once.

As Mogstad, Romano, Shaikh and Wilhelm (2024) propose: from simultaneous intervals of all differences, the
best rank of a model is one more than the number of models that are better beyond them, and the worst leaves
out those that are worse. The interval of a difference is combined from those of the two scores (MOVER: Zou
and Donner, 2008), which keeps what they say of pictures and of scores near a bound; each is widened to
Bonferroni's level for all pairs. Scores of models that share evaluators or pictures vary together, so that
their differences vary less than is assumed here: the ranges are then too wide rather than too narrow.
Where models were chosen by their scores, such as the best of several tries, all pairs of those that they were
chosen of are counted (Berk and others, 2013): else chance would put the chosen ones ahead.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import simultaneous, t_quantile


def rank_ranges(
    rows: Sequence[Mapping[str, Any]], level: float, chosen_of: int = 0
) -> list[tuple[int, int] | None]:
    """Return the best and the worst rank (from 1) of each model; None for one without an interval.

    Args:
        rows: with `score`, `evaluators` and `interval` (`ci`, `df`), or the interval's ends as `ci`; and with
            the `level` of the interval, if that is another one.
        chosen_of: how many models these were chosen of by their scores, if there were more. Intervals that
            are right for all pairs of those at once are right for the chosen ones, however they are chosen.
    """
    limits = [(i, *_limits(row)) for i, row in enumerate(rows) if _ci(row) is not None]
    ranges: list[tuple[int, int] | None] = [None] * len(rows)
    if not limits:
        return ranges
    places, scores, lows, highs, dfs = map(np.array, zip(*limits, strict=True))
    levels = np.array([rows[place].get("level", level) for place in places])
    models = max(len(scores), chosen_of)
    pairs = max(models * (models - 1) / 2, 1)
    wider = t_quantile(dfs, simultaneous(level, pairs)) / t_quantile(dfs, levels)
    below, above = wider * (scores - lows), wider * (highs - scores)
    for place, score, own_below, own_above in zip(places, scores, below, above, strict=True):
        is_worse = score - scores > np.hypot(own_below, above)
        is_better = scores - score > np.hypot(below, own_above)
        ranges[place] = (1 + int(is_better.sum()), len(scores) - int(is_worse.sum()))
    return ranges


def _ci(row: Mapping[str, Any]) -> Sequence[float] | None:
    interval = row.get("interval")
    return interval["ci"] if interval else row.get("ci")


def _limits(row: Mapping[str, Any]) -> tuple[float, float, float, float]:
    """Return score, ends of its interval, and degrees of freedom."""
    low, high = _ci(row) or (row["score"], row["score"])
    interval = row.get("interval")
    df = interval.get("df", row["evaluators"] - 1) if interval else row["evaluators"] - 1
    return row["score"], min(low, row["score"]), max(high, row["score"]), math.inf if df is None else df
