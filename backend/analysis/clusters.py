"""Shares, their differences, and areas under ROC curves, with intervals over evaluators as clusters.

Answers of one evaluator resemble one another, so that answers are not independent. The variance of a ratio
of sums is that of its linearization, summed by evaluator (Cochran, 1977, chapter 6); that of an area is
Obuchowski's (1997, Biometrics 53, 567-578), who extended DeLong, DeLong and Clarke-Pearson (1988) to
clusters. Quantiles are Student's with one degree of freedom fewer than evaluators.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit, stdtr

from backend.analysis.intervals import student_quantile, wilson


@dataclass(frozen=True)
class Share:
    """A share (0 to 1) and its interval; no interval if fewer than two evaluators contribute."""

    share: float
    ci: list[float] | None


def share_of(part: np.ndarray, whole: np.ndarray, level: float) -> Share | None:
    """Return sum(part) / sum(whole) with Wilson's interval for the effective sample size.

    The effective size is that of independent answers with the variance that evaluators show (Korn and
    Graubard, 1998); evaluators cannot vary less than answers do by chance.

    Args:
        part, whole: shape (evaluators,), counts of each evaluator. None if all of `whole` are 0.
    """
    total, people = float(whole.sum()), int((whole > 0).sum())
    if not total:
        return None
    share = float(part.sum()) / total
    if people < 2:
        return Share(share, None)
    independent = share * (1 - share) / total
    variance = max(_variance((part - share * whole) / total, people), independent)
    ci = wilson(share, variance, student_quantile(people - 1, level), total)
    return Share(share, [*map(float, ci)])


def difference_of(
    first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray], level: float
) -> dict[str, Any] | None:
    """Return the difference of two shares of the same evaluators, with interval and p (two-sided).

    Its variance is never below that of independent answers, with a success and a failure added to each share
    (Agresti and Caffo, 2000): a few answers that happen to be alike show no variation. Interval and p are
    None if either share has fewer than two evaluators. None if a share has no answers.

    Args:
        first, second: (part, whole) as for `share_of`; the difference is first - second.
    """
    (part, whole), (other_part, other_whole) = first, second
    if not whole.sum() or not other_whole.sum():
        return None
    share, other = part.sum() / whole.sum(), other_part.sum() / other_whole.sum()
    found: dict[str, Any] = {"difference": float(share - other), "ci": None, "p": None}
    fewest = int(min((whole > 0).sum(), (other_whole > 0).sum()))
    if fewest < 2:
        return found
    people = int(((whole > 0) | (other_whole > 0)).sum())
    influence = (part - share * whole) / whole.sum() - (other_part - other * other_whole) / other_whole.sum()
    independent = _independent(part, whole) + _independent(other_part, other_whole)
    error = math.sqrt(max(_variance(influence, people), independent))
    half = student_quantile(fewest - 1, level) * error
    p = 2 * float(stdtr(fewest - 1, -abs(found["difference"]) / error))
    return {**found, "ci": [found["difference"] - half, found["difference"] + half], "p": p}


def mean_of(values: np.ndarray, level: float) -> tuple[float, list[float] | None]:
    """Return the mean of evaluators' values, and Student's interval; None for one value or equal ones."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2 or values.min() == values.max():
        return mean, None
    half = student_quantile(len(values) - 1, level) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return mean, [mean - half, mean + half]


@dataclass(frozen=True)
class Area:
    """The area under a ROC curve: the chance that a positive is rated above a negative, ties counted half."""

    area: float
    variance: float
    """Obuchowski's variance; NaN for fewer than two evaluators with positives, or with negatives."""
    df: int
    own: np.ndarray
    """The areas of single evaluators, from their own ratings only, who have both positives and negatives."""

    def interval(self, level: float) -> list[float] | None:
        """Return the interval, symmetric on the scale of the log odds; None if it cannot be estimated."""
        if not self.variance > 1e-18 or not 0 < self.area < 1:
            return None
        half = student_quantile(self.df, level) * math.sqrt(self.variance) / (self.area * (1 - self.area))
        middle = float(logit(self.area))
        return [float(expit(middle - half)), float(expit(middle + half))]


def area_of(ratings: np.ndarray, is_positive: np.ndarray, evaluator: np.ndarray) -> Area | None:
    """Return the area under the ROC curve of ratings; None without positives or without negatives.

    Args:
        ratings: shape (answers,); only their order counts.
        evaluator: shape (answers,), codes from 0.
    """
    negative = ~is_positive
    positives, negatives = int(is_positive.sum()), int(negative.sum())
    if not positives or not negatives:
        return None
    people = int(evaluator.max()) + 1
    area_of_positive = _placements(ratings[is_positive], ratings[negative])
    area_of_negative = 1 - _placements(ratings[negative], ratings[is_positive])
    area = float(area_of_positive.mean())
    of_positives = np.bincount(evaluator[is_positive], area_of_positive - area, people)
    of_negatives = np.bincount(evaluator[negative], area_of_negative - area, people)
    with_positives = len(np.unique(evaluator[is_positive]))
    with_negatives = len(np.unique(evaluator[negative]))
    clusters = len(np.unique(evaluator))
    variance = math.nan
    if min(with_positives, with_negatives) >= 2:
        variance = float(
            with_positives / (with_positives - 1) * (of_positives**2).sum() / positives**2
            + with_negatives / (with_negatives - 1) * (of_negatives**2).sum() / negatives**2
            + 2 * clusters / (clusters - 1) * (of_positives * of_negatives).sum() / (positives * negatives)
        )
    own = _own_areas(ratings, is_positive, evaluator)
    return Area(area, variance, min(with_positives, with_negatives) - 1, own)


def _placements(ratings: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each rating the share of `others` below it, ties counted half."""
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, ratings, "left"), np.searchsorted(ordered, ratings, "right")
    return (below + up_to) / (2 * len(ordered))


def _own_areas(ratings: np.ndarray, is_positive: np.ndarray, evaluator: np.ndarray) -> np.ndarray:
    order = np.argsort(evaluator, kind="stable")
    ends = np.cumsum(np.bincount(evaluator))[:-1]
    areas = []
    for mine in np.split(order, ends):
        positive = is_positive[mine]
        if positive.any() and not positive.all():
            areas.append(_placements(ratings[mine][positive], ratings[mine][~positive]).mean())
    return np.array(areas)


def _independent(part: np.ndarray, whole: np.ndarray) -> float:
    """Return the variance of a share of independent answers, with a success and a failure added."""
    total = float(whole.sum()) + 2
    share = (float(part.sum()) + 1) / total
    return share * (1 - share) / total


def _variance(influence: np.ndarray, people: int) -> float:
    """Return the variance of a statistic from the influence of each evaluator, which sum to 0."""
    return people / (people - 1) * float((influence**2).sum())
