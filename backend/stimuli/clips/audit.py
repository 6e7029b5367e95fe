"""What clips look like beside their content, and how the sides of a study differ in it.

Measured of each clip as shown, on 32 x 32 means of its luma: black first and last frames, fades, frozen
starts and ends, the seam of the loop, and regions that never change, such as watermarks.
"""

import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
from PIL import Image

from backend.experiment.records import ClipForm
from backend.foundation.frozen import dataclass
from backend.stimuli.clips import encoding
from backend.stimuli.clips.clip_file import STRIP_FRAMES, STRIP_PX
from backend.stimuli.clips.sources import ClipFacts, SourceFrame

_GRID = 32
_BLACK = 6.0
"""Mean luma (of 255) below which a frame is black."""
_SAME = 0.5
"""Largest change of a cell's luma between frames that are the same."""
_FROZEN_S = 0.25
_FADE = 3.0
"""How many times brighter the clip is than its first or last frame, if it fades."""
_SEAM = 3.0
"""How many times the change from the last frame to the first exceeds the usual one where a loop jumps."""
_FEW_CELLS, _MANY_CELLS = 4, _GRID * _GRID // 2
"""A region that never changes has so many of the grid's cells, while the rest changes."""
_SHARES_APART = 0.15
"""Difference of shares between sides that is told."""
_RATIO_APART = 1.5
"""Ratio of medians between sides that is told."""


@dataclass(frozen=True)
class Look:
    """What a clip, brought to the form of its study, looks like beside its content."""

    starts_black: bool
    ends_black: bool
    fades_in: bool
    fades_out: bool
    starts_frozen: bool
    ends_frozen: bool
    has_seam: bool
    """Whether the last frame leads to the first by a jump, when it plays again and again."""
    fixed_cells: tuple[int, ...]
    """Cells of the grid that never change while most others do; () if there are none."""
    repeated_share: float
    """Share of frames that show the picture before once more."""
    is_interlaced: bool
    is_turned: bool


@dataclass(frozen=True)
class Shown:
    """What is known of a clip once it is made."""

    source: ClipFacts
    look: Look
    psnr_db: tuple[float, ...]
    """Of each frame."""
    encoded_bytes: int


Side = Sequence[Shown]


