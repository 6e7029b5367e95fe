"""Sample size: evaluators needed for an interval of a given width, or for a significant difference.

Power is that of the two-sided two-sample t-test at the level, by the noncentral t distribution, for
models of equal SD and equal numbers of evaluators (Cohen, 1988, section 2.3); or, among several models, that
of one pair in Tukey's test, with the critical value of the studentized range over all of them.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import ndtri, stdtrit

from backend.analysis import bootstrap, noncentral_t, studentized_range
from backend.analysis.spreads import Spread
from backend.foundation.errors import InvalidInput

FEWEST = 2
"""Minimum number of evaluators, without which there is no spread."""
_MOST = 10**7
_EXACT_UP_TO = 500
"""Number of evaluators above which the bootstrap distribution is taken as normal."""


def width(spread: Spread, evaluators: int, images: float, level: float) -> float:
    """Return the expected width of the percentile interval with this number of evaluators.

    From a pilot's values it is that of their exact bootstrap, rescaled to the SD at `images` images, and from
    the SD with n, which the bootstrap uses, to that with n - 1; otherwise that of a normal distribution.
    """
    sd = spread.sd_at(images)
    found = _exact(spread, evaluators, level) if sd > 0 else None
    if found is not None and spread.values is not None:
        return (found.high - found.low) * sd / float(spread.values.numbers.std())
    return 2 * float(ndtri((1 + level) / 2)) * sd / math.sqrt(evaluators)


def evaluators_for_width(spread: Spread, wanted: float, images: float, level: float) -> int:
    """Return the smallest number of evaluators whose interval is at most `wanted` wide."""
    root = 2 * float(ndtri((1 + level) / 2)) * spread.sd_at(images) / wanted
    if not root <= math.sqrt(_MOST):
        raise InvalidInput(f"an interval of {wanted:g} would need more than {_MOST:,} evaluators; widen it")
    count = max(FEWEST, math.ceil(root**2 * (1 - 1e-12)))
    if spread.values is None or count > _EXACT_UP_TO:
        return count
    count = max(FEWEST, int(count * 0.7))
    while width(spread, count, images, level) > wanted:
        count += 1
    return count


def power(evaluators: int, effect: float, level: float, tukey_models: int | None = None) -> float:
    """Return the power to find a difference between two models with this number of evaluators each.

    Args:
        effect: the difference, in units of the SD between evaluators.
        tukey_models: models among which Tukey's test compares all pairs; default, a t-test of two.
    """
    df = float((tukey_models or 2) * (evaluators - 1))
    shift = effect * math.sqrt(evaluators / 2)
    bar = _bar(level, df, tukey_models)
    return float(noncentral_t.sf(bar, df, shift) + noncentral_t.cdf(-bar, df, shift))


def evaluators_for_power(effect: float, wanted: float, level: float, tukey_models: int | None = None) -> int:
    """Return the smallest number of evaluators of each model with which the test has power `wanted`."""

    def suffices(count: int) -> bool:
        return power(count, effect, level, tukey_models) >= wanted

    high = FEWEST
    while not suffices(high):
        if high > _MOST:
            raise InvalidInput(
                f"a difference of {effect:.2g} SDs would need more than {_MOST:,} evaluators; look for a "
                "larger one"
            )
        high *= 2
    low = high // 2
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def _exact(spread: Spread, evaluators: int, level: float) -> bootstrap.Interval | None:
    if spread.values is None or spread.values.lattice is None or evaluators > _EXACT_UP_TO:
        return None
    return bootstrap.exact_on_lattice(spread.values.lattice, evaluators, level)


@lru_cache(maxsize=4096)
def _bar(level: float, df: float, tukey_models: int | None) -> float:
    """Return the critical value of t."""
    if tukey_models is None:
        return float(stdtrit(df, (1 + level) / 2))
    return float(studentized_range.isf(1 - level, tukey_models, np.array([df]))[0]) / math.sqrt(2)
