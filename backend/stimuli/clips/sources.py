"""Reading of a researcher's clips: what a file holds, and its frames as RGB pictures, upright and in sRGB.

Videos are read by PyAV (FFmpeg), animated GIF, PNG and WebP by Pillow. FFmpeg gets an open file and a list
of containers, never a path: formats such as playlists would let it open other files and addresses.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from PIL import Image

from backend.foundation.frozen import dataclass
from backend.stimuli.images import BadPicture, is_picture

ANIMATED_ENDINGS = frozenset([".gif", ".apng", ".png", ".webp"])
"""File extensions of pictures that may be animated."""
MAX_SIDE_PX = 4096
MAX_FILE_BYTES = 2_000_000_000
MAX_SOURCE_FRAMES = 100_000
"""An hour at 24 frames a second: of a longer file not even the packets are counted."""
_CONTAINERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts,mpegvideo,ogg,asf,flv,gif,apng"
_HDR_TRANSFERS = (16, 18)
"""PQ and HLG, by ITU-T H.273."""
_BT709, _BT601 = 1, 6
"""Matrices of colours, by ITU-T H.273."""
_MATRICES = {1: 1, 4: 4, 5: 5, 6: 5, 7: 7, 9: 9}
"""Matrices that are read, by ITU-T H.273, as FFmpeg's scaler numbers them."""
_TURNS = {
    1: Image.Transpose.ROTATE_90,
    2: Image.Transpose.ROTATE_180,
    3: Image.Transpose.ROTATE_270,
}
"""What brings a frame upright, by the quarters that its file turns it counter-clockwise."""
_HIGH_DEFINITION = 720
"""Height (px) from which files that do not say so are read with the colours of BT.709, as players do."""
_WHOLE = 0.95
"""Share of what a file states from which it is whole: heads round, and count frames that are left out."""
_UNEVEN = 0.2
"""Change of the times between frames, as a share of their median, from which a rate is called variable."""
_ROUNDED_S = 0.0006
"""Largest error of the usual time between frames in files that round times to milliseconds: at 60 frames a
second most are 17 ms apart."""


@dataclass(frozen=True)
class ClipFacts:
    """Properties of a source file that could reveal its side, or need a conversion."""

    container: str
    codec: str
    width: int
    height: int
    """Pixels, square ones, before it is turned."""
    frames: int
    fps: float
    """Frames a second, by the median time between two."""
    seconds: float
    bits_per_second: float
    has_sound: bool
    is_variable: bool

    @property
    def short_side_px(self) -> int:
        """The side that decides how much a clip is scaled."""
        return min(self.width, self.height)


@dataclass(frozen=True)
class SourceFrame:
    """One frame of a source."""

    at_s: float
    """When it begins, from the first."""
    picture: Image.Image
    """In RGB, upright."""
    is_interlaced: bool = False
    """Whether it holds two half-frames of different times."""
    is_sized: bool = False
    """Whether it was brought to the size of its study."""
    is_turned: bool = False
    """Whether it was turned as its file says."""


def probe(path: Path) -> ClipFacts:
    """Return what a file holds, from its header and the times of its frames; no frame of a video is decoded.

    Raises:
        BadPicture: the file cannot be used as a clip; names the file and the reason.
    """
    if is_picture(path):
        with _animation(path) as opened:
            return _animation_facts(path, opened)
    with _video(path) as (container, stream):
        return _video_facts(path, container, stream)


def frames(path: Path, seconds: float) -> Iterator[SourceFrame]:
    """Yield the frames that begin before `seconds`.

    Raises:
        BadPicture: as for `probe`, or a frame cannot be decoded.
    """
    if is_picture(path):
        with _animation(path) as opened:
            yield from _animation_frames(opened, seconds)
        return
    with _video(path) as (container, stream):
        yield from _video_frames(container, stream, seconds)


