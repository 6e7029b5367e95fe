"""Files in messages and in notes: a researcher reads the paths that they typed, others no path of a computer.

Notes travel with a study, into reports and data sets; there a file is named within its side, as `gan/a.png`.
"""

from collections.abc import Sequence
from pathlib import Path

from backend.foundation.counted_nouns import some_of
from backend.foundation.printable import printable


class FileText(str):
    """A text about files by the paths that were typed; `handed_on` names them within their sides."""

    handed_on: str

    def __new__(cls, typed: str, handed_on: str = "") -> "FileText":
        """Return the text in both wordings."""
        text = super().__new__(cls, typed)
        text.handed_on = handed_on
        return text


def handed_on(text: str) -> str:
    """Return a text as notes have it; one without files stays as it is."""
    return text.handed_on if isinstance(text, FileText) else text


def file_name(path: str | Path, within: str) -> FileText:
    """Return the printable name of a file, which notes call `within`."""
    return FileText(printable(path), printable(within))


def first_of(names: Sequence[str]) -> FileText:
    """Return the first names, and how many more there are."""
    return FileText(some_of(names), some_of([*map(handed_on, names)]))


def joined(*parts: str, by: str = "") -> FileText:
    """Return a text of parts, some of which name files."""
    return FileText(by.join(parts), by.join(map(handed_on, parts)))
