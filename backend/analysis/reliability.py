"""How well one half of the evaluators repeats what the other half found.

Evaluators are split at random into halves many times; the halves' means are correlated over what is
compared (models, or images), and the correlation is stepped up to the full number of evaluators by the
formula of Spearman and Brown (1910): 2 r / (1 + r). Halves that disagree (r below 0) have no reliability
that could be stepped up, and the formula would blow their noise up to minus infinity: `full` is None then.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.answers import Answers, distinct

SPLITS = 200


def of_models(
    groups: Sequence[np.ndarray], rng: np.random.Generator, splits: int = SPLITS
) -> dict[str, Any] | None:
    """Return the split-half reliability of models' scores.

    Args:
        groups: the values of each model's evaluators.

    None with fewer than three models of two evaluators or more.
    """
    groups = [values for values in groups if len(values) >= 2]
    if len(groups) < 3:
        return None
    halves = np.empty((2, splits, len(groups)))
    for i, values in enumerate(groups):
        mixed = values[rng.random((splits, len(values))).argsort(axis=1)]
        middle = len(values) // 2
        halves[0, :, i], halves[1, :, i] = mixed[:, :middle].mean(axis=1), mixed[:, middle:].mean(axis=1)
    return _stepped_up(halves[0], halves[1])


def of_images(
    answers: Answers, model: int, rng: np.random.Generator, splits: int = SPLITS
) -> dict[str, Any] | None:
    """Return the split-half reliability of how often each image of a model was judged wrong.

    Images judged in one half only are left out of a split. None where fewer than three images can be
    compared, or no image was judged by two evaluators.
    """
    mine = (answers.model.codes == model) & answers.has_image
    if not mine.any():
        return None
    images, image = distinct(answers.texts["stimulus"].codes[mine], len(answers.texts["stimulus"].names))
    people, person = np.unique(answers.evaluator.codes[mine], return_inverse=True)
    wrong = answers.was_wrong[mine].astype(float)
    correlations = []
    for _ in range(splits):
        in_first = (rng.permutation(len(people)) < len(people) // 2)[person]
        rates = []
        for side in (in_first, ~in_first):
            seen = np.bincount(image[side], minlength=len(images))
            with np.errstate(invalid="ignore"):
                rates.append(np.bincount(image[side], wrong[side], minlength=len(images)) / seen)
        both = np.isfinite(rates[0]) & np.isfinite(rates[1])
        if both.sum() >= 3:
            correlations.append(_correlations(rates[0][None, both], rates[1][None, both])[0])
    return _summary(np.array(correlations))


def _stepped_up(first: np.ndarray, second: np.ndarray) -> dict[str, Any] | None:
    return _summary(_correlations(first, second))


def _correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Pearson's r of each row; NaN where one side does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        return (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))


def _summary(correlations: np.ndarray) -> dict[str, Any] | None:
    correlations = correlations[np.isfinite(correlations)]
    if not len(correlations):
        return None
    r = float(correlations.mean())
    return {"half": r, "full": 2 * r / (1 + r) if r >= 0 else None, "splits": len(correlations)}
