"""Names of models, evaluators and images, as they are compared."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

_AROUND = re.compile(r"(?:\A|\n)\s|\s(?:\n|\Z)")


def are_clean(names: Sequence[Any]) -> bool:
    """Tell in one look at many names whether they are clean; False where that takes a look at each."""
    try:
        together = "\n".join(names)
    except TypeError:  # a name need not be a text
        return False
    if together.isascii() and together.split() == [*names]:  # no white space in any
        return True
    return together.isascii() and not _AROUND.search(together) and together.count("\n") < max(1, len(names))


def clean(name: Any) -> Any:
    """Return a name as it is compared: in Unicode's form NFC, without white space around it."""
    if not isinstance(name, str) or (name.isascii() and name == name.strip()):
        return name
    text = unicodedata.normalize("NFC", name).strip()
    return text.strip("\ufeff").strip() or text
