"""The psychometric function: how accuracy rises with exposure, fitted by maximum likelihood.

accuracy(t) = guess + (1 - guess - lapse) / (1 + (midpoint / t)^slope), the logistic on log t, as in
`observer.PsychometricObserver`; `guess` is 0.5 if half of the stimuli are real and half fake; `lapse` is
fitted and includes stimuli that nobody can recognize at any exposure. The threshold is the exposure at
which accuracy reaches a stated value.

The interval of one evaluator's threshold is that of the profile likelihood, which assumes independent
answers. Those of several evaluators are clustered by evaluator: for the interval of a pooled threshold the
likelihood is scaled by the variance of the sandwich estimator of Huber (1967), summed by evaluator. The
goodness of fit is the deviance, compared with answers simulated from the fitted function (Wichmann and
Hill, 2001). From each simulated deviance the reduction by a refit of the free parameters is subtracted, to
second order; without that, fits look better than they are.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import chdtri, expit, logit, xlogy

from backend.analysis.distributions.inference import LEAST_PART, clustered, t_quantile
from backend.foundation.errors import InvalidInput

THRESHOLD_AT = 0.75  # halfway from chance to certainty for two alternatives
_SLOPES = (math.log(0.3), math.log(30.0))
_LAPSES = (0.0, 0.45)
_REACH = math.log(30.0)
"""Midpoint and threshold are searched for up to a factor of 30 beyond the exposures shown, on either side."""
_SIMULATED = 1000
_STEPS = 200
"""Maximum number of steps of a descent."""
_SMALLEST = 1e-9
"""Minimum distance of accuracies from 0 and 1, and tolerance of log likelihoods."""
_CLOSE = 1e-4
"""Tolerance of the ends of an interval, on the logarithm of ms."""


@dataclass(frozen=True)
class Trials:
    """Answers counted by exposure; arrays of shape (exposures,)."""

    exposure_ms: np.ndarray
    right: np.ndarray
    total: np.ndarray

    @cached_property
    def log_ms(self) -> np.ndarray:
        result: np.ndarray = np.log(self.exposure_ms)
        return result

    @classmethod
    def of(cls, exposure_ms: np.ndarray, was_right: np.ndarray) -> "Trials":
        """Count single answers.

        Raises:
            InvalidInput: no answers, different lengths, an exposure that is not a number above 0, or an
                answer that is neither right (1), wrong (0) nor half of either (0.5, `not_sure`).
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
        if not np.isin(was_right, (0, 0.5, 1)).all():
            raise InvalidInput("every answer must be right (1, True), wrong (0, False) or half of either")
        exposures, place = np.unique(exposure_ms, return_inverse=True)
        return cls(exposures, np.bincount(place, was_right.astype(float)), np.bincount(place))


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
    """None if accuracy levels off below `at`."""
    ci: tuple[float | None, float | None] | None
    """Interval of the threshold (ms); an open end is None. None if none was requested."""
    deviance: float
    p: float | None
    """Share of data sets simulated from the fit that fit as badly; a small share is a bad fit. None if it was
    not requested, or if there are no more exposures than free parameters."""
    log_likelihood: float
    trials: int
    shortest_ms: float
    longest_ms: float
    """The exposures that it was fitted to are from the former to the latter."""
    censored: str | None
    """`floor` if the threshold is below the shortest exposure, `ceiling` if it is above the longest or is not
    reached: then its value is an extrapolation; else None."""
    at_bound: tuple[str, ...]
    """Which of `midpoint_ms`, `slope` and `lapse` is at a bound of the search: its value is not an estimate,
    but the end of what was searched. (`lapse` at 0 is not named: it is the least possible.)"""

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
    """Return the maximum-likelihood fit.

    Args:
        at: accuracy of the threshold, between `guess` and 1.
        level: confidence level of the threshold's interval; None for no interval.
        rng: draws the data sets that the deviance is compared with; None for no comparison.

    Raises:
        InvalidInput: `guess` is not from 0 to below 1, `at` not between it and 1, or `level` not between 0
            and 1.
    """
    if level is not None and not 0 < level < 1:
        raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {level}")
    if not 0 <= guess < 1:
        raise InvalidInput(f"guess must be from 0 to below 1, not {guess}")
    if not guess < at < 1:
        raise InvalidInput(f"the threshold's accuracy must be between guess ({guess:g}) and 1, not {at}")
    low, high = reach = _reach(trials)
    lapses = (_LAPSES[0], min(_LAPSES[1], 0.9 * (1 - guess)))
    bounds = [(low, high), _SLOPES, lapses]
    best, cost = _minimum(lambda x: _slopes(trials, guess, x), trials, bounds, _starts(trials, guess, bounds))
    midpoint, log_slope, lapse = best.tolist()
    reached = (at - guess) / (1 - guess - lapse)
    threshold = midpoint + float(logit(reached)) / math.exp(log_slope) if reached < 1 else None
    accuracy, slopes = _slopes(trials, guess, best)
    is_free = np.array([low < x < high for x, (low, high) in zip(best, bounds, strict=True)])
    deviance = float(_deviance(trials.right, trials.total, accuracy))
    return Fit(
        midpoint_ms=math.exp(midpoint),
        slope=math.exp(log_slope),
        lapse=lapse,
        guess=guess,
        at=at,
        threshold_ms=None if threshold is None else math.exp(threshold),
        ci=None
        if level is None
        else _interval(trials, guess, at, best, cost, threshold, math.sqrt(chdtri(1, 1 - level)), reach),
        deviance=deviance,
        p=None if rng is None else _goodness(trials, accuracy, slopes[:, is_free], rng),
        log_likelihood=-cost,
        trials=int(trials.total.sum()),
        shortest_ms=float(trials.exposure_ms.min()),
        longest_ms=float(trials.exposure_ms.max()),
        censored=_censored(
            None if threshold is None else math.exp(threshold),
            float(trials.exposure_ms.min()),
            float(trials.exposure_ms.max()),
        ),
        at_bound=tuple(
            name
            for name, x, (low, high) in zip(("midpoint_ms", "slope", "lapse"), best, bounds, strict=True)
            if x >= high or (x <= low and low != _LAPSES[0])
        ),
    )


