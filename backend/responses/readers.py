"""The responses file: one row a response, as CSV or JSON lines, read and written as a stream.

A bad row is refused with file, line, column, what was expected and what came; nothing is scored from
a file that has one.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from backend.analysis.shown_exposures import as_exposed
from backend.experiment.judgments import judgment_of
from backend.experiment.response_columns import COLUMNS, Kind, number, whole
from backend.foundation.csv_formulas import escape_formula
from backend.foundation.errors import NotFound

if TYPE_CHECKING:
    from backend.analysis.response_table import Answers


def write_responses(rows: Iterable[Mapping[str, Any]], file: TextIO) -> None:
    """Write rows as a responses file; cells as `row_writer` gives them."""
    write = row_writer(file, COLUMNS)
    for row in rows:
        write(row)


def row_writer(file: TextIO, columns: Sequence[str]) -> Callable[[Mapping[str, Any]], None]:
    """Write the header of a CSV and return what writes a row to it.

    Lists become words separated by spaces, None an empty cell, truth values `true` and `false`. Floats are
    written as `repr` gives them, so that they come back as they were. Texts that a spreadsheet would take for
    formulas get a quote in front, which reading the file takes away again.
    """
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)

    def write(row: Mapping[str, Any]) -> None:
        writer.writerow([_cell(row.get(column)) for column in columns])

    return write


def read_responses(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the responses of a file, with the known columns that it has.

    Whole numbers, numbers, `mask_ms` (numbers), `flags` (words) and `simulated` (true or false) come back as
    what they were, an empty cell of a number as None; `method` is that of the file.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the first bad row, or columns that are missing; rows before it may have been yielded.
    """
    from backend.responses.reading.responses_file import ResponsesFile

    file = ResponsesFile(path)
    for chunk in file.chunks():
        for i, cells in enumerate(zip(*chunk.columns.values(), strict=True)):
            values = {
                column: _value(chunk, i, column, cell)
                for column, cell in zip(chunk.columns, cells, strict=True)
            }
            yield {**values, "method": file.method}


def read_answers(path: Path, details: bool = False, simulated: bool = False) -> "Answers":
    """Return a responses file as columns, in memory of about the file's own size.

    Of a file with real and simulated sessions, the real ones.

    Args:
        path: the file, or the folder of a data set that `openhype export` wrote.
        details: with sessions, stimuli, classes, shown exposures and response times where they are there.
        simulated: the simulated sessions of the file, rather than the real ones.

    Raises:
        NotFound: there is no such file, or none in the folder.
        InvalidInput: the first bad row found, columns that are missing, or no simulated session where they
            are asked for.
    """
    from backend.analysis.recognition import recognised
    from backend.analysis.response_table import select_simulated
    from backend.responses.reading.responses_file import read_columns

    return recognised(select_simulated(read_columns(_file_to_score(Path(path)), details), simulated))


def score_file(
    path: Path, exposures: str = "nominal", simulated: bool = False, **options: Any
) -> dict[str, Any]:
    """Return the scores of a responses file; options as `scoring.score_answers`.

    Args:
        exposures: `nominal`, or `shown` (HYPE-time).
        simulated: as `read_answers`.

    Raises:
        NotFound: as `read_answers`.
        InvalidInput: as `read_answers`, and as `scoring.score_answers`.
    """
    from backend.responses.reading.responses_file import method_of
    from backend.scoring import score_answers, score_values

    path = _file_to_score(Path(path))
    method = method_of(path)
    if not judgment_of(method).has_report:
        return score_values(read_responses(path), method, simulated, exposures, **options)
    answers = read_answers(path, details=exposures == "shown", simulated=simulated)
    return score_answers(as_exposed(answers, exposures), **options)


def _file_to_score(path: Path) -> Path:
    """Return the file itself, or that of an exported data set whose name has the study and nothing else."""
    if not path.is_dir():
        return path
    files = [file for place in (path, path / "data") for file in sorted(place.glob("study-*_data.csv"))]
    found = [file for file in files if file.name.count("_") == 1]
    if not found:
        raise NotFound(
            f"{path} is a folder without responses; name a file, or the folder that `openhype export` wrote, "
            "which has data/study-<name>_data.csv"
        )
    if len(found) > 1:
        raise NotFound(
            f"{path} has the responses of several studies; name one of {', '.join(map(str, found))}"
        )
    return found[0]


def _value(chunk: Any, i: int, column: str, text: str) -> Any:
    """Return the cell of a row as what its column holds; `i` is the row's place in its chunk."""
    kind = COLUMNS[column].kind
    if kind in (Kind.WHOLE, Kind.NUMBER):
        found = whole(text) if kind is Kind.WHOLE else number(text)
        if found is None and text:
            raise chunk.bad(i, column, kind.value, text)
        return found
    if column in ("truth", "response"):
        return text.strip().lower()  # checked to be one of the judgment's answers
    if kind is Kind.LIST:
        numbers = tuple(map(number, text.split()))
        if None in numbers:
            raise chunk.bad(i, column, kind.value, text)
        return numbers
    if kind is Kind.TRUTH_VALUE:
        return text.lower() == "true"
    return tuple(text.split()) if kind is Kind.WORDS else text


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return escape_formula(" ".join(map(str, value)) if isinstance(value, (list, tuple)) else value)
