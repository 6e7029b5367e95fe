"""The judgments that a study can ask for: each module of this folder defines one, as `JUDGMENT`."""

import importlib
import pkgutil
from collections.abc import Iterable

from backend.experiment.judgment import Judgment, Method
from backend.experiment.not_sure import NOT_SURE
from backend.foundation.errors import InvalidInput

_FIRST = "real_or_fake"
"""HYPE's own judgment, listed before the others."""
JUDGMENTS: dict[str, Judgment] = {
    name: importlib.import_module(f"{__name__}.{name}").JUDGMENT
    for name in sorted(
        (found.name for found in pkgutil.iter_modules(__path__)), key=lambda name: (name != _FIRST, name)
    )
}
"""Judgments by name."""
METHODS: dict[str, Judgment] = {
    method: judgment for judgment in JUDGMENTS.values() for method in judgment.methods
}
"""Judgments by method: a judgment has one entry for each of its methods."""
if len(METHODS) < sum(len(judgment.methods) for judgment in JUDGMENTS.values()):
    raise ValueError(
        f"each method must belong to one of the judgments {', '.join(JUDGMENTS)}; two have the same"
    )
PLANNED_WITHOUT_PILOT = [
    name
    for name, judgment in METHODS.items()
    if (plan := judgment.methods[name].planning) and plan.without_pilot
]
"""Methods whose studies can be planned without a pilot."""
ANSWERS = tuple(dict.fromkeys([*(word for each in JUDGMENTS.values() for word in each.answers), NOT_SURE]))
"""The answers allowed in any of them."""


def judgment_of(method: str) -> Judgment:
    """Return the judgment that a method asks for.

    Raises:
        InvalidInput: the method is unknown.
    """
    if method not in METHODS:
        raise InvalidInput(f"method must be {either(METHODS)}, not {method!r}")
    return METHODS[method]


def method_named(name: str) -> Method:
    """Return the method called `name`, of any judgment.

    Raises:
        InvalidInput: the method is unknown.
    """
    return judgment_of(name).methods[name]


def either(words: Iterable[str]) -> str:
    """Return words as alternatives: `'real' or 'fake'`."""
    *first, last = map(repr, words)
    return f"{', '.join(first)} or {last}" if first else last
