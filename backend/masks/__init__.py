"""The masks of a study: made from its own pictures, reals and fakes alike, or brought along.

A mask's name and file tell nothing of its source.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from random import Random

from backend.errors import InvalidInput


def make_phase_masks(
    pictures: Sequence[Path],
    out: Path,
    count: int,
    *,
    rng: Random,
    image_format: str,
    progress: Callable[..., Iterable] | None = None,
) -> tuple[str, ...]:
    """Write `count` phase-scrambled masks of `pictures` into `out`; return their names."""
    import numpy as np
    from PIL import Image

    from backend.images import encode, suffix_of
    from backend.masks.phase import scramble

    numbers = np.random.default_rng(rng.getrandbits(64))
    order = [pictures[i % len(pictures)] for i in range(count)]
    names = []
    for path in progress(order, count, "masks") if progress else order:
        with Image.open(path) as picture:
            mask = scramble(np.asarray(picture.convert("RGB")), numbers)
        names.append(f"{rng.getrandbits(128):032x}{suffix_of(image_format)}")
        (out / names[-1]).write_bytes(encode(Image.fromarray(mask), image_format))
    return tuple(sorted(names))


def take_in_masks(
    folder: Path, out: Path, *, size_px: int, image_format: str, rng: Random | None = None
) -> tuple[str, ...]:
    """Bring a folder of masks into `out` through the pipeline of the pictures; return their names.

    Raises:
        InvalidInput: the folder is missing or empty, or a file cannot be read.
    """
    from backend.images import process, suffix_of

    if not folder.is_dir():
        raise InvalidInput(f"the folder of masks, {folder}, does not exist")
    paths = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not paths:
        raise InvalidInput(f"the folder of masks, {folder}, has no files")
    rng = rng or Random()
    names = []
    for path in paths:
        data, _ = process(path, size_px, image_format)
        names.append(f"{rng.getrandbits(128):032x}{suffix_of(image_format)}")
        (out / names[-1]).write_bytes(data)
    return tuple(sorted(names))
