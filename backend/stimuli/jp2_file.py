"""JPEG 2000 files without their metadata, more than 1 MiB of which Pillow cannot pass over."""

from pathlib import Path

SIGNATURE = b"\0\0\0\x0cjP  "
_METADATA = (b"uuid", b"uinf", b"xml ")
"""Boxes that say nothing of the picture (ISO/IEC 15444-1, annex I)."""


def read_jp2(path: Path) -> bytes:
    data, parts, at = path.read_bytes(), list[bytes](), 0
    while at + 8 <= len(data):
        length, name = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        if length == 1:
            length = int.from_bytes(data[at + 8 : at + 16])
        end = at + length if length >= 8 else len(data)  # 0: to the end of the file
        if name not in _METADATA:
            parts.append(data[at:end])
        at = end
    return b"".join(parts)
