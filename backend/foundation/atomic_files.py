"""Files that are there as a whole or not at all."""

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from backend.foundation.file_permissions import make_folder
from backend.foundation.syncing import sync_all


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write files, making their folders: each is whole at any time, and an error leaves all as they were.

    That holds for power failures too: contents are on the disk before they get their names. Two processes may
    write the same files: each file is then that of one of them. What is no ordinary file, such as
    `/dev/stdout` or a pipe, is written into, not replaced.
    """
    special = {path for path in contents if path.exists() and not path.is_file()}
    for path in special:
        path.write_bytes(contents[path])
    contents = {path: content for path, content in contents.items() if path not in special}
    partials = {path: path.with_name(f".{secrets.token_hex(8)}.partial") for path in contents}
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            partials[path].write_bytes(content)
        sync_all(partials.values())
        for path, partial in partials.items():
            os.replace(partial, path)
        sync_all({path.parent for path in partials})
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)


@contextmanager
def temporary_folder(folder: Path) -> Iterator[Path]:
    """Make a folder and lock it; it is removed with its contents at the end, unless it was moved away."""
    make_folder(folder)
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)  # seen by `is_live`; released if this process is killed
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def is_live(folder: Path) -> bool:
    """Return whether a process uses a `temporary_folder`; one that a killed process left is removed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # removed in the meantime
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    else:
        shutil.rmtree(folder, ignore_errors=True)
        return False
    finally:
        os.close(descriptor)
