"""The report of 2AFC: how far people agree on which picture is closer, by set."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.agreement.item_votes import item_table, set_table
from backend.analysis.agreement.votes import votes_of
from backend.analysis.judgment_scores import rows_of, scores_of
from backend.analysis.scores import Options
from backend.analysis.table.response_table import Answers
from backend.report import figures, formatting, item_votes, plain_scores
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Figure, Section, Table
from backend.report.judgment_report import FindingsOptions, JudgmentReport, shared_findings


class CloserReport(JudgmentReport):
    """Agreement of people, votes by triplet, sentinels."""

    def findings(
        self, answers: Answers, scores: Mapping[str, Any], chosen: FindingsOptions, options: Options
    ) -> dict[str, Any]:
        counted = scores_of(answers.method).compared(answers)
        level, rng = options.level, np.random.default_rng(chosen.seed)
        items = item_table(counted, level)
        people = []
        if "item" in answers.texts and all(answers.texts["item"].names):
            votes = votes_of(rows_of(answers, np.arange(len(answers))), answers.method)
            people = agreement(votes, {}, level)["human"]
        return {
            "models": [{"model": row["model"]} for row in scores["models"]],
            **shared_findings(answers, scores),
            "people": people,
            "items": items,
            "sets": set_table(counted, items, rng),
        }

    def summary(self, view: FindingsView) -> str:
        people = view.findings["people"]
        last = people[-1] if people else None
        if last is None or last["unbiased"] is None:
            return "No triplet has two votes, so that people's agreement with one another is not known."
        where = "" if len(people) == 1 else f", averaged over {len(view.models)} sets"
        share = formatting.amount(last["unbiased"], "percent")
        ci = f" ({view.level} interval {formatting.interval(last['ci'], 'percent')})" if last["ci"] else ""
        return (
            f"Two people agree on which picture is closer in {share} of triplets{ci}{where}; tossing coins, "
            "they would agree in 50%."
        )

    def sections(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        return (
            _agreement(view),
            item_votes.section(view, "triplet", "answers for p1"),
            *self.score_sections(view),
            *self.shared(view, info),
        )

    def score_sections(self, view: FindingsView) -> Iterable[Section | None]:
        return (plain_scores.section(view, _P1, noun="set", reference=50),)


_P1 = (
    "The share of answers that call p1 closer to the reference than p0. Which picture is p0 is decided by "
    "the folders, so that the share says nothing of people, and sets are not compared by it; the shares of "
    "single triplets are what metrics are scored against (openhype agree)."
)


def _agreement(view: FindingsView) -> Section | None:
    rows = view.findings["people"]
    if not rows:
        return None
    columns = (
        Column("set", lambda row: row["column"], is_number=False),
        Column("agreement (%)", lambda row: formatting.amount(row["unbiased"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"])),
        Column("as printed (%)", lambda row: formatting.amount(row["as_printed"])),
        Column("oracle (%)", lambda row: formatting.amount(row["oracle"])),
        Column("triplets", lambda row: f"{row['items']:,}"),
    )
    table = Table("agreement", "Agreement of people with one another, by set", columns, rows)
    known = [
        {"model": row["column"], "score": row["unbiased"], "interval_ci": row["ci"], "ci": None}
        for row in rows
        if row["unbiased"] is not None
    ]

    drawn: tuple[Figure, ...] = ()
    if known:
        drawn = (
            Figure(
                "agreement",
                "Agreement of people",
                f"Share of pairs of votes on one triplet that agree, with {view.level} intervals over "
                "people and triplets. The dashed line marks 50%: votes by chance.",
                f"Bars of {len(known)} sets and averages, from "
                f"{formatting.amount(min(row['score'] for row in known), 'percent')} to "
                f"{formatting.amount(max(row['score'] for row in known), 'percent')}.",
                lambda width_in: figures.scores.scores(
                    known, "percent", view.level, width_in, "pairs of votes that agree (%)"
                ),
                table,
            ),
        )
    return Section(
        "agreement",
        "Agreement of people",
        (
            "How often two people who judged the same triplet gave the same answer. It is what a metric that "
            "votes like one more person would score, the human ceiling.",
        ),
        lead=table,
        figures=drawn,
        notes=(
            "Agreement is the share of pairs of different votes on a triplet that agree, averaged over "
            "triplets with two votes or more: free of bias. As printed is p² + (1 − p)² of the shares p "
            "(Zhang et al., 2018), which is too high from few votes, since each vote agrees with itself. "
            "Oracle is max(p, 1 − p), which no metric can exceed.",
        ),
    )


REPORT = CloserReport()
