"""Tests between models if evaluators judged several of them.

An evaluator who is lenient with one model is lenient with the next, so that differences within evaluators
are more informative than differences between group means. With y_em the value of evaluator e for model m
and n_m evaluators of m, the covariance of two models' means is summed over the evaluators of both,

    cov(a, b) = sum_e u_ea u_eb,   u_em = (y_em - mean_m) / sqrt(n_m (n_m - 1)),

with evaluators as clusters (Liang and Zeger, 1986). If all judged both, this gives the paired t-test; if
nobody did, Welch's; otherwise a test of partly overlapping samples (as Derrick, Toher and White, 2017).
Degrees of freedom are Satterthwaite's (1946), from the first two moments of that sum for normal values with
the estimated covariances (as Bell and McCaffrey, 2002): n - 1, Welch's, or between them.

For several pairs, p-values are Holm's (1979), and intervals are Bonferroni's, which are simultaneous. Nothing
is pooled over models: a pooled error term is wrong if some pairs vary more than others (Maxwell, 1980).
"""

import math
from typing import Any

import numpy as np

from backend.analysis.distributions import noncentral_t
from backend.analysis.distributions.inference import (
    Component,
    Estimate,
    are_equal,
    f_test,
    holm,
    simultaneous,
)
from backend.analysis.table.designs import Crossing

_NOTHING = 1e-13
"""Variance of a difference, relative to the variances of the two means, below which it is rounding error."""


