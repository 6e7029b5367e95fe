"""Unpacking of an archive that somebody else made: checked whole before anything is written.

Nothing is unpacked unless all entries are ordinary files with safe, distinct paths, and their stated
lengths are within the limits; content that turns out longer than stated is refused in the middle, and what
was written is removed.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from backend.foundation.errors import StoreFailed, reason
from backend.foundation.file_permissions import make_folder, private
from backend.uploads import file_archives, zip_archives
from backend.uploads.archive_entries import ArchiveEntry, ArchiveReader, bad_archive
from backend.uploads.entry_names import check_collisions, is_skipped, refused, safe_path, wrapping_folder
from backend.uploads.limits import GB, Limits

_READERS: dict[str, ArchiveReader] = {"files": file_archives, "zip": zip_archives}
_UNREAD = {
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!\x1a\x07": "a RAR archive",
    b"\x1f\x8b": "compressed by gzip",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ\x00": "compressed by xz",
    b"\x28\xb5\x2f\xfd": "compressed by zstd",
}
"""By their first bytes, other archives that people have."""


@dataclass(frozen=True)
class Unpacked:
    """What an archive held."""

    files: int
    bytes: int
    skipped: int
    """Files that systems add, such as `.DS_Store`, which were left out."""
    wrapping: str
    """The folder in which all files lay, and which was left out; '' if there was none."""


def unpack(archive: Path, format: str, into: Path, limits: Limits) -> Unpacked:
    """Unpack an archive into a new folder, which is there as a whole or not at all.

    Args:
        format: `files` or `zip`.
        into: does not exist yet.

    Raises:
        InvalidInput: `bad_archive`, names the entry and what is wrong with it.
        StoreFailed: the disk is too full.
    """
    if not (reader := _READERS.get(format)):
        raise bad_archive(f"its format {format} is of an older version; send the pictures again")
    partial = into.with_name(f".{into.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)  # left by a process that was killed
    try:
        with archive.open("rb") as file:
            _check_kind(file, format)
            chosen, skipped = _chosen(reader, file, limits)
            wrapping = wrapping_folder(chosen)
            total = sum(entry.size for entry in chosen.values())
            _check_total(total, file.seek(0, os.SEEK_END), limits)
            make_folder(partial)
            _check_disk(partial, total, limits)
            for path, entry in sorted(chosen.items(), key=lambda each: each[1].offset):
                _write(reader, file, entry, partial / path.removeprefix(wrapping))
        os.rename(partial, into)
    except OSError as error:
        raise StoreFailed(f"the archive could not be unpacked: {reason(error)}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return Unpacked(len(chosen), total, skipped, wrapping.rstrip("/"))


def _check_kind(file: BinaryIO, format: str) -> None:
    start = file.read(max(map(len, _UNREAD)))
    file.seek(0)
    if other := next((what for magic, what in _UNREAD.items() if start.startswith(magic)), None):
        raise bad_archive(f"it is {other}, and was sent as {format}; pack the pictures as a zip archive")


def _chosen(reader: ArchiveReader, file: BinaryIO, limits: Limits) -> tuple[dict[str, ArchiveEntry], int]:
    """Return the entries to unpack by their paths, and how many are left out."""
    chosen: dict[str, ArchiveEntry] = {}
    paths: list[str] = []
    skipped = total = 0
    for entry in reader.entries(file, limits):
        path = safe_path(entry.name)
        if not path or is_skipped(path):
            skipped += 1
            if skipped > limits.files:
                raise bad_archive(f"it holds more than {limits.files} files that systems add")
            continue
        total += entry.size
        if len(paths) >= limits.files:
            raise bad_archive(f"it holds more than {limits.files} files")
        if entry.size > limits.file_bytes:
            raise refused(
                entry.name, f"has {entry.size} bytes; at most {limits.file_bytes} are allowed for a file"
            )
        if total > limits.bytes:
            raise bad_archive(f"it unpacks to more than {limits.bytes / GB:.3g} GB")
        paths.append(path)
        chosen[path] = entry
    check_collisions(paths, limits.files)
    if not chosen:
        raise bad_archive("it holds no files")
    return chosen, skipped


def _check_total(total: int, packed: int, limits: Limits) -> None:
    if total > limits.ratio_from and total > limits.ratio * packed:
        raise bad_archive(
            f"it unpacks to {total / max(1, packed):,.0f} times its own length, and at most "
            f"{limits.ratio:.0f} times are allowed; pictures hardly compress"
        )


def _check_disk(folder: Path, total: int, limits: Limits) -> None:
    free = shutil.disk_usage(folder).free
    if free - total < limits.free:
        raise StoreFailed(
            f"the archive unpacks to {total / GB:.3g} GB, and {free / GB:.3g} GB are free, of which "
            f"{limits.free / GB:.3g} GB are to stay free",
            code="disk_full",
        )


def _write(reader: ArchiveReader, file: BinaryIO, entry: ArchiveEntry, path: Path) -> None:
    make_folder(path.parent)
    with open(path, "xb", opener=private) as written:
        for piece in reader.content(file, entry):
            written.write(piece)
