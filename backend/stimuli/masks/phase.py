"""Phase-scrambled masks: an image's amplitudes with random phases, at the same mean luminance.

The same field of random phase is added to all colour channels, so that the masks preserve the
image's spatial frequencies and the correlations of its colours, but none of its shapes.
"""

import numpy as np

_LEVELS = np.arange(256) / 255
_LIGHT = np.where(_LEVELS <= 0.04045, _LEVELS / 12.92, ((_LEVELS + 0.055) / 1.055) ** 2.4)
"""Light (0 to 1) of each level of sRGB (IEC 61966-2-1)."""
_HALVINGS = 16


def scramble(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a phase-scrambled mask of `picture`.

    Args:
        picture: (height, width, 3), uint8.
        rng: random generator of the phases.

    Returns:
        (height, width, 3), uint8; the mean light of each channel is that of the image, so that luminance is.
    """
    values = picture.astype(float)
    height, width, _ = values.shape
    # The transform of real noise has the symmetry that a real result requires.
    phases = np.angle(np.fft.rfft2(rng.standard_normal((height, width))))
    phases[0, 0] = 0
    means = values.mean(axis=(0, 1))
    spectrum = np.fft.rfft2(values - means, axes=(0, 1)) * np.exp(1j * phases)[..., None]
    waves = np.fft.irfft2(spectrum, s=(height, width), axes=(0, 1))
    return np.stack([_fitted(waves[..., c] + means[c], picture[..., c]) for c in range(3)], axis=-1)


def _fitted(wave: np.ndarray, channel: np.ndarray) -> np.ndarray:
    """Return `wave` in 8 bits, shifted until its mean light is that of `channel`, clipping included."""
    light = _LIGHT[channel].mean()
    low, high = -wave.max(), 255 - wave.min()
    for _ in range(_HALVINGS):
        shift = (low + high) / 2
        levels = np.round(np.clip(wave + shift, 0, 255)).astype(np.uint8)
        low, high = (shift, high) if _LIGHT[levels].mean() < light else (low, shift)
    return levels
