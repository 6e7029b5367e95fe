"""Mean opinion scores that others collected: a CSV, or lines `score name` as in TID2013's mos_with_names.txt.

The CSV has the columns `stimulus` and `score`, and may have `sd` (of the opinions on a stimulus), `votes`
(their number) and `reference` (the picture that the stimulus is a version of).
"""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from backend.analysis.agreement.opinion_scores import OpinionScores, references_of
from backend.experiment.response_columns import number
from backend.foundation.csv_formulas import unescape_formula
from backend.foundation.csv_tables import CsvTable
from backend.foundation.errors import InvalidInput, OpenhypeError, brief
from backend.foundation.names import composed
from backend.foundation.printable import printable
from backend.foundation.text_files import open_text, read_text
from backend.responses.reading.distances import without_extension
from backend.responses.reading.rewritten_cells import restored_number

_NEEDED, _NUMBERS = ("stimulus", "score"), {"score", "sd", "votes"}
_KNOWN = ("stimulus", "reference", *_NUMBERS)
_MOST_BYTES = 2**28


def are_opinion_scores(path: Path) -> bool:
    """Return whether a file has opinion scores, by its first line; False if it cannot be read."""
    try:
        with open_text(path) as file:
            first = file.readline()
        return {*_NEEDED} <= {*_table(path, first).header} or _words_of(first) is not None
    except (OpenhypeError, OSError, UnicodeDecodeError):
        return False


def read_opinion_scores(path: Path) -> OpinionScores:
    """Return the opinion scores of a file.

    Raises:
        NotFound: there is no such file.
        InvalidInput: a row is invalid, or a stimulus is there twice; the message states the line.
    """
    lines: dict[str, int] = {}
    columns: dict[str, list] = {}
    for line, cells in _rows(path):
        where = f"{printable(path)} line {line}"
        stimulus = composed(without_extension(unescape_formula(cells.pop("stimulus"))))
        if not stimulus:
            raise InvalidInput(f"{where}: stimulus must be a name, not ''")
        if stimulus in lines:
            raise InvalidInput(f"{where}: {stimulus} must occur once, and is on line {lines[stimulus]} too")
        lines[stimulus] = line
        for name, cell in cells.items():
            columns.setdefault(name, []).append(_value(where, name, cell))
    if not lines:
        raise InvalidInput(f"{printable(path)} has no opinion scores")
    sds, votes = (np.array(columns[name]) if name in columns else None for name in ("sd", "votes"))
    references = tuple(columns["reference"]) if "reference" in columns else references_of([*lines])
    return OpinionScores(tuple(lines), np.array(columns["score"]), sds, votes, references)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the line of each row, from 1, and its known cells by column."""
    text = read_text(path, _MOST_BYTES)
    table = _table(path, text)
    if not {*_NEEDED} <= {*table.header} and _words_of(text.partition("\n")[0]):
        for line, row in enumerate(text.splitlines(), start=1):
            if row.strip():
                if (words := _words_of(row)) is None:
                    raise InvalidInput(
                        f"{printable(path)} line {line}: must be a score and a name, such as 5.51 "
                        f"I01_01_1.bmp, not {brief(row)}"
                    )
                yield line, dict(zip(("score", "stimulus"), words, strict=True))
        return
    table.require(_NEEDED, _KNOWN)
    for line, cells in table.numbered():
        known = {name: cell.strip() for name, cell in zip(table.header, cells, strict=True) if name in _KNOWN}
        for name in _NUMBERS & {*known}:
            known[name] = restored_number(known[name], table.separator) or known[name]
        yield line, known


def _table(path: Path, text: str) -> CsvTable:
    table = CsvTable(path, io.StringIO(text, newline=""))
    table.header = [name.lower() for name in table.header]
    return table


def _words_of(line: str) -> tuple[str, str] | None:
    """Return score and name of a line in the way of TID2013, None if it is not one."""
    words = line.split()
    return (words[0], words[1]) if len(words) == 2 and number(words[0]) is not None else None


def _value(where: str, name: str, cell: str) -> float | str:
    if name == "reference":
        if not cell:
            raise InvalidInput(f"{where}: reference must be a name, not ''")
        return composed(unescape_formula(cell))
    value = number(cell)
    if name == "score" and value is not None:
        return value
    if name == "sd" and value is not None and value >= 0:
        return value
    if name == "votes" and value is not None and value >= 1 and value.is_integer():
        return value
    expected = {
        "score": "a finite number",
        "sd": "a number of 0 or more",
        "votes": "a whole number from 1 on",
    }
    raise InvalidInput(f"{where}: {name} must be {expected[name]}, not {brief(cell)}")
