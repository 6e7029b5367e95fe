"""The responses file: one row a response, as CSV or JSON lines, read and written row by row.

Its columns are the contract with other people's scripts. A bad row is refused with file, line,
column, what was expected and what came; nothing is scored from a file that has one.
"""

import csv
import json
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TextIO

from backend.errors import InvalidInput, NotFound

COLUMNS = (
    "study", "method", "session", "model", "evaluator", "block", "trial_index", "stimulus", "class",
    "truth", "response", "exposure_ms", "shown_ms", "frames", "frame_ms", "mask_ms", "rt", "flags", "at",
)  # fmt: skip
_NEEDED = ("model", "evaluator", "truth", "response")
_NEEDED_FOR_TIME = ("block", "trial_index", "exposure_ms")
_TRUTHS = ("real", "fake")


def write_responses(rows: Iterable[dict[str, Any]], file: TextIO) -> None:
    """Write rows as CSV with a header; lists become words apart by spaces, None an empty cell."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(row.get(column)) for column in COLUMNS])


def score_file(path: Path, **options: Any) -> dict[str, Any]:
    """Return the scores of a responses file, read row by row; options as `scoring.score_tallies`."""
    from backend.scoring import score_tallies, tally

    file = ResponsesFile(path)
    return score_tallies(tally(file.rows()), file.method, **options)


class ResponsesFile:
    """A responses file to be read once: its method is known after the first row."""

    def __init__(self, path: Path):
        self.path = path
        self.method: str | None = None

    def rows(self) -> Iterator[tuple]:
        """Yield (model, evaluator, truth, response, block, exposure as text), row by row.

        Raises:
            NotFound: there is no such file.
            InvalidInput: the first bad row, or a column that is missing.
        """
        records = _json_records if self.path.suffix in (".jsonl", ".ndjson") else _csv_records
        seen: set[tuple] = set()
        any_row = False
        for line, record in records(self.path):
            any_row = True
            yield self._checked(line, record, seen)
        if not any_row:
            raise InvalidInput(f"{self.path} has no responses")

    def _checked(self, line: int, record: dict[str, Any], seen: set[tuple]) -> tuple:
        for column in _NEEDED:
            if not record.get(column):
                raise _bad(self.path, line, column, "a value", record.get(column))
        model, evaluator = str(record["model"]), str(record["evaluator"])
        for column in ("truth", "response"):
            if record[column] not in _TRUTHS:
                raise _bad(self.path, line, column, "'real' or 'fake'", record[column])
        self._check_method(line, record)
        trial = record.get("trial_index")
        if trial not in (None, ""):
            key = (record.get("session") or evaluator, model, _whole(self.path, line, "trial_index", trial))
            if key in seen:
                raise InvalidInput(
                    f"{self.path} line {line}: trial_index {trial} of {evaluator} stands in the file twice"
                )
            seen.add(key)
        block, exposure = None, None
        if self.method == "time":
            for column in _NEEDED_FOR_TIME:
                if record.get(column) in (None, ""):
                    raise _bad(self.path, line, column, "a number (HYPE-time)", record.get(column))
            block = _whole(self.path, line, "block", record["block"])
            exposure = _positive(self.path, line, "exposure_ms", record["exposure_ms"])
        return model, evaluator, record["truth"], record["response"], block, exposure

    def _check_method(self, line: int, record: dict[str, Any]) -> None:
        stated = record.get("method")
        if stated not in (None, "", "infinity", "time"):
            raise _bad(self.path, line, "method", "'infinity' or 'time'", stated)
        method = stated or ("infinity" if record.get("exposure_ms") in (None, "") else "time")
        if self.method is None:
            self.method = method
        if method != self.method:
            raise InvalidInput(
                f"{self.path} line {line}: method must be the same in every row: {self.method!r} before, "
                f"{method!r} here; score the methods apart"
            )


def _csv_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with _opened(path) as file:
        reader = csv.reader(file)
        header = next(reader, [])
        missing = [column for column in _NEEDED if column not in header]
        if missing:
            raise InvalidInput(
                f"{path} line 1: the header must name the columns {', '.join(_NEEDED)}; "
                f"{', '.join(missing)} missing"
            )
        try:
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != len(header):
                    raise InvalidInput(
                        f"{path} line {reader.line_num}: expected {len(header)} cells, got {len(cells)}"
                    )
                yield reader.line_num, dict(zip(header, cells, strict=True))
        except (csv.Error, UnicodeDecodeError) as error:
            raise InvalidInput(f"{path} line {reader.line_num + 1}: not CSV in UTF-8: {error}") from None


def _json_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with _opened(path) as file:
        for line, text in enumerate(file, start=1):
            if not text.strip():
                continue
            try:
                record = json.loads(text)
            except ValueError:
                record = None
            if not isinstance(record, dict):
                raise InvalidInput(f"{path} line {line}: must be a JSON object")
            yield line, record


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise NotFound(f"{path} could not be read: {error.strerror}") from None


def _whole(path: Path, line: int, column: str, value: Any) -> int:
    try:
        number = int(str(value))
    except ValueError:
        raise _bad(path, line, column, "a whole number", value) from None
    return number


def _positive(path: Path, line: int, column: str, value: Any) -> str:
    """Return the text of a number above 0, as it stands, so that it can be kept exactly."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise _bad(path, line, column, "a number above 0", value)
    return str(value)


def _bad(path: Path, line: int, column: str, expected: str, came: Any) -> InvalidInput:
    return InvalidInput(f"{path} line {line}: {column} must be {expected}, not {came!r}")


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return value
