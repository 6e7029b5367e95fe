"""Names of models, evaluators and images, normalized for comparison."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

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
