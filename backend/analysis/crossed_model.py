"""A signal-detection model with crossed random effects of evaluators and pictures (HYPE-infinity).

    P("fake") = Phi(b_side + e_j + f_j x + u_i),  x = 1/2 for a fake, -1/2 for a real picture.

b_side is the mean of one side: the fakes of a model, or the reals. Where each evaluator judged one model,
the reals of each model's evaluators have a mean of their own, since people judge reals otherwise beside
better fakes. e_j is the evaluator's readiness to say "fake" (the negative criterion), f_j what the
evaluator's sensitivity differs from the mean, u_i what the picture differs from its side; all are normal
with mean 0, and their four standard deviations are estimated. A model's sensitivity is d' = b_fakes -
b_reals, its criterion c = -(b_fakes + b_reals) / 2: for an average evaluator and an average picture.

The posterior is computed by expectation propagation (Minka, 2001), which for probit models is closer than
Laplace's approximation where pictures have few responses, with all effects in one joint normal
distribution; pictures are eliminated from it first. The standard deviations are integrated over nine points
about their mode, as in INLA (Rue, Martino and Chopin, 2009, 6.5): intervals account for not knowing them.
Priors: normal with SD 5 for the sides, half-normal with SD 1 for the standard deviations.

Rouder and Lu (2005) propose this model, without the parts for models, for recognition memory.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import log_ndtr, ndtri

from backend.analysis.response_table import Answers

EFFECTS = ("criterion", "sensitivity", "reals", "fakes")
"""What the four standard deviations are of: evaluators' criterion and sensitivity, real and fake pictures."""
MOST_EVALUATORS = 300
"""Of more the model is not fitted for a report: the time grows with their number to the third power."""
_SIDE_SD, _SCALE = 5.0, 1.0
_LOWEST, _HIGHEST = math.log(0.01), math.log(5.0)
_START = math.log(0.4)
_MOST_SWEEPS, _CLOSE = 60, 1e-5
_STEP = 0.1
_RADIUS = 1.1
_CHUNK = 2_000
_LOG_2_PI = math.log(2 * math.pi)


@dataclass(frozen=True)
class Design:
    """Which effects each response has. Arrays have the shape (responses,) unless told otherwise."""

    sides: Sequence[tuple[str, bool]]
    """Model (or '' for reals that all share) and whether fake, of each side."""
    side: np.ndarray
    evaluator: np.ndarray
    picture: np.ndarray
    is_fake: np.ndarray
    said_fake: np.ndarray
    evaluators: int
    pictures: int

    @cached_property
    def is_fake_picture(self) -> np.ndarray:
        """Shape (pictures,)."""
        found = np.zeros(self.pictures, bool)
        found[self.picture[self.is_fake]] = True
        return found

    @cached_property
    def columns(self) -> np.ndarray:
        """The side, the evaluator's criterion and sensitivity of each response. Shape (responses, 3)."""
        first = len(self.sides)
        return np.stack([self.side, first + self.evaluator, first + self.evaluators + self.evaluator], axis=1)

    @cached_property
    def weights(self) -> np.ndarray:
        """The coefficients of `columns`. Shape (responses, 3)."""
        ones = np.ones(len(self.side))
        return np.stack([ones, ones, np.where(self.is_fake, 0.5, -0.5)], axis=1)

    @property
    def size(self) -> int:
        """Number of effects but those of pictures."""
        return len(self.sides) + 2 * self.evaluators


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
    """The posterior, as a mixture of normal distributions."""

    design: Design
    sides: np.ndarray
    """Means of the sides. Shape (sides,)."""
    sides_cov: np.ndarray
    """Shape (sides, sides)."""
    evaluators: np.ndarray
    """Mean and SD of each evaluator's two effects. Shape (2, 2, evaluators): effect, then mean and SD."""
    pictures: np.ndarray
    """Mean and SD of each picture's effect. Shape (2, pictures)."""
    log_sds: np.ndarray
    """Posterior mean and SD of the logarithm of each standard deviation. Shape (2, 4)."""

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
        """Return the median of one of `EFFECTS`, and its interval."""
        mean, sd = self.log_sds[:, EFFECTS.index(effect)]
        low, high = Estimate(float(mean), float(sd)).interval(level)
        return math.exp(mean), math.exp(low), math.exp(high)

    def has_reals(self, model: str) -> bool:
        """Return whether those who judged a model judged reals too."""
        return self._reals(model) in self.design.sides

    def _reals(self, model: str) -> tuple[str, bool]:
        return (model, False) if (model, False) in self.design.sides else ("", False)


