"""The interval of a score with the stated coverage.

The percentile bootstrap of the papers uses the evaluators' own spread as that of the population, and treats
their mean as normal: with n evaluators its 95% interval covers about 2 F(1.96 sqrt((n-1)/n)) - 1
(F of Student's t with n - 1 degrees of freedom): 94% with 30, 90% with 10, 85% with 5, and less if
evaluators' values are skewed, all of them err only a few times, or they saw the same stimuli.

For shares, the interval is Wilson's (1927), with Student's quantile instead of the normal one and with the
effective sample size: that of a simple random sample with the variance that evaluators and stimuli
(`crossing.py`) show (Korn and Graubard, 1998; Dean and Pagano, 2015). It is asymmetric near 0 and 100%,
and remains within them. Evaluators cannot vary less than answers do by chance, so the wider of this interval
and the one that treats all answers as independent is used. For times it is Student's, and near the ends
of the staircase that of `population.py`. `make validate` tests its coverage.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri, stdtr, stdtrit

COVERS_WELL = 0.94
"""Expected coverage below which the percentile interval of 95% is reported as too narrow."""
_STRAIGHT = 1e-6
"""Skewness below which there is nothing to transform."""
FEW_ANSWERS = 10
"""Total of wrong (or right) answers below which their mean is too skewed for the percentile method."""


@dataclass(frozen=True)
class Spread:
    """A mean and its variance, for shares from 0 to 1 or for times in ms."""

    mean: float
    variance: float
    """Variance of the mean."""
    df: float
    responses: float
    """Number of responses, or the effective number."""

    def plus(self, variance: float, df: float) -> "Spread":
        """Return the spread with a further part of the variance; its df are Satterthwaite's (1946)."""
        both, both_df = summed(self.variance, self.df, variance, df)
        return replace(self, variance=float(both), df=float(both_df))


def spread_of(values: np.ndarray, responses: float) -> Spread:
    """Return the mean over evaluators and its variance; needs two values or more."""
    count, mean = len(values), math.fsum(values) / len(values)
    squares = math.fsum((values - mean) ** 2) if values.min() < values.max() else 0.0
    return Spread(mean, squares / (count - 1) / count, count - 1, responses)


def wilson(share: Any, variance: Any, quantile: Any, responses: float) -> tuple[Any, Any]:
    """Return the ends of Wilson's interval of shares (0 to 1) with given variances; numbers, or arrays.

    Args:
        variance: variance of the share; 0 for that of independent responses.
        quantile: two-sided quantile of Student's t or of the normal distribution.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where(variance, np.divide(share * (1 - share), variance), responses)
    weight = quantile**2 / size
    centre = (share + weight / 2) / (1 + weight)
    half = np.sqrt(weight * (share * (1 - share) + weight / 4)) / (1 + weight)
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


def share_variances(
    share: Any, people: Any, df: Any, responses: float, of_images: Any, images_df: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return variances of shares and their degrees of freedom, each of shape (2, ...).

    First as evaluators show it, then as single answers have it, which evaluators cannot fall below; stimuli
    are part of both. Arguments are numbers, or arrays of one shape; see `OverBoth`.
    """
    # evaluators who do not differ at all give no information on the variance: then their number counts
    variances = np.stack(np.broadcast_arrays(people, share * (1 - share) / responses))
    dfs = np.stack(np.broadcast_arrays(df, np.where(people, np.inf, df)))
    return summed(variances, dfs, of_images, images_df)


def summed(variance: Any, df: Any, other: Any, other_df: Any) -> tuple[Any, Any]:
    """Return the sum of two variances, numbers or arrays, and its df (Satterthwaite, 1946); `df` for 0."""
    both = variance + other
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = variance**2 / df + other**2 / other_df
        return both, np.where(parts > 0, np.divide(both**2, parts), df)


