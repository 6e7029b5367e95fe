"""Rows of a responses file as texts, about a thousand at a time, each with its line in the file.

CSV by Python's own reader, whatever its quotes and line ends; JSON lines as the texts that a CSV
would hold.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import TextIO

from backend.experiment.response_columns import COLUMNS, NEEDED, Kind, of_kind
from backend.foundation.csv_formulas import is_escaped, unescape_formula
from backend.foundation.errors import InvalidInput
from backend.foundation.text_files import unreadable

_CHUNK_ROWS = 2**10
"""Few enough for the processor's cache."""


@dataclass
class Chunk:
    """Some rows in a row, as texts, all of one length."""

    path: Path
    places: dict[str, int]
    """Column to place in a row."""
    rows: list[list[str]]
    line: Callable[[int], int]
    """The line in the file on which the row at an index begins."""

    def column(self, name: str) -> Iterator[str]:
        return map(itemgetter(self.places[name]), self.rows)

    def refuse(self, column: str, expected: str, is_bad: Callable[[str], bool]) -> None:
        """Raise for the first row whose cell is bad."""
        i, cell = next((i, cell) for i, cell in enumerate(self.column(column)) if is_bad(cell))
        raise self.bad(i, column, expected, cell)

    def bad(self, i: int, column: str, expected: str, came: str) -> InvalidInput:
        return InvalidInput(f"{self.path} line {self.line(i)}: {column} must be {expected}, not {came!r}")


def csv_chunks(path: Path) -> Iterator[Chunk]:
    with _opened(path) as file:
        reader = csv.reader(file)
        try:
            header = next(reader, [])
            places = places_of(path, header)
            first = reader.line_num + 1
            while rows := list(islice(reader, _CHUNK_ROWS)):
                yield from _csv_chunk(path, places, rows, len(header), first)
                first = reader.line_num + 1
        except csv.Error as error:
            raise InvalidInput(f"{path} line {reader.line_num}: must be CSV; {error}") from None
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def places_of(path: Path, header: list[str]) -> dict[str, int]:
    """Return the place of each column, having checked that the needed ones are there, once each."""
    missing = [column for column in NEEDED if column not in header]
    if missing:
        hint = "; columns are separated by commas" if len(header) == 1 else ""
        raise InvalidInput(
            f"{path} line 1: the header must name the columns {', '.join(NEEDED)}; "
            f"{', '.join(missing)} missing{hint}"
        )
    twice = [column for column in COLUMNS if header.count(column) > 1]
    if twice:
        raise InvalidInput(f"{path} line 1: the header must name a column once; {', '.join(twice)} repeated")
    return {column: place for place, column in enumerate(header)}


def _csv_chunk(
    path: Path, places: dict[str, int], rows: list[list[str]], width: int, first: int
) -> Iterator[Chunk]:
    """Yield the rows as a chunk, without empty lines; nothing where they are all empty."""
    kept = rows if set(map(len, rows)) == {width} else [cells for cells in rows if cells]

    def line(i: int) -> int:
        end = next(place for place, cells in enumerate(rows) if cells is kept[i])
        return first + sum(map(_lines, rows[:end]))

    for i, cells in enumerate(kept if kept is not rows else ()):
        if len(cells) != width:
            raise InvalidInput(f"{path} line {line(i)}: expected {width} cells, got {len(cells)}")
    if kept:
        _unescape(places, kept)
        yield Chunk(path, places, kept, line)


def _unescape(places: dict[str, int], rows: list[list[str]]) -> None:
    """Take the quotes away that an export puts before texts that a spreadsheet would take for formulas."""
    for place in (places[column] for column in of_kind(Kind.TEXT) if column in places):
        if any(map(is_escaped, set(map(itemgetter(place), rows)))):
            for cells in rows:
                cells[place] = unescape_formula(cells[place])


def _lines(cells: list[str]) -> int:
    """Return how many lines of the file a row takes; a quoted cell may hold line breaks."""
    return 1 + sum(len(re.findall("\r\n|\r|\n", cell)) for cell in cells)


def json_chunks(path: Path) -> Iterator[Chunk]:
    places = {column: place for place, column in enumerate(COLUMNS)}
    with _opened(path) as file:
        numbered = ((number, text) for number, text in enumerate(file, start=1) if text.strip())
        try:
            while some := list(islice(numbered, _CHUNK_ROWS)):
                rows = [_json_cells(path, number, text) for number, text in some]
                yield Chunk(path, places, rows, lambda i, some=some: some[i][0])
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _json_cells(path: Path, line: int, text: str) -> list[str]:
    """Return a record as the texts that a CSV would hold; numbers stay as they are written."""
    try:
        record = json.loads(text, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise InvalidInput(f"{path} line {line}: must be a JSON object")
    missing = [column for column in NEEDED if column not in record]
    if missing:
        raise InvalidInput(f"{path} line {line}: {', '.join(missing)} missing")
    for column in of_kind(Kind.TRUTH_VALUE):
        if isinstance(record.get(column), bool):
            record[column] = str(record[column]).lower()
    for column in COLUMNS:
        value = record.get(column)
        parts = (
            value if isinstance(value, list) and COLUMNS[column].kind in (Kind.LIST, Kind.WORDS) else [value]
        )
        if not all(part is None or isinstance(part, str) for part in parts):
            raise InvalidInput(f"{path} line {line}: {column} must be a text or a number, not {value!r}")
    cells = [_json_cell(record.get(column)) for column in COLUMNS]
    if "\\u" in text:
        _check_unicode(path, line, cells)
    return cells


def _check_unicode(path: Path, line: int, cells: list[str]) -> None:
    """Refuse half of a surrogate pair, which JSON can spell and no text can hold."""
    for column, cell in zip(COLUMNS, cells, strict=True):
        try:
            cell.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{path} line {line}: {column} must be Unicode text, not {cell!a}") from None


def _json_cell(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else " ".join(value or ())


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig", newline="")
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def _not_utf8(path: Path) -> InvalidInput:
    """Return the refusal of a file that is not UTF-8, with the line where that shows."""
    with path.open("rb") as file:
        for line, text in enumerate(file, start=1):
            try:
                text.decode("utf-8")
            except UnicodeDecodeError as error:
                came = text[error.start : error.start + 1].hex()
                return InvalidInput(f"{path} line {line}: must be UTF-8 text, not the byte 0x{came}")
    return InvalidInput(f"{path} must be UTF-8 text")
