"""Reading a responses file with care: every cell checked, the first bad one refused by line and column."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from backend.analysis.response_table import FOR_INTERVALS, NAMES, NUMBERS, Answers, Coder, truth_value
from backend.experiment.judgments import METHODS, check_analysed, either
from backend.experiment.records import FAKE, REAL, TRUTHS
from backend.experiment.response_columns import NEEDED_FOR_TIME, number, truth_of, whole
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean
from backend.responses.reading.chunks import Chunk, csv_chunks, json_chunks


def is_json(path: Path) -> bool:
    """Tell whether a file is read as JSON lines."""
    return path.suffix in (".jsonl", ".ndjson")


def method_of(path: Path) -> str:
    """Return the method of a responses file, by its first rows.

    Raises:
        NotFound: there is no such file.
        InvalidInput: a bad row among the first, columns that are missing, or no rows.
    """
    file = ResponsesFile(path)
    next(file.chunks(), None)
    return file.method or ""


def read_carefully(path: Path, details: bool) -> Answers:
    """Return the answers of a responses file.

    Args:
        details: with the columns of `response_table.NAMES` and `response_table.NUMBERS` that the file has.

    Raises:
        NotFound: there is no such file.
        InvalidInput: the first bad row found, or columns that are missing.
    """
    file = ResponsesFile(path)
    texts = {name: Coder() for name in ("model", "evaluator", "block", *NAMES)}
    parts: dict[str, list[np.ndarray]] = {}
    for chunk in file.chunks():
        check_analysed(file.method or "")
        kept = ["model", "evaluator", "session", *(["block"] if file.method == "time" else [])]
        wanted = [name for name in NAMES if details or name in FOR_INTERVALS]
        for name in dict.fromkeys([*kept, *wanted]):
            if name in chunk.places:
                texts[name].add(file.blocks(chunk) if name == "block" else chunk.column(name))
        if "simulated" in chunk.places:
            parts.setdefault("simulated", []).append(file.simulated(chunk))
        for name, column in _numbers(file, chunk, details):
            parts.setdefault(name, []).append(column)
    columns = {name: np.concatenate(some) for name, some in parts.items()}
    coded = {name: coder.coded() for name, coder in texts.items()}
    answers = Answers(
        file.method,
        coded["model"],
        coded["evaluator"],
        columns["truth"],
        columns["response"],
        coded["block"].codes if file.method == "time" else None,
        columns.get("exposure_ms"),
        {name: coded[name] for name in NAMES if any(coded[name].names)},
        {name: columns[name] for name in NUMBERS if name in columns and not np.isnan(columns[name]).all()},
        columns.get("simulated"),
    )
    if file.nameless and not answers.is_fake.any():
        raise file.nameless
    return answers


def _numbers(file: "ResponsesFile", chunk: Chunk, details: bool) -> Iterator[tuple[str, np.ndarray]]:
    for name in ("truth", "response"):
        fakes = {cell for cell in set(chunk.column(name)) if truth_of(cell) == FAKE}
        yield name, np.fromiter(map(fakes.__contains__, chunk.column(name)), bool, len(chunk.rows))
    if file.method == "time":
        yield "exposure_ms", file.exposures(chunk)
    for name in NUMBERS:
        if name in chunk.places and (details or (file.method == "time" and name in FOR_INTERVALS)):
            cells = [number(cell) if cell else np.nan for cell in chunk.column(name)]
            if None in cells:
                chunk.refuse(name, "a number", lambda cell: bool(cell) and number(cell) is None)
            yield name, np.asarray(cells, float)


class ResponsesFile:
    """A responses file being read once: checked so far, and its method, known from the first row."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.method: str | None = None
        self.nameless: InvalidInput | None = None
        """The refusal of the first real that names no model, due where no fakes do."""
        self._is_stated = False
        self._wholes: dict[str, dict[str, int]] = {"block": {}, "trial_index": {}}
        self._exposures: dict[str, float] = {}
        self._trials: dict[Any, set[int]] = {}

    def chunks(self) -> Iterator[Chunk]:
        """Yield the file's rows, about a thousand at a time, each checked."""
        read = json_chunks if is_json(self.path) else csv_chunks
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

    def blocks(self, chunk: Chunk) -> Iterator[int]:
        """Yield the block of each row of a checked chunk of HYPE-time."""
        return map(self._wholes["block"].__getitem__, chunk.column("block"))

    def exposures(self, chunk: Chunk) -> np.ndarray:
        """Return the exposure (ms) of each row of a checked chunk of HYPE-time."""
        cells = map(self._exposures.__getitem__, chunk.column("exposure_ms"))
        return np.fromiter(cells, float, len(chunk.rows))

    def simulated(self, chunk: Chunk) -> np.ndarray:
        """Return of each row of a checked chunk whether it is of a simulated session."""
        cells = map(truth_value, chunk.column("simulated"))
        return np.fromiter(cells, bool, len(chunk.rows))

    def _check_answers(self, chunk: Chunk) -> None:
        if any(not name.strip() for name in set(chunk.column("evaluator"))):
            chunk.refuse("evaluator", "a name", lambda cell: not cell.strip())
        if any(not name.strip() for name in set(chunk.column("model"))):
            self._check_nameless(chunk)
        answers = self._answers(chunk)
        for column in ("truth", "response"):
            bad = {cell for cell in set(chunk.column(column)) if cell.strip().lower() not in answers}
            if bad:
                chunk.refuse(column, either(answers), bad.__contains__)
        if "simulated" in chunk.places and None in map(truth_value, set(chunk.column("simulated"))):
            chunk.refuse("simulated", "true or false", lambda cell: truth_value(cell) is None)

    def _answers(self, chunk: Chunk) -> tuple[str, ...]:
        """Return what may be answered, by the method that the file states."""
        stated = next(chunk.column("method")) if "method" in chunk.places else ""
        return METHODS[stated].answers if stated in METHODS else TRUTHS

    def _check_nameless(self, chunk: Chunk) -> None:
        """Refuse a row without a model's name but for one of a real, which may belong to no model."""
        cells = zip(chunk.column("model"), chunk.column("truth"), strict=True)
        nameless = [(i, model, truth) for i, (model, truth) in enumerate(cells) if not model.strip()]
        for i, model, truth in nameless:
            refusal = chunk.bad(i, "model", "a name", model)
            if truth_of(truth) != REAL:
                raise refusal
            self.nameless = self.nameless or refusal

    def _check_method(self, chunk: Chunk) -> None:
        """Find the file's method in the first row and hold all others to it."""
        stated = set(chunk.column("method")) if "method" in chunk.places else {""}
        if not stated <= {"", *METHODS}:
            chunk.refuse("method", either(METHODS), lambda cell: cell not in ("", *METHODS))
        has_exposures = "exposure_ms" in chunk.places
        if self.method is None:
            own = next(chunk.column("method")) if "method" in chunk.places else ""
            shown = next(chunk.column("exposure_ms")) if has_exposures else ""
            self._is_stated, self.method = own != "", own or ("time" if shown else "infinity")
            self._check_columns(chunk)
        expected = self.method if self._is_stated else ""
        if stated != {expected}:
            what = f"{expected!r} as in the rows before (score the methods separately)"
            chunk.refuse("method", what, lambda cell: cell != expected)
        is_inferred = not self._is_stated and has_exposures and self.method == "infinity"
        if is_inferred and any(set(chunk.column("exposure_ms"))):
            what = "empty as in the rows before (or let a column `method` say what the rows are)"
            chunk.refuse("exposure_ms", what, lambda cell: cell != "")

    def _check_columns(self, chunk: Chunk) -> None:
        missing = [column for column in NEEDED_FOR_TIME if column not in chunk.places]
        if self.method == "time" and missing:
            raise InvalidInput(
                f"{self.path} line 1: HYPE-time needs the columns {', '.join(NEEDED_FOR_TIME)} too; "
                f"{', '.join(missing)} missing"
            )

    def _check_whole(self, chunk: Chunk, column: str) -> None:
        if column not in chunk.places:
            return
        known = self._wholes[column]
        new = {text: whole(text) for text in set(chunk.column(column)).difference(known)}
        if self.method != "time":
            new.pop("", None)
        bad = {text for text, number in new.items() if number is None}
        if bad:
            chunk.refuse(column, "a whole number from 0", bad.__contains__)
        known.update(new)

    def _check_exposures(self, chunk: Chunk) -> None:
        new = {text: number(text) for text in set(chunk.column("exposure_ms")).difference(self._exposures)}
        bad = {text for text, ms in new.items() if ms is None or ms <= 0}
        if bad:
            chunk.refuse("exposure_ms", "a number above 0 in every row of HYPE-time", bad.__contains__)
        self._exposures.update(new)

    def _check_repeats(self, chunk: Chunk) -> None:
        """Refuse a trial that stands in the file twice; by session, or else by evaluator."""
        visit = [chunk.places["session"]] if "session" in chunk.places else []
        who = itemgetter(*visit, chunk.places["evaluator"], chunk.places["model"])
        known, trial = self._wholes["trial_index"], itemgetter(chunk.places["trial_index"])
        first = 0
        for visitor, rows in groupby(chunk.rows, key=who):
            texts = list(map(trial, rows))
            trials = [known[text] for text in texts if text]
            seen = self._trials.setdefault(tuple(map(clean, visitor)), set())
            if not seen.isdisjoint(trials) or len(set(trials)) < len(trials):
                self._refuse_repeat(chunk, first, texts, seen)
            seen.update(trials)
            first += len(texts)

    def _refuse_repeat(self, chunk: Chunk, first: int, texts: Sequence[str], seen: set[int]) -> None:
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
