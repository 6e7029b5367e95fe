"""Pictures that the tests of distortions share."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

SIDE = 64


@cache
def _photograph():
    data = Path(find_spec("skimage").submodule_search_locations[0]) / "data"
    with Image.open(data / "chelsea.png") as opened:
        return np.asarray(opened.convert("RGB"))


def photograph():
    """A crop of a photograph with edges, texture and colour, far from black and white."""
    return _photograph()[60 : 60 + SIDE, 140 : 140 + SIDE].copy()


def flat(level, side=SIDE):
    return np.full((side, side, 3), level, np.uint8)


def coordinates(side=SIDE):
    """Levels that are their own place: right in the first channel, down in the second."""
    y, x = np.mgrid[:side, :side].astype(np.float64)
    return np.stack([x, y, np.zeros_like(x)], axis=-1)


def displacements(warped):
    """Return how far, down and right, a warp moved each pixel of `coordinates()`."""
    still = coordinates(len(warped))
    return np.stack([still[..., 1] - warped[..., 1], still[..., 0] - warped[..., 0]], axis=-1)
