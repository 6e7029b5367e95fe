"""The responses file: one row a response, as CSV or JSON lines, read and written as a stream.

A bad row is refused with file, line, column, what was expected and what came; nothing is scored from
a file that has one. Plain CSV is read by `reading/plain.py`, which makes a million rows cost little more than
reading their lines; whatever it doubts, `reading/careful.py` reads again.
"""

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from backend.reading.columns import COLUMNS, LISTS, NUMBERS, WHOLE, number, whole
from backend.shown import as_exposed

if TYPE_CHECKING:
    from backend.answers import Answers


def write_responses(rows: Iterable[dict[str, Any]], file: TextIO) -> None:
    """Write rows as CSV with a header; lists become words apart by spaces, None an empty cell.

    Floats are written as `repr` gives them, so that they come back as they were.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row.get(column)) for column in COLUMNS])


def read_responses(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the responses of a file, with the known columns that it has.

    Whole numbers, numbers, `mask_ms` (numbers) and `flags` (words) come back as what they were, an
    empty cell of a number as None; `method` is that of the file.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the first bad row, or columns that are missing; rows before it were yielded.
    """
    from backend.reading.careful import ResponsesFile

    file = ResponsesFile(path)
    for chunk in file.chunks():
        known = [(column, place) for column, place in chunk.places.items() if column in COLUMNS]
        for i, cells in enumerate(chunk.rows):
            values = {column: _value(chunk, i, column, cells[place]) for column, place in known}
            yield {**values, "method": file.method}


def read_answers(path: Path, details: bool = False) -> "Answers":
    """Return a responses file as columns, in memory of about the file's own size.

    Args:
        details: with sessions, stimuli, classes, shown exposures and response times where they are there.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the first bad row found, or columns that are missing.
    """
    from backend.reading.careful import is_json, read_carefully
    from backend.reading.plain import NotPlain, read_plain

    path = Path(path)
    if not is_json(path):
        try:
            return read_plain(path, details)
        except (NotPlain, OSError):
            pass  # the careful reader reads it, or says what is wrong
    return read_carefully(path, details)


def score_file(path: Path, exposures: str = "nominal", **options: Any) -> dict[str, Any]:
    """Return the scores of a responses file; options as `scoring.score_answers`.

    Args:
        exposures: `nominal`, or `shown` (HYPE-time).
    """
    from backend.scoring import score_answers

    answers = read_answers(path, details=exposures == "shown")
    return score_answers(as_exposed(answers, exposures), **options)


def _value(chunk: Any, i: int, column: str, text: str) -> Any:
    """Return the cell of a row as what its column holds; `i` is the row's place in its chunk."""
    if column in WHOLE or column in NUMBERS:
        found = whole(text) if column in WHOLE else number(text)
        if found is None and text:
            what = "a whole number from 0" if column in WHOLE else "a number"
            raise chunk.bad(i, column, what, text)
        return found
    if column in LISTS:
        numbers = tuple(map(number, text.split()))
        if None in numbers:
            raise chunk.bad(i, column, "numbers set apart by spaces", text)
        return numbers
    return tuple(text.split()) if column == "flags" else text


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
