"""What the fields of requests and replies mean: the strings below their declarations, as in dataclasses."""

import ast
import inspect
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec


def meanings_by_record(types: Iterable[Any]) -> dict[type, Mapping[str, str]]:
    """Return what the fields mean of the structs and typed dictionaries in types."""
    records: set[type] = set()
    for each in msgspec.inspect.multi_type_info(types):
        records.update(_records(each, records))
    return {kind: _meanings(kind) for kind in records}


def _records(info: Any, known: Collection[type]) -> Iterator[type]:
    """Generate the structs and typed dictionaries in what msgspec says of a type, but for known ones."""
    kind = getattr(info, "cls", None)
    if kind in known:
        return
    if hasattr(info, "fields") and kind is not None:
        yield kind
        known = {*known, kind}
    for part in msgspec.structs.astuple(info):
        for each in part if isinstance(part, tuple) else (part,):
            if isinstance(each, msgspec.inspect.Type | msgspec.inspect.Field):
                yield from _records(each, known)


@cache
def _meanings(kind: type) -> Mapping[str, str]:
    """Return the meaning of each field of a record, also of those that it inherits."""
    declared = _classes(kind.__module__).get(kind.__name__)
    if declared is None:  # it is not written as a class
        return {}
    meanings: dict[str, str] = {}
    for base in declared.bases:
        inherited = vars(sys.modules[kind.__module__]).get(ast.unparse(base))
        if isinstance(inherited, type):
            meanings |= _meanings(inherited)
    return meanings | dict(_below_fields(declared))


@cache
def _classes(module: str) -> Mapping[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {each.name: each for each in tree.body if isinstance(each, ast.ClassDef)}


def _below_fields(declared: ast.ClassDef) -> Iterator[tuple[str, str]]:
    """Generate the names of fields with the strings below them, without full stop."""
    for field, below in pairwise(declared.body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split()).removesuffix(".")
