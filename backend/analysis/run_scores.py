"""The scores of one run of a study, as they are compared with those of others (`run_contrasts.py`)."""

import math
from collections.abc import Mapping

from backend.analysis.comparisons.run_contrasts import RunScore
from backend.analysis.crossing import sides_of
from backend.analysis.distributions.inference import Component, Estimate, as_of_share, mean_of
from backend.analysis.score_intervals import share_of
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_table import BESIDE, Answers
from backend.analysis.time_scores import Times, residual_sides, threshold_a_residual


def run_scores(answers: Answers, level: float) -> dict[str, RunScore]:
    """Return the score of each model with two evaluators or more: a share (percent), or an exposure (ms)."""
    one = _of_share if answers.has_shares else _of_exposures
    return {
        model: one(answers, code, values, level)
        for code, (model, values) in enumerate(values_by_model(answers).items())
        if len(values) > 1
    }


def scores_over_evaluators(values: Mapping[str, Values]) -> dict[str, RunScore]:
    """Return the score of each model with two evaluators or more, of which evaluators alone are random."""
    return {model: RunScore(mean_of(own.numbers)) for model, own in values.items() if len(own) > 1}


def _of_share(answers: Answers, code: int, values: Values, level: float) -> RunScore:
    share = share_of(answers, code, values)
    assert share is not None  # of two evaluators or more
    independent = share.value * (1 - share.value) / share.answers
    people, alone = (
        as_of_share(each, share.value, share.answers).times(100)
        for each in (share.people, Component(independent, math.inf))
    )
    sides = () if share.pictures is None else sides_of(answers, code)
    names = _names(answers) if sides else ()
    return RunScore(Estimate(100 * share.value, people), alone, sides, names, 100.0, share.value)


def _of_exposures(answers: Answers, code: int, values: Values, level: float) -> RunScore:
    found = Times(answers, level).population(code)
    sides = residual_sides(answers, code, found)
    scale = threshold_a_residual(found) * found.turn
    return RunScore(mean_of(values.numbers), sides=sides, names=_names(answers) if sides else (), scale=scale)


def _names(answers: Answers) -> tuple[list[str], list[str]]:
    """Return the names of stimuli of each side by the codes of `sides_of`, which are their ranks."""
    fakes = sorted(map(str, answers.texts["stimulus"].names))
    beside = answers.texts.get(BESIDE)
    return (fakes if beside is None else sorted(map(str, beside.names)), fakes)
