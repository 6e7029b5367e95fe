"""Distances of the pictures of many items, in batches of one size, on all cores, in bounded memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.metrics.pairs.distances import Distance
from backend.stimuli.images import load, upright_size
from backend.stimuli.parallel import in_parallel

Progress = Callable[..., Iterable]
Files = Mapping[str, Sequence[Path]]
"""By item: the files of its pictures, of which the first is the reference."""
_BATCH_PIXELS = 1 << 16
"""Pixels of each part of a batch, if an item has not more: 16 of 64 x 64 px."""
_CHUNK = 2
"""Batches sent to a process at a time; fewer than 8 in all are not worth starting processes."""
Size = tuple[int, int]


def measured(
    files: Files, distances: Sequence[Distance], progress: Progress | None = None
) -> dict[str, np.ndarray]:
    """Return the distances of items by the name of the distance, shape (items, parts - 1), float64.

    A process for each core reads pictures and computes the distances that need no network; networks use all
    cores in products of matrices, in this process.

    Args:
        files: as many pictures of each item.
        progress: wraps an iterable, such as a progress bar; called with `total` and `label`.

    Raises:
        InvalidInput: a picture cannot be read, is too small for a distance, or has another size than the
            others of its item.
    """
    sized = [
        (item, _size(item, paths)) for item, paths in _seen(files.items(), len(files), "sizes", progress)
    ]
    batches = [*_batched(sized)]
    plain = [each for each in distances if not each.is_network]
    work = partial(_work, plain, len(plain) < len(distances))
    jobs = [[(item, files[item]) for item in batch] for batch in batches]
    distances_of: dict[str, list[np.ndarray]] = {each.name: [] for each in distances}
    with in_parallel(work, jobs, chunk=_CHUNK) as results:
        seen = _seen(results, len(batches), "distances", progress)
        for batch, (parts, made) in zip(batches, seen, strict=True):
            for each in distances:
                values = _measured(each, batch[0], parts) if each.is_network else made[each.name]
                distances_of[each.name].append(values)
    return {name: np.concatenate(blocks) for name, blocks in distances_of.items()}


def _size(item: str, paths: Sequence[Path]) -> Size:
    """Return width and height (px) of an item's pictures, from their headers."""
    first, *others = [(path, upright_size(path)) for path in paths]
    for path, size in others:
        if size != first[1]:
            each = " and ".join(
                f"{width} x {height} ({printable(which)})" for which, (width, height) in (first, (path, size))
            )
            raise InvalidInput(
                f"the pictures of item {item} must have one size, not {each}; bring them to one size first, "
                "since resizing is a distortion as well"
            )
    return first[1]


def _batched(sized: Sequence[tuple[str, Size]]) -> Iterator[list[str]]:
    """Yield runs of items of one size, with a bounded number of pixels."""
    for (width, height), run in groupby(sized, lambda pair: pair[1]):
        count = max(1, _BATCH_PIXELS // (width * height))
        names = [item for item, _ in run]
        yield from (names[i : i + count] for i in range(0, len(names), count))


def _work(
    plain: Sequence[Distance], is_shown: bool, batch: Sequence[tuple[str, Sequence[Path]]]
) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Return the pictures of a batch by part, if they are needed, and its distances without a network."""
    try:
        pictures = [[np.asarray(load(path)[0]) for path in paths] for _, paths in batch]
    except InvalidInput as error:
        raise InvalidInput(str(error)) from None  # another class would not return from a process
    parts = [np.stack(part) for part in zip(*pictures, strict=True)]
    made = {each.name: _measured(each, batch[0][0], parts) for each in plain}
    return parts if is_shown else [], made


def _measured(distance: Distance, first: str, parts: Sequence[np.ndarray]) -> np.ndarray:
    """Return the distances of a batch; an error names its first item, since all have one size."""
    try:
        with np.errstate(all="ignore"):  # of weights so large that sums overflow; refused below
            values = distance.measure(parts)
    except InvalidInput as error:
        raise InvalidInput(f"item {first}: {error}") from None
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InvalidInput(
            f"item {first}: its {distance.name} is not a finite number; the weights are too large"
        )
    return values


def _seen(items: Iterable, total: int, label: str, progress: Progress | None) -> Iterable:
    return progress(items, total=total, label=label) if progress else items
