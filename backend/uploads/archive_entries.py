"""What a reader of archives gives: the entries, found without unpacking anything."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from backend.foundation.errors import InvalidInput
from backend.uploads.limits import Limits

_CHUNK = 256 * 1024


@dataclass(frozen=True)
class ArchiveEntry:
    """A file in an archive."""

    name: str
    """As it stands in the archive."""
    size: int
    """Length (bytes) of the content, as the archive states it."""
    offset: int
    """Where the entry's data begin, or in a zip its local header."""
    packed: int
    """Length (bytes) of the data in the archive."""
    crc32: int = 0
    is_deflated: bool = False


class ArchiveReader(Protocol):
    """A module that reads archives of one format, with memory that does not grow with lengths in them."""

    def entries(self, file: BinaryIO, limits: Limits) -> Iterator[ArchiveEntry]:
        """Yield the files of an archive, folders left out.

        Raises:
            InvalidInput: `bad_archive`.
        """

    def content(self, file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
        """Yield the content of an entry in pieces, never more than its stated length.

        Raises:
            InvalidInput: `bad_archive`, the content is not what the archive states.
        """


def bad_archive(why: str) -> InvalidInput:
    """Return the error of an archive that cannot be read."""
    return InvalidInput(f"the archive was not unpacked: {why}", code="bad_archive")


def copied(file: BinaryIO, entry: ArchiveEntry) -> Iterator[bytes]:
    """Yield the data of an entry, at which a file is, in pieces."""
    left = entry.packed
    while left and (piece := file.read(min(_CHUNK, left))):
        left -= len(piece)
        yield piece


def exactly(file: BinaryIO, count: int, what: str) -> bytes:
    """Read `count` bytes, which must be few.

    Raises:
        InvalidInput: the archive ends before.
    """
    data = file.read(count)
    if len(data) != count:
        raise bad_archive(f"it ends in the middle of {what}; it was cut off, or is no archive of this format")
    return data
