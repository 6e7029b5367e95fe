"""Study designs by who judged which models: between subjects (HYPE 3), within subjects, or mixed."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers

BETWEEN, WITHIN, MIXED = "between", "within", "mixed"


@dataclass(frozen=True)
class Design:
    """The design of a set of responses."""

    kind: str
    """`between`: each evaluator judged one model; `within`: each judged every model; else `mixed`."""
    people: int
    several: int
    """Number of these who judged more than one model."""


def design_of(answers: Answers) -> Design:
    """Return the design of responses; with one model it is `between`."""
    models_of = np.bincount(answers.judges.evaluator, minlength=len(answers.evaluator.names))
    models, several = len(answers.model.names), int((models_of > 1).sum())
    kind = BETWEEN if not several else WITHIN if (models_of == models).all() else MIXED
    return Design(kind, len(models_of), several)


def models_as_strata(answers: Answers) -> np.ndarray | None:
    """Return the code of each response's model, its stratum in numbers over all models.

    None if evaluators judged several: then differences between models do not make evaluators differ.
    """
    return answers.model.codes if design_of(answers).kind == BETWEEN else None


@dataclass(frozen=True)
class Crossing:
    """Values by person and model, for the models that enter tests."""

    models: list[str]
    values: np.ndarray
    """Shape (people, models); 0 if a person did not judge a model."""
    is_there: np.ndarray
    """Whether a person judged a model, of the same shape."""


def crossing_of(answers: Answers, values: Mapping[str, Values], models: list[str]) -> Crossing:
    """Return the values of `models` by person."""
    judges, names = answers.judges, {name: code for code, name in enumerate(answers.model.names)}
    table = np.zeros((len(answers.evaluator.names), len(models)))
    is_there = np.zeros(table.shape, bool)
    for place, model in enumerate(models):
        people = judges.evaluator[judges.model == names[model]]
        table[people, place] = values[model].numbers
        is_there[people, place] = True
    return Crossing(models, table, is_there)
