"""Errors on fakes by model, the error on reals, and accuracy over all responses (HYPE-infinity).

Reals that several models share are counted once: their error is the evaluators', not a model's. Each error
is a mean over evaluators, with the interval of a score (`score_intervals.py`): over evaluators, and over
stimuli where responses name them. `pooled` is the share of all responses, in which evaluators who gave more
weigh more; publications report either. In signal detection, the hit rate of a model is 100 less its error on
fakes, and the false-alarm rate is the error on reals.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from typing import Any

import numpy as np

from backend.analysis.detection import detection, sensitivity
from backend.analysis.score_intervals import score_details
from backend.analysis.table.designs import models_as_strata
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_table import Answers, Coded, filter_rows, take_rows

_ALL = "all"


def sides(answers: Answers, level: float, order: Sequence[str] | None = None) -> dict[str, Any] | None:
    """Return the errors of each side in percent, as plain data; None for HYPE-time.

    Args:
        order: the models in the order of the rows; default, that of first appearance.

    Returns:
        `fakes`: a row for each model with fakes; `reals`: a row for each model, or a single one with the
        `model` None if several models share reals; `accuracy` over all responses; `detection`: d' and c of
        all fakes against all reals, as by `detection.detection`, with those of the `pooled` shares.
        `are_reals_shared`: whether several models share reals. A row has `model`, `error` (or `accuracy`),
        `ci`, `of` (what the interval is over), `pooled`, `evaluators` and `responses`.
    """
    if answers.has_exposures:
        return None
    names = order or list(answers.model.names)
    once = _once(answers)
    are_shared = answers.source is not None
    reals = filter_rows(once, ~once.is_fake)
    fakes = _errors(filter_rows(once, once.is_fake), level)
    of_reals = _errors(_as_one(reals) if are_shared else reals, level)
    (overall,) = _errors(_as_one(once), level).values()
    return {
        "fakes": [{"model": name, **fakes[name]} for name in names if name in fakes],
        "reals": [{"model": None, **row} for row in of_reals.values()]
        if are_shared
        else [{"model": name, **of_reals[name]} for name in names if name in of_reals],
        "are_reals_shared": are_shared,
        "accuracy": _right(overall),
        "detection": _detection(_as_one(once), level),
    }


def _once(answers: Answers) -> Answers:
    """Return the responses as they were given: one that counts for several models once."""
    if answers.source is not None:
        answers = take_rows(answers, np.unique(answers.source, return_index=True)[1])
    return replace(answers, is_balanced=False, source=None)


def _as_one(answers: Answers) -> Answers:
    """Return responses as if all were of one model; if evaluators judged one each, models are strata."""
    one = Coded(np.zeros(len(answers), np.int32), [_ALL])
    return replace(answers, model=one, stratum=models_as_strata(answers))


def _errors(answers: Answers, level: float) -> dict[str, dict[str, Any]]:
    """Return, by model, its evaluators' mean error in percent, with its interval."""
    if not len(answers):
        return {}
    values, judges = values_by_model(answers), answers.judges
    details = score_details(answers, values, level)
    rows = {}
    for code, (model, own) in enumerate(values.items()):
        mine, interval = judges.model == code, details[model]["interval"]
        wrong, seen = float(judges.wrong[mine].sum()), int(judges.seen[mine].sum())
        rows[model] = {
            "error": fsum(own.numbers) / len(own),
            "ci": interval and interval["ci"],
            "of": interval and interval["of"],
            "pooled": 100 * wrong / seen,
            "evaluators": len(own),
            "responses": seen,
        }
    return rows


def _right(row: dict[str, Any]) -> dict[str, Any]:
    """Return an error as an accuracy."""
    found = {"accuracy" if name == "error" else name: value for name, value in row.items()}
    ci = row["ci"] and [100 - end for end in reversed(row["ci"])]
    return {**found, "accuracy": 100 - row["error"], "ci": ci, "pooled": 100 - row["pooled"]}


def _detection(answers: Answers, level: float) -> dict[str, Any] | None:
    judges = answers.judges
    found = detection(answers, 0, level)
    if found is None:
        return None
    fakes, reals = judges.fakes.sum(), judges.reals.sum()
    d_prime, criterion = sensitivity(fakes - judges.wrong_fakes.sum(), fakes, judges.wrong_reals.sum(), reals)
    return {**found, "pooled": {"d_prime": float(d_prime), "criterion": float(criterion)}}
