"""Files of a tar archive: POSIX ustar and pax, and the long names of GNU tar.

Python's `tarfile` reads extended headers whole into memory, however long an archive says they are, and
follows sparse files to lengths that are not there. This reads regular files only, and refuses the rest.
"""

import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from backend.uploads.archive_entries import ArchiveEntry, bad_archive, exactly
from backend.uploads.entry_names import refused
from backend.uploads.limits import Limits

_BLOCK = 512
_CHUNK = 256 * 1024
_MOST_EXTENDED = 1024 * 1024
"""Longest extended header (bytes); macOS keeps attributes of files in them."""
_HEADERS_A_FILE = 4
"""Most headers for each file that is allowed, those of folders included."""
_RECORD = re.compile(rb"([1-9][0-9]{0,6}) ")
_KINDS = {
    b"1": "a hard link", b"2": "a symbolic link", b"3": "a device", b"4": "a device", b"6": "a pipe",
    b"S": "a sparse file",
}  # fmt: skip


def entries(file: BinaryIO, limits: Limits) -> Iterator[ArchiveEntry]:
    """Yield the files of an archive, as `ArchiveReader` does."""
    end = file.seek(0, 2)
    offset = 0
    extended: dict[str, Any] = {}
    for _ in range(_HEADERS_A_FILE * (limits.files + 1)):
        file.seek(offset)
        block = exactly(file, _BLOCK, "a header")
        if not any(block):
            return
        name, size, kind = _parsed(block)
        offset += _BLOCK
        if kind in (b"x", b"g", b"L", b"K"):
            found = _extended(file, kind, size)
            extended = extended if kind == b"g" else {**extended, **found}
        else:
            name, size = extended.get("path", name), _size(extended, size)
            extended = {}
            if kind in (b"0", b"\0", b"7") and not name.endswith("/"):
                if offset + size > end:
                    raise refused(name, f"has {size} bytes by its header, more than the archive holds")
                yield ArchiveEntry(name, size, offset, size)
            elif kind != b"5" and not (kind in (b"0", b"\0") and size == 0):
                raise refused(name, f"is {_KINDS.get(kind, 'of an unknown kind')}, not a file")
            elif kind == b"5":
                size = 0
        offset += -(-size // _BLOCK) * _BLOCK
    raise bad_archive(f"it has too many folders and headers for {limits.files} files")


def content(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    """Yield the content of an entry, as `ArchiveReader` does."""
    file.seek(entry.offset)
    left = entry.size
    while left:
        piece = file.read(min(_CHUNK, left))
        if not piece:
            raise refused(entry.name, "is cut off")
        left -= len(piece)
        yield piece


def _parsed(block: bytes) -> tuple[str, int, bytes]:
    """Return name, size (bytes) and kind of a header."""
    total = sum(block) - sum(block[148:156]) + 8 * ord(" ")
    if _number(block[148:156]) != total:
        raise bad_archive("it is no tar archive, or a header in it is damaged (its checksum is wrong)")
    name = _text(block[:100].partition(b"\0")[0])
    if block[257:263] == b"ustar\0" and (prefix := block[345:500].partition(b"\0")[0]):
        name = f"{_text(prefix)}/{name}"
    return name, _number(block[124:136]), block[156:157]


def _number(field: bytes) -> int:
    """Return a number in octal digits or, beginning with the byte 0x80, in binary."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], "big")
    digits = field.strip(b" \0")
    if not re.fullmatch(rb"[0-7]*", digits):
        raise bad_archive("it is no tar archive, or a header in it is damaged (a number is none)")
    return int(digits or b"0", 8)


def _extended(file: BinaryIO, kind: bytes, size: int) -> dict[str, str]:
    """Return what an extended header says of the next entry's path and size."""
    if size > _MOST_EXTENDED:
        raise bad_archive(
            f"a name or an extended header in it has {size} bytes, at most {_MOST_EXTENDED} may be"
        )
    data = exactly(file, size, "an extended header")
    if kind == b"L":
        return {"path": _text(data.rstrip(b"\0"))}
    if kind != b"x":
        return {}
    found = dict(_records(data))
    if any(key.startswith("GNU.sparse.") for key in found):
        raise refused(
            found.get("path", found.get("GNU.sparse.name", "")), "is a sparse file, not a file as it is"
        )
    return {key: value for key, value in found.items() if key in ("path", "size")}


def _records(data: bytes) -> Iterator[tuple[str, str]]:
    """Yield the records of a pax header, `LENGTH KEY=VALUE` and a line feed each; values of others are ''."""
    at = 0
    while at < len(data):
        start = _RECORD.match(data, at)
        end = at + int(start[1]) if start else 0
        if not start or end > len(data) or end <= start.end() or data[end - 1 : end] != b"\n":
            raise bad_archive("an extended header in it is damaged")
        key, _, value = data[start.end() : end - 1].partition(b"=")
        word = key.decode("ascii", "replace")
        yield word, _text(value) if word in ("path", "size") else ""
        at = end


def _size(extended: dict[str, str], size: int) -> int:
    text = extended.get("size", "")
    if not text:
        return size
    if not re.fullmatch("[0-9]{1,18}", text, re.ASCII):
        raise bad_archive(f"an extended header in it states the size {text[:40]!r}")
    return int(text)


def _text(name: bytes) -> str:
    r"""Return a name; bytes that are no UTF-8 become lone surrogates, which `safe_path` refuses."""
    return name.decode("utf-8", "surrogateescape")
