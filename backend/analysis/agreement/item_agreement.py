"""Agreement of metrics with people: 2AFC scores or JND areas by set, with intervals and paired comparisons.

Every metric is scored on the same items. Scores of several sets are averaged with equal weights, as the
paper does. An interval is over evaluators and items together (`two_way.py`): what other people would say
about other items of the same kind.

A JND area is too high from few items. How fast its bias falls depends on the metric: as items ** -1/2 where
the precision hardly falls with recall, so that the envelope is a maximum of a random walk, and as 1 / items
where it falls steeply. The interval over items reaches from its lower end at the first rate to its upper end
at the second, each by the jackknife; that of an average precision, whose bias is smaller, from its lower end
at the slowest rate of that bias to its upper end without correction. Variances of areas and of differences
are the jackknife's where those are larger than the linearised ones (docs/agreement.md has the coverage).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from backend.analysis.agreement import jnd, two_afc
from backend.analysis.agreement.two_way import TwoWay, two_way, two_way_apart, two_way_of_pairs
from backend.analysis.agreement.votes import JND, TWO_AFC, Votes
from backend.analysis.distributions.inference import (
    Component,
    Estimate,
    beyond_answers,
    holm,
    third_of_share,
    unseen_skewness,
    wilson_interval,
)
from backend.foundation.errors import InvalidInput

AVERAGE = "average"
_GROUPS = {
    "distortions": ("traditional", "cnn"),
    "real algorithms": ("superres", "deblur", "color", "frameinterp"),
}
"""Averages that the paper prints besides that of all sets."""
FEWEST_PEOPLE = 10
"""Number of people below which their agreement with one another has no interval: those of five, each of whom
is in four of ten pairs, cover 79 to 99%."""
_OF_RAREST = 7.0
"""Skewness of a vote of which 2% are for one side."""
_LEAST = 0.01
"""A corrected area is not nearer to 0 and 1, where log odds have no end, unless the area itself is."""


@dataclass(frozen=True)
class _Scored:
    """A score (0 to 1) with the influence of each vote on it, shape (votes,), and the votes it uses."""

    score: float
    influence: np.ndarray
    is_used: np.ndarray
    bias: float = 0.0
    """How much it is expected to be too high; of JND."""
    corrections: tuple[float, ...] = (0.0,)
    """What an interval over items takes off the score for its upper end and for its lower end."""
    without: tuple[np.ndarray, ...] = ()
    """By set, the part of the score in it without each group of items (`jnd.Jackknife`)."""

    def variances(self, votes: Votes) -> TwoWay:
        """Return the linearised variances; over items those of the jackknife, if known and larger."""
        if votes.kind == TWO_AFC:
            return two_way(self.influence, votes.item, votes.evaluator, self.is_used)
        apart = two_way_apart(self.influence, votes.item, votes.evaluator, self.is_used)
        if apart.by_items is None:
            return apart
        curvature = max(0.0, sum(map(jnd.jackknife_variance, self.without)) - apart.by_items.variance)
        by_items, by_both = (  # whose skewness is that of linear influences, which areas have not
            part and Component(part.variance + curvature, part.df) for part in (apart.by_items, apart.by_both)
        )
        return replace(apart, by_items=by_items, by_both=by_both)


def columns_of(sets: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the columns of a table of scores, each with the sets whose mean it is.

    A single set has no average; the averages of the paper are there if all their sets are, and others too.
    """
    own = {name: (name,) for name in sets}
    groups = {name: group for name, group in _GROUPS.items() if {*group} <= {*sets} != {*group}}
    columns: dict[str, tuple[str, ...]] = {}
    for name in sets:
        columns[name] = (name,)
        columns |= {title: group for title, group in groups.items() if group[-1] == name and title not in own}
    if len(sets) > 1:
        columns[AVERAGE if AVERAGE not in own else f"{AVERAGE} of sets"] = tuple(sets)
    return columns


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
    stepwise = {
        name: _by_column(votes, distances, columns, is_stepwise=True) if votes.kind == JND else {}
        for name, distances in metrics.items()
    }
    count = votes.count
    return {
        "kind": votes.kind,
        "unit": "percent",
        "level": level,
        "items": len(votes.items),
        "votes": None if count is None else int(count.sum()),
        "evaluators": votes.evaluators,
        "repeated": votes.repeated,
        "notes": [*votes.notes],
        "sets": [_set(votes, i) for i in range(len(votes.sets))],
        "columns": [{"column": name, "sets": list(sets)} for name, sets in columns.items()],
        "human": _human(votes, columns, level) if votes.kind == TWO_AFC else [],
        "metrics": [
            {
                "metric": name,
                **_row(votes, distances, scored[name][column], column, sets, level),
                "average_precision": _average_precision(votes, stepwise[name].get(column), level),
            }
            for name, distances in metrics.items()
            for column, sets in columns.items()
        ],
        "pairs": [*_pairs(votes, scored, stepwise, columns, level)],
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
    votes: Votes,
    distances: np.ndarray,
    columns: Mapping[str, tuple[str, ...]],
    is_stepwise: bool = False,
) -> dict[str, _Scored | None]:
    """Return the score of each column, or its average precision; None where it is not defined."""
    by_set = {name: _of_set(votes, distances, i, is_stepwise) for i, name in enumerate(votes.sets)}
    return {column: _mean([by_set[name] for name in sets]) for column, sets in columns.items()}


