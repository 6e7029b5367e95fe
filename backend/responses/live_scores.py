"""Scores of a running study, and how each model's interval narrows as evaluators finish."""

from collections.abc import Mapping
from typing import Any

from backend.analysis.confidence_sequence import score_by_evaluators
from backend.analysis.draws import random_share
from backend.analysis.values import values_by_model
from backend.experiment.judgments import judgment_of
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.responses.study_data import study_answers, study_scores
from backend.scoring import overall_scores
from backend.stores.store import Store

_FIELDS = ("method", "unit", "models", "warnings")


def live_scores(store: Store, study: Study, ended: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the scores that a dashboard shows of a study; None if there is no session to score.

    Args:
        ended: time at which each evaluator finished (UTC, ISO 8601), by pseudonym.
    """
    try:
        if not judgment_of(study.protocol.method).has_report:
            scores = study_scores(store, study)
            models = [{**row, "narrowing": []} for row in scores["models"]]
            return {name: scores[name] for name in _FIELDS} | {"models": models}
        answers = random_share(study_answers(store, study))
        scores = overall_scores(answers)
    except InvalidInput:  # the only finished session has been withdrawn since
        return None
    values = values_by_model(answers)
    for row in scores["models"]:
        order = sorted(values[row["model"]].evaluators, key=lambda name: ended.get(name, ""))
        row["narrowing"] = score_by_evaluators(answers, row["model"], order)
    return {name: scores[name] for name in _FIELDS}
