"""Chunks of a responses file: columns of texts, about two thousand rows at a time, with line numbers.

CSV is read by `foundation.csv_tables`; JSON lines are converted to the texts
that a CSV would have.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from backend.experiment.response_columns import COLUMNS, NEEDED, Kind, of_kind
from backend.foundation.csv_tables import CsvTable
from backend.foundation.errors import InvalidInput
from backend.foundation.text_files import not_utf8, open_text
from backend.responses.reading.rewritten_cells import FAULTS, restored

_CHUNK_ROWS = 2**11
_BATCH_ROWS = 2**7
"""Rows that are lists at the same time: few, for the processor's cache and the garbage collector."""

_NAMES = {*of_kind(Kind.TEXT)}
_LISTS = (Kind.LIST, Kind.WHOLES, Kind.WORDS)


@dataclass
class Chunk:
    """Consecutive rows of a file, as columns of texts."""

    path: Path
    columns: dict[str, Sequence[str]]
    """The known columns that the file has, all of one length."""
    first_row: int
    """Index in the file of the chunk's first row."""

    def __len__(self) -> int:
        return len(self.columns["model"])

    def refuse(self, column: str, expected: str, is_bad: Callable[[str], bool]) -> None:
        """Raise InvalidInput for the first row whose cell is bad."""
        i, cell = next((i, cell) for i, cell in enumerate(self.columns[column]) if is_bad(cell))
        raise self.cell_error(i, column, expected, cell)

    def cell_error(self, i: int, column: str, expected: str, actual: str) -> InvalidInput:
        line = line_of(self.path, self.first_row + i)
        return InvalidInput(f"{self.path} line {line}: {column} must be {expected}, not {actual!r}")


def is_json(path: Path) -> bool:
    """Return whether a file is read as JSON lines, by its suffix."""
    return path.suffix.lower() in (".jsonl", ".ndjson")


def chunks_of(path: Path, needed: Sequence[str] = NEEDED) -> Iterator[Chunk]:
    """Yield the rows of a file, about two thousand at a time.

    Args:
        needed: the columns that the file must have; one of them is `model`.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: it is neither CSV with the required columns nor JSON lines.
    """
    with open_text(path) as file:
        header, separator, batches = (_of_json if is_json(path) else _of_csv)(path, file, needed)
        first_row = 0
        while group := list(islice(batches, _CHUNK_ROWS // _BATCH_ROWS)):
            cells = map(chain.from_iterable, zip(*group, strict=True))
            columns = {
                name: restored(name, list(column), separator)
                for name, column in zip(header, cells, strict=True)
                if name in COLUMNS
            }
            chunk = Chunk(path, columns, first_row)
            for name in _NAMES & columns.keys():
                if not FAULTS.isdisjoint(columns[name]):
                    chunk.refuse(name, "a name, no fault of a spreadsheet's formula", FAULTS.__contains__)
            yield chunk
            first_row += len(chunk)


def line_of(path: Path, row: int) -> int:
    """Return the line number (from 1) at which a row (from 0) begins; a quoted cell may have line breaks."""
    with open_text(path) as file:
        lines: Iterator[int]
        if is_json(path):
            lines = (line for line, text in enumerate(file, start=1) if text.strip())
        else:
            lines = (line for line, _ in CsvTable(path, file).numbered())
        return next(islice(lines, row, None))


_Batch = list[tuple[str, ...]]
"""Columns of at most `_BATCH_ROWS` rows."""


def _of_csv(path: Path, file: TextIO, needed: Sequence[str]) -> tuple[list[str], str, Iterator[_Batch]]:
    table = CsvTable(path, file)
    table.require(needed, known=[*COLUMNS])
    batches = (list(zip(*rows, strict=True)) for rows in table.batches(_BATCH_ROWS))
    return table.header, table.separator, batches


def _of_json(path: Path, file: TextIO, needed: Sequence[str]) -> tuple[list[str], str, Iterator[_Batch]]:
    numbered = ((number, text) for number, text in enumerate(file, start=1) if text.strip())

    def batches() -> Iterator[_Batch]:
        try:
            while lines := list(islice(numbered, _BATCH_ROWS)):
                yield list(zip(*(_json_cells(path, line, text, needed) for line, text in lines), strict=True))
        except UnicodeDecodeError:
            raise not_utf8(path) from None

    return [*COLUMNS], ",", batches()


def _json_cells(path: Path, line: int, text: str, needed: Sequence[str]) -> list[str]:
    """Return a record as the texts that a CSV would have; numbers remain as written in the file."""
    try:
        record = json.loads(text, parse_int=str, parse_float=str, parse_constant=_constant)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        raise InvalidInput(f"{path} line {line}: must be a JSON object")
    missing = [column for column in needed if column not in record]
    if missing and "method" not in record:  # of exported rows, R's jsonlite leaves out what is NA
        raise InvalidInput(f"{path} line {line}: {', '.join(missing)} missing")
    for column in of_kind(Kind.TRUTH_VALUE):
        if isinstance(record.get(column), bool):
            record[column] = str(record[column]).lower()
    for column in COLUMNS:
        value = record.get(column)
        parts = value if isinstance(value, list) and COLUMNS[column].kind in _LISTS else [value]
        if not all(part is None or isinstance(part, str) for part in parts):
            raise InvalidInput(f"{path} line {line}: {column} must be a text or a number, not {value!r}")
    cells = [_json_cell(record.get(column)) for column in COLUMNS]
    if "\\u" in text:
        _check_unicode(path, line, cells)
    return cells


def _constant(name: str) -> str | None:
    """Return `Infinity` as a text, and None for `NaN`, by which pandas marks an empty cell."""
    return None if name == "NaN" else name


def _check_unicode(path: Path, line: int, cells: list[str]) -> None:
    """Raise InvalidInput for half of a surrogate pair, which JSON can escape but UTF-8 cannot encode."""
    for column, cell in zip(COLUMNS, cells, strict=True):
        try:
            cell.encode()
        except UnicodeEncodeError:
            raise InvalidInput(f"{path} line {line}: {column} must be Unicode text, not {cell!a}") from None


def _json_cell(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else " ".join(value or ())
