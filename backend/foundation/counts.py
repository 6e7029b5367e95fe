"""Counts with their nouns, for messages."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a count with its noun, such as `1 evaluator` or `30 evaluators`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
