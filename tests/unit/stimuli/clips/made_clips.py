"""Clips made for tests."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image


def moving(seed: int, count: int, size: tuple[int, int] = (64, 48)) -> list[Image.Image]:
    """Return frames in which a smooth random picture moves by a pixel a frame."""
    width, height = size
    small = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    whole = Image.fromarray(small).resize((width + count, height + count), Image.Resampling.BICUBIC)
    return [whole.crop((i, i, i + width, i + height)) for i in range(count)]


def write_video(
    path: Path,
    pictures: Sequence[Image.Image],
    fps: Fraction | int = 12,
    codec: str = "mpeg4",
    times: Sequence[int] | None = None,
    with_sound: bool = False,
    change: Callable[[Any], object] = lambda stream: None,
) -> Path:
    """Write a video file by PyAV, and return its path.

    Args:
        times: of the frames, in ticks of 1/fps; default, one after the other.
        change: sets more of the stream.
    """
    import av

    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as container:
        stream: Any = container.add_stream(codec, rate=fps)
        stream.width, stream.height = pictures[0].size
        stream.pix_fmt = "yuv420p"
        stream.bit_rate = 4_000_000
        change(stream)
        sound: Any = container.add_stream("aac", rate=44_100, layout="mono") if with_sound else None
        for i, picture in enumerate(pictures):
            frame = av.VideoFrame.from_image(picture).reformat(format=stream.pix_fmt)
            frame.pts = times[i] if times else i
            frame.time_base = 1 / Fraction(fps)
            container.mux(stream.encode(frame))
        if sound is not None:
            quiet = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            quiet.sample_rate = 44_100
            container.mux(sound.encode(quiet))
            container.mux(sound.encode(None))
        container.mux(stream.encode(None))
    return path


def write_animation(path: Path, pictures: Sequence[Image.Image], duration_ms: int = 80) -> Path:
    """Write an animated GIF, PNG or WebP, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    first, *others = pictures
    first.save(path, save_all=True, append_images=others, duration=duration_ms, lossless=True)
    return path


def write_sides(root: Path, count: int = 4, frames: int = 12, fps: int = 12) -> tuple[Path, dict[str, Path]]:
    """Write folders of clips of the reals and of one model, and return them."""
    for number, side in enumerate(("real", "sora")):
        for i in range(count):
            write_video(root / side / f"{i}.mp4", moving(100 * number + i, frames), fps)
    return root / "real", {"sora": root / "sora"}
