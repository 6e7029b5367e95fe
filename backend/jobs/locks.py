"""A lock for each job in the data directory: on one machine, who holds it is alive, and nobody else works.

The system releases the lock of a process that ends, however it ends.
"""

import fcntl
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from backend.foundation.atomic_files import write_whole
from backend.foundation.file_permissions import make_folder, private
from backend.stores.datadir import DataDir


def place_of(data: DataDir) -> str:
    """Return what processes that share the locks of a data directory have in common, and no others."""
    path = data.root / "jobs" / ".place"
    with data.locked("jobs"):  # names of machines alone are not unique
        if not path.exists():
            make_folder(path.parent)
            write_whole({path: secrets.token_hex(8).encode()})
        return f"{socket.gethostname()}:{path.read_text()}"


@contextmanager
def lock_of(folder: Path, job_id: str) -> Iterator[bool]:
    """Hold the lock of a job in `folder` during the block; yields False if another process has it."""
    make_folder(folder)
    path = folder / f".{job_id}.lock"
    descriptor = _locked(path)
    if descriptor is None:
        yield False
        return
    try:
        yield True
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def _locked(path: Path) -> int | None:
    """Return the descriptor of a locked file, or None if another process has it."""
    while True:
        descriptor = private(str(path), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        if _is_at(path, descriptor):
            return descriptor
        os.close(descriptor)  # its holder removed it between opening and locking


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
