"""How much may be uploaded and unpacked, from the environment of the process.

Every process that receives or unpacks reads the same variables: the server, its worker, and the functions
on AWS.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from backend.foundation.errors import InvalidInput
from backend.foundation.frozen import dataclass

GB = 10**9
EACH_GB, ALL_GB, FREE_GB, MOST_FILES = 20, 200, 2, 100_000
"""Defaults: 2 x 5,000 pictures of 1024 px as PNG are some 15 GB."""
_NUMBER = re.compile("[0-9]{1,9}")


@dataclass(frozen=True)
class Quota:
    """Limits on uploads (bytes): of one member, of all members, and the disk space that is left free."""

    each: int = EACH_GB * GB
    all: int = ALL_GB * GB
    free: int = FREE_GB * GB
    count: int = 200
    """Most uploads of one member at a time."""


@dataclass(frozen=True)
class Limits:
    """Limits on the content of an archive."""

    files: int = MOST_FILES
    bytes: int = EACH_GB * GB
    file_bytes: int = GB
    ratio: float = 100.0
    """Most bytes unpacked for each byte of the archive, beyond `ratio_from`; pictures hardly compress."""
    ratio_from: int = 256 * 1024 * 1024
    free: int = FREE_GB * GB
    """Disk space (bytes) that is left free."""


def quota(environment: Mapping[str, str]) -> Quota:
    """Return the quota that OPENHYPE_UPLOAD_GB, OPENHYPE_UPLOADS_GB and OPENHYPE_FREE_GB set.

    Raises:
        InvalidInput: a variable is not a whole number from 0.
    """
    return Quota(
        each=_bytes(environment, "OPENHYPE_UPLOAD_GB", EACH_GB),
        all=_bytes(environment, "OPENHYPE_UPLOADS_GB", ALL_GB),
        free=_bytes(environment, "OPENHYPE_FREE_GB", FREE_GB),
    )


def limits(environment: Mapping[str, str]) -> Limits:
    """Return the limits that OPENHYPE_UPLOAD_GB, OPENHYPE_UPLOAD_FILES and OPENHYPE_FREE_GB set.

    An archive may unpack to as much as one member may upload.

    Raises:
        InvalidInput: as in `quota`.
    """
    return replace(
        Limits(),
        files=_number(environment, "OPENHYPE_UPLOAD_FILES", MOST_FILES),
        bytes=_bytes(environment, "OPENHYPE_UPLOAD_GB", EACH_GB),
        free=_bytes(environment, "OPENHYPE_FREE_GB", FREE_GB),
    )


def _bytes(environment: Mapping[str, str], name: str, default_gb: int) -> int:
    return _number(environment, name, default_gb) * GB


def _number(environment: Mapping[str, str], name: str, default: int) -> int:
    text = environment.get(name) or str(default)
    if not _NUMBER.fullmatch(text):
        raise InvalidInput(f"{name} must be a whole number from 0, not {text!r}")
    return int(text)
