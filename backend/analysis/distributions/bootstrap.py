"""The exact bootstrap of a mean, without random numbers.

Values of evaluators lie on a lattice (k wrong of 100; means of three modes). The distribution of the mean
of n values drawn with replacement is the n-fold convolution of their empirical distribution, and one FFT
gives it. If values share no lattice of a moderate size, a Monte Carlo bootstrap replaces it (`way`).

The percentile interval uses the evaluators' own spread as that of the population, and treats their mean as
normal: with n evaluators that of 95% covers about 2 F(1.96 sqrt((n-1)/n)) - 1 (F of Student's t with n - 1
degrees of freedom): 94% with 30, 90% with 10, 85% with 5, and less if evaluators' values are skewed, all of
them err only a few times, or they saw the same stimuli.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, lcm, sqrt

import numpy as np

from backend.analysis.distributions.inference import t_quantile, two_sided_p
from backend.foundation.errors import InvalidInput

ITERATIONS = 10_000
"""Iterations of the Monte Carlo bootstrap, as in HYPE, section 3."""
COVERS_WELL = 0.94
"""Expected coverage below which the percentile interval of 95% is reported as too narrow."""
FEW_ANSWERS = 10
"""Total of wrong (or right) answers below which their mean is too skewed for the percentile method."""
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


def exact(values: Sequence[Fraction | float], drawn: int, level: float = 0.95) -> Interval | None:
    """Return the interval of the mean of `drawn` values drawn with replacement from `values`.

    The ends are the smallest means whose cumulative probability reaches (1 - level) / 2 and
    1 - (1 - level) / 2. None if the values share no lattice that fits into one FFT.

    Raises:
        InvalidInput: no values, one that is not finite, nothing drawn, or a level not between 0 and 1.
    """
    _check(values, drawn, level)
    lattice = lattice_of(values)
    return None if lattice is None else exact_on_lattice(lattice, drawn, level)


def exact_on_lattice(lattice: "Lattice", drawn: int, level: float = 0.95) -> Interval | None:
    """Return `exact` for values whose lattice is known; None if the sums do not fit into one FFT."""
    _check(lattice.whole, drawn, level)
    low = int(lattice.whole.min())
    places = lattice.whole - low
    pitch = int(np.gcd.reduce(places))
    if pitch == 0:
        value = float(low * lattice.unit)
        return Interval(0.0, value, value, "exact")
    places //= pitch
    length = int(places.max()) * drawn + 1
    if length > _LONGEST:
        return None
    size = 1 << (length - 1).bit_length()
    shares = np.bincount(places) / len(places)
    sums = np.fft.irfft(_power(np.fft.rfft(shares, size), drawn), size)[:length]
    cumulative = np.maximum.accumulate(np.cumsum(sums))
    tail = (1 - level) / 2
    reached = np.searchsorted(cumulative, np.array([tail, 1 - tail]) - _CDF_TOLERANCE)
    ends = [float(lattice.unit * (low * drawn + pitch * int(place)) / drawn) for place in reached]
    std = _spread(places) * float(pitch * lattice.unit) / sqrt(drawn)
    return Interval(std, ends[0], ends[1], "exact")


def monte_carlo(
    values: Sequence[Fraction | float] | np.ndarray,
    drawn: int,
    level: float,
    iterations: int,
    rng: np.random.Generator,
) -> Interval:
    """Return the interval from `iterations` resamples of `drawn` values (HYPE, section 3).

    Raises:
        InvalidInput: as for `exact`, or no iterations.
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


def _check(values: Sequence[Fraction | float] | np.ndarray, drawn: int, level: float) -> None:
    if len(values) == 0:
        raise InvalidInput("a bootstrap needs at least one value")
    if not np.isfinite(np.asarray(values, float)).all():
        raise InvalidInput("a bootstrap needs finite numbers, and there is one that is not")
    if drawn < 1:
        raise InvalidInput(f"the number of values sampled must be 1 or more, not {drawn}")
    if not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {level}")


def _spread(places: np.ndarray) -> float:
    """Return the population SD of integers; sums of integers do not depend on their order."""
    count, total = len(places), int(places.sum())
    return sqrt(count * int(places.dot(places)) - total**2) / count


def _power(base: np.ndarray, exponent: int) -> np.ndarray:
    """Return base**exponent (1 or more) by squaring; numpy's power of complex numbers is 40 times slower."""
    while not exponent & 1:
        base, exponent = base * base, exponent >> 1
    result, exponent = base, exponent >> 1
    while exponent:
        base = base * base
        if exponent & 1:
            result = result * base
        exponent >>= 1
    return result


@dataclass(frozen=True)
class Lattice:
    """Values as integer multiples of a unit: value = whole * unit."""

    whole: np.ndarray
    """int64."""
    unit: Fraction


_UNITS = [np.array([1.0, 10, 100, 3]), np.arange(1.0, 1001), 10.0 ** np.arange(4, 13)]


def lattice_of(values: Sequence[Fraction | float]) -> Lattice | None:
    """Return the lattice on which all values lie, or None.

    Integers and fractions are used as they are. Floats are interpreted as k / d if each is the float nearest
    to k / d, for one d up to 1000 or a power of ten, which does not happen by chance.
    """
    if all(isinstance(value, Fraction | int) for value in values):
        return _of_fractions([Fraction(value) for value in values])
    numbers = np.asarray(values, float)
    for units in _UNITS:
        whole = np.rint(np.multiply.outer(units, numbers))
        fits = (whole / units[:, None] == numbers).all(axis=1) & (np.abs(whole) < 2**53).all(axis=1)
        if fits.any():
            place = int(fits.argmax())
            return Lattice(whole[place].astype(np.int64), Fraction(1, int(units[place])))
    return None


def _of_fractions(values: list[Fraction]) -> Lattice | None:
    common = lcm(*(value.denominator for value in values))
    whole = [int(value * common) for value in values]
    is_small = max(map(abs, whole)) < 2**53
    return Lattice(np.array(whole, np.int64), Fraction(1, common)) if is_small else None


def percentile_coverage(evaluators: int, level: float) -> float:
    """Return the coverage (0 to 1) of the percentile bootstrap for the mean of normal values."""
    reach = t_quantile(inf, level) * sqrt((evaluators - 1) / evaluators)
    return 1 - float(two_sided_p(reach, evaluators - 1))


def doubts(values: np.ndarray, responses: int, are_shares: bool, level: float) -> list[str]:
    """Return reasons why the percentile interval would be too narrow, in words.

    Args:
        values: values of two evaluators or more; percent, or ms.
        responses: their total number of responses.
        are_shares: whether values are percent.
    """
    reasons, covers = [], percentile_coverage(len(values), level)
    if covers < COVERS_WELL - 0.95 + level:
        reasons.append(
            f"the percentile interval of {len(values)} evaluators covers about {100 * covers:.1f}%, not "
            f"{100 * level:g}%"
        )
    rarer = min(values.mean(), 100 - values.mean()) / 100 * responses
    if are_shares and round(rarer, 6) < FEW_ANSWERS:
        kind = "wrong" if values.mean() < 50 else "right"
        reasons.append(f"{rarer:.0f} {kind} answers in all are too few for the percentile method")
    return reasons
