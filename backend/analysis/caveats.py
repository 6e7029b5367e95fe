"""Sentences on what the scores do not show."""

from collections.abc import Iterator

import numpy as np

from backend.analysis.comparisons import Groups
from backend.answers import Answers


def caveats(answers: Answers, groups: Groups) -> list[str]:
    """Return what a reader of the scores should know of the responses.

    Args:
        groups: the models that enter the tests.
    """
    return [*_people(answers), *_unlike_others(answers, groups)]


def _people(answers: Answers) -> Iterator[str]:
    models_of = np.bincount(answers.judges.evaluator, minlength=len(answers.evaluator.names))
    several = sorted(str(answers.evaluator.names[code]) for code in np.flatnonzero(models_of > 1))
    if several:
        yield (
            f"{_evaluators(len(several))} judged more than one model (such as {several[0]}); the tests "
            "take evaluators of different models for different people"
        )


def _unlike_others(answers: Answers, groups: Groups) -> Iterator[str]:
    judges = answers.judges
    for code, model in enumerate(answers.model.names):
        if len(answers.model.names) > 1 and model not in groups:
            yield f"{model} has one evaluator and is left out of the tests"
        seen = judges.seen[judges.model == code]
        typical = float(np.median(seen))
        few, many = int((seen < typical / 2).sum()), int((seen > typical * 2).sum())
        if few:
            yield (
                f"{_evaluators(few)} of {model} gave less than half of the usual {typical:g} responses and "
                "may not have finished; each evaluator weighs the same in the score"
            )
        if many:
            yield (
                f"{_evaluators(many)} of {model} gave more than twice the usual {typical:g} responses; each "
                "evaluator weighs the same in the score"
            )


def _evaluators(count: int) -> str:
    return f"{count} evaluator{'s' if count != 1 else ''}"
