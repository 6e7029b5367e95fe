"""Phase-scrambled masks: an image's amplitudes with random phases, at the same mean luminance.

The same field of random phase is added to all colour channels, so that the masks preserve the
image's spatial frequencies and the correlations of its colours, but none of its shapes.
"""

import numpy as np


def scramble(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a phase-scrambled mask of `picture`.

    Args:
        picture: (height, width, 3), uint8.
        rng: random generator of the phases.

    Returns:
        (height, width, 3), uint8; its mean luminance is that of the image within one level.
    """
    values = picture.astype(float)
    height, width, _ = values.shape
    # The transform of real noise has the symmetry that a real result requires.
    phases = np.angle(np.fft.rfft2(rng.standard_normal((height, width))))
    phases[0, 0] = 0
    means = values.mean(axis=(0, 1))
    spectrum = np.fft.rfft2(values - means, axes=(0, 1)) * np.exp(1j * phases)[..., None]
    waves = np.fft.irfft2(spectrum, s=(height, width), axes=(0, 1))
    return np.stack([_fitted(waves[..., c], means[c]) for c in range(3)], axis=-1)


def _fitted(wave: np.ndarray, mean: float) -> np.ndarray:
    """Return `wave` around `mean` in 8 bits, shifted so as to compensate for clipping."""
    shift = mean
    for _ in range(20):
        clipped = np.clip(wave + shift, 0, 255)
        shift += mean - clipped.mean()
    return np.round(np.clip(wave + shift, 0, 255)).astype(np.uint8)
