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

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import fdtrc

from backend.analysis import repeated, studentized_range
from backend.analysis.answer_effects import answer_effects
from backend.analysis.crossing import NEGLIGIBLE
from backend.analysis.designs import Crossing
from backend.analysis.equivalence import equivalence


@dataclass(frozen=True)
class Part:
    """A component of a score's variance, with its degrees of freedom."""

    variance: float
    df: float


@dataclass(frozen=True)
class Sampled:
    """A model's score, and the components of its variance, that of evaluators first."""

    score: float
    parts: tuple[Part, ...]
    of_answers: float | None = None
    """The variance of single answers (percent squared); None for exposures."""

    @property
    def variance(self) -> float:
        return math.fsum(part.variance for part in self.parts)

    @property
    def df(self) -> float:
        squares = math.fsum(part.variance**2 / part.df for part in self.parts)
        return self.variance**2 / squares if squares else self.parts[0].df

    @property
    def share_of_pictures(self) -> float:
        return 1 - self.parts[0].variance / self.variance if self.variance else 0.0


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
    known = {model: one for model, one in models.items() if one.variance > 0}
    if len(known) < 2:
        return None
    shares = {model: one.share_of_pictures for model, one in known.items()}
    return {
        **_welch([*known.values()]),
        "pairs": _pairs(known, level, margin),
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
    pictures = [models[model].parts[1:] for model in crossing.models]
    extra = repeated.Extra(
        np.array([math.fsum(part.variance for part in parts) for parts in pictures]),
        np.array([math.fsum(part.variance**2 / part.df for part in parts) for parts in pictures]),
    )
    pairs = repeated.pairs(crossing, level, extra)
    if not pairs:
        return None
    shares = dict.fromkeys(crossing.models, 0.0)
    place = {model: code for code, model in enumerate(crossing.models)}
    i, j = (np.array([place[pair[side]] for pair in pairs]) for side in ("a", "b"))
    variance, df = repeated.variances(crossing, i, j, extra)
    for pair, share in zip(pairs, (extra.variance[i] + extra.variance[j]) / variance, strict=True):
        for model in (pair["a"], pair["b"]):
            shares[model] = max(shares[model], float(share))
    covariance = repeated.covariance_of(crossing) + np.diag(extra.variance)
    sizes = _sizes([models[model] for model in crossing.models], covariance, i, j, df, level, margin)
    pairs = [{**pair, **size} for pair, size in zip(pairs, sizes, strict=True)]
    return {
        **(repeated.wald(crossing, extra) or dict.fromkeys(("F", "df", "p"))),
        "pairs": pairs,
        "share_of_pictures": shares,
        "advised": max(shares.values()) >= NEGLIGIBLE,
    }


def _welch(models: Sequence[Sampled]) -> dict[str, Any]:
    scores = np.array([one.score for one in models])
    weights = 1 / np.array([one.variance for one in models])
    shares, count = weights / weights.sum(), len(models)
    spread = float(((1 - shares) ** 2 / np.array([one.df for one in models])).sum())
    between = float((weights * (scores - shares @ scores) ** 2).sum()) / (count - 1)
    f = between / (1 + 2 * (count - 2) / (count**2 - 1) * spread)
    df = [count - 1, (count**2 - 1) / (3 * spread)]
    return {"F": f, "df": df, "p": float(fdtrc(df[0], df[1], f))}


def _pairs(models: Mapping[str, Sampled], level: float, margin: float | None) -> list[dict[str, Any]]:
    i, j = np.triu_indices(len(models), 1)
    both = [one.parts + other.parts for one, other in combinations(models.values(), 2)]
    pairs = [Sampled(0.0, parts) for parts in both]
    scores = np.array([one.score for one in models.values()])
    differences = scores[i] - scores[j]
    errors = np.sqrt([pair.variance / 2 for pair in pairs])
    df = np.array([pair.df for pair in pairs])
    p = studentized_range.sf(np.abs(differences) / errors, len(models), df)
    halves = errors * studentized_range.isf(1 - level, len(models), df)
    covariance = np.diag([one.variance for one in models.values()])
    sizes = _sizes([*models.values()], covariance, i, j, df, level, margin)
    return [
        {
            "a": a,
            "b": b,
            "difference": float(differences[place]),
            "ci": [float(differences[place] - halves[place]), float(differences[place] + halves[place])],
            "df": float(df[place]),
            "p": float(p[place]),
            **sizes[place],
        }
        for place, (a, b) in enumerate(combinations(models, 2))
    ]


def _sizes(
    models: Sequence[Sampled],
    covariance: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    df: np.ndarray,
    level: float,
    margin: float | None,
) -> list[dict[str, Any]]:
    """Return `equivalence` and `effect` of each pair; arguments as for `answer_effects`."""
    scores = np.array([one.score for one in models])
    error = np.sqrt(covariance[i, i] + covariance[j, j] - 2 * covariance[i, j])
    tests = equivalence(scores[i] - scores[j], error, df, level, margin)
    of_answers = [one.of_answers for one in models if one.of_answers is not None]
    effects: Sequence[dict[str, Any] | None] = [None] * len(i)
    if len(of_answers) == len(models):
        effects = answer_effects(scores, np.array(of_answers), covariance, i, j, df, level)
    return [{"equivalence": test, "effect": effect} for test, effect in zip(tests, effects, strict=True)]