def is_animated(path: Path) -> bool:
    """Return whether a picture file has several frames."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(path, formats=("GIF", "PNG", "WEBP")) as opened:
                return bool(getattr(opened, "is_animated", False))
    except (OSError, ValueError, SyntaxError):
        return False


@contextmanager
def _animation(path: Path) -> Iterator[Image.Image]:
    if not is_animated(path):
        raise BadPicture(path, "still", "is a still picture: a study shows clips or pictures, never both")
    try:
        with Image.open(path) as opened:
            if max(opened.size) > MAX_SIDE_PX:
                raise _too_large(path, *opened.size)
            yield opened
    except BadPicture:
        raise
    except (OSError, ValueError, SyntaxError, EOFError) as error:
        raise BadPicture(path, "broken", f"is broken: {error}") from None


def _durations(opened: Image.Image) -> Iterator[float]:
    for i in range(getattr(opened, "n_frames", 1)):
        opened.seek(i)
        opened.load()
        yield (opened.info.get("duration") or 100) / 1000  # browsers show frames without a time for 100 ms


def _animation_facts(path: Path, opened: Image.Image) -> ClipFacts:
    durations = [*_durations(opened)]
    typical, total = median(durations), sum(durations)
    return ClipFacts(
        container=opened.format or "?",
        codec=opened.format or "?",
        width=opened.width,
        height=opened.height,
        frames=len(durations),
        fps=1 / typical,
        seconds=total,
        bits_per_second=8 * path.stat().st_size / total,
        has_sound=False,
        is_variable=_is_variable(durations),
    )


def _animation_frames(opened: Image.Image, seconds: float) -> Iterator[SourceFrame]:
    at = 0.0
    for i in range(getattr(opened, "n_frames", 1)):
        opened.seek(i)
        shown = opened.convert("RGBA")
        white = Image.new("RGBA", shown.size, "white")
        yield SourceFrame(at, Image.alpha_composite(white, shown).convert("RGB"))
        at += (opened.info.get("duration") or 100) / 1000
        if at >= seconds:
            return


@contextmanager
def _video(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the container and its stream of pictures; raise BadPicture for whatever FFmpeg does not read."""
    import av

    if (size := path.stat().st_size) > MAX_FILE_BYTES or not size:
        what = f"has {size:,} bytes, more than {MAX_FILE_BYTES:,}; cut it to the part that is to be shown"
        raise BadPicture(path, "large", what) if size else BadPicture(path, "empty", "is empty")
    try:
        with (
            path.open("rb") as file,
            av.open(file, options={"format_whitelist": _CONTAINERS}, metadata_errors="ignore") as container,
        ):
            pictures = [one for one in container.streams.video if one.codec_context is not None]
            if not pictures:
                has_video = any(one.type == "video" for one in container.streams)
                why = "has a codec that is not read" if has_video else "has sound or text alone"
                raise BadPicture(path, "codec", why)
            stream = pictures[0]
            _check(path, stream)
            stream.thread_type = "NONE"
            yield container, stream
    except BadPicture:
        raise
    except MemoryError:
        raise BadPicture(path, "large", "needs more memory than there is") from None
    except (av.FFmpegError, OSError, ValueError, ArithmeticError, LookupError, RuntimeError) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise BadPicture(path, "broken", f"is broken or cut off, or no clip: {why}") from None


def _check(path: Path, stream: Any) -> None:
    width, height = stream.codec_context.width, stream.codec_context.height
    if max(width, height) > MAX_SIDE_PX:
        raise _too_large(path, width, height)
    if min(width, height) < 8:
        raise BadPicture(path, "small", f"has {width} x {height} pixels, and needs 8 or more on each side")
    if stream.codec_context.color_trc in _HDR_TRANSFERS:
        raise BadPicture(path, "unsupported", "is in HDR (PQ or HLG); tone-map it to BT.709")


def _too_large(path: Path, width: int, height: int) -> BadPicture:
    limit = f"more than the limit of {MAX_SIDE_PX:,} a side; bring it to a smaller size first"
    return BadPicture(path, "large", f"has {width} x {height} pixels, {limit}")


