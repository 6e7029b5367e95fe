"""How scores, ranks, dates and costs are written on the pages of competitions."""

from collections.abc import Sequence

from backend.report import formatting

NONE = "–"


def score(value: float, unit: str) -> str:
    """Return a score with its unit, such as `41.3%`."""
    return formatting.amount(value, unit, _digits(unit))


def interval(ci: Sequence[float] | None, unit: str) -> str:
    """Return an interval without its unit, such as `38.0 to 44.6`."""
    if ci is None:
        return NONE
    low, high = (formatting.amount(end, digits=_digits(unit)) for end in ci)
    return f"{low} to {high}"


def number(value: float, unit: str) -> str:
    """Return a score without its unit."""
    return formatting.amount(value, digits=_digits(unit))


def _digits(unit: str) -> int:
    """Return the decimals of scores: log-odds are small numbers."""
    return 1 if unit else 2


def day(at: str | None) -> str:
    return at[:10] if at else NONE


def days(first: str, last: str) -> str:
    """Return the days from one time to another."""
    return day(first) if first[:10] == last[:10] else f"{day(first)} to {day(last)}"
