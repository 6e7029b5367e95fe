"""CIELAB (D65 white, 2 degree observer) to and from sRGB levels, after IEC 61966-2-1 and CIE 15."""

import numpy as np

_TO_XYZ = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
"""Linear sRGB to XYZ, of which the rows add up to the white point."""
_FROM_XYZ = np.linalg.inv(np.array(_TO_XYZ)).tolist()
_WHITE = tuple(map(sum, _TO_XYZ))
_KNEE = 6 / 29  # CIE 15: below its cube, L*a*b* is linear in light


def to_lab(levels: np.ndarray) -> np.ndarray:
    """Return L*, a*, b* of sRGB levels (0 to 255); the last axis has the three channels of either."""
    share = np.clip(levels, 0, 255) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    xyz = zip(_mixed(linear, _TO_XYZ), _WHITE, strict=True)
    x, y, z = (_compressed(channel / white) for channel, white in xyz)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)


def from_lab(lab: np.ndarray) -> np.ndarray:
    """Return sRGB levels of L*, a*, b*; colours that sRGB lacks are clipped to 0 to 255 in each channel."""
    y = (lab[..., 0] + 16) / 116
    xyz = (y + lab[..., 1] / 500, y, y - lab[..., 2] / 200)
    whites = zip(xyz, _WHITE, strict=True)
    scaled = np.stack([_expanded(share) * white for share, white in whites], axis=-1)
    linear = np.clip(np.stack(_mixed(scaled, _FROM_XYZ), axis=-1), 0, 1)
    return 255 * np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def colour_difference(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the difference of each pixel, as Delta E*ab of 1976, of two pictures (sRGB levels)."""
    return np.sqrt(((to_lab(first) - to_lab(second)) ** 2).sum(axis=-1))


def _mixed(channels: np.ndarray, matrix: tuple | list) -> list[np.ndarray]:
    return [sum(weight * channels[..., i] for i, weight in enumerate(row)) for row in matrix]


def _compressed(share: np.ndarray) -> np.ndarray:
    return np.where(share > _KNEE**3, np.cbrt(share), share / (3 * _KNEE**2) + 4 / 29)


def _expanded(share: np.ndarray) -> np.ndarray:
    return np.where(share > _KNEE, share**3, 3 * _KNEE**2 * (share - 4 / 29))
