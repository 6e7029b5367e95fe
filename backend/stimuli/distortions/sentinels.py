"""Distortions with a known answer: for sentinels and for training items.

A 2AFC sentinel sets weak noise against heavy noise; a JND sentinel that differs has heavy noise (section 2.2
of Zhang et al., CVPR 2018, which gives no amounts). Training pairs that differ do so visibly, but only to
who attends to them.
"""

import numpy as np

from backend.stimuli.distortions.distortion import Step
from backend.stimuli.distortions.lab import colour_difference
from backend.stimuli.distortions.sequences import apply, draw_sequence

WEAK_SD, HEAVY_SD = 6.0, 70.0
"""Standard deviations (levels) of Gaussian white noise: hardly visible, and obvious at a glance."""
SUBTLE_POSITIONS = (0.4, 0.6)
"""Positions of the magnitude, from 0 (mildest) to 1 (strongest), of a training pair's distortion."""
VISIBLE_DIFFERENCE = 4.0
"""Mean Delta E*ab that `subtle` makes at least; 2.3 is a just noticeable difference (Mahy et al., 1994)."""
_TRIES = 40


def weak_noise(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the picture with weak Gaussian noise, much closer to it than with `heavy_noise`.

    Args:
        picture: (height, width, 3) uint8, as is what is returned.
    """
    return apply(picture, [_white(WEAK_SD, rng)])


def heavy_noise(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the picture with heavy Gaussian noise, obviously different from it; (height, width, 3) uint8."""
    return apply(picture, [_white(HEAVY_SD, rng)])


def subtle(picture: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the picture with one distortion of middle strength, which is visible to who attends to it.

    Distortions that this picture hardly shows, such as blur of a smooth surface, are drawn again.
    Takes and returns (height, width, 3) uint8.
    """
    best, largest = picture, -1.0
    for _ in range(_TRIES):
        made = apply(picture, draw_sequence(rng, longest=1, positions=SUBTLE_POSITIONS))
        difference = float(colour_difference(picture, made).mean())
        if difference >= VISIBLE_DIFFERENCE:
            return made
        if difference > largest:
            best, largest = made, difference
    return best


def _white(sd: float, rng: np.random.Generator) -> Step:
    return Step("gaussian_white_noise", {"sd": sd, "seed": int(rng.integers(2**32))})
