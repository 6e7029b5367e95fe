"""Distances of the pictures of many items, in batches of one size, on all cores, in bounded memory."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np

from backend.foundation.errors import InvalidInput
from backend.foundation.printable import printable
from backend.metrics.pairs.distances import Distance
from backend.stimuli.images import load, upright_size
from backend.stimuli.parallel import cores

Progress = Callable[..., Iterable]
Files = Mapping[str, Sequence[Path]]
"""By item: the files of its pictures, of which the first is the reference."""
_BATCH_PIXELS = 1 << 16
"""Pixels of each part of a batch, if an item has not more: 16 of 64 x 64 px."""
Size = tuple[int, int]


def measured(
    files: Files, distances: Sequence[Distance], progress: Progress | None = None
) -> dict[str, np.ndarray]:
    """Return the distances of items by the name of the distance, shape (items, parts - 1), float64.

    A thread for each core reads pictures and computes the distances that need no network; networks use all
    cores in products of matrices.

    Args:
        files: as many pictures of each item.
        progress: wraps an iterable, such as a progress bar; called with `total` and `label`.

    Raises:
        InvalidInput: a picture cannot be read, is too small for a distance, or has another size than the
            others of its item.
    """
    items = [*files]
    sizes = _in_threads(partial(_size, files), items)
    batches = [*_batched([*zip(items, _seen(sizes, len(items), "sizes", progress), strict=True)])]
    plain = [each for each in distances if not each.is_network]
    results = _in_threads(partial(_work, files, plain), batches)
    found: dict[str, list[np.ndarray]] = {each.name: [] for each in distances}
    seen = _seen(results, len(batches), "distances", progress)
    for batch, (parts, made) in zip(batches, seen, strict=True):
        for each in distances:
            values = made.get(each.name)
            found[each.name].append(_measure(each, batch, parts) if values is None else values)
    return {name: np.concatenate(blocks) for name, blocks in found.items()}


def _size(files: Files, item: str) -> Size:
    """Return width and height (px) of an item's pictures, from their headers."""
    first, *others = [(path, upright_size(path)) for path in files[item]]
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
    files: Files, plain: Sequence[Distance], batch: Sequence[str]
) -> tuple[list[np.ndarray], dict[str, np.ndarray]]:
    """Return the pictures of a batch by part, and its distances that need no network."""
    pictures = [[np.asarray(load(path)[0]) for path in files[item]] for item in batch]
    parts = [np.stack(part) for part in zip(*pictures, strict=True)]
    return parts, {each.name: _measure(each, batch, parts) for each in plain}


def _measure(distance: Distance, batch: Sequence[str], parts: Sequence[np.ndarray]) -> np.ndarray:
    try:
        return distance.measure(parts)
    except InvalidInput as error:
        raise InvalidInput(f"item {batch[0]}: {error}") from None


def _seen(items: Iterable, total: int, label: str, progress: Progress | None) -> Iterable:
    return progress(items, total=total, label=label) if progress else items


def _in_threads(work: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of `work` over `jobs` in order, with a bounded number of jobs pending."""
    count, waiting = cores(), iter(jobs)
    with ThreadPoolExecutor(count) as pool:
        pending = deque(pool.submit(work, job) for job in islice(waiting, 2 * count))
        try:
            while pending:
                yield pending.popleft().result()
                pending.extend(pool.submit(work, job) for job in islice(waiting, 1))
        finally:
            for each in pending:
                each.cancel()
