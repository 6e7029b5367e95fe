"""Rank correlation of metrics with mean opinion scores that others collected, with intervals over stimuli.

Several stimuli are usually distortions of one reference picture, whose scores are alike. If references are
named, they are the sample: Fisher's z of the correlation varies as the jackknife without one reference after
another says, with Student's t of their number less one, and reaches further on one side by the bias that the
jackknife finds (docs/agreement.md has its coverage). Otherwise stimuli are taken to be independent, and the
interval is that of `rank_intervals.py`, with them for models.

With the SD and number of the opinions behind each score, their noise is known, and so is how far it holds any
metric down: with r^2 = 1 - mean(SD^2 / votes) / variance of the scores, a metric in perfect order with the
scores of infinitely many people has Pearson's r (Spearman, 1904), and the rank correlations of a bivariate
normal distribution with that r.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import stdtrit

from backend.analysis.distributions.rank_intervals import over_models
from backend.analysis.distributions.ranks import rho_of, tau_of

FEWEST = 5
"""References below which they do not tell how much they differ."""
_EQUAL = 1e-9  # sums in another order differ by less
_Correlation = Callable[[np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class OpinionScores:
    """Mean opinion scores by stimulus; arrays of shape (stimuli,)."""

    stimuli: tuple[str, ...]
    scores: np.ndarray
    sds: np.ndarray | None = None
    """SD of the opinions on each stimulus."""
    votes: np.ndarray | None = None
    """Number of opinions on each stimulus."""
    references: tuple[str, ...] | None = None
    """The picture that each stimulus is a version of."""


def opinion_agreement(
    opinions: OpinionScores, metrics: Mapping[str, np.ndarray], level: float = 0.95
) -> dict[str, Any]:
    """Return Spearman's rho and Kendall's tau-b of each metric with the scores, as plain data.

    Args:
        metrics: values by name of the metric, shape (stimuli,), finite, in the order of `opinions.stimuli`.

    Signs are not turned around: distances fall with quality.

    Returns:
        `kind`, `level`, `stimuli`, `references` and `votes` (None if not known), `reliability` (r^2) and
        `ceiling` (`rho`, `tau`) of the scores, None without SD and votes; `metrics` (`metric`, `rho`,
        `rho_ci`, `tau`, `tau_ci`, `ties`: stimuli with the value of another one, `note`: why there is no
        correlation or interval).
    """
    groups = None
    if opinions.references is not None:
        groups = np.unique(np.array(opinions.references), return_inverse=True)[1]
    reliability = _reliability(opinions)
    return {
        "kind": "opinions",
        "level": level,
        "stimuli": len(opinions.stimuli),
        "references": None if groups is None else int(groups.max()) + 1,
        "votes": None if opinions.votes is None else int(opinions.votes.sum()),
        "reliability": reliability,
        "ceiling": None if reliability is None else _of_ranks(math.sqrt(reliability)),
        "metrics": [
            {"metric": name, **_row(opinions.scores, values, groups, level)}
            for name, values in metrics.items()
        ],
    }


def _reliability(opinions: OpinionScores) -> float | None:
    """Return the share (0 to 1) of the variance of the scores that is not noise of the opinions."""
    if opinions.sds is None or opinions.votes is None or len(opinions.scores) < 2:
        return None
    total = float(opinions.scores.var(ddof=1))
    noise = float((opinions.sds**2 / opinions.votes).mean())
    return max(0.0, 1 - noise / total) if total > 0 else None


def _of_ranks(r: float) -> dict[str, float]:
    """Return the rank correlations of a bivariate normal distribution with correlation `r`."""
    return {"rho": 6 / math.pi * math.asin(r / 2), "tau": 2 / math.pi * math.asin(r)}


def _row(scores: np.ndarray, values: np.ndarray, groups: np.ndarray | None, level: float) -> dict[str, Any]:
    counts = np.unique(values, return_counts=True)[1]
    row = {**dict.fromkeys(("rho", "rho_ci", "tau", "tau_ci", "note")), "ties": int(counts[counts > 1].sum())}
    if len(scores) < 3 or np.ptp(scores) == 0 or np.ptp(values) == 0:
        few = len(scores) < 3
        side = "score" if np.ptp(scores) == 0 else "value"
        return {**row, "note": "it takes three stimuli" if few else f"all stimuli have the same {side}"}
    rho, tau = rho_of(scores, values), tau_of(scores, values)
    row |= {"rho": rho, "tau": tau}
    if groups is None:
        ends = over_models(rho, tau, len(scores), level)
        if ends is None:
            return {**row, "note": "an interval takes four stimuli"}
        return {**row, "rho_ci": ends["rho"], "tau_ci": ends["tau"]}
    if groups.max() + 1 < FEWEST:
        return {**row, "note": f"an interval takes {FEWEST} references"}
    for name, correlation, value in (("rho_ci", rho_of, rho), ("tau_ci", tau_of, tau)):
        row[name] = _over_references(scores, values, groups, correlation, value, level)
    if row["rho_ci"] is None or row["tau_ci"] is None:
        row["note"] = "without one of the references all stimuli are in one order, or tie"
    return row


def _over_references(
    scores: np.ndarray,
    values: np.ndarray,
    groups: np.ndarray,
    correlation: _Correlation,
    value: float,
    level: float,
) -> list[float] | None:
    """Return the interval of a correlation by the jackknife over references; None if it is not defined."""
    count = int(groups.max()) + 1
    without = np.array(
        [correlation(scores[groups != group], values[groups != group]) for group in range(count)]
    )
    if not (np.abs([*without, value]) < 1 - _EQUAL).all():  # also if one is NaN
        return None
    z = np.arctanh(without)
    error = math.sqrt((count - 1) / count * float(((z - z.mean()) ** 2).sum()))
    half = float(stdtrit(count - 1, (1 + level) / 2)) * error
    centre = math.atanh(value)
    bias = (count - 1) * (float(z.mean()) - centre)
    return [math.tanh(centre - max(bias, 0) - half), math.tanh(centre - min(bias, 0) + half)]


def references_of(stimuli: Sequence[str]) -> tuple[str, ...] | None:
    """Return the part of names like TID2013's (`I01_08_3`: reference, distortion, level) before the first _.

    None unless all names are so.
    """
    parts = [name.split("_") for name in stimuli]
    if any(len(each) != 3 or not (each[1].isdigit() and each[2].isdigit()) for each in parts):
        return None
    return tuple(each[0] for each in parts)
