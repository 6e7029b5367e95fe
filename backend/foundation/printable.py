"""Names of files as text that every terminal, store and file takes: a name may be any bytes but / and 0."""

import os
from pathlib import Path


def printable(name: str | Path) -> str:
    r"""Return a name in which bytes that are no UTF-8, line breaks and other controls stand as `\xff`."""
    return escaped(os.fsencode(name).decode("utf-8", "backslashreplace"))


def escaped(text: str) -> str:
    r"""Return a text in which controls and halves of surrogate pairs stand as `\n`, `\ud800`."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )
