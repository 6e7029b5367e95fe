"""All settings of a study with defaults, for `openhype settings` and docs/settings.md."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from textwrap import TextWrapper
from typing import Any

from backend.experiment.fixed_exposures import label
from backend.experiment.groups.follow_ups import BETWEEN_REASONS
from backend.experiment.judgments import METHODS, method_named
from backend.experiment.judgments.real_or_fake import QUALIFICATION
from backend.experiment.panel import BUILT_IN, PanelRecord
from backend.experiment.protocol import Protocol
from backend.experiment.settings import documented_settings, value_of
from backend.experiment.staircase import NAMED_RULES, StaircaseRule

PROTOCOLS = {method: method_named(method).protocol for method in METHODS} | {"qualification": QUALIFICATION}
"""Keyed by the name that `openhype settings` uses."""
_LONG = 60


@dataclass(frozen=True)
class Setting:
    """A setting, its description, and its defaults by the names of `PROTOCOLS`, empty if it has none."""

    name: str
    doc: str
    defaults: dict[str, str]


def settings() -> Iterator[Setting]:
    """Yield every setting, in the order of the documentation."""
    for name, doc in documented_settings().items():
        values = {kind: written(value_of(protocol, name)) for kind, protocol in PROTOCOLS.items()}
        yield Setting(name, doc, values)


def as_lines(kind: str | None, width: int) -> Iterator[str]:
    """Yield a line with name and default of each setting, followed by its indented description.

    Args:
        kind: whose defaults to list; None for those of HYPE-infinity, with the others if they differ.
        width: characters per line; longer words are not broken.
    """
    wrap = TextWrapper(
        width, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    ).wrap
    for setting in settings():
        default = setting.defaults[kind or "infinity"]
        others = {} if kind else {k: v for k, v in setting.defaults.items() if v != default}
        differing = ", ".join(f"{name}: {value}" for name, value in others.items())
        yield f"{setting.name} = {default}".rstrip(" =") + (f" ({differing})" if differing else "")
        yield from wrap(setting.doc)


def as_markdown() -> str:
    """Return the table of docs/settings.md."""
    kinds = [*(method_named(method).title for method in METHODS), "qualification"]
    lines = [f"| setting | what it is | {' | '.join(kinds)} |", "| --- " * (2 + len(kinds)) + "|"]
    for setting in settings():
        lines.append(
            f"| `{setting.name}` | {setting.doc} | {' | '.join(map(_cell, setting.defaults.values()))} |"
        )
    return "\n".join(lines)


def written(value: Any) -> str:
    """Return a value in the form that `--set` accepts; a long text is replaced by a description."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, StaircaseRule):
        return next(name for name, rule in NAMED_RULES.items() if rule == value)
    if isinstance(value, PanelRecord):
        return value.name
    if isinstance(value, tuple):  # empty by default, whatever separates the entries, but for exposures
        return ",".join(part if isinstance(part, str) else label(part) for part in value)
    if isinstance(value, float):
        return f"{value:g}"
    text = str(value)
    return text if len(text) <= _LONG else "(a text)"


def typed(name: str, value: Any) -> str:
    """Return a value in the form that `openhype set` accepts, whole; '' for none."""
    if name == "texts":
        return "".join(_toml_texts(value))
    if name == "reasons":
        return BETWEEN_REASONS.join(value)
    if isinstance(value, StaircaseRule) and value not in NAMED_RULES.values():
        return ",".join(f"{part}:{number:g}" for part, number in asdict(value).items())
    if isinstance(value, PanelRecord) and value != BUILT_IN.get(value.name):
        usual = asdict(PanelRecord(value.name))
        return json.dumps(
            {part: each for part, each in asdict(value).items() if part == "name" or each != usual[part]}
        )
    return value if isinstance(value, str) else written(value)


def typed_settings(protocol: Protocol) -> dict[str, str]:
    """Return all documented settings of a protocol as `typed` returns their values."""
    return {name: typed(name, value_of(protocol, name)) for name in documented_settings()}


def _toml_texts(texts: Iterable[tuple[str, str, str]]) -> Iterator[str]:
    """Yield lines of TOML: first the texts of every language, then those of each."""
    for language, own in groupby(texts, key=itemgetter(0)):
        if language:
            yield f"[{language}]\n"
        yield from (f"{json.dumps(key)} = {_toml_text(text)}\n" for _, key, text in own)


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _cell(text: str) -> str:
    is_plain = not text or text in ("true", "false", "(a text)") or text.replace(".", "", 1).isdigit()
    return text if is_plain else f"`{text}`"
