"""How far work is, and an estimate of how long it will take, reported once, when the first of it is done."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_MEASURED_S = 2.0
"""Minimum time to measure, so that the start of processes has little weight."""


def announced(
    items: Iterable[Any],
    total: int,
    say: Callable[[str], Any] | None,
    text: str,
    *,
    first: int = 1,
    long_s: float = 30.0,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Any]:
    """Yield `items`, and call `say` with `text` once if all of them will take longer than `long_s`.

    Args:
        total: number of items.
        text: contains `{}` for the time, such as "about 3 minutes".
        first: minimum number of items to measure; with fewer than are processed at once, the time is
            overestimated.
    """
    began, is_open = clock(), say is not None
    for done, item in enumerate(items, start=1):
        yield item
        elapsed = clock() - began
        if is_open and say and done >= first and elapsed >= _MEASURED_S:
            is_open = False
            if (wanted := elapsed / done * total) >= long_s:
                say(text.format(duration(wanted)))


def tracked(items: Iterable, total: int, label: str, progress: Callable[..., Iterable] | None) -> Iterable:
    """Return `items`, in a progress bar if there is one and anything to do."""
    return progress(items, total, label) if progress and total else items


def duration(seconds: float) -> str:
    """Return an approximate duration in words: in tens of seconds, minutes or hours."""
    if seconds < 90:
        return f"about {max(10 * round(seconds / 10), 10)} seconds"
    if seconds < 5400:
        return f"about {round(seconds / 60)} minutes"
    return f"about {seconds / 3600:.1f} hours"
