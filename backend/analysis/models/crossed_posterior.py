"""The posterior of the crossed model's effects, for given standard deviations, by expectation propagation.

Each likelihood factor is replaced by a normal one whose first two moments agree, given all others (Minka,
2001); for probit models this is closer than Laplace's approximation where a picture has few responses. The
effects then have one joint normal distribution.

An evaluator's effects are written as their readiness to say "fake" to reals, e - f / 2, and to fakes,
e + f / 2. A response has one of them, so that real and fake pictures are eliminated from the joint
distribution apart; what is left are the sides and two effects an evaluator.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve, lapack
from scipy.sparse import csr_array
from scipy.special import log_ndtr

SIDE_SD, SCALE = 5.0, 1.0
"""Priors: SD of the sides (normal), and of the standard deviations (half-normal)."""
_MOST_SWEEPS = 60
_UNDAMPED_SWEEPS = 10
_KEPT = 0.3
_DENSE_ABOVE = 0.05
"""Share of entries other than 0 above which a product of full matrices is faster."""
_CHUNK_CELLS = 4_000_000
_LOG_2_PI = math.log(2 * math.pi)
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class Design:
    """Which effects each response has. Arrays have the shape (responses,) unless said otherwise."""

    sides: Sequence[tuple[str, bool]]
    """Model (or '' for reals that all share) and whether fake, of each side."""
    side: np.ndarray
    evaluator: np.ndarray
    picture: np.ndarray
    is_fake: np.ndarray
    said: np.ndarray
    """1 for "fake", 0 for "real", 0.5 for `not_sure`."""
    evaluators: int
    pictures: int

    @cached_property
    def is_fake_picture(self) -> np.ndarray:
        """Shape (pictures,)."""
        found = np.zeros(self.pictures, bool)
        found[self.picture[self.is_fake]] = True
        return found

    @cached_property
    def halves(self) -> "tuple[_Half, _Half]":
        """The responses to reals, and those to fakes."""
        return _Half(self, is_fake=False), _Half(self, is_fake=True)

    @property
    def size(self) -> int:
        """Number of effects but those of pictures: the sides, then evaluators' with reals, with fakes."""
        return len(self.sides) + 2 * self.evaluators


@dataclass
class State:
    """The joint posterior for given standard deviations."""

    mean: np.ndarray
    cov: np.ndarray
    """Of the sides, then of evaluators' readiness with reals, and with fakes. Shape (size, size)."""
    picture_mean: np.ndarray
    picture_var: np.ndarray
    picture_sides: np.ndarray
    """Covariance of each picture's effect with the sides. Shape (pictures, sides)."""
    predictor_mean: np.ndarray
    predictor_var: np.ndarray
    log_evidence: float = field(default=math.nan)

    def evaluators(self, sides: int) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of each evaluator's e and f. Shapes (2, evaluators)."""
        reals, fakes = self.mean[sides:].reshape(2, -1)
        of_reals, of_fakes = np.diagonal(self.cov)[sides:].reshape(2, -1)
        people = len(reals)
        both = np.diagonal(self.cov[sides : sides + people, sides + people :])
        mean = np.stack([(reals + fakes) / 2, fakes - reals])
        var = np.stack([(of_reals + of_fakes + 2 * both) / 4, of_reals + of_fakes - 2 * both])
        return mean, var


