"""Matrix products in pieces so small that the linear algebra library uses only one core.

Its threads would compete for cores with the masks that are generated in parallel, many times slower than
one thread alone, and the order of their sums would depend on the number of cores.
"""

import numpy as np

_PIECE = 1 << 17
"""Multiplications a piece: half the number from which OpenBLAS uses several threads."""


def covariance(x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """Return the mean products of the rows of `x` and `y`, or of `x` with itself, in float64."""
    y = x if y is None else y
    samples, step = x.shape[1], _step(len(x) * len(y))
    whole = samples - samples % step
    left, right = (_in_pieces(z[:, :whole], step) for z in (x, y))
    total = np.matmul(left, right.swapaxes(1, 2)).sum(axis=0, dtype=float)
    return (total + x[:, whole:] @ y[:, whole:].T) / samples


def central_covariance(x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """Return the covariance of the rows of `x` and `y`, or of `x` with itself, in float64."""
    mean_x = x.mean(axis=1)
    mean_y = mean_x if y is None else y.mean(axis=1)
    return covariance(x, y) - np.outer(mean_x, mean_y)


def mixed(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return `matrix @ x` for a small matrix and long rows of samples, in the dtype of `x`."""
    matrix = matrix.astype(x.dtype)
    samples, step = x.shape[1], _step(matrix.size)
    whole = samples - samples % step
    made = np.empty((len(matrix), samples), x.dtype)
    np.matmul(matrix, _in_pieces(x[:, :whole], step), out=_in_pieces(made[:, :whole], step))
    np.matmul(matrix, x[:, whole:], out=made[:, whole:])
    return made


def tall(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return `x @ matrix` for arrays `x` (…, row, column) with many rows."""
    made = np.empty((*x.shape[:-1], matrix.shape[-1]), np.result_type(x, matrix))
    for piece in _pieces(x.shape[-2], matrix.size):
        np.matmul(x[..., piece, :], matrix, out=made[..., piece, :])
    return made


def _in_pieces(x: np.ndarray, step: int) -> np.ndarray:
    """Return rows of samples as a view (piece, row, sample within the piece)."""
    return x.reshape(len(x), x.shape[1] // step, step).swapaxes(0, 1)


def _pieces(length: int, each: int) -> list[slice]:
    step = _step(each)
    return [slice(start, start + step) for start in range(0, length, step)]


def _step(each: int) -> int:
    return max(_PIECE // max(each, 1), 1)
