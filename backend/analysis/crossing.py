"""Variance components of a score: the contributions of evaluators and of stimuli.

Evaluators who see the same stimuli err on the same ones, so that their mean is less precise than their
spread suggests (Clark, 1973). With y_i the mean error of evaluator i, n evaluators, and c the mean
covariance of two of them, var(mean) = s^2 / n + c, whoever saw what. A stimulus j contributes to c by the
products of two evaluators' residuals on it:

    sum_{i != i'} w_ij r_ij w_i'j r_i'j - w_ij w_i'j d,  over n (n - 1),

where w_ij is the weight of the answer in y_i (1 over the number of answers of i, unless sides are
balanced), r_ij is the answer's error (0 or 1) less the mean error
on its side, real or fake, and d is the mean product of two evaluators' residuals on two *different*
stimuli of that side. Subtracting d centres the products: residuals about a mean of the same answers have
a negative covariance even if nothing is shared, so that c would be too small by 1 / stimuli.

In a pair, each answer is one to a real and to a fake picture: the parts of both sides are of all answers
(column `beside`), and an answer to two pictures that two evaluators share counts on both, which errs on the
side of a larger variance.

If all evaluators saw different stimuli, c is about 0. An answer that does not name its stimulus counts as
one to a stimulus that nobody else saw.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from backend.analysis.intervals import OverBoth, Spread, spread_of
from backend.analysis.response_table import BESIDE, Answers, distinct
from backend.analysis.values import one_model

NEGLIGIBLE = 0.1
"""Share of the variance below which stimuli may be ignored: a test at 5% that uses only 90% of the variance
has a true error rate of 6.3%, P(|z| > 1.96 sqrt(0.9))."""


@dataclass(frozen=True)
class Crossed:
    """The parts of evaluators and of stimuli in the variance of a score (a share, 0 to 1)."""

    mean: float
    of_evaluators: float
    of_images: float
    """The covariance c; not below 0."""
    images_df: float
    of_reals: float
    """The part of real stimuli in c; it may be below 0 by chance."""
    of_fakes: float
    fakes_df: float
    evaluators: int
    images: int
    responses: int
    of_answers: float
    """The variance of single answers about the mean of their side: the sum of all components."""

    @property
    def share_of_images(self) -> float | None:
        """The stimuli's share of the variance, 0 to 1; None if nothing varies."""
        variance = self.of_evaluators + self.of_images
        return self.of_images / variance if variance else None

    @property
    def people(self) -> Spread:
        """The spread over evaluators only."""
        return Spread(self.mean, self.of_evaluators, self.evaluators - 1, self.responses)


@dataclass(frozen=True)
class Seen:
    """Answers of one side (real or fake) of one model; arrays of shape (answers,)."""

    person: np.ndarray
    """From 0 to `people` - 1."""
    evaluator: np.ndarray
    """The same person's index among all evaluators."""
    image: np.ndarray
    """A code; -1 if the answer names no stimulus."""
    residual: np.ndarray
    """Weighted: w_ij r_ij."""
    weight: np.ndarray
    people: int


def crossed(answers: Answers, model: int) -> Crossed | None:
    """Return the parts of a model's variance; None with one evaluator, or if no stimulus is named."""
    known = answers.memo.setdefault("crossed", {})
    if model not in known:
        known[model] = _crossed(answers, model)
    result: Crossed | None = known[model]
    return result


def _crossed(answers: Answers, model: int) -> Crossed | None:
    mine = answers.of_model[model]
    if not answers.has_image[mine].any():
        return None
    sides = sides_of(answers, model)
    count = sides[0].people
    if count < 2:
        return None
    judges = answers.judges
    means = one_model(answers, np.flatnonzero(judges.model == model)).numbers / 100
    reals, fakes = (parts_of_images(seen) for seen in sides)
    pairs, (of_images, images_df) = count * (count - 1), shared_part(sides)
    return Crossed(
        mean=float(means.mean()),
        of_evaluators=spread_of(means, 0).variance,
        of_images=of_images,
        images_df=images_df,
        of_reals=float(reals.sum()) / pairs,
        of_fakes=float(fakes.sum()) / pairs,
        fakes_df=df_of_parts(fakes),
        evaluators=count,
        images=len(reals) + len(fakes),
        responses=len(mine),
        of_answers=math.fsum(float((seen.residual**2 / seen.weight).sum()) for seen in sides)
        / math.fsum(float(seen.weight.sum()) for seen in sides),
    )


def sides_of(answers: Answers, model: int, residual: np.ndarray | None = None) -> list[Seen]:
    """Return a model's answers to reals and to fakes.

    Evaluators and stimuli are numbered by their names, so that the order of the answers does not matter.

    Args:
        residual: residual of each of the model's answers, unweighted; default, its error less the mean
            error of its side.
    """
    mine = answers.of_model[model]
    evaluator = answers.evaluator.ranks[answers.evaluator.codes[mine]]
    found, person = distinct(evaluator, len(answers.evaluator.names))
    image = answers.image_ranks[mine]
    weight = answers.weight[mine]
    beside = answers.texts.get(BESIDE)
    sides = []
    for side in (False, True):
        here = answers.is_fake[mine] == side
        if beside is not None:
            here = np.ones(len(mine), bool)
            image = answers.image_ranks[mine] if side else beside.ranks[beside.codes[mine]]
        wrong = answers.was_wrong[mine][here].astype(float)
        own = residual[here] if residual is not None else wrong - (wrong.mean() if len(wrong) else 0.0)
        who = person[here], evaluator[here]
        sides.append(Seen(*who, image[here], own * weight[here], weight[here], len(found)))
    return sides


