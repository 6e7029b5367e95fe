"""Findings formatted as short sections of text for a terminal."""

from collections.abc import Mapping
from typing import Any

from backend.report.judgment_report import report_of


def as_text(scores: Mapping[str, Any]) -> str:
    """Return scores as text for a terminal, followed by the sections of findings if there are some."""
    report = report_of(scores["method"])
    more = as_sections(scores) if "findings" in scores else []
    return "\n\n".join([report.text_table(scores), *more])


def as_sections(scores: Mapping[str, Any]) -> list[str]:
    """Return the non-empty sections of findings, each a text of several lines."""
    made = report_of(scores["method"]).text_sections(scores)
    texts = {title: [*lines] for title, lines in made.items()}
    return ["\n".join([title, *(f"  {line}" for line in lines)]) for title, lines in texts.items() if lines]
