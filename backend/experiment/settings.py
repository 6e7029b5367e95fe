"""The settings of a study by name: what is declared of each, values given as text, and what is stored.

A setting is given as text (`--set images=40`, or a line of study.toml) and parsed here, in one place. It is
one of those of `protocol.py`, or one that a judgment brings.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from math import ceil
from typing import Any

from backend.experiment import languages, money
from backend.experiment import panel as panels
from backend.experiment.fixed_exposures import parse_exposures
from backend.experiment.groups.follow_ups import BETWEEN_REASONS, NONE
from backend.experiment.groups.stimuli import BETWEEN
from backend.experiment.judgments import METHODS, method_named
from backend.experiment.panel import PanelRecord
from backend.experiment.planned_looks import looks_of
from backend.experiment.protocol import Protocol, groups_of
from backend.experiment.setting_errors import invalid_setting
from backend.experiment.setting_groups import Declared
from backend.experiment.staircase import NAMED_RULES, StaircaseRule
from backend.foundation.errors import InvalidInput, Keys, brief, under
from backend.foundation.suggestions import did_you_mean

PAPERS_PAY = {
    "study": {"base_usd_cents": 0, "bonus_usd_cents": 2},
    "qualification": {"base_usd_cents": 100, "bonus_usd_cents": 0},
}
"""Pay by kind of study (HYPE 2.3)."""
_PROTOCOLS = tuple(method_named(method).protocol for method in METHODS)
_GROUP = {name: group for usual in _PROTOCOLS for name, group in groups_of(usual).items()}
"""The group of each setting."""
_FIELDS = {
    setting.name: setting
    for usual in _PROTOCOLS
    for group in fields(usual)[1:]
    for setting in fields(getattr(usual, group.name))
}
SETTINGS = tuple(_GROUP)
"""All settings, those that judgments bring last."""
_STAIRCASE_SHORTHANDS = {
    "start_exposure_ms": "start_ms",
    "min_exposure_ms": "min_ms",
    "max_exposure_ms": "max_ms",
}
"""Settings that change a bound of the staircase rule."""
_PANEL_SHORTHANDS = {
    "panel_parameters": "keeps",
    "evaluator_parameter": "evaluator",
    "redirect_url": "redirect",
    "early_redirect_url": "early_redirect",
}
"""Settings that change an entry of the panel's record."""
_BOUND, _OF_PANEL = ", without spelling out `staircase`", ", in the panel's record"
_SHORTHANDS = {
    "start_exposure_ms": Declared(
        f"first exposure of a block{_BOUND}",
        by_method=True,
        label="First exposure (ms)",
        meaning="First exposure of a block, in place of that of the rule.",
    ),
    "min_exposure_ms": Declared(
        f"shortest exposure{_BOUND}",
        by_method=True,
        label="Shortest exposure (ms)",
        meaning="In place of that of the rule.",
    ),
    "max_exposure_ms": Declared(
        f"longest exposure{_BOUND}",
        by_method=True,
        label="Longest exposure (ms)",
        meaning="In place of that of the rule.",
    ),
    "panel_parameters": Declared(
        f"parameters of the link that are stored, separated by commas{_OF_PANEL}",
        label="Parameters of the link that are stored",
        meaning="Separated by commas; in place of those of the panel.",
    ),
    "evaluator_parameter": Declared(
        f"parameter of the link that names the person{_OF_PANEL}",
        label="Parameter of the link that names the person",
        meaning="In place of that of the panel.",
    ),
    "redirect_url": Declared(
        f"address to go back to{_OF_PANEL}; `{{code}}` is the completion code",
        label="Address to go back to",
        meaning="In place of that of the panel; `{code}` in it becomes the completion code.",
    ),
    "early_redirect_url": Declared(
        f"address of the panel for people who did not finish{_OF_PANEL}",
        label="Address to go back to without finishing",
        meaning="In place of that of the panel.",
    ),
}


