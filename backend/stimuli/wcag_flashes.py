"""How often a trial flashes, by the general and red flash thresholds of WCAG 2.2.

Success criterion 2.3.1 requires that nothing flashes more than three times within any second, unless
the area that flashes at once is no more than a quarter of every field of 10 degrees. Its definition of
"general flash and red flash thresholds" says what counts:

- a general flash is a rise and a fall of relative luminance (or a fall and a rise), each by 0.1 or
  more where white is 1, the darker state below 0.80;
- a red flash is a change to a saturated red and back (or from it and back). A state is a saturated
  red if R / (R + G + B) is 0.8 or more, and a change counts if the states are more than 0.2 apart
  in the u'v' plane (CIE 1976 UCS; the definition of 2.2, after ISO 9241-391);
- a field of 10 degrees is any rectangle of 341 x 256 CSS px;
- patterns finer than 0.1 degree do not count, hence the averaging over cells of 4 CSS px.

https://www.w3.org/TR/WCAG22/#dfn-general-flash-and-red-flash-thresholds

Where the text allows several readings, the one that counts more flashes is used: changes may accumulate
over several states; cells and fields are rounded outwards; flashes that alternate between two positions
count twice. The numbers of the countdown are ignored: their strokes cover some 2% of a field.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from backend.experiment.protocol import Protocol

ALLOWED = 3
"""Flashes within a second that the criterion allows, of general and of red flashes each."""
CELL_CSS = 4
FIELD_CSS = (256, 341)
FIELD_SHARE = 0.25
GAP_CSS = 8
"""Smallest gap between pictures side by side (`frontend/task/stage.js`)."""
STAGE_GRAY = 128
"""Level of the page around and between stimuli: #808080."""
_LEAST_CHANGE = 0.1 - 1e-6
_DARKER_BELOW = 0.8
_RED_SHARE = 0.8
_RED_DISTANCE = 0.2
_WINDOW_MS = 1000
_FASTEST_ANSWER_MS = 200
"""Nobody sees, decides and responds faster; without countdown and feedback, only this separates trials."""
_WHITE_UV = (0.1978, 0.4683)
"""Chromaticity of sRGB's grays, also assigned to black, which has none."""
_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]],
    dtype=np.float32,
)
_LEVELS = np.arange(256) / 255
LINEAR = np.where(_LEVELS <= 0.04045, _LEVELS / 12.92, ((_LEVELS + 0.055) / 1.055) ** 2.4).astype(np.float32)
"""Linear light (0 to 1) of each level of sRGB (IEC 61966-2-1)."""


class State(NamedTuple):
    """What the stage shows for some time, by cell: arrays of one shape."""

    luminance: np.ndarray
    u: np.ndarray
    v: np.ndarray
    is_red: np.ndarray


class Flashes(NamedTuple):
    """The most flashes within any second: over more than a quarter of a field, and in any one cell."""

    general: int
    red: int
    general_anywhere: int
    red_anywhere: int


@dataclass(frozen=True)
class Check:
    """The result for the sampled trials of a study; the numbers are those of the worst trial."""

    trials: int
    exposure_ms: float
    worst: Flashes
    over: int
    """Trials with more flashes than allowed, over more than a quarter of a field."""

    @property
    def is_within(self) -> bool:
        return self.over == 0


def check(
    protocol: Protocol, trials: Iterable[tuple[Sequence[State], Sequence[State]]], cell_css: float = CELL_CSS
) -> Check:
    """Return the result for `trials`, each its pictures and its masks, at the shortest exposure.

    The shortest is the worst: it shows the same states in less time, so that what happens within a
    second at a longer exposure also does at this one.
    """
    exposure_ms = protocol.shortest_exposure_ms or 0
    counts = [flashes(*timeline(protocol, *trial, exposure_ms), cell_css) for trial in trials]
    return Check(
        trials=len(counts),
        exposure_ms=exposure_ms,
        worst=Flashes(*map(max, zip(*counts, strict=True))),
        over=sum(max(each.general, each.red) > ALLOWED for each in counts),
    )


