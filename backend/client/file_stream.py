"""The stream in which files are uploaded: a list of them, then their contents one after the other.

The list is text (UTF-8): a line `BYTES PATH` for each file, in the order of the paths' UTF-16 code units, by
which JavaScript sorts, and an empty line. The stream follows from paths and contents alone, so that the same
folder has the same digest on every machine, and an interrupted upload continues where it stopped.

`frontend/console/upload.js` does the same in a browser, and `backend.uploads.file_archives` reads it;
tests/unit/file_streams.json holds them together.
"""

import hashlib
import re
import zlib
from collections.abc import Iterable

PART_BYTES = 5 * 1024 * 1024
"""Length (bytes) of the parts in which a stream is uploaded; the last may be shorter. S3's least."""
_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f\\\ud800-\udfff]")


def in_order(paths: Iterable[str]) -> list[str]:
    """Return paths in the order of the list."""
    return sorted(paths, key=lambda path: path.encode("utf-16-be", "surrogatepass"))


def list_of(files: Iterable[tuple[str, int]]) -> bytes:
    """Return the list of files given in their order by path (relative, with `/`) and length (bytes).

    Raises:
        ValueError: a name that cannot be sent.
    """
    lines = [f"{size} {_checked(path)}\n" for path, size in files]
    return "".join([*lines, "\n"]).encode()


def part_ranges(size: int, part_bytes: int = PART_BYTES) -> list[tuple[int, int]]:
    """Return the first byte and the end (exclusive) of each part of a stream of `size` bytes."""
    return [(start, min(start + part_bytes, size)) for start in range(0, size, part_bytes)]


def checksum(part: bytes | bytearray) -> str:
    """Return the checksum of a part: CRC-32, 8 hexadecimal digits.

    It finds damage and changed files, with 1 miss in 4 billion; not somebody who forges their own pictures.
    Pages without TLS have no hash of the browser's.
    """
    return f"{zlib.crc32(part):08x}"


def digest_of(parts: Iterable[str]) -> str:
    """Return the digest of an upload: SHA-256 of the checksums (hex) of its parts; hex."""
    return hashlib.sha256(b"".join(map(bytes.fromhex, parts))).hexdigest()


def _checked(path: str) -> str:
    if _UNSENDABLE.search(path):
        raise ValueError(
            f"{path!r} cannot be sent: its name has a control character, a backslash, or no valid text"
        )
    return path
