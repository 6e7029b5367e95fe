"""Effect sizes of pairs of models over evaluators and stimuli: in SDs of single answers.

d = difference / sqrt(sum of the variance components) (Westfall, Kenny and Judd, 2014) compares a difference
with everything by which single answers vary: evaluators, stimuli, and the rest. For answers that are right or
wrong, that sum is the variance of an answer about the mean of its side, averaged over the two models. Unlike
Cohen's d over evaluators, it does not depend on how many pictures an evaluator sees.

The interval is Student's, by the delta method: the variance v of an answer moves with the score by
100 - 2 e (percent), where e is the error that moves: that on a model's fakes if models share reals, else the
score. So d moves with the score of the first model by

    1 / sd - difference (100 - 2 e) / (4 sd^3),

and with that of the second by the same with -1 / sd. A noncentral t would take the ratio of standard error
and SD for known, which it is only if one is a multiple of the other.
"""

from typing import Any

import numpy as np

from backend.analysis.distributions.inference import Component, Estimate


def answer_effects(
    scores: np.ndarray,
    moving: np.ndarray,
    answer_variances: np.ndarray,
    covariance: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    df: np.ndarray,
    level: float,
) -> list[dict[str, Any] | None]:
    """Return `d`, its interval `d_ci` and `sd` (percentage points) of each pair; None without variance.

    Args:
        scores: of the models, in percent; shape (models,).
        moving: their errors that move with the scores, in percent, of the same shape.
        answer_variances: variances of single answers, of the same shape.
        covariance: of the scores over evaluators and stimuli; shape (models, models).
        i, j: the pairs' models; shape (pairs,).
        df: degrees of freedom of the pairs' differences.
        level: of each interval alone.
    """
    difference, variance = scores[i] - scores[j], (answer_variances[i] + answer_variances[j]) / 2
    is_there = variance > 0
    sd = np.sqrt(np.where(is_there, variance, 1.0))
    bend = difference / (4 * sd**3)
    of_i, of_j = 1 / sd - bend * (100 - 2 * moving[i]), -1 / sd - bend * (100 - 2 * moving[j])
    moved = of_i**2 * covariance[i, i] + of_j**2 * covariance[j, j] + 2 * of_i * of_j * covariance[i, j]
    effect = Estimate(difference / sd, Component(np.maximum(moved, 0.0), df))
    rows = zip(effect.value.tolist(), effect.interval(level), sd.tolist(), is_there.tolist(), strict=True)
    return [{"d": d, "d_ci": ci, "sd": one} if ok else None for d, ci, one, ok in rows]
