"""Numbers of things, in words."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return `1 evaluator`, `30 evaluators`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
