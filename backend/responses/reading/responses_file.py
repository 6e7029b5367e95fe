"""A responses file as columns; every cell is checked, and the error for a bad one states line and column."""

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from backend.analysis.table.response_table import (
    FOR_INTERVALS,
    NAMES,
    NUMBERS,
    PLACES,
    WORDS,
    Answers,
    Coder,
    distinct,
    from_words,
    if_any,
    truth_value,
)
from backend.analysis.table.unscored_rows import excluded_of, scored_only
from backend.experiment import follow_ups
from backend.experiment.judgment import Method
from backend.experiment.judgments import METHODS, either, judgment_of, method_named
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.records import REAL, TEST, TRIAL_KINDS, TRUTHS
from backend.experiment.response_columns import (
    compared_exposure_of,
    exposure_of,
    number,
    truth_of,
    whole,
    word_of,
)
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean
from backend.responses.reading.chunks import Chunk, chunks_of, line_of
from backend.responses.reading.rewritten_cells import MISSING, NAN

_NO_EXPOSURES, _EXPOSURES = "infinity", "time"
"""The methods of files that state none, without and with exposures."""


def read_columns(path: Path, details: bool) -> Answers:
    """Return the responses of a file.

    Args:
        details: include the columns of `response_table.NAMES` and `response_table.NUMBERS` that the file has.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: a row is invalid, or columns are missing.
    """
    file = ResponsesFile(path)
    wanted = NAMES if details else (*FOR_INTERVALS, *PLACES)
    texts = {name: Coder() for name in NAMES if name != "session" and name in wanted}
    words = {name: Coder() for name in WORDS}
    blocks, kinds, excluded = Coder(), Coder(), Coder()
    parts: dict[str, list[np.ndarray]] = {}
    for chunk in file.chunks():
        for name in texts.keys() & chunk.columns.keys():
            texts[name].add(chunk.columns[name])
        if file.has_blocks:
            blocks.add([file.integers["block"][cell] for cell in chunk.columns["block"]])
        for name, coder in (("trial_kind", kinds), ("excluded", excluded)):
            coder.add(chunk.columns.get(name) or [""] * len(chunk))
        if file.answers != TRUTHS:
            for name, coder in words.items():
                coder.add([cell.strip().lower() for cell in chunk.columns[name]])
        for name, column in _arrays(file, chunk, details):
            parts.setdefault(name, []).append(column)
    columns = {name: np.concatenate(arrays) for name, arrays in parts.items()}
    coded = {name: coder.coded() for name, coder in (texts | file.coders).items()}
    assert file.method is not None  # of the first chunk
    answers = Answers(
        file.method,
        coded["model"],
        coded["evaluator"],
        columns["truth"],
        columns["response"],
        blocks.coded().codes if file.has_blocks else None,
        columns.get("exposure_ms"),
        {name: coded[name] for name in NAMES if name in coded and _has_names(coded[name].names)}
        | ({} if file.answers == TRUTHS else {name: coder.coded() for name, coder in words.items()}),
        {name: columns[name] for name in NUMBERS if name in columns and not np.isnan(columns[name]).all()},
        columns.get("simulated"),
        not_sure=if_any(columns[NOT_SURE]),
    )
    if file.answers != TRUTHS:
        answers = from_words(answers)
    if file.unnamed_error and not answers.is_fake.any():
        raise file.unnamed_error
    scored = scored_only(answers, kinds.coded(), excluded_of(excluded.coded()))
    return scored if file.has_trials else _with_repeats_noted(scored)


def _has_names(names: Sequence[str]) -> bool:
    """Return whether a column has names: R writes NA in each cell of one that is empty."""
    return any(names) and not (len(names) == 1 and names[0] in MISSING | {NAN})


def _with_repeats_noted(answers: Answers) -> Answers:
    """Return answers with a note on rows that repeat others, as after a merge, if pictures are named."""
    if not (stimulus := answers.texts.get("stimulus")) or not len(answers):
        return answers
    named = (answers.model, answers.evaluator, stimulus, *(answers.texts.get(name) for name in WORDS))
    columns = [column.codes for column in named if column is not None]
    if answers.exposure_ms is not None:
        columns.append(np.unique(answers.exposure_ms, return_inverse=True)[1])
    keys, size = np.zeros(len(answers), np.int64), 1
    for codes in (*columns, answers.is_fake, answers.said_fake):
        span = int(codes.max()) + 1
        keys, size = _joined(keys * span + codes, size * span)
    if size == len(answers):
        return answers
    note = (
        f"{len(answers) - size:,} of {len(answers):,} responses repeat another in evaluator, stimulus, truth "
        "and response; if the file was merged from several, each response must be in it once (a column "
        "trial_index tells)"
    )
    return replace(answers, notes=(*answers.notes, note))


