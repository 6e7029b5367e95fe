"""Projections of fields onto wanted statistics by the smallest changes, in closed form or by one root.

These are the projections of Portilla and Simoncelli (2000, section 2.2). For covariances the change
is the smallest possible (the optimal map between Gaussians); auto-correlations are obtained with one
symmetric filter, skewness and kurtosis with a step along their own gradient.
"""

from collections.abc import Callable
from math import comb

import numpy as np

from backend.stimuli.masks.matmul import covariance, mixed
from backend.stimuli.masks.portilla_simoncelli import from_lag_table, lag_table, lags_of, rows

_FLOOR = 1e-5
"""Share of the largest eigenvalue below which a direction counts as empty."""
_RIDGE = 1e-3
"""Keeps a filter near 1 at frequencies at which a band has no power to estimate it from."""
_MOST_GAIN = 2.0
"""Largest gain of an amplitude in one round; larger steps overshoot and take longer overall."""
_STEPS = np.linspace(0, 1, 200) ** 2
"""Step sizes along a moment's gradient at which the moment is evaluated."""
_FLAT = 1e-4
"""Relative variance below which a gradient counts as flat, as in a field of two levels: no step is made."""


def match_covariance(
    x: np.ndarray,
    wanted: np.ndarray,
    others: np.ndarray | None = None,
    wanted_cross: np.ndarray | None = None,
    products: Callable[..., np.ndarray] = covariance,
) -> np.ndarray:
    """Return `x` (row, sample) with covariance `wanted`, and cross-covariance `wanted_cross` with `others`.

    The part that the others explain is replaced; the residual is given the remaining covariance by the
    symmetric map that changes it least.

    Args:
        products: `covariance` if means are 0 or should count, otherwise `central_covariance`.
    """
    here = products(x)
    if others is None or wanted_cross is None:
        return mixed(covariance_map(here, wanted), x)
    among = _pseudo_inverse(products(others))
    cross = products(x, others)
    rest = covariance_map(here - cross @ among @ cross.T, wanted - wanted_cross @ among @ wanted_cross.T)
    exchange = (wanted_cross - rest @ cross) @ among
    made = mixed(rest, x)
    made += mixed(exchange, others)
    return made


def lag_gain(power: np.ndarray, side: int, wanted: np.ndarray) -> np.ndarray:
    """Return the factors for half spectra of this power that bring their auto-covariances near `wanted`.

    Args:
        side: side of the fields that the spectra belong to.
        wanted: auto-covariances (field, lag), at `lags_of(side)`.
    """
    lags = lags_of(side)
    reach = int(lags[:, 0].max())
    table = lag_table(power, side, 2 * reach).reshape(-1, 4 * reach + 1, 4 * reach + 1)
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
    return np.sqrt(np.clip(1 + from_lag_table(kernel, side), 0, _MOST_GAIN)).reshape(power.shape)


def match_moments(fields: np.ndarray, skewness: np.ndarray, kurtosis: np.ndarray) -> np.ndarray:
    """Return fields (channel, side, side; mean 0) with these skewnesses and kurtoses, variances unchanged."""
    made = rows(fields).copy()
    sds = made.std(axis=1, keepdims=True)
    varies = sds[:, 0] > 0
    if not varies.any():
        return fields
    unit = made[varies] / sds[varies]
    for order, wanted in ((3, skewness), (4, kurtosis)):
        unit = _along_gradient(unit, order, wanted[varies])
    made[varies] = unit * sds[varies]
    return made.reshape(fields.shape)


