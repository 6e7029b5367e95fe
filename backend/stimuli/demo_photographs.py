"""The demo's photographs, which scikit-image ships, and how images are cropped from them.

All are free of copyright restrictions (public domain or CC0, as scikit-image's documentation says of each).
Each crop has its own position, scale, angle and tone. The black-and-white photographs are tinted, like
prints, so that colour does not distinguish them from the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from backend.foundation.optional_packages import not_installed

_TRIES = 200
_LESS_PX = 32


@dataclass(frozen=True)
class Subject:
    """A region of a photograph from which images are cropped."""

    file: str
    scales: tuple[float, float]
    """Minimum and maximum number of image pixels for each pixel of the photograph, along a side."""
    turn_degrees: float = 180
    """Largest rotation of a crop, in either direction."""
    box: tuple[int, int, int, int] | None = None
    """Left, top, right, bottom in the photograph; None for the complete photograph."""
    share: int = 2
    """Relative frequency, compared with the other subjects."""
    is_mirrored: bool = True
    """Whether half of its crops are mirrored; mirrored writing would be noticeable."""
    tints: Sequence[tuple[int, int, int]] = ()
    """Colours for middle gray, one of which is given to each crop of a black-and-white photograph."""


SUBJECTS = {
    "brick": Subject(
        "brick.png", (0.9, 1.5), 8, tints=((150, 84, 66), (158, 110, 84), (128, 122, 116), (170, 140, 104))
    ),
    "grass": Subject("grass.png", (0.9, 1.6), share=3, tints=((96, 118, 62), (122, 122, 72), (84, 110, 84))),
    "gravel": Subject("gravel.png", (0.8, 1.6), tints=((134, 126, 116), (120, 124, 130), (150, 124, 98))),
    "coins": Subject("coins.png", (1.0, 1.5), 20, tints=((132, 118, 96), (124, 124, 124), (118, 122, 132))),
    "tissue": Subject("ihc.png", (0.9, 1.5), share=3),
    "galaxies": Subject("hubble_deep_field.jpg", (0.8, 1.5)),
    "retina": Subject("retina.jpg", (0.45, 0.85), box=(230, 230, 1180, 1180)),
    "fur": Subject("chelsea.png", (2.0, 2.8), 15, box=(60, 0, 350, 112), share=3),
    "wood": Subject("coffee.png", (2.4, 3.0), 20, box=(484, 110, 600, 400)),
    "suit": Subject("astronaut.png", (1.2, 2.0), 15, box=(130, 290, 400, 512), share=1, is_mirrored=False),
    "cat": Subject("chelsea.png", (1.0, 1.9), 12, share=1),
    "coffee": Subject("coffee.png", (0.8, 1.5), 12, share=1),
}
"""Subjects by name."""


def cut(subject: Subject, side_px: int, rng: np.random.Generator) -> np.ndarray:
    """Return a square crop of a photograph, smaller than `side_px` if the subject is too small for that.

    Returns:
        (side, side) for a black-and-white photograph, else (side, side, 3); uint8.
    """
    photograph = _photograph(subject.file, subject.box)
    for _ in range(_TRIES):
        scale = float(np.exp(rng.uniform(*np.log(subject.scales))))
        angle = np.deg2rad(rng.uniform(-subject.turn_degrees, subject.turn_degrees))
        reach = side_px / 2 * (abs(np.cos(angle)) + abs(np.sin(angle)))
        width, height = (round(side * scale) for side in photograph.size)
        if min(width, height) >= 2 * reach:
            picture = _turned(photograph, (width, height), angle, reach, side_px, rng)
            is_mirrored = subject.is_mirrored and rng.random() < 0.5
            return np.ascontiguousarray(picture[:, ::-1]) if is_mirrored else picture
    return cut(subject, side_px - _LESS_PX, rng)


def toned(picture: np.ndarray, subject: Subject, rng: np.random.Generator) -> np.ndarray:
    """Return a crop, or an image made from one, as (side, side, 3) uint8 with a random tone."""
    levels = picture.reshape(*picture.shape[:2], -1) / 255
    mean = levels.mean()
    levels = np.clip(mean + (levels - mean) * rng.uniform(0.92, 1.08), 0, 1)
    levels = levels ** np.exp(rng.uniform(-0.18, 0.18))
    if subject.tints:
        tint = np.array(subject.tints[int(rng.integers(len(subject.tints)))]) / 255
        levels = levels ** (np.log(tint) / np.log(0.5))  # a level of one half becomes the tint
    else:
        levels = levels ** np.exp(rng.uniform(-0.05, 0.05, size=3))
    return np.round(255 * np.clip(levels, 0, 1)).astype(np.uint8)


@lru_cache(maxsize=32)
def _photograph(file: str, box: tuple[int, int, int, int] | None) -> Image.Image:
    with Image.open(_folder() / file) as opened:
        whole = opened.convert("L" if opened.mode == "L" else "RGB")
    return whole.crop(box) if box else whole


def check_installed() -> None:
    """Raise NotInstalled if scikit-image, which contains the photographs, is missing."""
    _folder()


def _folder() -> Path:
    """Return scikit-image's folder of photographs without importing it, which takes a second."""
    package = find_spec("skimage")
    if package is None or not package.submodule_search_locations:
        raise not_installed("the demo", "skimage")
    return Path(package.submodule_search_locations[0]) / "data"


def _turned(
    photograph: Image.Image,
    size: tuple[int, int],
    angle: float,
    reach: float,
    side_px: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return a crop at a random position of the photograph scaled to `size`, rotated by `angle` (radians)."""
    scaled = photograph.resize(size, Image.Resampling.LANCZOS)
    x, y = (rng.uniform(reach, side - reach) for side in size)
    cosine, sine, middle = np.cos(angle), np.sin(angle), side_px / 2
    matrix = (
        *(cosine, sine, x - (cosine + sine) * middle),
        *(-sine, cosine, y - (cosine - sine) * middle),
    )
    turned = scaled.transform((side_px, side_px), Image.Transform.AFFINE, matrix, Image.Resampling.BICUBIC)
    return np.asarray(turned)
