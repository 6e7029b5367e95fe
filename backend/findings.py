"""Everything a results section says of responses: scores, and what stands beside them in a report.

`findings` is the scores of the contract with one more key, `findings`: plain data, from which the
report, its tables and its figures are drawn. Nothing here leaves anyone out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from backend.analysis import reliability
from backend.analysis.chance import CHANCE, MARGIN, against_chance
from backend.analysis.checkpoints import progress
from backend.analysis.comparisons import (
    Groups,
    Moments,
    are_comparable,
    effect_sizes,
    equal_spread,
    games_howell,
    pair_effects,
    welch,
)
from backend.analysis.costs import Costs
from backend.analysis.crossing import crossed_interval
from backend.analysis.curve import width_curve
from backend.analysis.detection import detection
from backend.analysis.exposures import exposures_of, staircases
from backend.analysis.fooling import image_table
from backend.analysis.psychometric import THRESHOLD_AT
from backend.analysis.quality import evaluator_table
from backend.analysis.ranks import with_metrics
from backend.analysis.values import Values, values_by_model
from backend.answers import Answers, some_of
from backend.errors import InvalidInput
from backend.scoring import groups_of, score_answers


@dataclass(frozen=True)
class Question:
    """What the findings are asked for."""

    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Automatic metrics: by metric, then by model."""
    costs: Costs = Costs()
    margin: float = MARGIN
    """Points of percent around 50% that count as indistinguishable."""
    threshold_at: float = THRESHOLD_AT
    """Accuracy (0 to 1) at which the psychometric function has its threshold."""
    seed: int = 0
    """Of the split halves and of the simulated data sets of the goodness of fit."""

    def __post_init__(self):
        if not 0 < self.margin < CHANCE:
            raise InvalidInput(f"margin must be between 0 and 50 points of percent, not {self.margin:g}")
        if not CHANCE / 100 < self.threshold_at < 1:
            raise InvalidInput(f"threshold_at must be between 0.5 and 1, not {self.threshold_at:g}")


def findings(answers: Answers, question: Question | None = None, **options: Any) -> dict[str, Any]:
    """Return the scores with everything that a report tells of them.

    Args:
        answers: read with `details`, for what images, classes and response times tell.
        **options: those of `scoring.Options`.

    Raises:
        InvalidInput: no responses, or an option out of range.
    """
    asked = question or Question()
    scores = score_answers(answers, **options)
    values = values_by_model(answers)
    order = [row["model"] for row in scores["models"]]
    groups = groups_of(values, order)
    level = scores["settings"]["level"]
    found = {
        "models": [_model(answers, values[model], model, level, asked) for model in order],
        **_between(groups, level),
        "metrics": with_metrics({row["model"]: row["score"] for row in scores["models"]}, asked.metrics),
        "progress": progress(scores["models"]),
        "classes": _classes(answers, options),
        "reliability": reliability.of_models([*groups.values()], np.random.default_rng(asked.seed)),
        "evaluators": evaluator_table(answers, values),
        "images": image_table(answers, level) if "stimulus" in answers.texts else [],
        "staircases": staircases(answers) if answers.method == "time" else [],
    }
    return {**scores, "findings": found}


def _model(answers: Answers, values: Values, model: str, level: float, asked: Question) -> dict[str, Any]:
    code = answers.model.names.index(model)
    judges = answers.judges
    mine = judges.model == code
    responses = int(judges.seen[mine].sum())
    accuracy = 1 - float(judges.wrong[mine].sum()) / responses
    row: dict[str, Any] = {
        "model": model,
        "detection": detection(judges, mine, level),
        "width": width_curve(values, responses, accuracy, level, asked.costs),
    }
    rng = np.random.default_rng(asked.seed)
    if answers.method == "infinity":
        row["chance"] = against_chance(values.numbers, level, asked.margin)
        row["crossed"] = crossed_interval(answers, code, level) if "stimulus" in answers.texts else None
    else:
        row["exposures"] = exposures_of(answers, code, level, asked.threshold_at, rng)
    if "stimulus" in answers.texts:
        row["image_reliability"] = reliability.of_images(answers, code, rng)
    return row


def _between(groups: Groups, level: float) -> dict[str, Any]:
    """Return what is said between models besides the ANOVA and Tukey's pairs of the scores."""
    if not are_comparable(groups):
        empty = dict.fromkeys(("anova_note", "effects", "equal_spread", "welch", "pairs_advised"))
        return {**empty, "games_howell": [], "pair_effects": []}
    moments = Moments.of(groups)
    spread = equal_spread(groups)
    do_differ = spread is not None and spread["p"] < 1 - level
    return {
        "anova_note": _anova_note(moments),
        "effects": effect_sizes(moments),
        "equal_spread": spread,
        "welch": welch(moments),
        "games_howell": games_howell(groups, level),
        "pairs_advised": "games_howell" if do_differ else "tukey",
        "pair_effects": pair_effects(groups, level),
    }


def _anova_note(moments: Moments) -> str:
    models, people = len(moments.sizes), int(moments.sizes.sum())
    return (
        f"the degrees of freedom are {models - 1} ({models} models less 1) and {people - models} ({people} "
        f"evaluators less {models} models); not one model's evaluators less 1"
    )


def _classes(answers: Answers, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the models' scores by class, where responses name more than one."""
    column = answers.texts.get("class")
    if column is None or len([name for name in column.names if name]) < 2:
        return []
    return [
        {"class": name, "models": score_answers(some_of(answers, column.codes == code), **options)["models"]}
        for code, name in sorted(enumerate(column.names), key=lambda one: one[1])
        if name
    ]
