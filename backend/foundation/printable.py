"""File names as text that every terminal, store and file accepts: a name may be any bytes but / and 0."""

import os
from pathlib import Path


def printable(name: str | Path) -> str:
    r"""Return a name with invalid UTF-8, line breaks and other control characters escaped, as in `\xff`."""
    return escaped(os.fsencode(name).decode("utf-8", "backslashreplace"))


def escaped(text: str) -> str:
    r"""Return a text with control characters and lone surrogates escaped, as in `\n`, `\ud800`."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
