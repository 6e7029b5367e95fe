"""Ten pictures of 256 x 256 px from scikit-image, in the public domain or under CC0.

`python -m validate.sources DIR` writes them to DIR, as input of `openhype masks DIR -o docs/masks.png`.
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image

SIDE = 256
_CROPS = {
    "astronaut": (96, 0, 256),
    "brick": (0, 0, 256),
    "camera": (130, 30, 256),
    "chelsea": (100, 20, 256),
    "coffee": (150, 20, 360),
    "grass": (100, 100, 256),
    "gravel": (100, 100, 256),
    "hubble_deep_field": (300, 300, 256),
    "retina": (500, 500, 400),
    "rocket": (200, 100, 256),
}
"""Squares to crop, by name in `skimage.data`: x, y and side (px)."""


def sources() -> dict[str, np.ndarray]:
    """Return the pictures by name; shape (256, 256, 3), dtype uint8."""
    from skimage import data

    made = {}
    for name, (x, y, side) in _CROPS.items():
        picture = Image.fromarray(getattr(data, name)()).convert("RGB")
        square = picture.crop((x, y, x + side, y + side)).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
        made[name] = np.asarray(square)
    return made


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True)
    for name, picture in sources().items():
        Image.fromarray(picture).save(folder / f"{name}.png")
