"""Files of an upload that begins with their list, as `backend.client.file_stream` writes it."""

import re
from collections.abc import Iterator
from typing import BinaryIO

from backend.uploads.archive_entries import ArchiveEntry, bad_archive, copied
from backend.uploads.entry_names import LONGEST_STATED
from backend.uploads.limits import Limits

_LINE = re.compile(rb"(0|[1-9][0-9]{0,17}) ([^\n]+)\n")


def entries(file: BinaryIO, limits: Limits) -> Iterator[ArchiveEntry]:
    """Yield the files of an upload, as `ArchiveReader` does."""
    end = file.seek(0, 2)
    file.seek(0)
    listed = [*_listed(file, limits)]
    offset = file.tell()
    held, stated = end - offset, sum(size for _, size in listed)
    if held != stated:
        raise bad_archive(f"its files have {stated} bytes by their list, and it holds {held}")
    for name, size in listed:
        yield ArchiveEntry(name, size, offset, size)
        offset += size


def content(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    file.seek(entry.offset)
    yield from copied(file, entry)


def _listed(file: BinaryIO, limits: Limits) -> Iterator[tuple[str, int]]:
    r"""Yield name and length (bytes) of each file; bytes that are no UTF-8 become lone surrogates."""
    for number in range(2 * limits.files + 1):  # with what systems add
        line = file.readline(LONGEST_STATED)
        if line == b"\n":
            return
        if not (match := _LINE.fullmatch(line)):
            raise bad_archive(f"line {number + 1} of its list of files is not BYTES and a path")
        yield match[2].decode("utf-8", "surrogateescape"), int(match[1])
    raise bad_archive(f"its list has more than {2 * limits.files} files; at most {limits.files} are allowed")
