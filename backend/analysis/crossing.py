"""The evaluators' and the stimuli's components of the variance of a score of real or fake (`inference.py`).

In a pair, each answer is one to a real and to a fake picture: the parts of both sides are of all answers
(column `beside`), and an answer to two pictures that two evaluators share counts on both, which errs on the
side of a larger variance. A pair of one source (`pairing=source`) is one item instead. An answer that does
not name its stimulus counts as one to a stimulus that nobody else saw.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array

from backend.analysis.distributions.inference import (
    Component,
    Seen,
    df_of_parts,
    mean_of,
    parts_of_images,
    products,
    shared_pictures,
)
from backend.analysis.table.evaluator_values import one_model
from backend.analysis.table.response_table import BESIDE, Answers, distinct


@dataclass(frozen=True)
class Crossed:
    """What is random in a score (a share, 0 to 1)."""

    mean: float
    people: Component
    pictures: Component
    of_reals: float
    """The part of real stimuli in `pictures`; it may be below 0 by chance."""
    fakes: Component
    """The part of fakes, likewise."""
    images: int
    of_answers: float
    """The variance of single answers about the mean of their side: the sum of all components."""
    fakes_error: float
    """The share (0 to 1) of wrong answers to fakes; 0 without."""


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
    mean = mean_of(one_model(answers, np.flatnonzero(judges.model == model)).numbers / 100)
    reals, fakes = (parts_of_images(seen) for seen in sides)
    pairs = count * (count - 1)
    return Crossed(
        mean=mean.value,
        people=mean.people,
        pictures=shared_pictures(sides),
        of_reals=float(reals.sum()) / pairs,
        fakes=Component(float(fakes.sum()) / pairs, df_of_parts(fakes)),
        images=len(reals) + len(fakes),
        of_answers=math.fsum(float((seen.residual**2 / seen.weight).sum()) for seen in sides)
        / math.fsum(float(seen.weight.sum()) for seen in sides),
        fakes_error=_mean(answers.error[mine[answers.is_fake[mine]]]),
    )


def _mean(wrong: np.ndarray) -> float:
    return float(wrong.mean()) if len(wrong) else 0.0


def sides_of(answers: Answers, model: int, residual: np.ndarray | None = None) -> list[Seen]:
    """Return a model's answers to reals and to fakes.

    Evaluators and stimuli are numbered by their names, so that the order of the answers does not matter.

    Args:
        residual: residual of each of the model's answers, unweighted; default, its error less the mean
            error of its side.
    """
    mine = answers.of_model[model]
    evaluator = answers.evaluator.ranks[answers.evaluator.codes[mine]]
    judges, person = distinct(evaluator, len(answers.evaluator.names))
    image = answers.image_ranks[mine]
    weight = answers.weight[mine]
    beside = answers.texts.get(BESIDE)
    sides = []
    for side in (False, True):
        here = answers.is_fake[mine] == side
        if beside is not None:
            here = np.ones(len(mine), bool)
            image = answers.image_ranks[mine] if side else beside.ranks[beside.codes[mine]]
        own = residual[here] if residual is not None else answers.residuals(mine[here])
        who = person[here], evaluator[here]
        sides.append(Seen(*who, image[here], own * weight[here], weight[here], len(judges)))
    return sides


def shared_weight(seen: Seen) -> tuple[float, float]:
    """Return the mean product of two evaluators' weights, over all their answers, and on the same stimulus.

    The first is the squared weight of the side in a score; relative to it, the second is the probability that
    two answers are to one stimulus: 1 over the number of stimuli if they are drawn alike.
    """
    pairs, every = products(seen, seen.weight)
    return every / (seen.people * (seen.people - 1)), float(pairs.sum()) / (seen.people * (seen.people - 1))


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

    def of_pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return sums of products of different evaluators by pair of models: on one stimulus, and on all."""
        on_one, own_on_one, own = (_products(model, keys, values) for keys in (image, cell, evaluator))
        whole = np.bincount(model, values, len(models))
        return (on_one - own_on_one)[i, j], (np.outer(whole, whole) - own)[i, j]

    (same, every), (pairs, all_pairs) = of_pairs(residual), of_pairs(weight)
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
