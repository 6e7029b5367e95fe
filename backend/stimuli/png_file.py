"""PNG files by their chunks (W3C's PNG, third edition): what describes the picture, without its metadata.

Texts and profiles of any size are passed over unread, so that neither their length nor what they expand to
matters.
"""

import io
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PICTURE = frozenset([b"IHDR", b"PLTE", b"tRNS", b"eXIf", b"acTL", b"fcTL"])
"""Chunks before the pixels that the decoder needs."""
_COLOUR = frozenset([b"cICP", b"iCCP", b"sRGB", b"gAMA", b"cHRM"])
_UNSPECIFIED = 2
_TRANSFERS = frozenset([1, *range(4, 9), 11, *range(13, 19)])
"""Transfer functions of ITU-T H.273 by which browsers go; others, such as logarithmic ones, they ignore."""
_BITS = 24
"""Position of the bit depth in a file."""
_LONGEST = 1 << 24
"""Bytes of a chunk or profile; those of printers have up to 4 MB."""


@dataclass(frozen=True)
class PngFile:
    """The picture of a file, and how its colours are meant."""

    stream: io.BytesIO
    """The file without metadata, for a decoder."""
    colour: Mapping[bytes, bytes]
    """Chunks that describe colours, by name: cICP alone, or all but cICP."""

    @property
    def bits(self) -> int:
        """Return the bits of a channel (1 to 16), or of an index in a palette."""
        return self.stream.getbuffer()[_BITS]

    @property
    def colour_type(self) -> int:
        """Return the type of the pixels: 0 gray, 2 RGB, 3 palette, 4 gray and alpha, 6 RGB and alpha."""
        return self.stream.getbuffer()[_BITS + 1]

    @property
    def profile(self) -> bytes | None:
        """Return the ICC profile, or None; one that cannot be read or is too long is empty."""
        if b"iCCP" not in self.colour:
            return None
        decoder = zlib.decompressobj()
        try:
            profile = decoder.decompress(self.colour[b"iCCP"].partition(b"\0")[2][1:], _LONGEST)
        except zlib.error:
            return b""
        return profile if decoder.eof else b""


def read_png(path: Path, *, with_pixels: bool) -> PngFile:
    """Return the picture of a file; without pixels it can be opened, but not decoded.

    Raises:
        ValueError: a chunk of the picture is cut off or damaged.
    """
    lean, colour = io.BytesIO(), dict[bytes, bytes]()
    lean.write(SIGNATURE)
    with path.open("rb") as file:
        for name, data in _chunks(file, with_pixels):
            if name in _COLOUR:
                colour.setdefault(name, data)
            else:
                lean.write(_chunk(name, data))
    lean.write(_chunk(b"IEND", b""))
    lean.seek(0)
    return PngFile(lean, _decisive(colour))


def _decisive(colour: dict[bytes, bytes]) -> Mapping[bytes, bytes]:
    """Return the chunks by which colours are shown: cICP goes before the others if it says something."""
    cicp = colour.pop(b"cICP", b"")
    has_meaning = len(cicp) == 4 and cicp[0] != _UNSPECIFIED and cicp[1] in _TRANSFERS
    return {b"cICP": cicp} if has_meaning else colour


def _chunks(file: BinaryIO, with_pixels: bool) -> Iterator[tuple[bytes, bytes]]:
    """Yield the chunks of the picture and of its colours; the last has pixels."""
    file.seek(len(SIGNATURE))
    has_pixels = False
    while len(head := file.read(8)) == 8:
        (length,), name = struct.unpack(">I", head[:4]), head[4:]
        if has_pixels and name != b"IDAT":
            return
        has_pixels = name == b"IDAT"
        if has_pixels and not with_pixels:
            yield name, b""
            return
        if not has_pixels and (name not in _PICTURE | _COLOUR or length > _LONGEST):
            file.seek(length + 4, io.SEEK_CUR)
            continue
        data, crc = file.read(length), file.read(4)
        if crc == struct.pack(">I", zlib.crc32(name + data)):
            yield name, data
        elif has_pixels or name in (b"IHDR", b"PLTE", b"tRNS"):
            raise ValueError(f"its chunk {name.decode()} is cut off or damaged")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
