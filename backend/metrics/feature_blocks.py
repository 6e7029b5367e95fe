"""Features of two sides in blocks of float64: inner products and distances in bounded memory.

Inner products are computed of centred features, since |x|² + |y|² - 2 x·y loses all digits where the mean is
large against the distances. What was subtracted is added again for kernels.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

BLOCK = 2048
"""Pictures in a block: a block of inner products takes 32 MB."""
_LARGEST_EXPONENT = 200
_PAIRS = 4096
"""Pairs of pictures whose differences are held at once."""


@dataclass(frozen=True)
class Side:
    """The features of one side, the reals or the fakes, divided by a power of two."""

    values: np.ndarray
    """Shape (pictures, dimensions), of any floating-point type."""
    exponent: int = 0
    """What is computed is of values / 2**exponent: exact, and squares neither overflow nor vanish."""

    def __len__(self) -> int:
        return len(self.values)

    @property
    def dimensions(self) -> int:
        return self.values.shape[1]

    def rows(self, which: slice | np.ndarray) -> np.ndarray:
        """Return the scaled features of some pictures, float64."""
        rows = np.asarray(self.values[which], dtype=np.float64)
        return np.ldexp(rows, -self.exponent) if self.exponent else rows

    @cached_property
    def mean(self) -> np.ndarray:
        """The mean of the scaled features, float64, shape (dimensions,)."""
        rough = self.rows(slice(0, 1))[0]
        sums = sum((self.rows(rows) - rough).sum(axis=0) for rows in self.slices())
        return rough + sums / len(self)

    def subset(self, which: np.ndarray) -> "Side":
        """Return some pictures, in their order on this side."""
        return Side(self.values[np.sort(which)], self.exponent)

    def slices(self, size: int = BLOCK) -> Iterator[slice]:
        """Yield the pictures in blocks."""
        return (slice(at, min(at + size, len(self))) for at in range(0, len(self), size))


def sides(reals: np.ndarray, fakes: np.ndarray) -> tuple[Side, Side]:
    """Return both sides with the exponent that their largest feature needs, 0 unless it is extreme."""
    largest = max(float(max(abs(each.max()), abs(each.min()))) for each in (reals, fakes))
    exponent = math.frexp(largest)[1]
    if abs(exponent) <= _LARGEST_EXPONENT:
        exponent = 0
    return Side(reals, exponent), Side(fakes, exponent)


@dataclass(frozen=True)
class Block:
    """Inner products of some pictures of one side with some of another, or of the same, side."""

    first: slice
    second: slice
    centred: np.ndarray
    """(x - c)·(y - c), shape (pictures of `first`, pictures of `second`)."""
    first_squares: np.ndarray
    second_squares: np.ndarray
    """|x - c|² and |y - c|² of each picture."""
    first_offsets: np.ndarray
    second_offsets: np.ndarray
    """What is missing from the centred products: x·y = (x - c)·(y - c) + first_offsets + second_offsets."""
    rounding: float

    @property
    def is_diagonal(self) -> bool:
        """Whether a block of one side with itself is on the diagonal; elsewhere it stands for two blocks."""
        return self.first == self.second

    def products(self) -> np.ndarray:
        products = self.centred + self.first_offsets[:, None]
        products += self.second_offsets
        return products

    def squared_distances(self) -> np.ndarray:
        """Return |x - y|², off by at most `uncertainty`, and possibly negative."""
        squared = self.centred * -2.0
        squared += self.first_squares[:, None]
        squared += self.second_squares
        return squared

    def uncertainty(self) -> tuple[np.ndarray, np.ndarray]:
        """Return bounds of the rounding errors of `squared_distances`: of x plus of y."""
        return self.rounding * self.first_squares, self.rounding * self.second_squares


def blocks(first: Side, second: Side, size: int = BLOCK) -> Iterator[Block]:
    """Yield all inner products of two sides; of a side with itself, those on and above the diagonal."""
    is_one = first is second
    centre = first.mean if is_one else (first.mean + second.mean) / 2
    rounding = 4 * (first.dimensions + 8) * np.finfo(float).eps
    for above in first.slices(size):
        x, x_squares, x_offsets = _centred(first, above, centre)
        for across in second.slices(size):
            if is_one and across.start < above.start:
                continue
            same = is_one and across == above
            y, y_squares, y_offsets = (x, x_squares, x_offsets) if same else _centred(second, across, centre)
            yield Block(above, across, x @ y.T, x_squares, y_squares, x_offsets, y_offsets, rounding)


def block_count(first: Side, second: Side, size: int = BLOCK) -> int:
    """Return how many blocks `blocks` yields."""
    rows, columns = (-(-len(side) // size) for side in (first, second))
    return rows * (rows + 1) // 2 if first is second else rows * columns


def exact_squared_distances(first: Side, i: np.ndarray, second: Side, j: np.ndarray) -> np.ndarray:
    """Return |x_i - y_j|² of pairs of pictures from their differences: 0 for duplicates, and symmetric."""
    squared = np.empty(len(i))
    for at in range(0, len(i), _PAIRS):
        some = slice(at, at + _PAIRS)
        squared[some] = np.square(first.rows(i[some]) - second.rows(j[some])).sum(axis=1)
    return squared


def _centred(side: Side, rows: slice, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return centred features, their squared norms, and their inner products with the centre and half of
    its own."""
    values = side.rows(rows) - centre
    return values, np.square(values).sum(axis=1), values @ centre + centre @ centre / 2