def verdict(check: Check) -> str:
    """Return the result in one line, with what to do if it is over the threshold."""
    worst, trials = check.worst, f"{check.trials} sampled trials at {check.exposure_ms:g} ms"
    flashes_s = f"{worst.general} general and {worst.red} red flashes a second"
    counts = f"{flashes_s} over a quarter of a 10-degree field"
    rule = f"(WCAG 2.2, 2.3.1 allows {ALLOWED})"
    if check.is_within:
        small = max(worst.general_anywhere, worst.red_anywhere)
        places = f", with up to {small} in smaller places" if small > ALLOWED else ""
        return f"photosensitivity: at most {counts} in {trials} {rule}: within the threshold{places}"
    return (
        f"photosensitivity: up to {counts} {rule}, OVER THE THRESHOLD in {check.over} of {trials}; "
        "ask for fewer masks (mask_count), longer ones (mask_ms) or masks of lower contrast (--masks DIR), "
        "and exclude people who are sensitive to flashes"
    )


def state_of(pixels: np.ndarray, cells: int) -> State:
    """Return the state that an image shows, averaged in linear light over `cells` by `cells` cells.

    Args:
        pixels: (size, size, 3), uint8, sRGB.
        cells: borders are at whole pixels; if there are more cells than pixels, pixels are repeated.
    """
    size = len(pixels)
    starts = np.arange(cells) * size // cells
    if cells >= size:
        light = LINEAR[pixels[starts][:, starts]]
    else:
        widths = np.diff(starts, append=size).astype(np.float32)
        sums = np.add.reduceat(np.add.reduceat(LINEAR[pixels], starts, axis=1), starts, axis=0)
        light = sums / (widths[:, None] * widths)[..., None]
    return _state(light)


def gray_stage(rows: int, columns: int | None = None) -> State:
    """Return the empty stage; a square one unless the number of columns is given."""
    gray = state_of(np.full((1, 1, 3), STAGE_GRAY, dtype=np.uint8), 1)
    return State(*(np.full((rows, columns or rows), part[0, 0], part.dtype) for part in gray))


