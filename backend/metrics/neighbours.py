"""The nearest other pictures of each picture of one side, from blocks of inner products.

Distances come from inner products; wherever their rounding error could decide, they are computed anew from
the differences, so that duplicates have distance 0, and ties are ties.
"""

from dataclasses import dataclass

import numpy as np

from backend.metrics.feature_blocks import Block, Side, exact_squared_distances

_SPARE = 4
"""Candidates beyond those that must be exact."""


@dataclass(frozen=True)
class Neighbours:
    """The nearest other pictures of each picture of a side, nearest first."""

    side: Side
    squared: np.ndarray
    """Squared distances, shape (pictures, neighbours); exact for the first."""
    which: np.ndarray
    """The rows of the neighbours, same shape."""

    def __len__(self) -> int:
        return len(self.squared)


class NeighbourSearch:
    """Finds neighbours block by block."""

    def __init__(self, side: Side, count: int, exact: int):
        """Start with no block.

        Args:
            count: how many neighbours of each picture are sought, if there are as many.
            exact: for how many of them distances must be exact.
        """
        self._side = side
        kept, self._exact = min(max(count, exact + _SPARE), len(side) - 1), exact
        self._squared = np.full((len(side), kept), np.inf)
        self._which = np.zeros((len(side), kept), dtype=np.int64)
        self._uncertainty = np.zeros(len(side))

    def add(self, block: Block) -> None:
        """Add a block of inner products of the side with itself."""
        squared = block.squared_distances()
        if block.is_diagonal:
            np.fill_diagonal(squared, np.inf)
        self._uncertainty[block.first], self._uncertainty[block.second] = block.uncertainty()
        self._merge(block.first, block.second, squared)
        if not block.is_diagonal:
            self._merge(block.second, block.first, np.ascontiguousarray(squared.T))

    def neighbours(self) -> Neighbours:
        """Return the neighbours after all blocks, by exact distance, ties by row."""
        squared, which = _sorted(self._squared, self._which)
        pictures, near = len(squared), min(self._exact + _SPARE, squared.shape[1])
        i = np.repeat(np.arange(pictures), near)
        exact = exact_squared_distances(self._side, i, self._side, which[:, :near].ravel())
        farthest = squared[:, near - 1] - self._uncertainty - self._uncertainty.max()
        squared[:, :near], which[:, :near] = _sorted(exact.reshape(pictures, near), which[:, :near])
        if near < pictures - 1:
            self._search_again(np.flatnonzero(squared[:, self._exact - 1] >= farthest), squared, which)
        return Neighbours(self._side, np.maximum.accumulate(squared, axis=1), which)

    def _merge(self, rows: slice, others: slice, squared: np.ndarray) -> None:
        count = self._which.shape[1]
        nearest = _smallest(squared, count)
        both = np.concatenate([self._squared[rows], np.take_along_axis(squared, nearest, axis=1)], axis=1)
        which = np.concatenate([self._which[rows], nearest + others.start], axis=1)
        best = _smallest(both, count)
        self._squared[rows] = np.take_along_axis(both, best, axis=1)
        self._which[rows] = np.take_along_axis(which, best, axis=1)

    def _search_again(self, rows: np.ndarray, squared: np.ndarray, which: np.ndarray) -> None:
        """Find the neighbours of pictures for which rounding errors could hide one; once for duplicates."""
        known: dict[bytes, np.ndarray] = {}
        everyone = np.arange(len(self._side))
        for row in rows:
            picture = self._side.rows(slice(row, row + 1)).tobytes()
            if picture not in known:
                known[picture] = exact_squared_distances(
                    self._side, np.full(len(everyone), row), self._side, everyone
                )
            distances = known[picture].copy()
            distances[row] = np.inf
            near = _smallest(distances[None], squared.shape[1])
            nearest = _sorted(distances[near], everyone[near])
            squared[row], which[row] = nearest[0][0], nearest[1][0]
            if len(known) * len(everyone) > 10_000_000:
                known.clear()


def _smallest(values: np.ndarray, count: int) -> np.ndarray:
    """Return where the smallest values of each row are, at most `count`, in any order."""
    if values.shape[1] <= count:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape)
    return np.argpartition(values, count - 1, axis=1)[:, :count]


def _sorted(squared: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each row in ascending order, ties by row of the neighbour."""
    order = np.lexsort((which, squared), axis=1)
    return np.take_along_axis(squared, order, axis=1), np.take_along_axis(which, order, axis=1)
