"""Uploads: archives that members send in parts, and the interface of what receives them.

Parts are numbered from 0, as they stand in the list with which an upload begins. An upload is the member's
own: its id follows from the member and the content, and the same content again is the same upload.
"""

import hashlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from backend.client.file_stream import PART_BYTES, digest_of
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import stamp
from backend.uploads.limits import GB, Quota

FILES, ZIP = "files", "zip"
RECEIVING, COMPLETE = "receiving", "complete"
MOST_PARTS = 10_000
"""S3's limit: archives of up to 52 GB."""
MOST_URLS = 32
"""Most parts whose addresses one request gives."""
EXPIRES = timedelta(days=7)
"""After the last part, completion or use."""
MOST_BETWEEN = timedelta(days=1)
"""A longer time between two looks for unused uploads may be a jump of the clock."""
UNKNOWN_UPLOAD = "unknown_upload"
_ID = re.compile(r"[0-9a-f]{32}")
_CHECKSUM = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True)
class Upload:
    """An upload as it stands."""

    id: str
    member: str
    format: str
    bytes: int
    parts: tuple[str, ...]
    """The checksum (CRC-32, hex) of each part."""
    state: Literal["receiving", "complete"]
    missing: tuple[int, ...]
    """Numbers of the parts that were not received yet."""
    expires_at: str
    is_new: bool = False
    """Whether the call that returned it began it."""

    @property
    def digest(self) -> str:
        """The digest of the content: SHA-256 of the checksums of the parts; hex."""
        return digest_of(self.parts)


@dataclass(frozen=True)
class PartUrl:
    """Where a part is sent by PUT, with these headers besides."""

    part: int
    url: str
    headers: dict[str, str]


class Uploads(Protocol):
    """What receives uploads. Methods raise NotFound (`unknown_upload`) for what does not exist."""

    @property
    def origins(self) -> tuple[str, ...]:
        """Other origins to which a page sends parts, such as `https://bucket.example`."""

    def begin(self, member: str, format: str, bytes: int, parts: Sequence[str], now: datetime) -> Upload:
        """Begin an upload, or return the member's upload of the same content.

        Raises:
            InvalidInput: the parts do not make up an archive of `bytes` bytes.
            Conflict: `quota`, the member's or everybody's uploads would be more than is allowed.
            StoreFailed: the disk is too full.
        """

    def upload(self, id: str) -> Upload:
        """Return an upload."""

    def urls(self, id: str, parts: Sequence[int]) -> list[PartUrl]:
        """Return where parts are sent."""

    def write(self, id: str, part: int, stream: BinaryIO, now: datetime) -> Upload:
        """Receive a part; received again, it changes nothing.

        Raises:
            InvalidInput: `wrong_part`, its length or checksum is another.
            StoreFailed: the disk is too full.
        """

    def complete(self, id: str, now: datetime) -> Upload:
        """Close an upload whose parts are all there; again, it changes nothing.

        Raises:
            Conflict: `parts_missing`.
        """

    def delete(self, id: str) -> None:
        """Delete an upload.

        Raises:
            Conflict: `upload_in_use`, it is being read.
        """

    def archive(self, id: str) -> AbstractContextManager[Path]:
        """Give the archive of a complete upload within the context.

        Raises:
            Conflict: `parts_missing`.
        """

    def expire(self, now: datetime) -> int:
        """Delete uploads that were not used for `EXPIRES`; return their number."""