def _video_facts(path: Path, container: Any, stream: Any) -> ClipFacts:
    times, packets = [], 0
    for packet in container.demux(stream):
        packets += bool(packet.size)
        if packet.pts is not None and packet.size:
            times.append(packet.pts * stream.time_base)
        if len(times) > MAX_SOURCE_FRAMES:
            raise BadPicture(path, "large", f"has more than {MAX_SOURCE_FRAMES:,} frames; cut it first")
    times.sort()
    gaps = [float(later - earlier) for earlier, later in pairwise(times)]
    typical = median(gaps) if gaps else 0.0
    _check_whole(path, container, stream, packets, times, typical)
    if len(times) < 2:
        raise BadPicture(path, "still", "has one frame: a clip needs two or more")
    if typical <= 0:
        raise BadPicture(path, "broken", "gives its frames no times")
    seconds = float(times[-1] - times[0]) + typical
    aspect = stream.sample_aspect_ratio or 1
    return ClipFacts(
        container=container.format.name.partition(",")[0],
        codec=stream.codec_context.name,
        width=round(stream.codec_context.width * aspect),
        height=stream.codec_context.height,
        frames=len(times),
        fps=_named_rate(typical, stream),
        seconds=seconds,
        bits_per_second=8 * path.stat().st_size / seconds,
        has_sound=bool(container.streams.audio),
        is_variable=_is_variable(gaps),
    )


def _check_whole(
    path: Path, container: Any, stream: Any, packets: int, times: list[Fraction], typical: float
) -> None:
    """Refuse a file that states more frames, or a later end, than it has; FFmpeg reads such files in part."""
    end = float(times[-1]) + typical if times else 0.0
    frames = max(packets, round((end - float(times[0])) / typical) if typical > 0 else 0)
    if frames < _WHOLE * stream.frames:
        why = f"states {stream.frames:,} frames and has {frames:,}"
    elif _states_its_end(container) and end < _WHOLE * container.duration / 1e6:
        why = f"states that it ends at {container.duration / 1e6:.3g} s and has frames until {end:.3g} s"
    else:
        return
    raise BadPicture(path, "broken", f"is cut off or damaged: it {why}; save it anew if that is all of it")


def _states_its_end(container: Any) -> bool:
    """Return whether a container's duration is that of its frames: Matroska's head has one of all streams."""
    is_alone = len(container.streams) == 1
    return bool(is_alone and container.duration and container.format.name.startswith("matroska"))


def _is_variable(gaps: list[float]) -> bool:
    """Return whether more than one time in twenty between frames is not the usual one."""
    typical = median(gaps)
    return sum(abs(gap - typical) > _UNEVEN * typical for gap in gaps) > max(1, len(gaps) // 20)


def _named_rate(typical: float, stream: Any) -> float:
    """Return the rate that the file states if it agrees with the usual time between frames, in seconds."""
    stated = float(stream.average_rate or 0)
    doubt = max(0.02 * typical, _ROUNDED_S)
    return stated if stated and abs(1 / stated - typical) < doubt else 1 / typical


def _video_frames(container: Any, stream: Any, seconds: float) -> Iterator[SourceFrame]:
    first: Fraction | None = None
    for frame in container.decode(stream):
        if frame.pts is None:
            continue
        at = frame.pts * stream.time_base
        first = at if first is None else first
        if at - first >= seconds:
            return
        turned = round(frame.rotation / 90) % 4
        picture = _square_pixels(_rgb(frame), stream.sample_aspect_ratio)
        if turned:
            picture = picture.transpose(_TURNS[turned])
        yield SourceFrame(
            float(at - first), picture, is_interlaced=bool(frame.interlaced_frame), is_turned=bool(turned)
        )


def _rgb(frame: Any) -> Image.Image:
    matrix = int(frame.colorspace)
    if matrix not in _MATRICES:
        matrix = _BT709 if frame.height >= _HIGH_DEFINITION else _BT601
    return frame.to_image(src_colorspace=_MATRICES[matrix])


def _square_pixels(picture: Image.Image, aspect: Fraction | None) -> Image.Image:
    """Return a picture made wider if its pixels are not square."""
    if not aspect or aspect == 1:
        return picture
    return picture.resize((max(round(picture.width * aspect), 1), picture.height), Image.Resampling.LANCZOS)
