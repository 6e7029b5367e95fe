"""YAML of plain data, written without a library: block mappings and lists, every text in double quotes.

Double-quoted texts are the one style of YAML 1.2 (section 7.3.1) in which every character can be written, and
no text is taken for a number, a date or a truth value (the country code `no` is read as false in YAML 1.1).
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

_PLAIN_KEY = re.compile(r"[a-z][a-z_-]*")
_NO_KEYS = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}
"""Words that YAML 1.1 or 1.2 reads as something else than a text."""
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def yaml_text(data: Mapping[str, Any]) -> str:
    """Return the YAML of a mapping whose values are texts, numbers, Booleans, None, lists and mappings.

    Raises:
        ValueError: a number that is not finite.
    """
    return "".join(f"{line}\n" for line in _mapping(data))


def _mapping(data: Mapping[str, Any]) -> list[str]:
    return [line for key, value in data.items() for line in _entry(f"{_key(key)}:", value)]


def _entry(opening: str, value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        return [opening, *(f"  {line}" for line in _mapping(value))]
    if _is_list(value) and value:
        return [opening, *(line for one in value for line in _item(one))]
    return [f"{opening} {_scalar(value)}"]


def _item(value: Any) -> list[str]:
    if isinstance(value, Mapping) and value:
        first, *rest = _mapping(value)
        return [f"- {first}", *(f"  {line}" for line in rest)]
    if _is_list(value):
        raise ValueError("lists of lists are not written")
    return [f"- {_scalar(value)}"]


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) and key not in _NO_KEYS else _quoted(key)


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        if not math.isfinite(value):
            raise ValueError(f"{value} cannot be written as a number")
        return repr(value) if isinstance(value, int) else _decimal(value)
    if _is_list(value):
        return "[]"
    return "{}" if isinstance(value, Mapping) else _quoted(value)


def _decimal(value: float) -> str:
    """Return a float as both versions of YAML read it: with a point before an exponent, and its sign."""
    digits, e, exponent = repr(value).partition("e")
    if not e:
        return digits
    return f"{digits if '.' in digits else f'{digits}.0'}e{int(exponent):+d}"


def _quoted(text: str) -> str:
    return f'"{"".join(map(_character, text))}"'


def _character(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if character.isprintable() and character != "\ufeff":
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "\\uFFFD"  # half of a surrogate pair is no character
    return f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
