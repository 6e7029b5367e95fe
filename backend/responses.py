"""The responses file: one row a response, as CSV or JSON lines, read and written as a stream.

Its columns are the contract with other people's scripts. A bad row is refused with file, line,
column, what was expected and what came; nothing is scored from a file that has one. Rows are read
by the thousand: what repeats is counted first and each different value is checked once, so that a
million rows cost little more than reading them.
"""

import csv
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from backend.errors import InvalidInput, NotFound

COLUMNS = (
    "study", "method", "session", "model", "evaluator", "block", "trial_index", "stimulus", "class",
    "truth", "response", "exposure_ms", "shown_ms", "frames", "frame_ms", "mask_ms", "rt", "flags", "at",
    "attempt", "evidence", "lateness_ms", "planned_frames", "achieved_frames", "phase_ms",
)  # fmt: skip
_NEEDED = ("model", "evaluator", "truth", "response")
_NEEDED_FOR_TIME = ("block", "trial_index", "exposure_ms")
_WHOLE = ("block", "trial_index", "frames", "attempt")
_NUMBERS = ("exposure_ms", "shown_ms", "frame_ms", "rt", "lateness_ms")
_LISTS = ("mask_ms", "planned_frames", "achieved_frames", "phase_ms")
_CHUNK_ROWS = 2**10
"""Few enough for the processor's cache; with 8 times more, counting takes up to a third longer."""


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
    file = _ResponsesFile(path)
    for chunk in file.chunks():
        known = [(column, place) for column, place in chunk.places.items() if column in COLUMNS]
        for i, cells in enumerate(chunk.rows):
            values = {column: _value(chunk, i, column, cells[place]) for column, place in known}
            yield {**values, "method": file.method}


def tally_file(path: Path) -> tuple[str, dict]:
    """Return (method, tallies of `scoring`) of a responses file, in memory that its rows do not fill.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the first bad row found, or columns that are missing.
    """
    from backend.scoring import add

    file, tallies = _ResponsesFile(path), {}
    for chunk in file.chunks():
        add(tallies, chunk.answers, file.exposures(chunk))
    return file.method, tallies


def score_file(path: Path, **options: Any) -> dict[str, Any]:
    """Return the scores of a responses file; options as `scoring.score_tallies`."""
    from backend.scoring import score_tallies

    method, tallies = tally_file(path)
    return score_tallies(tallies, method, **options)


@dataclass
class _Chunk:
    """Some rows in a row, as texts, all of one length."""

    path: Path
    places: dict[str, int]
    """Column to place in a row."""
    rows: list[list[str]]
    line: Callable[[int], int]
    """The line in the file on which the row at an index begins."""

    def __post_init__(self):
        self.answers = Counter(map(itemgetter(*map(self.places.get, _NEEDED)), self.rows))
        """How often each (model, evaluator, truth, response) stands here."""

    def column(self, name: str) -> Iterator[str]:
        return map(itemgetter(self.places[name]), self.rows)

    def refuse(self, column: str, expected: str, is_bad: Callable[[str], bool]) -> None:
        """Raise for the first row whose cell is bad."""
        i, cell = next((i, cell) for i, cell in enumerate(self.column(column)) if is_bad(cell))
        raise self.bad(i, column, expected, cell)

    def bad(self, i: int, column: str, expected: str, came: str) -> InvalidInput:
        return InvalidInput(f"{self.path} line {self.line(i)}: {column} must be {expected}, not {came!r}")


