"""Conversion of JSON to declared types (`msgspec`), with messages that state what was expected and given."""

import json
import re
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from backend.foundation.errors import InvalidInput

T = TypeVar("T")
_OURS = ("Expected", "Object missing", "Invalid enum")
"""Beginnings of msgspec's own messages; any other message is from a check of the declaration."""
_PLACE = re.compile(r"(?P<text>.*) - at (?P<is_key>`key` in )?`\$(?P<path>[^`]*)`", re.DOTALL)
"""Matches the last path in a message, since a quoted value before it may contain one."""
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_MISSING = re.compile(r"Object missing required field `(.*)`")
_CONTAINERS = (inspect.DictType, inspect.ListType, inspect.VarTupleType)
_LONGEST_NAMED = 60
_MOST = 2**31 - 1


def converted(data: Any, declared: type[T], absent: str = "null") -> T:
    """Return JSON data as an object of a declared type; undeclared fields are ignored.

    Args:
        absent: how no value is given, in messages.

    Raises:
        InvalidInput: names the field, what was expected and what was given.
    """
    try:
        return msgspec.convert(data, declared)
    except msgspec.ValidationError as error:
        raise InvalidInput(_message(str(error), data, declared, absent)) from None


def named(value: Any) -> str:
    """Return a JSON value in a form that a message can quote: short, and on one line."""
    if isinstance(value, (list, dict)):
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)} entries"
    text = json.dumps(value)
    return text if len(text) <= _LONGEST_NAMED else text[: _LONGEST_NAMED - 3] + "..."


def _message(problem: str, data: Any, declared: Any, absent: str) -> str:
    match = _PLACE.fullmatch(problem)
    text, path = (match["text"], match["path"]) if match else (problem, "")
    if missing := _MISSING.fullmatch(text):
        path += f".{missing[1]}"
    value, node, where = data, inspect.type_info(declared), ""
    for name, place in _STEP.findall(path):
        if place and not isinstance(inner(node), _CONTAINERS):
            break  # of several types that are accepted here, a list is not the first
        node = inner(node)
        if isinstance(node, inspect.DictType):
            name = _wrong_entry(value, node)
            value, node = value[name], node.value_type
        elif place:
            value, node = value[int(place)], node.item_type
            name = f"[{place}]"
        else:
            (node,) = (field.type for field in node.fields if field.encode_name == name)
            value = value.get(name)
        where += name if name.startswith("[") or not where else f".{name}"
    if not text.startswith(_OURS):
        return text
    if match and match["is_key"]:
        return f"{where} must have short names only, not {named(max(value, key=len))}"
    expected, is_secret = _expected(node, absent)
    return f"{where} must be {expected}" + ("" if is_secret else f", not {named(value)}")


def inner(node: Any) -> Any:
    """Return the container type inside a nullable or annotated type."""
    if isinstance(node, inspect.Metadata):
        return inner(node.type)
    if isinstance(node, inspect.UnionType):
        return next(inner(each) for each in node.types if not isinstance(inner(each), inspect.NoneType))
    return node


def _wrong_entry(value: dict[str, Any], node: inspect.DictType) -> str:
    """Return the name of the first entry that is not of the declared type; msgspec does not report it."""
    kinds = _members(node.value_type)
    return next(name for name, entry in value.items() if not any(_fits(entry, kind) for kind in kinds))


def _members(node: Any) -> list[Any]:
    node = node.type if isinstance(node, inspect.Metadata) else node
    return (
        [kind for each in node.types for kind in _members(each)]
        if isinstance(node, inspect.UnionType)
        else [node]
    )


def _fits(entry: Any, kind: Any) -> bool:
    if isinstance(kind, inspect.StrType):
        return isinstance(entry, str) and (kind.max_length is None or len(entry) <= kind.max_length)
    if isinstance(kind, inspect.ListType):
        members = _members(kind.item_type)
        is_short = isinstance(entry, list) and len(entry) <= (kind.max_length or len(entry))
        return is_short and all(any(_fits(each, member) for member in members) for each in entry)
    if isinstance(kind, inspect.FloatType):
        return (
            isinstance(entry, float)
            and (kind.ge is None or kind.ge <= entry)
            and (kind.le is None or entry <= kind.le)
        )
    plain: dict[Any, type] = {inspect.BoolType: bool, inspect.IntType: int, inspect.NoneType: type(None)}
    return type(entry) is plain[type(kind)]


def _expected(node: Any, absent: str) -> tuple[str, bool]:
    """Return in words what a type accepts, and whether the given value must not be quoted."""
    extra: dict[str, Any] = {}
    is_null = False
    while isinstance(node, (inspect.Metadata, inspect.UnionType)):
        if isinstance(node, inspect.Metadata):
            extra, node = {**(node.extra or {}), **extra}, node.type
        else:
            some = [each for each in node.types if not isinstance(each, inspect.NoneType)]
            is_null |= len(some) < len(node.types)
            node = next((each for each in some if isinstance(inner(each), inspect.FloatType)), some[0])
    words = extra.get("expected") or _words(node)
    return words + (f" or {absent}" if is_null else ""), extra.get("is_secret", False)


def _to(most: float | None) -> str:
    """Return the end of a range in words; '' if its end is only what can be stored."""
    return "" if most is None or most >= _MOST else f" to {most:g}"


def _words(node: Any) -> str:
    match node:
        case inspect.BoolType():
            return "true or false"
        case inspect.IntType():
            return f"a whole number from {node.ge}{_to(node.le)}"
        case inspect.FloatType(gt=float(low), lt=float(high)):
            return f"a number between {low:g} and {high:g}"
        case inspect.FloatType(ge=low, lt=None) if low is not None and low > -_MOST:
            return f"a number from {low:g}{_to(node.le)}"
        case inspect.FloatType():
            return "a number from 0 to 1e9" if node.ge == 0 else "a finite number"
        case inspect.StrType(max_length=int(length)):
            return f"a text of at most {length} characters"
        case inspect.StrType():
            return "a text"
        case inspect.LiteralType():
            return f"one of {', '.join(map(str, node.values))}"
        case inspect.ListType(max_length=int(length)) | inspect.VarTupleType(max_length=int(length)):
            return f"a list of at most {length} entries"
        case inspect.DictType(max_length=int(length)):
            return f"an object of at most {length} entries"
    return "an object"
