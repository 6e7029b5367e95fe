"""Tests between models: do the means of their evaluators' values differ, by how much, and the variances?

Groups are arrays of evaluators' values by model, each of two or more. One-way ANOVA with Tukey's pairwise
comparisons (Tukey-Kramer for unequal groups) assumes equal variances; Welch's ANOVA (Welch, 1951) with the
comparisons of Games and Howell (1976) does not. The test of Brown and Forsythe (1974) is of equal variances.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from backend.analysis import noncentral_t, studentized_range

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
    def between_squares(self) -> float:
        grand = (self.sizes * self.means).sum() / self.sizes.sum()
        return float((self.sizes * (self.means - grand) ** 2).sum())


def are_comparable(groups: Groups) -> bool:
    """Return whether there are two models or more, and the evaluators of some model differ."""
    return len(groups) >= 2 and any(values.min() < values.max() for values in groups.values())


def anova(moments: Moments) -> dict[str, Any]:
    """Return the one-way ANOVA, from summary statistics alone."""
    df = [len(moments.sizes) - 1, int(moments.within_df)]
    f = moments.between_squares / df[0] / moments.within
    return {"F": f, "df": df, "p": float(fdtrc(df[0], df[1], f))}


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
    weights = moments.sizes / moments.variances
    shares = weights / weights.sum()
    k = len(weights)
    spread = ((1 - shares) ** 2 / (moments.sizes - 1)).sum()
    mean = (shares * moments.means).sum()
    between = (weights * (moments.means - mean) ** 2).sum() / (k - 1)
    f = between / (1 + 2 * (k - 2) / (k**2 - 1) * spread)
    df = [k - 1, float((k**2 - 1) / (3 * spread))]
    return {"F": float(f), "df": df, "p": float(fdtrc(df[0], df[1], f))}


def equal_spread(groups: Groups) -> dict[str, Any] | None:
    """Return the Brown-Forsythe test (Levene's, about the medians) that all models have equal variances."""
    distances = {model: np.abs(values - np.median(values)) for model, values in groups.items()}
    return anova(Moments.of(distances)) if are_comparable(distances) else None


def tukey(groups: Groups, level: float) -> list[dict[str, Any]]:
    """Return Tukey's comparison of each pair, in the order of the groups, with simultaneous intervals."""
    moments = Moments.of(groups)
    i, j = np.triu_indices(len(groups), 1)
    error = np.sqrt(moments.within / 2 * (1 / moments.sizes[i] + 1 / moments.sizes[j]))
    return [*_ranges(groups, moments, error, np.full(len(i), moments.within_df), level)]


def games_howell(groups: Groups, level: float) -> list[dict[str, Any]]:
    """Return the comparisons of Games and Howell, which do not assume equal variances.

    A pair of models without variance has no such comparison and is omitted.
    """
    moments = Moments.of(groups)
    i, j = np.triu_indices(len(groups), 1)
    parts = moments.variances / moments.sizes
    both = parts[i] + parts[j]
    with np.errstate(invalid="ignore"):
        squares = parts**2 / (moments.sizes - 1)
        df = both**2 / (squares[i] + squares[j])
    return [*_ranges(groups, moments, np.sqrt(both / 2), df, level)]


def student(groups: Groups, level: float) -> dict[str, Any]:
    """Return Student's unpaired t-test of two models, with Welch's t-test and the effect size.

    `d` is Cohen's, over the pooled SD; `g` is Hedges', corrected for bias in small samples; their interval
    is the exact one from the noncentral t distribution (Hedges and Olkin, 1985).
    """
    moments = Moments.of(groups)
    (n1, n2), (v1, v2) = moments.sizes, moments.variances / moments.sizes
    difference, df = float(moments.means[0] - moments.means[1]), moments.within_df
    scale = math.sqrt(1 / n1 + 1 / n2)
    t = difference / (math.sqrt(moments.within) * scale)
    welch_df = float((v1 + v2) ** 2 / (v1**2 / (n1 - 1) + v2**2 / (n2 - 1)))
    return {
        "t": t,
        "df": df,
        "p": _two_sided(t, df),
        "difference": difference,
        "ci": _around(difference, math.sqrt(moments.within) * scale, df, level),
        "welch": {
            "t": difference / math.sqrt(v1 + v2),
            "df": welch_df,
            "p": _two_sided(difference / math.sqrt(v1 + v2), welch_df),
            "ci": _around(difference, math.sqrt(v1 + v2), welch_df, level),
        },
        "effect": noncentral_t.effects(np.array([t]), np.array([df]), np.array([scale]), level)[0],
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


def _ranges(
    groups: Groups, moments: Moments, error: np.ndarray, df: np.ndarray, level: float
) -> Iterator[dict[str, Any]]:
    """Yield comparisons by the studentized range; `error` and `df` have one element for each pair."""
    i, j = np.triu_indices(len(groups), 1)
    differences = moments.means[i] - moments.means[j]
    is_there = error > 0
    p, half = np.ones(len(i)), np.zeros(len(i))
    if is_there.any():
        q = np.abs(differences[is_there]) / error[is_there]
        p[is_there] = studentized_range.sf(q, len(groups), df[is_there])
        half[is_there] = error[is_there] * studentized_range.isf(1 - level, len(groups), df[is_there])
    for place, (a, b) in enumerate(combinations(groups, 2)):
        if is_there[place]:
            difference = float(differences[place])
            ci = [difference - float(half[place]), difference + float(half[place])]
            yield {"a": a, "b": b, "difference": difference, "ci": ci, "p": float(p[place])}


def _mean(values: np.ndarray) -> float:
    return math.fsum(values) / len(values)


def _variance(values: np.ndarray) -> float:
    """Return the sample variance; exactly 0 if all values are equal."""
    centred = values - values[0]
    return float(centred.var(ddof=1))


def _two_sided(t: float, df: float) -> float:
    return float(2 * stdtr(df, -abs(t)))


def _around(centre: float, error: float, df: float, level: float) -> list[float]:
    half = float(stdtrit(df, (1 + level) / 2)) * error
    return [centre - half, centre + half]