def _arrays(file: "ResponsesFile", chunk: Chunk, details: bool) -> Iterator[tuple[str, np.ndarray]]:
    second = file.answers[1:2]
    for name in WORDS:
        yield name, _translated(chunk.columns[name], lambda cell: word_of(cell, second) is not None, bool)
    yield NOT_SURE, _translated(chunk.columns["response"], lambda cell: bool(word_of(cell, [NOT_SURE])), bool)
    if "simulated" in chunk.columns:
        yield "simulated", _translated(chunk.columns["simulated"], truth_value, bool)
    if file.own.has_exposures:
        yield "exposure_ms", _translated(chunk.columns["exposure_ms"], compared_exposure_of, float)
    for name in NUMBERS:
        if name in chunk.columns and (details or name in file.own.numbers_scored):
            yield name, _numbers(chunk, name)


def _translated(cells: Sequence[str], value: Callable[[str], Any], kind: type) -> np.ndarray:
    """Return the value of each cell; it is computed once for each distinct text."""
    values = {cell: value(cell) for cell in set(cells)}
    return np.fromiter(map(values.__getitem__, cells), kind, len(cells))


def _numbers(chunk: Chunk, name: str) -> np.ndarray:
    """Return the numbers of a column; NaN for an empty cell."""
    cells = chunk.columns[name]
    try:
        numbers = np.array([*map(float, cells)])  # fast path, if `number` would accept every cell
        together = "".join(cells)
        if together.isascii() and "_" not in together and np.isfinite(numbers).all():
            return numbers
    except ValueError:
        pass
    each = [number(cell) if cell else math.nan for cell in cells]
    if None in each:
        chunk.refuse(name, "a number", lambda cell: bool(cell) and number(cell) is None)
    return np.array(each, float)


