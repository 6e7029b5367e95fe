"""Adjustment of images to a mean relative luminance, as defined by WCAG and sRGB.

Relative luminance: linearized levels, then 0.2126 R + 0.7152 G + 0.0722 B; 0 is black, 1 white.
"""

import numpy as np

from backend.stimuli.wcag_flashes import LINEAR

_WEIGHTS = np.array([0.2126, 0.7152, 0.0722])
_HALVINGS = 24
_MOST_SHIFT = 64.0


def mean_luminance(picture: np.ndarray) -> float:
    """Return the mean relative luminance (0 to 1) of an image (height, width, 3), uint8."""
    return float(LINEAR[picture].mean(axis=(0, 1), dtype=float) @ _WEIGHTS)


def at_luminance(levels: np.ndarray, wanted: float) -> np.ndarray:
    """Return levels (height, width, 3; 0 to 255) in 8 bits, shifted by one value to mean luminance `wanted`.

    The shift is found by bisection with rounding and clipping applied, so that it compensates for both.
    """
    best = _in_8_bits(levels)
    error = abs(mean_luminance(best) - wanted)
    low, high = -_MOST_SHIFT, _MOST_SHIFT
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        shifted = _in_8_bits(levels + np.float32(middle))
        mean = mean_luminance(shifted)
        if abs(mean - wanted) < error:
            best, error = shifted, abs(mean - wanted)
        low, high = (middle, high) if mean < wanted else (low, middle)
    return best


def _in_8_bits(levels: np.ndarray) -> np.ndarray:
    return np.round(np.clip(levels, 0, 255)).astype(np.uint8)
