"""Findings: the scores of responses with every further analysis of a report.

`findings` returns the scores with one more key, `findings`: plain data, from which the report with its
tables and figures is made. An evaluator is excluded only by a rule that the study declared; what the rule
leaves out is in `exclusion`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backend.analysis import reliability
from backend.analysis.browsers import by_browser
from backend.analysis.chance import CHANCE, MARGIN, against_chance, over_models
from backend.analysis.checkpoints import progress
from backend.analysis.comparisons import Groups
from backend.analysis.confidence import confidence
from backend.analysis.constant_stimuli import function_of
from backend.analysis.costs import Costs
from backend.analysis.crossed_model import crossed_model, crossed_model_note
from backend.analysis.crossing import crossed_interval
from backend.analysis.curve import width_curve
from backend.analysis.designs import BETWEEN, crossing_of, design_of
from backend.analysis.detection import detection
from backend.analysis.draws import random_share
from backend.analysis.exposures import exposures_of, staircases
from backend.analysis.fooling import image_table
from backend.analysis.marks import marks
from backend.analysis.model_tests import further_tests
from backend.analysis.psychometric import THRESHOLD_AT
from backend.analysis.quality import evaluator_table
from backend.analysis.ranks import with_metrics
from backend.analysis.reasons import comments, reasons
from backend.analysis.response_table import Answers, filter_rows
from backend.analysis.sides import sides
from backend.analysis.unscored_rows import attention
from backend.analysis.values import Values, values_by_model
from backend.foundation.errors import InvalidInput
from backend.scoring import groups_of, score_answers, score_models


@dataclass(frozen=True)
class FindingsOptions:
    """Options of the findings."""

    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Automatic metrics, by metric and then by model."""
    costs: Costs = Costs()
    margin: float = MARGIN
    """Percentage points around 50% that count as indistinguishable, above 0 and below 50."""
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


def findings(
    answers: Answers,
    findings_options: FindingsOptions | None = None,
    in_columns: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Return the scores with all further findings of a report, as plain data.

    Args:
        answers: responses, read with `details` for findings on images, classes and response times.
        in_columns: return the table of images as `ColumnRows`, which need a tenth of the memory.
        **options: those of `scoring.Options`.

    Raises:
        InvalidInput: no responses, or an option out of range.
    """
    chosen = findings_options or FindingsOptions()
    everything, answers = answers, random_share(answers)
    scores = score_answers(answers, **options)
    values = values_by_model(answers)
    order = [row["model"] for row in scores["models"]]
    groups = groups_of(values, order)
    level = scores["settings"]["level"]
    models = [_model(answers, values[model], model, level, chosen) for model in order]
    if answers.has_shares:
        tests = over_models([row["chance"] for row in models], level)
        models = [{**row, "chance": test} for row, test in zip(models, tests, strict=True)]
    images = image_table(everything, level) if "stimulus" in everything.texts else []
    found = {
        "models": models,
        "sides": sides(answers, level, order),
        **further_tests(answers, values, groups, level),
        "crossed_model": crossed_model(everything, level),
        "crossed_model_note": crossed_model_note(everything),
        "metrics": with_metrics({row["model"]: row["score"] for row in scores["models"]}, chosen.metrics),
        "progress": progress(scores["models"]),
        "classes": _classes(answers, options),
        "reliability": _reliability(answers, values, groups, np.random.default_rng(chosen.seed)),
        "evaluators": evaluator_table(answers, values),
        "attention": attention(answers, level),
        "images": images if in_columns else [*images],
        "staircases": staircases(answers) if answers.method == "time" else [],
        "browsers": by_browser(answers, values, level),
        "attrition": None,  # responses do not show dropouts; a store does (`study_findings.py`)
        "mistimed": None,  # nor which flashes were replaced
        **_follow_ups(answers, order, level, np.random.default_rng(chosen.seed)),
    }
    return {**scores, "findings": found}


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
        "detection": detection(judges, of_model, level),
        "width": width_curve(values, responses, accuracy, level, chosen.costs),
    }
    rng = np.random.default_rng(chosen.seed)
    if answers.has_shares:
        row["chance"] = against_chance(values.numbers, level, chosen.margin)
        row["crossed"] = crossed_interval(answers, code, level) if "stimulus" in answers.texts else None
    if answers.method == "time":
        row["exposures"] = exposures_of(answers, code, level, chosen.threshold_at, rng)
    if answers.method == "exposures":
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

    found: dict[str, Any] = {}
    if sure := confidence(answers, level):
        found["confidence"] = {**sure, "models": ordered(sure["models"])}
    if why := reasons(answers, level):
        found["reasons"] = {**why, "rows": ordered(why["rows"])}
    if written := comments(answers):
        found["comments"] = ordered(written)
    if where := marks(answers, level, rng):
        found["marks"] = {**where, "groups": ordered(where["groups"]), "rows": ordered(where["rows"])}
    return found


def _reliability(
    answers: Answers, values: Mapping[str, Values], groups: Groups, rng: np.random.Generator
) -> dict[str, Any] | None:
    if design_of(answers).kind == BETWEEN:
        return reliability.of_models([*groups.values()], rng)
    return reliability.of_people(crossing_of(answers, values, [*groups]), rng)


def _classes(answers: Answers, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the models' scores by class; empty if the responses have fewer than two classes."""
    column = answers.texts.get("class")
    if column is None or len([name for name in column.names if name]) < 2:
        return []
    return [
        {"class": name, "models": score_models(filter_rows(answers, column.codes == code), **options)}
        for code, name in sorted(enumerate(column.names), key=lambda one: one[1])
        if name
    ]
