"""Precision, recall, density and coverage: pictures of one side in balls around those of the other.

Around each picture is a ball that reaches to its k-th nearest neighbour on its own side. Precision is the
share of fakes within a ball of a real, recall the share of reals within a ball of a fake (Kynkäänniemi et
al., 2019); density is the mean number of balls of reals around a fake, divided by k, coverage the share of
reals with a fake in their ball (Naeem et al., 2020). A picture at the very edge of a ball is within it for
precision and recall, and outside for density and coverage, as in torch-fidelity and prdc.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from backend.metrics.feature_blocks import Block, Side, exact_squared_distances
from backend.metrics.neighbours import Neighbours

_MOST = 48
"""Pairs remembered of one picture for half-samples, closest first. That a half of the pictures has none of
so many has a probability of 2^-48."""
_CHUNK = 65_536


@dataclass(frozen=True)
class Pairs:
    """Pairs of a centre and a point of the other side, close enough to matter in a half-sample."""

    centre: np.ndarray
    point: np.ndarray
    level: np.ndarray
    """How many neighbours the ball needs to contain the point, less one."""


class Balls:
    """Counts, block by block, of points in the balls around the pictures of the other side."""

    def __init__(self, centres: Neighbours, points: Side, neighbours: int, density_neighbours: int):
        """Start with no block.

        Args:
            neighbours: k of precision and recall.
            density_neighbours: k of density and coverage.
        """
        self.centres, self._points = centres, points
        self.k, self.density_k = neighbours, density_neighbours
        self.is_covered = np.zeros(len(points), dtype=bool)
        """Whether a point is in any closed ball of `neighbours`."""
        self.containing = np.zeros(len(points), dtype=np.int64)
        """In how many open balls of `density_neighbours` a point is."""
        self.is_occupied = np.zeros(len(centres.side), dtype=bool)
        """Whether there is any point in a centre's open ball of `density_neighbours`."""
        self._counts: np.ndarray = np.zeros(centres.squared.shape, dtype=np.int64)
        self.by_point = self.by_centre = Pairs(*np.zeros((3, 0), dtype=np.int64))

    def add(self, block: Block, is_transposed: bool = False) -> None:
        """Add a block of centres by points, or of points by centres if it is transposed."""
        squared, bounds = block.squared_distances(), block.uncertainty()
        first, second = block.first, block.second
        if is_transposed:
            squared, bounds, first, second = squared.T, bounds[::-1], second, first
        reach = self.centres.squared[first, -1] + bounds[0] + bounds[1].max()
        i, j = np.nonzero(squared <= reach[:, None])
        near = self._decided(squared[i, j], i + first.start, j + second.start, bounds[0][i] + bounds[1][j])
        self._count(i + first.start, j + second.start, near)

    @cached_property
    def cumulative(self) -> np.ndarray:
        """How many points are in a centre's open ball to each of its neighbours; read it after all blocks."""
        return self._counts.cumsum(axis=1)

    def _decided(self, squared: np.ndarray, i: np.ndarray, j: np.ndarray, bound: np.ndarray) -> np.ndarray:
        """Return squared distances, exact where rounding could decide whether a point is in a ball."""
        radii = self.centres.squared
        unsure = np.zeros(len(i), dtype=bool)
        for k in {self.k, self.density_k}:
            if k <= radii.shape[1]:
                unsure |= np.abs(squared - radii[i, k - 1]) <= bound
        squared[unsure] = exact_squared_distances(self.centres.side, i[unsure], self._points, j[unsure])
        return squared

    def _count(self, i: np.ndarray, j: np.ndarray, squared: np.ndarray) -> None:
        closed, opened = self._levels(i, squared)
        self.is_covered[j[closed < self.k]] = True
        inside = opened < self.density_k
        self.containing += np.bincount(j[inside], minlength=len(self._points))
        self.is_occupied[i[inside]] = True
        width = self._counts.shape[1]
        within = opened < width
        self._counts += np.bincount(i[within] * width + opened[within], minlength=self._counts.size).reshape(
            self._counts.shape
        )
        self.by_point = _closest(self.by_point, Pairs(i, j, closed), "point")
        self.by_centre = _closest(self.by_centre, Pairs(i, j, opened), "centre")

    def _levels(self, i: np.ndarray, squared: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return how many neighbours are nearer than a point, and how many are no farther."""
        closed, opened = np.empty(len(i), dtype=np.int64), np.empty(len(i), dtype=np.int64)
        for at in range(0, len(i), _CHUNK):
            some = slice(at, at + _CHUNK)
            radii, distance = self.centres.squared[i[some]], squared[some, None]
            closed[some] = (radii < distance).sum(axis=1)
            opened[some] = (radii <= distance).sum(axis=1)
        return closed, opened


def _closest(known: Pairs, more: Pairs, of: str) -> Pairs:
    """Return both sets of pairs, of each picture no more than the closest `_MOST`."""
    centre, point, level = (
        np.concatenate([getattr(known, name), getattr(more, name)]) for name in ("centre", "point", "level")
    )
    group = point if of == "point" else centre
    if len(group) and np.bincount(group).max() > _MOST:
        order = np.lexsort((level, group))
        group = group[order]
        is_first = np.concatenate([[True], group[1:] != group[:-1]])
        rank = np.arange(len(group)) - np.maximum.accumulate(np.where(is_first, np.arange(len(group)), 0))
        kept = order[rank < _MOST]
        centre, point, level = centre[kept], point[kept], level[kept]
    return Pairs(centre, point, level)
