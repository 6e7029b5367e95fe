"""Conversion of rows of plain data to a response table, with checks."""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from backend.analysis.table.response_table import (
    NAMES,
    NUMBERS,
    WORDS,
    Answers,
    Coder,
    from_words,
    if_any,
    truth_value,
)
from backend.analysis.table.unscored_rows import excluded_of, scored_only, selected
from backend.experiment.judgments import either, judgment_of, method_named
from backend.experiment.not_sure import NOT_SURE
from backend.experiment.records import REAL, TEST, TRIAL_KINDS, TRUTHS
from backend.experiment.response_columns import compared_exposure_of, exposure_of, word_of
from backend.foundation.errors import InvalidInput


def answers_of(rows: Iterable[Mapping[str, Any]], method: str, simulated: bool = False) -> Answers:
    """Return the response table of rows given as mappings with the columns of the responses file.

    Args:
        simulated: as for `select_simulated`.

    Raises:
        InvalidInput: an invalid row; no row of a simulated session although these are requested.
    """
    nameless: list[InvalidInput] = []
    own = method_named(method)
    words, possible = judgment_of(method).answers, judgment_of(method).possible_answers(method)
    texts = {name: Coder() for name in ("model", "evaluator", "block", *NAMES, *WORDS)}
    columns: dict[str, list[Any]] = {
        name: [] for name in ("is_fake", "said_fake", NOT_SURE, "simulated", "exposure_ms", *NUMBERS)
    }
    kept = ["model", "evaluator", *NAMES, *(["block"] if own.has("staircase") else [])]
    kinds, excluded = Coder(), Coder()
    for some in _batches(_checked(rows, method, nameless)):
        for name in kept:
            is_text = name in (*NAMES, "model")
            texts[name].add([_text(row.get(name)) if is_text else row[name] for row in some])
        kinds.add([_text(row.get("trial_kind")) for row in some])
        excluded.add([_said(row.get("excluded")) for row in some])
        said = {name: [word_of(row.get(name), possible) or "" for row in some] for name in WORDS}
        if words != TRUTHS:
            for name, column in said.items():
                texts[name].add(column)
        columns["is_fake"] += [word == words[1] for word in said["truth"]]
        columns["said_fake"] += [word == words[1] for word in said["response"]]
        columns[NOT_SURE] += [word == NOT_SURE for word in said["response"]]
        columns["simulated"] += [bool(truth_value(row.get("simulated"))) for row in some]
        for name in NUMBERS:
            columns[name] += [_finite(row.get(name)) for row in some]
        if own.has_exposures:
            columns["exposure_ms"] += [compared_exposure_of(row.get("exposure_ms")) for row in some]
    coded = {name: texts[name].coded() for name in kept}
    numbers = {name: np.asarray(columns[name]) for name in NUMBERS}
    answers = Answers(
        method,
        coded["model"],
        coded["evaluator"],
        np.asarray(columns["is_fake"], bool),
        np.asarray(columns["said_fake"], bool),
        coded["block"].codes if "block" in coded else None,
        np.asarray(columns["exposure_ms"]) if columns["exposure_ms"] else None,
        {name: coded[name] for name in NAMES if any(coded[name].names)}
        | ({} if words == TRUTHS else {name: texts[name].coded() for name in WORDS}),
        {name: column for name, column in numbers.items() if not np.isnan(column).all()},
        np.asarray(columns["simulated"], bool),
        not_sure=if_any(np.asarray(columns[NOT_SURE], bool)),
    )
    if words != TRUTHS:
        answers = from_words(answers)
    if nameless and not answers.is_fake.any():
        raise nameless[0]
    return selected(scored_only(answers, kinds.coded(), excluded_of(excluded.coded())), simulated)


def _batches(rows: Iterator[Mapping[str, Any]], size: int = 4096) -> Iterator[list[Mapping[str, Any]]]:
    some: list[Mapping[str, Any]] = []
    for row in rows:
        some.append(row)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some


def _checked(
    rows: Iterable[Mapping[str, Any]], method: str, nameless: list[InvalidInput]
) -> Iterator[Mapping[str, Any]]:
    """Yield rows after checking that they can be scored; exposures are not checked in HYPE-infinity.

    Args:
        nameless: receives the error for each real without a model, to be raised if there are no fakes.
    """
    judgment, own = judgment_of(method), method_named(method)
    truths = judgment.answers if judgment.has_truth else (*judgment.answers, "")
    possible = judgment.possible_answers(method)
    for number, row in enumerate(rows, start=1):
        try:
            model, evaluator, truth, response = map(row.get, ("model", "evaluator", "truth", "response"))
        except AttributeError:
            raise InvalidInput(f"row {number} must be a mapping of columns, not {row!r}") from None
        for name, value in (("model", model), ("evaluator", evaluator)):
            if _text(value) != "":
                continue
            refusal = InvalidInput(f"row {number}: {name} must be a name, not {value!r}")
            is_scored = _text(row.get("trial_kind")) in ("", TEST)
            if name == "evaluator" or (is_scored and word_of(truth, judgment.answers) != REAL):
                raise refusal
            nameless.append(refusal)
        for name, value, allowed in (("truth", truth, truths), ("response", response, possible)):
            if word_of("" if value is None or value != value else value, allowed) is None:
                raise InvalidInput(f"row {number}: {name} must be {either(allowed)}, not {value!r}")
        if truth_value(row.get("simulated")) is None:
            raise InvalidInput(f"row {number}: simulated must be true or false, not {row['simulated']!r}")
        if _text(row.get("trial_kind")) not in ("", *TRIAL_KINDS):
            raise InvalidInput(
                f"row {number}: trial_kind must be {either(TRIAL_KINDS)}, not {row['trial_kind']!r}"
            )
        if truth_value(row.get("excluded")) is None:
            raise InvalidInput(f"row {number}: excluded must be true or false, not {row['excluded']!r}")
        if own.has("staircase"):
            _check_shown(number, row)
        elif own.has_fixed_exposures and not exposure_of(row.get("exposure_ms")) > 0:
            raise InvalidInput(
                f"row {number}: exposure_ms must be a number above 0, or empty or 'unlimited' without time "
                f"limit, not {row.get('exposure_ms')!r}"
            )
        yield row


def _check_shown(number: int, row: Mapping[str, Any]) -> None:
    block = row.get("block")
    if block is None or block != block or block == "":
        raise InvalidInput(f"row {number}: block must be a whole number (HYPE-time), not {block!r}")
    if not 0 < _number(row.get("exposure_ms")) < math.inf:
        raise InvalidInput(
            f"row {number}: exposure_ms must be a number above 0 (HYPE-time), not {row.get('exposure_ms')!r}"
        )


def _said(value: Any) -> Any:
    """Return the value of a cell of `excluded`, '' if it is empty."""
    return "" if _text(value) == "" else truth_value(value)


def _text(value: Any) -> Any:
    """Return the text of a cell, several words joined; empty for None, or for NaN in data frames."""
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return "" if value is None or value != value else value


def _finite(value: Any) -> float:
    number = _number(value)
    return number if math.isfinite(number) else math.nan


def _number(value: Any) -> float:
    """Return a cell's number; NaN if it has none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
