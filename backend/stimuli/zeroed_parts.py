"""Parts that are zero in the data of formats without checksums, as where a download or a disk lost them.

Their entropy coders write few zeros in a row: the most is WebP's, a byte for 10,000 px of one colour.
"""

from collections.abc import Iterator
from pathlib import Path

_ALWAYS = 64
_PIXELS_PER_ZERO = 5000
_WEBP_PIXELS = (b"VP8 ", b"VP8L", b"ALPH", b"ANMF")
_WEBP_HEAD = 12


def check_not_zeroed(path: Path, image_format: str, pixels: int) -> None:
    """Check a WebP, JPEG 2000 or AVIF file; of the latter only the end, since metadata may have zeros.

    Raises:
        ValueError: so many bytes in a row are zero that a part must be missing.
    """
    if image_format not in ("WEBP", "JPEG2000", "AVIF"):
        return
    zeros, data = bytes(_ALWAYS + pixels // _PIXELS_PER_ZERO), path.read_bytes()
    if image_format == "AVIF":
        is_zeroed = data.endswith(zeros)
    elif image_format == "JPEG2000":
        is_zeroed = zeros in data[max(data.find(b"jp2c"), 0) :]
    else:
        is_zeroed = any(zeros in part for part in _webp_pixels(data))
    if is_zeroed:
        raise ValueError(f"{len(zeros)} bytes of its data in a row are zero, so that a part is missing")


def _webp_pixels(data: bytes) -> Iterator[bytes]:
    """Yield the chunks with pixels (RFC 9649)."""
    at = _WEBP_HEAD
    while at + 8 <= len(data):
        end = at + 8 + int.from_bytes(data[at + 4 : at + 8], "little")
        if data[at : at + 4] in _WEBP_PIXELS:
            yield data[at + 8 : end]
        at = end + end % 2
