"""The complex steerable pyramid of a square image of any side: four orientations, octave scales.

Filters after Portilla and Simoncelli (2000, section 1.2): raised cosines over log frequency, and
cos**3 over orientation, whose squares sum to one, so that the pyramid is self-inverting. All are
defined over absolute frequencies; a scale's grid is any even side that contains its frequencies, so
that a side need not be a power of two.

Spectra are Fourier series coefficients (`norm="forward"`), which do not change with the grid: half
spectra (side, side // 2 + 1) of real fields, full spectra (side, side) of complex bands.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import fft

ORIENTATIONS = 4
_MOST_SCALES = 4
_SMALLEST_RESIDUAL_PX = 12
_EXPONENT = ORIENTATIONS - 1
_GAIN = np.sqrt(0.8)
"""Makes the squares of four cos**3 sum to one: 0.8 times the sum of cos**6, which is 5/4."""
_TO_REAL = (-1j) ** _EXPONENT
"""cos**3 is odd, so the band of a real image is real only after a quarter turn of phase."""


@dataclass(frozen=True)
class Scale:
    """Grid and filters of one octave, all float32 or complex64."""

    side: int
    analytic: np.ndarray
    """(orientation, side, side): from the image's full spectrum to complex bands."""
    rebuild: np.ndarray
    """(orientation, side, side // 2 + 1): from real bands' half spectra back to the image's."""
    half_plane: np.ndarray
    """(orientation, side, side), 0 or 2: from a real band's full spectrum to its complex band's."""
    below: np.ndarray
    """(side, side // 2 + 1): share of an image in this scale and the coarser ones, 0 to 1."""


@dataclass(frozen=True)
class Pyramid:
    """Scales from fine to coarse, and the residuals above and below them."""

    side: int
    scales: tuple[Scale, ...]
    residual_side: int
    below: np.ndarray
    """(residual_side, residual_side // 2 + 1): share of an image in the low-pass residual, 0 to 1."""
    above: np.ndarray
    """(side, side // 2 + 1): amplitude of the high-pass residual, 0 to 1."""


def scale_count(side: int) -> int:
    """Return the number of octaves in an image of `side` px: 4 from 192 px, 1 below 48 px."""
    return int(np.clip(np.log2(side / _SMALLEST_RESIDUAL_PX), 1, _MOST_SCALES))


@lru_cache(maxsize=4)
def pyramid(side: int) -> Pyramid:
    count = scale_count(side)
    radius = _radius(side, side, half=True)
    above = np.sqrt(1 - _lowpass(radius, 0) ** 2)
    residual_side = _grid(side, count)
    below = _lowpass(_radius(residual_side, side, half=True), count) ** 2
    scales = tuple(_scale(side, number) for number in range(count))
    return Pyramid(side, scales, residual_side, below.astype(np.float32), above.astype(np.float32))


def spectrum(field: np.ndarray) -> np.ndarray:
    """Return the half spectrum of real fields (…, side, side)."""
    return fft.rfft2(field, norm="forward")


def field(half: np.ndarray, side: int) -> np.ndarray:
    """Return the real fields (…, side, side) of half spectra."""
    return fft.irfft2(half, s=(side, side), norm="forward")


