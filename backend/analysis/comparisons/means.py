"""Tests between models: do the means of their evaluators' values differ, by how much, and the variances?

Groups are arrays of evaluators' values by model, each of two or more. One-way ANOVA with Tukey's pairwise
comparisons (Tukey-Kramer for unequal groups) assumes equal variances; Welch's ANOVA (Welch, 1951) with the
comparisons of Games and Howell (1976) does not. The test of Brown and Forsythe (1974) is of equal variances.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from backend.analysis.distributions import inference, noncentral_t
from backend.analysis.distributions.inference import Component, Estimate, f_test

Groups = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Moments:
    """Sizes, means and variances of groups, arrays of shape (groups,)."""

    sizes: np.ndarray
    means: np.ndarray
    variances: np.ndarray
    """Sample variances, with n - 1."""

    @classmethod
    def of(cls, groups: Groups) -> "Moments":
        return cls(
            np.array([len(values) for values in groups.values()], float),
            np.array([_mean(values) for values in groups.values()]),
            np.array([_variance(values) for values in groups.values()]),
        )

    @property
    def within_df(self) -> float:
        return float(self.sizes.sum() - len(self.sizes))

    @property
    def within(self) -> float:
        """The pooled variance within groups."""
        return float(((self.sizes - 1) * self.variances).sum() / self.within_df)

    @property
    def of_means(self) -> Component:
        """The component of each mean, of groups with variances of their own."""
        return Component(self.variances / self.sizes, self.sizes - 1)

    @property
    def between_squares(self) -> float:
        grand = (self.sizes * self.means).sum() / self.sizes.sum()
        return float((self.sizes * (self.means - grand) ** 2).sum())


def are_comparable(groups: Groups) -> bool:
    """Return whether there are two models or more, and the evaluators of some model differ."""
    return len(groups) >= 2 and any(values.min() < values.max() for values in groups.values())


def anova(moments: Moments) -> dict[str, Any]:
    """Return the one-way ANOVA, from summary statistics alone."""
    between = len(moments.sizes) - 1
    return f_test(moments.between_squares / between / moments.within, between, int(moments.within_df))


def effect_sizes(moments: Moments) -> dict[str, float]:
    """Return eta squared, the share of variance that models explain, and omega squared, its bias removed."""
    between, within, groups = moments.between_squares, moments.within, len(moments.sizes)
    total = between + within * moments.within_df
    return {
        "eta_squared": between / total,
        "omega_squared": (between - (groups - 1) * within) / (total + within),
    }


def welch(moments: Moments) -> dict[str, Any] | None:
    """Return Welch's ANOVA; None if all evaluators of a model have the same value."""
    if not (moments.variances > 0).all():
        return None
    return inference.welch(moments.means, moments.of_means)


def equal_spread(groups: Groups) -> dict[str, Any] | None:
    """Return the Brown-Forsythe test (Levene's, about the medians) that all models have equal variances."""
    distances = {model: np.abs(values - np.median(values)) for model, values in groups.items()}
    return anova(Moments.of(distances)) if are_comparable(distances) else None


def tukey(groups: Groups, level: float) -> list[dict[str, Any]]:
    """Return Tukey's comparison of each pair, in the order of the groups, with simultaneous intervals."""
    moments = Moments.of(groups)
    i, j = np.triu_indices(len(groups), 1)
    variance = moments.within * (1 / moments.sizes[i] + 1 / moments.sizes[j])
    pooled = Component(variance, np.full(len(i), moments.within_df))
    return comparisons_of([*groups], Estimate(moments.means[i] - moments.means[j], pooled), level)


def games_howell(groups: Groups, level: float) -> list[dict[str, Any]]:
    """Return the comparisons of Games and Howell, which do not assume equal variances.

    A pair of models without variance has no such comparison and is omitted.
    """
    moments = Moments.of(groups)
    i, j = np.triu_indices(len(groups), 1)
    apart = Estimate(moments.means[i] - moments.means[j], moments.of_means.of_pairs(i, j))
    return comparisons_of([*groups], apart, level)


def comparisons_of(models: Sequence[str], apart: Estimate, level: float) -> list[dict[str, Any]]:
    """Return the comparison of each pair that varies by the studentized range.

    Args:
        apart: the differences of all pairs, in the order of the models; arrays of shape (pairs,).
    """
    total = apart.total
    is_there = total.variance > 0
    if not is_there.any():
        return []
    known = Estimate(apart.value[is_there], Component(total.variance[is_there], total.df[is_there]))
    p, cis = inference.ranges(known, len(models), level)
    names = (pair for pair, varies in zip(combinations(models, 2), is_there, strict=True) if varies)
    return [
        {"a": a, "b": b, "difference": difference, "ci": ci, "p": of_pair}
        for (a, b), difference, ci, of_pair in zip(names, known.value.tolist(), cis, p, strict=True)
    ]


def student(groups: Groups, level: float) -> dict[str, Any]:
    """Return Student's unpaired t-test of two models, with Welch's t-test and the effect size.

    `d` is Cohen's, over the pooled SD; `g` is Hedges', corrected for bias in small samples; their interval
    is the exact one from the noncentral t distribution (Hedges and Olkin, 1985).
    """
    moments = Moments.of(groups)
    difference, df = float(moments.means[0] - moments.means[1]), moments.within_df
    scale, first, second = math.sqrt((1 / moments.sizes).sum()), np.array([0]), np.array([1])
    own = moments.of_means.of_pairs(first, second)
    pooled = Estimate(difference, Component(moments.within * scale**2, df)).t_test(level)
    return {
        **pooled,
        "difference": difference,
        "welch": Estimate(difference, Component(float(own.variance[0]), float(own.df[0]))).t_test(level),
        "effect": noncentral_t.effects(np.array([pooled["t"]]), np.array([df]), np.array([scale]), level)[0],
    }


def pair_effects(groups: Groups, level: float) -> list[dict[str, Any]]:
    """Return the effect size of each pair, `effect` of `student`, from the SDs of these two models only.

    A pair of models without variance has none and is omitted.
    """
    if len(groups) < 2:
        return []
    moments, names = Moments.of(groups), [*groups]
    i, j = np.triu_indices(len(groups), 1)
    squares = (moments.sizes - 1) * moments.variances
    df = moments.sizes[i] + moments.sizes[j] - 2
    pooled = (squares[i] + squares[j]) / df
    i, j, df, pooled = (column[pooled > 0] for column in (i, j, df, pooled))
    scale = np.sqrt(1 / moments.sizes[i] + 1 / moments.sizes[j])
    t = (moments.means[i] - moments.means[j]) / (np.sqrt(pooled) * scale)
    effects = noncentral_t.effects(t, df, scale, level)
    return [
        {"a": names[a], "b": names[b], **effect}
        for a, b, effect in zip(i.tolist(), j.tolist(), effects, strict=True)
    ]


def _mean(values: np.ndarray) -> float:
    return math.fsum(values) / len(values)


def _variance(values: np.ndarray) -> float:
    """Return the sample variance; exactly 0 if all values are equal."""
    centred = values - values[0]
    return float(centred.var(ddof=1))
