"""Constant stimuli: a set of fixed exposures (`dealt_exposures.py`: which trials have which of them).

In the method of constant stimuli (Gescheider, 1997, chapter 3) the exposures are chosen beforehand and shown
in random order, each equally often. They may include one without time limit, at which the stimulus stays
until it is answered. Within evaluators, each sees all exposures; between evaluators, each sees one.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from backend.foundation.errors import InvalidInput, brief

UNLIMITED = "unlimited"
"""Name of the exposure without time limit, which is None as a value."""
SHORTEST_MS, LONGEST_MS = 4, 60_000
"""4 ms are a refresh of a display of 240 Hz."""
MOST = 20
"""Largest number of exposures of a study."""
REFRESH_MARGIN = 1.05
"""Ratio of a refresh to an exposure up to which they are equal: 16 ms are a refresh of 16.7 ms."""
_DIGITS = 3
Exposures = tuple[float | None, ...]
"""Exposures in ms, in ascending order; None, the one without time limit, is last."""


def parse_exposures(value: Any) -> Exposures:
    """Return exposures given as `50,100,unlimited`, or as a list of such parts; rounded to 0.001 ms.

    Raises:
        InvalidInput: a part is neither a number of ms from 4 to 60000 nor `unlimited`, an exposure occurs
            twice, or there are none or more than 20.
    """
    parts = list(value) if isinstance(value, (list, tuple)) else str(value).split(",")
    if parts == [""] or not parts:
        raise InvalidInput("exposures_ms must name an exposure, as 50,100,unlimited, and is empty")
    if len(parts) > MOST:
        raise InvalidInput(f"exposures_ms must name 1 to {MOST} exposures, not {len(parts)}")
    exposures = [_exposure(part) for part in parts]
    again = [label(ms) for ms, count in Counter(exposures).items() if count > 1]
    if again:
        raise InvalidInput(f"exposures_ms must name each exposure once, and has {again[0]} twice or more")
    return tuple(sorted(exposures, key=lambda ms: (ms is None, ms or 0)))


def _exposure(part: Any) -> float | None:
    text = str(part).strip() if isinstance(part, str) else part
    if text is None or text == UNLIMITED:
        return None
    try:
        ms = float(text) if not isinstance(text, bool) else float("nan")
    except (TypeError, ValueError, OverflowError):
        ms = float("nan")
    if not SHORTEST_MS <= ms <= LONGEST_MS:
        raise InvalidInput(
            f"exposures_ms must be numbers of ms from {SHORTEST_MS} to {LONGEST_MS}, or {UNLIMITED!r}, "
            f"separated by commas, not {brief(part)}"
        )
    return round(ms, _DIGITS)


def label(exposure_ms: float | None) -> str:
    """Return an exposure as text that `parse_exposures` accepts: `50`, `16.7`, `unlimited`."""
    return UNLIMITED if exposure_ms is None else f"{exposure_ms:.{_DIGITS}f}".rstrip("0").rstrip(".")


def written(exposures: Exposures) -> str:
    """Return exposures as text that `parse_exposures` accepts."""
    return ",".join(map(label, exposures))


def shortest_ms(exposures: Iterable[float | None]) -> float | None:
    """Return the shortest exposure with a time limit; None if there is none."""
    return min((ms for ms in exposures if ms is not None), default=None)
