"""The judgments that a study can ask for: each module of this folder is one, and declares `JUDGMENT`."""

import importlib
import pkgutil
from collections.abc import Iterable

from backend.experiment.judgment import Judgment, Method
from backend.foundation.errors import InvalidInput

JUDGMENTS: dict[str, Judgment] = {
    found.name: importlib.import_module(f"{__name__}.{found.name}").JUDGMENT
    for found in pkgutil.iter_modules(__path__)
}
"""By name."""
METHODS: dict[str, Judgment] = {
    method: judgment for judgment in JUDGMENTS.values() for method in judgment.methods
}
"""By the method of a study."""
if len(METHODS) < sum(len(judgment.methods) for judgment in JUDGMENTS.values()):
    raise ValueError(
        f"each method must belong to one of the judgments {', '.join(JUDGMENTS)}; two have the same"
    )
ANSWERS = tuple(dict.fromkeys(answer for judgment in JUDGMENTS.values() for answer in judgment.answers))
"""What may be answered to any of them."""


def judgment_of(method: str) -> Judgment:
    """Return what a study of this method asks for.

    Raises:
        InvalidInput: there is no such method.
    """
    if method not in METHODS:
        raise InvalidInput(f"method must be {either(METHODS)}, not {method!r}")
    return METHODS[method]


def method_named(name: str) -> Method:
    """Return a method of any judgment.

    Raises:
        InvalidInput: there is no such method.
    """
    return judgment_of(name).methods[name]


def check_analysed(method: str) -> None:
    """Raise InvalidInput where `analysis` has no tables of this method, or there is no such method."""
    judgment = judgment_of(method)
    if not judgment.has_report:
        raise InvalidInput(
            f"{method_named(method).title} has scores (`openhype score`), but no findings and no report"
        )


def either(words: Iterable[str]) -> str:
    """Return words as a choice: `'real' or 'fake'`."""
    *first, last = map(repr, words)
    return f"{', '.join(first)} or {last}" if first else last
