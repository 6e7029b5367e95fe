"""Names of models, evaluators and images, normalized for comparison."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_ROUNDED = re.compile(r"[0-9]([.,][0-9]+)?[eE]\+?[0-9]+")
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


def clean(name: Any) -> Any:
    """Return a name as compared: in Unicode form NFC, without surrounding white space or byte order marks."""
    if not isinstance(name, str) or (name.isascii() and name == name.strip()):
        return name
    text = unicodedata.normalize("NFC", name).strip()
    return text.strip("\ufeff").strip() or text


def doubtful_people(names: Sequence[Any]) -> list[str]:
    """Return notes on names that programs may have changed, so that two people became one, or one two."""
    texts = [name for name in names if isinstance(name, str)]
    notes = []
    if rounded := [name for name in texts if _ROUNDED.fullmatch(name)]:
        notes.append(
            f"{len(rounded)} of {len(names)} evaluators have names such as {rounded[0]!r}, as spreadsheets "
            "round long numbers: different people may have become one; export the names as text again"
        )
    by_number: dict[float, list[str]] = {}
    for name in filter(_NUMBER.fullmatch, texts):
        by_number.setdefault(float(name), []).append(name)
    if alike := [same for same in by_number.values() if len(same) > 1]:
        notes.append(
            f"{sum(map(len, alike))} evaluators have names that are {len(alike)} as numbers, such as "
            f"{' and '.join(map(repr, alike[0][:2]))}; they count apart: give each person one name"
        )
    return notes
