"""The masks of a study: generated from its own stimuli, reals and fakes alike, or supplied by the researcher.

A mask's name and file reveal nothing about its source. The kinds of generated masks are those of
`groups.timing.MADE_MASKS`: `texture` (`texture.py`) and `phase` (`phase.py`).
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from backend.stimuli.estimates import announced
from backend.stimuli.parallel import cores, in_parallel

if TYPE_CHECKING:
    import numpy as np

_CHUNKS = {"texture": 1, "phase": 64}
"""Masks that a process generates at a time: phases are scrambled faster than processes start."""
_LONG_S = 10.0
"""Shortest time for which an estimate is reported."""


@dataclass(frozen=True)
class _Job:
    source: Path
    out: Path
    kind: str
    seed: int
    image_format: str
    cache: Path | None


def make_masks(
    pictures: Sequence[Path],
    out: Path,
    count: int,
    *,
    kind: str,
    rng: Random,
    image_format: str,
    cache: Path | None = None,
    workers: int | None = None,
    progress: Callable[..., Iterable] | None = None,
    say: Callable[[str], Any] | None = None,
) -> tuple[str, ...]:
    """Write `count` masks, generated from `pictures` in turn, into `out`; return their names.

    Names are random. Masks depend on the arguments and `rng` only, whatever the number of processes.

    Args:
        kind: `texture` or `phase`.
        cache: folder in which texture masks are cached.
        workers: number of processes; default, one a core.
        progress: wraps an iterable: `progress(items, total, label)`.
        say: called with an estimate of the time, if it is long.
    """
    from backend.stimuli.file_metadata import make_uniform
    from backend.stimuli.images import suffix_of

    suffix = suffix_of(image_format)
    jobs = [
        _Job(
            pictures[i % len(pictures)],
            out / f"{secrets.token_hex(16)}{suffix}",
            kind,
            rng.getrandbits(64),
            image_format,
            cache,
        )
        for i in range(count)
    ]
    text = (
        f"{count} {kind} masks will take {{}} on this machine; --set masks=phase makes quick ones in seconds"
    )
    if kind == "texture":
        workers = workers or cores()  # all at once: one texture takes longer than processes take to start
    with in_parallel(_make, jobs, workers, _CHUNKS[kind]) as working:
        made = announced(working, count, say, text, first=workers or cores(), long_s=_LONG_S)
        paths = list(progress(made, count, f"{kind} masks") if progress else made)
    make_uniform(paths)
    return tuple(sorted(path.name for path in paths))


def mask_of(picture: "np.ndarray", kind: str, seed: int, cache: Path | None = None) -> "np.ndarray":
    """Return the mask of `picture` (side, side, 3; uint8) for a seed."""
    import numpy as np

    rng = np.random.default_rng(seed)
    if kind == "phase":
        from backend.stimuli.masks.phase import scramble

        return scramble(picture, rng)
    from backend.stimuli.masks.cache import cached, key_of
    from backend.stimuli.masks.texture import VERSION, synthesise

    return cached(cache, key_of(picture, kind, VERSION, seed), lambda: synthesise(picture, rng))


def check_masks(folder: Path) -> None:
    """Check that `ingest_masks` can process a folder.

    Raises:
        InvalidInput: the folder is missing or empty, or files cannot be read.
    """
    from backend.stimuli.images import MIN_SIDE_PX
    from backend.stimuli.ingest import processed

    processed(folder, "masks", MIN_SIDE_PX, "png")


def ingest_masks(folder: Path, out: Path, *, size_px: int, image_format: str) -> tuple[str, ...]:
    """Process a folder of masks into `out` in the same way as stimuli; return their names.

    Raises:
        InvalidInput: the folder is missing or empty, or files cannot be read.
    """
    from backend.stimuli.file_metadata import make_uniform
    from backend.stimuli.images import suffix_of
    from backend.stimuli.ingest import processed

    made = []
    for data in processed(folder, "masks", size_px, image_format):
        made.append(out / f"{secrets.token_hex(16)}{suffix_of(image_format)}")
        made[-1].write_bytes(data)
    make_uniform(made)
    return tuple(sorted(path.name for path in made))


def _make(job: _Job) -> Path:
    """Generate one mask; runs in a worker process."""
    import numpy as np
    from PIL import Image

    from backend.stimuli.images import encode

    with Image.open(job.source) as opened:
        picture = np.asarray(opened.convert("RGB"))
    mask = mask_of(picture, job.kind, job.seed, job.cache)
    job.out.write_bytes(encode(Image.fromarray(mask), job.image_format))
    return job.out
