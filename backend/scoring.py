"""Scores of responses to any judgment, with what a declared rule for exclusion changes.

What a score is, `analysis/judgments/` defines for each judgment.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import Answers
from backend.analysis.table.unscored_rows import exclusion
from backend.foundation.errors import InvalidInput


def score(rows: Iterable[Mapping[str, Any]], method: str, **options: Any) -> dict[str, Any]:
    """Return the scores of responses, given as mappings with the columns of the responses file.

    Options are those of `Options`.

    Raises:
        InvalidInput: an invalid row, no rows, an unknown method, or an option out of range.
    """
    return score_answers(answers_of(rows, method), **options)


def score_answers(answers: Answers, exposures: str = "nominal", **options: Any) -> dict[str, Any]:
    """Return scores, intervals and tests as plain data; options are those of `Options`.

    If the study declared a rule for exclusion, the scores are those after it, and `exclusion` has whom it
    leaves out and everybody's scores.

    Args:
        exposures: `nominal`, or `shown` (methods with a time limit).

    Raises:
        InvalidInput: no responses, or an option out of range.
    """
    chosen, how = Options(**options), scores_of(answers.method)
    if not len(answers):
        raise InvalidInput("there are no responses to score")
    answers = how.exposed(answers, exposures)
    scores = how.scores(answers, chosen)
    if answers.unexcluded is None:
        return scores
    return {**scores, "exclusion": exclusion(answers, how.scores(answers.unexcluded, chosen))}
