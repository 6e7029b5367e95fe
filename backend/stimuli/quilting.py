"""Image quilting: texture synthesis from overlapping blocks of a photograph, joined along the best seams.

Efros and Freeman (2001, "Image quilting for texture synthesis and transfer"). Blocks are placed row by row.
Each is drawn from the positions in the photograph whose overlap with the existing texture fits nearly best,
and the boundary between the two follows the path on which they differ least. The larger the blocks, the
larger the parts of the photograph that remain intact.
"""

import numpy as np
from scipy import fft

_TOLERANCE = 0.1
"""A position is as good as the best if its squared error is larger by at most this share."""
_SMALLEST_ERROR = 1e-3
_SEAM = 0.5
"""Weight of the new block in the pixels on its boundary."""
_EARLIER = ((0, -1), (-1, 0), (-1, -1), (-1, 1))


def quilt(
    photograph: np.ndarray, side_px: int, block_px: int, overlap_px: int, rng: np.random.Generator
) -> np.ndarray:
    """Return a texture of `side_px` square, quilted from `photograph`.

    No block continues the photograph from its neighbour's position, or from near it: the best fit is always
    the photograph itself, and the texture would be a copy.

    Args:
        photograph: (height, width) or (height, width, channels), uint8, larger than a block.
    """
    source = photograph.reshape(*photograph.shape[:2], -1).astype(np.float32)
    step = block_px - overlap_px
    count = -(-(side_px - overlap_px) // step)
    made = np.zeros((count * step + overlap_px, count * step + overlap_px, source.shape[2]), np.float32)
    search = _Search(source, block_px)
    taken: dict[tuple[int, int], tuple[int, int]] = {}
    for row in range(count):
        for column in range(count):
            there = made[row * step :, column * step :][:block_px, :block_px]
            known = _known(row, column, block_px, overlap_px)
            errors = search.errors(there, known)
            for down, right in _EARLIER:
                if (neighbour := taken.get((row + down, column + right))) is not None:
                    y, x = neighbour[0] - down * step, neighbour[1] - right * step
                    _forbid(errors, y, x, block_px // 2)
            y, x = taken[row, column] = _drawn(errors, rng)
            block = source[y : y + block_px, x : x + block_px]
            weight = _weight(((there - block) ** 2).sum(axis=-1), row > 0, column > 0, overlap_px)
            there += (block - there) * weight[..., None]
    levels = np.round(made[:side_px, :side_px]).astype(np.uint8)
    return levels.reshape(side_px, side_px, *photograph.shape[2:])


class _Search:
    """Computes how well each position of a photograph fits, by correlation of the mean over its channels."""

    def __init__(self, source: np.ndarray, block_px: int):
        gray = source.mean(axis=-1)
        self._mean = gray.mean()
        gray = gray - self._mean
        self._places = (gray.shape[0] - block_px + 1, gray.shape[1] - block_px + 1)
        self._grid = tuple(fft.next_fast_len(side, real=True) for side in gray.shape)
        self._levels = fft.rfft2(gray, self._grid)
        self._squares = fft.rfft2(gray * gray, self._grid)

    def errors(self, there: np.ndarray, known: np.ndarray) -> np.ndarray:
        """Return the summed squared difference, where `known`, of every position from the texture `there`."""
        if not known.any():
            return np.zeros(self._places, np.float32)
        gray = (there.mean(axis=-1) - self._mean) * known
        mask = fft.rfft2(known.astype(np.float32), self._grid).conj()
        template = fft.rfft2(gray, self._grid).conj()
        crossed = fft.irfft2(self._squares * mask - 2 * self._levels * template, self._grid)
        errors = crossed[: self._places[0], : self._places[1]] + (gray * gray).sum()
        return np.maximum(errors, 0)


def _known(row: int, column: int, block_px: int, overlap_px: int) -> np.ndarray:
    """Return a mask of the pixels in which the block at a row and column overlaps earlier ones."""
    known = np.zeros((block_px, block_px), bool)
    if row:
        known[:overlap_px] = True
    if column:
        known[:, :overlap_px] = True
    return known


def _forbid(errors: np.ndarray, y: int, x: int, reach: int) -> None:
    errors[max(y - reach, 0) : max(y + reach, 0), max(x - reach, 0) : max(x + reach, 0)] = np.inf


def _drawn(errors: np.ndarray, rng: np.random.Generator) -> tuple[int, int]:
    good = np.argwhere(errors <= errors.min() * (1 + _TOLERANCE) + _SMALLEST_ERROR)
    y, x = good[rng.integers(len(good))]
    return int(y), int(x)


def _weight(differences: np.ndarray, has_above: bool, has_left: bool, overlap_px: int) -> np.ndarray:
    """Return the weight of the new block in each of its pixels, from its squared differences to the old."""
    weight = np.ones(differences.shape, np.float32)
    if has_left:
        weight[:, :overlap_px] = _beyond_seam(differences[:, :overlap_px])
    if has_above:
        above = _beyond_seam(differences[:overlap_px].T).T
        weight[:overlap_px] = np.minimum(weight[:overlap_px], above)
    return weight


def _beyond_seam(differences: np.ndarray) -> np.ndarray:
    """Return 1 to the right of the cheapest path from top to bottom, 0 to the left, and `_SEAM` on it."""
    cost = differences.copy()
    for row in range(1, len(cost)):
        before = np.pad(cost[row - 1], 1, constant_values=np.inf)
        cost[row] += np.minimum(np.minimum(before[:-2], before[1:-1]), before[2:])
    path = np.empty(len(cost), int)
    path[-1] = cost[-1].argmin()
    for row in range(len(cost) - 2, -1, -1):
        left = max(path[row + 1] - 1, 0)
        path[row] = left + cost[row, left : path[row + 1] + 2].argmin()
    columns = np.arange(cost.shape[1])
    return np.where(columns > path[:, None], 1, np.where(columns == path[:, None], _SEAM, 0))
