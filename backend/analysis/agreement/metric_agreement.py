"""Agreement of automatic metrics with people: rank correlations with the models' scores, and two intervals.

*Over evaluators*, the models are fixed: what would other people's scores give? Noise in the scores pulls a
rank correlation towards 0, and a resample has the noise twice, so that plain percentiles leave out the true
correlation (20 models, reliability .95, true rho .9: they cover 60% in place of 95%). Therefore their ends
are moved away from 0, as Spearman (1904) corrects for attenuation: divided by the share of the order that the
scores resolve. The `stability`, the mean rank correlation of resampled scores with the scores, is 1 where all
of the order is resolved, and `NOISE` where equal models differ by noise alone; the share is linear between
the two, as if some models were far apart and the others equal. Spearman's own correction supposes that all
are equally close, and fails where most are (docs/statistics.md has the coverage). If nothing is resolved, the
interval has no end on that side.

*Over models* (`rank_intervals.py`), models and evaluators are drawn anew: what would other models give?

Whether a metric falls or rises with quality is a property of the metric. Signs are never turned around;
`direction` says what is known by the metric's name.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from backend.analysis.distributions.rank_intervals import FEWEST, over_models
from backend.analysis.distributions.ranks import correlations, kendall, spearman
from backend.analysis.score_resamples import ScoreResamples
from backend.foundation.errors import InvalidInput

NOISE = {"rho": 6 / math.pi * math.asin(math.sqrt(1 / 8)), "tau": 0.5}
"""Stability of many models that are equal: the rank correlations of a normal distribution whose r² is 1/2."""
_MOST_UNDEFINED = 0.05
"""Share of resamples whose scores all tie above which there is no interval over evaluators."""
LOWER, HIGHER = "lower", "higher"
_DIRECTIONS = {
    **dict.fromkeys(
        (
            "fid", "clean fid", "fd", "frechet distance", "frechet inception distance", "kid", "kd",
            "kernel distance", "kernel inception distance",
        ),
        LOWER,
    ),
    **dict.fromkeys(
        (
            "precision", "recall", "improved precision", "improved recall", "density", "coverage",
            "inception score", "f8", "f1/8",
        ),
        HIGHER,
    ),
}  # fmt: skip
_EMPTY: dict[str, Any] = dict.fromkeys((
    "rho", "p", "p_exact", "evaluators_ci", "models_ci", "tau", "tau_p", "tau_p_exact", "tau_evaluators_ci",
    "tau_models_ci", "stability", "tau_stability", "resamples", "undefined",
))  # fmt: skip


def direction(metric: str) -> str | None:
    """Return whether `lower` or `higher` is better by the metric's name; None if it is not known.

    What stands in brackets, and a sample size at the end (`FID-50k`), are no part of the name.
    """
    name = re.split(r"[(\[]", metric.casefold().replace("é", "e"), maxsplit=1)[0]
    words = re.sub(r"[\s_-]+", " ", name).strip()
    return _DIRECTIONS.get(words) or _DIRECTIONS.get(re.sub(r"\s?\d+k?$", "", words))


def metric_agreement(
    scores: Mapping[str, float],
    metrics: Mapping[str, Mapping[str, float]],
    resamples: ScoreResamples | None = None,
    level: float = 0.95,
) -> list[dict[str, Any]]:
    """Return the correlations of scores with each metric, over the models that have both.

    Args:
        scores: by model.
        metrics: by metric, then by model; missing or NaN if a model does not have the metric.
        resamples: of the scores; None if evaluators' variation is not known.

    Each row has `metric`, its `direction`, and for rho and (`tau_…`) for tau-b the coefficient, `p` as papers
    print it, `p_exact`, `evaluators_ci` and `models_ci`; why there is no interval (`evaluators_note`,
    `models_note`); the `stability` of the order under other evaluators, for both coefficients; the number of
    resamples, and how many were `undefined` since all scores tied; the number of `models`, and the names of
    those `without` the metric.

    Raises:
        InvalidInput: a value of a metric is not a number.
    """
    rows = []
    for metric, given in metrics.items():
        values = {model: _number(metric, model, given.get(model)) for model in scores}
        shared = [model for model, value in values.items() if math.isfinite(value)]
        rows.append(
            {
                "metric": metric,
                "direction": direction(metric),
                **_correlated(
                    shared,
                    np.array([scores[model] for model in shared], float),
                    np.array([values[model] for model in shared], float),
                    resamples,
                    level,
                ),
                "models": len(shared),
                "without": [model for model in scores if model not in shared],
            }
        )
    return rows


def _number(metric: str, model: str, value: Any) -> float:
    """Return a metric's value; NaN if it is missing.

    Raises:
        InvalidInput: it is not a number that a float can hold.
    """
    if value is None:
        return math.nan
    try:
        return math.nan if math.isnan(value) else float(value)
    except (TypeError, OverflowError):
        shown = repr(value) if isinstance(value, str) else f"a {type(value).__name__}"
        raise InvalidInput(
            f"{metric} of {model} must be a number that a float holds, or missing, not {shown}"
        ) from None


def _correlated(
    models: Sequence[str],
    scores: np.ndarray,
    values: np.ndarray,
    resamples: ScoreResamples | None,
    level: float,
) -> dict[str, Any]:
    """Return coefficients and intervals of one metric."""
    rho, tau = spearman(scores, values), kendall(scores, values)
    if rho is None or tau is None:
        why = _undefined(scores, values)
        return {**_EMPTY, "evaluators_note": why, "models_note": why}
    row = _EMPTY | {"rho": rho["rho"], "p": rho["p"], "p_exact": rho["p_exact"]}
    row |= {"tau": tau["tau"], "tau_p": tau["p"], "tau_p_exact": tau["p_exact"]}
    others = over_models(rho["rho"], tau["tau"], len(models), level)
    row |= {"models_ci": others and others["rho"], "tau_models_ci": others and others["tau"]}
    row["models_note"] = None if others else f"{len(models)} models are too few; it takes {FEWEST}"
    return row | _over_evaluators(models, scores, values, (rho["rho"], tau["tau"]), resamples, level)


def _undefined(scores: np.ndarray, values: np.ndarray) -> str:
    if len(scores) < 3:
        return "a rank correlation takes three models"
    return f"all models have the same {'score' if len(np.unique(scores)) == 1 else 'value'}"


def _over_evaluators(
    models: Sequence[str],
    scores: np.ndarray,
    values: np.ndarray,
    estimates: tuple[float, float],
    resamples: ScoreResamples | None,
    level: float,
) -> dict[str, Any]:
    """Return the intervals over evaluators, and what they rest on."""
    if resamples is None:
        return {"evaluators_note": "a model has a single evaluator"}
    drawn = resamples.scores[:, [resamples.models.index(model) for model in models]]
    drawn = drawn[np.isfinite(drawn).all(axis=1)]
    finite = [part[np.isfinite(part)] for part in correlations(drawn, values)]
    steady = [part[np.isfinite(part)] for part in correlations(drawn, scores)]
    total, kept = len(resamples.scores), len(finite[0])
    stability, tau_stability = (float(part.mean()) if len(part) else None for part in steady)
    row = {
        "stability": stability,
        "tau_stability": tau_stability,
        "resamples": total,
        "undefined": total - kept,
    }
    if stability is None or tau_stability is None or total - kept > _MOST_UNDEFINED * total:
        share = (total - kept) / total
        return {**row, "evaluators_note": f"in {share:.0%} of resamples all scores tie, or one is missing"}
    rho_ci, tau_ci = (
        _interval(part, estimate, (order - noise) / (1 - noise), level)
        for part, estimate, order, noise in zip(
            finite, estimates, (stability, tau_stability), NOISE.values(), strict=True
        )
    )
    if rho_ci is None or tau_ci is None:
        why = f"{100 * level:g}% or more of the resamples of evaluators give this correlation"
        return {**row, "evaluators_note": why}
    return {**row, "evaluators_ci": rho_ci, "tau_evaluators_ci": tau_ci, "evaluators_note": None}


def _interval(drawn: np.ndarray, estimate: float, resolved: float, level: float) -> list[float] | None:
    """Return percentiles, moved away from 0 by the attenuation of a resample; they include the estimate.

    None if both are the estimate, since resamples do not show that nobody would order models otherwise.

    Args:
        resolved: share of the order that the scores resolve; 0 or less if none.
    """
    tail = (1 - level) / 2
    low = float(np.quantile(drawn, tail, method="lower"))
    high = float(np.quantile(drawn, 1 - tail, method="higher"))
    if low <= 0:
        low = low / resolved if resolved > 0 else -1.0
    if high >= 0:
        high = high / resolved if resolved > 0 else 1.0
    low, high = max(-1.0, min(low, estimate)), min(1.0, max(high, estimate))
    return [low, high] if low < high else None
