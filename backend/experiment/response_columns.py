"""The columns of the responses file and their allowed values: an interface that users' scripts rely on."""

import math
import re
from collections.abc import Collection
from enum import Enum
from typing import Any

from backend.experiment.fixed_exposures import UNLIMITED
from backend.experiment.records import TRUTHS
from backend.experiment.staircase import comparable
from backend.foundation.frozen import dataclass


class Kind(Enum):
    """How the cells of a column are parsed."""

    TEXT = "a text"
    CHOICE = "one of a few words"
    WORDS = "words separated by spaces"
    TRUTH_VALUE = "true or false"
    WHOLE = "a whole number from 0"
    NUMBER = "a number"
    EXPOSURE = "a number, or empty or 'unlimited'"
    LIST = "numbers separated by spaces"
    WHOLES = "whole numbers separated by spaces"


@dataclass(frozen=True)
class Column:
    """A column: its contents, the unit or format of its cells, and how a cell is parsed."""

    description: str
    unit: str = "text"
    kind: Kind = Kind.TEXT
    is_fact: bool = False
    """Whether the page may post it with an answer; it is then stored unchanged in `Response.facts`."""


COLUMNS = {
    "study": Column("Name of the study"),
    "method": Column(
        "HYPE-infinity (no time limit), HYPE-time (staircase of exposures) or constant stimuli (fixed "
        "exposures)",
        "infinity, time, exposures",
        Kind.CHOICE,
    ),
    "session": Column("One evaluator's visit"),
    "model": Column("Generative model that is judged; empty for reals that the models of a session share"),
    "evaluator": Column("Random pseudonym of the evaluator; no panel's id"),
    "simulated": Column(
        "Whether the session is simulated, so that nobody looked at the pictures",
        "true, false",
        Kind.TRUTH_VALUE,
    ),
    "block": Column("Position of the block in the session", "whole number from 0", Kind.WHOLE),
    "trial_index": Column("Position of the trial in the session", "whole number from 0", Kind.WHOLE),
    "stimulus": Column("Public file name of the picture, which says nothing about it"),
    "class": Column("Class of the picture, where the study has classes"),
    "truth": Column("What the picture is", "real, fake", Kind.CHOICE),
    "response": Column(
        "What the evaluator took it for; `not_sure` in studies that allow it, half an error",
        "real, fake, not_sure",
        Kind.CHOICE,
    ),
    "exposure_ms": Column(
        "Exposure that the staircase asked for (HYPE-time), or that was planned (constant stimuli; empty "
        "without time limit)",
        "ms",
        Kind.EXPOSURE,
    ),
    "shown_ms": Column("Exposure as measured (with a time limit)", "ms", Kind.NUMBER),
    "frames": Column(
        "Refreshes of the display for which the picture was shown (with a time limit)",
        "whole number",
        Kind.WHOLE,
    ),
    "frame_ms": Column("Time between refreshes of the display", "ms", Kind.NUMBER),
    "mask_ms": Column(
        "How long each mask was shown, as measured (with a time limit)", "ms, separated by spaces", Kind.LIST
    ),
    "rt": Column("Response time, from when the question could be answered", "ms", Kind.NUMBER),
    "handler_delay_ms": Column(
        "Time from the press to its handling by a busy page, which is in no response time",
        "ms",
        Kind.NUMBER,
        is_fact=True,
    ),
    "flags": Column("Irregularities during the trial", "words, separated by spaces", Kind.WORDS),
    "at": Column("When the server stored the answer", "UTC, ISO 8601"),
    "attempt": Column(
        "Pictures of this trial that were replaced before this one", "whole number from 0", Kind.WHOLE
    ),
    "evidence": Column(
        "How the shown times were measured (with a time limit)",
        "element, worker_element, worker_video, worker, callback",
    ),
    "lateness_ms": Column(
        "Latest change of what is shown, after the start of its refresh (with a time limit)",
        "ms",
        Kind.NUMBER,
    ),
    "planned_frames": Column(
        "Refreshes planned for each number of the countdown, the picture and each mask (with a time limit)",
        "whole numbers, separated by spaces",
        Kind.LIST,
    ),
    "achieved_frames": Column(
        "Refreshes for which each of them was shown (with a time limit)",
        "whole numbers, separated by spaces",
        Kind.LIST,
    ),
    "phase_ms": Column(
        "How long each of them was shown, as measured (with a time limit)",
        "ms, separated by spaces",
        Kind.LIST,
    ),
    "shown_css_px": Column(
        "Width at which the pictures of the trial were shown", "CSS px", Kind.NUMBER, is_fact=True
    ),
    "shown_px": Column("The same in pixels of the display", "whole number", Kind.WHOLE, is_fact=True),
    "pixel_ratio": Column(
        "Pixels of the display for each CSS px, which changes with the browser's zoom",
        "number",
        Kind.NUMBER,
        is_fact=True,
    ),
    "page_scale": Column(
        "Magnification of the page by a pinch, which the page undoes for its pictures",
        "number",
        Kind.NUMBER,
        is_fact=True,
    ),
    "surround": Column(
        "What was found altered around the pictures or in how they are shown, by the system or an extension; "
        "empty if nothing was",
        "forced_colors, inverted_colors, darkened, extension, overlay, size, background, filter, opacity, "
        "blend, transform, separated by spaces",
        is_fact=True,
    ),
    "translated": Column(
        "What the browser or an extension translated the page's texts to; empty if it did not, as far as the "
        "page could see",
        "language (BCP 47), or unknown",
        is_fact=True,
    ),
    "confidence": Column(
        "How sure the evaluator was of the response; empty where it was not asked",
        "1 to confidence_points, or 0 to 100 on a slider",
        Kind.NUMBER,
        is_fact=True,
    ),
    "confidence_points": Column(
        "Number of values that confidence can take; 101 for a slider", "whole number", Kind.WHOLE
    ),
    "confidence_rt": Column(
        "Time from the question of confidence to the choice; empty where both were given in one press",
        "ms",
        Kind.NUMBER,
        is_fact=True,
    ),
    "reasons": Column(
        "Reasons that were chosen, by their numbers in the study's list (materials/study.json)",
        "whole numbers from 1, separated by spaces",
        Kind.WHOLES,
        is_fact=True,
    ),
    "comment": Column("Comment in the evaluator's own words", is_fact=True),
    "mark": Column(
        "Marked position: x and y of a click, or x, y, width and height of a box, from the upper left",
        "thousandths of the picture's width and height, separated by spaces",
        Kind.LIST,
        is_fact=True,
    ),
    "clip_plays": Column(
        "How often the clips of the trial were played to their end; empty with pictures",
        "whole number",
        Kind.WHOLE,
        is_fact=True,
    ),
    "clip_seen_whole": Column(
        "Whether the clips of the trial were played to their end at least once; empty with pictures",
        "true, false",
        Kind.TRUTH_VALUE,
        is_fact=True,
    ),
    "clip_frames_off": Column(
        "Frames of the trial's clips, over all plays, that were shown for more or fewer refreshes than "
        "planned; empty with pictures, and where the browser does not tell when frames are shown",
        "whole number",
        Kind.WHOLE,
        is_fact=True,
    ),
    "clip_cadence": Column(
        "Refreshes of the display planned for each frame of a clip, as a pattern that repeats: `2:3` for 24 "
        "frames a second at 60 Hz",
        "whole numbers, separated by colons",
        is_fact=True,
    ),
    "browser": Column(
        "Engine of the evaluator's browser; empty where it is not known", "Chromium, Firefox, WebKit"
    ),
    "sampling": Column(
        "How the picture was sampled: at random, or by a rule, in which case scores leave the response out; "
        "in studies with adaptive sampling",
        "random, least-seen, uncertain",
    ),
    "trial_kind": Column(
        "Whether the trial is scored (`test`), practice, an attention check by a picture beyond doubt "
        "(`check`) or by an instruction (`instructed`; `truth` is the answer it asks for); empty: scored",
        "test, practice, check, instructed",
        Kind.CHOICE,
    ),
    "excluded": Column(
        "Whether the rule for exclusion, declared with the study, leaves the evaluator out of the primary "
        "scores; empty without a rule",
        "true, false",
        Kind.TRUTH_VALUE,
    ),
    "item": Column(
        "The pair or triplet that was shown: its set and its name in the researcher's folders, such as "
        "`traditional/000123` (similarity)"
    ),
    "left": Column(
        "What stood on the left: `p0` or `p1` (2AFC), or a model's name or `real` (pairs, tournaments)"
    ),
    "right": Column("What stood on the right, as `left`"),
}
"""In the order of the file. To record another fact of a response, declare it here and post it in the page."""
FACTS = {name: column for name, column in COLUMNS.items() if column.is_fact}
NEEDED = ("model", "evaluator", "truth", "response")


