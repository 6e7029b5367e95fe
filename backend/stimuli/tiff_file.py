"""TIFF files by their tags (TIFF 6.0): levels that are misread, and parts that are damaged.

Pillow and libtiff take the pixels of a damaged strip as far as they come, and do not look at its checksum.
"""

import zlib
from pathlib import Path

from PIL import ExifTags, TiffImagePlugin

from backend.stimuli.jpeg_file import check_whole

_WIDTH, _HEIGHT, _BITS, _COMPRESSION, _PHOTOMETRIC, _PLANAR, _PALETTE, _SAMPLE_FORMAT = (
    *(256, 257, 258, 259, 262, 284),
    *(320, 339),
)
_STRIPS, _STRIP_LENGTHS, _TILES, _TILE_LENGTHS, _JPEG_TABLES = 273, 279, 324, 325, 347
_IN_PLANES = 2
_JPEG = 7
_DEFLATE = (8, 32946)
_PIECE = 1 << 20
"""Bytes decompressed at a time, so that memory is bounded."""


def stored_size(opened: TiffImagePlugin.TiffImageFile) -> tuple[int, int]:
    """Return width and height (px) before turning; some versions of Pillow have exchanged those of `size`."""
    return opened.tag_v2[_WIDTH], opened.tag_v2[_HEIGHT]


def orientation(opened: TiffImagePlugin.TiffImageFile) -> int:
    return opened.tag_v2.get(ExifTags.Base.Orientation, 1)


def is_negative(opened: TiffImagePlugin.TiffImageFile) -> bool:
    """Return whether the lowest of 16-bit levels is white, which Pillow leaves as it is."""
    return opened.mode.startswith("I") and opened.tag_v2.get(_PHOTOMETRIC) == 0


def why_misread(opened: TiffImagePlugin.TiffImageFile) -> str | None:
    """Return why levels have no white that all programs agree on, or how Pillow misreads them, or None."""
    bits, kinds = (opened.tag_v2.get(tag) or (1,) for tag in (_BITS, _SAMPLE_FORMAT))
    planar, compression = (opened.tag_v2.get(tag, 1) for tag in (_PLANAR, _COMPRESSION))
    if opened.mode == "LAB":
        return "is in Lab, which programs convert differently; save it in RGB"
    if max(bits) > 16 or (max(bits) > 8 and set(kinds) != {1}) or set(bits) & {*range(9, 16)}:
        sign = "signed " if 2 in kinds else ""
        return (
            f"has {sign}levels of {max(bits)} bits, of which programs take different ones for white; save it "
            "with 8, or 16 unsigned"
        )
    if max(bits) == 16 and (planar, compression) == (_IN_PLANES, 1):
        return "has 16 bits in planes that are not compressed; save it compressed, or channels side by side"
    if opened.mode == "YCbCr" and compression == 1:
        return "is in YCbCr without compression, whose coefficients are not read; save it in RGB"
    if 0 < max(opened.tag_v2.get(_PALETTE) or (0,)) < 256:
        return "has a palette of 8 bits, where TIFF's has 16, and would be shown black; save it again in RGB"
    return None


def check_parts(path: Path, opened: TiffImagePlugin.TiffImageFile) -> None:
    """Check the strips or tiles of a picture, if they are compressed by deflate or as JPEG.

    Raises:
        ValueError: one is cut off or damaged.
        zlib.error: as above.
    """
    tags = opened.tag_v2
    compression, tables = tags.get(_COMPRESSION, 1), tags.get(_JPEG_TABLES, b"")
    offsets = tags.get(_STRIPS) or tags.get(_TILES) or ()
    lengths = tags.get(_STRIP_LENGTHS) or tags.get(_TILE_LENGTHS) or ()
    if compression != _JPEG and compression not in _DEFLATE:
        return
    with path.open("rb") as file:
        for offset, length in zip(offsets, lengths, strict=False):
            file.seek(offset)
            part = file.read(length)
            if part and compression == _JPEG:
                check_whole(tables[:-2] + part[2:] if tables else part)
            elif part:
                _check_deflated(part)


def _check_deflated(part: bytes) -> None:
    """Decompress a strip up to its checksum."""
    decoder = zlib.decompressobj()
    while not decoder.eof:
        if not decoder.decompress(part, _PIECE) and not decoder.unconsumed_tail:
            raise ValueError("a strip is cut off")
        part = decoder.unconsumed_tail
