"""Matrix products in pieces so small that the linear algebra library keeps to one core.

Its threads would fight over cores with the masks made beside this one, many times slower than one
thread alone, and the order of their sums would depend on the machine's cores.
"""

import numpy as np

_PIECE = 1 << 17
"""Multiplications a piece: half of what OpenBLAS begins to share among threads."""


def covariance(x: np.ndarray, y: np.ndarray | None = None) -> np.ndarray:
    """Return the mean products of the rows of `x` and `y`, or of `x` with itself, in float64."""
    y = x if y is None else y
    samples = x.shape[1]
    total = np.zeros((len(x), len(y)))
    for piece in _pieces(samples, len(x) * len(y)):
        total += x[:, piece] @ y[:, piece].T
    return total / samples


def mixed(matrix: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return `matrix @ x` for a small matrix and long rows of samples, in the type of `x`."""
    matrix = matrix.astype(x.dtype)
    made = np.empty((len(matrix), x.shape[1]), x.dtype)
    for piece in _pieces(x.shape[1], matrix.size):
        np.matmul(matrix, x[:, piece], out=made[:, piece])
    return made


def tall(x: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Return `x @ matrix` for tables `x` (…, row, column) of many rows."""
    made = np.empty((*x.shape[:-1], matrix.shape[-1]), np.result_type(x, matrix))
    for piece in _pieces(x.shape[-2], matrix.size):
        np.matmul(x[..., piece, :], matrix, out=made[..., piece, :])
    return made


def _pieces(length: int, each: int) -> list[slice]:
    step = max(_PIECE // max(each, 1), 1)
    return [slice(start, start + step) for start in range(0, length, step)]
