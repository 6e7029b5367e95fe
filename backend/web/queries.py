"""Parameters in the query of a request's address, checked."""

import math
from collections.abc import Sequence

from flask import request

from backend.foundation.errors import InvalidInput

_MOST_DIGITS = 40


def truth_value(name: str) -> bool:
    """Return whether a parameter is true; false if it is not given.

    Raises:
        InvalidInput: it is neither true nor false.
    """
    value = request.args.get(name, "false")
    if value not in ("true", "false"):
        raise InvalidInput(f"{name} must be true or false, not {value!r}")
    return value == "true"


def choice(name: str, choices: Sequence[str]) -> str:
    """Return a parameter that is one of `choices`; the first if it is not given."""
    value = request.args.get(name, choices[0])
    if value not in choices:
        raise InvalidInput(f"{name} must be one of {', '.join(choices)}, not {value!r}")
    return value


def number(name: str, low: float, high: float, is_open: bool = False) -> float | None:
    """Return a parameter that is a number from `low` to `high`; None if it is not given.

    Args:
        is_open: exclude `low` and `high` themselves.
    """
    text = request.args.get(name)
    if text is None:
        return None
    try:
        value = float(text) if len(text) <= _MOST_DIGITS else math.nan
    except ValueError:
        value = math.nan
    is_within = low < value < high if is_open else low <= value <= high
    if not is_within:
        within = f"between {low:g} and {high:g}" if is_open else f"from {low:g} to {high:g}"
        raise InvalidInput(f"{name} must be a number {within}, not {text[:_MOST_DIGITS]!r}")
    return value


def whole(name: str, low: int, high: int) -> int | None:
    """Return a parameter that is a whole number from `low` to `high`; None if it is not given."""
    value = number(name, low, high)
    if value is None:
        return None
    if value != int(value):
        raise InvalidInput(f"{name} must be a whole number, not {value:g}")
    return int(value)


def text(name: str, longest: int = 300) -> str:
    """Return a parameter that is a line of text; '' if it is not given."""
    value = request.args.get(name, "")
    if len(value) > longest or not value.isprintable():
        raise InvalidInput(f"{name} must be a line of at most {longest} printable characters")
    return value


def texts(name: str, most: int = 200, longest: int = 300) -> tuple[str, ...]:
    """Return the values of a parameter that may be repeated."""
    values = tuple(request.args.getlist(name))
    if len(values) > most or any(len(value) > longest or not value.isprintable() for value in values):
        raise InvalidInput(f"{name} must be at most {most} lines of at most {longest} printable characters")
    return values
