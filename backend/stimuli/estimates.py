"""How long work will take, told once, as soon as the first of it has been done."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

_MEASURED_S = 2.0
"""Work that is measured for no shorter than this, so that processes that start do not count for much."""


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
    """Yield `items`, and say `text` once if all of them will take longer than `long_s`.

    Args:
        total: how many items there are.
        text: with `{}` for the time, as "about 3 minutes".
        first: items to measure at least; as many as are worked on at a time, or the time is overrated.
    """
    began, is_open = clock(), say is not None
    for done, item in enumerate(items, start=1):
        yield item
        elapsed = clock() - began
        if is_open and say and done >= first and elapsed >= _MEASURED_S:
            is_open = False
            if (wanted := elapsed / done * total) >= long_s:
                say(text.format(duration(wanted)))


def duration(seconds: float) -> str:
    """Return a rough time: tens of seconds, then minutes, then hours."""
    if seconds < 90:
        return f"about {max(10 * round(seconds / 10), 10)} seconds"
    if seconds < 5400:
        return f"about {round(seconds / 60)} minutes"
    return f"about {seconds / 3600:.1f} hours"
