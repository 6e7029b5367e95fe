"""Follow-ups of a judgment: confidence, reasons, comment and mark, as posted with the response.

They are facts of the response (`response_columns`) and are stored with it in one write, so that none can
exist without it or change it. What may be posted follows from the study's settings and from the response;
the truth plays no part.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.experiment.groups.follow_ups import (
    ALL,
    BOX,
    CLICK,
    NONE,
    REQUIRED,
    SLIDER_POINTS,
    FollowUpSettings,
)
from backend.experiment.protocol import Protocol
from backend.experiment.records import FAKE
from backend.foundation.errors import InvalidInput, brief

COLUMNS = ("confidence", "confidence_points", "confidence_rt", "reasons", "comment", "mark")
"""The columns of follow-ups."""
MARK_UNITS = 1000
"""A mark is in thousandths of the picture's width and height."""
_MARK_LENGTHS = {CLICK: 2, BOX: 4}
MARK_FORM = "x and y, or x, y, width and height, in thousandths of the picture and within it"


def columns_of(protocol: Protocol) -> set[str]:
    """Return the columns that the responses of a study can have a value in."""
    asked = protocol.follow_ups
    of = {
        "confidence": asked.confidence != NONE,
        "confidence_points": asked.confidence != NONE,
        "confidence_rt": asked.confidence != NONE,
        "reasons": bool(asked.reasons),
        "comment": asked.comment != NONE,
        "mark": asked.mark != NONE,
    }
    return {name for name, is_asked in of.items() if is_asked}


def asks_why(asked: FollowUpSettings, response: str) -> bool:
    """Return whether reasons or a comment are asked after a response."""
    return (bool(asked.reasons) or asked.comment != NONE) and asked.reasons_for in (response, ALL)


def asks_where(asked: FollowUpSettings, response: str) -> bool:
    """Return whether a mark on the picture is asked after a response."""
    return asked.mark != NONE and response == FAKE


def check(protocol: Protocol, response: str, facts: Mapping[str, Any]) -> None:
    """Check the follow-ups posted with a response against what the study asks.

    Raises:
        InvalidInput: one was not asked, has a value that the study does not offer, or is missing though
            required.
    """
    asked = protocol.follow_ups
    _check_confidence(asked, facts)
    _check_why(asked, response, facts)
    _check_mark(asked, response, facts.get("mark"))


def confidence_range(points: int) -> tuple[int, int]:
    """Return the lowest and the highest confidence on a scale of `points` values."""
    return (0, points - 1) if points == SLIDER_POINTS else (1, points)


def is_mark(mark: Sequence[float]) -> bool:
    if len(mark) not in _MARK_LENGTHS.values() or not all(0 <= each <= MARK_UNITS for each in mark):
        return False
    return all(start + size <= MARK_UNITS for start, size in zip(mark[:2], mark[2:], strict=False))


def _check_confidence(asked: FollowUpSettings, facts: Mapping[str, Any]) -> None:
    points, confidence = asked.confidence_points, facts.get("confidence")
    if not points:
        for name in ("confidence", "confidence_rt"):
            _check_absent(name, facts, "this study asks for no confidence")
        return
    if confidence is None:
        raise InvalidInput("confidence is missing; this study asks for it with each answer")
    low, high = confidence_range(points)
    if not low <= confidence <= high or confidence != int(confidence):
        raise InvalidInput(
            f"confidence must be a whole number from {low} to {high} in this study, not {brief(confidence)}"
        )


def _check_why(asked: FollowUpSettings, response: str, facts: Mapping[str, Any]) -> None:
    is_asked = asks_why(asked, response)
    why = f"this study does not ask for it after {response!r}"
    if not (is_asked and asked.reasons):
        _check_absent("reasons", facts, why)
    if not (is_asked and asked.comment != NONE):
        _check_absent("comment", facts, why)
    elif asked.comment == REQUIRED and not facts.get("comment", "").strip():
        raise InvalidInput(f"comment is missing; this study requires one after {response!r}")
    reasons, count = facts.get("reasons", ()), len(asked.reasons)
    if len(set(reasons)) < len(reasons) or not all(1 <= reason <= count for reason in reasons):
        raise InvalidInput(
            f"reasons must be different numbers from 1 to {count}, those of the study's list, not "
            f"{brief(list(reasons))}"
        )


def _check_mark(asked: FollowUpSettings, response: str, mark: Sequence[float] | None) -> None:
    is_asked = asks_where(asked, response)
    if mark is None:
        if is_asked and asked.mark_needed == REQUIRED:
            raise InvalidInput(f"mark is missing; this study requires one after {response!r}")
        return
    if not is_asked:
        raise InvalidInput(f"mark must be absent; this study does not ask for it after {response!r}")
    form = "x, y, width and height" if asked.mark == BOX else "x and y"
    if len(mark) != _MARK_LENGTHS[asked.mark] or not is_mark(mark):
        raise InvalidInput(
            f"mark must be {form} in thousandths of the picture and within it, not {brief(list(mark))}"
        )


def _check_absent(name: str, facts: Mapping[str, Any], why: str) -> None:
    if name in facts:
        raise InvalidInput(f"{name} must be absent; {why}")
