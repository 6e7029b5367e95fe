"""The photosensitivity check of a study's files, with `wcag_flashes.py`."""

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import numpy as np
from PIL import Image

from backend.experiment.judgment import pictures_of
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.stimuli import wcag_flashes
from backend.stimuli.media import medium_of_file

_TRIALS = 100
"""Stimuli checked, each in one trial: a problem of 1 stimulus in 33 is missed in 1 of 20 studies."""
_MASKS = 64
"""Masks checked: as many as are generated for a study."""


def note(study: Study, pictures: Sequence[str], folder: Path, seed: int) -> str:
    """Return a line that reports how the stimuli and masks in `folder` flash in a trial of `study`."""
    rng = Random(f"flashes {seed}")
    stage_css = study.protocol.stimuli.shown_at_most_css_px
    cells = stage_css // wcag_flashes.CELL_CSS
    sampled = rng.sample(sorted(pictures), min(_TRIALS, len(pictures)))
    masks = rng.sample(sorted(study.masks), min(_MASKS, len(study.masks)))
    states = [_state(folder / name, cells) for name in masks]

    judgment = judgment_of(study.protocol.method)
    are_pairs = judgment.trial_shows == "pair" and not judgment.has_items

    def trials() -> Iterator[tuple[list[wcag_flashes.State], list[wcag_flashes.State]]]:
        for stimulus in sampled:
            shown = [_state(folder / name, cells) for name in pictures_of(stimulus)]
            covers = _drawn(states, study.protocol.timing.mask_count, rng)
            if are_pairs:  # side by side; each mask covers both
                shown = [wcag_flashes.beside([*shown, _state(folder / rng.choice(sampled), cells)])]
                covers = [wcag_flashes.beside([cover, cover]) for cover in covers]
            yield shown, covers

    return wcag_flashes.verdict(wcag_flashes.check(study.protocol, trials(), stage_css / cells))


def _state(path: Path, cells: int) -> wcag_flashes.State:
    """Return the state of a picture, or of the first frame of a clip."""
    medium = medium_of_file(path.name)
    with Image.open(io.BytesIO(medium.preview(path.read_bytes()))) as picture:
        first = picture.convert("RGB").crop((0, 0, picture.width // medium.preview_frames, picture.height))
        return wcag_flashes.state_of(np.asarray(first), cells)


def _drawn(masks: Sequence[wcag_flashes.State], count: int, rng: Random) -> list[wcag_flashes.State]:
    """Return the masks of a trial, without repetition if there are enough."""
    return rng.sample(masks, count) if len(masks) >= count else rng.choices(masks, k=count)
