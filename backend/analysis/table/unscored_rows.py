"""Responses that are not scored, in a table of all: practice, attention checks, and excluded evaluators.

Scores are those of the scored trials (`trial_kind` is `test`, or empty). If the study declared a rule for
exclusion, the column `excluded` says whom it leaves out; the primary responses are then those of the others,
and `Answers.unexcluded` has everybody's.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from backend.analysis.distributions.binomial import clopper_pearson
from backend.analysis.distributions.inference import Share, mean_of
from backend.analysis.table.recognition import recognised
from backend.analysis.table.response_table import Answers, Coded, filter_rows, select_simulated, truth_value
from backend.experiment.exclusion import CHECK_KINDS
from backend.experiment.records import TEST
from backend.foundation.errors import InvalidInput
from backend.foundation.names import clean


def scored_only(answers: Answers, kinds: Coded | None, excluded: np.ndarray | None) -> Answers:
    """Return the scored responses of a table, with the counts of attention checks beside them.

    Args:
        kinds: the kind of each response; an empty one is a scored trial. None if all are scored.
        excluded: whether each response's evaluator is excluded; None if there is no rule.

    Raises:
        InvalidInput: no response is scored.
    """
    answers = replace(answers, excluded=excluded)
    if kinds is None or set(kinds.names) <= {"", TEST}:
        return answers
    is_scored = np.isin(kinds.codes, [i for i, name in enumerate(kinds.names) if name in ("", TEST)])
    if not is_scored.any():
        raise InvalidInput("there are no responses to score: all are practice or attention checks")
    is_check = np.isin(kinds.codes, [i for i, name in enumerate(kinds.names) if name in CHECK_KINDS])
    if truths := answers.texts.get("truth"):
        is_check &= (np.asarray(truths.names, object) != "")[truths.codes]
    by_truth = {}
    if truths:
        by_truth = {
            name: _counts(answers, is_check & (truths.codes == code))
            for code, name in enumerate(truths.names)
            if name
        }
    scored = filter_rows(answers, is_scored)
    return replace(scored, checks=_counts(answers, is_check), checks_by_truth=by_truth)


def excluded_of(column: Coded) -> np.ndarray | None:
    """Return a column `excluded` as Booleans; None if all of its cells are empty, as there is no rule.

    Args:
        column: texts or Booleans, '' for an empty cell.
    """
    if set(column.names) <= {""}:
        return None
    result: np.ndarray = np.array([bool(truth_value(name)) for name in column.names])[column.codes]
    return result


def selected(answers: Answers, simulated: bool) -> Answers:
    """Return the primary responses of one kind of sessions, in the form in which they are scored.

    Args:
        simulated: as for `select_simulated`.

    Raises:
        InvalidInput: as `select_simulated`; or the rule for exclusion leaves nobody.
    """
    answers = select_simulated(answers, simulated)
    excluded = answers.excluded
    answers = replace(answers, excluded=None)
    everybody = recognised(answers)
    if excluded is None or not len(answers):
        return everybody
    if excluded.all():
        raise InvalidInput(
            f"the study's rule for exclusion leaves out all {len(answers.evaluator.names)} evaluators, so "
            "that there is nothing to score"
        )
    return replace(recognised(filter_rows(answers, ~excluded)), unexcluded=everybody)


def exclusion(answers: Answers, everybody: Mapping[str, Any]) -> dict[str, Any]:
    """Return whom a declared rule left out, and the scores without it; `answers` are the primary ones.

    Args:
        everybody: the scores of `answers.unexcluded`.
    """
    before = answers.unexcluded
    if before is None:
        raise ValueError("these responses have no rule for exclusion")
    kept = {row: len(_evaluators(answers, row)) for row in answers.model.names}
    models = [
        {"model": name, "evaluators": count, "excluded": count - kept.get(name, 0)}
        for name in before.model.names
        for count in [len(_evaluators(before, name))]
    ]
    out = sorted(set(before.evaluator.names) - set(answers.evaluator.names), key=str)
    return {
        "primary": "after exclusion",
        "people": len(before.evaluator.names),
        "excluded": len(out),
        "models": models,
        "evaluators": out,
        "without": dict(everybody),
    }


def attention(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return how attention checks were answered, by everybody whom no rule left out, and by the others.

    Returns:
        None without checks. Else `people`; numbers of checks `shown` and `right`; `share`, the mean over
        people of their share right (0 to 1), with the interval `ci` of a score, over people alone (None for a
        single person); `all_right`, the number of people with all checks right, with the Clopper and Pearson
        interval `all_right_ci` of their share; and a row for each person.
    """
    everybody = answers.unexcluded or answers
    kept = set(answers.evaluator.names)
    rows = [
        {
            "evaluator": name,
            "checks": shown,
            "checks_right": right,
            "share": right / shown,
            "excluded": name not in kept,
        }
        for name in everybody.evaluator.names
        for right, shown in [answers.checks.get(name, (0, 0))]
        if shown
    ]
    if not rows:
        return None
    shares, weights = np.array([row["share"] for row in rows]), 1 / np.array([row["checks"] for row in rows])
    ci = None
    if len(rows) > 1:
        mean = mean_of(shares)
        ci = Share(mean.value, mean.people, answers=len(rows) ** 2 / weights.sum()).interval(level)
    perfect = sum(row["checks_right"] == row["checks"] for row in rows)
    return {
        "people": len(rows),
        "shown": sum(row["checks"] for row in rows),
        "right": sum(row["checks_right"] for row in rows),
        "share": float(shares.mean()),
        "ci": ci,
        "all_right": perfect,
        "all_right_ci": clopper_pearson(perfect, len(rows), level),
        "evaluators": rows,
    }


def _counts(answers: Answers, is_check: np.ndarray) -> dict[Any, tuple[int, int]]:
    """Return (right, shown) of each evaluator's checks."""
    codes = answers.evaluator.codes[is_check]
    size = len(answers.evaluator.names)
    shown = np.bincount(codes, minlength=size)
    right = np.bincount(codes, answers.error[is_check] == 0, size).astype(int)
    counts: dict[Any, tuple[int, int]] = {}
    for i in np.flatnonzero(shown).tolist():
        name = answers.evaluator.names[i]
        key = clean(name) if isinstance(name, str) else name
        before = counts.get(key, (0, 0))
        counts[key] = (before[0] + int(right[i]), before[1] + int(shown[i]))
    return counts


def _evaluators(answers: Answers, model: str) -> np.ndarray:
    judges = answers.judges
    return np.flatnonzero(judges.model == list(answers.model.names).index(model))
