"""Whether a JPEG file has all of its picture: Pillow shows what is missing in gray, and does not say so."""

import re
from pathlib import Path

START = b"\xff\xd8"
_PROGRESSIVE = b"\xff\xc2"
_PROGRESSIVE_FRAME = re.compile(rb"\xff\xc2\0.\x08....", re.DOTALL)
_SEQUENTIAL_FRAME = re.compile(rb"\xff[\xc0\xc1]\0.\x08....", re.DOTALL)
"""Marker, length, precision, height and width; then come the number of components, and each component."""
_COEFFICIENTS = 64  # of a block of 8 x 8 samples
_END_OF_BLOCK = 0  # what a code of AC coefficients means: the others are zero
_ZEROS = 64
"""Bytes of zeros that no coefficients have in a row: blocks would need a hundred of -1."""
_END = b"\xff\xd9"
"""The marker at the end (ITU-T T.81, EOI), without which some programs leave files that are whole."""
_SCAN = 0xDA  # the marker SOS of ITU-T T.81
_NEEDED = frozenset([*range(0xC0, 0xD0), 0xDB, 0xDD])
"""Markers of the segments that a decoder needs: frames, tables, restart interval."""
_ALONE = frozenset([0x00, 0x01, *range(0xD0, 0xDA), 0xFF])
"""Markers without a segment, and bytes that are none."""
_FRAMES = frozenset([*range(0xC0, 0xD0)]) - {0xC4, 0xC8, 0xCC}
"""Markers SOF, which state by which process the picture was coded."""
_BY_HUFFMAN = frozenset([0xC0, 0xC1, 0xC2])
"""Those of baseline, extended and progressive files; other processes are arithmetic or lossless."""
_HARMLESS = "Invalid SOS parameters for sequential JPEG"
"""Of these parameters decoders take no notice."""
_BEFORE_END = re.compile(r"Corrupt JPEG data: (\d+) extraneous bytes before marker 0xd9")
_PADDING = 64
"""Bytes of padding that some cameras leave before the end marker."""


class UnreadKind(ValueError):
    """Coded data are of a rare kind, of which it cannot be told whether they are whole."""


def read_jpeg(path: Path) -> bytes:
    """Return a JPEG file with an end marker, which decoders demand; progressive ones could lack scans."""
    data = path.read_bytes()
    return data if _PROGRESSIVE in data else data + _END


def check_whole(data: bytes) -> None:
    """Check that the coded data that `read_jpeg` returns have as many blocks as the file's header states.

    libjpeg warns where its Huffman decoder meets a code that there is not, and where a scan has fewer or more
    data than blocks; blocks in another order can escape it.

    Raises:
        UnreadKind: the coding is arithmetic or lossless, or colours have a rare resolution.
        ValueError: the file is cut off or damaged.
    """
    import simplejpeg  # not at the top: pages that take no pictures do without it

    bare, frames = _bare(data)
    if not frames <= _BY_HUFFMAN:  # simplejpeg would write beyond its buffer if one were lossless
        raise UnreadKind("is a JPEG with arithmetic or lossless coding, which browsers do not show")
    try:
        simplejpeg.decode_jpeg(bare, "gray", min_height=1, min_width=1, min_factor=8, strict=True)
    except ValueError as error:
        why = str(error)
        if "subsampling" in why:
            raise UnreadKind("is a JPEG whose colours have a rare resolution") from None
        if shorter := _without_padding(why, bare):
            return check_whole(shorter)
        if why != _HARMLESS:
            raise ValueError(f"it is cut off or damaged ({why})") from None
    if _has_lost_part(bare):
        raise ValueError("bytes of its data are zero, so that a part is missing")
    if _lacks_scans(bare):
        raise ValueError("it is cut off: scans are missing")


def _has_lost_part(bare: bytes) -> bool:
    """Return whether many bytes in a row are zero in a scan of all components, of which one has no such code.

    Zeros are blocks of one colour where the code of zeros says that a block ends (ITU-T T.81, F.1.2.2.1).
    """
    scan = bare.find(b"\xff\xda")
    frame = _SEQUENTIAL_FRAME.search(bare[:scan])
    if not frame or bare[frame.end()] != bare[scan + 4]:
        return False
    coded = bare[scan : bare.find(_END, scan)]
    return bytes(_ZEROS) in coded and bool(_first_codes(bare[:scan]) - {_END_OF_BLOCK})


def _first_codes(head: bytes) -> set[int]:
    """Return what the code of zeros means in each Huffman table of AC coefficients."""
    codes, at = set(), 2
    while at + 4 <= len(head):
        end = at + 2 + int.from_bytes(head[at + 2 : at + 4])
        if head[at + 1] == 0xC4:
            table = at + 4
            while table + 17 < end:
                if head[table] >> 4:
                    codes.add(head[table + 17])
                table += 17 + sum(head[table + 1 : table + 17])
        at = end
    return codes


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


def _bare(data: bytes) -> tuple[bytes, set[int]]:
    """Return a JPEG without metadata or bytes between segments, of which libjpeg warns, and its frames."""
    parts, frames, at = [data[:2]], set[int](), 2
    while (at := data.find(b"\xff", at)) >= 0 and at + 4 <= len(data):
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4])
        if marker == _SCAN:
            parts.append(data[at:])
            break
        if marker in _NEEDED:
            parts.append(data[at : at + 2 + length])
            frames |= {marker} & _FRAMES
        at += 1 if marker in _ALONE else 2 + length
    return b"".join(parts), frames


def _without_padding(warning: str, bare: bytes) -> bytes | None:
    """Return a file without the padding before its end marker of which a warning tells, or None."""
    match = _BEFORE_END.match(warning)
    if not match or (count := int(match[1])) > _PADDING:
        return None
    end = bare.find(_END, bare.find(b"\xff\xda"))
    is_padding = end >= count and not bare[end - count : end].strip(b"\0\xff")
    return bare[: end - count] + _END if is_padding else None
