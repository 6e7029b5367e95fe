"""Boundaries of planned looks: how far apart scores must be at each, so that all looks err as often as one.

At look k a study has the information I_k, one over the variance of its estimate, and the statistic
S_k = Z_k sqrt(I_k) moves by independent normal steps of variance I_k - I_{k-1} (Jennison and Turnbull, 2000,
chapter 3). The error that may be spent until each look is fixed beforehand (Lan and DeMets, 1983); the
boundary that spends it follows by recursive integration (Armitage, McPherson and Rowe, 1969), here by
Gauss-Legendre quadrature with several nodes for each standard deviation of a step.

Two conventions are both called "Lan-DeMets, O'Brien-Fleming shape": each of two sides spends alpha / 2 by a
function of its own (ldbounds and gsDesign of R), or the whole alpha is spent by one function and halved.

The error is spent by evaluators n / N, which is known beforehand. Pictures that evaluators share add a
variance that more evaluators do not lower, so that information is 1 / (A / n + P) and grows more slowly:
looks are then more alike than n / N says, and the boundaries err less often than planned.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

_NODES, _MOST_SIZE = 24, 24
"""Nodes for each four standard deviations of a step, and the largest number of such parts of a range."""
_FARTHEST = 38.0
"""Standard deviations beyond which the normal distribution is 0 in double precision."""
_REACH = 8.5
"""Standard deviations within which all but 1e-16 of a statistic lies."""


def _obrien_fleming(fraction: np.ndarray, alpha: float) -> np.ndarray:
    result: np.ndarray = 2 * ndtr(ndtri(alpha / 2) / np.sqrt(fraction))
    return result


def _pocock(fraction: np.ndarray, alpha: float) -> np.ndarray:
    result: np.ndarray = alpha * np.log1p((math.e - 1) * fraction)
    return result


Numbers = Sequence[float] | np.ndarray
OBRIEN_FLEMING = "obrien-fleming"
SPENDING: Mapping[str, Callable[[np.ndarray, float], np.ndarray]] = {
    OBRIEN_FLEMING: lambda fraction, alpha: 2 * _obrien_fleming(fraction, alpha / 2),
    "obrien-fleming-whole": _obrien_fleming,
    "pocock": _pocock,
}
"""The two-sided error that may be spent until a share (0 to 1) of the evaluators has finished, by name."""


@dataclass(frozen=True)
class Stops:
    """How studies with one true effect stop."""

    above: np.ndarray
    """Probability of crossing the upper boundary at each look, for the first time: shape (looks,)."""
    below: np.ndarray
    """The same of the lower boundary."""
    estimate: float
    """Expected estimate of the effect when the study stops."""

    @property
    def rejects(self) -> float:
        """Probability of crossing a boundary at any look."""
        return float(self.above.sum() + self.below.sum())


def spent(fractions: Numbers, alpha: float, spending: str = OBRIEN_FLEMING) -> np.ndarray:
    """Return the two-sided error that may be spent until each look: shape (looks,).

    Args:
        fractions: share of the planned evaluators at each look, rising to 1.
        alpha: error of all looks together.
    """
    return SPENDING[spending](np.asarray(fractions, float), alpha)


def one_sided_spent(fractions: Numbers, alpha: float, spending: str = OBRIEN_FLEMING) -> np.ndarray:
    """Return the error that a one-sided test of level `alpha` may spend until each look."""
    if spending == OBRIEN_FLEMING:  # each of its sides has a function of its own
        return spent(fractions, 2 * alpha) / 2
    return spent(fractions, alpha, spending)


def boundaries(information: Numbers, errors: Numbers, sides: int = 2) -> np.ndarray:
    """Return the z beyond which each look stops: shape (looks,).

    Args:
        information: at each look, rising; in any unit.
        errors: error that may be spent until each look, of all `sides`.
        sides: 2 if |Z| is compared, 1 if Z is.
    """
    state, bounds = _State.start(), []
    steps, new_errors = np.diff(information, prepend=0.0), np.diff(errors, prepend=0.0)
    for at, error, step in zip(information, new_errors, steps, strict=True):
        bounds.append(_boundary(state, at, step, error, sides))
        state = state.after(0.0, step, at, *_limits(bounds[-1] * math.sqrt(at), sides))
    return np.array(bounds)


def _boundary(state: "_State", information: float, step: float, error: float, sides: int) -> float:
    """Return the z beyond which a step leads with the probability `error`."""

    def excess(z: float) -> float:
        return sum(state.exits(0.0, step, *_limits(z * math.sqrt(information), sides))) - error

    if excess(_FARTHEST) >= 0:
        return _FARTHEST
    return float(brentq(excess, 0.0 if sides == 2 else -_FARTHEST, _FARTHEST))


def stops(information: Numbers, bounds: Numbers, effect: float = 0.0, sides: int = 2) -> Stops:
    """Return where studies stop, with boundaries `bounds` in z, if Z has the mean `effect` sqrt(I).

    Args:
        information: at each look, rising: one over the variance of the estimate of the effect.
    """
    state, above, below, estimate = _State.start(), [], [], 0.0
    steps = np.diff(information, prepend=0.0)
    for k, (at, bound, step) in enumerate(zip(information, bounds, steps, strict=True)):
        low, high = _limits(bound * math.sqrt(at), sides)
        left, right = state.exits(effect, step, low, high)
        below.append(left)
        above.append(right)
        is_last = k == len(bounds) - 1
        estimate += (state.mean(effect, step) if is_last else state.exit_sum(effect, step, low, high)) / at
        state = state.after(effect, step, at, low, high)
    return Stops(np.array(above), np.array(below), estimate)


def bias_at_stop(information: Numbers, bounds: Numbers, effect: float) -> float:
    """Return by how much the estimate at the stop exceeds a true `effect` on average."""
    return stops(information, bounds, effect).estimate - effect


def p_at_stop(information: Numbers, bounds: Numbers, z: float) -> float:
    """Return the two-sided p of a study that stopped at the last of these looks with the statistic `z`.

    Studies that stop earlier count as farther from no effect, and those of the same look by |z| (stage-wise
    ordering: Fairbanks and Madsen, 1982), so that p is uniform without effect, whenever the study stops.

    Args:
        bounds: of the looks before the last.
    """
    return stops(information, [*bounds, abs(z)]).rejects


@dataclass(frozen=True)
class _State:
    """The distribution of S among studies that have not stopped, as weights of points."""

    points: np.ndarray
    weights: np.ndarray

    @classmethod
    def start(cls) -> "_State":
        return cls(np.zeros(1), np.ones(1))

    def exits(self, effect: float, step: float, low: float, high: float) -> tuple[float, float]:
        """Return the probability of a step to below `low`, and of one to above `high`."""
        middle, sd = self.points + effect * step, math.sqrt(step)
        return (
            float(self.weights @ ndtr((low - middle) / sd)),
            float(self.weights @ ndtr((middle - high) / sd)),
        )

    def mean(self, effect: float, step: float) -> float:
        """Return the sum of S after a step, over all studies that have not stopped."""
        return float(self.weights @ (self.points + effect * step))

    def exit_sum(self, effect: float, step: float, low: float, high: float) -> float:
        """Return the sum of S over the studies that leave the limits."""
        middle, sd = self.points + effect * step, math.sqrt(step)
        down, up = (low - middle) / sd, (high - middle) / sd
        density = (np.exp(-(up**2) / 2) - np.exp(-(down**2) / 2)) / math.sqrt(2 * math.pi)
        return float(self.weights @ (middle * (ndtr(down) + ndtr(-up)) + sd * density))

    def after(self, effect: float, step: float, information: float, low: float, high: float) -> "_State":
        """Return the distribution after a step, within the limits."""
        middle, sd = effect * information, math.sqrt(step)
        reach = _REACH * math.sqrt(information)
        low, high = max(low, middle - reach), min(high, middle + reach)
        if low >= high:
            return _State(np.zeros(1), np.zeros(1))
        nodes, weights = _quadrature(1 + math.ceil((high - low) / sd / 4))
        half = (high - low) / 2
        points = low + half * (nodes + 1)
        apart = (points[:, None] - self.points - effect * step) / sd
        density = np.exp(-(apart**2) / 2) @ self.weights / (sd * math.sqrt(2 * math.pi))
        return _State(points, half * weights * density)


@lru_cache(maxsize=32)
def _quadrature(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights between -1 and 1 for a range of `size` times four standard deviations."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES * min(size, _MOST_SIZE))
    return nodes, weights


def _limits(bound: float, sides: int) -> tuple[float, float]:
    return -bound if sides == 2 else -math.inf, bound
