"""Suggestions for mistyped names."""

from collections.abc import Iterable


def did_you_mean(word: str, known: Iterable[str], or_else: str = "") -> str:
    """Return the end of an error message: the known name closest to `word`, else `or_else`."""
    from difflib import get_close_matches

    similar = get_close_matches(word.lower(), list(known), n=1)
    return f"; did you mean `{similar[0]}`?" if similar else or_else