def of_kind(kind: Kind) -> tuple[str, ...]:
    return tuple(name for name, column in COLUMNS.items() if column.kind is kind)


def truth_of(cell: Any) -> str | None:
    """Return `real` or `fake` if a cell contains it, ignoring case and surrounding blanks, else None."""
    return word_of(cell, TRUTHS)


def word_of(cell: Any, words: Collection[str]) -> str | None:
    """Return the one of some lower-case words that a cell contains, ignoring case and blanks, else None."""
    if not isinstance(cell, str):
        return None
    text = cell if cell in words else cell.strip().lower()
    return text if text in words else None


def whole(text: str) -> int | None:
    """Return the whole number (0 or more) that a cell contains, or None."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def exposure_of(cell: Any) -> float:
    """Return the exposure (ms) of a cell; it is infinite if that is empty or `unlimited`, NaN if none."""
    if cell is None or cell != cell:
        return math.inf
    if isinstance(cell, str):
        text = cell.strip()
        exposure_ms = math.inf if text in ("", UNLIMITED) else number(text)
        return math.nan if exposure_ms is None else exposure_ms
    return float(cell) if isinstance(cell, (int, float)) and math.isfinite(cell) else math.nan


def compared_exposure_of(cell: Any) -> float:
    """Return the exposure (ms) of a cell, as exposures are compared (`staircase.comparable`)."""
    return comparable(exposure_of(cell))


def number(text: str) -> float | None:
    """Return the finite number that a cell contains, or None."""
    try:
        value = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        value = math.nan
    return value if math.isfinite(value) else None
