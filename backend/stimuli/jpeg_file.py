"""Whether a JPEG file has all of its picture: Pillow shows what is missing in gray, and does not say so."""

import re
from pathlib import Path

START = b"\xff\xd8"
_PROGRESSIVE = b"\xff\xc2"
_PROGRESSIVE_FRAME = re.compile(rb"\xff\xc2\0.\x08....", re.DOTALL)
"""Marker, length, precision, height and width; then come the number of components, and each component."""
_COEFFICIENTS = 64  # of a block of 8 x 8 samples
_END = b"\xff\xd9"
"""The marker at the end (ITU-T T.81, EOI), without which some programs leave files that are whole."""
_SCAN = 0xDA  # the marker SOS of ITU-T T.81
_NEEDED = frozenset([*range(0xC0, 0xD0), 0xDB, 0xDD])
"""Markers of the segments that a decoder needs: frames, tables, restart interval."""
_ALONE = frozenset([0x00, 0x01, *range(0xD0, 0xDA), 0xFF])
"""Markers without a segment, and bytes that are none."""
_LOST = re.compile("Corrupt JPEG data|Premature end|Unsupported marker")
_BEFORE_END = re.compile(r"Corrupt JPEG data: (\d+) extraneous bytes before marker 0xd9")
_PADDING = 64
"""Bytes of padding that some cameras leave before the end marker."""


def read_jpeg(path: Path) -> bytes:
    """Return a JPEG file with an end marker, which decoders demand; progressive ones could lack scans."""
    data = path.read_bytes()
    return data if _PROGRESSIVE in data else data + _END


def check_whole(data: bytes) -> None:
    """Check that the coded data that `read_jpeg` returns have as many blocks as the file's header states.

    libjpeg warns where its Huffman decoder meets a code that there is not, and where a scan has fewer or more
    data than blocks; blocks in another order can escape it. Files of a kind that it does not decode pass.

    Raises:
        ValueError: the file is cut off or damaged.
    """
    import simplejpeg  # not at the top: pages that take no pictures do without it

    bare = _bare(data)
    try:
        simplejpeg.decode_jpeg(bare, "gray", min_height=1, min_width=1, min_factor=8, strict=True)
    except ValueError as error:
        if _LOST.match(str(error)) and not _is_padded(str(error), data):
            raise ValueError(f"it is cut off or damaged ({error})") from None
        return
    if _lacks_scans(bare):
        raise ValueError("it is cut off: scans are missing")


def _lacks_scans(bare: bytes) -> bool:
    """Return whether coefficients of a progressive file lack their last bits, as after a cut between scans.

    A scan has coefficients `first` to `last` of some components, down to a bit (ITU-T T.81, B.2.3 and G.1.1).
    """
    frame = _PROGRESSIVE_FRAME.search(bare)
    if not frame:
        return False
    at = frame.end()
    left = {(part, k) for part in bare[at + 1 : at + 1 + 3 * bare[at] : 3] for k in range(_COEFFICIENTS)}
    for scan in re.finditer(b"\xff\xda", bare):
        at = scan.end() + 2
        end = at + 1 + 2 * bare[at]
        first, last, bits = bare[end : end + 3]
        if bits & 15 == 0:
            left -= {(part, k) for part in bare[at + 1 : end : 2] for k in range(first, last + 1)}
    return bool(left)


def _bare(data: bytes) -> bytes:
    """Return a JPEG file without metadata or bytes between segments, about which libjpeg also warns."""
    parts, at = [data[:2]], 2
    while (at := data.find(b"\xff", at)) >= 0 and at + 4 <= len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if marker == _SCAN:
            return b"".join([*parts, data[at:]])
        if marker in _NEEDED:
            parts.append(data[at : at + 2 + length])
        at += 1 if marker in _ALONE else 2 + length
    return data


def _is_padded(warning: str, data: bytes) -> bool:
    """Return whether a warning is about padding before the end marker."""
    match = _BEFORE_END.match(warning)
    if not match or (count := int(match[1])) > _PADDING:
        return False
    end = data.find(_END)
    return end >= count and not data[end - count : end].strip(b"\0\xff")
