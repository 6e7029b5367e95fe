"""Sending files to the server as one archive, in parts of which those that are there are not sent again."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import Any

from backend.client import file_stream
from backend.client.connection import Connection, segment
from backend.client.pictures import PictureFile
from backend.client.progress import Progress
from backend.foundation.errors import InvalidInput, NotAllowed, OpenhypeError

_URLS_AT_ONCE = 32
_ROUNDS = 4
"""How often parts that are missing at the end are sent again before giving up."""
_SENT_AGAIN = ("unknown_upload", "not_found", "parts_missing", "wrong_part")
"""Codes of what sending again helps against: it expired, parts are missing, one was damaged on its way."""


@dataclass(frozen=True)
class Archive:
    """Files as one stream, with the checksums of its parts."""

    files: tuple[PictureFile, ...]
    listed: bytes
    """The list of the files, with which the stream begins."""
    parts: tuple[str, ...] = ()
    """The checksum of each part."""

    @property
    def digest(self) -> str:
        """The digest by which the server knows the archive."""
        return file_stream.digest_of(self.parts)

    @property
    def size(self) -> int:
        """Length (bytes) of the stream."""
        return self._ends[-1]

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First byte and end of each part."""
        return file_stream.part_ranges(self.size)

    @cached_property
    def _ends(self) -> list[int]:
        """Where the list and each file end."""
        return [*accumulate((file.size for file in self.files), initial=len(self.listed))]

    def part(self, number: int) -> bytes:
        """Return a part.

        Raises:
            InvalidInput: it is not what was announced, since a file has changed.
        """
        content = self.read(*self.ranges[number])
        if file_stream.checksum(content) != self.parts[number]:
            raise InvalidInput("a file has changed while it was sent; submit it again")
        return content

    def read(self, start: int, stop: int) -> bytes:
        """Return a range of the stream.

        Raises:
            InvalidInput: a file has changed, or cannot be read.
        """
        pieces = [self.listed[start:stop]]
        for index in range(max(0, bisect_right(self._ends, start) - 1), len(self.files)):
            if (begin := self._ends[index]) >= stop:
                break
            pieces.append(_read(self.files[index], max(0, start - begin), stop - begin))
        return b"".join(pieces)


def _read(file: PictureFile, start: int, stop: int) -> bytes:
    try:
        with file.path.open("rb") as opened:
            if (length := opened.seek(0, 2)) != file.size:
                raise InvalidInput(
                    f"{file.name} had {file.size} bytes when the upload began, and has {length} now"
                )
            opened.seek(start)
            return opened.read(min(stop, file.size) - start)
    except OSError as error:
        raise InvalidInput(f"{error.filename or 'a picture'} cannot be read: {error.strerror}") from None


def archive_of(files: Sequence[PictureFile]) -> Archive:
    """Return the archive of files, all of which are read once.

    Raises:
        InvalidInput: a name or a file that cannot be sent.
    """
    by_name = {file.name: file for file in files}
    ordered = tuple(by_name[name] for name in file_stream.in_order(by_name))
    try:
        unread = Archive(ordered, file_stream.list_of((file.name, file.size) for file in ordered))
    except ValueError as error:
        raise InvalidInput(str(error)) from None
    parts = tuple(file_stream.checksum(unread.read(*part)) for part in unread.ranges)
    return replace(unread, parts=parts)


def send(connection: Connection, archive: Archive, progress: Progress) -> str:
    """Bring an archive to the server, and return the id of the upload.

    What of it is there already, from this call or one before, is not sent again.
    """
    for attempt in range(_ROUNDS):
        try:
            return _send(connection, archive, progress)
        except OpenhypeError as error:
            if attempt == _ROUNDS - 1 or error.code not in _SENT_AGAIN:
                raise
    raise AssertionError("the last attempt returns or raises")


def _send(connection: Connection, archive: Archive, progress: Progress) -> str:
    upload = _begin(connection, archive)
    path = f"/api/uploads/{segment(upload['upload'])}"
    if upload["state"] != "complete":
        _send_parts(connection, archive, path, upload["missing"], progress)
        connection.post(f"{path}/complete", {}, repeatable=True)
    progress(archive.size, archive.size)
    return upload["upload"]


def _begin(connection: Connection, archive: Archive) -> dict[str, Any]:
    body = {"format": "files", "bytes": archive.size, "parts": list(archive.parts)}
    upload = connection.post("/api/uploads", body, repeatable=True)
    if upload["part_bytes"] != file_stream.PART_BYTES or upload["digest"] != archive.digest:
        raise InvalidInput(
            f"the server takes parts of {upload['part_bytes']} bytes, this client sends "
            f"{file_stream.PART_BYTES}: their versions differ"
        )
    return upload


def _send_parts(
    connection: Connection, archive: Archive, path: str, missing: Sequence[int], progress: Progress
) -> None:
    ranges = archive.ranges
    done = archive.size - sum(stop - start for start, stop in (ranges[part] for part in missing))
    progress(done, archive.size)
    for first in range(0, len(missing), _URLS_AT_ONCE):
        for target in _targets(connection, path, missing[first : first + _URLS_AT_ONCE]):
            content = archive.part(target["part"])
            _put(connection, path, target, content)
            done += len(content)
            progress(done, archive.size)


def _targets(connection: Connection, path: str, parts: Sequence[int]) -> list[dict[str, Any]]:
    return connection.post(f"{path}/urls", {"parts": list(parts)}, repeatable=True)["urls"]


def _put(connection: Connection, path: str, target: Mapping[str, Any], content: bytes) -> None:
    try:
        connection.put(target["url"], content, target["headers"])
    except NotAllowed:  # the signature of the address may have expired meanwhile
        if target["url"].startswith("/"):
            raise
        (fresh,) = _targets(connection, path, [target["part"]])
        connection.put(fresh["url"], content, fresh["headers"])
