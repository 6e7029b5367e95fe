"""The colours of a PNG file without a profile: its gAMA and cHRM, as Chromium shows them.

A gAMA without cHRM that differs from 1/2.2 by less than 5% is that of sRGB (libpng's threshold); with cHRM
both are taken at their word. cICP, iCCP and sRGB go before them (PNG, third edition, 4.3). Of cICP's transfer
functions the powers are applied, and that of BT.709, with which frames of videos are saved.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

_SCREEN = 2.2
_THRESHOLD = 0.05
_SRGB = (0.3127, 0.329, 0.64, 0.33, 0.3, 0.6, 0.15, 0.06)  # D65 and the primaries of BT.709
_POWERS = {**dict.fromkeys((1, 6, 11, 14, 15), 2.4), 4: 2.2, 5: 2.8, 8: 1}
"""The power of levels that is light, by transfer function of H.273; BT.709 is shown as BT.1886 says."""
_BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
"""From XYZ to the responses of cones in which whites are adapted (ICC.1:2022, annex E)."""


@dataclass(frozen=True)
class Gamma:
    """Levels are light to the power of `gamma`, of lamps with the xy of white, red, green and blue."""

    gamma: float
    lamps: tuple[float, ...] = _SRGB


def gamma_of(colour: Mapping[bytes, bytes]) -> Gamma | None:
    """Return the gamma by which levels are to be converted to sRGB, or None if they are sRGB's."""
    if cicp := colour.get(b"cICP"):
        return Gamma(1 / _POWERS[cicp[1]]) if cicp[1] in _POWERS else None
    if not colour.keys().isdisjoint({b"iCCP", b"sRGB"}) or len(colour.get(b"gAMA", b"")) != 4:
        return None
    gamma = int.from_bytes(colour[b"gAMA"]) / 100_000
    if gamma and len(lamps := colour.get(b"cHRM", b"")) == 32:
        return Gamma(gamma, tuple(value / 100_000 for value in struct.unpack(">8I", lamps)))
    return Gamma(gamma) if gamma and abs(gamma * _SCREEN - 1) >= _THRESHOLD else None


def in_srgb(levels: np.ndarray, gamma: Gamma) -> np.ndarray:
    """Return levels (height, width) or (height, width, 3), uint8 or uint16, as those of sRGB in uint8."""
    peak = np.iinfo(levels.dtype).max
    light = (np.arange(peak + 1) / peak) ** (1 / gamma.gamma)
    if levels.ndim == 2 or np.allclose(gamma.lamps, _SRGB, atol=1e-3):
        return _encoded(light)[levels]
    matrix = np.linalg.inv(_to_xyz(_SRGB)) @ _to_xyz(gamma.lamps)
    return _encoded((light[levels] @ matrix.T).clip(0, 1))


def _encoded(light: np.ndarray) -> np.ndarray:
    """Return light (0 to 1) as levels of sRGB (IEC 61966-2-1), uint8."""
    levels = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.rint(255 * levels).astype(np.uint8)


def _to_xyz(lamps: tuple[float, ...]) -> np.ndarray:
    """Return the matrix from light of red, green and blue lamps to XYZ, adapted to the white of sRGB."""
    white, *rgb = (np.array([x, y, 1 - x - y]) / y for x, y in zip(lamps[::2], lamps[1::2], strict=True))
    columns = np.stack(rgb, axis=1)
    srgb_white = np.array([_SRGB[0], _SRGB[1], 1 - _SRGB[0] - _SRGB[1]]) / _SRGB[1]
    scale = np.diag((_BRADFORD @ srgb_white) / (_BRADFORD @ white))
    return np.linalg.inv(_BRADFORD) @ scale @ _BRADFORD @ columns @ np.diag(np.linalg.solve(columns, white))