class _ResponsesFile:
    """A responses file being read once: checked so far, and its method, known from the first row."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.method: str | None = None
        self._is_stated = False
        self._wholes: dict[str, dict[str, int]] = {"block": {}, "trial_index": {}}
        self._exposures: dict[str, float] = {}
        self._trials: dict[Any, set[int]] = {}

    def chunks(self) -> Iterator[_Chunk]:
        """Yield the file's rows, about a thousand at a time, each checked."""
        read = _json_chunks if self.path.suffix in (".jsonl", ".ndjson") else _csv_chunks
        for chunk in read(self.path):
            self._check_answers(chunk)
            self._check_method(chunk)
            for column in self._wholes:
                self._check_whole(chunk, column)
            if self.method == "time":
                self._check_exposures(chunk)
            if "trial_index" in chunk.places:
                self._check_repeats(chunk)
            yield chunk
        if self.method is None:
            raise InvalidInput(f"{self.path} has no responses")

    def exposures(self, chunk: _Chunk) -> Counter:
        """Return how often each (model, evaluator, block, exposure in ms) stands in a checked chunk."""
        if self.method != "time":
            return Counter()
        columns = map(chunk.places.get, ("model", "evaluator", "block", "exposure_ms"))
        counted: Counter = Counter()
        for (model, evaluator, block, ms), count in Counter(map(itemgetter(*columns), chunk.rows)).items():
            counted[model, evaluator, self._wholes["block"][block], self._exposures[ms]] += count
        return counted

    def _check_answers(self, chunk: _Chunk) -> None:
        models, evaluators, truths, responses = map(set, zip(*chunk.answers, strict=True))
        for column, names in (("model", models), ("evaluator", evaluators)):
            if any(not name.strip() for name in names):
                chunk.refuse(column, "a name", lambda cell: not cell.strip())
        for column, values in (("truth", truths), ("response", responses)):
            if not values <= {"real", "fake"}:
                chunk.refuse(column, "'real' or 'fake'", lambda cell: cell not in ("real", "fake"))

    def _check_method(self, chunk: _Chunk) -> None:
        """Find the file's method in the first row and hold all others to it."""
        stated = set(chunk.column("method")) if "method" in chunk.places else {""}
        if not stated <= {"", "infinity", "time"}:
            chunk.refuse("method", "'infinity' or 'time'", lambda cell: cell not in ("", "infinity", "time"))
        has_exposures = "exposure_ms" in chunk.places
        if self.method is None:
            own = next(chunk.column("method")) if "method" in chunk.places else ""
            shown = next(chunk.column("exposure_ms")) if has_exposures else ""
            self._is_stated, self.method = own != "", own or ("time" if shown else "infinity")
            self._check_columns(chunk)
        expected = self.method if self._is_stated else ""
        if stated != {expected}:
            what = f"{expected!r} as in the rows before (score the methods apart)"
            chunk.refuse("method", what, lambda cell: cell != expected)
        is_inferred = not self._is_stated and has_exposures and self.method == "infinity"
        if is_inferred and any(set(chunk.column("exposure_ms"))):
            what = "empty as in the rows before (or let a column `method` say what the rows are)"
            chunk.refuse("exposure_ms", what, lambda cell: cell != "")

    def _check_columns(self, chunk: _Chunk) -> None:
        missing = [column for column in _NEEDED_FOR_TIME if column not in chunk.places]
        if self.method == "time" and missing:
            raise InvalidInput(
                f"{self.path} line 1: HYPE-time needs the columns {', '.join(_NEEDED_FOR_TIME)} too; "
                f"{', '.join(missing)} missing"
            )

    def _check_whole(self, chunk: _Chunk, column: str) -> None:
        if column not in chunk.places:
            return
        known = self._wholes[column]
        new = {text: _whole(text) for text in set(chunk.column(column)).difference(known)}
        if self.method == "infinity":
            new.pop("", None)
        bad = {text for text, number in new.items() if number is None}
        if bad:
            chunk.refuse(column, "a whole number from 0", bad.__contains__)
        known.update(new)

    def _check_exposures(self, chunk: _Chunk) -> None:
        new = {text: _number(text) for text in set(chunk.column("exposure_ms")).difference(self._exposures)}
        bad = {text for text, ms in new.items() if ms is None or ms <= 0}
        if bad:
            chunk.refuse("exposure_ms", "a number above 0 in every row of HYPE-time", bad.__contains__)
        self._exposures.update(new)

    def _check_repeats(self, chunk: _Chunk) -> None:
        """Refuse a trial that stands in the file twice; by session, or else by evaluator."""
        visit = [chunk.places["session"]] if "session" in chunk.places else []
        who = itemgetter(*visit, chunk.places["evaluator"], chunk.places["model"])
        known, trial = self._wholes["trial_index"], itemgetter(chunk.places["trial_index"])
        first = 0
        for visitor, rows in groupby(chunk.rows, key=who):
            texts = list(map(trial, rows))
            trials = [known[text] for text in texts if text]
            seen = self._trials.setdefault(visitor, set())
            if not seen.isdisjoint(trials) or len(set(trials)) < len(trials):
                self._refuse_repeat(chunk, first, texts, seen)
            seen.update(trials)
            first += len(texts)

    def _refuse_repeat(self, chunk: _Chunk, first: int, texts: Sequence[str], seen: set[int]) -> None:
        before = set(seen)
        for i, text in enumerate(texts, start=first):
            trial = self._wholes["trial_index"].get(text)
            if trial in before:
                evaluator = chunk.rows[i][chunk.places["evaluator"]]
                raise InvalidInput(
                    f"{self.path} line {chunk.line(i)}: trial_index {trial} of {evaluator} stands in the "
                    "file twice; each response must be there once"
                )
            if text:
                before.add(trial)


