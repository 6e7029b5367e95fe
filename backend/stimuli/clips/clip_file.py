"""The file of a clip: a head, then its encoded frames in the order in which they are shown.

No container: WebCodecs takes encoded frames as they are, so that a page needs no demuxer. All numbers are
little endian. The file begins with `MAGIC`, the length of the head (uint32), and the head, JSON with sorted
keys and no spaces: the same bytes in all files of a study. Of each frame follow the length of its data
(uint32), 1 for a key frame or else 0 (uint8), and the data. Pages ignore what comes after the last frame: a
film strip, which reports show where nothing decodes videos (its length, uint32, and a JPEG), padding, which
brings all files of a study to one length, and the salt of a session.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from backend.foundation.errors import InvalidInput
from backend.foundation.frozen import dataclass
from backend.stimuli.file_formats import filler

SUFFIX = ".clip"
MEDIA_TYPE = "application/octet-stream"
MAGIC = b"OHCLIP1\n"
_LENGTH = struct.Struct("<I")
_FRAME = struct.Struct("<IB")
_LONGEST_HEAD = 1000
_MOST_FRAMES = 100_000
_LEVELS = (
    (10, 829_440, 36_864),
    (11, 2_764_800, 73_728),
    (20, 4_608_000, 122_880),
    (21, 9_216_000, 245_760),
    (30, 20_736_000, 552_960),
    (31, 36_864_000, 983_040),
    (40, 83_558_400, 2_228_224),
    (41, 160_432_128, 2_228_224),
    (50, 311_951_360, 8_912_896),
    (51, 588_251_136, 8_912_896),
    (52, 1_176_502_272, 8_912_896),
)
"""Levels of VP9, most pixels a second, most pixels of a frame (VP9 bitstream specification, annex A)."""


@dataclass(frozen=True)
class ClipHead:
    """What all clips of a study have in common."""

    codec: str
    """As WebCodecs names it, such as `vp09.00.30.08`."""
    frames: int
    fps: tuple[int, int]
    """Frames a second, as numerator and denominator."""
    width: int
    height: int
    """Pixels, both even."""


@dataclass(frozen=True)
class EncodedFrame:
    """One encoded frame."""

    data: bytes
    is_key: bool


STRIP_FRAMES, STRIP_PX = 4, 96
"""Frames of a film strip, side by side, and the height of each."""


def codec_of(width: int, height: int, fps: tuple[int, int]) -> str:
    """Return the codec as WebCodecs names it: VP9, profile 0, the lowest level that suffices, 8 bits."""
    pixels = width * height
    rate = pixels * fps[0] / fps[1]
    level = next((level for level, most, size in _LEVELS if rate <= most and pixels <= size), 62)
    return f"vp09.00.{level:02}.08"


def written(head: ClipHead, frames: Sequence[EncodedFrame], strip: bytes) -> bytes:
    """Return the file of a clip, not yet padded.

    Args:
        strip: JPEG of `STRIP_FRAMES` frames side by side.

    Raises:
        ValueError: the number of frames is not that of the head, or the first is no key frame.
    """
    if len(frames) != head.frames or not frames[0].is_key:
        raise ValueError(f"expected {head.frames} frames, the first a key frame, not {len(frames)}")
    text = json.dumps(asdict(head), sort_keys=True, separators=(",", ":")).encode()
    parts = [MAGIC, _LENGTH.pack(len(text)), text]
    for frame in frames:
        parts += [_FRAME.pack(len(frame.data), frame.is_key), frame.data]
    return b"".join([*parts, _LENGTH.pack(len(strip)), strip])


def read(data: bytes, name: str = "the clip") -> tuple[ClipHead, list[EncodedFrame]]:
    """Return head and frames of a clip's file.

    Args:
        name: of the file, for messages.

    Raises:
        InvalidInput: the file is not a clip, or is cut off.
    """
    head, frames, _ = _parts(data, name)
    return head, frames


def strip_of(data: bytes, name: str = "the clip") -> bytes:
    """Return the film strip of a clip's file, a JPEG; nothing if the file ends before it.

    Raises:
        InvalidInput: as for `read`.
    """
    _, _, at = _parts(data, name)
    if len(data) < at + _LENGTH.size:
        return b""
    (length,) = _LENGTH.unpack_from(data, at)
    return data[at + _LENGTH.size : at + _LENGTH.size + length]


def content_of(data: bytes, name: str = "the clip") -> bytes:
    """Return what a clip's file shows, without padding and salt.

    Raises:
        InvalidInput: as for `read`.
    """
    return data[: _parts(data, name)[2]]


def _parts(data: bytes, name: str) -> tuple[ClipHead, list[EncodedFrame], int]:
    """Return head, frames, and the position after the last frame."""
    if not data.startswith(MAGIC):
        raise InvalidInput(f"{name} is no file of a clip: it must begin with {MAGIC!r}, not {data[:8]!r}")
    try:
        (length,) = _LENGTH.unpack_from(data, len(MAGIC))
        at = len(MAGIC) + _LENGTH.size
        if length > _LONGEST_HEAD:
            raise ValueError("its head is too long")
        head = json.loads(data[at : at + length])
        numerator, denominator = map(int, head["fps"])
        form = ClipHead(
            str(head["codec"]),
            int(head["frames"]),
            (numerator, denominator),
            int(head["width"]),
            int(head["height"]),
        )
        if form.frames > _MOST_FRAMES:
            raise ValueError(f"its head says {form.frames} frames, more than {_MOST_FRAMES:,}")
        return form, *_frames(data, at + length, form.frames)
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError, struct.error) as error:
        raise InvalidInput(f"{name} is cut off or damaged: {error}") from None


def pad(path: Path, length: int) -> None:
    """Lengthen a clip's file to `length` bytes, by bytes that do not compress."""
    with path.open("ab") as file:
        file.write(filler(length - path.stat().st_size))


def _frames(data: bytes, at: int, count: int) -> tuple[list[EncodedFrame], int]:
    frames = []
    for i in range(count):
        length, is_key = _FRAME.unpack_from(data, at)
        at += _FRAME.size
        if at + length > len(data):
            raise ValueError(f"frame {i + 1} of {count} ends after the file")
        frames.append(EncodedFrame(data[at : at + length], bool(is_key)))
        at += length
    return frames, at
