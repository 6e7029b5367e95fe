"""Records as bytes: the values of their fields in order, as JSON without names, compressed by zlib.

The form follows the declarations of the records, so that a new field of one needs no change here. A name of
a session's stimuli is written as its index among them. Numbers keep their form: 500 and 500.0 are restored
as such. (JSON, since times in milliseconds are shorter as text than as floats of eight bytes, and compress
better: a session of HYPE-time takes two thirds of what it takes as MessagePack.)
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

_Reader = Callable[[Any, Sequence[str]], Any]


def pack(record: Any, names: Sequence[str] = ()) -> bytes:
    """Return a record, or a list of records, as bytes; `names` are its session's stimuli in a fixed order."""
    numbers = {name: number for number, name in enumerate(names)}
    return zlib.compress(msgspec.json.encode(_row(record, numbers)))


def unpack(declared: Any, data: bytes, names: Sequence[str] = ()) -> Any:
    """Return what was encoded by `pack`: a record of the class `declared`, or records of `list[class]`."""
    return _reader(declared)(msgspec.json.decode(zlib.decompress(data)), names)


def _row(value: Any, numbers: Mapping[str, int]) -> Any:
    if isinstance(value, str):
        return numbers.get(value, value)
    if isinstance(value, (tuple, list)):
        return [_row(each, numbers) for each in value]
    if is_dataclass(value):
        return [_row(getattr(value, field.name), numbers) for field in fields(value)]
    return value


@cache
def _reader(declared: Any) -> _Reader:
    """Return what restores a value of a declared type from its row."""
    origin, of = get_origin(declared), get_args(declared)
    if is_dataclass(declared):
        hints = get_type_hints(declared)
        readers = [_reader(hints[field.name]) for field in fields(declared)]
        record: Any = declared
        return lambda row, names: record(*_read(readers, row, names))
    if origin in (Union, UnionType):
        (read,) = (_reader(each) for each in of if each is not type(None))
        return lambda value, names: None if value is None else read(value, names)
    if origin is list or (origin is tuple and of[1:] == (...,)):
        read = _reader(of[0])
        return lambda row, names: origin(read(value, names) for value in row)
    if origin is tuple:
        readers = [_reader(each) for each in of]
        return lambda row, names: tuple(_read(readers, row, names))
    if declared is str:
        return lambda value, names: names[value] if isinstance(value, int) else value
    return lambda value, names: value


def _read(readers: Sequence[_Reader], row: Sequence[Any], names: Sequence[str]) -> list[Any]:
    return [read(value, names) for read, value in zip(readers, row, strict=True)]
