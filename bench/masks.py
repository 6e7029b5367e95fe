"""Texture masks against phase-scrambled masks of the same pictures, the floor of a mask's cost."""

import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_images

from backend.stimuli.masks import make_masks, mask_of

SIDE = 256
POOL = 16


def run() -> dict:
    pictures = _patches()
    texture, phase = ([_seconds(picture, kind) for picture in pictures] for kind in ("texture", "phase"))
    megapixels = SIDE**2 / 1e6
    one, two = _pool_seconds(pictures, 1), _pool_seconds(pictures, None)
    return {
        "a texture mask's time / a phase-scrambled one's, colour, 256 px": {
            "ratio": median(texture) / median(phase), "seconds_a_megapixel": median(texture) / megapixels,
        },
        "texture masks, time of one process / of one a core": {
            "ratio": one / two, "goal": "about the number of cores",
        },
    }  # fmt: skip


def _patches() -> list[np.ndarray]:
    corners = [(0, 0), (0, 350), (150, 180)]
    return [image[y : y + SIDE, x : x + SIDE] for image in load_sample_images().images for y, x in corners]


def _seconds(picture: np.ndarray, kind: str) -> float:
    took = []
    for seed in range(3):
        began = time.perf_counter()
        mask_of(picture, kind, seed)
        took.append(time.perf_counter() - began)
    return median(took)


def _pool_seconds(pictures: list[np.ndarray], workers: int | None) -> float:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        paths = [root / f"{i}.png" for i in range(len(pictures))]
        for path, picture in zip(paths, pictures, strict=True):
            Image.fromarray(picture).save(path)
        (root / "out").mkdir()
        began = time.perf_counter()
        make_masks(
            paths, root / "out", POOL, kind="texture", rng=Random(1), image_format="webp", workers=workers
        )
        return time.perf_counter() - began
