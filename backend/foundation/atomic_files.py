"""Files that are there as a whole or not at all."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path


def write_whole(contents: Mapping[Path, bytes]) -> None:
    """Write files, making their folders: each is whole at any time, and an error leaves all as they were.

    Two processes may write the same files: each file is then that of one of them. What is no ordinary file,
    such as `/dev/stdout` or a pipe, is written into, not replaced.
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
        for path, partial in partials.items():
            os.replace(partial, path)
    finally:
        for partial in partials.values():
            partial.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Sync a folder to the disk, so that the names in it survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
