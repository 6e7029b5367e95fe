"""The report of a judgment: the interface, and its default for any judgment.

`report/judgments/NAME.py` defines the report of the judgment NAME as `REPORT`. A judgment without such a
module has the report of `JudgmentReport`: scores with their intervals, tests between models, and the sections
that concern evaluators, whatever they judged.
"""

import importlib
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from backend.analysis.browsers import by_browser
from backend.analysis.comparisons.chance import CHANCE, MARGIN
from backend.analysis.comparisons.model_tests import further_tests
from backend.analysis.judgment_scores import scores_of
from backend.analysis.models.psychometric import THRESHOLD_AT
from backend.analysis.planning.costs import Costs
from backend.analysis.quality import evaluator_table
from backend.analysis.scores import Options, groups_of
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers
from backend.analysis.table.unscored_rows import attention
from backend.experiment.judgments import judgment_of
from backend.foundation.errors import InvalidInput
from backend.report import attention as attention_section
from backend.report import (
    attrition,
    browsers,
    comparisons,
    evaluators,
    methods,
    metrics,
    plain_scores,
    questions,
    surround,
)
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Section

_MODULES = "backend.report.judgments"


@dataclass(frozen=True)
class FindingsOptions:
    """Options of the findings."""

    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Automatic metrics, by metric and then by model."""
    costs: Costs = Costs()
    margin: float = MARGIN
    """Percentage points that count as no difference: of two models, and around 50%; above 0 and below 50."""
    threshold_at: float = THRESHOLD_AT
    """Accuracy (0.5 to 1) at which the psychometric function has its threshold."""
    seed: int = 0
    """Seed of the split halves, of the simulated data sets for the goodness of fit, and of the randomization
    test of marks."""

    def __post_init__(self):
        if not 0 < self.margin < CHANCE:
            raise InvalidInput(f"margin must be between 0 and 50 percentage points, not {self.margin:g}")
        if not CHANCE / 100 < self.threshold_at < 1:
            raise InvalidInput(f"threshold_at must be between 0.5 and 1, not {self.threshold_at:g}")


class JudgmentReport:
    """What is found in the responses to a judgment, and how a report shows it."""

    has_leaderboard: ClassVar[bool] = False
    """Whether scores of several studies may stand in one table: they are on one scale, with a common zero."""

    def findings(
        self, answers: Answers, scores: Mapping[str, Any], chosen: FindingsOptions, options: Options
    ) -> dict[str, Any]:
        """Return findings as plain data: what the sections show besides the scores.

        Needed are `models`, a row with `model` for each of the scores, and what `shared_findings` has. Large
        tables may be `ColumnRows`, which need a tenth of the memory.

        Args:
            answers: the responses, also those that `JudgmentScores.sampled` leaves out.
            scores: the result of `scoring.score_answers`.
            options: the options of the scores.
        """
        return {
            "models": [{"model": row["model"]} for row in scores["models"]],
            **shared_findings(answers, scores),
        }

    def further_tests(self, answers: Answers, scores: Mapping[str, Any]) -> dict[str, Any]:
        """Return those findings that `score_sections` need."""
        how = scores_of(answers.method)
        return _further_tests(answers, how.values(answers), scores)

    def title(self, view: FindingsView) -> str:
        """Return the method in a few words."""
        return view.method

    def summary(self, view: FindingsView) -> str:
        """Return the results in two or three plain sentences."""
        return plain_scores.summary(view)

    def sections(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        """Return the sections of the page in order; None for what the responses have no data for."""
        return (*self.score_sections(view), metrics.section(view), *self.shared(view, info))

    def score_sections(self, view: FindingsView) -> Iterable[Section | None]:
        """Return the sections on scores, which need no other findings than `further_tests`."""
        return plain_scores.section(view), comparisons.section(view)

    def shared(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        """Return the sections that every judgment has: on evaluators, and on the settings."""
        return (
            evaluators.section(view),
            attention_section.section(view),
            browsers.section(view),
            surround.section(view),
            questions.section(view, info),
            attrition.section(view),
            methods.section(view, info),
        )

    def shown_names(self, view: FindingsView) -> Sequence[str]:
        """Return the names of the pictures that the page shows as thumbnails."""
        return ()

    def marked_names(self, view: FindingsView) -> Sequence[str]:
        """Return the names of the pictures that the page shows larger, with marks on them."""
        return ()


def report_of(method: str) -> JudgmentReport:
    """Return the report of the judgment that a method asks for.

    Raises:
        InvalidInput: the method is unknown.
    """
    name = f"{_MODULES}.{judgment_of(method).name}"
    return importlib.import_module(name).REPORT if importlib.util.find_spec(name) else JudgmentReport()


def shared_findings(answers: Answers, scores: Mapping[str, Any]) -> dict[str, Any]:
    """Return the findings that every judgment has: further tests between models, and on evaluators."""
    how, level = scores_of(answers.method), scores["settings"]["level"]
    values = how.values(answers)
    return {
        **_further_tests(answers, values, scores),
        "evaluators": evaluator_table(answers, values, how.compared(answers)),
        "attention": attention(answers, level),
        "browsers": by_browser(answers, values, level),
        "attrition": None,  # responses do not show dropouts; a store does (`study_findings.py`)
        "mistimed": None,  # nor which flashes were replaced
    }


def _further_tests(
    answers: Answers, values: Mapping[str, Values], scores: Mapping[str, Any]
) -> dict[str, Any]:
    groups = groups_of(values, [row["model"] for row in scores["models"]])
    return further_tests(answers, values, groups, scores["settings"]["level"])