@dataclass
class _Sites:
    """The normal factors that stand for the responses' likelihoods, in natural parameters."""

    precision: np.ndarray
    shift: np.ndarray


@dataclass
class _State:
    """The joint posterior for given standard deviations."""

    mean: np.ndarray
    cov: np.ndarray
    """Of all effects but pictures'. Shape (size, size)."""
    picture_mean: np.ndarray
    picture_var: np.ndarray
    predictor_mean: np.ndarray
    predictor_var: np.ndarray
    log_evidence: float = field(default=math.nan)


def crossed_model(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return the model's estimates with their intervals, as plain data.

    Returns:
        `models` and `pairs` with `d_prime`, `criterion` and differences of d', and `sds` of the effects; None
        for a method other than HYPE-infinity, for responses that do not name pictures, for fewer than two
        evaluators or more than `MOST_EVALUATORS`, and where only reals or only fakes were judged.
    """
    people = len(np.unique(answers.evaluator.codes))
    judged = np.unique(answers.model.codes[answers.is_fake])
    if (
        answers.method != "infinity"
        or not answers.has_image.any()
        or not 2 <= people <= MOST_EVALUATORS
        or not len(judged)
        or answers.is_fake.all()
    ):
        return None
    found = fit(design_of(answers))
    models = sorted(
        (answers.model.names[code] for code in judged if found.has_reals(answers.model.names[code])),
        key=lambda model: (found.sensitivity(model).mean, model),
    )
    rows, pairs = [], []
    for model in models:
        sensitivity, criterion = found.sensitivity(model), found.criterion(model)
        rows.append(
            {
                "model": model,
                "d_prime": sensitivity.mean,
                "d_prime_ci": [*sensitivity.interval(level)],
                "criterion": criterion.mean,
                "criterion_ci": [*criterion.interval(level)],
            }
        )
    for a, b in combinations(models, 2):
        difference = found.difference(b, a)
        pairs.append({"a": b, "b": a, "difference": difference.mean, "ci": [*difference.interval(level)]})
    sds = {}
    for effect in EFFECTS:
        sd, *ci = found.standard_deviation(effect, level)
        sds[effect] = {"sd": sd, "ci": ci}
    return {
        "models": rows,
        "pairs": pairs,
        "sds": sds,
        "evaluators": people,
        "pictures": found.design.pictures,
        "responses": len(found.design.side),
    }


def design_of(answers: Answers) -> Design:
    """Return which effects each response has. A response that names no picture has one of its own."""
    kept = np.arange(len(answers))
    if answers.source is not None:  # reals that several models share are repeated
        kept = np.unique(answers.source, return_index=True)[1]
    people, models = answers.evaluator.codes[kept], answers.model.codes[kept]
    is_fake = np.asarray(answers.is_fake, bool)[kept]
    judged = np.unique(np.stack([people, models]), axis=1)
    is_between = len(np.unique(judged[0])) == judged.shape[1]
    codes = np.where(is_fake, 2 * models, 2 * models + 1 if is_between else 1)
    found, side = np.unique(codes, return_inverse=True)
    names = answers.model.names
    sides = [(names[code // 2] if code % 2 == 0 or is_between else "", code % 2 == 0) for code in found]
    pictures = np.where(answers.has_image, answers.image_ranks, -1 - np.arange(len(answers)))[kept]
    _, evaluator = np.unique(people, return_inverse=True)
    _, picture = np.unique(2 * pictures + is_fake, return_inverse=True)
    return Design(
        sides=sides,
        side=side,
        evaluator=evaluator,
        picture=picture,
        is_fake=is_fake,
        said_fake=np.asarray(answers.said_fake, bool)[kept],
        evaluators=int(evaluator.max()) + 1,
        pictures=int(picture.max()) + 1,
    )


def fit(design: Design) -> Fit:
    """Return the posterior of a design's effects."""
    posterior = _Posterior(design)
    found = minimize(
        posterior.loss, np.full(4, _START), jac=True, method="L-BFGS-B", bounds=[(_LOWEST, _HIGHEST)] * 4,
        options={"ftol": 1e-7, "gtol": 1e-2, "maxiter": 40},
    )  # fmt: skip
    mode = found.x
    hessian = _hessian(posterior, mode)
    values, vectors = np.linalg.eigh(hessian)
    axes = vectors / np.sqrt(np.maximum(values, 0.25))
    states, points, weights = [], [], []
    for direction in (np.zeros(4), *np.eye(4), *-np.eye(4)):
        point = np.clip(mode + axes @ (2 * _RADIUS * direction), _LOWEST, _HIGHEST)
        state = posterior.at(point)
        states.append(state)
        points.append(point)
        gain = posterior.log_density(point, state) - posterior.log_density(points[0], states[0])
        if direction.any():
            gain += 2 * _RADIUS**2 - math.log(8 * (_RADIUS**2 - 1))
        weights.append(gain)
    share = np.exp(np.array(weights) - max(weights))
    return _mixed(design, states, np.array(points), share / share.sum())


def _hessian(posterior: "_Posterior", mode: np.ndarray) -> np.ndarray:
    """Return the second derivatives of the loss, from differences of its gradient."""
    rows = []
    for k in range(4):
        step = np.zeros(4)
        step[k] = _STEP
        low, high = np.maximum(mode - step, _LOWEST), np.minimum(mode + step, _HIGHEST)
        change = posterior.loss(high)[1] - posterior.loss(low)[1]
        rows.append(change / (high - low)[k])
    return (np.array(rows) + np.array(rows).T) / 2


def _mixed(design: Design, states: Sequence[_State], points: np.ndarray, share: np.ndarray) -> Fit:
    """Return mean and covariance of a mixture."""
    sides, first = len(design.sides), len(design.sides)

    def together(means: np.ndarray, variances: np.ndarray) -> np.ndarray:
        mean = share @ means
        return np.stack([mean, np.sqrt(share @ (variances + (means - mean) ** 2))])

    means = np.array([state.mean[:sides] for state in states])
    mean = share @ means
    cov = sum(
        p * (state.cov[:sides, :sides] + np.outer(m - mean, m - mean))
        for p, state, m in zip(share, states, means, strict=True)
    )
    effects = []
    for start in (first, first + design.evaluators):
        part = slice(start, start + design.evaluators)
        effects.append(
            together(
                np.array([state.mean[part] for state in states]),
                np.array([np.diagonal(state.cov)[part] for state in states]),
            )
        )
    pictures = together(
        np.array([state.picture_mean for state in states]), np.array([state.picture_var for state in states])
    )
    return Fit(design, mean, cov, np.array(effects), pictures, together(points, np.zeros_like(points)))


class _Posterior:
    """Expectation propagation for one design; each call begins at the factors of the one before."""

    def __init__(self, design: Design):
        self._design = design
        responses = len(design.side)
        self._sites = _Sites(np.full(responses, 0.3), np.where(design.said_fake, 0.3, -0.3))
        self._sign = np.where(design.said_fake, 1.0, -1.0)
        self._effects = csr_array(
            (design.weights.ravel(), design.columns.ravel(), np.arange(0, 3 * responses + 1, 3)),
            shape=(responses, design.size),
        )
        self._of_picture = csr_array(
            (np.ones(responses), (design.picture, np.arange(responses))), shape=(design.pictures, responses)
        )
        self._order = np.argsort(design.picture, kind="stable")
        self._starts = np.searchsorted(design.picture[self._order], np.arange(design.pictures + 1))

    def loss(self, log_sds: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the negative log density of the standard deviations' logarithms, and its gradient."""
        state = self.at(log_sds)
        design, sds = self._design, np.exp(log_sds)
        first, people = len(design.sides), design.evaluators
        squares = np.square(state.mean) + np.diagonal(state.cov)
        of_pictures = np.square(state.picture_mean) + state.picture_var
        fakes = design.is_fake_picture
        parts = (
            squares[first : first + people],
            squares[first + people :],
            of_pictures[~fakes],
            of_pictures[fakes],
        )
        gradient = [part.sum() / sd**2 - len(part) for part, sd in zip(parts, sds, strict=True)]
        prior = 1 - (sds / _SCALE) ** 2
        return -self.log_density(log_sds, state), -(np.array(gradient) + prior)

    @staticmethod
    def log_density(log_sds: np.ndarray, state: _State) -> float:
        """Return the log density of the standard deviations' logarithms, but for a constant."""
        return state.log_evidence + float(np.sum(log_sds - np.exp(2 * log_sds) / (2 * _SCALE**2)))

    def at(self, log_sds: np.ndarray) -> _State:
        """Return the posterior for standard deviations."""
        sites, sign = self._sites, self._sign
        for sweep in range(_MOST_SWEEPS):
            state = self._joint(log_sds)
            rest_precision = 1 / state.predictor_var - sites.precision
            rest_var = 1 / np.maximum(rest_precision, 1e-10)
            rest_mean = rest_var * (state.predictor_mean / state.predictor_var - sites.shift)
            scale = np.sqrt(1 + rest_var)
            z = sign * rest_mean / scale
            log_mass = log_ndtr(z)
            ratio = np.exp(-0.5 * (z * z + _LOG_2_PI) - log_mass)
            curve = ratio * (z + ratio) / (1 + rest_var)
            left = 1 - curve * rest_var
            precision = curve / left
            shift = (sign * ratio / scale + curve * rest_mean) / left
            change = np.abs(precision - sites.precision).max() + np.abs(shift - sites.shift).max()
            if change < _CLOSE:
                break
            kept = 0.0 if sweep < 10 else 0.3
            sites.precision = kept * sites.precision + (1 - kept) * precision
            sites.shift = kept * sites.shift + (1 - kept) * shift
        parts = log_mass + 0.5 * (
            np.log(rest_var / state.predictor_var)
            + rest_mean**2 / rest_var
            - state.predictor_mean**2 / state.predictor_var
        )
        state.log_evidence += float(parts.sum())
        return state

    def _joint(self, log_sds: np.ndarray) -> _State:
        """Return the joint normal distribution that the factors give."""
        design, sites = self._design, self._sites
        first, people = len(design.sides), design.evaluators
        sds = np.exp(log_sds)
        prior = np.concatenate(
            [np.full(first, _SIDE_SD**-2), np.full(people, sds[0] ** -2), np.full(people, sds[1] ** -2)]
        )
        picture_prior = np.where(design.is_fake_picture, sds[3] ** -2, sds[2] ** -2)
        columns, weights = design.columns, design.weights

        weighted = weights * sites.precision[:, None]
        here = csr_array(
            (weighted.ravel(), columns.ravel(), np.arange(0, 3 * len(weights) + 1, 3)),
            shape=(len(weights), design.size),
        )
        gram = (self._effects.T @ here).toarray()
        gram[np.diag_indices(design.size)] += prior
        towards = self._effects.T @ sites.shift
        precision = picture_prior + np.bincount(design.picture, sites.precision, design.pictures)
        picture_towards = np.bincount(design.picture, sites.shift, design.pictures)
        couple = self._of_picture @ here
        regressed = csr_array(couple.multiply(1 / precision[:, None]))
        schur = gram - (couple.T @ regressed).toarray()
        factor = cho_factor(schur, lower=True)
        mean = cho_solve(factor, towards - regressed.T @ picture_towards)
        cov = cho_solve(factor, np.eye(design.size))
        picture_mean = (picture_towards - couple @ mean) / precision
        log_determinant = 2 * np.log(np.diagonal(factor[0])).sum() + np.log(precision).sum()

        picture_var = np.empty(design.pictures)
        predictor_var = np.zeros(len(design.side))
        for a in range(3):
            for b in range(3):
                predictor_var += weights[:, a] * weights[:, b] * cov[columns[:, a], columns[:, b]]
        for start in range(0, design.pictures, _CHUNK):
            end = min(start + _CHUNK, design.pictures)
            part = regressed[start:end]
            spread = part @ cov
            own = np.asarray(part.multiply(spread).sum(axis=1)).ravel()
            picture_var[start:end] = own + 1 / precision[start:end]
            mine = self._order[self._starts[start] : self._starts[end]]
            of = design.picture[mine] - start
            shared = sum(weights[mine, a] * spread[of, columns[mine, a]] for a in range(3))
            predictor_var[mine] -= 2 * shared
        predictor_var += picture_var[design.picture]
        predictor_mean = (weights * mean[columns]).sum(axis=1) + picture_mean[design.picture]
        quadratic = float(mean @ towards + picture_mean @ picture_towards)
        log_prior = np.log(prior).sum() + np.log(picture_prior).sum()
        return _State(
            mean,
            cov,
            picture_mean,
            picture_var,
            predictor_mean,
            predictor_var,
            0.5 * (quadratic + log_prior - log_determinant),
        )
