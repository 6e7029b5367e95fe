"""The report of real or fake: what a results section on HYPE needs, and how it is shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from backend.analysis import reliability
from backend.analysis.browsers import by_browser
from backend.analysis.checkpoints import progress
from backend.analysis.comparisons.chance import against_chance, over_models
from backend.analysis.comparisons.means import Groups
from backend.analysis.comparisons.model_tests import further_tests
from backend.analysis.confidence import confidence
from backend.analysis.constant_stimuli import function_of
from backend.analysis.detection import detection
from backend.analysis.drift import drift
from backend.analysis.error_rates import sides
from backend.analysis.exposures import exposures_of, staircases
from backend.analysis.image_error_rates import image_table
from backend.analysis.marks import marks
from backend.analysis.models.crossed_model import crossed_model, crossed_model_note
from backend.analysis.planning.interval_width import width_curve
from backend.analysis.quality import evaluator_table
from backend.analysis.reasons import comments, reasons
from backend.analysis.score_intervals import share_of
from backend.analysis.scores import Options, groups_of, score_models
from backend.analysis.table.adaptive_rows import random_share
from backend.analysis.table.designs import BETWEEN, crossing_of, design_of
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_table import Answers, filter_rows
from backend.analysis.table.unscored_rows import attention
from backend.report import (
    chance,
    comparisons,
    constant_stimuli,
    difficulty,
    exposures,
    images,
    metrics,
    models,
    not_sure,
    precision,
    training,
)
from backend.report import confidence as confidence_section
from backend.report import drift as drift_section
from backend.report import marks as marks_section
from backend.report import reasons as reasons_section
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Section
from backend.report.judgment_report import FindingsOptions, JudgmentReport

_METHODS = {
    "infinity": "HYPE-infinity, no time limit",
    "time": "HYPE-time, staircase of exposures",
    "exposures": "Constant stimuli, fixed exposures",
}


class RealOrFakeReport(JudgmentReport):
    """Everything that the HYPE paper prints, and more."""

    has_leaderboard = True

    def findings(
        self, answers: Answers, scores: Mapping[str, Any], chosen: FindingsOptions, options: Options
    ) -> dict[str, Any]:
        everything, answers = answers, random_share(answers)
        values = values_by_model(answers)
        order = [row["model"] for row in scores["models"]]
        groups = groups_of(values, order)
        level = scores["settings"]["level"]
        models = [_model(answers, values[model], model, level, chosen) for model in order]
        if answers.has_shares:
            tests = over_models([row["chance"] for row in models], level)
            models = [{**row, "chance": test} for row, test in zip(models, tests, strict=True)]
        return {
            "models": models,
            "sides": sides(answers, level, order),
            **further_tests(answers, values, groups, level),
            "crossed_model": crossed_model(everything, level),
            "crossed_model_note": crossed_model_note(everything),
            "progress": progress(scores["models"]),
            "classes": _classes(answers, options),
            "reliability": _reliability(answers, values, groups, np.random.default_rng(chosen.seed)),
            "drift": drift(answers, level),
            "evaluators": evaluator_table(answers, values),
            "attention": attention(answers, level),
            "images": image_table(everything, level) if "stimulus" in everything.texts else [],
            "staircases": [] if answers.has_shares else staircases(answers),
            "browsers": by_browser(answers, values, level),
            "attrition": None,  # responses do not show dropouts; a store does (`study_findings.py`)
            "mistimed": None,  # nor which flashes were replaced
            **_follow_ups(answers, order, level, np.random.default_rng(chosen.seed)),
        }

    def title(self, view: FindingsView) -> str:
        return _METHODS[view.data["method"]]

    def summary(self, view: FindingsView) -> str:
        return _summary(view)

    def sections(self, view: FindingsView, info: SourceInfo) -> Iterable[Section | None]:
        scores, unsure, differences, stimuli = self.score_sections(view)
        return (
            scores,
            unsure,
            differences,
            chance.section(view),
            exposures.section(view),
            confidence_section.section(view),
            stimuli,
            training.progress(view),
            metrics.section(view),
            training.classes(view),
            precision.section(view),
            images.section(view, info),
            reasons_section.section(view),
            marks_section.section(view, info),
            difficulty.section(view, info),
            drift_section.section(view),
            *self.shared(view, info),
        )

    def score_sections(self, view: FindingsView) -> tuple[Section | None, ...]:
        return (
            models.section(view),
            not_sure.section(view),
            comparisons.section(view),
            constant_stimuli.section(view),
        )

    def shown_names(self, view: FindingsView) -> Sequence[str]:
        return [*images.shown_names(view), *difficulty.shown_names(view)]

    def marked_names(self, view: FindingsView) -> Sequence[str]:
        return marks_section.shown_names(view)


REPORT = RealOrFakeReport()


def _summary(view: FindingsView) -> str:
    """Return the results in two or three plain sentences."""
    best, count = view.models[0], len(view.models)
    unit = "of pictures judged wrong" if view.is_percent else "of exposure"
    if view.data["method"] == "exposures":
        unit += " over all exposures"
    if count == 1:
        text = f"{best['model']} scored {view.score(best)} {unit}."
    elif best["score"] == view.models[-1]["score"]:
        text = f"All {count} models scored {view.score(best)} {unit}."
    else:
        last = view.models[-1]
        text = (
            f"Of {count} models, {best['model']} scored highest, at {view.score(best)} {unit}; "
            f"{last['model']} lowest, at {view.score(last)}."
        )
        if view.pairs:
            text += f" {comparisons.verdict(view)}"
    tests = best.get("chance")
    if tests and tests["equivalence"]["p_holm"] < view.alpha:
        text += (
            f" To these evaluators {best['model']} was indistinguishable from real within "
            f"{tests['equivalence']['margin']:g} points of 50%."
        )
    elif tests and tests["hyperrealism"]["p_holm"] < view.alpha:
        text += (
            f" {best['model']} is above 50%: its fakes passed for real more readily than real pictures did."
        )
    return text


def _model(
    answers: Answers, values: Values, model: str, level: float, chosen: FindingsOptions
) -> dict[str, Any]:
    code = answers.model.names.index(model)
    judges = answers.judges
    of_model = judges.model == code
    responses = int(judges.seen[of_model].sum())
    accuracy = 1 - float(judges.wrong[of_model].sum()) / responses
    row: dict[str, Any] = {
        "model": model,
        "detection": detection(answers, code, level),
        "width": width_curve(values, responses, accuracy, level, chosen.costs),
    }
    rng = np.random.default_rng(chosen.seed)
    if answers.has_shares:
        row["chance"] = against_chance(share_of(answers, code, values), level, chosen.margin)
    if not answers.has_shares:
        row["exposures"] = exposures_of(answers, code, level, chosen.threshold_at)
    if answers.has_fixed_exposures:
        row["function"] = function_of(answers, code, level, chosen.threshold_at, rng)
    if "stimulus" in answers.texts:
        row["image_reliability"] = reliability.of_images(answers, code, rng)
    return row


def _follow_ups(
    answers: Answers, order: Sequence[str], level: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return findings on what was asked after answers; only those for which there are data.

    Models are in the order of the scores; what is over all models, or of reals, is last.
    """
    ranks = {model: rank for rank, model in enumerate(order)}

    def ordered(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted(rows, key=lambda row: ranks.get(row["model"], len(ranks)))

    shares: dict[str, Any] = {}
    if sure := confidence(answers, level):
        shares["confidence"] = {**sure, "models": ordered(sure["models"])}
    if why := reasons(answers, level):
        shares["reasons"] = {**why, "rows": ordered(why["rows"])}
    if written := comments(answers):
        shares["comments"] = ordered(written)
    if where := marks(answers, level, rng):
        shares["marks"] = {**where, "groups": ordered(where["groups"]), "rows": ordered(where["rows"])}
    return shares


def _reliability(
    answers: Answers, values: Mapping[str, Values], groups: Groups, rng: np.random.Generator
) -> dict[str, Any] | None:
    if design_of(answers).kind == BETWEEN:
        return reliability.of_models([*groups.values()], rng)
    return reliability.of_people(crossing_of(answers, values, [*groups]), rng)


def _classes(answers: Answers, options: Options) -> list[dict[str, Any]]:
    """Return the models' scores by class; empty if the responses have fewer than two classes."""
    column = answers.texts.get("class")
    if column is None or len([name for name in column.names if name]) < 2:
        return []
    return [
        {"class": name, "models": score_models(filter_rows(answers, column.codes == code), **asdict(options))}
        for code, name in sorted(enumerate(column.names), key=lambda one: one[1])
        if name
    ]