def pairs(crossing: Crossing, level: float, extra: Component | None = None) -> list[dict[str, Any]]:
    """Return the comparison of each pair, in the order of the models; `p` is Holm's.

    `p_alone` is not corrected; `both` is the number of evaluators who judged both. A pair whose difference
    does not vary has no test and is omitted.

    Args:
        extra: of each model's score, what is not due to evaluators; of arrays of shape (models,).
    """
    means = means_of(crossing)
    i, j = np.triu_indices(len(crossing.models), 1)
    variance = _differences(covariance_of(crossing), i, j)
    i, j = i[variance > 0], j[variance > 0]
    if not len(i):
        return []
    apart = Estimate(means[i] - means[j], of_people(crossing, i, j), extra and extra.of_pairs(i, j))
    p = apart.p()
    columns = {
        "a": [crossing.models[a] for a in i],
        "b": [crossing.models[b] for b in j],
        "difference": apart.value.tolist(),
        "ci": apart.interval(simultaneous(level, len(i))),
        "p": holm(p),
        "p_alone": p.tolist(),
        "t": apart.t().tolist(),
        "df": apart.total.df.tolist(),
        "both": _counts(crossing)[i, j].astype(int).tolist(),
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def anova(crossing: Crossing) -> dict[str, Any] | None:
    """Return the one-way repeated-measures ANOVA, for evaluators who all judged every model.

    `p` uses the degrees of freedom of Greenhouse and Geisser (1959), reduced by the factor `epsilon` if
    differences have unequal variances; `p_sphericity` assumes equal ones. None if nothing varies within
    evaluators.
    """
    parts = _Squares.of(crossing)
    if parts is None:
        return None
    people, models = crossing.values.shape
    df = [models - 1, (people - 1) * (models - 1)]
    f = parts.models / df[0] / (parts.error / df[1])
    centred = crossing.values - crossing.values.mean(axis=0)
    spread = centred - centred.mean(axis=1, keepdims=True)
    covariance = spread.T @ spread
    epsilon = float(np.trace(covariance) ** 2 / (df[0] * (covariance**2).sum()))
    epsilon = min(max(epsilon, 1 / df[0]), 1.0)
    return {
        **f_test(f, df[0], df[1], epsilon),
        "p_sphericity": f_test(f, df[0], df[1])["p"],
        "epsilon": epsilon,
    }


def of_people(crossing: Crossing, i: np.ndarray, j: np.ndarray) -> Component:
    """Return the evaluators' component of the differences of pairs, whose variances are above 0."""
    covariance = covariance_of(crossing)
    return Component(_differences(covariance, i, j), degrees(covariance, _counts(crossing), i, j))


def third_cumulants(crossing: Crossing, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the third cumulants of the differences of pairs over evaluators."""
    counts = crossing.is_there.sum(axis=0)
    u = np.where(crossing.is_there, crossing.values - means_of(crossing), 0.0) / counts
    either = (crossing.is_there[:, i] | crossing.is_there[:, j]).sum(axis=0)
    result: np.ndarray = ((u[:, i] - u[:, j]) ** 3).sum(axis=0) * either / (either - 1)
    return result


def wald(crossing: Crossing, extra: Component | None = None) -> dict[str, Any] | None:
    """Return the test that all models have equal scores, if evaluators judged only some of the models.

    It is Hotelling's T^2 with the covariance over evaluators and the mean degrees of freedom of the pairs,
    which is conservative (1.5 to 5% in simulations at 5%). None if these are too few for the number of
    models.

    Args:
        extra: as for `pairs`.
    """
    covariance = covariance_of(crossing)
    count = len(crossing.models)
    i, j = np.triu_indices(count, 1)
    if not (_differences(covariance, i, j) > 0).all():
        return None
    found, q = of_people(crossing, i, j), count - 1
    if extra is not None:
        found = found + extra.of_pairs(i, j)
        covariance = covariance + np.diag(extra.variance)
    of_pairs = float(found.df.mean())
    if of_pairs - q + 1 < 1:
        return None
    contrast = np.eye(count)[:-1] - np.eye(count)[-1]
    apart = contrast @ means_of(crossing)
    inner = contrast @ covariance @ contrast.T
    if not np.linalg.cond(inner) < 1e12:
        return None
    t_squared = float(apart @ np.linalg.solve(inner, apart))
    within = of_pairs - q + 1
    return f_test(within / (of_pairs * q) * t_squared, q, within)


def effect_sizes(crossing: Crossing) -> dict[str, float] | None:
    """Return generalised eta squared (Olejnik and Algina, 2003), omega squared, and partial eta squared.

    Generalised eta squared is comparable with a between-subjects design. All evaluators must have judged
    every model; None if nothing varies within evaluators.
    """
    parts = _Squares.of(crossing)
    if parts is None:
        return None
    people, models = crossing.values.shape
    error = parts.error / ((people - 1) * (models - 1))
    total = parts.models + parts.people + parts.error
    return {
        "eta_squared": parts.models / total,
        "omega_squared": (parts.models - (models - 1) * error) / (total + parts.people / (people - 1)),
        "partial_eta_squared": parts.models / (parts.models + parts.error),
    }


def pair_effects(crossing: Crossing, level: float) -> list[dict[str, Any]]:
    """Return the effect size of each pair that the same evaluators judged, in SDs of the differences.

    `d` (often d_z) is the mean difference over the SD of the differences of those who judged both; `g` is
    corrected for bias; the interval is that of the noncentral t. A pair is omitted if it has fewer than two
    such evaluators, or its differences do not vary.
    """
    effects = []
    for a, b in zip(*np.triu_indices(len(crossing.models), 1), strict=True):
        both = crossing.is_there[:, a] & crossing.is_there[:, b]
        apart = crossing.values[both, a] - crossing.values[both, b]
        if len(apart) < 2 or are_equal(apart):
            continue
        one_t = float(apart.mean() / apart.std(ddof=1) * math.sqrt(len(apart)))
        effects.append((crossing.models[a], crossing.models[b], one_t, len(apart)))
    if not effects:
        return []
    t, people = np.array([one[2] for one in effects]), np.array([float(one[3]) for one in effects])
    rows = noncentral_t.effects(t, people - 1, 1 / np.sqrt(people), level)
    return [{"a": a, "b": b, **row} for (a, b, _, _), row in zip(effects, rows, strict=True)]


def paired(crossing: Crossing, level: float) -> dict[str, Any] | None:
    """Return the t-test of two models: paired, or of partly overlapping samples; None if nothing varies."""
    rows = pairs(crossing, level)
    if not rows:
        return None
    row, effects = rows[0], pair_effects(crossing, level)
    effect = {key: effects[0][key] for key in ("d", "d_ci", "g", "g_ci")} if effects else None
    return {**{key: row[key] for key in ("t", "df", "p", "difference", "ci", "both")}, "effect": effect}


def means_of(crossing: Crossing) -> np.ndarray:
    """Return the models' scores."""
    result: np.ndarray = crossing.values.sum(axis=0) / crossing.is_there.sum(axis=0)
    return result


def covariance_of(crossing: Crossing) -> np.ndarray:
    """Return the covariance of the models' scores over evaluators, shape (models, models)."""
    counts = crossing.is_there.sum(axis=0)
    residual = np.where(crossing.is_there, crossing.values - means_of(crossing), 0.0)
    u = residual / np.sqrt(counts * (counts - 1.0))
    result: np.ndarray = u.T @ u
    return result


def covariances(crossing: Crossing) -> float:
    """Return the mean over pairs of models of the covariance of an evaluator's two values; 0 if none has."""
    counts = crossing.is_there.astype(float).T @ crossing.is_there
    i, j = np.triu_indices(len(crossing.models), 1)
    i, j = i[counts[i, j] > 0], j[counts[i, j] > 0]
    of_scores = covariance_of(crossing)[i, j]
    return float(np.mean(of_scores * counts[i, i] * counts[j, j] / counts[i, j])) if len(i) else 0.0


def degrees(covariance: np.ndarray, counts: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return Satterthwaite's degrees of freedom of the differences of pairs.

    A pair's variance is u'u, where u is normal with covariance G; they are tr(G)^2 / tr(G^2). G has three
    exchangeable groups of evaluators: those of a only, of b only and of both.

    Args:
        covariance: covariance of the scores.
        counts: number of evaluators who judged both of two models; on the diagonal, each model.
        i, j: the indices of the pairs' models.
    """
    a, b, both = (counts[one, other] for one, other in ((i, i), (j, j), (i, j)))
    only_a, only_b = a - both, b - both
    # variances of single values, and the covariance of one evaluator's two values
    of_a, of_b = covariance[i, i] * a, covariance[j, j] * b
    shared = np.divide(covariance[i, j] * a * b, both, out=np.zeros(len(i)), where=both > 0)
    p, q = 1 / np.sqrt(a * (a - 1)), 1 / np.sqrt(b * (b - 1))
    common = both / (a * b)
    aa, bb, ab = p**2 * of_a, q**2 * of_b, p * q * shared
    own = {"a": aa, "b": bb, "both": aa + bb - 2 * ab}
    off = {
        ("a", "a"): -aa / a,
        ("b", "b"): -bb / b,
        ("both", "both"): -aa / a - bb / b - 2 * ab * (common - 1 / a - 1 / b),
        ("a", "b"): -ab * common,
        ("a", "both"): -aa / a - ab * (common - 1 / a),
        ("b", "both"): -bb / b - ab * (common - 1 / b),
    }
    size = {"a": only_a, "b": only_b, "both": both}
    trace = sum(size[kind] * (own[kind] + off[kind, kind]) for kind in size)
    squared = sum(
        size[kind] * (own[kind] + off[kind, kind]) ** 2 + size[kind] * (size[kind] - 1) * off[kind, kind] ** 2
        for kind in size
    ) + 2 * sum(size[x] * size[y] * off[x, y] ** 2 for x, y in (("a", "b"), ("a", "both"), ("b", "both")))
    result: np.ndarray = trace**2 / squared
    return result


class _Squares:
    """Sums of squares of a complete table."""

    def __init__(self, models: float, people: float, error: float):
        self.models, self.people, self.error = models, people, error

    @classmethod
    def of(cls, crossing: Crossing) -> "_Squares | None":
        table = crossing.values
        people, models = table.shape
        grand = table.mean()
        by_model, by_person = table.mean(axis=0) - grand, table.mean(axis=1) - grand
        rest = table - grand - by_model - by_person[:, None]
        total = float(((table - grand) ** 2).sum())
        error = float((rest**2).sum())
        if error <= _NOTHING * total:
            return None
        return cls(people * float((by_model**2).sum()), models * float((by_person**2).sum()), error)


def _counts(crossing: Crossing) -> np.ndarray:
    """Return how many evaluators judged both of two models, shape (models, models)."""
    result: np.ndarray = crossing.is_there.astype(float).T @ crossing.is_there
    return result


def _differences(covariance: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the variances of the differences of pairs; exactly 0 where they are only rounding errors."""
    both = covariance[i, i] + covariance[j, j]
    variance = both - 2 * covariance[i, j]
    return np.where(variance > _NOTHING * both, variance, 0.0)
