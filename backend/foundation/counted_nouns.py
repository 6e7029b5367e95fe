"""Counts with their nouns, and lists of names that stay short, for messages."""

from collections.abc import Sequence

MOST_NAMED = 5


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, such as `1 evaluator` or `30 evaluators`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def some_of(names: Sequence[str], most: int = MOST_NAMED) -> str:
    """Return the first names, and how many more there are: of thousands a message names a few."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"