def limited(
    threshold_ms: float | None, ci: Sequence[float | None] | None, low: float, high: float
) -> dict[str, Any]:
    """Return a threshold limited to the exposures shown, and its interval.

    Args:
        threshold_ms: None if it is not reached.
        low, high: the shortest and the longest exposure (ms).

    Returns:
        `ms`; `ci`, whose lower end is None if it is below the shortest exposure, and its upper end if it is
        above the longest; `censored`, as of a `Fit`; `floor_ms` and `ceiling_ms`, the exposures.
    """
    ends = None
    if ci is not None:
        lower, upper = ci
        ends = [
            None if lower is None or lower <= low else min(lower, high),
            None if upper is None or upper >= high else max(upper, low),
        ]
    return {
        "ms": high if threshold_ms is None else min(max(threshold_ms, low), high),
        "ci": ends,
        "censored": _censored(threshold_ms, low, high),
        "floor_ms": low,
        "ceiling_ms": high,
    }


def _censored(threshold_ms: float | None, low: float, high: float) -> str | None:
    if threshold_ms is None or threshold_ms >= high:
        return "ceiling"
    return "floor" if threshold_ms <= low else None


def _reach(trials: Trials) -> tuple[float, float]:
    """Return the range of log ms in which midpoints and thresholds are searched for."""
    return trials.log_ms.min() - _REACH, trials.log_ms.max() + _REACH


def _cost(trials: Trials, accuracy: np.ndarray) -> float:
    """Return the negative log likelihood."""
    return -float(trials.right @ np.log(accuracy) + (trials.total - trials.right) @ np.log1p(-accuracy))


def _starts(trials: Trials, guess: float, bounds: list[tuple[float, float]]) -> list[np.ndarray]:
    """Return the two points of least cost in a coarse grid."""
    middles = np.linspace(trials.log_ms.min() - 0.7, trials.log_ms.max() + 0.7, 9)
    grid = [
        np.array([middle, log_slope, lapse])
        for middle in middles
        for log_slope in np.log([1.0, 3.0, 9.0])
        for lapse in (0.02, 0.1, min(0.3, bounds[2][1]))
    ]
    costs = [_cost(trials, _slopes(trials, guess, point)[0]) for point in grid]
    return [grid[i] for i in np.argsort(costs)[:2]]


def _minimum(
    curve: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    trials: Trials,
    bounds: list[tuple[float, float]],
    starts: list[np.ndarray],
) -> tuple[np.ndarray, float]:
    """Return the parameters of least cost within bounds, and the cost.

    This is Fisher scoring with the damping of Levenberg and Marquardt: a dozen steps in two or three
    parameters, for which a general optimiser would consist mostly of overhead.

    Args:
        curve: returns accuracy and its derivatives with respect to the parameters.
    """
    low, high = np.array(bounds).T
    minima = [_descended(curve, trials, low, high, np.clip(start, low, high)) for start in starts]
    return min(minima, key=lambda one: one[1])


