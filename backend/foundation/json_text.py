"""JSON text of results, generated in parts, so that a long table is never in memory as one text."""

import json
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii
from typing import Any

from backend.foundation.column_rows import ColumnRows, Part

_AT_ONCE = 4096
_ENCODER = json.JSONEncoder(allow_nan=False)


def json_parts(value: Any) -> Iterator[str]:
    """Yield the JSON of plain data and `ColumnRows` in parts, each key of a mapping of mappings on a line.

    Raises:
        ValueError: a number that JSON cannot represent.
    """
    if isinstance(value, ColumnRows):
        yield from _rows(value)
    elif isinstance(value, Mapping) and any(isinstance(one, (Mapping, ColumnRows)) for one in value.values()):
        opening = "{\n"
        for key, one in value.items():
            yield f"{opening}{_ENCODER.encode(key)}: "
            yield from json_parts(one)
            opening = ",\n"
        yield "\n}"
    else:
        yield _ENCODER.encode(value)


def _rows(rows: ColumnRows) -> Iterator[str]:
    """Yield the JSON of the rows; a value that many rows share is encoded once."""
    encoded = [[_inside(part, code) for code in range(len(part.values))] for part in rows.parts]
    opening = "["
    for start in range(0, len(rows), _AT_ONCE):
        columns = (
            map(texts.__getitem__, part.codes[start : start + _AT_ONCE].tolist())
            for texts, part in zip(encoded, rows.parts, strict=True)
        )
        yield opening + "{" + "},\n{".join(map(", ".join, zip(*columns, strict=True))) + "}"
        opening = ",\n"
    yield "]" if len(rows) else "[]"


def _inside(part: Part, code: int) -> str:
    """Return the JSON of a part's keys and values, without braces."""
    if part.key:
        return f"{_text(part.key)}: {_text(part.values[code])}"
    return _ENCODER.encode(part.values[code])[1:-1]


def _text(value: Any) -> str:
    return encode_basestring_ascii(value) if isinstance(value, str) else _ENCODER.encode(value)
