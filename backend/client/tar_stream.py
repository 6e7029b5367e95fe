"""Layout of a folder's tar archive, from which any range of bytes can be read without writing the archive.

The archive follows from paths and contents alone (paths sorted by their UTF-8 bytes; mode 644, no times,
no owners), so that the same folder has the same digest on every machine, and an interrupted upload
continues where it stopped. Headers are POSIX ustar; a path that is not ASCII or longer than 100 bytes gets
a pax extended header (IEEE Std 1003.1, pax), as Python's `tarfile.PAX_FORMAT` writes them, to the byte.

`frontend/console/tar_stream.js` does the same in a browser; tests/unit/tar_vectors.json holds both together.
"""

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from backend.foundation.frozen import dataclass

PART_BYTES = 5 * 1024 * 1024
"""Length (bytes) of the parts in which an archive is uploaded; the last may be shorter. S3's least."""
MOST_FILE_BYTES = 8**11 - 1
"""Greatest length of one file that a ustar header can state."""
MOST_PATH_BYTES = 1024
_BLOCK = 512
_END = 2 * _BLOCK
"""Two blocks of zeros end the archive."""
_NAME_BYTES = 100
_CHUNK = 1024 * 1024
_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")


class FileChanged(Exception):
    """A file is not as long as it was when the archive was laid out."""


@dataclass(frozen=True)
class Entry:
    """A file of the archive; its header begins at `offset` (bytes)."""

    path: str
    size: int
    offset: int


@dataclass(frozen=True)
class Layout:
    """Where the files of an archive of `size` bytes begin."""

    entries: tuple[Entry, ...]
    size: int


def layout(files: Iterable[tuple[str, int]]) -> Layout:
    """Return the layout of files given by path (relative, with `/`) and length (bytes), in any order.

    Raises:
        ValueError: a path or a length that an archive cannot hold, a path that stands twice, or no file.
    """
    entries, offset, before = [], 0, None
    for path, size in sorted(files, key=lambda file: file[0].encode("utf-8", "surrogatepass")):
        _check(path, size)
        if path == before:
            raise ValueError(f"{path!r} stands twice among the files")
        entries.append(Entry(path, size, offset))
        offset, before = offset + _header_bytes(path) + _padded(size), path
    if not entries:
        raise ValueError("there are no files to send")
    return Layout(tuple(entries), offset + _END)


def header(path: str, size: int) -> bytes:
    """Return what stands before the content of a file of `size` bytes."""
    ustar = _ustar(path.encode("ascii", "replace")[:_NAME_BYTES], size, 0o644, b"0")
    if not _needs_pax(path):
        return ustar
    records = _pax_record("path", path)
    extended = _ustar(b"././@PaxHeader", len(records), 0, b"x")
    return extended + records.ljust(_padded(len(records)), b"\0") + ustar


def read(archive: Layout, start: int, stop: int, open_file: Callable[[str], BinaryIO]) -> Iterator[bytes]:
    """Yield the bytes `start` to `stop` (exclusive) of an archive, in pieces of at most 1 MiB.

    Args:
        open_file: opens a file for reading by its path in the archive; called once for each file needed.

    Raises:
        FileChanged: a file is shorter or longer than in the layout.
    """
    stop = min(stop, archive.size)
    index = bisect_right(archive.entries, start, key=lambda entry: entry.offset) - 1
    for entry in archive.entries[index:]:
        if entry.offset >= stop:
            return
        yield from _entry_range(entry, max(0, start - entry.offset), stop - entry.offset, open_file)
    zeros = stop - max(start, archive.size - _END)
    if zeros > 0:
        yield bytes(zeros)


def part_ranges(size: int, part_bytes: int = PART_BYTES) -> list[tuple[int, int]]:
    """Return the first byte and the end (exclusive) of each part of an archive of `size` bytes."""
    return [(start, min(start + part_bytes, size)) for start in range(0, size, part_bytes)]


def digest_of(parts: Iterable[str]) -> str:
    """Return the digest of an upload: SHA-256 of the SHA-256 (hex) of its parts; hex.

    S3 calls it a composite checksum, and computes the same of a multipart upload.
    """
    return hashlib.sha256(b"".join(map(bytes.fromhex, parts))).hexdigest()


def _entry_range(
    entry: Entry, start: int, stop: int, open_file: Callable[[str], BinaryIO]
) -> Iterator[bytes]:
    """Yield a range of header, content and padding of a file, counted from its header."""
    head = header(entry.path, entry.size)
    if piece := head[start:stop]:
        yield piece
    end = len(head) + entry.size
    if start < end and stop > len(head) and entry.size:
        yield from _content(entry, max(0, start - len(head)), min(stop, end) - len(head), open_file)
    padding = min(stop, len(head) + _padded(entry.size)) - max(start, end)
    if padding > 0:
        yield bytes(padding)


def _content(entry: Entry, start: int, stop: int, open_file: Callable[[str], BinaryIO]) -> Iterator[bytes]:
    with open_file(entry.path) as file:
        length = file.seek(0, 2)
        if length != entry.size:
            raise FileChanged(
                f"{entry.path} had {entry.size} bytes when the upload began, and has {length} now"
            )
        file.seek(start)
        while start < stop:
            piece = file.read(min(_CHUNK, stop - start))
            if not piece:
                raise FileChanged(f"{entry.path} became shorter while it was read")
            start += len(piece)
            yield piece


def _ustar(name: bytes, size: int, mode: int, kind: bytes) -> bytes:
    """Return a ustar header block."""
    fields = (
        name.ljust(_NAME_BYTES, b"\0"),
        b"%07o\0" % mode,
        b"0000000\0" * 2,  # owner and group
        b"%011o\0" % size,
        b"00000000000\0",  # modification time
        b" " * 8,  # the checksum counts as spaces while it is computed
        kind,
        bytes(100),  # target of a link
        b"ustar\00000",
    )
    block = b"".join(fields).ljust(_BLOCK, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def _pax_record(key: str, value: str) -> bytes:
    """Return a record `LENGTH KEY=VALUE\\n`; its length includes the digits of the length."""
    rest = b" %b=%b\n" % (key.encode(), value.encode("utf-8"))
    length = len(rest)
    while len(rest) + len(str(length)) != length:
        length = len(rest) + len(str(length))
    return b"%d%b" % (length, rest)


def _needs_pax(path: str) -> bool:
    return not path.isascii() or len(path) > _NAME_BYTES


def _header_bytes(path: str) -> int:
    return 2 * _BLOCK + _padded(len(_pax_record("path", path))) if _needs_pax(path) else _BLOCK


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _check(path: str, size: int) -> None:
    if _UNSENDABLE.search(path):
        raise ValueError(
            f"{path!r} cannot be sent: its name has a control character, a backslash, or no valid text"
        )
    if {"", ".", ".."} & set(path.split("/")):
        raise ValueError(f"{path!r} cannot be sent: a path must be relative, as in 'cats/1.png'")
    if len(path.encode("utf-8")) > MOST_PATH_BYTES:
        raise ValueError(f"{path[:80]!r}… cannot be sent: its path is longer than {MOST_PATH_BYTES} bytes")
    if not 0 <= size <= MOST_FILE_BYTES:
        raise ValueError(
            f"{path!r} cannot be sent: it has {size} bytes, at most {MOST_FILE_BYTES} are possible"
        )