def documented_settings() -> dict[str, str]:
    """Return a description of each setting that `with_settings` accepts, by name."""
    return {name: declared(name).doc for name in (*SETTINGS, *_SHORTHANDS)}


def declared(name: str) -> Declared:
    """Return what is declared of a setting, one of `documented_settings`."""
    own: Declared = _SHORTHANDS[name] if name in _SHORTHANDS else _FIELDS[name].metadata["declared"]
    if not own.by_method and _GROUP.get(name) != "judgment":
        return own
    whole = "staircase" if name in _STAIRCASE_SHORTHANDS else name
    methods = tuple(method for method in METHODS if method_named(method).has(whole))
    return dataclasses.replace(
        own, doc=f"with {_all_of(f'`{each}`' for each in methods)}: {own.doc}", methods=methods
    )


def _all_of(words: Iterable[str]) -> str:
    """Return words as a list in a sentence: `a, b and c`."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def named_settings(is_so: Callable[[Declared], Any]) -> dict[str, Any]:
    """Return what `is_so` finds in the declaration of each setting, where it finds something."""
    return {name: found for name in SETTINGS if (found := is_so(declared(name)))}


def value_of(protocol: Protocol, name: str) -> Any:
    """Return the value of a setting in a protocol; None if it has none."""
    if name in _STAIRCASE_SHORTHANDS:
        return getattr(protocol.timing.staircase, _STAIRCASE_SHORTHANDS[name], None)
    if name in _PANEL_SHORTHANDS:
        return getattr(protocol.admission.panel, _PANEL_SHORTHANDS[name])
    group = groups_of(protocol).get(name)
    return getattr(getattr(protocol, group), name) if group else None


def group_of(name: str) -> str:
    """Return the name of the group that a setting belongs to, a field of `Protocol`."""
    if name in _STAIRCASE_SHORTHANDS:
        return "timing"
    return "admission" if name in _PANEL_SHORTHANDS else _GROUP[name]


def type_of(name: str) -> Any:
    """Return the type of a setting's value."""
    if name in _STAIRCASE_SHORTHANDS:
        return float
    return str if name in _PANEL_SHORTHANDS else _FIELDS[name].type


TEXTS = frozenset(name for name in SETTINGS if _FIELDS[name].type is str or name == "texts")
"""Settings whose value is a text, or read from one."""
LISTS = frozenset({"reasons", "exposures_ms", "looks"})
"""Settings that can be a list in a study.toml, and where programs post them."""


