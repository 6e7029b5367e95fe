"""Responses files row by row, with every known column parsed, and their scores."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from backend.experiment.response_columns import COLUMNS, Kind, exposure_of, number, whole
from backend.responses.readers import read_answers
from backend.responses.reading.responses_file import ResponsesFile
from backend.scoring import score_answers


def read_responses(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the responses of a file, with those of its columns that are known.

    Integers, numbers, `mask_ms` (a tuple of numbers), `flags` (a tuple of words) and `simulated` (a Boolean)
    are parsed, an empty cell of a number to None; `method` is that of the file.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: a row is invalid, or columns are missing; rows before it may have been yielded.
    """
    file = ResponsesFile(path)
    for chunk in file.chunks():
        for i, cells in enumerate(zip(*chunk.columns.values(), strict=True)):
            values = {
                column: _value(chunk, i, column, cell)
                for column, cell in zip(chunk.columns, cells, strict=True)
            }
            yield {**values, "method": file.method}


def score_file(
    path: Path, exposures: str = "nominal", simulated: bool = False, **options: Any
) -> dict[str, Any]:
    """Return the scores of a responses file; `options` are those of `scoring.score_answers`.

    Args:
        exposures: `nominal`, or `shown` (HYPE-time).
        simulated: as in `read_answers`.

    Raises:
        NotFound: as in `read_answers`.
        InvalidInput: as in `read_answers` and `scoring.score_answers`.
    """
    answers = read_answers(path, details=exposures == "shown", simulated=simulated)
    return score_answers(answers, exposures, **options)


def _value(chunk: Any, i: int, column: str, text: str) -> Any:
    """Return the value of a cell, parsed by the kind of its column; `i` is the row's index in its chunk."""
    kind = COLUMNS[column].kind
    if kind is Kind.EXPOSURE:
        ms = exposure_of(text)
        if ms != ms:
            raise chunk.cell_error(i, column, kind.value, text)
        return ms if math.isfinite(ms) else None
    if kind in (Kind.WHOLE, Kind.NUMBER):
        parsed = whole(text) if kind is Kind.WHOLE else number(text)
        if parsed is None and text:
            raise chunk.cell_error(i, column, kind.value, text)
        return parsed
    if column in ("truth", "response"):
        return text.strip().lower()  # checked to be one of the judgment's answers
    if kind is Kind.WHOLES:
        return tuple(whole(part) or part for part in text.split())  # words from elsewhere are checked before
    if kind is Kind.LIST:
        numbers = tuple(map(number, text.split()))
        if None in numbers:
            raise chunk.cell_error(i, column, kind.value, text)
        return numbers
    if kind is Kind.TRUTH_VALUE:
        if not text and column != "simulated":
            return None
        return text.lower() == "true"
    return tuple(text.split()) if kind is Kind.WORDS else text