class Looking:
    """Measures a clip's frames while they pass."""

    def __init__(self) -> None:
        self._grids: list[np.ndarray] = []
        self._small: list[Image.Image] = []
        self._is_interlaced = self._is_turned = False

    def seen(self, frames: Iterable[SourceFrame]) -> Iterator[Image.Image]:
        """Yield the pictures of the frames."""
        for frame in frames:
            small = frame.picture.convert("L").resize((_GRID, _GRID), Image.Resampling.BOX)
            self._grids.append(np.asarray(small, dtype=np.float32))
            self._small.append(frame.picture.resize((STRIP_PX, STRIP_PX), Image.Resampling.BOX))
            self._is_interlaced |= frame.is_interlaced
            self._is_turned |= frame.is_turned
            yield frame.picture

    def strip(self) -> bytes:
        """Return a film strip, a JPEG, of frames at equal distances, the first among them."""
        strip, count = Image.new("RGB", (STRIP_FRAMES * STRIP_PX, STRIP_PX)), len(self._small)
        for i in range(STRIP_FRAMES):
            strip.paste(self._small[i * count // STRIP_FRAMES], (i * STRIP_PX, 0))
        file = io.BytesIO()
        strip.save(file, "JPEG", quality=85)
        return file.getvalue()

    def look(self, fps: float) -> Look:
        """Return what was measured of the frames that have passed."""
        return _look(np.stack(self._grids), fps, self._is_interlaced, self._is_turned)


def _look(grids: np.ndarray, fps: float, is_interlaced: bool, is_turned: bool) -> Look:
    """Return the look of a clip from the luma of its frames, shape (frames, 32, 32)."""
    brightness = grids.mean(axis=(1, 2))
    usual = float(np.median(brightness))
    changes = np.abs(np.diff(grids, axis=0))
    is_same = changes.max(axis=(1, 2)) < _SAME
    frozen = max(round(_FROZEN_S * fps), 2)
    moves = not is_same.all()
    change = float(np.median(changes.mean(axis=(1, 2))[~is_same])) if moves else 0.0
    seam = float(np.abs(grids[-1] - grids[0]).mean())
    half = max(len(grids) // 2, 1)
    fixed = np.flatnonzero(np.ptp(grids, axis=0).ravel() < _SAME)
    return Look(
        starts_black=bool(brightness[0] < _BLACK <= usual),
        ends_black=bool(brightness[-1] < _BLACK <= usual),
        fades_in=_fades(brightness[:half], usual),
        fades_out=_fades(brightness[half:][::-1], usual),
        starts_frozen=bool(moves and is_same[:frozen].all()),
        ends_frozen=bool(moves and is_same[-frozen:].all()),
        has_seam=bool(moves and seam > _SEAM * change),
        fixed_cells=tuple(map(int, fixed)) if _FEW_CELLS <= len(fixed) <= _MANY_CELLS else (),
        repeated_share=float(is_same.mean()),
        is_interlaced=is_interlaced,
        is_turned=is_turned,
    )


def _fades(brightness: np.ndarray, usual: float) -> bool:
    """Return whether brightness rises steadily from almost nothing to the usual one."""
    rises = np.diff(brightness[: max(len(brightness) // 2, 2)])
    return bool(len(rises) and usual > _BLACK and brightness[0] * _FADE < usual and (rises >= -_SAME).all())


def good_share(ratios: Sequence[float]) -> float:
    """Return the share (0 to 1) of frames whose PSNR (dB) counts as unchanged; 1 for none."""
    return sum(ratio >= encoding.GOOD_PSNR_DB for ratio in ratios) / len(ratios) if ratios else 1.0


_LOOKS: tuple[tuple[str, Callable[[Shown], Any], str], ...] = (
    ("begin with a black frame", lambda one: one.look.starts_black, "clip_skip_seconds"),
    ("end with a black frame", lambda one: one.look.ends_black, "clip_seconds"),
    ("fade in", lambda one: one.look.fades_in, "clip_skip_seconds"),
    ("fade out", lambda one: one.look.fades_out, "clip_seconds"),
    ("begin with a frozen picture", lambda one: one.look.starts_frozen, "clip_skip_seconds"),
    ("end with a frozen picture", lambda one: one.look.ends_frozen, "clip_seconds"),
    ("jump where they begin again", lambda one: one.look.has_seam, "clip_play"),
    ("are interlaced", lambda one: one.look.is_interlaced, ""),
    ("were turned upright as their files say", lambda one: one.look.is_turned, ""),
    ("had a rate that varies", lambda one: one.source.is_variable, ""),
    ("had sound, which is left out", lambda one: one.source.has_sound, ""),
)
"""What is told of sides that differ in it, and the setting that takes it away."""
_REMEDIES = {
    "clip_skip_seconds": "--set clip_skip_seconds=S leaves out the start of all",
    "clip_seconds": "--set clip_seconds=S cuts all sooner",
    "clip_play": "--set clip_play=once shows no seam",
    "": "",
}


def notes(
    sides: Mapping[str | None, Side],
    form: ClipForm,
    fps_given: bool = False,
    seconds_given: bool = False,
) -> list[str]:
    """Return what a study notes of its clips: their form, and how the sides differ.

    Args:
        sides: the clips that scored trials show, by model; under None, the reals.
    """
    if not sides:
        return []
    return [
        _form_note(form, fps_given, seconds_given),
        _quality_note(sides, form),
        *_form_differences(sides, form),
        *_look_differences(sides),
        *_fixed_regions(sides),
    ]


def _form_note(form: ClipForm, fps_given: bool, seconds_given: bool) -> str:
    rate = "as asked for" if fps_given else "the rate of most"
    length = "as asked for" if seconds_given else "the length of the shortest"
    return (
        f"clips have {form.frames} frames: {form.fps[0] / form.fps[1]:.5g} frames a second ({rate}), cut to "
        f"{form.seconds:.3g} s ({length}), {form.width} px, without sound"
    )


def _quality_note(sides: Mapping[str | None, Side], form: ClipForm) -> str:
    told, is_enough = [], True
    for model, side in sides.items():
        share = good_share([ratio for one in side for ratio in one.psnr_db])
        rate = median(8 * one.encoded_bytes / form.seconds / 1e6 for one in side)
        told.append(f"{_named(model)} {100 * share:.0f}% of frames, {rate:.2g} Mbit/s")
        is_enough &= share >= encoding.GOOD_SHARE
    lack = "; that is less than nine frames in ten: compression can hide what gives clips away"
    return (
        f"encoded as VP9 of constant quality {form.quality}; at {encoding.GOOD_PSNR_DB:g} dB or more (PSNR "
        f"against the source at this size and rate) are {'; '.join(told)}{'' if is_enough else lack}"
    )


def _named(model: str | None) -> str:
    return "the reals" if model is None else f"the fakes of {model}"


def _form_differences(sides: Mapping[str | None, Side], form: ClipForm) -> Iterator[str]:
    """Yield how sources differ in length, rate, size, bit rate and format."""
    rate = form.fps[0] / form.fps[1]
    converted = {
        model: sum(abs(one.source.fps / rate - 1) > 0.005 or one.source.is_variable for one in side)
        for model, side in sides.items()
    }
    if any(converted.values()):
        yield (
            f"{_counts(sides, converted)} were brought to {rate:.5g} frames a second from another rate, by "
            "leaving out frames or showing some again, which can show in how they move"
        )
    measures: tuple[tuple[str, Callable[[Shown], float], str], ...] = (
        ("were {} s long before they were cut", lambda one: one.source.seconds, ""),
        ("had {} px on their short side", lambda one: one.source.short_side_px, "size"),
        ("had {} Mbit/s", lambda one: one.source.bits_per_second / 1e6, ""),
    )
    reals = sides.get(None, ())
    for model, side in sides.items() if reals else ():
        if model is None:
            continue
        for text, measure, kind in measures:
            ours, theirs = median(map(measure, reals)), median(map(measure, side))
            if max(ours, theirs) < _RATIO_APART * min(ours, theirs):
                continue
            smallest = round(min(ours, theirs))
            remedy = (
                f"; --preprocess size:{smallest} brings both to one sharpness"
                if kind == "size" and 8 <= smallest < form.width
                else ""
            )
            what = text.format(f"{ours:.3g}")
            yield f"{_named(None)} {what} (median) and {_named(model)} {theirs:.3g}{remedy}"
        if (ours_most := _usual_codec(reals)) != (theirs_most := _usual_codec(side)):
            yield (
                f"{_named(None)} were {ours_most} and {_named(model)} {theirs_most}: traces of compression "
                "can give them away"
            )


def _usual_codec(side: Side) -> str:
    counts = Counter(f"{one.source.container}/{one.source.codec}" for one in side)
    return counts.most_common(1)[0][0]


def _look_differences(sides: Mapping[str | None, Side]) -> Iterator[str]:
    for what, has_it, setting in _LOOKS:
        counts = {model: sum(bool(has_it(one)) for one in side) for model, side in sides.items()}
        shares = [counts[model] / len(side) for model, side in sides.items()]
        if max(shares) - min(shares) > _SHARES_APART:
            remedy = _REMEDIES[setting]
            yield f"{_counts(sides, counts)} {what}{f'; {remedy}' if remedy else ''}"


def _fixed_regions(sides: Mapping[str | None, Side]) -> Iterator[str]:
    """Yield each side of which most clips have a region that never changes, and that another side lacks."""
    common = {model: _common_cells(side) for model, side in sides.items()}
    everywhere = set.intersection(*common.values())
    for model, cells in common.items():
        own = sorted(cells - everywhere)
        if len(own) >= _FEW_CELLS:
            rows, columns = np.divmod(np.array(own), _GRID)
            down = _third(rows, ("top", "middle", "bottom"))
            across = _third(columns, ("left", "centre", "right"))
            yield (
                f"most of {_named(model)} have a region that never changes ({down} {across}), such as a "
                "watermark or a border, which can give them away"
            )


def _common_cells(side: Side) -> set[int]:
    """Return the cells that never change in most of several clips."""
    cells = Counter(cell for one in side for cell in one.look.fixed_cells)
    return {cell for cell, count in cells.items() if count > len(side) / 2 and len(side) > 1}


def _third(positions: np.ndarray, names: tuple[str, str, str]) -> str:
    return names[min(int(3 * (float(positions.mean()) + 0.5) / _GRID), 2)]


def _counts(sides: Mapping[str | None, Side], counts: Mapping[str | None, int]) -> str:
    return ", ".join(
        f"{counts[model]} of {len(side)} {'reals' if model is None else f'fakes of {model}'}"
        for model, side in sides.items()
    )
