"""Names of models, evaluators and images, normalized for comparison; names of files that are known."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

ADDED_BY_SYSTEMS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
"""What Windows and macOS add to folders and archives of pictures, in lower case, besides hidden files."""
VIDEO_ENDINGS = frozenset(
    [".mp4", ".m4v", ".mov", ".webm", ".mkv", ".avi", ".mpg", ".mpeg", ".ogv", ".wmv", ".flv", ".3gp"]
)
"""File extensions of videos."""
_ROUNDED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+[0-9]+")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?([eE]\+?[0-9]+)?")
_AROUND = re.compile(r"(?:\A|\n)\s|\s(?:\n|\Z)")


def are_clean(names: Sequence[Any]) -> bool:
    """Return True if one fast check of all names shows that `clean` changes none; False is inconclusive."""
    try:
        together = "\n".join(names)
    except TypeError:  # a name that is not a string
        return False
    if together.isascii() and together.split() == [*names]:  # no white space in any
        return True
    return together.isascii() and not _AROUND.search(together) and together.count("\n") < max(1, len(names))


def composed(name: str) -> str:
    """Return a name in Unicode form NFC: macOS and archives made there write `é` as `e` and an accent."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def is_set_aside(name: str) -> bool:
    """Return whether a file or folder is hidden, or one that systems add to folders of pictures."""
    return name.startswith(".") or name.lower() in ADDED_BY_SYSTEMS


def clean(name: Any) -> Any:
    """Return a name as compared: in Unicode form NFC, without surrounding white space or byte order marks."""
    if not isinstance(name, str) or (name.isascii() and name == name.strip()):
        return name
    text = unicodedata.normalize("NFC", name).strip()
    return text.strip("\ufeff").strip() or text


def doubtful_people(names: Sequence[Any]) -> list[str]:
    """Return notes on names that programs may have changed, so that two people became one, or one two."""
    texts = [name for name in names if isinstance(name, str)]
    notes = rounded_names(names, "evaluators")
    by_number: dict[float, list[str]] = {}
    for name in filter(_NUMBER.fullmatch, texts):
        by_number.setdefault(float(name), []).append(name)
    if alike := [same for same in by_number.values() if len(same) > 1]:
        notes.append(
            f"{sum(map(len, alike))} evaluators have names that are {len(alike)} as numbers, such as "
            f"{' and '.join(map(repr, alike[0][:2]))}; they count apart: give each person one name"
        )
    return notes


def rounded_names(names: Sequence[Any], of: str) -> list[str]:
    """Return a note on names that a spreadsheet may have rounded to one; else nothing."""
    rounded = [name for name in names if isinstance(name, str) and _ROUNDED.fullmatch(name)]
    if not rounded:
        return []
    return [
        f"{len(rounded)} of {len(names)} {of} have names such as {rounded[0]!r}, as spreadsheets round long "
        f"numbers: different {of} may have become one; export the names as text again"
    ]
