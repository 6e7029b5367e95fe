"""PNG of an array of pixels by the standard library alone (W3C, Portable Network Graphics, 3rd edition)."""

import struct
import zlib

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_EIGHT_BITS_RGB = bytes([8, 2, 0, 0, 0])
"""Bit depth, colour type, compression, filter method, no interlacing."""


def png_of_rgb(width: int, height: int, pixels: bytes) -> bytes:
    """Return a PNG of `height` rows of `width` pixels, each of three bytes: red, green, blue."""
    row = 3 * width
    lines = b"".join(b"\0" + pixels[start : start + row] for start in range(0, len(pixels), row))
    header = struct.pack(">II", width, height) + _EIGHT_BITS_RGB
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 6)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_chunk(kind, content) for kind, content in chunks)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
