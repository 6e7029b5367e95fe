"""Scores of a running study, and how each model's interval narrows as evaluators finish."""

from collections.abc import Mapping
from typing import Any

from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.responses.study_data import study_answers
from backend.stores.store import Store

_FIELDS = ("method", "unit", "models", "warnings")


def live_scores(store: Store, study: Study, ended: Mapping[str, str]) -> dict[str, Any] | None:
    """Return the scores of a running study that the console shows; None if there is no session to score.

    Args:
        ended: time at which each evaluator finished (UTC, ISO 8601), by pseudonym.
    """
    try:
        how = scores_of(study.protocol.method)
        answers = how.sampled(study_answers(store, study))
        scores = how.overall(answers, Options())
    except InvalidInput:  # the only finished session has been withdrawn since
        return None
    for row in scores["models"]:
        row["narrowing"] = how.narrowing(answers, row["model"], ended)
    return {name: scores[name] for name in _FIELDS}