class Posterior:
    """Expectation propagation for one design; each call begins at the factors of the one before."""

    def __init__(self, design: Design):
        self._design = design
        self._sign = 2.0 * design.said - 1
        self._unsure = np.flatnonzero(design.said == 0.5)
        self._precision = np.full(len(design.side), 0.3)
        self._shift = 0.3 * self._sign

    def at(self, log_sds: np.ndarray, close: float = 1e-4) -> State:
        """Return the posterior for logarithms of the standard deviations of `EFFECTS`.

        Args:
            close: largest change of a factor in a sweep at which the sweeps end.
        """
        for sweep in range(_MOST_SWEEPS):
            state = self._joint(log_sds)
            precision, shift, log_mass = self._matched(state)
            change = np.abs(precision - self._precision).max() + np.abs(shift - self._shift).max()
            if change < close:
                break
            kept = 0.0 if sweep < _UNDAMPED_SWEEPS else _KEPT
            self._precision = kept * self._precision + (1 - kept) * precision
            self._shift = kept * self._shift + (1 - kept) * shift
        state.log_evidence += log_mass
        return state

    def _matched(self, state: State) -> tuple[np.ndarray, np.ndarray, float]:
        """Return precision and shift of the factors that match moments, and what they add to the evidence."""
        rest_var = 1 / np.maximum(1 / state.predictor_var - self._precision, 1e-10)
        rest_mean = rest_var * (state.predictor_mean / state.predictor_var - self._shift)
        precision, shift, log_mass = _of_decided(self._sign, rest_mean, rest_var)
        if len(some := self._unsure):
            precision[some], shift[some], log_mass[some] = _of_unsure(rest_mean[some], rest_var[some])
        parts = log_mass + 0.5 * (
            np.log(rest_var / state.predictor_var)
            + rest_mean**2 / rest_var
            - state.predictor_mean**2 / state.predictor_var
        )
        return precision, shift, float(parts.sum())

    def _joint(self, log_sds: np.ndarray) -> State:
        """Return the joint normal distribution that the factors give."""
        design = self._design
        criterion, sensitivity, *of_pictures = np.exp(-2 * log_sds)
        matrix, log_prior = _prior(design, criterion, sensitivity)
        towards = np.zeros(design.size)
        reduced = towards.copy()
        eliminated = []
        for half, prior in zip(design.halves, of_pictures, strict=True):
            part = half.eliminated(self._precision[half.where], self._shift[half.where], prior)
            matrix[np.ix_(half.columns, half.columns)] += part.matrix
            towards[half.columns] += part.towards
            reduced[half.columns] += part.reduced
            eliminated.append(part)
            log_prior += half.pictures * math.log(prior)
        factor = cho_factor(matrix, lower=True, check_finite=False)
        mean = cho_solve(factor, reduced, check_finite=False)
        cov = _inverse(factor[0])
        log_determinant = 2 * np.log(np.diagonal(factor[0])).sum()
        quadratic = float(mean @ towards)
        state = State(
            mean,
            cov,
            np.empty(design.pictures),
            np.empty(design.pictures),
            np.zeros((design.pictures, len(design.sides))),
            np.empty(len(design.side)),
            np.empty(len(design.side)),
        )
        for half, part in zip(design.halves, eliminated, strict=True):
            quadratic += half.predict(part, state)
            log_determinant += np.log(part.precision).sum()
        state.log_evidence = 0.5 * (quadratic + log_prior - log_determinant)
        return state


