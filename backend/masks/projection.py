"""The smallest changes that give fields wanted statistics, each in closed form or by one root.

These are the projections of Portilla and Simoncelli (2000, section 2.2). For covariances the change
is the smallest there is (the optimal map between Gaussians); auto-correlations take the one
symmetric filter that has them; skewness and kurtosis take a step along their own gradient.
"""

import numpy as np

from backend.masks import pyramid as pyramids
from backend.masks.products import covariance, mixed
from backend.masks.statistics import from_lag_table, lag_table, lags_of, power, rows

_FLOOR = 1e-5
"""Share of the largest eigenvalue below which a direction counts as empty."""
_RIDGE = 1e-3
"""Keeps a filter near 1 at frequencies where a band has no power to learn it from."""
_MOST_GAIN = 2.0
"""Of an amplitude in one round; larger steps overshoot and take longer in the end."""
_STEPS = 200


def match_covariance(
    x: np.ndarray,
    wanted: np.ndarray,
    others: np.ndarray | None = None,
    wanted_cross: np.ndarray | None = None,
) -> np.ndarray:
    """Return `x` (row, sample; mean 0) with covariance `wanted`, and `wanted_cross` with `others`.

    What the others explain is exchanged; what is left over is brought to the covariance that is
    left over, by the symmetric map that moves it least.
    """
    here = covariance(x)
    if others is None:
        return mixed(_map(here, wanted), x)
    among = _pseudo_inverse(covariance(others))
    cross = covariance(x, others)
    rest = _map(here - cross @ among @ cross.T, wanted - wanted_cross @ among @ wanted_cross.T)
    exchange = (wanted_cross - rest @ cross) @ among
    return mixed(rest, x) + mixed(exchange, others)


def match_lags(fields: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return fields (…, side, side; mean 0) filtered so that their auto-covariances are `wanted`.

    Args:
        wanted: (field, lag), at `lags_of(side)`.
    """
    side = fields.shape[-1]
    half = pyramids.spectrum(fields)
    lags = lags_of(side)
    reach = int(lags[:, 0].max())
    table = lag_table(power(half), side, 2 * reach).reshape(-1, 4 * reach + 1, 4 * reach + 1)
    here = table[:, lags[:, 0], lags[:, 1]]
    apart, together = (lags[:, None] - lags[None, :], lags[:, None] + lags[None, :])
    system = table[:, apart[..., 0], apart[..., 1]] + table[:, together[..., 0], together[..., 1]]
    system[:, :, 0] /= 2  # lag 0 has no mirror image
    unit = here[:, :1, None]
    system = system + _RIDGE * unit * np.eye(len(lags)) + 1e-12 * np.eye(len(lags))
    change = np.linalg.solve(system, (wanted - here)[..., None])[..., 0]
    kernel = np.zeros((len(change), 2 * reach + 1, 2 * reach + 1))
    kernel[:, lags[:, 0], lags[:, 1]] = change
    kernel[:, -lags[:, 0], -lags[:, 1]] = change
    gain = np.sqrt(np.clip(1 + from_lag_table(kernel, side), 0, _MOST_GAIN))
    return pyramids.field(half * gain.reshape(half.shape), side)


def match_skewness(x: np.ndarray, wanted: float) -> np.ndarray:
    """Return the samples `x` (mean 0, variance 1) at mean 0, variance 1 and nearly this skewness."""
    squares = x * x
    skewness = float(np.mean(squares * x, dtype=float))
    gradient = squares - 1 - np.float32(skewness) * x
    return _along(x, gradient, 3, wanted)


def match_kurtosis(x: np.ndarray, wanted: float) -> np.ndarray:
    """Return the samples `x` (mean 0, variance 1) at mean 0, variance 1 and nearly this kurtosis."""
    squares = x * x
    skewness, kurtosis = (float(np.mean(squares * y, dtype=float)) for y in (x, squares))
    gradient = (squares - np.float32(kurtosis)) * x - np.float32(skewness)
    return _along(x, gradient, 4, wanted)


def match_moments(fields: np.ndarray, skewness: np.ndarray, kurtosis: np.ndarray) -> np.ndarray:
    """Return fields (channel, side, side; mean 0) of these skewnesses and kurtoses, variances kept."""
    made = []
    for x, skew, kurt in zip(rows(fields), skewness, kurtosis, strict=True):
        sd = float(x.std())
        if sd == 0:
            made.append(x)
            continue
        unit = match_kurtosis(match_skewness(x / np.float32(sd), float(skew)), float(kurt))
        made.append(unit * np.float32(sd))
    return np.stack(made).reshape(fields.shape)


def _along(x: np.ndarray, gradient: np.ndarray, order: int, wanted: float) -> np.ndarray:
    """Return x + t gradient, at variance 1, for the smallest t at which the moment is `wanted`.

    Where no such t lies on the branch that starts at 0, the nearest that the branch has.
    """
    sd = float(gradient.std())
    if sd < 1e-6:
        return x
    gradient = gradient / np.float32(sd)
    numerator, denominator = (_powers(x, gradient, n) for n in (order, 2))

    def moment(t: np.ndarray) -> np.ndarray:
        return np.polyval(numerator, t) / np.polyval(denominator, t) ** (order / 2)

    direction = 1 if wanted > moment(0.0) else -1
    steps = direction * np.linspace(0, 1, _STEPS) ** 2
    t = _first_root(direction * moment(steps), direction * wanted, steps)
    moved = x + np.float32(t) * gradient
    moved -= moved.mean()
    return moved / np.float32(moved.std())


def _first_root(values: np.ndarray, wanted: float, steps: np.ndarray) -> float:
    """Return the step at which rising `values` first reach `wanted`, or where they stop to rise."""
    falls = np.flatnonzero(np.diff(values) <= 0)
    end = falls[0] if len(falls) else len(values) - 1
    return float(np.interp(wanted, values[: end + 1], steps[: end + 1]))


def _powers(x: np.ndarray, gradient: np.ndarray, order: int) -> np.ndarray:
    """Return the coefficients, highest first, of the mean of (x + t gradient)**order in t."""
    binomial = {2: (1, 2, 1), 3: (1, 3, 3, 1), 4: (1, 4, 6, 4, 1)}[order]
    powers = [[np.ones_like(y), y] for y in (x, gradient)]
    for list_ in powers:
        while len(list_) <= order:
            list_.append(list_[-1] * list_[1])
    ours, theirs = powers
    means = [float(np.mean(theirs[n] * ours[order - n], dtype=float)) for n in range(order, -1, -1)]
    return np.array([b * m for b, m in zip(binomial, means, strict=True)])


def _map(here: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix that takes covariance `here` to `wanted` and moves samples least."""
    root, inverse = _roots(here)
    middle, _ = _roots(root @ wanted @ root)
    return inverse @ middle @ inverse


def _roots(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the square root of a symmetric matrix, and the root's inverse, empty directions aside."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    floor = max(_FLOOR * float(values[-1]), 1e-30)
    roots = np.sqrt(np.maximum(values, 0))
    inverse = np.where(values > floor, 1 / np.sqrt(np.maximum(values, floor)), 0)
    return (vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T


def _pseudo_inverse(matrix: np.ndarray) -> np.ndarray:
    _, inverse = _roots(matrix)
    return inverse @ inverse
