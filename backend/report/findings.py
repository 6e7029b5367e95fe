"""Findings: the scores of responses with every further analysis of a report.

`findings` returns the scores with one more key, `findings`: plain data, from which the report with its
tables and figures is made. An evaluator is excluded only by a rule that the study declared; what the rule
leaves out is in `exclusion`.
"""

from typing import Any

from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from backend.analysis.surround import altered
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import judgment_of
from backend.foundation.column_rows import ColumnRows
from backend.report.judgment_report import FindingsOptions, report_of
from backend.report.metrics import metric_rows
from backend.scoring import score_answers

__all__ = ["FindingsOptions", "findings", "score_findings"]


def findings(
    answers: Answers,
    findings_options: FindingsOptions | None = None,
    in_columns: bool = False,
    exposures: str = "nominal",
    **options: Any,
) -> dict[str, Any]:
    """Return the scores with all further findings of a report, as plain data.

    Args:
        answers: responses, read with `details` for findings on images, classes and response times.
        in_columns: return large tables as `ColumnRows`, which need a tenth of the memory.
        exposures: `nominal`, or `shown` (methods with a time limit).
        **options: those of `scoring.Options`.

    Raises:
        InvalidInput: no responses, or an option out of range.
    """
    chosen = findings_options or FindingsOptions()
    answers, scores = _scored(answers, exposures, {"margin": chosen.margin, **options})
    report = report_of(answers.method)
    parts = report.findings(answers, scores, chosen, Options(**options))
    if not in_columns:
        parts = {name: [*part] if isinstance(part, ColumnRows) else part for name, part in parts.items()}
    if not judgment_of(answers.method).has_items:
        parts = {**parts, "metrics": metric_rows(answers, scores, chosen.metrics, Options(**options))}
    return {**scores, "findings": {**parts, "surround": altered(answers)}}


def score_findings(answers: Answers, exposures: str = "nominal", **options: Any) -> dict[str, Any]:
    """Return the scores with the findings that a short text of them needs (`compose.compose_scores`).

    Arguments and errors are those of `findings`.
    """
    answers, scores = _scored(answers, exposures, options)
    tests = report_of(answers.method).further_tests(scores_of(answers.method).sampled(answers), scores)
    return {**scores, "findings": {"models": [{"model": row["model"]} for row in scores["models"]], **tests}}


def _scored(answers: Answers, exposures: str, options: dict[str, Any]) -> tuple[Answers, dict[str, Any]]:
    """Return the responses with the exposures that count, and their scores."""
    how = scores_of(answers.method)
    answers = how.exposed(answers, exposures)
    return answers, score_answers(how.sampled(answers), **options)
