"""The joint statistics of a texture's steerable pyramid, after Portilla and Simoncelli (2000).

The input is an image as decorrelated channels. The statistics of each scale are the means, central
auto-correlations and covariances of the bands' magnitudes, across orientations, channels and the next
coarser scale; the covariances of the bands' real parts, and with the coarser scale at doubled phase; and,
for the reconstruction from this and all coarser scales, covariance, central auto-correlation, skewness and
kurtosis. To these are added the same for the low-pass residual, and the covariance of the high-pass residual.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from backend.stimuli.masks import pyramid as pyramids
from backend.stimuli.masks.matmul import covariance, tall
from backend.stimuli.masks.pyramid import Pyramid, Scale

_NEIGHBOURHOOD = 3
"""Largest lag of auto-correlations in each direction: 7 by 7, as in the paper's figures."""
_TINY = 1e-12
_EMPTY = 1e-6
"""Share of a channel's variance below which a band counts as empty, its content as rounding error."""


@dataclass(frozen=True)
class LowpassStatistics:
    """Statistics of the reconstruction from a scale and all coarser ones, by channel."""

    covariance: np.ndarray
    """(channel, channel)"""
    lags: np.ndarray
    """(channel, lag): auto-covariances at `lags_of`."""
    skewness: np.ndarray
    kurtosis: np.ndarray


@dataclass(frozen=True)
class BandStatistics:
    """Statistics of one scale's bands; a band is a channel and an orientation, ordered by channel first."""

    magnitude_mean: np.ndarray
    """(band, 1)"""
    magnitude_covariance: np.ndarray
    """(band, band)"""
    magnitude_lags: np.ndarray
    """(band, lag)"""
    magnitude_parents: np.ndarray | None
    """(band, band of the next coarser scale): covariance; None at the coarsest."""
    real_covariance: np.ndarray
    """(band, band)"""
    real_parents: np.ndarray | None
    """(band, real and imaginary parts of the coarser bands at doubled phase): covariance."""
    lowpass: LowpassStatistics


@dataclass(frozen=True)
class Statistics:
    """Statistics of an image."""

    scales: tuple[BandStatistics, ...]
    """Fine to coarse."""
    below: LowpassStatistics
    above: np.ndarray
    """(channel, channel): covariance of the high-pass residual."""


def measure(half: np.ndarray, pyramid: Pyramid) -> Statistics:
    """Return the statistics of channels with the half spectra `half` (channel, side, side // 2 + 1)."""
    coarser = [*pyramid.scales[1:], None]
    scales = tuple(
        _band_statistics(half, scale, below) for scale, below in zip(pyramid.scales, coarser, strict=True)
    )
    residual = without_mean(pyramids.resized(half, pyramid.residual_side) * pyramid.below)
    below = lowpass_statistics(residual, pyramid.residual_side)
    return Statistics(scales, below, half_covariance(without_mean(half * pyramid.above), pyramid.side))


def lowpass_statistics(half: np.ndarray, side: int) -> LowpassStatistics:
    """Return the statistics of low-pass fields of mean 0 with the half spectra `half` (channel, …)."""
    skewness, kurtosis = standard_moments(rows(pyramids.field(half, side)))
    return LowpassStatistics(half_covariance(half, side), _lags_from(power(half), side), skewness, kurtosis)


def rows(fields: np.ndarray) -> np.ndarray:
    """Return fields (…, side, side) as rows of samples."""
    return fields.reshape(-1, fields.shape[-2] * fields.shape[-1])


def doubled_phase(parents: np.ndarray, magnitudes: np.ndarray) -> np.ndarray:
    """Return the real and then the imaginary parts, as rows, of complex bands with their phase doubled."""
    flat, sizes = rows(parents), rows(magnitudes)
    doubled = np.empty((2, *flat.shape), np.float32)
    for band, size, cosine, sine in zip(flat, sizes, *doubled, strict=True):  # one fits in the cache
        real, imaginary = band.real.copy(), band.imag.copy()
        size = np.maximum(size, np.float32(_TINY))
        np.divide(real * real - imaginary * imaginary, size, out=cosine)
        np.divide(2 * real * imaginary, size, out=sine)
    return doubled.reshape(-1, flat.shape[1])


def centred(magnitudes: np.ndarray) -> np.ndarray:
    """Return magnitudes as rows of mean 0."""
    flat = rows(magnitudes)
    return flat - flat.mean(axis=1, keepdims=True)