def parts_of_images(seen: Seen) -> np.ndarray:
    """Return the part of each stimulus in the summed covariance of two evaluators: shape (stimuli,)."""
    (same, every), (pairs, all_pairs) = (_of_pairs(seen, values) for values in (seen.residual, seen.weight))
    elsewhere = all_pairs - pairs.sum()
    if elsewhere <= 1e-9 * all_pairs:  # one stimulus: there is no other to compare with
        return same
    result: np.ndarray = same - pairs * (every - same.sum()) / elsewhere
    return result


def shared_weight(seen: Seen) -> tuple[float, float]:
    """Return the mean product of two evaluators' weights, over all their answers, and on the same stimulus.

    The first is the squared weight of the side in a score; relative to it, the second is the probability that
    two answers are to one stimulus: 1 over the number of stimuli if they are drawn alike.
    """
    pairs, every = _of_pairs(seen, seen.weight)
    return every / (seen.people * (seen.people - 1)), float(pairs.sum()) / (seen.people * (seen.people - 1))


def _of_pairs(seen: Seen, values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return sums of products of different evaluators' values: on each stimulus, and on all."""
    # an evaluator's answers to one stimulus, or to no named stimulus, form one cell
    cells, cell = np.unique(
        (seen.image + 1).astype(np.int64) * seen.people + seen.person, return_inverse=True
    )
    image, person = cells // seen.people - 1, cells % seen.people
    is_named = image >= 0
    images, place = np.unique(image[is_named], return_inverse=True)
    sums = np.bincount(cell, values, len(cells))
    named = sums[is_named]
    together = np.bincount(place, named, len(images)) ** 2
    whole = np.bincount(person, sums, seen.people)
    every = float(whole.sum() ** 2 - (whole**2).sum())
    return together - np.bincount(place, named**2, len(images)), every


def shared_part(sides: Sequence[Seen]) -> tuple[float, float]:
    """Return the variance that shared stimuli add to a mean over evaluators, and its degrees of freedom.

    Args:
        sides: answers whose weighted residuals sum to how far each evaluator is from the mean.
    """
    parts, people = np.concatenate([parts_of_images(seen) for seen in sides]), sides[0].people
    return max(0.0, float(parts.sum())) / (people * (people - 1)), df_of_parts(parts)


def shared_reals(answers: Answers, models: list[int]) -> float:
    """Return the mean covariance of two models' scores (shares) due to the real stimuli that both showed.

    It is that of two different evaluators, one of each model, centred as within a model; at least 0, and 0
    if fewer than two models have named reals.
    """
    sides = [sides_of(answers, model)[0] for model in models]
    named = [seen.image >= 0 for seen in sides]
    model = np.repeat(np.arange(len(models)), [int(some.sum()) for some in named])
    evaluator, image, residual, weight = (
        np.concatenate([getattr(seen, name)[some] for seen, some in zip(sides, named, strict=True)])
        for name in ("evaluator", "image", "residual", "weight")
    )
    if not len(model):
        return 0.0
    cell = image * (int(evaluator.max()) + 1) + evaluator
    i, j = np.triu_indices(len(models), 1)

    def products(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of products of different evaluators by pair of models: on one stimulus, and on all."""
        on_one, own_on_one, own = (_products(model, keys, values) for keys in (image, cell, evaluator))
        whole = np.bincount(model, values, len(models))
        return (on_one - own_on_one)[i, j], (np.outer(whole, whole) - own)[i, j]

    (same, every), (pairs, all_pairs) = products(residual), products(weight)
    elsewhere = np.maximum(all_pairs - pairs, 1e-12)
    centred = same - pairs * np.where(elsewhere > 1e-9 * all_pairs, (every - same) / elsewhere, 0.0)
    people = np.array([seen.people for seen in sides])
    judged = np.zeros((len(models), int(max(seen.evaluator.max(initial=0) for seen in sides)) + 1))
    for place, seen in enumerate(sides):
        judged[place, seen.evaluator] = 1
    of_two = np.outer(people, people)[i, j] - (judged @ judged.T)[i, j]
    is_there = of_two > 0
    return max(0.0, float((centred[is_there] / of_two[is_there]).mean())) if is_there.any() else 0.0


def _products(model: np.ndarray, key: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return, for each pair of models, the sum over keys of the products of their sums of values."""
    _, place = np.unique(key, return_inverse=True)
    sums = coo_array((values, (model, place)), (int(model.max()) + 1, int(place.max()) + 1)).tocsr()
    result: np.ndarray = (sums @ sums.T).toarray()
    return result


def df_of_parts(parts: np.ndarray) -> float:
    """Return the degrees of freedom of a sum of stimuli's parts: twice its square over its variance.

    They are Satterthwaite's (1946), with the empirical variance of the parts: a few stimuli that fool
    everyone make the sum far less precise than as many stimuli of normal difficulty. At most stimuli - 1.
    """
    count, total = len(parts), float(parts.sum())
    most = max(count - 1.0, 1.0)
    spread = float(((parts - parts.mean()) ** 2).sum()) * count / (count - 1) if count > 1 else 0.0
    return min(most, max(1.0, 2 * total**2 / spread)) if spread and total > 0 else most


def crossed_interval(answers: Answers, model: int, level: float) -> dict[str, Any] | None:
    """Return the interval (percent) over evaluators and stimuli, and the stimuli's share of its variance.

    `df` is None if it is infinite: evaluators differ less than independent answers would.
    """
    found = crossed(answers, model)
    if found is None:
        return None
    (low, high), df = OverBoth(found.people, found.of_images, found.images_df).interval(level)
    return {
        "ci": [100 * low, 100 * high],
        "method": "wilson, evaluators and images crossed",
        "df": None if math.isinf(df) else df,
        "images": found.images,
        "share_of_images": found.share_of_images,
    }
