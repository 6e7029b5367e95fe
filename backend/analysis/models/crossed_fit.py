"""The fit of the crossed model: its effects, averaged over the posterior of their standard deviations.

The posterior of the standard deviations is explored from its mode: its curvature there, then two points
along each of its principal axes, as in INLA (Rue, Martino and Chopin, 2009, 6.5). Intervals so account for
not knowing the standard deviations: a mixture of normal distributions over these points gives the effects,
and the density along each axis, from its values and slopes at these points, the standard deviations. All
this is done with their roots, whose posterior is nearly symmetric, also
where an SD may be 0; that of their logarithms has a long tail there.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from backend.analysis.models.crossed_posterior import SCALE, Design, Posterior, State

EFFECTS = ("criterion", "sensitivity", "reals", "fakes")
"""What the four standard deviations are of: evaluators' criterion and sensitivity, real and fake pictures."""
_POWER = 3
"""Of the roots of SDs with which all is done."""
_LOWEST, _HIGHEST, _START = (sd ** (1 / _POWER) for sd in (0.003, 5.0, 0.4))
_STEP = 0.03
_RADIUS = 2.2
"""Distance of the points from the mode, in SDs; above 2, the root of the number of dimensions."""
_MOST_STEPS, _NEAR_MODE = 25, 2e-3
_LEAST_CURVATURE = 1.0
_POINTS = 4096
_FARTHEST, _CELLS = 8.0, 1601
_LEAST_SLOPE = 0.5
_PLASTIC = 1.1673039782614187
"""The root of x^5 = x + 1, which spreads a sequence evenly over four dimensions (Roberts, 2018)."""


@dataclass(frozen=True)
class Estimate:
    """A posterior mean with its standard deviation."""

    mean: float
    sd: float

    def interval(self, level: float) -> tuple[float, float]:
        far = float(ndtri((1 + level) / 2)) * self.sd
        return self.mean - far, self.mean + far


@dataclass(frozen=True)
class Fit:
    """The posterior of a design's effects."""

    design: Design
    sides: np.ndarray
    """Means of the sides. Shape (sides,)."""
    sides_cov: np.ndarray
    """Shape (sides, sides)."""
    sensitivities: np.ndarray
    """Mean and SD of each evaluator's d', over the models that they judged; NaN for who judged only reals or
    only fakes. Shape (2, evaluators)."""
    criteria: np.ndarray
    """Mean and SD of each evaluator's c. Shape (2, evaluators)."""
    pictures: np.ndarray
    """Mean and SD of each picture's predictor for an average evaluator. Shape (2, pictures)."""
    sds: np.ndarray
    """Points spread over the posterior of the standard deviations. Shape (points, 4)."""

    def contrast(self, weights: Mapping[tuple[str, bool], float]) -> Estimate:
        """Return the estimate of a weighted sum of sides."""
        w = np.array([weights.get(side, 0.0) for side in self.design.sides])
        return Estimate(float(w @ self.sides), math.sqrt(float(w @ self.sides_cov @ w)))

    def sensitivity(self, model: str) -> Estimate:
        """Return a model's d'."""
        return self.contrast({(model, True): 1.0, self._reals(model): -1.0})

    def criterion(self, model: str) -> Estimate:
        """Return the criterion c of those who judged a model; above 0 they lean to "real"."""
        return self.contrast({(model, True): -0.5, self._reals(model): -0.5})

    def difference(self, model: str, other: str) -> Estimate:
        """Return the difference of two models' d'."""
        weights = {(model, True): 1.0, (other, True): -1.0}
        if self._reals(model) != self._reals(other):
            weights |= {self._reals(model): -1.0, self._reals(other): 1.0}
        return self.contrast(weights)

    def standard_deviation(self, effect: str, level: float) -> tuple[float, float, float]:
        """Return the median of one of `EFFECTS`, and its interval.

        The interval has equal tails, but where the shortest one begins at 0, it is that one.
        """
        points = np.sort(self.sds[:, EFFECTS.index(effect)])
        middle, low, high = np.quantile(points, [0.5, (1 - level) / 2, (1 + level) / 2])
        inside = math.ceil(level * len(points))
        if points[inside - 1] <= (points[inside:] - points[:-inside]).min():
            low, high = 0.0, points[inside - 1]
        return float(middle), float(low), float(high)

    def has_reals(self, model: str) -> bool:
        """Return whether those who judged a model judged reals too."""
        return self._reals(model) in self.design.sides

    def _reals(self, model: str) -> tuple[str, bool]:
        return (model, False) if (model, False) in self.design.sides else ("", False)


