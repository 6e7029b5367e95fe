"""Unpacking of a member's upload: what is wrong with the archive is told from what is wrong here."""

import os
from pathlib import Path

from backend.foundation.errors import Conflict
from backend.uploads.archives import unpack
from backend.uploads.limits import limits
from backend.uploads.pixel_limits import check_pixels
from backend.uploads.uploads import Uploads


def unpack_pictures(uploads: Uploads | None, upload: str, into: Path) -> None:
    """Unpack an upload into a new folder, and check that its pictures can be decoded within limits.

    Raises:
        InvalidInput: as in `unpack_upload` and in `check_pixels`.
        NotFound, Conflict, StoreFailed: as in `unpack_upload`.
    """
    unpack_upload(uploads, upload, into)
    check_pixels(into)


def unpack_upload(uploads: Uploads | None, upload: str, into: Path) -> None:
    """Unpack an upload into a new folder.

    Raises:
        InvalidInput: the archive cannot be unpacked; its member has to make another.
        NotFound: the upload is no longer there; its member has to send it again.
        Conflict: this process has no uploads, or not all of it was received.
        StoreFailed: the disk is too full.
    """
    if uploads is None:
        raise Conflict("this worker has no uploads; start it where the server's data directory is")
    into.parent.mkdir(parents=True, exist_ok=True)
    with uploads.archive(upload) as archive:
        unpack(archive, uploads.upload(upload).format, into, limits(os.environ))
