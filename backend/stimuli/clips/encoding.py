"""Encoding of a clip's frames as VP9: one recipe for all clips of a study, one packet for each shown frame.

VP9 profile 0 (8 bits, 4:2:0), whose encoder (libvpx) is under a licence like BSD's. Without frames that are
encoded ahead of their turn (alt-ref, lag) decoding order is the order of showing. Colours are BT.709 in
limited range and say so, so that browsers agree.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from math import inf, log10
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from backend.stimuli.clips.clip_file import ClipHead, EncodedFrame, read
from backend.stimuli.clips.sources import MAX_SIDE_PX

GOOD_PSNR_DB = 42.0
"""Peak signal-to-noise ratio from which a frame counts as unchanged."""
GOOD_SHARE = 0.9
"""Share of frames that must reach it, on each side."""
QUALITIES = (16, 10, 6, 3, 1)
"""Constant quality of libvpx (0 best to 63), from the shortest files to the longest."""
_BT709, _LIMITED = 1, 1


def encoded(
    pictures: Iterable[Image.Image], head: ClipHead, quality: int
) -> tuple[list[EncodedFrame], list[float]]:
    """Return the encoded frames, and the PSNR (dB) of each against its picture.

    Both are compared as 8-bit 4:2:0, the form in which any video is shown: PSNR over all samples.

    Args:
        pictures: RGB, of the head's size.
        quality: one of `QUALITIES`.
    """
    import av

    encoder: Any = av.CodecContext.create("libvpx-vp9", "w")
    encoder.width, encoder.height, encoder.pix_fmt = head.width, head.height, "yuv420p"
    encoder.framerate, encoder.time_base = _fraction(head.fps), 1 / _fraction(head.fps)
    encoder.gop_size, encoder.bit_rate, encoder.thread_count = max(head.frames, 2), 0, 1
    encoder.colorspace = encoder.color_primaries = encoder.color_trc = _BT709
    encoder.color_range = _LIMITED
    encoder.options = {
        "crf": str(quality),
        "deadline": "good",
        "cpu-used": "4",
        "auto-alt-ref": "0",
        "lag-in-frames": "0",
    }
    decoder: Any = av.CodecContext.create("vp9", "r")
    originals: list[Any] = []
    packets, ratios = [], []
    for i, picture in enumerate(chain(pictures, [None])):
        frame = None if picture is None else _yuv(picture, i, encoder.time_base)
        if frame is not None:
            originals.append(frame)
        for packet in encoder.encode(frame):
            packets.append(EncodedFrame(bytes(packet), packet.is_keyframe))
            for shown in decoder.decode(av.Packet(bytes(packet))):
                ratios.append(_psnr(_planes(originals.pop(0)), _planes(shown)))
    for shown in decoder.decode(None):
        ratios.append(_psnr(_planes(originals.pop(0)), _planes(shown)))
    if not len(packets) == len(ratios) == head.frames:
        raise ValueError(f"{head.frames} frames became {len(packets)} packets, {len(ratios)} decoded")
    return packets, ratios


def decoded(frames: Sequence[EncodedFrame]) -> Iterator[Image.Image]:
    """Yield the pictures, in RGB, of a clip's frames."""
    import av

    decoder: Any = av.CodecContext.create("vp9", "r")
    decoder.options = {"max_pixels": str(MAX_SIDE_PX**2)}  # a later frame may be larger than the first
    for data in (*(frame.data for frame in frames), None):
        for shown in decoder.decode(None if data is None else av.Packet(data)):
            yield shown.to_image(src_colorspace=_BT709)


def write_middle_frames(clips: Sequence[Path], out: Path) -> list[Path]:
    """Write the middle frame of each clip as PNG to a new folder; return the files in the same order."""
    out.mkdir(parents=True)
    paths = []
    for clip in clips:
        head, frames = read(clip.read_bytes(), clip.name)
        *_, middle = decoded(frames[: head.frames // 2 + 1])
        paths.append(out / f"{clip.stem}.png")
        middle.save(paths[-1])
    return paths


def _fraction(fps: tuple[int, int]) -> Any:
    from fractions import Fraction

    return Fraction(*fps)


def _yuv(picture: Image.Image, i: int, time_base: Any) -> Any:
    import av

    frame = av.VideoFrame.from_image(picture).reformat(
        format="yuv420p", dst_colorspace=_BT709, dst_color_range=_LIMITED
    )
    frame.pts, frame.time_base = i, time_base
    return frame


def _planes(frame: Any) -> np.ndarray:
    """Return all samples of a frame in 4:2:0, rows of the luma first; shape (1.5 height, width)."""
    return frame.to_ndarray(format="yuv420p")


def _psnr(one: np.ndarray, other: np.ndarray) -> float:
    error = float(np.mean((one.astype(np.int16) - other) ** 2.0))
    return 10 * log10(255**2 / error) if error else inf
