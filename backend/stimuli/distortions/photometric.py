"""Photometric distortions: lightness, colour, contrast and saturation, all in CIELAB."""

import numpy as np

from backend.stimuli.distortions.distortion import Choice, Distortion, Magnitude, Uniform
from backend.stimuli.distortions.lab import from_lab, to_lab

_DIRECTION = Choice("direction", (-1, 1), "")


def lightness_shift(levels: np.ndarray, lightness: float, direction: int) -> np.ndarray:
    """Return the picture with `lightness` added to (direction 1) or taken from (-1) L* (0 to 100)."""
    return from_lab(to_lab(levels) + np.array([direction * lightness, 0, 0]))


def color_shift(levels: np.ndarray, distance: float, hue_deg: float) -> np.ndarray:
    """Return the picture with a* and b* moved by `distance` towards a hue (0 red, 90 yellow, 180 green)."""
    hue = np.deg2rad(hue_deg)
    return from_lab(to_lab(levels) + np.array([0, distance * np.cos(hue), distance * np.sin(hue)]))


def contrast(levels: np.ndarray, change: float, direction: int) -> np.ndarray:
    """Return the picture with the differences of L* from its mean times 1 + direction * change."""
    lab = to_lab(levels)
    mean = lab[..., 0].mean()
    lab[..., 0] = mean + (1 + direction * change) * (lab[..., 0] - mean)
    return from_lab(lab)


def saturation(levels: np.ndarray, change: float, direction: int) -> np.ndarray:
    """Return the picture with a* and b* times 1 + direction * change."""
    factor = 1 + direction * change
    return from_lab(to_lab(levels) * np.array([1, factor, factor]))


PHOTOMETRIC = (
    Distortion(
        "lightness_shift", "photometric", lightness_shift, Magnitude("lightness", 1, 30, "L*"), (_DIRECTION,)
    ),
    Distortion(
        "color_shift",
        "photometric",
        color_shift,
        Magnitude("distance", 1.5, 40, "a*, b*"),
        (Uniform("hue_deg", 0, 360, "degrees"),),
    ),
    Distortion("contrast", "photometric", contrast, Magnitude("change", 0.05, 0.8, "share"), (_DIRECTION,)),
    Distortion("saturation", "photometric", saturation, Magnitude("change", 0.08, 1, "share"), (_DIRECTION,)),
)
