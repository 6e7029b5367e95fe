"""The tests between models that fit a design: for different evaluators, or for the same on several models."""

from collections.abc import Mapping
from typing import Any

from backend.analysis.comparisons import means as comparisons
from backend.analysis.comparisons import repeated
from backend.analysis.comparisons.means import Groups, Moments
from backend.analysis.table.designs import BETWEEN, WITHIN, crossing_of, design_of
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers

TUKEY, PAIRED, CLUSTERED = "tukey", "paired", "clustered"
"""Tests of pairs: Tukey's; t-tests within evaluators; t-tests over evaluators of whom some judged both."""


def tests_of(answers: Answers, values: Mapping[str, Values], groups: Groups, level: float) -> dict[str, Any]:
    """Return `anova`, `pairs`, `pairs_method` and, if there are two models in total, `ttest`.

    Args:
        groups: values of the models that enter tests, in the order of the scores.
    """
    kind = design_of(answers).kind
    if kind == BETWEEN:
        tests = between_subjects(groups, level)
    else:
        crossing = crossing_of(answers, values, [*groups])
        is_whole = kind == WITHIN and len(groups) >= 2
        tests = {
            "anova": None if len(groups) < 2 else (repeated.anova if is_whole else repeated.wald)(crossing),
            "pairs": repeated.pairs(crossing, level),
            "pairs_method": PAIRED if kind == WITHIN else CLUSTERED,
            "ttest": repeated.paired(crossing, level),
        }
    if len(answers.model.names) != 2:
        del tests["ttest"]
    return tests


def further_tests(
    answers: Answers, values: Mapping[str, Values], groups: Groups, level: float
) -> dict[str, Any]:
    """Return further tests and effect sizes between models, in addition to `tests_of`."""
    kind = design_of(answers).kind
    names = ("anova_note", "effects", "equal_spread", "welch", "pairs_advised")
    empty: dict[str, Any] = {**dict.fromkeys(names), "games_howell": [], "pair_effects": []}
    if kind == BETWEEN:
        return _beside_between(groups, level) if comparisons.are_comparable(groups) else empty
    if len(groups) < 2:
        return empty
    crossing = crossing_of(answers, values, [*groups])
    is_whole = kind == WITHIN
    people, models = crossing.is_there.any(axis=1).sum(), len(groups)
    note = (
        f"repeated measures of {people} evaluators: the degrees of freedom are {models - 1} ({models} models "
        f"less 1) and {(people - 1) * (models - 1)} ({people - 1} times {models - 1}), less what Greenhouse "
        "and Geisser take off"
        if is_whole
        else "a Wald test with evaluators as clusters, since some of them judged some of the models"
    )
    return {
        **empty,
        "anova_note": note,
        "effects": repeated.effect_sizes(crossing) if is_whole else None,
        "pairs_advised": PAIRED if is_whole else CLUSTERED,
        "pair_effects": repeated.pair_effects(crossing, level),
    }


def between_subjects(groups: Groups, level: float) -> dict[str, Any]:
    """Return the result of `tests_of` for models that different evaluators judged."""
    is_testable = comparisons.are_comparable(groups)
    return {
        "anova": comparisons.anova(Moments.of(groups)) if is_testable else None,
        "pairs": comparisons.tukey(groups, level) if is_testable else [],
        "pairs_method": TUKEY,
        "ttest": comparisons.student(groups, level) if is_testable and len(groups) == 2 else None,
    }


def _beside_between(groups: Groups, level: float) -> dict[str, Any]:
    moments = Moments.of(groups)
    spread = comparisons.equal_spread(groups)
    do_differ = spread is not None and spread["p"] < 1 - level
    return {
        "anova_note": _anova_note(moments),
        "effects": comparisons.effect_sizes(moments),
        "equal_spread": spread,
        "welch": comparisons.welch(moments),
        "games_howell": comparisons.games_howell(groups, level),
        "pairs_advised": "games_howell" if do_differ else TUKEY,
        "pair_effects": comparisons.pair_effects(groups, level),
    }


def _anova_note(moments: Moments) -> str:
    models, people = len(moments.sizes), int(moments.sizes.sum())
    return (
        f"the degrees of freedom are {models - 1} ({models} models less 1) and {people - models} ({people} "
        f"evaluators less {models} models); not one model's evaluators less 1"
    )
