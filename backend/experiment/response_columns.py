"""The columns of the responses file, and what a cell of each may hold: the contract with others' scripts."""

import math
import re
from typing import Any

from backend.experiment.records import TRUTHS

COLUMNS = (
    "study", "method", "session", "model", "evaluator", "simulated", "block", "trial_index", "stimulus",
    "class", "truth", "response", "exposure_ms", "shown_ms", "frames", "frame_ms", "mask_ms", "rt", "flags",
    "at", "attempt", "evidence", "lateness_ms", "planned_frames", "achieved_frames", "phase_ms",
    "shown_css_px", "shown_px", "browser",
)  # fmt: skip
NEEDED = ("model", "evaluator", "truth", "response")
NEEDED_FOR_TIME = ("block", "trial_index", "exposure_ms")
WHOLE = ("block", "trial_index", "frames", "attempt", "shown_px")
NUMBERS = ("exposure_ms", "shown_ms", "frame_ms", "rt", "lateness_ms", "shown_css_px")
LISTS = ("mask_ms", "planned_frames", "achieved_frames", "phase_ms")
TRUTH_VALUES = ("simulated",)
TEXTS = ("study", "session", "model", "evaluator", "stimulus", "class", "at", "evidence", "browser")


def truth_of(cell: Any) -> str | None:
    """Return the `real` or `fake` that a cell says in any case, with or without blanks around it, or None."""
    if not isinstance(cell, str):
        return None
    text = cell if cell in TRUTHS else cell.strip().lower()
    return text if text in TRUTHS else None


def whole(text: str) -> int | None:
    """Return the whole number from 0 that a cell holds, or None."""
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def number(text: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    try:
        found = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        found = math.nan
    return found if math.isfinite(found) else None
