"""The parameters in the query of a request's address, as the type that they are declared as."""

import math
from typing import Any, TypeVar

from flask import request
from msgspec import inspect

from backend.foundation.conversion import converted, inner
from backend.task.requests import check_texts

_MOST_DIGITS = 40
_TRUTH = {"true": True, "false": False}
T = TypeVar("T")


def parse(declared: type[T]) -> T:
    """Return the parameters of the current request; undeclared ones are ignored.

    Raises:
        InvalidInput: names the parameter, what was expected and what came.
    """
    fields = inspect.type_info(declared).fields  # type: ignore[attr-defined]
    given = {
        field.name: _value(request.args.getlist(field.name), inner(field.type))
        for field in fields
        if field.name in request.args
    }
    check_texts(given)
    return converted(given, declared, "left out")


def _value(texts: list[str], kind: Any) -> Any:
    """Return what texts stand for, if they are of a kind; else the first, for the message."""
    if isinstance(kind, inspect.ListType | inspect.VarTupleType):
        return texts
    text = texts[0]
    if isinstance(kind, inspect.BoolType):
        return _TRUTH.get(text, text)
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        return _number(text, isinstance(kind, inspect.IntType))
    return text


def _number(text: str, is_whole: bool) -> float | str:
    try:
        value = float(text) if len(text) <= _MOST_DIGITS else math.nan
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    return int(value) if is_whole and value.is_integer() else value