def with_settings(base: Protocol, settings: Mapping[str, str]) -> Protocol:
    """Return `base` with `settings` (name to text or value) applied.

    `start_exposure_ms`, `min_exposure_ms` and `max_exposure_ms` change the bounds of the staircase rule;
    `panel_parameters`, `evaluator_parameter`, `redirect_url` and `early_redirect_url` change the panel's
    record. If the currency is set and the target wage is not, the target is the wage that Prolific recommends
    in this currency; if `looks` are set and `evaluators` are not, these are the last look.

    Raises:
        InvalidInput: an unknown name, a value of the wrong type or out of range, or incompatible values.
    """
    changes: dict[str, Any] = {}
    for name, value in settings.items():
        if name in _STAIRCASE_SHORTHANDS or name in _PANEL_SHORTHANDS:
            continue
        if name not in _FIELDS and name.startswith("exclude_"):
            raise invalid_setting(
                f"no rule for exclusion is called {name!r}; there are exclude_checks_below and "
                "exclude_faster_ms: nobody is excluded by right or wrong answers on the measured models",
                name,
            )
        if name not in _FIELDS:
            hint = did_you_mean(name, documented_settings(), "; `openhype settings` lists them all")
            raise invalid_setting(f"no setting is called {name!r}{hint}", name)
        with under("settings", name):
            changes[name] = _parse(_FIELDS[name], value)
    if "currency" in changes and "target_wage_usd_cents" not in changes:
        with under("settings", "currency"):
            changes["target_wage_usd_cents"] = money.currency(changes["currency"]).fair_wage_cents
    if changes.get("looks") and "evaluators" not in changes:
        changes["evaluators"] = changes["looks"][-1]
    bounds = {
        target: _bound(name, settings[name])
        for name, target in _STAIRCASE_SHORTHANDS.items()
        if name in settings
    }
    if bounds:
        rule = changes.get("staircase", base.timing.staircase)
        if rule is None:
            raise invalid_setting("exposure bounds go with method 'time'", *_STAIRCASE_SHORTHANDS)
        with _of_shorthands("staircase", _STAIRCASE_SHORTHANDS, settings):
            changes["staircase"] = dataclasses.replace(rule, **bounds)
    panel = {name: str(settings[name]) for name in _PANEL_SHORTHANDS if name in settings}
    if panel:
        with _of_shorthands("panel", _PANEL_SHORTHANDS, settings):
            changes["panel"] = _with_entries(changes.get("panel", base.admission.panel), panel)
    if base.has_staircase and changes.get("feedback") is False:
        raise invalid_setting(
            "feedback=false does not go with HYPE-time: the next exposure of a staircase reveals whether the "
            "answer was right; leave it true, as the papers did, or make the study with --method infinity",
            "feedback",
        )
    own = groups_of(base)
    made = base.changed(**{name: value for name, value in changes.items() if name in own})
    for name, value in changes.items():
        methods = declared(name).methods
        if value and methods and base.method not in methods:
            plural, them = ("s", "them") if len(methods) > 1 else ("", "it")
            raise invalid_setting(
                f"{name} goes with method{plural} {_all_of(map(repr, methods))}, and only with {them}",
                name,
                "method",
            )
    if made.timing.exposure_design == BETWEEN and not made.timing.exposures_ms:
        raise invalid_setting(
            "exposure_design=between goes with exposures_ms, and only with them", "exposure_design"
        )
    return made


def new_protocol(base: Protocol, kind: str, settings: Mapping[str, Any]) -> Protocol:
    """Return the protocol of a new study or qualification: `base` with `settings` applied.

    If people are paid through the panel, pay that is not set is that of the papers, or, by a method without
    feedback, whose answers are not right or wrong, the wage aimed at for the minutes that a session takes;
    otherwise it is that of `base`, so that nobody is promised money that nobody pays.

    Raises:
        InvalidInput: as for `with_settings`.
    """
    made = with_settings(base, settings)
    if not made.admission.panel.pays:
        return made
    pay = PAPERS_PAY[kind] if base.page.feedback else _wage(made)
    return with_settings(base, {**dict[str, Any](pay), **settings})


def _wage(protocol: Protocol) -> dict[str, int]:
    """Return as pay for taking part what the wage aimed at gives for a session, rounded up to whole cents."""
    cents = ceil(protocol.pay.target_wage_usd_cents * protocol.consent.minutes / 60)
    return {"base_usd_cents": cents, "bonus_usd_cents": 0}


def from_json(data: Mapping[str, Any]) -> Protocol:
    """Return the protocol that a study was stored with."""
    values = {
        **data,
        "staircase": StaircaseRule(**data["staircase"]) if data["staircase"] else None,
        "texts": tuple((language, key, text) for language, key, text in data["texts"]),
        "reasons": tuple(data["reasons"]),
        "exposures_ms": tuple(data["exposures_ms"]),
        "looks": tuple(data.get("looks", ())),
        "panel": panels.from_json(data["panel"]),
    }
    return method_named(values.pop("method")).protocol.changed(**values)