def resized(half: np.ndarray, side: int) -> np.ndarray:
    """Return half spectra on the grid of `side`; frequencies that it does not contain are dropped."""
    old = half.shape[-2]
    if old == side:
        return half
    reach = (min(old, side) - 1) // 2
    new = np.zeros((*half.shape[:-2], side, side // 2 + 1), half.dtype)
    new[..., : reach + 1, : reach + 1] = half[..., : reach + 1, : reach + 1]
    new[..., -reach:, : reach + 1] = half[..., -reach:, : reach + 1]
    return new


def bands(half: np.ndarray, scale: Scale) -> np.ndarray:
    """Return the full spectra (channel, orientation, side, side) of an image's complex bands."""
    return _whole(resized(half, scale.side))[:, None] * scale.analytic


def complex_field(whole: np.ndarray, side: int) -> np.ndarray:
    """Return the complex fields of full spectra, on a grid of `side` at least as fine as theirs."""
    columns = fft.ifft(_widened(whole, side, -2), axis=-2, norm="forward", overwrite_x=True)
    return fft.ifft(_widened(columns, side, -1), axis=-1, norm="forward", overwrite_x=True)


def analytic_spectrum(real_bands: np.ndarray, scale: Scale) -> np.ndarray:
    """Return the full spectra of the complex bands whose real parts have these half spectra."""
    whole = _whole(real_bands)
    whole *= scale.half_plane
    return whole


def rebuilt(real_bands: np.ndarray, scale: Scale) -> np.ndarray:
    """Return what real bands with these half spectra add to the image, as a half spectrum (channel, …)."""
    return (real_bands * scale.rebuild).sum(axis=1)


def _widened(spectra: np.ndarray, side: int, axis: int) -> np.ndarray:
    """Return spectra on a grid of `side` along `axis`, with 0 at the frequencies that they lack."""
    if spectra.shape[axis] == side:
        return spectra
    reach = (spectra.shape[axis] - 1) // 2
    there = np.moveaxis(spectra, axis, -1)
    wide = np.zeros((*spectra.shape[:axis], side, *spectra.shape[axis:][1:]), spectra.dtype)
    new = np.moveaxis(wide, axis, -1)
    new[..., : reach + 1] = there[..., : reach + 1]
    new[..., -reach:] = there[..., -reach:]
    return wide


def _whole(half: np.ndarray) -> np.ndarray:
    """Return the full spectrum of real fields from their half spectrum."""
    side, columns = half.shape[-2:]
    whole = np.empty((*half.shape[:-1], side), half.dtype)
    whole[..., :columns] = half
    mirrored = half[..., (side - 1) // 2 : 0 : -1]
    np.conj(mirrored[..., :1, :], out=whole[..., :1, columns:])
    np.conj(mirrored[..., :0:-1, :], out=whole[..., 1:, columns:])
    return whole


def _scale(side: int, number: int) -> Scale:
    grid = _grid(side, number)
    ring, half_ring = (_ring(_radius(grid, side, half), number) for half in (False, True))
    whole, half = (np.stack([_towards(grid, k, h) for k in range(ORIENTATIONS)]) for h in (False, True))
    analytic = 2 * _TO_REAL * _GAIN * ring * np.maximum(whole, 0) ** _EXPONENT
    rebuild = np.conj(_TO_REAL) * _GAIN * half_ring * half**_EXPONENT
    below = _lowpass(_radius(grid, side, half=True), number) ** 2
    return Scale(
        grid,
        analytic.astype(np.complex64),
        rebuild.astype(np.complex64),
        (2 * (whole > 0)).astype(np.float32),
        below.astype(np.float32),
    )


def _grid(side: int, number: int) -> int:
    """Return the side of the grid of scale `number`: that of the image for 0, then even sides."""
    return side if number == 0 else 2 * int(np.ceil(side / 2 ** (number + 1)))


def _ring(radius: np.ndarray, number: int) -> np.ndarray:
    return _lowpass(radius, number) * np.sqrt(1 - _lowpass(radius, number + 1) ** 2)


def _lowpass(radius: np.ndarray, number: int) -> np.ndarray:
    """Return the amplitude by frequency: 1 up to pi / 2**(number + 1), falling to 0 within an octave."""
    with np.errstate(divide="ignore"):
        octaves = np.log2(radius * 2 ** (number + 1) / np.pi)
    return np.cos(np.pi / 2 * np.clip(octaves, 0, 1)) * (octaves < 1)


def _radius(grid: int, side: int, half: bool) -> np.ndarray:
    """Return frequencies in radians per pixel of an image of `side`, over a spectrum of `grid`."""
    y, x = _indices(grid, half)
    return 2 * np.pi * np.hypot(y, x) / side


def _towards(grid: int, orientation: int, half: bool) -> np.ndarray:
    y, x = _indices(grid, half)
    return np.cos(np.arctan2(y, x) - np.pi * orientation / ORIENTATIONS)


def _indices(grid: int, half: bool) -> tuple[np.ndarray, np.ndarray]:
    x = np.arange(grid // 2 + 1) if half else np.fft.fftfreq(grid, 1 / grid)
    return np.fft.fftfreq(grid, 1 / grid)[:, None], x[None, :]