def beside(states: Sequence[State]) -> State:
    """Return what the stage shows with pictures side by side, at the smallest gap of any window."""
    first, *others = states
    gap = gray_stage(len(first.luminance), GAP_CSS // CELL_CSS)
    row = [first, *(state for other in others for state in (gap, other))]
    return State(*map(np.hstack, zip(*row, strict=True)))


def timeline(
    protocol: Protocol, pictures: Sequence[State], masks: Sequence[State], exposure_ms: float
) -> tuple[list[State], list[float]]:
    """Return the states that a trial shows and when each begins (ms), with the gray stage before and after.

    If trials follow each other within a second, as many are concatenated as a second can touch.

    Args:
        pictures: shown one after the other, with the gray stage in between for `gap_ms`.
    """
    first, *later = pictures
    gray = gray_stage(*first.luminance.shape)
    shown = [first, *(state for picture in later for state in (gray, picture)), *masks]
    shown_ms = [
        exposure_ms,
        *[protocol.judgment.gap_ms, exposure_ms] * len(later),
        *[protocol.timing.mask_ms] * len(masks),
    ]
    pause_ms = (
        protocol.timing.countdown_from * protocol.timing.countdown_ms
        + _FASTEST_ANSWER_MS
        + protocol.page.feedback_ms * protocol.page.feedback
    )
    count = 1 if pause_ms > _WINDOW_MS else 2 + int(_WINDOW_MS // (sum(shown_ms) + pause_ms))
    states = [gray] + [*shown, gray] * count
    lasts_ms = [pause_ms, *[*shown_ms, pause_ms] * count]
    return states, [0.0, *accumulate(lasts_ms[:-1])]


def flashes(states: Sequence[State], starts_ms: Sequence[float], cell_css: float = CELL_CSS) -> Flashes:
    """Return the most flashes of `states`, beginning at `starts_ms`, within any second.

    Args:
        cell_css: width of a cell as shown, CSS px.
    """
    worst = Flashes(0, 0, 0, 0)
    for first, last in _windows(starts_ms):
        general, general_anywhere = _most(states[first:last], _luminance_change, cell_css)
        red, red_anywhere = _most(states[first:last], _red_change, cell_css)
        worst = Flashes(*map(max, worst, (general, red, general_anywhere, red_anywhere)))
    return worst


def _state(light: np.ndarray) -> State:
    x, y, z = np.moveaxis(light @ _TO_XYZ.T, -1, 0)
    depth, total = x + 15 * y + 3 * z, light.sum(axis=-1)
    is_black = total <= 0
    with np.errstate(invalid="ignore", divide="ignore"):
        u = np.where(is_black, _WHITE_UV[0], 4 * x / depth)
        v = np.where(is_black, _WHITE_UV[1], 9 * y / depth)
        is_red = light[..., 0] / total >= _RED_SHARE  # for black, a comparison with NaN: False
    return State(y, u.astype(np.float32), v.astype(np.float32), is_red)


def _windows(starts_ms: Sequence[float]) -> Iterator[tuple[int, int]]:
    """Yield the slices of states whose changes are within one second; no slice is part of another."""
    reached = 0
    for first in range(len(starts_ms) - 1):
        last = first + 1
        while last < len(starts_ms) and starts_ms[last] - starts_ms[first + 1] <= _WINDOW_MS:
            last += 1
        if last > reached:
            reached = last
            yield first, last


_Change = Callable[[State, State], tuple[np.ndarray, np.ndarray]]


def _luminance_change(before: State, after: State) -> tuple[np.ndarray, np.ndarray]:
    """Return where luminance rises, and where it falls, by enough to be half of a general flash."""
    step = after.luminance - before.luminance
    rises = (step >= _LEAST_CHANGE) & (before.luminance < _DARKER_BELOW)
    falls = (step <= -_LEAST_CHANGE) & (after.luminance < _DARKER_BELOW)
    return rises, falls


def _red_change(before: State, after: State) -> tuple[np.ndarray, np.ndarray]:
    """Return where a saturated red appears, and where it disappears, by enough to be half of a red flash.

    Two saturated reds of sRGB are never 0.2 apart, so one of the two states is never a saturated red.
    """
    is_far = (after.u - before.u) ** 2 + (after.v - before.v) ** 2 > _RED_DISTANCE**2
    return is_far & after.is_red & ~before.is_red, is_far & before.is_red & ~after.is_red


def _most(states: Sequence[State], change: _Change, cell_css: float) -> tuple[int, int]:
    """Return the flashes of a second: over more than a quarter of a field, and in any one cell.

    The first is the larger of two counts: how often the same cells flash, and how many flashes
    follow one another, each in cells of its own.
    """
    if change is _red_change and not any(state.is_red.any() for state in states):
        return 0, 0
    *_, longest = _alternations(states, change)
    by_cell = longest // 2
    anywhere = int(by_cell.max())
    over = sum(_fills_field(by_cell >= count, cell_css) for count in range(1, anywhere + 1))
    in_turn = _one_after_the_other(states, change, cell_css) if over < len(states) // 2 else 0
    return max(over, in_turn), anywhere


def _one_after_the_other(states: Sequence[State], change: _Change, cell_css: float) -> int:
    """Return how many flashes, each over more than a quarter of a field, follow one another.

    Each is counted as soon as it is complete, which leaves the most states for later ones.
    """
    first, count = 0, 0
    while True:
        for passed, longest in enumerate(_alternations(states[first:], change), start=1):
            if _fills_field(longest >= 2, cell_css):
                first, count = first + passed, count + 1
                break
        else:
            return count


def _alternations(states: Sequence[State], change: _Change) -> Iterator[np.ndarray]:
    """Yield by cell, for each state after the first, the longest chain so far of alternating changes.

    `ups[i]` is the longest chain that ends with a rise to state i, and `downs[i]` with a fall.
    """
    longest = np.zeros(states[0].luminance.shape, dtype=np.int16)
    ups, downs = [longest], [longest]
    for j, after in enumerate(states[1:], start=1):
        up, down = np.zeros_like(longest), np.zeros_like(longest)
        for i, before in enumerate(states[:j]):
            rises, falls = change(before, after)
            np.maximum(up, rises * (downs[i] + 1), out=up)
            np.maximum(down, falls * (ups[i] + 1), out=down)
        ups.append(up)
        downs.append(down)
        longest = np.maximum(longest, np.maximum(up, down))
        yield longest


def _fills_field(is_flashing: np.ndarray, cell_css: float) -> bool:
    """Return whether the cells cover more than a quarter of any field of 10 degrees."""
    limit = FIELD_SHARE * FIELD_CSS[0] * FIELD_CSS[1] / cell_css**2
    if is_flashing.sum() <= limit:
        return False
    rows, columns = (
        min(side, int(-(-field // cell_css)))
        for side, field in zip(is_flashing.shape, FIELD_CSS, strict=True)
    )
    down = np.pad(is_flashing.cumsum(axis=0), ((1, 0), (0, 0)))
    across = np.pad((down[rows:] - down[:-rows]).cumsum(axis=1), ((0, 0), (1, 0)))
    return bool((across[:, columns:] - across[:, :-columns]).max() > limit)
