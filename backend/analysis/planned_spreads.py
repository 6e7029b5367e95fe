"""Spreads from which studies are planned: those of a judgment without a pilot, and those of a pilot.

A pilot of few people does not tell how much people differ: its variance has `df` degrees of freedom, which
the plan takes account of (`power.py`). Still less does it tell how much pictures differ: the estimate is
pooled with that of simulated evaluators, by the degrees of freedom of both.
"""

from backend.analysis.judgment_scores import scores_of
from backend.analysis.planning.spread import Spread
from backend.analysis.table.response_table import Answers
from backend.experiment.protocol import Protocol
from backend.foundation.errors import InvalidInput


def without_pilot(protocol: Protocol, models: int = 2, images: int | None = None) -> list[Spread]:
    """Return the spreads that a judgment expects: published ones, or those that are assumed; [] for neither.

    Args:
        images: that an evaluator judges, where spreads depend on it; default, those of `protocol`.
    """
    return scores_of(protocol.method).expected_spreads(protocol, models, images)


def spreads_of(answers: Answers) -> list[Spread]:
    """Return the spread of each model of a pilot that has two evaluators or more.

    Of constant stimuli that each evaluator saw, those of each exposure follow those of all.

    Raises:
        InvalidInput: a method that is not planned, no model with two evaluators, or an evaluator with one
            image.
    """
    if spreads := scores_of(answers.method).spreads(answers):
        return spreads
    raise InvalidInput("a pilot needs a model with at least two evaluators, to estimate how they differ")
