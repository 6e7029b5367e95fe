"""Intervals of a score that hold where the percentile bootstrap is too narrow.

The percentile bootstrap takes the evaluators' own spread for that of the people they stand for, and
their mean for normal: with n evaluators its 95% interval covers about 2 F(1.96 sqrt((n-1)/n)) - 1 (F of
Student's t with n - 1 degrees of freedom): 94% with 30, 90% with 10, 85% with 5, and less where evaluators
differ lopsidedly or err a few times in all. `python -m validate.coverage` holds both intervals to that.

For shares, the interval here is Wilson's (1927), with Student's quantile for the normal one and with
the sample size that a simple random sample would need for the variance that the evaluators show (Korn
and Graubard, 1998; Dean and Pagano, 2015). It is asymmetric near 0 and 100%, and stays within them. For
times it is Student's.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

COVERS_WELL = 0.94
"""Expected coverage below which the percentile interval of 95% is said to be too narrow."""
FEW_ANSWERS = 10
"""Wrong (or right) answers in all, below which their mean is too lopsided for the percentile method."""


@dataclass(frozen=True)
class Spread:
    """What an interval is made of, for shares from 0 to 1 or for times in ms."""

    mean: float
    variance: float
    """Of the mean."""
    df: float
    responses: int


def spread_of(values: np.ndarray, responses: int) -> Spread:
    """Return the spread of the mean over evaluators; two values or more."""
    centred = values - values[0]
    return Spread(float(values.mean()), float(centred.var(ddof=1)) / len(values), len(values) - 1, responses)


def wilson(spread: Spread, level: float) -> tuple[float, float]:
    """Return the interval of a share.

    Evaluators who do not differ at all tell nothing of the variance; then that of independent
    responses is taken.
    """
    p = spread.mean
    variance = spread.variance or p * (1 - p) / spread.responses
    size = p * (1 - p) / variance if variance else spread.responses
    weight = float(stdtrit(spread.df, (1 + level) / 2)) ** 2 / size
    centre = (p + weight / 2) / (1 + weight)
    half = math.sqrt(weight * (p * (1 - p) + weight / 4)) / (1 + weight)
    return max(0.0, centre - half), min(1.0, centre + half)


def student(spread: Spread, level: float) -> tuple[float, float]:
    """Return the interval of a mean of times."""
    half = float(stdtrit(spread.df, (1 + level) / 2)) * math.sqrt(spread.variance)
    return spread.mean - half, spread.mean + half


def percentile_coverage(evaluators: int, level: float) -> float:
    """Return how often the percentile bootstrap of normal values covers the mean (0 to 1)."""
    reach = float(ndtri((1 + level) / 2)) * math.sqrt((evaluators - 1) / evaluators)
    return float(2 * stdtr(evaluators - 1, reach) - 1)


def better_interval(values: np.ndarray, responses: int, method: str, level: float) -> dict[str, Any]:
    """Return the interval to print where the percentile method cannot cover, and whether it cannot.

    Args:
        values: of two evaluators or more; percent, or ms.
        responses: that they gave in all.
    """
    covers = percentile_coverage(len(values), level)
    if method == "time":
        low, high = student(spread_of(values, responses), level)
        rarer = math.inf
    else:
        low, high = (100 * end for end in wilson(spread_of(values / 100, responses), level))
        rarer = min(values.mean(), 100 - values.mean()) / 100 * responses
    reasons = []
    if covers < COVERS_WELL - 0.95 + level:
        reasons.append(
            f"the percentile interval of {len(values)} evaluators covers about {100 * covers:.1f}%, not "
            f"{100 * level:g}%"
        )
    if round(rarer, 6) < FEW_ANSWERS:
        kind = "wrong" if values.mean() < 50 else "right"
        reasons.append(f"{rarer:.0f} {kind} answers in all are too few for the percentile method")
    return {
        "ci": [low, high],
        "method": "student" if method == "time" else "wilson",
        "percentile_covers": covers,
        "advised": bool(reasons),
        "why": "; ".join(reasons) or None,
    }