def parse_staircase(text: str) -> StaircaseRule:
    """Return the rule named `text`, or the rule that `text` spells out.

    Raises:
        InvalidInput: `text` is neither a name nor `part:number` pairs.
    """
    if text in NAMED_RULES:
        return NAMED_RULES[text]
    parts = {f.name for f in fields(StaircaseRule)}
    values: dict[str, Any] = {}
    for pair in text.split(","):
        name, colon, number = (piece.strip() for piece in pair.partition(":"))
        if not colon or name not in parts:
            raise InvalidInput(
                f"staircase must be one of {', '.join(NAMED_RULES)}, or pairs such as "
                f"'right_to_descend:3,down_ms:30,up_ms:10', not {text!r}"
            )
        values[name] = _number(name, number, int if name == "right_to_descend" else float)
    return StaircaseRule(**values)


def _bound(name: str, value: Any) -> float:
    with under("settings", name):
        return float(_number(name, value, float))


@contextmanager
def _of_shorthands(record: str, shorthands: Mapping[str, str], settings: Mapping[str, Any]) -> Iterator[None]:
    """Name, in errors about the entries of a record, the settings that changed them."""
    names = {entry: name for name, entry in shorthands.items() if name in settings}

    def setting_of(keys: Keys) -> Keys:
        entry = keys[0] if keys else None
        return ("settings", names[entry]) if entry in names else ("settings", record, *keys)

    try:
        yield
    except InvalidInput as error:
        among = sorted(map(setting_of, (error.keys, *error.also)), key=lambda keys: keys[1] == record)
        error.keys, error.also = among[0], tuple(among[1:])
        raise


def _with_entries(record: PanelRecord, settings: Mapping[str, str]) -> PanelRecord:
    entries: dict[str, Any] = {_PANEL_SHORTHANDS[name]: value for name, value in settings.items()}
    if "keeps" in entries:
        entries["keeps"] = tuple(name.strip() for name in entries["keeps"].split(",") if name.strip())
    if "redirect" in entries:
        entries["told_codes"] = False  # a researcher who sets the address decides what it contains
    return dataclasses.replace(record, **entries)


def _parse(setting: dataclasses.Field[Any], value: Any) -> Any:
    if setting.name == "panel":
        return value if isinstance(value, PanelRecord) else panels.named(str(value))
    if setting.name == "staircase":
        return value if isinstance(value, StaircaseRule) else parse_staircase(str(value))
    if setting.name == "texts":
        return languages.parse_texts(value)
    if setting.name == "reasons":
        return _reasons(value)
    if setting.name == "exposures_ms":
        return parse_exposures(value)
    if setting.name == "looks":
        return looks_of(value) if value else ()
    if setting.type is bool:
        return _truth_value(setting.name, value)
    if setting.type in (int, float):
        return _number(setting.name, value, setting.type)
    return _text(setting.name, str(value))


def _reasons(value: Any) -> tuple[str, ...]:
    """Return the reasons of a list, or of a text that separates them; `none` and an empty text have none."""
    if isinstance(value, str):
        parts = [reason.strip() for reason in value.split(BETWEEN_REASONS)]
        value = [] if parts in ([""], [NONE]) else parts
    if not isinstance(value, (list, tuple)) or not all(isinstance(reason, str) for reason in value):
        raise InvalidInput(
            f"reasons must be texts, separated by {BETWEEN_REASONS} or in a list, not {brief(value)}"
        )
    return tuple(_text("reasons", reason) for reason in value)


def _text(name: str, value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} must be text that can be written as UTF-8, not {value!a}") from None
    return value


def _truth_value(name: str, value: Any) -> bool:
    text = str(value).lower()
    if text not in ("true", "false", "yes", "no"):
        raise InvalidInput(f"{name} must be true or false, not {value!r}")
    return text in ("true", "yes")


def _number(name: str, value: Any, kind: type) -> Any:
    try:
        number = kind(value)
        is_whole = kind is float or number == value or isinstance(value, str)
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole or isinstance(value, bool):
        expected = "a whole number" if kind is int else "a number"
        raise InvalidInput(f"{name} must be {expected}, not {brief(value)}")
    if number != number or number in (float("inf"), float("-inf")):
        raise InvalidInput(f"{name} must be finite, not {brief(value)}")
    return number
