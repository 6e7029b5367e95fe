"""Whether clips that are matched by name begin alike, as where models were given the reals' first frame.

Compared are the first frames of the film strips, on 16 x 16 means of luma and colour. A clip does not belong
to its partner if another clip of that side begins more like it.
"""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from PIL import Image

from backend.foundation.counted_nouns import some_of
from backend.stimuli.clips.clip_file import STRIP_PX, strip_of

_GRID = 16
_MOST = 500
"""Clips of a side that are compared, since each is with each."""


def notes(sides: Mapping[str, Mapping[str, Path]]) -> Iterator[str]:
    """Yield how alike partners begin, by side, each compared with the first; arguments as of `Medium`."""
    (first, own), *others = (
        (side, np.stack([*map(_frame, [*files.values()][:_MOST])])) for side, files in sides.items()
    )
    for side, frames in others:
        apart = np.stack([np.abs(own - frame).mean(axis=1) for frame in frames])
        other = np.flatnonzero(apart.argmin(axis=1) != np.arange(len(frames)))
        yield (
            f"first frames of {side} and their partners of {first} are {np.median(apart.diagonal()):.2g} of "
            f"255 levels apart (median; those of any two {np.median(apart):.2g})"
        )
        if len(other):
            sources = [*sides[side]]
            yield (
                f"{len(other)} of {len(frames)} clips of {side} begin more like another clip of {first} than "
                f"like their partner: {some_of([sources[place] for place in other])}; are files of the same "
                "name really of one source?"
            )


def _frame(path: Path) -> np.ndarray:
    with Image.open(io.BytesIO(strip_of(path.read_bytes(), path.name))) as strip:
        first = strip.convert("RGB").resize((_GRID, _GRID), Image.Resampling.BOX, (0, 0, STRIP_PX, STRIP_PX))
    return np.asarray(first, np.float32).ravel()
