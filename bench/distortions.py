"""`openhype distort` on all cores against one process that decodes and encodes the same pictures plainly."""

import resource
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image

from backend.stimuli.distorted_set import SetOptions, make_set
from bench.timing import timed

PHOTOGRAPHS = 60
COUNT = 1200
SIZE = 64
SIZE_OF_PHOTOGRAPHS = (1536, 1024)


def run() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _photographs(root / "photographs")
        plain, ours = [], []
        for i in range(3):
            plain.append(timed(lambda i=i: _plain_loop(root / "photographs", root / f"plain-{i}")))
            ours.append(timed(lambda i=i: _ours(root, f"ours-{i}", COUNT)))
        few = _peak_mb()
        _ours(root, "many", 4 * COUNT)
        many = _peak_mb()
    return {
        f"{COUNT:,} triplets from {PHOTOGRAPHS} photographs, time / one process that crops and encodes": {
            "ratio": median(ours) / median(plain), "seconds": [median(ours), median(plain)],
        },
        "memory of a process that distorts, 4,800 triplets / 1,200": {
            "ratio": many / few, "goal": "about 1", "mb": [few, many],
        },
    }  # fmt: skip


def _photographs(folder: Path) -> None:
    folder.mkdir()
    rng = np.random.default_rng(1)
    for i in range(PHOTOGRAPHS):
        small = Image.fromarray(rng.integers(0, 256, (64, 96, 3)).astype("uint8"))
        small.resize(SIZE_OF_PHOTOGRAPHS, Image.Resampling.BICUBIC).save(folder / f"{i}.jpg", quality=92)


def _plain_loop(folder: Path, out: Path) -> None:
    """Decode every photograph once, and save three crops for each triplet as PNG with Pillow's defaults."""
    out.mkdir()
    rng = np.random.default_rng(2)
    for path in sorted(folder.iterdir()):
        with Image.open(path) as opened:
            picture = opened.convert("RGB")
        for i in range(3 * COUNT // PHOTOGRAPHS):
            left, top = (int(rng.integers(side - SIZE)) for side in picture.size)
            picture.crop((left, top, left + SIZE, top + SIZE)).save(out / f"{path.stem}-{i}.png")


def _ours(root: Path, name: str, count: int) -> None:
    make_set(root / "photographs", root, SetOptions(count=count, size_px=SIZE, name=name))


def _peak_mb() -> float:
    """Return the largest memory (MB) of any worker process so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
