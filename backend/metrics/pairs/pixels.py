"""L2 and PSNR: distances of the values of pixels, in 64-bit floats."""

import math

import numpy as np

_PEAK = 255
IDENTICAL_DB = 200.0
"""PSNR (dB) in place of infinity for equal pictures: above that of any that differ, which is at most 133 dB,
for a difference of one level in one of three channels of 100 million pixels."""


def l2(first: np.ndarray, second: np.ndarray) -> float:
    """Return the root of the mean squared difference of values from 0 to 1, over pixels and channels."""
    return math.sqrt(_mean_square(first, second)) / _PEAK


def minus_psnr(first: np.ndarray, second: np.ndarray) -> float:
    """Return the negative of the peak signal-to-noise ratio (dB), 10 log10(255² / mean squared difference).

    It is infinite for equal pictures, which get `-IDENTICAL_DB`, so that all distances are ordered numbers.
    """
    error = _mean_square(first, second)
    return -10 * math.log10(_PEAK**2 / error) if error else -IDENTICAL_DB


def _mean_square(first: np.ndarray, second: np.ndarray) -> float:
    difference = first.astype(np.int32) - second
    return float(np.mean(difference * difference, dtype=np.float64))
