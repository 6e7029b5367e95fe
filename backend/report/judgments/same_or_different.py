"""The report of same or different (JND): how many people see no difference, by set and by pair."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from backend.analysis.agreement.item_votes import item_table, sentinels, set_table
from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from backend.analysis.table.response_table import Answers
from backend.foundation.counted_nouns import counted
from backend.report import comparisons, equivalence, formatting, item_votes, plain_scores
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Section
from backend.report.judgment_report import FindingsOptions, JudgmentReport, shared_findings

_MEANING = (
    "The score is the share of test pairs that people called the same, though their pictures differ: the "
    "higher, the less the change is noticed. No answer to a test pair is right or wrong. Sentinels, below, "
    "show what people answer where the truth is known."
)


class SameOrDifferentReport(JudgmentReport):
    """Shares of pairs called the same, and sentinels."""

    def findings(
        self, answers: Answers, scores: Mapping[str, Any], chosen: FindingsOptions, options: Options
    ) -> dict[str, Any]:
        counted = scores_of(answers.method).compared(answers)
        items = item_table(counted, options.level)
        return {
            "models": [{"model": row["model"]} for row in scores["models"]],
            **shared_findings(answers, scores),
            "items": items,
            "sets": set_table(counted, items, np.random.default_rng(chosen.seed)),
            "sentinels": sentinels(answers, "same", "different"),
        }

    def summary(self, view: FindingsView) -> str:
        return plain_scores.summary(view, "of test pairs called the same", "set")

    def sections(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        scores, differences = self.score_sections(view)
        return (
            scores,
            item_votes.sentinels(view),
            item_votes.section(view, "pair", "answers “same”"),
            differences,
            *self.shared(view, info),
        )

    def score_sections(self, view: FindingsView) -> tuple[Section | None, ...]:
        return plain_scores.section(view, _MEANING, noun="set"), _differences(view)


def _differences(view: FindingsView) -> Section | None:
    if not view.pairs:
        return None
    apart = sum(row["is_apart"] for row in view.pairs)
    over = view.over_pictures
    text = (
        f"{apart} of {counted(len(view.pairs), 'pair')} of sets differ significantly in the share of “same”"
    )
    if over and over["F"] is not None:
        text += f" (over people and pictures, all sets: {formatting.f_test(over)})"
    elif test := view.data["anova"]:
        text += f" (all sets: {formatting.f_test(test)})"
    pairs = comparisons.pairs_table(view)
    return Section(
        "differences",
        "Differences between sets",
        (f"{text}.", *equivalence.verdicts(view)),
        tables=(pairs, *equivalence.tables(view)),
        notes=("Sets are compared within evaluators where these judged several.", *equivalence.notes(view)),
        brief=(pairs, f"{text}.", *equivalence.verdicts(view)),
    )


REPORT = SameOrDifferentReport()
