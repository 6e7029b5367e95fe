"""The bootstrap of a mean, exact: no dice, no seed, no noise.

Values of evaluators lie on a lattice (k wrong of 100; means of three modes). The mean of n values
drawn with replacement is the n-fold convolution of their empirical distribution, and one FFT gives
it. Where values share no lattice of a sensible size, Monte Carlo stands in, and says so.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm, sqrt

import numpy as np

from backend.errors import InvalidInput

ITERATIONS = 10_000
"""Of the Monte Carlo bootstrap, as in HYPE, section 3."""
_LONGEST = 2**22
_CDF_TOLERANCE = 1e-12


@dataclass(frozen=True)
class Interval:
    """Standard deviation and percentile interval of a bootstrapped mean, in the values' unit."""

    std: float
    low: float
    high: float
    way: str
    """`exact` or `monte-carlo`."""


def exact(values: Sequence[Fraction | int], drawn: int, level: float = 0.95) -> Interval | None:
    """Return the interval of the mean of `drawn` values drawn with replacement from `values`.

    The ends are the smallest means whose cumulative probability reaches (1 - level) / 2 and
    1 - (1 - level) / 2. None where the lattice of the values is too fine for one FFT.

    Raises:
        InvalidInput: no values, nothing drawn, or a level that is not between 0 and 1.
    """
    _check(values, drawn, level)
    lattice = _lattice(values)
    if lattice is None:
        return Interval(0.0, float(values[0]), float(values[0]), "exact")
    origin, pitch, places = lattice
    length = max(places) * drawn + 1
    if length > _LONGEST:
        return None
    size = 1 << (length - 1).bit_length()
    counts = np.bincount(places) / len(places)
    sums = np.fft.irfft(np.fft.rfft(counts, size) ** drawn, size)[:length]
    cumulative = np.maximum.accumulate(np.cumsum(sums))
    tail = (1 - level) / 2
    ends = [
        float(origin + pitch * int(np.searchsorted(cumulative, q - _CDF_TOLERANCE)) / drawn)
        for q in (tail, 1 - tail)
    ]
    return Interval(_std(values, drawn), *ends, "exact")


def monte_carlo(
    values: Sequence[Fraction | int | float],
    drawn: int,
    level: float,
    iterations: int,
    rng: np.random.Generator,
) -> Interval:
    """Return the interval from `iterations` resamples of `drawn` values (HYPE, section 3).

    Raises:
        InvalidInput: as `exact`, or no iterations.
    """
    _check(values, drawn, level)
    if iterations < 1:
        raise InvalidInput(f"iterations must be 1 or more, not {iterations}")
    numbers = np.asarray([float(value) for value in values])
    means = np.empty(iterations)
    step = max(1, 2**22 // drawn)
    for i in range(0, iterations, step):
        chosen = rng.integers(len(numbers), size=(min(step, iterations - i), drawn))
        means[i : i + step] = numbers[chosen].mean(axis=1)
    tail = 100 * (1 - level) / 2
    low, high = np.percentile(means, [tail, 100 - tail])
    std = float(means.std(ddof=1)) if iterations > 1 else 0.0
    return Interval(std, float(low), float(high), "monte-carlo")


def _check(values: Sequence, drawn: int, level: float) -> None:
    if len(values) == 0:
        raise InvalidInput("a bootstrap needs at least one value")
    if drawn < 1:
        raise InvalidInput(f"the number of values drawn must be 1 or more, not {drawn}")
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {level}")


def _lattice(values: Sequence[Fraction | int]) -> tuple[Fraction, Fraction, list[int]] | None:
    """Return (origin, pitch, whole places) with value = origin + pitch * place; None if all are equal."""
    fractions = [Fraction(value) for value in values]
    common = lcm(*(fraction.denominator for fraction in fractions))
    whole = [int(fraction * common) for fraction in fractions]
    low = min(whole)
    step = gcd(*(number - low for number in whole))
    if step == 0:
        return None
    return Fraction(low, common), Fraction(step, common), [(number - low) // step for number in whole]


def _std(values: Sequence[Fraction | int], drawn: int) -> float:
    """Return the SD of the mean: the population's, over the root of the number drawn."""
    fractions = [Fraction(value) for value in values]
    mean = sum(fractions) / len(fractions)
    variance = sum((fraction - mean) ** 2 for fraction in fractions) / len(fractions)
    return sqrt(variance / drawn)
