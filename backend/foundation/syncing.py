"""Files and folders brought to the disk, so that a power failure takes nothing of them."""

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

_SYNCED_AT_ONCE = 16


def sync(path: Path) -> None:
    """Sync a file to the disk, or a folder, so that the names in it survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_all(paths: Iterable[Path]) -> None:
    """Sync many files to the disk, of which it writes some together."""
    with ThreadPoolExecutor(_SYNCED_AT_ONCE) as pool:
        for _ in pool.map(sync, paths):
            pass
