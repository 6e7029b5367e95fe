"""How the clips of the demo were made: a camera that moves over photographs, and three models' fakes of that.

    python -m backend.commands.demo_clips.make

writes the folders `real`, `shimmer`, `wobble` and `stutter` beside this file, as `openhype create` encodes
clips. It needs the extras `clips` and `demo`; the demo itself takes the encoded files. The fakes are what
generated videos were, from the worst on: `shimmer` draws fine texture anew in every frame, `wobble` bends
what should be rigid, `stutter` has a quarter of the motion's frames and blends between them.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter, map_coordinates

from backend.stimuli.clips.audit import Looking
from backend.stimuli.clips.clip_file import SUFFIX, ClipHead, codec_of, written
from backend.stimuli.clips.encoding import encoded
from backend.stimuli.clips.sources import SourceFrame
from backend.stimuli.demo_photographs import SUBJECTS, cut, toned

SIZE_PX, FRAMES, FPS = 176, 36, (24, 1)
REALS, FAKES = 16, 8
"""Clips of the reals and of each model."""
_QUALITY = 22
_TRAVEL = 1.5
"""Side of the photograph over which the camera moves, in sides of a frame."""
_SUBJECTS = ("fur", "cat", "coffee", "grass", "gravel", "retina", "galaxies", "brick")
"""Those whose photographs are CC0 or in the public domain."""
_WOBBLE_PX, _SHIMMER, _STEP = 1.1, 6.0, 4

Frames = np.ndarray
"""(frames, size, size, 3), from 0 to 255."""


def path_of(rng: np.random.Generator) -> Frames:
    """Return where the camera is in each frame, (frames, 2), from 0 to 1: a slow arc, as held in a hand."""
    time = np.linspace(0, 1, FRAMES)
    ends = rng.uniform(0.05, 0.95, (2, 2))
    arc = np.sin(np.pi * time)[:, None] * rng.uniform(-0.15, 0.15, 2)
    shake = gaussian_filter(rng.normal(0, 0.02, (FRAMES, 2)), (3, 0))
    return np.clip(ends[0] + (ends[1] - ends[0]) * time[:, None] * 0.5 + arc + shake, 0, 1)


def seen(photograph: np.ndarray, path: np.ndarray, bend: np.ndarray | None = None) -> Frames:
    """Return what a camera sees on a path.

    Args:
        bend: displacement of each pixel (px), (frames, 2, size, size).
    """
    rows, columns = np.mgrid[:SIZE_PX, :SIZE_PX].astype(float)
    room = photograph.shape[0] - SIZE_PX - 1
    frames = []
    for i, (down, right) in enumerate(path * room):
        moved = (0, 0) if bend is None else bend[i]
        at = [rows + down + moved[0], columns + right + moved[1]]
        frames.append(
            np.stack([map_coordinates(photograph[..., c], at, order=1, mode="nearest") for c in range(3)], -1)
        )
    return np.array(frames)


def real(photograph: np.ndarray, rng: np.random.Generator) -> Frames:
    return seen(photograph, path_of(rng))


def shimmer(photograph: np.ndarray, rng: np.random.Generator) -> Frames:
    frames = seen(photograph, path_of(rng))
    noise = gaussian_filter(rng.normal(0, 1, frames.shape[:3]), (1.2, 1.8, 1.8))
    return frames + _SHIMMER * (noise / noise.std())[..., None]


def wobble(photograph: np.ndarray, rng: np.random.Generator) -> Frames:
    bend = gaussian_filter(rng.normal(0, 1, (FRAMES, 2, SIZE_PX, SIZE_PX)), (4, 0, 14, 14))
    return seen(photograph, path_of(rng), _WOBBLE_PX * bend / bend.std())


def stutter(photograph: np.ndarray, rng: np.random.Generator) -> Frames:
    frames = real(photograph, rng)
    frames_kept = frames[::_STEP]
    at = np.minimum(np.arange(FRAMES) / _STEP, len(frames_kept) - 1)
    first = at.astype(int)
    share = (at - first)[:, None, None, None]
    return (1 - share) * frames_kept[first] + share * frames_kept[np.minimum(first + 1, len(frames_kept) - 1)]


MODELS: dict[str, Callable[[np.ndarray, np.random.Generator], Frames]] = {
    "real": real,
    "shimmer": shimmer,
    "wobble": wobble,
    "stutter": stutter,
}


def _file(frames: Sequence[Image.Image]) -> bytes:
    head = ClipHead(codec_of(SIZE_PX, SIZE_PX, FPS), FRAMES, FPS, SIZE_PX, SIZE_PX)
    looking = Looking()
    shown = [SourceFrame(i / FPS[0], frame) for i, frame in enumerate(frames)]
    packets, _ = encoded(looking.seen(shown), head, _QUALITY)
    return written(head, packets, looking.strip())


def made(model: str, number: int) -> bytes:
    """Return the file of one clip; the same numbers give the same clip."""
    rng = np.random.default_rng([2019, [*MODELS].index(model), number])
    subject = SUBJECTS[_SUBJECTS[number % len(_SUBJECTS)]]
    photograph = toned(cut(subject, round(SIZE_PX * _TRAVEL), rng), subject, rng).astype(float)
    frames = np.clip(MODELS[model](photograph, rng), 0, 255).round().astype(np.uint8)
    return _file([Image.fromarray(frame) for frame in frames])


def _all() -> Iterator[tuple[str, int]]:
    for model in MODELS:
        for number in range(REALS if model == "real" else FAKES):
            yield model, number


def main() -> int:
    here, total = Path(__file__).parent, 0
    for model, number in _all():
        path = here / model / f"{number:02}{SUFFIX}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(made(model, number))
        total += path.stat().st_size
        sys.stdout.write(f"{path.relative_to(here)} {path.stat().st_size:,} bytes\n")
    sys.stdout.write(f"{total:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
