"""Agreement of metrics with people: 2AFC scores or JND areas by set, with intervals and paired comparisons.

Every metric is scored on the same items. Scores of several sets are averaged with equal weights, as the
paper does. An interval is over evaluators and items together (`two_way.py`): what other people would say
about other items of the same kind. Those over evaluators only, and over items only, stand beside it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from backend.analysis import jnd, two_afc
from backend.analysis.repeated import holm
from backend.analysis.two_way import (
    TwoWay,
    area_interval,
    difference_test,
    share_interval,
    two_way,
    two_way_of_pairs,
)
from backend.analysis.votes import JND, TWO_AFC, Votes
from backend.foundation.errors import InvalidInput

AVERAGE = "average"
_GROUPS = {
    "distortions": ("traditional", "cnn"),
    "real algorithms": ("superres", "deblur", "color", "frameinterp"),
}
"""Averages that the paper prints besides that of all sets."""


@dataclass(frozen=True)
class _Scored:
    """A score (0 to 1) with the influence of each vote on it, shape (votes,), and the votes it uses."""

    score: float
    influence: np.ndarray
    is_used: np.ndarray

    def variances(self, votes: Votes) -> TwoWay:
        return two_way(self.influence, votes.item, votes.evaluator, self.is_used)


def columns_of(sets: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of a table of scores, each with the sets whose mean it is.

    A single set has no average; the averages of the paper are there if all their sets are, and others too.
    """
    own = {name: (name,) for name in sets}
    groups = {name: group for name, group in _GROUPS.items() if {*group} <= {*sets} != {*group}}
    found: dict[str, tuple[str, ...]] = {}
    for name in sets:
        found[name] = (name,)
        found |= {title: group for title, group in groups.items() if group[-1] == name and title not in own}
    if len(sets) > 1:
        found[AVERAGE if AVERAGE not in own else f"{AVERAGE} of sets"] = tuple(sets)
    return found


def agreement(votes: Votes, metrics: Mapping[str, np.ndarray], level: float = 0.95) -> dict[str, Any]:
    """Return scores, human ceiling and paired comparisons as plain data; scores in percent.

    Args:
        metrics: distances by name of the metric: shape (items, 2) for d0 and d1 (2AFC), (items,) (JND), in
            the order of `votes.items`.

    Raises:
        InvalidInput: a distance is not finite, or an array has another shape.
    """
    shape = (len(votes.items), 2) if votes.kind == TWO_AFC else (len(votes.items),)
    for name, distances in metrics.items():
        if distances.shape != shape:
            raise InvalidInput(f"{name} must have distances of shape {shape}, not {distances.shape}")
        bad = np.flatnonzero(~np.isfinite(distances).reshape(shape[0], -1).all(axis=1))
        if len(bad):
            raise InvalidInput(f"{name} must have finite distances; that of {votes.items[bad[0]]} is not")
    columns = columns_of(votes.sets)
    scored = {name: _by_column(votes, distances, columns) for name, distances in metrics.items()}
    count = votes.count
    return {
        "kind": votes.kind,
        "unit": "percent",
        "level": level,
        "items": len(votes.items),
        "votes": None if count is None else int(count.sum()),
        "evaluators": votes.evaluators,
        "repeated": votes.repeated,
        "sets": [_set(votes, i) for i in range(len(votes.sets))],
        "columns": [{"column": name, "sets": list(sets)} for name, sets in columns.items()],
        "human": _human(votes, columns, level) if votes.kind == TWO_AFC else [],
        "metrics": [
            {"metric": name, **_row(votes, distances, scored[name][column], column, sets, level)}
            for name, distances in metrics.items()
            for column, sets in columns.items()
        ],
        "pairs": [*_pairs(votes, scored, columns, level)],
    }


def _set(votes: Votes, number: int) -> dict[str, Any]:
    is_here = votes.set_of == number
    share, count = votes.share[is_here], votes.count
    return {
        "set": votes.sets[number],
        "items": int(is_here.sum()),
        "votes": None if count is None else int(count[is_here].sum()),
        "fewest_votes": None if count is None else int(count[is_here].min()),
        "share": 100 * float(share.mean()),
    }


def _by_column(
    votes: Votes, distances: np.ndarray, columns: Mapping[str, tuple[str, ...]]
) -> dict[str, _Scored | None]:
    """Return the score of each column; None where it is not defined."""
    by_set = {name: _of_set(votes, distances, i) for i, name in enumerate(votes.sets)}
    return {column: _mean([by_set[name] for name in sets]) for column, sets in columns.items()}


def _mean(parts: Sequence[_Scored | None]) -> _Scored | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return _Scored(
        float(np.mean([part.score for part in known])),
        np.mean([part.influence for part in known], axis=0),
        np.any([part.is_used for part in known], axis=0),
    )


def _of_set(votes: Votes, distances: np.ndarray, number: int) -> _Scored | None:
    is_here = votes.set_of == number
    is_used = is_here[votes.item]
    items, place = np.flatnonzero(is_here), np.cumsum(is_here)[votes.item] - 1
    weight = np.where(is_used, 1 / np.bincount(votes.item)[votes.item], 0.0)
    if votes.kind == JND:
        if not votes.share[items].any():
            return None
        by_same, by_different = jnd.influence(distances[items], votes.share[items])
        slope = votes.vote * by_same[place] + (1 - votes.vote) * by_different[place]
        return _Scored(jnd.area(distances[items], votes.share[items]), weight * slope, is_used)
    d0, d1 = distances.T
    score = two_afc.score(d0[items], d1[items], votes.share[items])
    earned = two_afc.credit(d0[votes.item], d1[votes.item], votes.vote)
    return _Scored(score, weight / len(items) * (earned - score), is_used)


