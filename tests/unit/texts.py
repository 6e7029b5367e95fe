"""Reports as the terminal prints them."""

from backend.analysis.table.response_rows import answers_of
from backend.report.compose import compose, compose_scores
from backend.report.context import SourceInfo
from backend.report.findings import score_findings
from backend.report.text_report import as_brief_text, as_text

INFO = SourceInfo("title", "source", "2026-01-01", "0")


def of_findings(found, info=INFO):
    """Return findings as `openhype score --full` prints them."""
    return as_text(compose(found, info))


def of_scores(answers, **options):
    """Return the scores of answers as `openhype score` prints them."""
    return as_brief_text(compose_scores(score_findings(answers, **options)))


def of_rows(rows, method, **options):
    """Return the scores of rows as `openhype score` prints them."""
    return of_scores(answers_of(rows, method), **options)