def fit(design: Design) -> Fit:
    """Return the posterior of a design's effects."""
    posterior = Posterior(design)
    mode = _mode(posterior, design)
    values, vectors = np.linalg.eigh(_hessian(posterior, design, mode))
    axes = vectors / np.sqrt(np.maximum(values, _LEAST_CURVATURE))
    summaries = _Summaries(design)
    middle = _at(posterior, mode)
    best = log_density(mode, middle)
    moments, weights, spread = [summaries.of(middle)], [1.0], np.empty((_POINTS, 4))
    uniform = (0.5 + np.outer(np.arange(1, _POINTS + 1), _PLASTIC ** -np.arange(1.0, 5.0))) % 1
    for axis in range(4):
        sides = []
        for sign in (-1, 1):
            direction = sign * axes[:, axis]
            far = _distance(mode, direction)
            point = mode + far * direction
            state = _at(posterior, point)
            fall = best - log_density(point, state)
            moments.append(summaries.of(state))
            weights.append(math.exp(far**2 / 2 - fall) / (2 * (_RADIUS**2 - 4)))
            sides.append((far, fall, float(gradient(design, point, state)[0] @ direction)))
        spread[:, axis] = _quantiles(uniform[:, axis], *sides)
    return summaries.averaged(moments, weights, np.abs(mode + spread @ axes.T) ** _POWER)


def _at(posterior: Posterior, roots: np.ndarray, close: float = 1e-4) -> State:
    return posterior.at(_POWER * np.log(roots), close)


def _distance(mode: np.ndarray, direction: np.ndarray) -> float:
    """Return `_RADIUS`, or how far one can go from the mode in a direction within the bounds."""
    with np.errstate(divide="ignore"):
        room = np.where(direction > 0, _HIGHEST - mode, mode - _LOWEST) / np.abs(direction)
    return min(float(room.min()), _RADIUS)


def log_density(roots: np.ndarray, state: State) -> float:
    """Return the log density of the standard deviations' roots, but for a constant."""
    return state.log_evidence + float(
        np.sum((_POWER - 1) * np.log(roots) - roots ** (2 * _POWER) / (2 * SCALE**2))
    )