class ResponsesFile:
    """State of one pass over a responses file: its method, from the first row, and what checks need."""

    def __init__(self, path: Path):
        self.path = Path(path)
        self.method: str | None = None
        self.unnamed_error: InvalidInput | None = None
        """The error for the first real without a model; raised only if the file has no fakes."""
        self.coders = {"evaluator": Coder()}
        """Evaluators, models and, if the file has them, sessions of the rows read so far."""
        self.answers: tuple[str, ...] = TRUTHS
        """The possible responses, by the method that the file states."""
        self.integers: dict[str, dict[str, int]] = {"block": {}, "trial_index": {}}
        """The integers in these columns, by the text of their cells; -1 for an empty cell."""
        self._is_stated = False
        self._trials: list[np.ndarray] = []

    @property
    def own(self) -> Method:
        """The method; only once a chunk was read."""
        return method_named(self.method or "")

    @property
    def has_trials(self) -> bool:
        """Whether the file numbers trials, of which no two may then be the same."""
        return any((trials >= 0).any() for trials in self._trials)

    @property
    def has_blocks(self) -> bool:
        """Whether rows must name their blocks."""
        return "block" in self.own.needs_columns

    def chunks(self) -> Iterator[Chunk]:
        """Yield the file's rows, checked, about two thousand at a time.

        Raises:
            InvalidInput: a row is invalid, or the file has no rows.
        """
        for chunk in chunks_of(self.path):
            self._check_answers(chunk)
            self._check_method(chunk)
            for column in self.integers.keys() & chunk.columns.keys():
                self._check_integers(chunk, column)
            if self.own.has_exposures:
                self._check_exposures(chunk)
            _check_follow_ups(chunk)
            for column in ("model", "session"):
                if column in chunk.columns:
                    self.coders.setdefault(column, Coder()).add(chunk.columns[column])
            if "trial_index" in chunk.columns:
                numbers = map(self.integers["trial_index"].__getitem__, chunk.columns["trial_index"])
                self._trials.append(np.fromiter(numbers, np.int64, len(chunk)))
            yield chunk
        if self.method is None:
            raise InvalidInput(f"{self.path} has no responses")
        if self._trials:
            self._check_repeats()

    def _check_answers(self, chunk: Chunk) -> None:
        if not all(map(str.strip, self.coders["evaluator"].add(chunk.columns["evaluator"]))):
            chunk.refuse("evaluator", "a name", lambda cell: not cell.strip())
        if not all(map(str.strip, set(chunk.columns["model"]))):
            self._check_unnamed(chunk)
        judgment = judgment_of(self._stated(chunk) or _NO_EXPOSURES)
        self.answers = judgment.answers
        truths = judgment.answers if judgment.has_truth else (*judgment.answers, "")
        possible = judgment.possible_answers(self._method_of(chunk))
        for column, words in (("truth", truths), ("response", possible)):
            bad = {cell for cell in set(chunk.columns[column]) if cell.strip().lower() not in words}
            if bad:
                chunk.refuse(column, either(words), bad.__contains__)
        for column in ("simulated", "excluded"):
            if column in chunk.columns and None in map(truth_value, set(chunk.columns[column])):
                chunk.refuse(column, "true or false", lambda cell: truth_value(cell) is None)
        if not set(chunk.columns.get("trial_kind", ())) <= {"", *TRIAL_KINDS}:
            chunk.refuse("trial_kind", either(TRIAL_KINDS), lambda cell: cell not in ("", *TRIAL_KINDS))

    def _stated(self, chunk: Chunk) -> str:
        """Return the method that a chunk's first row states; "" if none, or an unknown one."""
        stated = chunk.columns["method"][0] if "method" in chunk.columns else ""
        return stated if stated in METHODS else ""

    def _method_of(self, chunk: Chunk) -> str:
        """Return the method of a chunk's first row, by its exposure if it states none."""
        shown = chunk.columns["exposure_ms"][0] if "exposure_ms" in chunk.columns else ""
        return self._stated(chunk) or (_EXPOSURES if shown else _NO_EXPOSURES)

    def _check_unnamed(self, chunk: Chunk) -> None:
        """Raise InvalidInput for a fake without a model; a real may belong to no model."""
        kinds = chunk.columns.get("trial_kind") or [""] * len(chunk)
        cells = zip(chunk.columns["model"], chunk.columns["truth"], kinds, strict=True)
        unnamed = [
            (i, model, truth)
            for i, (model, truth, kind) in enumerate(cells)
            if not model.strip() and kind in ("", TEST)
        ]
        for i, model, truth in unnamed:
            refusal = chunk.cell_error(i, "model", "a name", model)
            if truth_of(truth) != REAL:
                raise refusal
            self.unnamed_error = self.unnamed_error or refusal

    def _check_method(self, chunk: Chunk) -> None:
        """Take the file's method from its first row, and check that all other rows agree with it."""
        stated = set(chunk.columns["method"]) if "method" in chunk.columns else {""}
        if not stated <= {"", *METHODS}:
            chunk.refuse("method", either(METHODS), lambda cell: cell not in ("", *METHODS))
        has_exposures = "exposure_ms" in chunk.columns
        if self.method is None:
            self._is_stated, self.method = self._stated(chunk) != "", self._method_of(chunk)
            self._check_columns(chunk)
        expected = self.method if self._is_stated else ""
        if stated != {expected}:
            what = f"{expected!r} as in the rows before (score the methods separately)"
            chunk.refuse("method", what, lambda cell: cell != expected)
        is_inferred = not self._is_stated and has_exposures and self.method == _NO_EXPOSURES
        if is_inferred and any(set(chunk.columns["exposure_ms"])):
            what = "empty as in the rows before (or let a column `method` say what the rows are)"
            chunk.refuse("exposure_ms", what, lambda cell: cell != "")

    def _check_columns(self, chunk: Chunk) -> None:
        needed = self.own.needs_columns
        missing = [column for column in needed if column not in chunk.columns]
        if missing:
            raise InvalidInput(
                f"{self.path} line 1: {self.own.title} needs the columns "
                f"{', '.join(needed)} too; {', '.join(missing)} missing"
            )

    def _check_integers(self, chunk: Chunk, column: str) -> None:
        known = self.integers[column]
        new = {text: whole(text) for text in set(chunk.columns[column]).difference(known)}
        if not self.has_blocks and "" in new:
            new[""] = -1
        bad = {text for text, number in new.items() if number is None}
        if bad:
            chunk.refuse(column, "a whole number from 0", bad.__contains__)
        known.update({text: number for text, number in new.items() if number is not None})

    def _check_exposures(self, chunk: Chunk) -> None:
        exposures = {text: exposure_of(text) for text in set(chunk.columns["exposure_ms"])}
        longest, what = math.inf, "a number above 0, or empty or 'unlimited' without time limit"
        if self.has_blocks:
            longest, what = sys.float_info.max, "a number above 0 in every row of HYPE-time"
        bad = {text for text, ms in exposures.items() if not 0 < ms <= longest}
        if bad:
            chunk.refuse("exposure_ms", what, bad.__contains__)

    def _check_repeats(self) -> None:
        """Raise InvalidInput if a trial is in the file twice, by session, model (if any) and evaluator."""
        trials = np.concatenate(self._trials)
        rows = np.flatnonzero(trials >= 0)
        keys, size = _joined(trials[rows], int(trials.max()) + 1)
        coded = {name: coder.coded() for name, coder in self.coders.items()}
        for column in coded.values():
            names: dict[str, int] = {}
            cleaned = np.array([names.setdefault(clean(name), len(names)) for name in column.names])
            keys, size = _joined(keys * len(names) + cleaned[column.codes[rows]], size * len(names))
        if size < len(keys):
            is_first = np.zeros(len(keys), bool)
            is_first[np.unique(keys, return_index=True)[1]] = True
            row, evaluator = rows[~is_first][0], coded["evaluator"]
            raise InvalidInput(
                f"{self.path} line {line_of(self.path, row)}: trial_index {trials[row]} of "
                f"{evaluator.names[evaluator.codes[row]]} is in the file twice; each response must occur "
                "once"
            )


