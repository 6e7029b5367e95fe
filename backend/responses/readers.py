"""Responses files: one row per response, as CSV or JSON lines, read and written as a stream.

The error for an invalid row states file, line, column, the expected value and the actual one; a file with
an invalid row is not scored.
"""

import csv
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from backend.experiment.response_columns import COLUMNS
from backend.foundation.csv_formulas import escape_formula
from backend.foundation.csv_tables import BOM
from backend.foundation.errors import NotFound

if TYPE_CHECKING:
    from backend.analysis.table.response_table import Answers


def write_responses(rows: Iterable[Mapping[str, Any]], file: TextIO) -> None:
    """Write rows as a responses file, with cells formatted as by `row_writer`."""
    write = row_writer(file, [*COLUMNS])
    for row in rows:
        write(row)


def row_writer(file: TextIO, columns: Sequence[str]) -> Callable[[Mapping[str, Any]], None]:
    """Write the header of a CSV and return a function that writes a row.

    A byte order mark stands first, without which Excel takes the text for another encoding than UTF-8.
    Lists are written as words separated by spaces, None as an empty cell, Booleans as `true` and `false`.
    Floats are written by `repr`, so that reading returns the same values. A text that a spreadsheet would
    read as a formula gets a quote in front, which is removed when the file is read.
    """
    file.write(BOM)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)

    def write(row: Mapping[str, Any]) -> None:
        writer.writerow([_cell(row.get(column)) for column in columns])

    return write


def read_answers(path: Path, details: bool = False, simulated: bool = False) -> "Answers":
    """Return the responses of a file as columns; they need about as much memory as the file's size.

    For a file with real and simulated sessions, return the real ones.

    Args:
        path: the file, or the folder of a data set that `openhype export` wrote.
        details: include sessions, stimuli, classes, shown exposures and response times, if the file has them.
        simulated: return the simulated sessions of the file instead.

    Raises:
        NotFound: the file does not exist, or the folder has none.
        InvalidInput: a row is invalid, columns are missing, or `simulated` is true and the file has no
            simulated sessions.
    """
    from backend.analysis.table.unscored_rows import selected
    from backend.responses.reading.responses_file import read_columns

    file = file_to_score(Path(path))
    answers = selected(read_columns(file, details), simulated)
    return replace(answers, reasons=_reasons_beside(file)) if "reasons" in answers.texts else answers


def file_to_score(path: Path) -> Path:
    """Return the file itself, or the one of an exported data set whose name has only the study's keyword."""
    if not path.is_dir():
        return path
    files = [file for place in (path, path / "data") for file in sorted(place.glob("study-*_data.csv"))]
    named = [file for file in files if file.name.count("_") == 1]
    if not named:
        raise NotFound(
            f"{path} is a folder without responses; name a file, or the folder that `openhype export` wrote, "
            "which has data/study-<name>_data.csv"
        )
    if len(named) > 1:
        raise NotFound(
            f"{path} has the responses of several studies; name one of {', '.join(map(str, named))}"
        )
    return named[0]


def _reasons_beside(file: Path) -> tuple[str, ...]:
    """Return the list of reasons of an exported data set, which is in its folder of materials; else none."""
    from backend.analysis.reasons import listed

    try:
        return listed(study_beside(file)["settings"])
    except (KeyError, TypeError, AttributeError):
        return ()


def study_beside(file: Path) -> Mapping[str, Any]:
    """Return the facts of a study from the folder of materials beside an exported file; {} without any."""
    try:
        facts = json.loads((file.parent.parent / "materials" / "study.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return facts if isinstance(facts, dict) else {}


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return escape_formula(" ".join(map(str, value)) if isinstance(value, (list, tuple)) else value)
