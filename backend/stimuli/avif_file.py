"""Colours of an AVIF file by its boxes (ISO/IEC 14496-12 and 23008-12)."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

_LONGEST = 1 << 24
"""Bytes of a box of properties; profiles of printers have up to 4 MB."""


def coding_points(path: Path) -> tuple[int, int] | None:
    """Return colour primaries and transfer function by ITU-T H.273, if the file's properties state them."""
    with path.open("rb") as file:
        meta = _box(file, b"meta")
    properties = _box(io.BytesIO(_box(io.BytesIO(meta[4:]), b"iprp")), b"ipco")
    for name, data in _boxes(io.BytesIO(properties)):
        if name == b"colr" and data[:4] == b"nclx" and len(data) >= 8:
            return int.from_bytes(data[4:6]), int.from_bytes(data[6:8])
    return None


def _box(file: BinaryIO, name: bytes) -> bytes:
    """Return the content of the first box of a name, or nothing."""
    return next((data for kind, data in _boxes(file) if kind == name), b"")


def _boxes(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield the name and content of each box; that of a very long one, such as the pixels, is empty."""
    while len(head := file.read(8)) == 8:
        length, begin = int.from_bytes(head[:4]), 8
        if length == 1:
            length, begin = int.from_bytes(file.read(8)), 16
        content = length - begin
        if not 0 <= content <= _LONGEST:
            if content < 0:
                return
            file.seek(content, io.SEEK_CUR)
        yield head[4:], file.read(content) if content <= _LONGEST else b""