def standard_moments(flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return skewness and kurtosis of each row; 0 and 3 for a constant row."""
    deviations = flat - flat.mean(axis=1, keepdims=True)
    squares = deviations**2
    variance = squares.mean(axis=1, dtype=float)
    varies = variance > _EMPTY
    scale = np.where(varies, variance, 1)
    skewness = np.where(varies, (squares * deviations).mean(axis=1, dtype=float) / scale**1.5, 0)
    kurtosis = np.where(varies, (squares * squares).mean(axis=1, dtype=float) / scale**2, 3)
    return skewness, kurtosis


@lru_cache(maxsize=32)
def lags_of(side: int) -> np.ndarray:
    """Return (lag, 2): the lags (y, x) of one half of the neighbourhood on a grid of `side`, lag 0 first."""
    reach = min(_NEIGHBOURHOOD, (side - 1) // 4)
    square = range(-reach, reach + 1)
    return np.array([(y, x) for y in square for x in square if (y, x) >= (0, 0)])


def lags(fields: np.ndarray) -> np.ndarray:
    """Return the auto-covariances (…, lag) of fields (…, side, side) of mean 0, at `lags_of`."""
    return _lags_from(power(pyramids.spectrum(fields)), fields.shape[-1])


def _lags_from(power: np.ndarray, side: int) -> np.ndarray:
    y, x = lags_of(side).T
    return lag_table(power, side, int(y.max()))[..., y, x].reshape(-1, len(y))


def power(half: np.ndarray) -> np.ndarray:
    return half.real**2 + half.imag**2


def half_covariance(half: np.ndarray, side: int) -> np.ndarray:
    """Return the covariance of fields of mean 0 from their half spectra (channel, …), by Parseval."""
    weighted = real_rows(half * np.sqrt(_column_weights(side)))
    return covariance(weighted) * weighted.shape[1]


def real_rows(half: np.ndarray) -> np.ndarray:
    """Return half spectra (channel, …) as rows in which real and imaginary parts alternate."""
    return rows(np.ascontiguousarray(half)).view(half.real.dtype)


def lag_table(power: np.ndarray, side: int, reach: int) -> np.ndarray:
    """Return auto-covariances (…, 2 reach + 1, 2 reach + 1) from the power of half spectra.

    A lag (y, x) is at [y, x], with negative lags counted from the end. For a few lags, two products with
    cosines cost less than an inverse transform.
    """
    across, down = _waves(side, reach)
    inner = tall(power, np.concatenate([across.real, across.imag], axis=1))
    size = 2 * reach + 1
    table = down.real.T @ inner[..., :size] - down.imag.T @ inner[..., size:]
    return table.astype(float)


def from_lag_table(table: np.ndarray, side: int) -> np.ndarray:
    """Return the half power spectrum (…, side, side // 2 + 1) with lags `table`, and 0 at all other lags."""
    across, down = _waves(side, table.shape[-1] // 2)
    weights = _column_weights(side)[:, None]
    table = table.astype(np.float32)
    left = np.concatenate([down.real @ table, -down.imag @ table], axis=-1)
    return tall(left, np.concatenate([across.real / weights, across.imag / weights], axis=1).T)


@lru_cache(maxsize=64)
def _waves(side: int, reach: int) -> tuple[np.ndarray, np.ndarray]:
    """Return exp(i w lag) over columns, weighted for the omitted half, and over rows."""
    lag = np.fft.fftfreq(2 * reach + 1, 1 / (2 * reach + 1))
    down = np.exp(2j * np.pi * np.outer(np.arange(side), lag) / side)
    across = down[: side // 2 + 1] * _column_weights(side)[:, None]
    return across.astype(np.complex64), down.astype(np.complex64)


def _column_weights(side: int) -> np.ndarray:
    """Return how often each column of a half spectrum occurs in the full spectrum."""
    weights = np.full(side // 2 + 1, 2, np.float32)
    weights[0] = 1
    if side % 2 == 0:
        weights[-1] = 1
    return weights


def without_mean(half: np.ndarray) -> np.ndarray:
    half = half.copy()
    half[..., 0, 0] = 0
    return half


def _band_statistics(half: np.ndarray, scale: Scale, coarser: Scale | None) -> BandStatistics:
    complex_bands = pyramids.complex_field(pyramids.bands(half, scale), scale.side)
    magnitudes = np.abs(complex_bands)
    size, real = centred(magnitudes), rows(complex_bands.real)
    lowpass = without_mean(pyramids.resized(half, scale.side) * scale.below)
    parents = parent_sizes = None
    if coarser is not None:
        parents = pyramids.complex_field(pyramids.bands(half, coarser), scale.side)
        parent_sizes = np.abs(parents)
    return BandStatistics(
        magnitude_mean=rows(magnitudes).mean(axis=1, keepdims=True),
        magnitude_covariance=covariance(size),
        magnitude_lags=lags(size.reshape(magnitudes.shape)),
        magnitude_parents=None if parent_sizes is None else covariance(size, centred(parent_sizes)),
        real_covariance=covariance(real),
        real_parents=(
            None
            if parents is None or parent_sizes is None
            else covariance(real, doubled_phase(parents, parent_sizes))
        ),
        lowpass=lowpass_statistics(lowpass, scale.side),
    )
