"""Image intake on all cores against a plain one-process Pillow loop that does the same work."""

import resource
import tempfile
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image, ImageOps

from backend.stimuli.file_formats import Webp
from backend.stimuli.ingest import ingest
from bench.timing import timed

EACH = 400
SIDE = 512
SIZE = 256


def run() -> dict:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for side in ("real", "fake"):
            _photographs(root / side)
        loops, defaults, ours = [], [], []
        for i in range(3):
            loops.append(timed(lambda i=i: _plain_loop(root, root / f"loop-{i}", "webp", Webp.SETTING)))
            defaults.append(timed(lambda i=i: _plain_loop(root, root / f"default-{i}", "png", {})))
            ours.append(timed(lambda i=i: _ours(root, root / f"ours-{i}")))
        few, many = _peak_mb(root, 100), _peak_mb(root, EACH)
    return {
        "image intake, plain loop's time / ours, the same WebP setting": {
            "ratio": median(loops) / median(ours), "goal": "at least 1.6 on two cores",
        },
        "image intake, plain loop's time / ours, PNG in the loop": {
            "ratio": median(defaults) / median(ours),
        },
        "memory of the intake, 800 pictures / 200": {
            "ratio": many / few, "goal": "about 1", "mb": [few, many],
        },
    }  # fmt: skip


def _photographs(folder: Path) -> None:
    folder.mkdir()
    rng = np.random.default_rng([*folder.name.encode()])
    for i in range(EACH):
        small = rng.integers(0, 256, (32, 40, 3)).astype("uint8")
        picture = Image.fromarray(small).resize((SIDE + 128, SIDE), Image.Resampling.BICUBIC)
        picture.save(folder / f"{i}.jpg", quality=92)


def _plain_loop(root: Path, out: Path, suffix: str, setting: dict) -> None:
    out.mkdir()
    for path in [*(root / "real").iterdir(), *(root / "fake").iterdir()]:
        with Image.open(path) as opened:
            picture = ImageOps.exif_transpose(opened).convert("RGB")
        square = ImageOps.fit(picture, (SIZE, SIZE), Image.Resampling.LANCZOS)
        square.save(out / f"{path.parent.name}-{path.stem}.{suffix}", **setting)


def _ours(root: Path, out: Path) -> None:
    ingest(root / "real", {"fake": root / "fake"}, out, size_px=SIZE)


def _peak_mb(root: Path, each: int) -> float:
    """Return the largest memory (MB) of any worker process so far, after `each` pictures per side."""
    subset = root / f"subset-{each}"
    for side in ("real", "fake"):
        (subset / side).mkdir(parents=True)
        for path in sorted((root / side).iterdir())[:each]:
            (subset / side / path.name).hardlink_to(path)
    _ours(subset, root / f"memory-{each}")
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
