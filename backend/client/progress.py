"""Progress of an upload: to the caller's own function, or to a bar of tqdm where that is installed."""

import shutil
from collections.abc import Callable
from typing import Any

Progress = Callable[[int, int], Any]
"""Called with the bytes that are with the server, and all."""


def progress_of(wanted: Progress | bool | None, label: str) -> Progress:
    """Return what to call with the progress.

    Args:
        wanted: a function; True for a bar on a terminal; False or None for nothing.
    """
    if callable(wanted):
        return wanted
    return _bar(label) if wanted else _nothing


def _nothing(done: int, total: int) -> None:
    """Show nothing."""


def _bar(label: str) -> Progress:
    try:
        from tqdm import tqdm
    except ImportError:
        return _nothing
    columns, lines = shutil.get_terminal_size()  # tqdm shows nothing on a terminal that does not say its size
    bar = tqdm(
        desc=label, unit="B", unit_scale=True, disable=None, leave=False, ncols=columns - 1, nrows=lines
    )

    def show(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()

    return show