def _row(
    votes: Votes,
    distances: np.ndarray,
    scored: _Scored | None,
    column: str,
    sets: Sequence[str],
    level: float,
) -> dict[str, Any]:
    is_here = np.isin(votes.set_of, [votes.sets.index(name) for name in sets])
    same = {"column": column, "items": int(is_here.sum()), "ties": _ties(votes, distances, is_here)}
    if scored is None:
        return {**same, "score": None, "ci": None, "evaluators_ci": None, "items_ci": None, "of_ties": None}
    found = {**same, "score": 100 * scored.score, **_intervals(votes, scored, level)}
    if votes.kind == TWO_AFC:
        return {**found, "of_ties": None}
    ranges = [
        jnd.range_of_ties(distances[here], votes.share[here])
        for here in (votes.set_of == votes.sets.index(name) for name in sets)
    ]
    return {**found, "of_ties": [100 * float(np.mean(ends)) for ends in zip(*ranges, strict=True)]}


def _ties(votes: Votes, distances: np.ndarray, is_here: np.ndarray) -> int:
    """Return the number of items with d0 = d1 (2AFC), or at the distance of another item of the set (JND)."""
    if votes.kind == TWO_AFC:
        return int((distances[is_here, 0] == distances[is_here, 1]).sum())
    pairs = np.stack([votes.set_of[is_here], distances[is_here]])
    _, counts = np.unique(pairs, axis=1, return_counts=True)
    return int(counts[counts > 1].sum())


def _intervals(votes: Votes, scored: _Scored, level: float) -> dict[str, list[float] | None]:
    found = scored.variances(votes)

    def interval(variance: float | None, df: float) -> list[float] | None:
        if votes.kind == JND:
            ci = area_interval(scored.score, variance, df, level)
        else:
            ci = share_interval(scored.score, variance, df, int(scored.is_used.sum()), level)
        return ci and [100 * end for end in ci]

    return {
        "ci": interval(found.by_both, found.both_df),
        "evaluators_ci": interval(found.by_evaluators, found.evaluators_df),
        "items_ci": interval(found.by_items, found.items_df),
    }


def _human(votes: Votes, columns: Mapping[str, tuple[str, ...]], level: float) -> list[dict[str, Any]]:
    """Return the human ceiling by column: as printed, unbiased with its intervals, and of an oracle."""
    printed, oracle = two_afc.as_printed(votes.share), two_afc.oracle(votes.share)
    count = votes.count
    agreeing = None if count is None else two_afc.unbiased(np.round(votes.share * count), count)
    rows = []
    for column, sets in columns.items():
        here = [votes.set_of == votes.sets.index(name) for name in sets]
        row = {
            "column": column,
            "as_printed": 100 * float(np.mean([printed[mine].mean() for mine in here])),
            "oracle": 100 * float(np.mean([oracle[mine].mean() for mine in here])),
            "unbiased": None, "ci": None, "evaluators_ci": None, "items_ci": None, "items": 0,
        }  # fmt: skip
        if agreeing is not None:
            row |= _unbiased(votes, agreeing, here, level)
        rows.append(row)
    return rows


def _unbiased(votes: Votes, agreeing: np.ndarray, here: Sequence[np.ndarray], level: float) -> dict[str, Any]:
    """Return the mean share of agreeing pairs of votes over sets; from items with two votes or more."""
    has_pairs = ~np.isnan(agreeing)
    used = [mine & has_pairs for mine in here]
    if not all(mine.any() for mine in used):
        return {}
    weight, centre = np.zeros(len(agreeing)), np.zeros(len(agreeing))
    for mine in used:
        weight[mine] = 1 / (len(used) * mine.sum())
        centre[mine] = agreeing[mine].mean()
    known = np.flatnonzero(weight)
    mean = float((weight[known] * agreeing[known]).sum())
    if votes.evaluator is None:
        influence = weight[known] * (agreeing[known] - centre[known])
        found = two_way(influence, known, None, np.ones(len(known), bool))
        size = len(known)
    else:
        pairs = np.zeros(len(agreeing))
        counts = np.bincount(votes.item)[known]
        pairs[known] = weight[known] / (counts * (counts - 1) / 2)
        found = two_way_of_pairs(votes.vote, votes.item, votes.evaluator, pairs, centre)
        size = int(counts.sum())

    def interval(variance: float | None, df: float) -> list[float] | None:
        ci = share_interval(mean, variance, df, size, level)
        return ci and [100 * end for end in ci]

    return {
        "unbiased": 100 * mean,
        "ci": interval(found.by_both, found.both_df),
        "evaluators_ci": interval(found.by_evaluators, found.evaluators_df),
        "items_ci": interval(found.by_items, found.items_df),
        "items": len(known),
    }


def _pairs(
    votes: Votes,
    scored: Mapping[str, Mapping[str, _Scored | None]],
    columns: Mapping[str, tuple[str, ...]],
    level: float,
) -> Iterator[dict[str, Any]]:
    """Yield the differences of two metrics' scores on the same items, by column; p corrected by Holm."""
    for column in columns:
        rows = []
        for a, b in combinations(scored, 2):
            first, second = scored[a][column], scored[b][column]
            if first is None or second is None:
                continue
            apart = _Scored(first.score - second.score, first.influence - second.influence, first.is_used)
            found = apart.variances(votes)
            ci, p = difference_test(apart.score, found.by_both, found.both_df, level)
            rows.append(
                {
                    "column": column, "a": a, "b": b, "difference": 100 * apart.score,
                    "ci": ci and [100 * end for end in ci], "p": p, "p_holm": None,
                }
            )  # fmt: skip
        tested = [row for row in rows if row["p"] is not None]
        for row, p in zip(tested, holm(np.array([row["p"] for row in tested])), strict=True):
            row["p_holm"] = float(p)
        yield from rows
