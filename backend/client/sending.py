"""Sending files to the server as one archive, in parts of which those that are there are not sent again."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from backend.client import tar_stream
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
    """Files laid out as an archive, with the hashes of its parts."""

    files: Mapping[str, PictureFile]
    layout: tar_stream.Layout
    parts: tuple[str, ...]
    """SHA-256 of each part, hex."""

    @property
    def digest(self) -> str:
        """The digest by which the server knows the archive."""
        return tar_stream.digest_of(self.parts)

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """First byte and end of each part."""
        return tar_stream.part_ranges(self.layout.size)

    def part(self, number: int) -> bytes:
        """Return a part.

        Raises:
            InvalidInput: it is not what was hashed, since a file has changed.
        """
        content = self.read(*self.ranges[number])
        if hashlib.sha256(content).hexdigest() != self.parts[number]:
            raise InvalidInput("a file has changed while it was sent; submit it again")
        return content

    def read(self, start: int, stop: int) -> bytes:
        """Return a range of the archive."""
        try:
            return b"".join(tar_stream.read(self.layout, start, stop, self._open))
        except tar_stream.FileChanged as error:
            raise InvalidInput(str(error)) from None
        except OSError as error:
            raise InvalidInput(f"{error.filename or 'a picture'} cannot be read: {error.strerror}") from None

    def _open(self, name: str) -> BinaryIO:
        return self.files[name].path.open("rb")


def archive_of(files: Sequence[PictureFile]) -> Archive:
    """Return the archive of files, all of which are read once.

    Raises:
        InvalidInput: a name or a file that cannot be sent.
    """
    try:
        layout = tar_stream.layout((file.name, file.size) for file in files)
    except ValueError as error:
        raise InvalidInput(str(error)) from None
    made = Archive({file.name: file for file in files}, layout, ())
    parts = tuple(hashlib.sha256(made.read(*part)).hexdigest() for part in made.ranges)
    return Archive(made.files, layout, parts)


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
    progress(archive.layout.size, archive.layout.size)
    return upload["upload"]


def _begin(connection: Connection, archive: Archive) -> dict[str, Any]:
    body = {"format": "tar", "bytes": archive.layout.size, "parts": list(archive.parts)}
    upload = connection.post("/api/uploads", body, repeatable=True)
    if upload["part_bytes"] != tar_stream.PART_BYTES or upload["digest"] != archive.digest:
        raise InvalidInput(
            f"the server takes parts of {upload['part_bytes']} bytes, this client sends "
            f"{tar_stream.PART_BYTES}: their versions differ"
        )
    return upload


def _send_parts(
    connection: Connection, archive: Archive, path: str, missing: Sequence[int], progress: Progress
) -> None:
    ranges = archive.ranges
    done = archive.layout.size - sum(stop - start for start, stop in (ranges[part] for part in missing))
    progress(done, archive.layout.size)
    for first in range(0, len(missing), _URLS_AT_ONCE):
        for target in _targets(connection, path, missing[first : first + _URLS_AT_ONCE]):
            content = archive.part(target["part"])
            _put(connection, path, target, content)
            done += len(content)
            progress(done, archive.layout.size)


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
