"""The report of 2AFC: besides the scores of the sets, how far people agree, which bounds every metric."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from backend.analysis.agreement import agreement
from backend.analysis.judgment_scores import rows_of
from backend.analysis.response_table import Answers
from backend.analysis.scores import Options
from backend.analysis.votes import TWO_AFC, votes_of
from backend.report import agreement as people
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Section
from backend.report.judgment_report import FindingsOptions, JudgmentReport

_NEEDED = {"item", "left", "right"}


class CloserReport(JudgmentReport):
    """The shared report, with the agreement of people by set."""

    def findings(
        self,
        answers: Answers,
        scores: Mapping[str, Any],
        chosen: FindingsOptions,
        options: Options,
        in_columns: bool,
    ) -> dict[str, Any]:
        shared = super().findings(answers, scores, chosen, options, in_columns)
        return {**shared, "agreement": _agreement(answers, scores["settings"]["level"])}

    def sections(self, found: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        first, *others = super().sections(found, info)
        data = found.findings["agreement"]
        return (first, people.section(data) if data else None, *others)

    def text_sections(self, scores: Mapping[str, Any]) -> Mapping[str, Iterable[str]]:
        data = scores["findings"]["agreement"]
        lines = {"agreement of people": people.as_text(data).splitlines()} if data else {}
        return {**lines, **super().text_sections(scores)}


def _agreement(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return the agreement of people; None if the responses do not name items and sides."""
    if not answers.texts.keys() >= _NEEDED or not all(answers.texts["item"].names):
        return None
    rows = rows_of(answers, np.arange(len(answers)))
    return agreement(votes_of(rows, TWO_AFC), {}, level)


REPORT = CloserReport()
