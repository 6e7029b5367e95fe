"""Noise: white and coloured, independent in each colour channel, and the checkerboard artifact.

The colour of noise is the exponent of its power spectrum, which is proportional to the radial spatial
frequency to that power: violet 2, blue 1, white 0, pink -1, brown -2.
"""

import numpy as np
from scipy import fft

from backend.stimuli.distortions.distortion import Choice, Distortion, Magnitude, Seed, Uniform

BROWN, PINK, BLUE, VIOLET = -2, -1, 1, 2
"""Exponents of the power spectrum."""


def uniform_white_noise(levels: np.ndarray, half_width: float, seed: int) -> np.ndarray:
    """Return the picture plus noise that is uniform from -half_width to half_width (levels)."""
    return levels + np.random.default_rng(seed).uniform(-half_width, half_width, levels.shape)


def gaussian_white_noise(levels: np.ndarray, sd: float, seed: int) -> np.ndarray:
    """Return the picture plus Gaussian noise of standard deviation `sd` (levels)."""
    return levels + np.random.default_rng(seed).normal(0, sd, levels.shape)


def gaussian_pink_noise(levels: np.ndarray, sd: float, seed: int) -> np.ndarray:
    """Return the picture plus pink noise of standard deviation `sd` (levels)."""
    return gaussian_colored_noise(levels, sd, PINK, seed)


def gaussian_blue_noise(levels: np.ndarray, sd: float, seed: int) -> np.ndarray:
    """Return the picture plus blue noise of standard deviation `sd` (levels)."""
    return gaussian_colored_noise(levels, sd, BLUE, seed)


def gaussian_colored_noise(levels: np.ndarray, sd: float, exponent: float, seed: int) -> np.ndarray:
    """Return the picture plus Gaussian noise of expected SD `sd` (levels) and spectral `exponent`."""
    return levels + coloured_noise(levels.shape, sd, exponent, np.random.default_rng(seed))


def coloured_noise(
    shape: tuple[int, ...], sd: float, exponent: float, rng: np.random.Generator
) -> np.ndarray:
    """Return Gaussian noise of shape (height, width, …), periodic, whose expected mean square is sd**2.

    White noise is multiplied in the frequency domain by f**(exponent / 2); the constant component is zero.
    """
    height, width = shape[:2]
    frequency = np.hypot(fft.fftfreq(height)[:, None], fft.fftfreq(width)[None, :])
    gain = np.zeros((height, width))
    gain[frequency > 0] = frequency[frequency > 0] ** (exponent / 2)
    gain *= sd / np.sqrt((gain**2).mean())
    spectrum = fft.fft2(rng.standard_normal(shape), axes=(0, 1))
    return fft.ifft2(spectrum * gain.reshape(height, width, *[1] * (len(shape) - 2)), axes=(0, 1)).real


def checkerboard_artifact(levels: np.ndarray, amplitude: float, period_px: int) -> np.ndarray:
    """Return the picture with squares of half a period alternately lighter and darker by `amplitude` levels.

    Transposed convolutions of networks leave such patterns.
    """
    height, width = levels.shape[:2]
    side = period_px // 2
    odd = np.add.outer(np.arange(height) // side, np.arange(width) // side) % 2
    return levels + amplitude * (1 - 2 * odd)[..., None]


_SD = Magnitude("sd", 2, 40, "levels")

NOISE = (
    Distortion(
        "uniform_white_noise",
        "noise",
        uniform_white_noise,
        Magnitude("half_width", 3, 70, "levels"),
        (Seed(),),
    ),
    Distortion("gaussian_white_noise", "noise", gaussian_white_noise, _SD, (Seed(),)),
    Distortion("gaussian_pink_noise", "noise", gaussian_pink_noise, _SD, (Seed(),)),
    Distortion("gaussian_blue_noise", "noise", gaussian_blue_noise, _SD, (Seed(),)),
    Distortion(
        "gaussian_colored_noise",
        "noise",
        gaussian_colored_noise,
        _SD,
        (Uniform("exponent", BROWN, VIOLET, ""), Seed()),
    ),
    Distortion(
        "checkerboard_artifact",
        "noise",
        checkerboard_artifact,
        Magnitude("amplitude", 1.5, 30, "levels"),
        (Choice("period_px", (2, 4, 8), "px"),),
    ),
)
