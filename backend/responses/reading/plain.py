"""Plain CSV read at the speed of memory: whole columns at once, by numpy.

Plain is what nearly every program writes: UTF-8, one line a row, quotes only around cells. This
reader refuses nothing by itself: at the first doubt it raises `NotPlain`, and `careful.py`, which is
slower and words the refusals, reads the file instead.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from backend.analysis.response_table import FOR_INTERVALS, NAMES, NUMBERS, Answers, Coded, distinct
from backend.experiment.records import FAKE, REAL
from backend.experiment.response_columns import COLUMNS, NEEDED, NEEDED_FOR_TIME, truth_of
from backend.foundation.csv_formulas import is_escaped
from backend.responses.reading.cells import LONGEST, Cells, Levels, NotPlain

_BLOCK_BYTES = 2**20
_LONGEST_LINE = 2**20


def read_plain(path: Path, details: bool) -> Answers:
    """Return the answers of a responses file, as `careful.read_carefully` does.

    Raises:
        NotPlain: the careful reader has to read this file.
        OSError: there is no such file.
    """
    file = _PlainFile()
    for cells in _column_blocks(path):
        file.add(cells, details)
    return file.answers()


class _PlainFile:
    """A file being read: its columns so far."""

    def __init__(self) -> None:
        self.method: str | None = None
        self._levels: dict[str, Levels] = {}
        self._parts: dict[str, list[np.ndarray]] = {}

    def add(self, cells: dict[str, Cells], details: bool) -> None:
        """Take in a block of rows."""
        self._find_method(cells)
        is_time = self.method == "time"
        for name in ("model", "evaluator", *NAMES):
            is_wanted = details or name in (*NEEDED, *FOR_INTERVALS, "session")
            if name in cells and is_wanted:
                self._keep(name, self._code(name, cells[name]))
        for name in ("truth", "response"):
            self._keep(name, _are_fake(cells[name]))
        if "simulated" in cells:
            self._keep("simulated", _truth_values(cells["simulated"]))
        for name, key in (("block", "block"), ("trial_index", "trial")):
            if name in cells:
                numbers = cells[name].wholes()
                if is_time and numbers.min() < 0:
                    raise NotPlain
                self._keep(key, numbers.astype(np.int32))
        if is_time:
            self._keep("exposure_ms", self._exposures(cells["exposure_ms"]))
        for name in NUMBERS if details else FOR_INTERVALS if is_time else ():
            if name in cells and name in NUMBERS:
                self._keep(name, cells[name].numbers())

    def answers(self) -> Answers:
        """Return what was taken in."""
        if self.method is None:
            raise NotPlain
        if any(is_escaped(text) for levels in self._levels.values() for text in levels.texts):
            raise NotPlain
        columns = {name: np.concatenate(parts) for name, parts in self._parts.items()}
        coded = {
            name: Coded(columns[name], self._levels[name].texts) for name in self._levels if name != "method"
        }
        nameless = np.array([not name.strip() for name in coded["model"].names])[columns["model"]]
        is_fake = columns["truth"]
        if any(not name.strip() for name in coded["evaluator"].names) or (
            nameless.any() and ((nameless & is_fake).any() or not is_fake.any())
        ):
            raise NotPlain
        if "trial" in columns:
            _check_repeats(columns)
        is_time = self.method == "time"
        answers = Answers(
            self.method,
            coded["model"],
            coded["evaluator"],
            columns["truth"],
            columns["response"],
            distinct(columns["block"], int(columns["block"].max()) + 1)[1] if is_time else None,
            columns["exposure_ms"] if is_time else None,
            {name: coded[name] for name in NAMES if name in coded and any(coded[name].names)},
            {name: columns[name] for name in NUMBERS if _is_there(columns, name)},
            columns.get("simulated"),
        )
        return answers

    def _find_method(self, cells: dict[str, Cells]) -> None:
        """Find the method as `careful.ResponsesFile` does: what is stated, else what exposures tell."""
        exposures = cells.get("exposure_ms")
        if "method" in cells:
            self._code("method", cells["method"])
            if len(self._levels["method"].texts) > 1:
                raise NotPlain
        stated = self._levels["method"].texts[0] if "method" in cells else ""
        inferred = "time" if exposures is not None and exposures.lengths[0] else "infinity"
        if self.method is None:
            self.method = stated or inferred
        if self.method not in ("infinity", "time"):
            raise NotPlain
        if self.method == "time" and any(name not in cells for name in NEEDED_FOR_TIME):
            raise NotPlain
        if not stated and self.method == "infinity" and exposures is not None and exposures.lengths.any():
            raise NotPlain

    def _code(self, name: str, cells: Cells) -> np.ndarray:
        return self._levels.setdefault(name, Levels()).codes(cells)

    def _exposures(self, cells: Cells) -> np.ndarray:
        numbers = cells.numbers()
        if not (numbers > 0).all():
            raise NotPlain
        return numbers

    def _keep(self, name: str, part: np.ndarray) -> None:
        self._parts.setdefault(name, []).append(part)


def _are_fake(cells: Cells) -> np.ndarray:
    """Tell of each cell whether it says `fake`, as `response_columns.truth_of` reads it."""
    is_fake = cells.are(FAKE)
    if (is_fake | cells.are(REAL)).all():
        return is_fake
    levels = Levels()
    codes = levels.codes(cells)
    truths = [truth_of(text) for text in levels.texts]
    if None in truths:
        raise NotPlain
    return np.array([truth == FAKE for truth in truths])[codes]


def _truth_values(cells: Cells) -> np.ndarray:
    """Return which cells are true; of other ways to write it the careful reader knows."""
    is_true = cells.are("true") | cells.are("True")
    if not (is_true | cells.are("false") | cells.are("False") | (cells.lengths == 0)).all():
        raise NotPlain
    return is_true


def _is_there(columns: dict[str, np.ndarray], name: str) -> bool:
    return name in columns and not np.isnan(columns[name]).all()


def _check_repeats(columns: dict[str, np.ndarray]) -> None:
    """Doubt a file in which a trial stands twice; by session, or else by evaluator."""
    visit = columns["evaluator"].astype(np.int64)
    for name in ("model", "session"):
        if name in columns:
            visit = visit * (int(columns[name].max()) + 1) + columns[name]
    if visit.max() >= 2**31:
        visit = np.unique(visit, return_inverse=True)[1]
    trials = np.sort((visit << 32 | columns["trial"])[columns["trial"] >= 0])
    if (trials[1:] == trials[:-1]).any():
        raise NotPlain


def _column_blocks(path: Path) -> Iterator[dict[str, Cells]]:
    """Yield the rows of a file, about a megabyte at a time, by known column."""
    with path.open("rb") as file:
        header = file.readline().removeprefix(b"\xef\xbb\xbf")
        if b"\r" in header.rstrip(b"\r\n") or header.count(b'"') % 2:
            raise NotPlain
        names = next(csv.reader([_text(header)]), [])
        known = [name for name in names if name in COLUMNS]
        if len(set(known)) < len(known) or not set(NEEDED) <= set(known):
            raise NotPlain
        for block in _blocks(file):
            data, starts, lengths = _split(block, len(names))
            yield {
                name: Cells(data, starts[:, i], lengths[:, i])
                for i, name in enumerate(names)
                if name in known
            }


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """Yield whole lines, each ended by a line feed."""
    rest = b""
    while part := file.read(_BLOCK_BYTES):
        whole, _, rest = (rest + part).rpartition(b"\n")
        if whole:
            yield _unquoted((whole + b"\n").replace(b"\r\n", b"\n"))
        if len(rest) > _LONGEST_LINE:
            raise NotPlain
    if rest := rest.rstrip(b"\r\n"):
        yield _unquoted(rest + b"\n")


def _unquoted(block: bytes) -> bytes:
    """Return the block without the quotes that stand around cells and do nothing there."""
    _text(block)
    if b"\r" in block or b"\0" in block:
        raise NotPlain
    if b'"' not in block:
        return block
    data = np.frombuffer(b"\n" + block, np.uint8)
    separators = np.flatnonzero((data == ord(",")) | (data == ord("\n")))
    quotes = np.flatnonzero(data == ord('"'))
    if len(quotes) % 2:
        raise NotPlain
    opening, closing = quotes[::2], quotes[1::2]
    is_around = np.isin(data[opening - 1], (ord(","), ord("\n"))) & np.isin(
        data[closing + 1], (ord(","), ord("\n"))
    )
    is_bare = np.searchsorted(separators, opening) == np.searchsorted(separators, closing)
    if not np.all(is_around & is_bare):
        raise NotPlain
    return block.replace(b'"', b"")


def _split(block: bytes, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (bytes, starts, lengths), the last two of shape (rows, width)."""
    data = np.frombuffer(block + bytes(LONGEST + 8), np.uint8)
    ends = np.flatnonzero((data == ord(",")) | (data == ord("\n")))
    if len(ends) % width:
        raise NotPlain
    starts = np.concatenate([[0], ends[:-1] + 1]).reshape(-1, width)
    ends = ends.reshape(-1, width)
    is_line_end = data[ends] == ord("\n")
    lengths = ends - starts
    if not is_line_end[:, -1].all() or is_line_end[:, :-1].any() or lengths.max() > LONGEST:
        raise NotPlain
    return data, starts, lengths


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise NotPlain from None
