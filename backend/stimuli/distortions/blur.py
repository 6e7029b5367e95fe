"""Blur: Gaussian, and bilateral filtering (Tomasi and Manduchi, 1998). Edges are mirrored."""

import numpy as np
from scipy.ndimage import correlate1d

from backend.stimuli.distortions.distortion import Distortion, Magnitude, Uniform

_TRUNCATE = 4
"""Standard deviations at which the Gaussian kernel ends."""
_BILATERAL_TRUNCATE = 2


def gaussian_blur(levels: np.ndarray, sd_px: float) -> np.ndarray:
    """Return the picture convolved with a Gaussian of standard deviation `sd_px`."""
    reach = int(_TRUNCATE * sd_px + 0.5)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sd_px) ** 2)
    kernel /= kernel.sum()
    rows = correlate1d(levels, kernel, axis=0, mode="reflect")
    return correlate1d(rows, kernel, axis=1, mode="reflect")


def bilateral_filtering(levels: np.ndarray, sd_levels: float, sd_px: float) -> np.ndarray:
    """Return the mean of each pixel's neighbours, weighted by nearness in place and in colour.

    Args:
        sd_levels: of the Gaussian weight of the distance in RGB (levels).
        sd_px: of the Gaussian weight of the distance in place, which ends at two standard deviations.
    """
    reach = int(_BILATERAL_TRUNCATE * sd_px + 0.5)
    height, width = levels.shape[:2]
    channels = np.ascontiguousarray(np.moveaxis(levels, -1, 0), np.float32)
    padded = np.pad(channels, ((0, 0), (reach, reach), (reach, reach)), mode="symmetric")
    total, weights = np.zeros_like(channels), np.zeros((height, width), np.float32)
    for down in range(2 * reach + 1):
        for right in range(2 * reach + 1):
            squared_px = (down - reach) ** 2 + (right - reach) ** 2
            if squared_px > (_BILATERAL_TRUNCATE * sd_px) ** 2:
                continue
            neighbour = padded[:, down : down + height, right : right + width]
            squared = ((neighbour - channels) ** 2).sum(axis=0)
            weight = np.exp(squared * (-0.5 / sd_levels**2) - 0.5 * squared_px / sd_px**2)
            total += weight * neighbour
            weights += weight
    return np.moveaxis(total / weights, 0, -1).astype(np.float64)


BLUR = (
    Distortion("gaussian_blur", "blur", gaussian_blur, Magnitude("sd_px", 0.4, 4, "px")),
    Distortion(
        "bilateral_filtering",
        "blur",
        bilateral_filtering,
        Magnitude("sd_levels", 10, 150, "levels"),
        (Uniform("sd_px", 1, 3, "px"),),
    ),
)
