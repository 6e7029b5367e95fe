"""Scores of all models in resamples of the evaluators: what else their order could have been.

If each evaluator judged one model, evaluators are drawn with replacement within each model; else the same
drawing serves all models, since what a person tends to answer moves the scores of all that they judged. As
the percentile bootstrap of few evaluators is too narrow, deviations are widened by sqrt(n / (n - 1)) and by
the ratio of Student's to the normal quantile.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from backend.analysis.distributions.inference import t_quantile
from backend.analysis.table.designs import BETWEEN, crossing_of, design_of
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers

ITERATIONS = 2000
_AT_ONCE = 250
_DECIMALS = 9
"""Scores are compared to so many decimals, since equal means are not always equal floats."""


@dataclass(frozen=True)
class ScoreResamples:
    """Resampled scores."""

    models: tuple[str, ...]
    scores: np.ndarray
    """Shape (resamples, models); NaN if a resample has nobody who judged the model."""


def resampled_scores(
    answers: Answers,
    values: Mapping[str, Values],
    rng: np.random.Generator,
    level: float,
    iterations: int = ITERATIONS,
    drawn: int | None = None,
) -> ScoreResamples | None:
    """Return resampled means of evaluators' values; None if a model has a single evaluator.

    Args:
        values: by model.
        level: confidence level of the intervals that they are for.
        drawn: evaluators of a model in a resample; default, as many as it has.
    """
    models = tuple(values)
    counts = np.array([len(values[model]) for model in models])
    if counts.min() < 2:
        return None
    means = np.array([values[model].numbers.mean() for model in models])
    if design_of(answers).kind == BETWEEN:
        columns = [
            resampled_means(
                values[model].numbers[:, None], None, rng, iterations, drawn or len(values[model])
            )
            for model in models
        ]
        drawings = np.concatenate(columns, axis=1)
    else:
        people = crossing_of(answers, values, [*models])
        size = len(people.values)
        if drawn is not None:
            size = max(1, round(size * drawn / counts.mean()))
        drawings = resampled_means(people.values, people.is_there.astype(float), rng, iterations, size)
    return ScoreResamples(models, widened(means, drawings, counts, level))


def widened(
    scores: np.ndarray, drawings: np.ndarray, evaluators: np.ndarray, level: float, df: float | None = None
) -> np.ndarray:
    """Return resampled scores with their deviations from `scores` as few evaluators require.

    Args:
        evaluators: of each model, 2 or more; or one number.
        df: degrees of freedom of the deviations; default, one fewer than evaluators.
    """
    quantile = t_quantile(evaluators - 1 if df is None else df, level)
    factor = np.sqrt(evaluators / (evaluators - 1)) * quantile / t_quantile(np.inf, level)
    result: np.ndarray = np.round(scores + factor * (drawings - scores), _DECIMALS)
    return result


def resampled_means(
    values: np.ndarray, is_there: np.ndarray | None, rng: np.random.Generator, iterations: int, size: int
) -> np.ndarray:
    """Return means over `size` rows drawn with replacement: shape (iterations, columns).

    Args:
        values: of shape (rows, columns).
        is_there: which values exist; the others are 0. None if all do.
    """
    rows = len(values)
    parts = []
    for start in range(0, iterations, _AT_ONCE):
        count = min(_AT_ONCE, iterations - start)
        weights = rng.multinomial(size, np.full(rows, 1 / rows), size=count).astype(float)
        total = weights @ is_there if is_there is not None else np.full((count, values.shape[1]), size)
        sums = weights @ values
        parts.append(np.divide(sums, total, out=np.full_like(sums, np.nan), where=total > 0))
    return np.concatenate(parts)