def _mean(parts: Sequence[_Scored | None]) -> _Scored | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return _Scored(
        float(np.mean([part.score for part in known])),
        np.mean([part.influence for part in known], axis=0),
        np.any([part.is_used for part in known], axis=0),
        float(np.mean([part.bias for part in known])),
        tuple(np.mean([part.corrections for part in known], axis=0)),
        tuple(one / len(known) for part in known for one in part.without),
    )


def _of_set(votes: Votes, distances: np.ndarray, number: int, is_stepwise: bool) -> _Scored | None:
    is_here = votes.set_of == number
    is_used = is_here[votes.item]
    items, place = np.flatnonzero(is_here), np.cumsum(is_here)[votes.item] - 1
    weight = np.where(is_used, 1 / np.bincount(votes.item)[votes.item], 0.0)
    if votes.kind == JND:
        if not votes.share[items].any():
            return None
        pairs = distances[items], votes.share[items]
        by_same, by_different = jnd.influence(*pairs, is_stepwise)
        slope = weight * (votes.vote * by_same[place] + (1 - votes.vote) * by_different[place])
        left_out = jnd.jackknife(*pairs, is_stepwise)
        score = jnd.average_precision(*pairs) if is_stepwise else jnd.area(*pairs)
        ordinary = left_out.bias(jnd.STEPS_RATE) if left_out else 0.0
        without = (left_out.without,) if left_out else ()
        if is_stepwise:
            slowest = left_out.bias(jnd.STEPS_SLOWEST) if left_out else 0.0
            return _Scored(score, slope, is_used, ordinary, (0.0, slowest), without)
        bias = left_out.bias(jnd.ENVELOPE_RATE) if left_out else 0.0
        return _Scored(score, slope, is_used, bias, (ordinary, bias), without)
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
        return {**same, "score": None, "bias": None, "ci": None, "of_ties": None}
    row = {**same, "score": 100 * scored.score, "bias": None, "ci": _interval(votes, scored, level)}
    if votes.kind == TWO_AFC:
        return {**row, "of_ties": None}
    row["bias"] = 100 * scored.bias
    ranges = [
        jnd.range_of_ties(distances[here], votes.share[here])
        for here in (votes.set_of == votes.sets.index(name) for name in sets)
    ]
    return {**row, "of_ties": [100 * float(np.mean(ends)) for ends in zip(*ranges, strict=True)]}


def _average_precision(votes: Votes, scored: _Scored | None, level: float) -> dict[str, Any] | None:
    if scored is None:
        return None
    linearised = replace(scored, without=())  # which covers, where the jackknife's variance is too large
    return {
        "score": 100 * scored.score,
        "bias": 100 * scored.bias,
        "ci": _interval(votes, linearised, level),
    }


def _ties(votes: Votes, distances: np.ndarray, is_here: np.ndarray) -> int:
    """Return the number of items with d0 = d1 (2AFC), or at the distance of another item of the set (JND)."""
    if votes.kind == TWO_AFC:
        return int((distances[is_here, 0] == distances[is_here, 1]).sum())
    pairs = np.stack([votes.set_of[is_here], distances[is_here]])
    _, counts = np.unique(pairs, axis=1, return_counts=True)
    return int(counts[counts > 1].sum())


