"""Split-half reliability: how well one half of the evaluators reproduces the results of the other half.

Evaluators are split at random into halves many times; the halves' means are correlated over models or
images, and the correlation is stepped up to the full number of evaluators by the formula of Spearman and
Brown (1910): 2 r / (1 + r). If halves disagree (r below 0), `full` is None: there is no reliability to step
up, and the formula would inflate the noise up to minus infinity.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from backend.analysis.table.designs import Crossing
from backend.analysis.table.response_table import Answers, distinct

SPLITS = 200
_CELLS = 2**16
"""Number of images times splits that are processed at once."""
_NOTHING = 1e-13
"""Variance of rates up to which it is treated as rounding error."""


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
    return _summary(_correlations(halves[0], halves[1]))


def of_people(crossing: Crossing, rng: np.random.Generator, splits: int = SPLITS) -> dict[str, Any] | None:
    """Return the split-half reliability of models' scores if evaluators judged several models.

    All values of a person are in the same half; otherwise halves would agree because they share people.
    None with fewer than three models; a split in which a model has nobody in one half is omitted.
    """
    if len(crossing.models) < 3:
        return None
    people = len(crossing.values)
    correlations = []
    for _ in range(splits):
        in_first = rng.permutation(people) < people // 2
        counts = [crossing.is_there[half].sum(axis=0) for half in (in_first, ~in_first)]
        if min(count.min() for count in counts) == 0:
            continue
        sums = (crossing.values[half].sum(axis=0) for half in (in_first, ~in_first))
        first, second = (one / count for one, count in zip(sums, counts, strict=True))
        correlations.append(_correlations(first[None], second[None])[0])
    return _summary(np.array(correlations))


def of_images(
    answers: Answers, model: int, rng: np.random.Generator, splits: int = SPLITS
) -> dict[str, Any] | None:
    """Return the split-half reliability of the error rates of a model's images.

    Images judged in one half only are omitted from a split. None if fewer than three images can be
    compared, or no image was judged by two evaluators.
    """
    mine = answers.of_model[model]
    mine = mine[answers.has_image[mine]]
    if not len(mine):
        return None
    images, image = distinct(answers.texts["stimulus"].codes[mine], len(answers.texts["stimulus"].names))
    people, person = np.unique(answers.evaluator.codes[mine], return_inverse=True)
    half = len(people) // 2
    in_first = np.stack([rng.permutation(len(people)) < half for _ in range(splits)], axis=1).astype(float)
    shape = (len(images), len(people))
    seen, wrong = (
        coo_array((weights, (image, person)), shape).tocsr()
        for weights in (np.ones(len(mine)), answers.error[mine])
    )
    all_seen, all_wrong = seen.sum(axis=1), wrong.sum(axis=1)
    is_seen_again = all_seen > 1
    seen, wrong = seen[is_seen_again], wrong[is_seen_again]
    all_seen, all_wrong = all_seen[is_seen_again, None], all_wrong[is_seen_again, None]
    step = max(1, _CELLS // max(1, seen.shape[0]))
    rows = []
    for some in range(0, splits, step):
        mixed = in_first[:, some : some + step]
        rows.append(_between_halves(all_seen, all_wrong, seen @ mixed, wrong @ mixed))
    return _summary(np.concatenate(rows))


def _between_halves(
    seen: np.ndarray, wrong: np.ndarray, seen_first: np.ndarray, wrong_first: np.ndarray
) -> np.ndarray:
    """Return Pearson's r of error rates over the images that both halves saw; NaN with fewer than three.

    Args:
        seen, wrong: counts of each image, shape (images, 1).
        seen_first, wrong_first: counts by the first half, shape (images, splits).
    """
    seen_second = seen - seen_first
    is_known = (seen_first > 0) & (seen_second > 0)
    count = is_known.sum(axis=0)
    x = wrong_first / np.maximum(seen_first, 1) * is_known
    y = (wrong - wrong_first) / np.maximum(seen_second, 1) * is_known
    with np.errstate(invalid="ignore", divide="ignore"):
        mean_x, mean_y = x.sum(axis=0) / count, y.sum(axis=0) / count
        pairs = ((x, y, mean_x * mean_y), (x, x, mean_x**2), (y, y, mean_y**2))
        xy, xx, yy = (np.einsum("ij,ij->j", a, b) / count - product for a, b, product in pairs)
        is_varying = (count >= 3) & (xx > _NOTHING) & (yy > _NOTHING)
        return np.where(is_varying, np.clip(xy / np.sqrt(xx * yy), -1, 1), np.nan)


def _correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return Pearson's r of each row; NaN if one side does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        result: np.ndarray = (x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
        return result


def _summary(correlations: np.ndarray) -> dict[str, Any] | None:
    correlations = correlations[np.isfinite(correlations)]
    if not len(correlations):
        return None
    r = float(correlations.mean())
    return {"half": r, "full": 2 * r / (1 + r) if r >= 0 else None, "splits": len(correlations)}
