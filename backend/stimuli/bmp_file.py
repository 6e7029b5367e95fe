"""BMP files by their header (BITMAPV5HEADER): transparency and profile, of which Pillow omits some."""

from pathlib import Path

_FILE_HEADER = 14
_V3, _V5 = 56, 124
"""Bytes of the first header with a mask of transparency, and of the first with a profile."""
_EMBEDDED = b"DEBM"
"""The colour space of a file with a profile, PROFILE_EMBEDDED, as it is stored."""
_LONGEST = 1 << 24
"""Bytes of a profile; those of printers have up to 4 MB."""


def states_transparency(path: Path) -> bool:
    """Return whether the pixels of a file have bits for their transparency."""
    header = _header(path)
    return len(header) >= _V3 and _number(header, 14, 2) in (16, 32) and _number(header, 52) > 0


def profile_of(path: Path) -> bytes | None:
    """Return the ICC profile of a file, or None."""
    header = _header(path)
    if len(header) < _V5 or header[56:60] != _EMBEDDED:
        return None
    with path.open("rb") as file:
        file.seek(_FILE_HEADER + _number(header, 112))
        return file.read(min(_number(header, 116), _LONGEST))


def _header(path: Path) -> bytes:
    """Return the header after that of the file; the first four bytes are its length."""
    with path.open("rb") as file:
        file.seek(_FILE_HEADER)
        header = file.read(_V5)
    return header[: _number(header, 0)]


def _number(header: bytes, at: int, length: int = 4) -> int:
    return int.from_bytes(header[at : at + length], "little")
