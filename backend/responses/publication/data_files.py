"""The tables of an exported data set as they stand on disk: hash, size, rows, and the type of each column."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from backend.experiment.response_columns import Column, Kind
from backend.foundation.csv_tables import CsvTable
from backend.foundation.text_files import open_text


class Type(Enum):
    """What the cells of a column hold."""

    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    TRUTH_VALUE = "truth value"


@dataclass(frozen=True)
class TableColumn:
    """One column of a table."""

    name: str
    description: str
    type: Type
    has_empty: bool
    """Whether any of its cells is empty."""


@dataclass(frozen=True)
class Table:
    """One CSV of a data set."""

    name: str
    """`responses`, or the description in its file's name, such as `evaluators`."""
    path: str
    """Relative to the folder of the data set."""
    description: str
    columns: tuple[TableColumn, ...]
    rows: int
    bytes: int
    sha256: str
    first_at: str
    """The earliest time (UTC, ISO 8601) of its column `at`; '' if there is none."""
    last_at: str


_BY_KIND = {
    Kind.WHOLE: Type.WHOLE,
    Kind.NUMBER: Type.NUMBER,
    Kind.EXPOSURE: Type.NUMBER,
    Kind.TRUTH_VALUE: Type.TRUTH_VALUE,
}
_BY_UNIT = {
    "count": Type.WHOLE,
    "0 to 1": Type.NUMBER,
    "ms": Type.NUMBER,
    "percent": Type.NUMBER,
    "percent, or ms": Type.NUMBER,
    "true, false": Type.TRUTH_VALUE,
}
_BY_FIRST_WORDS = {"whole number from": Type.WHOLE, "number": Type.NUMBER}


def type_of(column: Column) -> Type:
    """Return what the cells of a column hold, by its kind, or else by its unit."""
    if column.kind is not Kind.TEXT:
        return _BY_KIND.get(column.kind, Type.TEXT)
    if column.unit in _BY_UNIT:
        return _BY_UNIT[column.unit]
    return next(
        (type_ for start, type_ in _BY_FIRST_WORDS.items() if column.unit.startswith(start)), Type.TEXT
    )


def read_table(folder: Path, path: Path, name: str, description: str, columns: Mapping[str, Column]) -> Table:
    """Return what a CSV of the data set in `folder` holds; it is read once, row by row."""
    count = 0
    times: list[str] = []
    with open_text(path) as file:
        table = CsvTable(path, file)
        header = table.header
        filled = [0] * len(header)
        at = header.index("at") if "at" in header else None
        for _, row in table.numbered():
            count += 1
            for place, cell in enumerate(row):
                filled[place] += cell != ""
            if at is not None and row[at]:
                times = [min(times[0], row[at]), max(times[1], row[at])] if times else [row[at]] * 2
    with path.open("rb") as content:
        sha256 = hashlib.file_digest(content, "sha256").hexdigest()
    return Table(
        name=name,
        path=path.relative_to(folder).as_posix(),
        description=description,
        columns=tuple(
            TableColumn(each, columns[each].description, type_of(columns[each]), cells < count)
            for each, cells in zip(header, filled, strict=True)
        ),
        rows=count,
        bytes=path.stat().st_size,
        sha256=sha256,
        first_at=times[0] if times else "",
        last_at=times[1] if times else "",
    )
