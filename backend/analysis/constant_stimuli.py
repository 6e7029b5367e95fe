"""Constant stimuli: accuracy by exposure, and the exposure from which a model is told from real pictures.

At each exposure, a model's accuracy is 100% less the error of its evaluators there, each evaluator weighing
the same; its interval is that of the scores (`score_intervals.py`), over evaluators and pictures. A model is
*told apart* at an exposure if the whole interval of its accuracy is above 50%. It is told from the shortest
exposure such that it is told apart there and at all longer ones, and indistinguishable up to the longest
exposure such that it is told apart neither there nor at any shorter one. Both depend on the number of
answers: few answers have wide intervals, which contain 50%. The threshold does not: it is the exposure at
which the psychometric function (`psychometric.py`) of all answers reaches a stated accuracy, with its
interval over evaluators. The exposure without time limit is not part of that function: who may look again
does another task.

Exposures are compared as models are: for each model, within evaluators if each saw several exposures, and
between them if each saw one.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from backend.analysis.comparisons.model_tests import tests_of
from backend.analysis.exposures import plain, trials_of
from backend.analysis.models import psychometric
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_table import Answers, Coded, filter_rows
from backend.experiment.fixed_exposures import label

FEWEST_EXPOSURES = 3
"""Exposures with a time limit that a psychometric function needs: it has three parameters."""
_CHANCE = 50.0  # percent: half of the pictures are real
_TESTS = ("anova", "pairs", "pairs_method")
Score = Callable[[Answers], Mapping[str, Any]]
"""Returns the scores of answers at one exposure, with the tests between models."""


def by_exposure(answers: Answers, score: Score, level: float, at: float) -> dict[str, Any]:
    """Return what the scores of fixed exposures have besides those of all exposures together.

    Returns:
        `exposures`: for each exposure `exposure_ms` (None without time limit) and the tests between
        models; and `of_model`: for each model by name `by_exposure`, its rows, `told_from` and
        `indistinguishable_up_to` (each `{"exposure_ms": …}`, or None), `threshold`, and `between_exposures`,
        the tests.
    """
    asked = answers.asked_ms
    exposures = np.unique(asked).tolist()
    scores = {ms: score(filter_rows(answers, asked == ms)) for ms in exposures}
    rows: dict[str, list[dict[str, Any]]] = {model: [] for model in answers.model.names}
    for ms, scored in scores.items():
        shown = _mean_shown_ms(answers, asked == ms)
        for row in scored["models"]:
            rows[row["model"]].append(_row(ms, row, shown.get(row["model"])))
    return {
        "exposures": [
            {"exposure_ms": _plain_ms(ms), **{name: scored[name] for name in _TESTS}}
            for ms, scored in scores.items()
        ],
        "of_model": {
            model: {
                "by_exposure": rows[model],
                **_apart(rows[model]),
                "threshold": threshold(function_of(answers, code, level, at)),
                "between_exposures": between_exposures(answers, code, level),
            }
            for code, model in enumerate(answers.model.names)
        },
    }


def function_of(
    answers: Answers, model: int, level: float, at: float, rng: np.random.Generator | None = None
) -> dict[str, Any] | None:
    """Return the psychometric function of a model's answers at exposures with a time limit.

    `ci` is over evaluators; an end that nothing bounds is None. `shortest_ms` and `longest_ms` are the
    exposures that it was fitted to. None for fewer than three exposures.

    Args:
        model: code of `answers.model`.
        at: accuracy (0 to 1) of the threshold.
        rng: random generator for the goodness of fit; None for none.
    """
    is_timed = np.isfinite(answers.exposures_ms)
    mine = answers.of_model[model]
    mine = mine[is_timed[mine]]
    asked = np.unique(answers.asked_ms[mine])
    if len(asked) < FEWEST_EXPOSURES:
        return None
    judges = answers.judges.of_response[mine]
    trials = trials_of(answers, mine)
    fit = psychometric.fit(trials, at=at, level=None, rng=rng)
    people = [trials_of(answers, mine[judges == judge]) for judge in np.unique(judges)]
    over = psychometric.profile_over_evaluators(trials, fit, people, level)
    ends = {"shortest_ms": float(asked[0]), "longest_ms": float(asked[-1])}
    return {**plain(fit), "ci": over and [*over], **ends}


def threshold(function: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the threshold of a function as `psychometric.limited`; None if there is no function."""
    if function is None:
        return None
    low, high = function["shortest_ms"], function["longest_ms"]
    found = psychometric.limited(function["threshold_ms"], function["ci"], low, high)
    return {**found, "at": function["at"]}


def _row(ms: float, row: Mapping[str, Any], shown_ms: float | None) -> dict[str, Any]:
    ci = row["interval"] and [100 - end for end in reversed(row["interval"]["ci"])]
    return {
        "exposure_ms": _plain_ms(ms),
        "shown_ms": shown_ms,
        "accuracy": 100 - row["score"],
        "ci": ci,
        "of": row["interval"] and row["interval"]["of"],
        "fakes_error": row["fakes_error"],
        "reals_error": row["reals_error"],
        "told_apart": None if ci is None else ci[0] > _CHANCE,
        "evaluators": row["evaluators"],
        "responses": row["responses"],
    }


def _apart(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return from which exposure a model is told apart, and up to which it is not."""
    longest = told = None
    for row in rows:
        if row["told_apart"] is not False:
            break
        longest = {"exposure_ms": row["exposure_ms"]}
    for row in reversed(rows):
        if not row["told_apart"]:
            break
        told = {"exposure_ms": row["exposure_ms"]}
    return {"told_from": told, "indistinguishable_up_to": longest}


def between_exposures(answers: Answers, model: int, level: float) -> dict[str, Any]:
    """Return the tests between the exposures of one model, which are named as texts."""
    own = filter_rows(answers, answers.model.codes == model)
    exposures, codes = np.unique(own.asked_ms, return_inverse=True)
    names = [label(_plain_ms(ms)) for ms in exposures.tolist()]
    own = replace(own, model=Coded(codes.astype(np.int32), names))
    values = values_by_model(own)
    groups = {name: values[name].numbers for name in names if len(values[name]) >= 2}
    found = tests_of(own, values, groups, level)
    return {name: found[name] for name in _TESTS}


def _mean_shown_ms(answers: Answers, is_there: np.ndarray) -> dict[str, float]:
    """Return, by model, the mean time (ms) for which pictures were shown; {} if refreshes are not known."""
    if not {"frames", "frame_ms"} <= answers.numbers.keys():
        return {}
    shown = answers.numbers["frames"] * answers.numbers["frame_ms"]
    means = {}
    for code, model in enumerate(answers.model.names):
        known = shown[is_there & (answers.model.codes == code) & np.isfinite(shown)]
        if len(known):
            means[model] = float(known.mean())
    return means


def _plain_ms(ms: float) -> float | None:
    return ms if np.isfinite(ms) else None