def _interval(votes: Votes, scored: _Scored, level: float) -> list[float] | None:
    """Return the interval over evaluators and items, in percent."""
    variances = scored.variances(votes)
    if votes.kind == TWO_AFC:
        return _share_interval(scored.score, variances, int(scored.is_used.sum()), level)
    same = float(votes.vote[scored.is_used].mean())
    return _area_interval(scored.score, scored.corrections, variances, same, level)


def _share_interval(share: float, variances: TwoWay, votes: int, level: float) -> list[float] | None:
    """Return Wilson's interval (percent) of an agreement (0 to 1) with the effective number of votes.

    Whoever is careless or of another kind agrees less with everybody, and nobody as much more: evaluators'
    agreements have a long tail below, of which few evaluators show part. It is a tail of how evaluators
    differ, beyond votes; and half of it is taken of the whole variance, as few may not differ by chance.
    """
    part, people = variances.by_both, variances.by_evaluators
    if part is None:
        return None
    third = third_of_share(share, part.variance, part.third, votes)
    if people is not None and people.variance:
        between = beyond_answers(share, people.variance, votes)
        third -= unseen_skewness(people.df + 1) * (between**1.5 + part.variance**1.5 / 2)
    return [100 * end for end in wilson_interval(share, replace(part, third=third), votes, level)]


def _area_interval(
    score: float, corrections: Sequence[float], variances: TwoWay, same: float, level: float
) -> list[float] | None:
    """Return the interval (percent) of an area (0 to 1), corrected for its bias from few items.

    Where votes for *same* are rare, few evaluators cast most of them, and areas have a long tail above: in
    proportion to the skewness of a vote, and with 2% that of exponential values.

    Args:
        same: share of votes for *same* (0 to 1).
    """
    part, people = variances.by_both, variances.by_evaluators
    if part is None:
        return None
    if people is not None:
        rare = (1 - 2 * same) / math.sqrt(max(same * (1 - same), _LEAST)) / _OF_RAREST
        part = replace(part, third=rare * unseen_skewness(people.df + 1) * part.variance**1.5)
    least, most = min(_LEAST, score), max(1 - _LEAST, score)
    centres = [min(max(score - each, least), most) for each in corrections]
    cis = [Estimate(centre, part).log_odds_interval(level) for centre in centres]
    known = [ci for ci in cis if ci]
    return [100 * min(low for low, _ in known), 100 * max(high for _, high in known)] if known else None


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
            "unbiased": None, "ci": None, "items": 0,
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
        variance = two_way(influence, known, None, np.ones(len(known), bool))
        size = len(known)
    else:
        pairs = np.zeros(len(agreeing))
        counts = np.bincount(votes.item)[known]
        pairs[known] = weight[known] / (counts * (counts - 1) / 2)
        variance = two_way_of_pairs(votes.vote, votes.item, votes.evaluator, pairs, centre)
        size = int(counts.sum())
        if len(np.unique(votes.evaluator[pairs[votes.item] > 0])) < FEWEST_PEOPLE:
            return {"unbiased": 100 * mean, "ci": None, "items": len(known)}
    ci = _share_interval(mean, variance, size, level)
    return {"unbiased": 100 * mean, "ci": ci, "items": len(known)}


def _pairs(
    votes: Votes,
    scored: Mapping[str, Mapping[str, _Scored | None]],
    stepwise: Mapping[str, Mapping[str, _Scored | None]],
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
            steps, others = stepwise[a].get(column), stepwise[b].get(column)
            rows.append(
                {
                    "column": column,
                    "a": a,
                    "b": b,
                    **_difference(votes, first, second, level),
                    "average_precision": _difference(votes, steps, others, level)
                    if steps and others
                    else None,
                }
            )
        yield from ({**row, "p_holm": p} for row, p in zip(rows, holm([r["p"] for r in rows]), strict=True))


def _difference(votes: Votes, first: _Scored, second: _Scored, level: float) -> dict[str, Any]:
    apart = _Scored(
        first.score - second.score,
        first.influence - second.influence,
        first.is_used,
        without=tuple(a - b for a, b in zip(first.without, second.without, strict=True)),
    )
    both, difference = apart.variances(votes).by_both, 100 * apart.score
    if both is None or not both.variance:
        return {"difference": difference, "ci": None, "p": None}
    estimate = Estimate(apart.score, both)
    return {
        "difference": difference,
        "ci": [100 * end for end in estimate.interval(level)],
        "p": estimate.p(),
    }