def _descended(
    curve: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    trials: Trials,
    low: np.ndarray,
    high: np.ndarray,
    x: np.ndarray,
) -> tuple[np.ndarray, float]:
    accuracy, slopes = curve(x)
    cost, damping = _cost(trials, accuracy), 1e-3
    for _ in range(_STEPS):
        weights = 1 / (accuracy * (1 - accuracy))
        down = ((trials.right - trials.total * accuracy) * weights) @ slopes
        information = slopes.T @ (slopes * (trials.total * weights)[:, None])
        is_free = np.where(down > 0, x < high, x > low)
        if not is_free.any():
            break
        kept = information[np.ix_(is_free, is_free)]
        scale = np.diag(kept) + _SMALLEST
        while True:
            there = x.copy()
            there[is_free] += np.linalg.solve(kept + np.diag(damping * scale), down[is_free])
            there = np.clip(there, low, high)
            accuracy, slopes = curve(there)
            lower = _cost(trials, accuracy)
            if lower <= cost or damping > 1e8:
                break
            damping *= 5
        gain = cost - lower
        if gain < 0:
            break
        x, cost, damping = there, lower, max(damping / 10, 1e-9)
        if gain < _SMALLEST:
            break
    return x, cost


def _profile(trials: Trials, guess: float, at: float, start: np.ndarray) -> Callable[[float], float]:
    """Return a function for the least cost at a given log threshold; it starts from its last result."""
    lapses = (_LAPSES[0], min(_LAPSES[1], (1 - at) * 0.999))
    starts = [np.array([start[1], min(start[2], lapses[1])]), np.array([math.log(3.0), lapses[1] / 4])]

    def least(threshold: float) -> float:
        def curve(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            span = 1 - guess - x[1]
            reached = (at - guess) / span
            shift = float(logit(reached)) / math.exp(x[0])
            accuracy, slopes = _slopes(trials, guess, np.array([threshold - shift, x[0], x[1]]))
            by_lapse = 1 / (span * (1 - reached)) / math.exp(x[0])
            by_midpoint, by_slope, by_own_lapse = slopes.T
            return accuracy, np.stack(
                [by_slope + by_midpoint * shift, by_own_lapse - by_midpoint * by_lapse], axis=1
            )

        nonlocal starts
        best = _minimum(curve, trials, [_SLOPES, lapses], starts)
        starts = [best[0]]
        return best[1]

    return least


def _interval(
    trials: Trials,
    guess: float,
    at: float,
    best: np.ndarray,
    cost: float,
    threshold: float | None,
    limit: float,
    reach: tuple[float, float],
) -> tuple[float | None, float | None]:
    """Return the thresholds at which twice the log likelihood has decreased by the square of `limit`."""
    is_open = threshold is None
    if threshold is None:  # start from the likeliest threshold on a grid
        least = _profile(trials, guess, at, best)
        start: float = min(np.linspace(trials.log_ms.min(), reach[1], 16).tolist(), key=least)
    else:
        start = threshold
    inside = min(max(start, reach[0]), reach[1])

    def end(sign: int) -> float | None:
        least = _profile(trials, guess, at, best)
        return _crossing(lambda x: math.sqrt(max(0.0, 2 * (least(x) - cost))) - limit, inside, sign, reach)

    return end(-1), None if is_open else end(1)


def _crossing(
    excess: Callable[[float], float], inside: float, sign: int, reach: tuple[float, float]
) -> float | None:
    """Return the exposure (ms) beyond `inside` from which `excess` is above 0; None if it is out of reach.

    The square root of twice the decrease in log likelihood is nearly linear, so that false position (with
    the Illinois rule) needs few steps.
    """
    here, at_here, step = inside, excess(inside), 0.1
    if at_here > 0:
        return math.exp(inside)
    while True:
        there = here + sign * step
        if not reach[0] < there < reach[1]:
            return None
        at_there = excess(there)
        if at_there > 0:
            break
        here, at_here, step = there, at_there, step * 1.6
    last = 0
    while abs(there - here) > _CLOSE:
        middle = there - at_there * (there - here) / (at_there - at_here)
        excesses = excess(middle)
        if abs(excesses) < _CLOSE:
            return math.exp(middle)
        if excesses > 0:
            there, at_there = middle, excesses
            at_here *= 0.5 if last > 0 else 1
        else:
            here, at_here = middle, excesses
            at_there *= 0.5 if last < 0 else 1
        last = 1 if excesses > 0 else -1
    return math.exp((here + there) / 2)


def _slopes(trials: Trials, guess: float, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return accuracy (exposures,) and its derivatives in log midpoint, log slope, lapse (exposures, 3)."""
    slope, span = math.exp(x[1]), 1 - guess - x[2]
    z = slope * (trials.log_ms - x[0])
    rise = expit(z)
    by_z = span * rise * (1 - rise)
    accuracy = np.clip(guess + span * rise, _SMALLEST, 1 - _SMALLEST)
    return accuracy, np.stack([-slope * by_z, z * by_z, -rise], axis=1)


def _deviance(right: np.ndarray, total: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """Return twice the loss in log likelihood against the saturated model, over the last axis."""
    wrong = total - right
    terms = xlogy(right, right / (total * accuracy)) + xlogy(wrong, wrong / (total * (1 - accuracy)))
    result: np.ndarray = 2 * terms.sum(axis=-1)
    return result


def _goodness(
    trials: Trials, accuracy: np.ndarray, slopes: np.ndarray, rng: np.random.Generator
) -> float | None:
    """Return the share of simulated data sets whose deviance after a refit is at least as large.

    A refit reduces the deviance by s' I^-1 s, with s the score and I the information of the free
    parameters at the fit, up to terms of higher order.
    """
    if len(accuracy) <= slopes.shape[1]:
        return None
    drawn = np.vstack([trials.right, rng.binomial(trials.total, accuracy, (_SIMULATED, len(accuracy)))])
    variance = accuracy * (1 - accuracy)
    scores = (drawn - trials.total * accuracy) / variance @ slopes
    information = slopes.T @ (slopes * (trials.total / variance)[:, None])
    taken_off = np.einsum("si,ij,sj->s", scores, np.linalg.pinv(information, hermitian=True), scores)
    # the same of the data observed, so that data sets like them fit exactly as badly
    observed, *simulated = (_deviance(drawn, trials.total, accuracy) - taken_off).tolist()
    beyond: int = sum(each >= observed - _SMALLEST for each in simulated)
    return (beyond + 1) / (_SIMULATED + 1)


def profile_over_evaluators(
    trials: Trials, fit: Fit, by_evaluator: Sequence[Trials], level: float
) -> tuple[float | None, float | None] | None:
    """Return the profile likelihood interval (ms) of the threshold of a fit to the answers of several people.

    The likelihood is scaled by the ratio of the threshold's variance over evaluators to that of independent
    answers (Rotnitzky and Jewell, 1990), which is at least `LEAST_PART`; where the threshold is not reached,
    by that of the number of right answers. It is compared with the square of Student's quantile. An end that
    the answers do not bound is None; None for a single evaluator.

    Args:
        trials: all answers.
    """
    people = len(by_evaluator)
    if people < 2:
        return None
    found = _influence(fit, by_evaluator)
    ratio = clustered(found[0]).variance / found[1] if found else _variance_ratio(fit, by_evaluator)
    limit = t_quantile(people - 1, level) * math.sqrt(max(LEAST_PART, ratio))
    best = np.array([math.log(fit.midpoint_ms), math.log(fit.slope), fit.lapse])
    threshold = None if fit.threshold_ms is None else math.log(fit.threshold_ms)
    cost = -fit.log_likelihood
    return _interval(trials, fit.guess, fit.at, best, cost, threshold, limit, _reach(trials))


def _variance_ratio(fit: Fit, by_evaluator: Sequence[Trials]) -> float:
    """Return the variance over evaluators of the number of right answers, relative to independent ones."""
    residuals, variance = [], 0.0
    for trials in by_evaluator:
        accuracy = np.clip(fit.accuracy(trials.exposure_ms), _SMALLEST, 1 - _SMALLEST)
        residuals.append(float((trials.right - trials.total * accuracy).sum()))
        variance += float((trials.total * accuracy * (1 - accuracy)).sum())
    return float(clustered(np.array(residuals)).variance) / variance


def _influence(fit: Fit, by_evaluator: Sequence[Trials]) -> tuple[np.ndarray, float] | None:
    """Return each evaluator's influence on the log threshold, and its variance if answers are independent.

    None if the threshold is not reached, or the answers do not determine its variance.
    """
    if fit.threshold_ms is None:
        return None
    x = np.array([math.log(fit.midpoint_ms), math.log(fit.slope), fit.lapse])
    is_free = np.array([True, _SLOPES[0] < x[1] < _SLOPES[1], x[2] > _LAPSES[0]])
    scores, information = [], np.zeros((3, 3))
    for trials in by_evaluator:
        accuracy, slopes = _slopes(trials, fit.guess, x)
        variance = accuracy * (1 - accuracy)
        scores.append((trials.right - trials.total * accuracy) / variance @ slopes)
        information += slopes.T @ (slopes * (trials.total / variance)[:, None])
    span = 1 - fit.guess - fit.lapse
    reached = (fit.at - fit.guess) / span
    by_x = np.array([1.0, -float(logit(reached)) / fit.slope, 1 / (span * (1 - reached)) / fit.slope])
    kept = information[np.ix_(is_free, is_free)]
    if not np.linalg.cond(kept) <= 1e12:
        return None
    by_free = np.linalg.solve(kept, by_x[is_free])
    return np.array(scores)[:, is_free] @ by_free, float(by_x[is_free] @ by_free)
