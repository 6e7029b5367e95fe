"""Settings as forms and programs have them: what a field needs to be drawn, and values as they are posted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from backend.administration.setting_list import PROTOCOLS, written
from backend.experiment import languages, money
from backend.experiment import panel as panels
from backend.experiment import protocol as protocols
from backend.experiment.protocol import Protocol
from backend.experiment.staircase import NAMED_RULES
from backend.foundation.errors import InvalidInput, brief, under
from backend.panels.signed_links import check_installed

CHOICES: Mapping[str, tuple[str, ...]] = {
    "class_design": (protocols.WITHIN, protocols.BETWEEN),
    "exposure_design": (protocols.WITHIN, protocols.BETWEEN),
    "balance": (protocols.EXACT_BALANCE, protocols.CHANCE_BALANCE),
    "draw": (protocols.RANDOM_DRAW, *protocols.DRAWS_BY_NEED),
    "exposure_steps": ("ms", "frames"),
    "staircase": tuple(NAMED_RULES),
    "masks": protocols.MADE_MASKS,
    "image_format": ("auto", "webp", "png", "jpeg:95"),
    "confidence": (protocols.NONE, *map(str, range(2, protocols.MOST_POINTS + 1)), protocols.SLIDER),
    "confidence_when": (protocols.AFTER, protocols.WITH),
    "reasons_for": ("fake", "real", protocols.ALL),
    "comment": (protocols.NONE, protocols.OPTIONAL, protocols.REQUIRED),
    "mark": (protocols.NONE, protocols.CLICK, protocols.BOX),
    "mark_needed": (protocols.OPTIONAL, protocols.REQUIRED),
    "currency": tuple(money.CURRENCIES),
    "language": (*languages.LANGUAGES, languages.CHOOSE),
    "panel": tuple(panels.BUILT_IN),
}
"""By setting, the values to choose from."""
OPEN = frozenset({"staircase", "image_format", "panel"})
"""Settings that take values beside their choices: a rule spelled out, another quality, a record."""
_LONG_TEXTS = frozenset({"consent_text"})
_PROBES: Mapping[str, Any] = {
    "staircase": "hype-2019",
    "start_exposure_ms": 500,
    "min_exposure_ms": 100,
    "max_exposure_ms": 1000,
    "exposures_ms": "100",
    "gap_ms": 100,
    "judgments_per_item": 3,
    "ties": True,
    "real_contestant": True,
}
"""A valid value of each setting that only some methods have."""
_OF_FLASHES = frozenset(
    {
        "min_refresh_hz",
        "max_refresh_hz",
        "full_screen",
        "countdown_from",
        "countdown_ms",
        "masks",
        "mask_count",
        "mask_ms",
        "exposure_steps",
        "exposure_design",
    }
)
_OF_QUALIFICATIONS = frozenset({"pass_share", "valid_days", "retakes"})


@dataclass(frozen=True)
class Field:
    """What a form needs of a setting."""

    name: str
    group: str
    """The group of `Protocol` that it belongs to, such as `stimuli`, `timing`, `pay`."""
    kind: str
    """`whole`, `number`, `truth_value`, `choice`, `text`, `long_text`, `list` or `table`."""
    default: Any
    """As it is posted; None if it has none."""
    written: str
    """The default as the command line takes it; a long text is described."""
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    is_open: bool
    """Whether other values than the choices are taken."""
    applies: bool
    """Whether studies of the method use it."""
    doc: str


def fields(method: str) -> list[Field]:
    """Return the fields of all settings for a method, or for `qualification`, in the documentation's order.

    Raises:
        InvalidInput: there is no such method.
    """
    if method not in PROTOCOLS:
        raise InvalidInput(f"method must be one of {', '.join(PROTOCOLS)}, not {brief(method)}")
    protocol = PROTOCOLS[method]
    return [_field(method, protocol, name, doc) for name, doc in protocols.documented_settings().items()]


def posted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as `protocol.with_settings` takes them, from JSON that a program posted.

    No value names a file: a text is that text, whatever it begins with, and a panel is a name or a record.

    Raises:
        InvalidInput: a value is of a type that no setting has, or a panel's record is invalid.
        NotInstalled: the panel signs its links, and the library that verifies them is missing.
    """
    found = {}
    for name, value in settings.items():
        with under("settings", name):
            found[name] = _posted(name, value)
    return found


def _posted(name: str, value: Any) -> Any:
    if name == "panel" and isinstance(value, Mapping):
        record = panels.from_json(value)
        if record.signature:
            check_installed()
        return record
    is_plain = isinstance(value, (str, bool, int, float))
    is_table = name == "texts" and isinstance(value, Mapping)
    is_list = name in ("reasons", "exposures_ms") and isinstance(value, list)
    if not (is_plain or is_table or is_list):
        raise InvalidInput(f"{name} must be a number, a text, true or false, not {brief(value)}")
    if name == "exposures_ms" and isinstance(value, list):
        if not all(isinstance(each, (str, int, float)) for each in value):
            raise InvalidInput(f"exposures_ms must be numbers, or 'unlimited', not {brief(value)}")
        return ",".join(map(str, value))
    return value


def _field(method: str, protocol: Protocol, name: str, doc: str) -> Field:
    low, high = protocols.range_of(name)
    value = protocols.value_of(protocol, name)
    return Field(
        name,
        protocols.group_of(name),
        _kind(name),
        _default(value),
        written(value),
        low,
        high,
        CHOICES.get(name, ()),
        name in OPEN,
        _applies(method, protocol, name),
        doc,
    )


def _kind(name: str) -> str:
    if name in CHOICES:
        return "choice"
    if name in ("reasons", "exposures_ms"):
        return "list"
    if name == "texts":
        return "table"
    if name in _LONG_TEXTS:
        return "long_text"
    return {bool: "truth_value", int: "whole", float: "number"}.get(protocols.type_of(name), "text")


def _default(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return written(value)


def _applies(method: str, protocol: Protocol, name: str) -> bool:
    is_test = method == "qualification"
    if name in _OF_QUALIFICATIONS:
        return is_test
    if name in _OF_FLASHES:
        return not is_test and (protocol.has_flashes or method in protocols.MAY_FLASH)
    if name not in _PROBES:
        return True
    try:
        changed = protocols.with_settings(protocol, {name: _PROBES[name]})
    except InvalidInput:
        return False
    return not is_test and changed.method == protocol.method
