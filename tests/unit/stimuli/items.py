"""Folders of pairs and triplets for tests."""

import numpy as np
from PIL import Image

TRIPLET = ("ref", "p0", "p1")
PAIR = ("p0", "p1")


def fill(folder, stems=6, parts=TRIPLET, size=24, seed=7, suffix="png"):
    """Write a set of items, each part of an item another picture; return the folder."""
    rng = np.random.default_rng([seed, *folder.name.encode()])
    names = [f"{i:03d}" for i in range(stems)] if isinstance(stems, int) else stems
    for part in parts:
        (folder / part).mkdir(parents=True, exist_ok=True)
        for name in names:
            pixels = rng.integers(0, 256, (size, size, 3)).astype("uint8")
            Image.fromarray(pixels).save(folder / part / f"{name}.{suffix}")
    return folder