def _check_follow_ups(chunk: Chunk) -> None:
    """Raise InvalidInput for the first row whose confidence, reasons or mark cannot be."""
    for column, (expected, is_valid) in _FOLLOW_UPS.items():
        bad = {cell for cell in set(chunk.columns.get(column, ())) if cell.strip() and not is_valid(cell)}
        if bad:
            chunk.refuse(column, expected, bad.__contains__)
    if {"confidence", "confidence_points"} <= chunk.columns.keys():
        _check_confidences(chunk)


def _check_confidences(chunk: Chunk) -> None:
    """Raise InvalidInput for the first row whose confidence is not on the scale that the row states."""
    pairs = list(zip(chunk.columns["confidence"], chunk.columns["confidence_points"], strict=True))
    for confidence, points in dict.fromkeys(pairs):
        if confidence.strip() and points.strip():
            low, high = follow_ups.confidence_range(int(points))
            if not low <= float(confidence) <= high:
                expected = f"from {low} to {high}, by its confidence_points"
                raise chunk.cell_error(pairs.index((confidence, points)), "confidence", expected, confidence)


def _are_reasons(cell: str) -> bool:
    """Return whether numbers can be places in a list; files from elsewhere name reasons by words instead."""
    return all(whole(part) for part in cell.split() if number(part) is not None)


def _is_mark(cell: str) -> bool:
    parts = cell.split()
    mark = [known for part in parts if (known := number(part)) is not None]
    return len(mark) == len(parts) and follow_ups.is_mark(mark)


_FOLLOW_UPS: dict[str, tuple[str, Callable[[str], bool]]] = {
    "confidence": ("a number", lambda cell: number(cell) is not None),
    "confidence_points": ("a whole number above 1", lambda cell: (whole(cell) or 0) > 1),
    "confidence_rt": ("a number", lambda cell: number(cell) is not None),
    "reasons": ("whole numbers from 1, or words, separated by spaces", _are_reasons),
    "mark": (follow_ups.MARK_FORM, _is_mark),
}
"""What a cell must be, by column, where it is not empty."""


def _joined(codes: np.ndarray, size: int) -> tuple[np.ndarray, int]:
    """Return codes below `size` renumbered as 0, 1, … without gaps, and the number of distinct codes."""
    pairs, places = distinct(codes, size)
    return places, len(pairs)
