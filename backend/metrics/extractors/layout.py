"""An extractor that needs nothing but numpy: 96 statistics of colour, edges and spatial frequencies.

It sees where which colours are, how strong edges of which direction are, and how much there is of fine
detail; it says little about what a picture shows, and nothing that a network trained on photographs would
say. Its Frechet distance is therefore no FID, and its kernel distance no KID. It has few dimensions, so
that a hundred pictures, as studies of people have them, are enough for a Frechet distance.

- 48: mean Y, Cb and Cr (ITU-R BT.601, 0 to 1) in a grid of 4 x 4, as in the colour layout of MPEG-7;
- 4: SD of Y, Cb and Cr, and mean saturation (largest minus smallest channel);
- 32: oriented gradients (after Dalal and Triggs, 2005): mean strength of the gradient of Y in 8 directions,
  in a grid of 2 x 2; its square root, doubled;
- 12: power spectrum of Y in 12 rings of spatial frequency, 1 to 32 cycles a picture: log10, divided by 4.

The picture is first averaged to 64 x 64 squares, exactly: sums of integers below 2^53. So features are equal
on all machines but for the rounding of float32.
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.metrics.extractors.feature_extractor import FeatureExtractor
from backend.metrics.features import Extractor

KINDS = "{family}"
SIZE_PX = 64
_GRID, _CELLS, _DIRECTIONS, _RINGS = 4, 2, 8, 12
_GRADIENT_WEIGHT, _POWER_WEIGHT = 2.0, 0.25
_FLOOR = 1e-8
"""Power of a flat picture, so that its logarithm is finite: far below that of one level of 8 bits."""
_YCBCR = np.array([[299, 587, 114], [-169, -331, 500], [500, -419, -81]]) / 1000
_VERSION = 1
"""To be raised with any change of the numbers: it is part of the hash."""
_ROWS = 512


class Layout(FeatureExtractor):
    """The statistics that this module describes."""

    identity = Extractor(
        f"layout-{_VERSION}",
        hashlib.sha256(f"openhype layout {_VERSION}".encode()).hexdigest(),
        f"{SIZE_PX} x {SIZE_PX} px, area average",
    )
    about = (
        "96 low-level statistics of colour, edges and spatial frequencies, which say little about what "
        "pictures show; this is no FID"
    )

    def extract(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        return np.array([_statistics(picture) for picture in pictures], np.float32)


def extractor(kind: str, weights: Path | None) -> Layout:
    """Return the extractor.

    Raises:
        InvalidInput: a kind or weights are given.
    """
    if kind or weights is not None:
        what = f"no kind {kind!r}" if kind else f"no weights, so not {weights}"
        raise InvalidInput(f"the extractor layout has {what}")
    return Layout()


def _statistics(picture: np.ndarray) -> np.ndarray:
    rgb = averaged(picture, SIZE_PX) / 255
    ycbcr = rgb @ _YCBCR.T
    luma = ycbcr[..., 0]
    spread = rgb.max(axis=2) - rgb.min(axis=2)
    return np.concatenate(
        [
            _grid_means(ycbcr, _GRID).ravel(),
            ycbcr.std(axis=(0, 1)),
            [spread.mean()],
            _gradients(luma).ravel(),
            _spectrum(luma),
        ]
    )


def averaged(picture: np.ndarray, size: int) -> np.ndarray:
    """Return a picture averaged to `size` x `size` rectangles of equal area, shape (size, size, channels).

    A pixel that lies in several rectangles counts in each by the area that it has in it.
    """
    height, width = picture.shape[:2]
    over_rows, over_columns = _overlaps(height, size), _overlaps(width, size)
    sums = np.zeros((size, width, picture.shape[2]))
    for start in range(0, height, _ROWS):
        rows = picture[start : start + _ROWS].astype(float)
        sums += np.tensordot(over_rows[:, start : start + _ROWS], rows, 1)
    return np.einsum("iwc,jw->ijc", sums, over_columns, optimize=True) / (height * width)


@cache
def _overlaps(pixels: int, size: int) -> np.ndarray:
    """Return the lengths that `size` equal parts of a line share with its pixels, each `size` long."""
    pixel, part = np.arange(pixels), np.arange(size)[:, None]
    ends = np.minimum((part + 1) * pixels, (pixel + 1) * size)
    return np.maximum(ends - np.maximum(part * pixels, pixel * size), 0).astype(float)


def _grid_means(values: np.ndarray, cells: int) -> np.ndarray:
    side = SIZE_PX // cells
    return values.reshape(cells, side, cells, side, -1).mean(axis=(1, 3))


def _gradients(luma: np.ndarray) -> np.ndarray:
    """Return the mean strength of gradients by cell and direction; a gradient counts in the two nearest."""
    across, down = np.zeros_like(luma), np.zeros_like(luma)
    across[:, 1:-1], down[1:-1] = luma[:, 2:] - luma[:, :-2], luma[2:] - luma[:-2]
    strength = np.hypot(across, down)
    turn = np.arctan2(down, across) / np.pi % 1 * _DIRECTIONS
    apart = np.abs(turn[..., None] - np.arange(_DIRECTIONS))
    near = np.maximum(1 - np.minimum(apart, _DIRECTIONS - apart), 0)
    return _GRADIENT_WEIGHT * np.sqrt(_grid_means(near * strength[..., None], _CELLS))


def _spectrum(luma: np.ndarray) -> np.ndarray:
    """Return the logarithm of the mean power in rings of spatial frequency."""
    window, ring, counts = _rings()
    power = np.abs(np.fft.fft2((luma - luma.mean()) * window)) ** 2 / luma.size**2
    sums = np.bincount(ring.ravel(), power.ravel(), _RINGS + 1)[:_RINGS]
    return _POWER_WEIGHT * np.log10(sums / counts + _FLOOR)


@cache
def _rings() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a Hann window, the ring of each frequency (the last of none), and the frequencies in a ring."""
    hann = np.hanning(SIZE_PX + 1)[:-1]
    cycles = np.fft.fftfreq(SIZE_PX, 1 / SIZE_PX)
    radius = np.hypot(cycles[:, None], cycles)
    edges = np.geomspace(1, SIZE_PX / 2, _RINGS + 1)
    ring = np.searchsorted(edges, radius, "right") - 1
    ring[(radius < 1) | (radius >= SIZE_PX / 2)] = _RINGS
    counts = np.bincount(ring.ravel(), minlength=_RINGS + 1)[:_RINGS]
    return np.outer(hann, hann), ring, counts
