"""Tests between models over evaluators *and* stimuli, in addition to ANOVA and Tukey's over evaluators only.

With V_a the variance of model a's score over evaluators and stimuli (`crossing.py`), the models are
compared as Welch (1951) and Games and Howell (1976) compare means of unequal variances, with V_a instead of
s^2 / n, and with Satterthwaite's degrees of freedom for it: a quasi-F in the sense of Clark (1973). Real
stimuli that evaluators of all models saw shift all scores equally and do not count: their covariance
between evaluators of two models is subtracted from V_a, down to the part of evaluators and fakes.

If evaluators judged several models, the variance of a difference is that of `repeated.py` over
evaluators, plus the parts of the stimuli in both scores.

Pairs also have tests of equivalence (`equivalence.py`) and effect sizes over both (`answer_effects.py`).

With shared stimuli, ANOVA finds differences that other stimuli would not show. This test is advised if
their share of some model's variance is `NEGLIGIBLE` or more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backend.analysis.comparisons import repeated
from backend.analysis.comparisons.answer_effects import answer_effects
from backend.analysis.comparisons.equivalence import equivalence
from backend.analysis.comparisons.means import comparisons_of
from backend.analysis.distributions.inference import NEGLIGIBLE, Component, Estimate, welch
from backend.analysis.table.designs import Crossing


@dataclass(frozen=True)
class Sampled(Estimate):
    """A model's score (percent, or ms), and what is random in it."""

    of_answers: float | None = None
    """The variance of single answers (percent squared); None for exposures."""
    moving: float = 0.0
    """The error (percent) with which that variance moves as the score does, as in `answer_effects.py`."""


def over_pictures(
    models: Mapping[str, Sampled], level: float, margin: float | None = None
) -> dict[str, Any] | None:
    """Return the test of all models and of each pair; None if fewer than two vary.

    Args:
        margin: margin of equivalence in percentage points; None for exposures.

    Returns:
        `F`, `df`, `p`, `pairs` with simultaneous intervals, `equivalence` and `effect` (None for exposures),
        each model's `share_of_pictures`, and whether the test is `advised`.
    """
    known = {model: one for model, one in models.items() if one.total.variance > 0}
    if len(known) < 2:
        return None
    shares = {model: one.share_of_pictures or 0.0 for model, one in known.items()}
    scores, total = (
        np.array([one.value for one in known.values()]),
        _each(one.total for one in known.values()),
    )
    i, j = np.triu_indices(len(known), 1)
    apart, covariance = Estimate(scores[i] - scores[j], total.of_pairs(i, j)), np.diag(total.variance)
    pairs = comparisons_of([*known], apart, level)
    sizes = _sizes([*known.values()], covariance, i, j, apart, level, margin)
    dfs = apart.total.df.tolist()
    return {
        **welch(scores, total),
        "pairs": [{**pair, "df": df, **size} for pair, df, size in zip(pairs, dfs, sizes, strict=True)],
        "share_of_pictures": shares,
        "advised": max(shares.values()) >= NEGLIGIBLE,
    }


def within_evaluators(
    crossing: Crossing, models: Mapping[str, Sampled], level: float, margin: float | None = None
) -> dict[str, Any] | None:
    """Return the same tests if evaluators judged several models; None if no pair varies.

    `F`, `df`, `p` are those of `repeated.wald`, and None if there are too few evaluators for it;
    `share_of_pictures` is a model's largest share in the variance of a difference.
    """
    extra = _each(models[model].pictures or Component(0.0, 1.0) for model in crossing.models)
    pairs = repeated.pairs(crossing, level, extra)
    if not pairs:
        return None
    shares = dict.fromkeys(crossing.models, 0.0)
    place = {model: code for code, model in enumerate(crossing.models)}
    i, j = (np.array([place[pair[side]] for pair in pairs]) for side in ("a", "b"))
    covariance = repeated.covariance_of(crossing) + np.diag(extra.variance)
    scores = np.array([models[model].value for model in crossing.models])
    pictures = extra.of_pairs(i, j)
    apart = Estimate(scores[i] - scores[j], _skewed(crossing, models, i, j), pictures)
    for pair, share in zip(pairs, pictures.variance / apart.total.variance, strict=True):
        for model in (pair["a"], pair["b"]):
            shares[model] = max(shares[model], float(share))
    sizes = _sizes([models[model] for model in crossing.models], covariance, i, j, apart, level, margin)
    pairs = [{**pair, **size} for pair, size in zip(pairs, sizes, strict=True)]
    return {
        **(repeated.wald(crossing, extra) or dict.fromkeys(("F", "df", "p"))),
        "pairs": pairs,
        "share_of_pictures": shares,
        "advised": max(shares.values()) >= NEGLIGIBLE,
    }


def _skewed(crossing: Crossing, models: Mapping[str, Sampled], i: np.ndarray, j: np.ndarray) -> Component:
    """Return the evaluators' component of differences, with its third cumulant, for equivalence.

    It is that which evaluators show or that of the scores apart, whichever is farther from 0.
    """
    people, shown = repeated.of_people(crossing, i, j), repeated.third_cumulants(crossing, i, j)
    apart = _each(models[model].people for model in crossing.models).of_pairs(i, j).third
    return replace(people, third=np.where(np.abs(shown) > np.abs(apart), shown, apart))


def _each(components: Iterable[Component]) -> Component:
    """Return components as one of arrays."""
    found = [*components]
    columns = ([float(getattr(one, name)) for one in found] for name in ("variance", "df", "third"))
    return Component(*map(np.array, columns))


def _sizes(
    models: Sequence[Sampled],
    covariance: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    apart: Estimate,
    level: float,
    margin: float | None,
) -> list[dict[str, Any]]:
    """Return `equivalence` and `effect` of each pair; arguments as for `answer_effects`."""
    tests = equivalence(apart, level, margin)
    of_answers = [one.of_answers for one in models if one.of_answers is not None]
    effects: Sequence[dict[str, Any] | None] = [None] * len(i)
    if len(of_answers) == len(models):
        scores, moving = np.array([(one.value, one.moving) for one in models]).T
        effects = answer_effects(
            scores, moving, np.array(of_answers), covariance, i, j, apart.total.df, level
        )
    return [{"equivalence": test, "effect": effect} for test, effect in zip(tests, effects, strict=True)]
