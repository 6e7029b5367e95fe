"""Settings as forms and programs have them: what a field needs to be drawn, and values as they are posted."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from backend.administration.setting_list import PROTOCOLS, written
from backend.administration.study_spec import panel_of
from backend.experiment.judgments import METHODS, method_named
from backend.experiment.protocol import Protocol
from backend.experiment.setting_groups import FLASHES, QUALIFICATIONS, Declared
from backend.experiment.settings import LISTS, declared, documented_settings, group_of, type_of, value_of
from backend.foundation.errors import InvalidInput, brief, under

_BETWEEN_BACKTICKS = re.compile(r"`([^`]+)`")
Kind = Literal["whole", "number", "truth_value", "choice", "text", "long_text", "list", "table"]


@dataclass(frozen=True)
class SettingField:
    """What a form needs of a setting."""

    name: str
    group: str
    """The group of `Protocol` that it belongs to, such as `stimuli`, `timing`, `pay`."""
    kind: Kind
    default: Any
    """As it is posted; None if it has none."""
    written: str
    """The default as the command line takes it; a long text is described."""
    low: float | None
    high: float | None
    choices: tuple[str, ...]
    choice_labels: tuple[str, ...]
    """What a form calls each of the choices."""
    is_open: bool
    """Whether other values than the choices are taken."""
    applies: bool
    """Whether studies of the method use it."""
    label: str
    asked: int
    """Its place among the settings that a form asks for first; 0 if it is not among them."""
    doc: str
    """What it means, in words that do not speak of the command line."""


def fields(method: str) -> list[SettingField]:
    """Return the fields of all settings for a method, or for `qualification`, in the documentation's order.

    Raises:
        InvalidInput: there is no such method.
    """
    if method not in PROTOCOLS:
        raise InvalidInput(f"method must be one of {', '.join(PROTOCOLS)}, not {brief(method)}")
    protocol = PROTOCOLS[method]
    return [_field(method, protocol, name) for name in documented_settings()]


def names_in_words() -> dict[str, dict[str, Any]]:
    """Return what forms call each setting (`label`) and its choices (`choices`), by the setting's name."""
    settings = {name: declared(name) for name in documented_settings()}
    return {
        name: {
            "label": facts.label,
            "choices": dict(zip(facts.choices, facts.choice_labels or facts.choices, strict=True)),
        }
        for name, facts in settings.items()
    }


def _called(name: str) -> str:
    if name in METHODS:
        return method_named(name).title
    return f"“{declared(name).label}”" if name in documented_settings() else ""


def posted(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings as `settings.with_settings` takes them, from JSON that a program posted.

    No value names a file: a text is that text, whatever it begins with, and a panel is a name or a record.

    Raises:
        InvalidInput: a value is of a type that no setting has, a panel's record is invalid, or its keys are
            at an address that is not public.
        NotInstalled: the panel signs its links, and the library that verifies them is missing.
    """
    values = {}
    for name, value in settings.items():
        with under("settings", name):
            values[name] = _posted(name, value)
    return values


def _posted(name: str, value: Any) -> Any:
    if name == "panel" and isinstance(value, (str, Mapping)):
        return panel_of(value)
    is_plain = isinstance(value, (str, bool, int, float))
    is_table = name == "texts" and isinstance(value, Mapping)
    is_list = name in LISTS and isinstance(value, list)
    if not (is_plain or is_table or is_list):
        raise InvalidInput(f"{name} must be a number, a text, true or false, not {brief(value)}")
    return value


def _field(method: str, protocol: Protocol, name: str) -> SettingField:
    facts, value = declared(name), value_of(protocol, name)
    return SettingField(
        name,
        group_of(name),
        _kind(name, facts),
        _default(value),
        written(value),
        facts.low,
        facts.high,
        facts.choices,
        facts.choice_labels or facts.choices,
        facts.is_open,
        _applies(method, protocol, facts),
        facts.label,
        facts.asked,
        _BETWEEN_BACKTICKS.sub(lambda match: _called(match[1]) or match[0], (facts.meaning or facts.doc)),
    )


def _kind(name: str, facts: Declared) -> Kind:
    if facts.choices:
        return "choice"
    if name in LISTS:
        return "list"
    if name == "texts":
        return "table"
    if facts.is_long:
        return "long_text"
    kinds: dict[Any, Kind] = {bool: "truth_value", int: "whole", float: "number"}
    return kinds.get(type_of(name), "text")


def _default(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return written(value)


def _applies(method: str, protocol: Protocol, facts: Declared) -> bool:
    is_test = method == "qualification"
    if facts.used_by == QUALIFICATIONS:
        return is_test
    if facts.used_by == FLASHES:
        return not is_test and (protocol.has_flashes or method in declared("exposures_ms").methods)
    return not facts.methods or method in facts.methods