def _of_decided(
    sign: np.ndarray, rest_mean: np.ndarray, rest_var: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return precision, shift and log mass of factors Phi(sign x), for normal x given all other factors."""
    scale = np.sqrt(1 + rest_var)
    z = sign * rest_mean / scale
    log_mass = log_ndtr(z)
    ratio = np.exp(-0.5 * (z * z + _LOG_2_PI) - log_mass)
    curve = ratio * (z + ratio) / (1 + rest_var)
    left = 1 - curve * rest_var
    return curve / left, (sign * ratio / scale + curve * rest_mean) / left, log_mass


def _of_unsure(rest_mean: np.ndarray, rest_var: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the same of factors sqrt(Phi(x) Phi(-x)), by quadrature.

    The factor is about exp(-x^2 / pi) / 2, which is taken into the normal distribution: what is left of it is
    so smooth that few nodes suffice, however wide the distribution of x.
    """
    precision = 1 / rest_var + 2 / math.pi
    mean, sd = rest_mean / rest_var / precision, 1 / np.sqrt(precision)
    x = mean[:, None] + sd[:, None] * _NODES
    mass = _WEIGHTS * np.exp((log_ndtr(x) + log_ndtr(-x)) / 2 + x**2 / math.pi)
    whole = mass.sum(axis=1)
    first = (mass * x).sum(axis=1) / whole
    var = (mass * (x - first[:, None]) ** 2).sum(axis=1) / whole
    log_normal = 0.5 * (mean**2 * precision - rest_mean**2 / rest_var - np.log(rest_var * precision))
    return 1 / var - 1 / rest_var, first / var - rest_mean / rest_var, np.log(whole) + log_normal


def _prior(design: Design, criterion: float, sensitivity: float) -> tuple[np.ndarray, float]:
    """Return the prior's precision matrix of sides and evaluators, and its log determinant.

    Args:
        criterion, sensitivity: precisions of evaluators' e and f.
    """
    matrix = np.zeros((design.size, design.size))
    sides, people = len(design.sides), design.evaluators
    diagonal = np.arange(design.size)
    matrix[diagonal, diagonal] = criterion / 4 + sensitivity
    matrix[diagonal[:sides], diagonal[:sides]] = SIDE_SD**-2
    reals = diagonal[sides : sides + people]
    matrix[reals, reals + people] = matrix[reals + people, reals] = criterion / 4 - sensitivity
    log_determinant = people * math.log(criterion * sensitivity) - 2 * sides * math.log(SIDE_SD)
    return matrix, log_determinant


def _inverse(lower: np.ndarray) -> np.ndarray:
    """Return the inverse of a matrix from its Cholesky factor."""
    half, _ = lapack.dpotri(lower, lower=1)
    found = np.tril(half)
    result: np.ndarray = found + np.tril(half, -1).T
    return result


@dataclass(frozen=True)
class _Eliminated:
    """What responses to pictures of one truth add to the sides and evaluators, and how to go back."""

    matrix: np.ndarray
    towards: np.ndarray
    reduced: np.ndarray
    couple: csr_array
    """Shape (pictures, columns)."""
    regressed: csr_array
    precision: np.ndarray
    """Of pictures, given all else."""
    picture_towards: np.ndarray


class _Half:
    """The responses to pictures of one truth."""

    def __init__(self, design: Design, is_fake: bool):
        self.where = np.flatnonzero(design.is_fake == is_fake)
        self.side_columns, self.side = np.unique(design.side[self.where], return_inverse=True)
        self.evaluator = design.evaluator[self.where]
        self.picture_rows, self.picture = np.unique(design.picture[self.where], return_inverse=True)
        self.people, self.pictures = design.evaluators, len(self.picture_rows)
        self.sides = len(self.side_columns)
        self.width = self.sides + self.people
        first = len(design.sides) + is_fake * self.people
        self.columns = np.concatenate([self.side_columns, first + np.arange(self.people)])
        keys = np.concatenate(
            [self.picture * self.width + self.side, self.picture * self.width + self.sides + self.evaluator]
        )
        pairs, self._entry = np.unique(keys, return_inverse=True)
        self._rows, self._indices = np.divmod(pairs, self.width)
        self._starts = np.searchsorted(self._rows, np.arange(self.pictures + 1))
        self._is_dense = len(pairs) > _DENSE_ABOVE * self.pictures * self.width

    def eliminated(self, precision: np.ndarray, shift: np.ndarray, prior: float) -> _Eliminated:
        """Return the part of the sides and evaluators, after integrating over the pictures."""
        entries = np.bincount(self._entry, np.concatenate([precision, precision]), len(self._indices))
        of_pictures = prior + np.bincount(self.picture, precision, self.pictures)
        picture_towards = np.bincount(self.picture, shift, self.pictures)
        couple, regressed = self._sparse(entries), self._sparse(entries / of_pictures[self._rows])
        cross = np.bincount(
            self.side * self.people + self.evaluator, precision, self.sides * self.people
        ).reshape(self.sides, self.people)
        matrix = np.diag(np.concatenate([cross.sum(axis=1), cross.sum(axis=0)]))
        matrix[: self.sides, self.sides :] = cross
        matrix[self.sides :, : self.sides] = cross.T
        if self._is_dense:
            matrix -= couple.toarray().T @ regressed.toarray()
        else:
            matrix -= (couple.T @ regressed).toarray()
        towards = np.concatenate(
            [
                np.bincount(self.side, shift, self.sides),
                np.bincount(self.evaluator, shift, self.people),
            ]
        )
        reduced = towards - regressed.T @ picture_towards
        return _Eliminated(matrix, towards, reduced, couple, regressed, of_pictures, picture_towards)

    def predict(self, part: _Eliminated, state: State) -> float:
        """Fill in a state's pictures and predictors; return the pictures' part of the quadratic form."""
        mean, cov = state.mean[self.columns], state.cov[np.ix_(self.columns, self.columns)]
        mine, at = self.sides + self.evaluator, self.picture
        picture_mean = (part.picture_towards - part.couple @ mean) / part.precision
        picture_var = 1 / part.precision
        shared = np.empty(len(self.where))
        with_sides = np.empty((self.pictures, self.sides))
        order, first = self._by_picture
        step = max(_CHUNK_CELLS // self.width, 1)
        for start in range(0, self.pictures, step):
            end = min(start + step, self.pictures)
            some = part.regressed[start:end]
            spread = (some.toarray() if self._is_dense else some) @ cov
            entries = slice(self._starts[start], self._starts[end])
            rows = self._rows[entries] - start
            products = some.data * spread[rows, self._indices[entries]]
            picture_var[start:end] += np.bincount(rows, products, end - start)
            with_sides[start:end] = spread[:, : self.sides]
            these = order[first[start] : first[end]]
            of = at[these] - start
            shared[these] = spread[of, self.side[these]] + spread[of, mine[these]]
        fixed = cov[self.side, self.side] + cov[mine, mine] + 2 * cov[self.side, mine]
        state.predictor_var[self.where] = fixed - 2 * shared + picture_var[at]
        state.predictor_mean[self.where] = mean[self.side] + mean[mine] + picture_mean[at]
        state.picture_mean[self.picture_rows] = picture_mean
        state.picture_var[self.picture_rows] = picture_var
        state.picture_sides[np.ix_(self.picture_rows, self.side_columns)] = -with_sides
        return float(picture_mean @ part.picture_towards)

    @cached_property
    def _by_picture(self) -> tuple[np.ndarray, np.ndarray]:
        order = np.argsort(self.picture, kind="stable")
        return order, np.searchsorted(self.picture[order], np.arange(self.pictures + 1))

    def _sparse(self, entries: np.ndarray) -> csr_array:
        return csr_array((entries, self._indices, self._starts), shape=(self.pictures, self.width))