def check_upload(format: str, bytes: int, parts: Sequence[str]) -> None:
    """Check what an upload is begun with.

    Raises:
        InvalidInput: it is no archive in parts of `PART_BYTES`.
    """
    if format not in (FILES, ZIP):
        raise InvalidInput(f"format must be 'files' or 'zip', not {format!r}")
    wanted = -(-bytes // PART_BYTES)
    if bytes < 1 or wanted > MOST_PARTS:
        raise InvalidInput(f"bytes must be from 1 to {MOST_PARTS * PART_BYTES}, not {bytes}")
    if len(parts) != wanted:
        raise InvalidInput(
            f"parts must be the CRC-32 of each {PART_BYTES} bytes: {wanted} for {bytes} bytes, "
            f"not {len(parts)}"
        )
    for number, part in enumerate(parts):
        if not _CHECKSUM.fullmatch(part):
            raise InvalidInput(f"parts[{number}] must be a CRC-32 of 8 lower-case hexadecimal digits")


def upload_id(member: str, format: str, bytes: int, parts: Sequence[str]) -> str:
    """Return the id of a member's upload of some content."""
    about = f"{member}\n{format}\n{bytes}\n{digest_of(parts)}"
    return hashlib.sha256(about.encode()).hexdigest()[:32]


def part_length(bytes: int, part: int) -> int:
    """Return the length (bytes) of a part of an archive of `bytes` bytes."""
    return min(PART_BYTES, bytes - part * PART_BYTES)


def check_quota(quota: Quota, own: Sequence[int], every: Sequence[int], bytes: int) -> None:
    """Check that one more upload of `bytes` bytes is allowed, beside those of its member and of everybody.

    Raises:
        Conflict: `quota`.
    """
    if len(own) >= quota.count:
        raise Conflict(
            f"you have {len(own)} uploads, the most that are possible at a time; delete some", code="quota"
        )
    if sum(own) + bytes > quota.each:
        total = sum(own) + bytes
        raise Conflict(
            f"this upload has {bytes / GB:.3g} GB; with it your uploads would be "
            f"{total / GB:.3g} GB, and at most {quota.each / GB:.3g} GB are allowed; delete some, "
            "or have the server's owner allow more",
            code="quota",
        )
    if sum(every) + bytes > quota.all:  # how much others have uploaded is not told
        raise Conflict(
            f"this upload has {bytes / GB:.3g} GB; with it all members' uploads would be more than the "
            f"{quota.all / GB:.3g} GB that are allowed; have the server's owner allow more",
            code="quota",
        )


def check_part(upload: Upload, part: int) -> None:
    """Check that an upload has a part of this number.

    Raises:
        NotFound: it has none.
    """
    if not 0 <= part < len(upload.parts):
        raise NotFound(
            f"there is no part {part}: parts are numbered from 0 to {len(upload.parts) - 1}",
            code="unknown_part",
        )


def check_complete(upload: Upload) -> None:
    """Check that every part of an upload was received.

    Raises:
        Conflict: `parts_missing`.
    """
    if upload.missing:
        raise Conflict(
            f"{len(upload.missing)} of {len(upload.parts)} parts were not received yet, the first is "
            f"{upload.missing[0]}",
            code="parts_missing",
        )


def wrong_part(part: int, expected: str, received: str) -> InvalidInput:
    """Return the error of a part that is not what was announced."""
    return InvalidInput(f"part {part} must have {expected}, not {received}; send it again", code="wrong_part")


def is_id(text: str) -> bool:
    return bool(_ID.fullmatch(text))


def unknown(id: str) -> NotFound:
    """Return the error of an upload that does not exist, or no longer."""
    return NotFound(
        f"there is no upload {id!r}; one that was not used for {EXPIRES.days} days is deleted",
        code=UNKNOWN_UPLOAD,
    )


def expiry(used_at: datetime) -> str:
    """Return when an upload expires that was last used at a time."""
    return stamp(used_at + EXPIRES)


def jump(last: datetime, now: datetime) -> timedelta:
    """Return by how much the clock seems to have jumped between two looks for unused uploads.

    Times of use are moved by it, so that an upload expires after days that passed, not by a wrong clock. A
    server that was off for longer than `MOST_BETWEEN` counts that time as one day.
    """
    return now - last - min(max(now - last, timedelta(0)), MOST_BETWEEN)