def gradient(design: Design, roots: np.ndarray, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Return the gradient of `log_density`, and about how much the data tell of each root: information."""
    variances = roots ** (2 * _POWER)
    means, uncertain = state.evaluators(len(design.sides))
    fakes = design.is_fake_picture
    parts = [*zip(means, uncertain, strict=True)]
    parts += [(state.picture_mean[side], state.picture_var[side]) for side in (~fakes, fakes)]
    slopes, information = np.empty(4), np.empty(4)
    for k, (mean, var) in enumerate(parts):
        slopes[k] = ((mean**2 + var) / variances[k] - 1).sum()
        information[k] = 2 * np.square(1 - np.minimum(var / variances[k], 1)).sum()
    prior = variances / SCALE**2
    slopes = (_POWER * (slopes - prior) + _POWER - 1) / roots
    return slopes, (_POWER**2 * (information + 2 * prior) + _POWER - 1) / roots**2


def _mode(posterior: Posterior, design: Design) -> np.ndarray:
    """Return the mode of the roots of the standard deviations, by a quasi-Newton method (BFGS)."""
    at = np.full(4, _START)
    slope, information = gradient(design, at, _at(posterior, at, 1e-2))
    curvature = np.diag(information)
    for _ in range(_MOST_STEPS):
        step = np.clip(np.linalg.solve(curvature, slope), -at / 2, 1)
        new = np.clip(at + step, _LOWEST, _HIGHEST)
        step = new - at
        if step @ slope < _NEAR_MODE:
            break
        found, _ = gradient(design, new, _at(posterior, new, 1e-3))
        curvature = _updated(curvature, step, slope - found)
        at, slope = new, found
    return at


def _updated(curvature: np.ndarray, step: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return the curvature after a step that changed the slope by `-change` (Powell's damped BFGS)."""
    expected = curvature @ step
    product = float(step @ expected)
    if step @ change < 0.2 * product:
        part = 0.8 * product / (product - float(step @ change))
        change = part * change + (1 - part) * expected
    return (
        curvature - np.outer(expected, expected) / product + np.outer(change, change) / float(step @ change)
    )


def _hessian(posterior: Posterior, design: Design, mode: np.ndarray) -> np.ndarray:
    """Return the negative second derivatives of the log density, from differences of its gradient."""
    rows = []
    for k in range(4):
        slopes, ends = [], []
        for sign in (-1, 1):
            point = mode.copy()
            point[k] = np.clip(point[k] + sign * _STEP, _LOWEST, _HIGHEST)
            slopes.append(gradient(design, point, _at(posterior, point, 1e-3))[0])
            ends.append(point[k])
        rows.append((slopes[0] - slopes[1]) / (ends[1] - ends[0]))
    result: np.ndarray = (np.array(rows) + np.array(rows).T) / 2
    return result


def _quantiles(
    uniform: np.ndarray, below: tuple[float, float, float], above: tuple[float, float, float]
) -> np.ndarray:
    """Return quantiles of a density along an axis, whose mode is 0.

    Args:
        uniform: the quantiles' probabilities.
        below, above: a point's distance from 0, how much lower the log density is there, and its slope
            away from 0. Between the points the log density is cubic, and beyond them linear.
    """
    grid = np.linspace(-_FARTHEST, _FARTHEST, _CELLS)
    log = np.where(grid < 0, _one_side(-grid, *below), _one_side(grid, *above))
    mass = np.cumsum(np.exp(log - log.max()))
    result: np.ndarray = np.interp(uniform, (mass - mass[0]) / (mass[-1] - mass[0]), grid)
    return result


def _one_side(z: np.ndarray, far: float, fall: float, slope: float) -> np.ndarray:
    """Return the log density at distances `z` from the mode, but for a constant."""
    slope = min(slope, -_LEAST_SLOPE)
    t = z / far
    cubic = -fall * t**2 * (3 - 2 * t) + far * slope * t**2 * (t - 1)
    return np.where(z <= far, cubic, -fall + slope * (z - far))


@dataclass(frozen=True)
class _Summary:
    """What is reported of a state: means and (co)variances."""

    sides: np.ndarray
    sides_cov: np.ndarray
    means: np.ndarray
    """d' of evaluators, their c, and the pictures' predictors, one after the other."""
    variances: np.ndarray


class _Summaries:
    """Reduces states to summaries, and averages these."""

    def __init__(self, design: Design):
        self._design = design
        self._judged = [_shares(design, side, design.evaluator, design.evaluators) for side in (False, True)]
        self._shown = _shares(design, None, design.picture, design.pictures)

    def of(self, state: State) -> _Summary:
        sides, people = len(self._design.sides), self._design.evaluators
        cov = state.cov[:sides, :sides]
        means, own, cross = [], [], []
        for half, share in enumerate(self._judged):
            mine = slice(sides + half * people, sides + (half + 1) * people)
            with_sides = state.cov[:sides, mine].T
            means.append(share @ state.mean[:sides] + state.mean[mine])
            own.append(_quadratic(share, cov, share) + 2 * (share * with_sides).sum(axis=1))
            own[-1] += np.diagonal(state.cov)[mine]
            cross.append(with_sides)
        reals, fakes = self._judged
        both = _quadratic(reals, cov, fakes) + (reals * cross[1]).sum(axis=1) + (fakes * cross[0]).sum(axis=1)
        both += np.diagonal(state.cov[sides : sides + people, sides + people :])
        pictures = _quadratic(self._shown, cov, self._shown) + state.picture_var
        pictures += 2 * (self._shown * state.picture_sides).sum(axis=1)
        return _Summary(
            state.mean[:sides],
            cov.copy(),
            np.concatenate(
                [
                    means[1] - means[0],
                    -(means[0] + means[1]) / 2,
                    self._shown @ state.mean[:sides] + state.picture_mean,
                ]
            ),
            np.concatenate([own[0] + own[1] - 2 * both, (own[0] + own[1] + 2 * both) / 4, pictures]),
        )

    def averaged(self, summaries: Sequence[_Summary], weights: Sequence[float], sds: np.ndarray) -> Fit:
        """Return the fit that is a mixture of states with these weights."""
        share = np.array(weights) / math.fsum(weights)
        sides = share @ np.array([one.sides for one in summaries])
        apart = [one.sides - sides for one in summaries]
        sides_cov = sum(
            p * (one.sides_cov + np.outer(far, far))
            for p, one, far in zip(share, summaries, apart, strict=True)
        )
        means = np.array([one.means for one in summaries])
        mean = share @ means
        variances = share @ (np.array([one.variances for one in summaries]) + (means - mean) ** 2)
        people = self._design.evaluators
        both = np.stack([mean, np.sqrt(variances)])
        return Fit(
            self._design, sides, sides_cov, both[:, :people], both[:, people : 2 * people],
            both[:, 2 * people :], sds,
        )  # fmt: skip


def _shares(design: Design, is_fake: bool | None, of: np.ndarray, size: int) -> np.ndarray:
    """Return the share of each side in the responses of an evaluator, or to a picture.

    Args:
        is_fake: count only responses to fakes, or to reals; None for all.
        of: the evaluator or the picture of each response.

    Returns:
        Shape (size, sides); NaN for who has no such response.
    """
    kept = slice(None) if is_fake is None else design.is_fake == is_fake
    sides = len(design.sides)
    counts = np.bincount(of[kept] * sides + design.side[kept], minlength=size * sides).reshape(size, sides)
    with np.errstate(invalid="ignore"):
        result: np.ndarray = counts / counts.sum(axis=1, keepdims=True)
        return result


def _quadratic(left: np.ndarray, cov: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return the covariance of each row's two weighted sums of sides."""
    result: np.ndarray = ((left @ cov) * right).sum(axis=1)
    return result