def _csv_chunks(path: Path) -> Iterator[_Chunk]:
    with _opened(path) as file:
        reader = csv.reader(file)
        try:
            header = next(reader, [])
            places = _places(path, header)
            first = reader.line_num + 1
            while rows := list(islice(reader, _CHUNK_ROWS)):
                yield from _csv_chunk(path, places, rows, len(header), first)
                first = reader.line_num + 1
        except csv.Error as error:
            raise InvalidInput(f"{path} line {reader.line_num}: must be CSV; {error}") from None
        except UnicodeDecodeError:
            raise _not_utf8(path) from None


def _places(path: Path, header: list[str]) -> dict[str, int]:
    """Return the place of each column, having checked that the needed ones are there, once each."""
    missing = [column for column in _NEEDED if column not in header]
    if missing:
        hint = "; columns are set apart by commas" if len(header) == 1 else ""
        raise InvalidInput(
            f"{path} line 1: the header must name the columns {', '.join(_NEEDED)}; "
            f"{', '.join(missing)} missing{hint}"
        )
    twice = [column for column in COLUMNS if header.count(column) > 1]
    if twice:
        raise InvalidInput(f"{path} line 1: the header must name a column once; {', '.join(twice)} repeated")
    return {column: place for place, column in enumerate(header)}


def _csv_chunk(
    path: Path, places: dict[str, int], rows: list[list[str]], width: int, first: int
) -> Iterator[_Chunk]:
    """Yield the rows as a chunk, without empty lines; nothing where they are all empty."""
    kept = rows if set(map(len, rows)) == {width} else [cells for cells in rows if cells]

    def line(i: int) -> int:
        end = next(place for place, cells in enumerate(rows) if cells is kept[i])
        return first + sum(map(_lines, rows[:end]))

    for i, cells in enumerate(kept if kept is not rows else ()):
        if len(cells) != width:
            raise InvalidInput(f"{path} line {line(i)}: expected {width} cells, got {len(cells)}")
    if kept:
        yield _Chunk(path, places, kept, line)


def _lines(cells: list[str]) -> int:
    """Return how many lines of the file a row takes; a quoted cell may hold line breaks."""
    return 1 + sum(len(re.findall("\r\n|\r|\n", cell)) for cell in cells)


def _json_chunks(path: Path) -> Iterator[_Chunk]:
    places = {column: place for place, column in enumerate(COLUMNS)}
    with _opened(path) as file:
        numbered = ((number, text) for number, text in enumerate(file, start=1) if text.strip())
        try:
            while some := list(islice(numbered, _CHUNK_ROWS)):
                rows = [_json_cells(path, number, text) for number, text in some]
                yield _Chunk(path, places, rows, lambda i, some=some: some[i][0])
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
    missing = [column for column in _NEEDED if column not in record]
    if missing:
        raise InvalidInput(f"{path} line {line}: {', '.join(missing)} missing")
    for column in COLUMNS:
        value = record.get(column)
        parts = value if isinstance(value, list) and column in ("mask_ms", "flags") else [value]
        if not all(part is None or isinstance(part, str) for part in parts):
            raise InvalidInput(f"{path} line {line}: {column} must be a text or a number, not {value!r}")
    return [_json_cell(record.get(column)) for column in COLUMNS]


def _json_cell(value: str | list[str] | None) -> str:
    return value if isinstance(value, str) else " ".join(value or ())


def _opened(path: Path) -> TextIO:
    try:
        return path.open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise NotFound(f"{path} could not be read: {error.strerror}") from None


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


def _value(chunk: _Chunk, i: int, column: str, text: str) -> Any:
    """Return the cell of a row as what its column holds; `i` is the row's place in its chunk."""
    if column in _WHOLE or column in _NUMBERS:
        number = _whole(text) if column in _WHOLE else _number(text)
        if number is None and text:
            what = "a whole number from 0" if column in _WHOLE else "a number"
            raise chunk.bad(i, column, what, text)
        return number
    if column in _LISTS:
        numbers = tuple(map(_number, text.split()))
        if None in numbers:
            raise chunk.bad(i, column, "numbers set apart by spaces", text)
        return numbers
    return tuple(text.split()) if column == "flags" else text


def _whole(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text) else None


def _number(text: str) -> float | None:
    """Return the finite number that a cell holds, or None."""
    try:
        number = float(text) if text.isascii() and "_" not in text else math.nan
    except ValueError:
        number = math.nan
    return number if math.isfinite(number) else None


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, (list, tuple)) else value
