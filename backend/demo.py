"""The sample studies: real pictures from well-known packages, fakes from real generative models.

`digits` is a HYPE-infinity study of handwritten digits, `patches` a HYPE-time study of patches of
photographs. Both are made at the first start, in seconds, through the same door as any study.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.creation import Order, create
from backend.datadir import DataDir
from backend.stamps import utc_now
from backend.stores import Store

_SEED = 2019
_DIGITS = {
    "title": "Handwriting: real or computed?",
    "images": 40,
    "minutes": 4,
    "size_px": 64,
    "evaluators": 10,
    "repeat_visits": True,
}
_PATCHES = {
    "title": "A glimpse: photograph or computed?",
    "images": 20,
    "blocks": 2,
    "masks": "phase",  # textures would take several times as long as all the rest of the start
    "minutes": 5,
    "size_px": 96,
    "evaluators": 10,
    "repeat_visits": True,
}


def make_missing(store: Store, data: DataDir, report: Callable[[str], Any], progress: Any = None) -> None:
    """Make the sample studies that the store does not have yet."""
    from backend import demo_images

    there = {study.name for study in store.studies()}
    samples = [
        ("digits", "infinity", demo_images.write_digits, _DIGITS),
        ("patches", "time", demo_images.write_patches, _PATCHES),
    ]
    for name, method, write, settings in samples:
        if name in there:
            continue
        report(f"making the sample study {name} (once, some seconds)")
        with tempfile.TemporaryDirectory(prefix="openhype-demo-") as folder:
            made = write(Path(folder), _SEED)
            order = Order(name, "study", method, made["real"], tuple(made["models"].items()), settings)
            create(store, data, order, utc_now(), progress=progress)
