"""Checks of clips' files that somebody else gives: they are as openhype writes them and hold what they say.

Pages take head and frames of a file as they are. What needs no decoder is read from the first bytes of each
frame (VP9 bitstream specification, 6.2); where PyAV is installed, all frames are decoded besides.
"""

import io
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from PIL import Image

from backend.foundation.errors import InvalidInput
from backend.stimuli.clips.clip_file import STRIP_FRAMES, STRIP_PX, ClipHead, EncodedFrame, codec_of, read
from backend.stimuli.clips.clip_file import strip_of as stored_strip
from backend.stimuli.clips.sources import MAX_SIDE_PX

MAX_FILE_BYTES = 400_000_000
"""A trial's frames, decoded, take no more than this."""
_LONGEST_STRIP = 1_000_000
_KEY, _SYNC = 0, b"\x49\x83\x42"
_BT709, _LIMITED = 2, 0
_INDEX = 0b110


def checked(path: Path) -> tuple[ClipHead, list[EncodedFrame], bytes]:
    """Return head, frames and film strip of a file; the strip is drawn anew where frames can be decoded.

    Raises:
        InvalidInput: it is no file that openhype wrote.
    """
    if (size := path.stat().st_size) > MAX_FILE_BYTES:
        raise InvalidInput(f"it has {size:,} bytes, more than {MAX_FILE_BYTES:,}")
    head, frames = read(data := path.read_bytes())
    _check_head(head)
    for i, frame in enumerate(frames):
        if problem := _problem(head, frame, is_first=not i):
            raise InvalidInput(f"frame {i + 1} of {head.frames} {problem}")
    return head, frames, _strip(head, frames, data)


def _check_head(head: ClipHead) -> None:
    sides = (head.width, head.height)
    if (
        head.frames < 2
        or min(*head.fps) < 1
        or any(not 2 <= side <= MAX_SIDE_PX or side % 2 for side in sides)
    ):
        raise InvalidInput(
            f"its head says {head.frames} frames, {head.fps[0]}/{head.fps[1]} a second, {head.width} x "
            f"{head.height} px; a clip has 2 frames or more, and even sides up to {MAX_SIDE_PX} px"
        )
    if head.codec != (codec := codec_of(*sides, head.fps)):
        raise InvalidInput(f"its codec must be {codec!r}, not {head.codec[:40]!r}")


def _problem(head: ClipHead, frame: EncodedFrame, is_first: bool) -> str:
    """Return what is wrong with the first bytes of an encoded frame, '' for nothing."""
    data = frame.data
    if len(data) < 2 or data[0] >> 3 != 0b10000:  # marker, profile 0, no frame shown again
        return "is not VP9 of profile 0"
    is_key, is_shown = data[0] >> 2 & 1 == _KEY, data[0] >> 1 & 1
    if not is_shown or _holds_several(data):
        return "holds a frame that is not shown"
    if is_key != frame.is_key or (is_first and not is_key):
        return "is a key frame, or should be one, and says otherwise"
    if not is_key:
        return ""
    bits = int.from_bytes(data[4:9], "big")
    if len(data) < 9 or data[1:4] != _SYNC or bits >> 37 != _BT709 or bits >> 36 & 1 != _LIMITED:
        return "is not VP9 with the colours of BT.709"
    width, height = (bits >> 20 & 0xFFFF) + 1, (bits >> 4 & 0xFFFF) + 1
    if (width, height) != (head.width, head.height):
        return f"has {width} x {height} px, and the head says {head.width} x {head.height}"
    return ""


def _holds_several(data: bytes) -> bool:
    """Return whether a packet ends in the index of several frames (VP9 bitstream specification, annex B)."""
    last = data[-1]
    size = 2 + ((last >> 3 & 3) + 1) * ((last & 7) + 1)
    return last >> 5 == _INDEX and len(data) >= size and data[-size] == last


def _strip(head: ClipHead, frames: Sequence[EncodedFrame], data: bytes) -> bytes:
    if find_spec("av") is not None:
        return _drawn(head, frames)
    strip = stored_strip(data)
    try:
        with Image.open(io.BytesIO(strip), formats=("JPEG",)) as picture:
            if len(strip) > _LONGEST_STRIP or picture.size != (STRIP_FRAMES * STRIP_PX, STRIP_PX):
                raise InvalidInput("its film strip has another size than those of openhype")
            picture.load()
    except (OSError, SyntaxError, ValueError):
        raise InvalidInput("its film strip is no JPEG that can be read") from None
    return strip


def _drawn(head: ClipHead, frames: Sequence[EncodedFrame]) -> bytes:
    """Return the film strip of the frames as they are decoded, each of which must have the head's size."""
    import av

    from backend.stimuli.clips import audit, encoding
    from backend.stimuli.clips.sources import SourceFrame

    looking, count = audit.Looking(), 0
    try:
        for picture in looking.seen(SourceFrame(0, one) for one in encoding.decoded(frames)):
            if picture.size != (head.width, head.height):
                raise InvalidInput(
                    f"frame {count + 1} of {head.frames} has {picture.width} x {picture.height} px"
                )
            count += 1
    except InvalidInput:
        raise
    except (av.FFmpegError, OSError, ValueError, RuntimeError) as error:
        raise InvalidInput(f"frame {count + 1} of {head.frames} cannot be decoded: {error}") from None
    if count != head.frames:
        raise InvalidInput(f"{count} of its {head.frames} frames can be decoded")
    return looking.strip()
