"""The psychometric function: how accuracy rises with exposure, fitted by maximum likelihood.

accuracy(t) = guess + (1 - guess - lapse) / (1 + (midpoint / t)^slope), the logistic on log t, as in
`observer.PsychometricObserver`; `guess` is 0.5 where the task is real or fake, half and half; `lapse` is
fitted and takes in pictures that nobody can tell at any exposure. The threshold is the exposure at which
accuracy reaches a stated value. Intervals are those of the profile likelihood, the goodness of fit is
the deviance against simulated answers of the fitted function (Wichmann and Hill, 2001).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, xlogy

from backend.errors import InvalidInput

THRESHOLD_AT = 0.75
_SLOPES = (math.log(0.3), math.log(30.0))
_LAPSES = (0.0, 0.45)
_REACH = math.log(30.0)
"""Midpoint and threshold are sought within 30 times the exposures shown, on either side."""
_SIMULATED = 1000


@dataclass(frozen=True)
class Trials:
    """Answers counted by exposure; arrays of shape (exposures,)."""

    log_ms: np.ndarray
    right: np.ndarray
    total: np.ndarray

    @classmethod
    def of(cls, exposure_ms: np.ndarray, was_right: np.ndarray) -> "Trials":
        """Count answers one by one.

        Raises:
            InvalidInput: no answers, two lengths, or an exposure that is not a number above 0.
        """
        exposure_ms, was_right = np.asarray(exposure_ms, float), np.asarray(was_right)
        if exposure_ms.shape != was_right.shape or exposure_ms.ndim != 1:
            raise InvalidInput(
                "exposures and answers must be two lists of one length, "
                f"not of shapes {exposure_ms.shape} and {was_right.shape}"
            )
        if not len(exposure_ms):
            raise InvalidInput("a psychometric function needs answers, and there are none")
        if not ((exposure_ms > 0) & np.isfinite(exposure_ms)).all():
            raise InvalidInput("every exposure must be a number above 0 ms")
        if not np.isin(was_right, (0, 1)).all():
            raise InvalidInput("every answer must be right (1, True) or wrong (0, False)")
        exposures, place = np.unique(exposure_ms, return_inverse=True)
        return cls(np.log(exposures), np.bincount(place, was_right.astype(float)), np.bincount(place))


@dataclass(frozen=True)
class Fit:
    """A fitted psychometric function."""

    midpoint_ms: float
    slope: float
    lapse: float
    guess: float
    at: float
    """The accuracy (0 to 1) of the threshold."""
    threshold_ms: float | None
    """None where accuracy levels off below `at`."""
    ci: tuple[float | None, float | None] | None
    """Of the threshold (ms), by profile likelihood; an open end is None. None where none was asked for."""
    deviance: float
    p: float | None
    """Share of data sets simulated from the fit whose deviance is as large; small is a bad fit."""
    log_likelihood: float
    trials: int

    def accuracy(self, exposure_ms: np.ndarray | float) -> np.ndarray:
        """Return the accuracy (0 to 1) at exposures."""
        rise = expit(self.slope * (np.log(exposure_ms) - math.log(self.midpoint_ms)))
        return self.guess + (1 - self.guess - self.lapse) * rise


def fit(
    trials: Trials,
    *,
    at: float = THRESHOLD_AT,
    guess: float = 0.5,
    level: float | None = 0.95,
    rng: np.random.Generator | None = None,
) -> Fit:
    """Return the function of the greatest likelihood.

    Args:
        at: accuracy of the threshold, between `guess` and 1.
        level: of the threshold's interval; None for no interval.
        rng: draws the data sets that the deviance is compared with; None for no comparison.

    Raises:
        InvalidInput: `guess` is not from 0 to under 1, or `at` not between it and 1.
    """
    if not 0 <= guess < 1:
        raise InvalidInput(f"guess must be from 0 to below 1, not {guess}")
    if not guess < at < 1:
        raise InvalidInput(f"the threshold's accuracy must be between guess ({guess:g}) and 1, not {at}")
    low, high = trials.log_ms.min() - _REACH, trials.log_ms.max() + _REACH
    lapses = (_LAPSES[0], min(_LAPSES[1], 0.9 * (1 - guess)))
    bounds = [(low, high), _SLOPES, lapses]
    best, cost = _minimum(
        lambda x: _cost(trials, guess, x[0], x[1], x[2]), bounds, _starts(trials, guess, bounds)
    )
    midpoint, log_slope, lapse = best
    reached = (at - guess) / (1 - guess - lapse)
    threshold = midpoint + float(logit(reached)) / math.exp(log_slope) if reached < 1 else None
    found = expit(math.exp(log_slope) * (trials.log_ms - midpoint))
    accuracy = guess + (1 - guess - lapse) * found
    deviance = float(_deviance(trials.right, trials.total, accuracy))
    return Fit(
        midpoint_ms=math.exp(midpoint),
        slope=math.exp(log_slope),
        lapse=lapse,
        guess=guess,
        at=at,
        threshold_ms=None if threshold is None else math.exp(threshold),
        ci=None if level is None else _interval(trials, guess, at, best, cost, threshold, level, (low, high)),
        deviance=deviance,
        p=None if rng is None else _goodness(trials, accuracy, deviance, rng),
        log_likelihood=-cost,
        trials=int(trials.total.sum()),
    )


def _cost(
    trials: Trials, guess: float, midpoint: float, log_slope: float, lapse: float
) -> tuple[float, np.ndarray]:
    """Return the negative log likelihood and its gradient by (midpoint, log slope, lapse)."""
    slope = math.exp(log_slope)
    z = slope * (trials.log_ms - midpoint)
    rise = expit(z)
    span = 1 - guess - lapse
    accuracy = np.clip(guess + span * rise, 1e-9, 1 - 1e-9)
    wrong = trials.total - trials.right
    value = -float(trials.right @ np.log(accuracy) + wrong @ np.log1p(-accuracy))
    outer = wrong / (1 - accuracy) - trials.right / accuracy
    by_z = outer * span * rise * (1 - rise)
    return value, np.array([-slope * by_z.sum(), by_z @ z, -(outer @ rise)])


def _starts(trials: Trials, guess: float, bounds: list[tuple[float, float]]) -> list[np.ndarray]:
    """Return the two best points of a coarse grid."""
    middles = np.linspace(trials.log_ms.min() - 0.7, trials.log_ms.max() + 0.7, 9)
    grid = [
        np.array([middle, log_slope, lapse])
        for middle in middles
        for log_slope in np.log([1.0, 3.0, 9.0])
        for lapse in (0.02, 0.1, min(0.3, bounds[2][1]))
    ]
    costs = [_cost(trials, guess, *point)[0] for point in grid]
    return [grid[i] for i in np.argsort(costs)[:2]]


def _minimum(
    cost: Callable, bounds: list[tuple[float, float]], starts: list[np.ndarray]
) -> tuple[np.ndarray, float]:
    from scipy.optimize import minimize

    found = [minimize(cost, start, jac=True, method="L-BFGS-B", bounds=bounds) for start in starts]
    best = min(found, key=lambda one: one.fun)
    return best.x, float(best.fun)


def _profile(trials: Trials, guess: float, at: float, start: np.ndarray) -> Callable[[float], float]:
    """Return the least cost at a given log threshold, as a function; each search starts at the last end."""
    lapses = (_LAPSES[0], min(_LAPSES[1], (1 - at) * 0.999))
    state = np.array([start[1], min(start[2], lapses[1])])

    def least(threshold: float) -> float:
        def cost(x: np.ndarray) -> tuple[float, np.ndarray]:
            span = 1 - guess - x[1]
            reached = (at - guess) / span
            shift = float(logit(reached)) / math.exp(x[0])
            value, slopes = _cost(trials, guess, threshold - shift, x[0], x[1])
            by_lapse = 1 / (span * (1 - reached)) / math.exp(x[0])
            return value, np.array([slopes[1] + slopes[0] * shift, slopes[2] - slopes[0] * by_lapse])

        nonlocal state
        best = _minimum(cost, [_SLOPES, lapses], [state, np.array([math.log(3.0), lapses[1] / 4])])
        state = best[0]
        return best[1]

    return least


def _interval(
    trials: Trials,
    guess: float,
    at: float,
    best: np.ndarray,
    cost: float,
    threshold: float | None,
    level: float,
    reach: tuple[float, float],
) -> tuple[float | None, float | None]:
    """Return the thresholds at which twice the log likelihood has fallen by chi-squared's quantile."""
    from scipy.special import chdtri

    limit = cost + float(chdtri(1, 1 - level)) / 2
    ends = []
    for end, sign in zip(reach, (-1, 1), strict=True):
        least = _profile(trials, guess, at, best)
        inside = threshold if threshold is not None else reach[1]
        inside = min(max(inside, reach[0]), reach[1])
        if threshold is None and sign > 0:
            ends.append(None)
            continue
        ends.append(_crossing(least, inside, end, limit, sign))
    return ends[0], ends[1]


def _crossing(
    least: Callable[[float], float], inside: float, end: float, limit: float, sign: int
) -> float | None:
    """Return the exposure (ms) between `inside` and `end` where the profile crosses `limit`, or None."""
    step, here = 0.1, inside
    while True:
        there = here + sign * step
        if sign * (there - end) >= 0:
            return None
        if least(there) > limit:
            break
        here, step = there, step * 1.6
    for _ in range(14):
        middle = (here + there) / 2
        if least(middle) > limit:
            there = middle
        else:
            here = middle
    return math.exp((here + there) / 2)


def _deviance(right: np.ndarray, total: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """Return twice the log likelihood lost against the shares themselves; over the last axis."""
    wrong = total - right
    terms = xlogy(right, right / (total * accuracy)) + xlogy(wrong, wrong / (total * (1 - accuracy)))
    return 2 * terms.sum(axis=-1)


def _goodness(trials: Trials, accuracy: np.ndarray, deviance: float, rng: np.random.Generator) -> float:
    drawn = rng.binomial(trials.total, accuracy, (_SIMULATED, len(accuracy)))
    beyond = _deviance(drawn, trials.total, accuracy) >= deviance
    return float((beyond.sum() + 1) / (_SIMULATED + 1))
