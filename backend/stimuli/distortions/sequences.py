"""Sequences of distortions: how they are drawn, and how they are applied."""

from collections.abc import Sequence

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.stimuli.distortions.blur import BLUR
from backend.stimuli.distortions.compression import COMPRESSION
from backend.stimuli.distortions.distortion import Distortion, Step
from backend.stimuli.distortions.noise import NOISE
from backend.stimuli.distortions.photometric import PHOTOMETRIC
from backend.stimuli.distortions.spatial import SPATIAL

TRADITIONAL: dict[str, Distortion] = {
    one.name: one for one in (*PHOTOMETRIC, *NOISE, *BLUR, *SPATIAL, *COMPRESSION)
}
"""The 20 traditional distortions of table 2 of Zhang et al. (CVPR 2018), by name."""
WHOLE_RANGE = (0.0, 1.0)
"""Positions of magnitudes, from mildest to strongest."""


def draw_sequence(
    rng: np.random.Generator,
    longest: int = 2,
    positions: tuple[float, float] = WHOLE_RANGE,
    among: Sequence[Distortion] = tuple(TRADITIONAL.values()),
) -> tuple[Step, ...]:
    """Return a random sequence of 1 to `longest` different distortions, every length equally probable.

    Args:
        positions: lowest and highest position of the magnitudes, uniform between them.
        among: distortions to draw from.
    """
    length = int(rng.integers(1, min(longest, len(among)) + 1))
    chosen = rng.choice(len(among), size=length, replace=False)
    return tuple(among[i].draw(rng.uniform(*positions), rng) for i in chosen)


def apply(picture: np.ndarray, steps: Sequence[Step]) -> np.ndarray:
    """Return the picture after all steps in order; every step ends with 8-bit levels.

    Args:
        picture: (height, width, 3) uint8, sRGB.

    Raises:
        ValueError: the array is of another shape or type.
    """
    check_picture(picture)
    for step in steps:
        picture = TRADITIONAL[step.name].apply(picture, step.values)
    return picture


def check_picture(picture: np.ndarray) -> None:
    """Raise ValueError if an array is not a picture that can be distorted."""
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or 0 in picture.shape:
        raise ValueError(
            f"a picture must be uint8 of (height, width, 3), not {picture.dtype} of {picture.shape}"
        )


def named(names: Sequence[str]) -> tuple[Distortion, ...]:
    """Return the distortions of these names or sub-types, in the order of the table; of no names, all.

    Raises:
        InvalidInput: there is no such distortion or sub-type.
    """
    known = {*TRADITIONAL, *(one.sub_type for one in TRADITIONAL.values())}
    for name in names:
        if name not in known:
            sub_types = dict.fromkeys(one.sub_type for one in TRADITIONAL.values())
            raise InvalidInput(
                f"there is no distortion {name!r}; there are the sub-types {', '.join(sub_types)} and the "
                f"distortions {', '.join(TRADITIONAL)}"
            )
    if not names:
        return tuple(TRADITIONAL.values())
    return tuple(one for one in TRADITIONAL.values() if one.name in names or one.sub_type in names)