@dataclass(frozen=True)
class OverBoth:
    """A share over evaluators and stimuli: its interval and its tests, from the same variance.

    Evaluators cannot vary less than independent answers do, so both variances are used, and of intervals the
    wider one, of p-values the larger one.
    """

    people: Spread
    """The spread over evaluators only."""
    of_images: float = 0.0
    """The additional variance due to shared stimuli, 0 or above."""
    images_df: float = 1.0
    """Degrees of freedom of that part."""

    def interval(self, level: float) -> tuple[tuple[float, float], float]:
        """Return Wilson's interval of the share (0 to 1), and its degrees of freedom."""
        variances, dfs = self._candidates
        quantiles = [student_quantile(df, level) for df in dfs]
        widest = int(np.argmax(quantiles * np.sqrt(variances)))
        share = self.people
        low, high = wilson(share.mean, variances[widest], quantiles[widest], share.responses)
        return (float(low), float(high)), float(dfs[widest])

    def test(self, null: float) -> "ShareTest":
        """Return the tests of the share against `null` (above 0 and below 1), as the interval is formed.

        Wilson's interval at some level ends where the test of its end has the corresponding p.
        """
        p, found = self.people.mean, []
        for variance, df in zip(*(part.tolist() for part in self._candidates), strict=True):
            size = p * (1 - p) / variance if variance else self.people.responses
            t = (p - null) * math.sqrt(size / (null * (1 - null)))
            above, below = (float(ndtr(x) if math.isinf(df) else stdtr(df, x)) for x in (-t, t))
            found.append(ShareTest(t, df, above, below))
        chosen = max(found, key=lambda one: min(one.p_above, one.p_below))
        return replace(
            chosen,
            p_above=max(one.p_above for one in found),
            p_below=max(one.p_below for one in found),
        )

    @property
    def _candidates(self) -> tuple[np.ndarray, np.ndarray]:
        people = self.people
        return share_variances(
            people.mean, people.variance, people.df, people.responses, self.of_images, self.images_df
        )


@dataclass(frozen=True)
class ShareTest:
    """Two one-sided tests of a share against a value."""

    t: float
    df: float
    """Infinite for the normal distribution."""
    p_above: float
    """Of the hypothesis that the share is not above the value."""
    p_below: float


def student_quantile(df: float, level: float) -> float:
    """Return the two-sided quantile of Student's t; of the normal distribution if `df` is infinite."""
    upper = (1 + level) / 2
    return float(ndtri(upper)) if math.isinf(df) else float(stdtrit(df, upper))


def student(spread: Spread, level: float) -> tuple[float, float]:
    """Return the interval of a mean of times."""
    half = student_quantile(spread.df, level) * math.sqrt(spread.variance)
    return spread.mean - half, spread.mean + half


def for_skewed(values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Return an interval of the mean of skewed values, extended by the transformation of Hall (1992).

    With the skewness that values show, intervals of 30 people became up to twice as wide and covered 96 to
    98%; with half of it they cover 93 to 98% (docs/statistics.md). Neither end is moved inwards.

    Args:
        values: shape (evaluators,).
        low, high: an interval that is symmetric about their mean.
    """
    mean, sd, count = float(values.mean()), float(values.std()), len(values)
    if not sd:
        return low, high
    error = sd / math.sqrt(count - 1)
    skewness = float(((values - mean) ** 3).mean()) / sd**3
    bend = skewness / 2 / math.sqrt(count)

    def turned(t: float) -> float:
        return t if abs(bend) < _STRAIGHT else 3 / bend * (math.cbrt(1 + bend * (t - bend / 6)) - 1)

    reach = (high - mean) / error
    return min(low, mean - error * turned(reach)), max(high, mean - error * turned(-reach))


def percentile_coverage(evaluators: int, level: float) -> float:
    """Return the coverage (0 to 1) of the percentile bootstrap for the mean of normal values."""
    reach = float(ndtri((1 + level) / 2)) * math.sqrt((evaluators - 1) / evaluators)
    return float(2 * stdtr(evaluators - 1, reach) - 1)


def doubts(values: np.ndarray, responses: int, method: str, level: float) -> list[str]:
    """Return reasons why the percentile interval would be too narrow, in words.

    Args:
        values: values of two evaluators or more; percent, or ms.
        responses: their total number of responses.
    """
    found, covers = [], percentile_coverage(len(values), level)
    if covers < COVERS_WELL - 0.95 + level:
        found.append(
            f"the percentile interval of {len(values)} evaluators covers about {100 * covers:.1f}%, not "
            f"{100 * level:g}%"
        )
    rarer = min(values.mean(), 100 - values.mean()) / 100 * responses
    if method != "time" and round(rarer, 6) < FEW_ANSWERS:
        kind = "wrong" if values.mean() < 50 else "right"
        found.append(f"{rarer:.0f} {kind} answers in all are too few for the percentile method")
    return found
