"""Votes on triplets and pairs, read from a responses file (`openhype export`, or collected anywhere)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from backend.analysis.agreement.votes import JND, KINDS, TWO_AFC, VoteCounter, Votes
from backend.analysis.table.response_table import truth_value
from backend.experiment.records import TEST, TRIAL_KINDS
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean
from backend.responses.reading.chunks import Chunk, chunks_of

_NEEDED = ("item", "model", "evaluator", "response")
_PLACES = ("left", "right")
_PARTS = ("p0", "p1")
_ANSWERS = {TWO_AFC: _PLACES, JND: ("same", "different")}


def read_votes(path: Path, simulated: bool = False) -> Votes:
    """Return the votes of a file's scored responses.

    The kind is that of the column `method`; without it, that of the first response. For a file with real
    and simulated sessions, return the real ones.

    Args:
        simulated: return the simulated sessions of the file instead.

    Raises:
        NotFound: the file does not exist.
        InvalidInput: a row is invalid, columns are missing, or no row is left.
    """
    kind = ""
    real, drawn = VoteCounter(kind), VoteCounter(kind)
    for chunk in chunks_of(path, _NEEDED):
        if not kind:
            kind = _kind(chunk)
            real, drawn = VoteCounter(kind), VoteCounter(kind)
        _check(chunk, kind)
        for row in _rows(chunk):
            (drawn if row["simulated"] else real).add(row)
    if not real.rows + drawn.rows:
        raise InvalidInput(f"{path} has no responses")
    if simulated and not drawn.rows:
        raise InvalidInput(f"{path} has no responses of simulated sessions; leave --simulated out")
    wanted = simulated or not real.rows
    return (drawn if wanted else real).votes(wanted)


def _rows(chunk: Chunk) -> Iterator[dict[str, Any]]:
    names = [
        name for name in (*_NEEDED, *_PLACES, "trial_kind", "excluded", "simulated") if name in chunk.columns
    ]
    columns = (map(clean, chunk.columns[name]) for name in names)
    for cells in zip(*columns, strict=True):
        row: dict[str, Any] = dict(zip(names, cells, strict=True))
        row["response"] = row["response"].strip().lower()
        yield {
            **row,
            "excluded": truth_value(row.get("excluded")),
            "simulated": truth_value(row.get("simulated")),
        }


def _kind(chunk: Chunk) -> str:
    stated = chunk.columns["method"][0] if "method" in chunk.columns else ""
    if stated:
        if stated not in KINDS:
            raise chunk.cell_error(0, "method", "2afc or jnd", stated)
        return stated
    first = chunk.columns["response"][0].strip().lower()
    for kind, answers in _ANSWERS.items():
        if first in answers:
            return kind
    raise chunk.cell_error(0, "response", "left or right (2AFC), or same or different (JND)", first)


def _check(chunk: Chunk, kind: str) -> None:
    """Raise InvalidInput for the first cell that is not what a vote of this kind has."""
    if kind == TWO_AFC and (missing := [name for name in _PLACES if name not in chunk.columns]):
        raise InvalidInput(
            f"{chunk.path} line 1: 2AFC needs the columns left and right, with p0 and p1 as they stood; "
            f"{', '.join(missing)} missing"
        )
    _check_column(chunk, "method", ("", kind))
    _check_column(chunk, "response", _ANSWERS[kind], ignore_case=True)
    _check_column(chunk, "trial_kind", ("", *TRIAL_KINDS))
    for column in ("simulated", "excluded"):
        if column in chunk.columns and None in map(truth_value, set(chunk.columns[column])):
            chunk.refuse(column, "true or false", lambda cell: truth_value(cell) is None)
    if not all(map(str.strip, set(chunk.columns["evaluator"]))):
        chunk.refuse("evaluator", "a name", lambda cell: not cell.strip())
    kinds = chunk.columns.get("trial_kind") or [""] * len(chunk)
    scored = [i for i, name in enumerate(kinds) if name in ("", TEST)]
    for column in ("item", "model"):
        for i in scored:
            if not chunk.columns[column][i].strip():
                raise chunk.cell_error(i, column, "a name", chunk.columns[column][i])
    if kind == TWO_AFC:
        for i in scored:
            places = [chunk.columns[name][i] for name in _PLACES]
            if sorted(places) != [*_PARTS]:
                raise chunk.cell_error(i, "left, right", "p0 and p1 in either order", ", ".join(places))


def _check_column(chunk: Chunk, column: str, allowed: Sequence[str], ignore_case: bool = False) -> None:
    if column not in chunk.columns:
        return

    def is_bad(cell: str) -> bool:
        return (cell.strip().lower() if ignore_case else cell) not in allowed

    if any(map(is_bad, set(chunk.columns[column]))):
        expected = " or ".join(name or "empty" for name in allowed)
        chunk.refuse(column, expected, is_bad)
