"""Images for the sample studies: crops of photographs, and textures that four models generate from crops.

Real and fake images start as crops of one size, are toned by one rule and written alike; only the step
between cropping and toning differs. The models clearly differ in the realism of their textures.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from backend.stimuli.demo_photographs import SUBJECTS, cut, toned
from backend.stimuli.parallel import in_parallel

SIDE_PX = 256
MODELS = {
    "random-phase": "the waves of a photograph under random phases",
    "portilla-simoncelli": "noise with a photograph's wavelet statistics (Portilla and Simoncelli, 2000)",
    "quilting-40px": "blocks of 40 px of a photograph, quilted (Efros and Freeman, 2001)",
    "quilting-96px": "blocks of 96 px of a photograph, quilted",
}
"""Descriptions of the models, from the most obvious fakes to the most realistic."""
_CUT_PX = 352
"""Side of the crops, large enough for quilting to choose among blocks; the other kinds use a part of it."""
_ROUNDS = 2
"""Rounds of the texture synthesis; with 40 the textures look the same, and take many times as long."""
_CHUNK = 2


@dataclass(frozen=True)
class _Job:
    out: Path
    kind: str | None
    """A model, or None for a photograph."""
    subject: str
    seed: tuple[int, ...]


def write_pictures(
    out: Path,
    counts: Mapping[str | None, int],
    seed: int,
    progress: Callable[..., Iterable] | None = None,
) -> dict[str | None, Path]:
    """Write images as PNG, in one folder for each kind; return the folders.

    All kinds show the subjects in the same proportions. Existing images are not rewritten, as they would be
    the same.

    Args:
        counts: number of images of each kind: a model, or None for photographs.
        progress: wraps an iterable: `progress(items, total, label)`.
    """
    folders = {kind: out / (kind or "real") for kind in counts}
    jobs = []
    for place, (kind, count) in enumerate(counts.items()):
        folders[kind].mkdir(parents=True, exist_ok=True)
        subjects = _dealt(count, np.random.default_rng((seed, place)))
        jobs += [
            _Job(folders[kind] / f"{i:04d}.png", kind, subject, (seed, place, i))
            for i, subject in enumerate(subjects)
        ]
    np.random.default_rng(seed).shuffle(jobs)  # slow and quick kinds mixed, so that progress is even
    with in_parallel(_write, jobs, chunk=_CHUNK) as made:
        for _ in progress(made, len(jobs), "making pictures") if progress else made:
            pass
    return folders


def picture_of(kind: str | None, subject: str, seed: int | Sequence[int]) -> np.ndarray:
    """Return an image (side, side, 3; uint8): a crop of a photograph, or a model's texture from one.

    Args:
        kind: a model, or None for a photograph.
        subject: a name in `demo_photographs.SUBJECTS`.
    """
    rng = np.random.default_rng(seed)
    source = SUBJECTS[subject]
    made = _MAKERS[kind](cut(source, _CUT_PX, rng), rng)
    return toned(made, source, rng)


def _dealt(count: int, rng: np.random.Generator) -> list[str]:
    deck = [name for name, subject in SUBJECTS.items() for _ in range(subject.share)]
    rounds = -(-count // len(deck))
    return [str(name) for _ in range(rounds) for name in rng.permutation(deck)][:count]


def write_picture(out: Path, kind: str | None, subject: str, seed: int | Sequence[int]) -> None:
    """Write `picture_of` as PNG, unless the file exists; it is never visible incomplete."""
    if out.exists():
        return
    partial = out.with_suffix(".partial")
    Image.fromarray(picture_of(kind, subject, seed)).save(partial, "PNG", compress_level=1)
    partial.rename(out)


def _write(job: _Job) -> None:
    """Make one image; runs in a worker process."""
    write_picture(job.out, job.kind, job.subject, job.seed)


def _photograph(photograph: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    y, x = rng.integers(np.array(photograph.shape[:2]) - SIDE_PX, endpoint=True)
    return photograph[y : y + SIDE_PX, x : x + SIDE_PX]


def _random_phase(photograph: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from backend.stimuli.masks.phase import scramble

    return _in_colour(_photograph(photograph, rng), lambda picture: scramble(picture, rng))


def _portilla_simoncelli(photograph: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    from backend.stimuli.masks.texture import synthesise

    return _in_colour(_photograph(photograph, rng), lambda picture: synthesise(picture, rng, rounds=_ROUNDS))


def _quilted(block_px: int) -> Callable[[np.ndarray, np.random.Generator], np.ndarray]:
    def make(photograph: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        from backend.stimuli.quilting import quilt

        return quilt(photograph, SIDE_PX, block_px, round(0.3 * block_px), rng)

    return make


_MAKERS: Mapping[str | None, Callable[[np.ndarray, np.random.Generator], np.ndarray]] = {
    None: _photograph,
    "random-phase": _random_phase,
    "portilla-simoncelli": _portilla_simoncelli,
    "quilting-40px": _quilted(40),
    "quilting-96px": _quilted(96),
}


def _in_colour(picture: np.ndarray, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the result of `make`, which requires three channels, for a gray or colour image."""
    if picture.ndim == 3:
        return make(picture)
    return make(np.repeat(picture[..., None], 3, axis=-1))[..., 0]