def _along_gradient(fields: np.ndarray, order: int, wanted: np.ndarray) -> np.ndarray:
    """Return rows x (mean 0, variance 1) with moments of `order` near `wanted`, again standardized.

    A row is moved to x + t g, where g is the moment's gradient at variance 1, with the smallest t that
    gives the wanted moment; if no t on the branch that starts at 0 does, with the t on it that comes
    nearest. As g is a polynomial in x, only the raw moments of x are needed.
    """
    moments = np.array([_raw_moments(x, 3 * (order - 1)) for x in fields])
    gradient = np.zeros((len(fields), order))
    gradient[:, 0], gradient[:, 1], gradient[:, -1] = -moments[:, order - 1], -moments[:, order], 1
    variance = _mean(_product(gradient, gradient), moments)
    is_flat = variance <= _FLAT * moments[:, 2 * order - 2]
    gradient /= np.sqrt(np.where(is_flat, 1, variance))[:, None]
    t = _first_step(_moved_means(gradient, moments, order), _moved_means(gradient, moments, 2), order, wanted)
    moved = np.where(is_flat, 0, t)[:, None] * gradient
    moved[:, 1] += 1
    moved[:, 0] -= _mean(moved, moments)
    moved /= np.sqrt(_mean(_product(moved, moved), moments))[:, None]
    made = np.empty_like(fields)
    for x, into, polynomial in zip(fields, made, moved.astype(fields.dtype), strict=True):
        np.multiply(x, polynomial[-1], out=into)
        for coefficient in polynomial[-2:0:-1]:
            into += coefficient
            into *= x
        into += polynomial[0]
    return made


def _raw_moments(x: np.ndarray, half: int) -> np.ndarray:
    """Return the means of x**0 to x**(2 half)."""
    powers = np.empty((half + 1, len(x)), x.dtype)
    powers[0] = 1
    for n in range(half):
        np.multiply(powers[n], x, out=powers[n + 1])
    lower, upper = covariance(powers[::half], powers)
    return np.concatenate([lower, upper[1:]])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return products of polynomials (row, coefficient by increasing power)."""
    made = np.zeros((len(a), a.shape[1] + b.shape[1] - 1))
    for n in range(b.shape[1]):
        made[:, n : n + a.shape[1]] += a * b[:, n : n + 1]
    return made


def _mean(polynomials: np.ndarray, moments: np.ndarray, shift: int = 0) -> np.ndarray:
    """Return the means of polynomials times x**shift, for x with these raw moments."""
    return (polynomials * moments[:, shift : shift + polynomials.shape[1]]).sum(axis=1)


def _moved_means(gradient: np.ndarray, moments: np.ndarray, order: int) -> np.ndarray:
    """Return the coefficients in t (row, increasing powers) of the means of (x + t gradient(x))**order."""
    factor = np.ones((len(gradient), 1))
    means = []
    for n in range(order + 1):
        means.append(comb(order, n) * _mean(factor, moments, order - n))
        factor = _product(factor, gradient)
    return np.stack(means, axis=1)


def _first_step(numerator: np.ndarray, denominator: np.ndarray, order: int, wanted: np.ndarray) -> np.ndarray:
    """Return for each row the first step t at which its moment is `wanted`, or stops approaching it."""
    directions = np.where(wanted > numerator[:, 0] / denominator[:, 0] ** (order / 2), 1, -1)
    steps = directions[:, None] * _STEPS
    top, bottom = (_at(steps, coefficients) for coefficients in (numerator, denominator))
    rising = directions[:, None] * top / bottom ** (order / 2)
    losses = np.empty(len(steps))
    for row, (values, goal) in enumerate(zip(rising, directions * wanted, strict=True)):
        falls = np.flatnonzero(np.diff(values) <= 0)
        end = falls[0] if len(falls) else len(values) - 1
        losses[row] = np.interp(goal, values[: end + 1], steps[row, : end + 1])
    return losses


def _at(t: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Return polynomials (row, coefficient by increasing power) at `t` (row, value)."""
    made = np.zeros_like(t)
    for coefficient in coefficients.T[::-1]:
        made = made * t + coefficient[:, None]
    return made


def covariance_map(here: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the symmetric matrix that maps covariance `here` to `wanted` and changes samples least."""
    root, inverse = _roots(here)
    middle, _ = _roots(root @ wanted @ root)
    return inverse @ middle @ inverse


def _roots(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the square root of a symmetric matrix, and the root's inverse, 0 in empty directions."""
    values, vectors = np.linalg.eigh((matrix + matrix.T) / 2)
    floor = max(_FLOOR * float(values[-1]), 1e-30)
    roots = np.sqrt(np.maximum(values, 0))
    inverse = np.where(values > floor, 1 / np.sqrt(np.maximum(values, floor)), 0)
    return (vectors * roots) @ vectors.T, (vectors * inverse) @ vectors.T


def _pseudo_inverse(matrix: np.ndarray) -> np.ndarray:
    _, inverse = _roots(matrix)
    return inverse @ inverse
