"""Contact sheets of masks, for inspection before or after a study is created."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from PIL import Image

from backend.foundation.errors import InvalidInput
from backend.stimuli.images import SUFFIXES, process
from backend.stimuli.masks import mask_of
from backend.stimuli.parallel import in_parallel

_GAP_PX = 4
_PAPER = "white"


def of_masks(paths: Sequence[Path]) -> Image.Image:
    """Return the images at `paths`, arranged in a square."""
    columns = int(np.ceil(np.sqrt(len(paths))))
    return _grid([_opened(path) for path in paths], columns)


def of_sources(
    folder: Path,
    count: int,
    *,
    kind: str,
    size_px: int,
    seed: int = 0,
    columns: int = 5,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
) -> Image.Image:
    """Return up to `count` images of `folder`, drawn at random, each above its mask.

    Raises:
        InvalidInput: the folder is missing, contains no images, or one cannot be read.
    """
    jobs = [(path, kind, size_px, seed) for path in _drawn(folder, count, Random(seed))]
    with in_parallel(_pair, jobs, workers, chunk=1) as made:
        pairs = list(progress(made, len(jobs), f"{kind} masks") if progress else made)
    columns = min(columns, len(pairs))
    return _grid(list(_interleaved(pairs, columns)), columns)


def _drawn(folder: Path, count: int, rng: Random) -> list[Path]:
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is neither a study nor a folder of pictures")
    paths = sorted(path for path in folder.rglob("*") if path.suffix.lower() in SUFFIXES)
    if not paths:
        raise InvalidInput(f"{folder} has no pictures")
    return sorted(rng.sample(paths, min(count, len(paths))))


def _pair(job: tuple[Path, str, int, int]) -> tuple[Image.Image, Image.Image]:
    """Return an image and its mask; runs in a worker process."""
    import io

    path, kind, size_px, seed = job
    data, _ = process(path, size_px, "png")
    with Image.open(io.BytesIO(data)) as opened:
        picture = np.asarray(opened)
    return Image.fromarray(picture), Image.fromarray(mask_of(picture, kind, seed))


def _interleaved(pairs: Sequence[tuple[Any, Any]], columns: int) -> Iterator[Any]:
    """Yield rows of sources, each followed by the row of their masks; None fills the last row."""
    for start in range(0, len(pairs), columns):
        row = [*pairs[start : start + columns]]
        row += [(None, None)] * (columns - len(row))
        yield from (source for source, _ in row)
        yield from (mask for _, mask in row)


def _grid(tiles: Sequence[Image.Image | None], columns: int) -> Image.Image:
    width, height = next(tile for tile in tiles if tile is not None).size
    lines = -(-len(tiles) // columns)
    sheet = Image.new("RGB", (columns * (width + _GAP_PX), lines * (height + _GAP_PX)), _PAPER)
    for number, tile in enumerate(tiles):
        if tile is not None:
            line, column = divmod(number, columns)
            sheet.paste(tile, (column * (width + _GAP_PX), line * (height + _GAP_PX)))
    return sheet.crop((0, 0, sheet.width - _GAP_PX, sheet.height - _GAP_PX))


def _opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        return picture.convert("RGB")
