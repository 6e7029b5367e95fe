"""Spreads of shares, from which studies are planned: those of the papers, and those of a pilot."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.comparisons import repeated
from backend.analysis.crossing import shared_weight, sides_of
from backend.analysis.distributions.inference import Seen, mean_of, parts_of_images
from backend.analysis.planning.spread import Spread
from backend.analysis.table.designs import crossing_of
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_table import Answers, filter_rows
from backend.experiment.fixed_exposures import UNLIMITED, label
from backend.experiment.judgments import judgment_of
from backend.experiment.observer import PICTURE_SD
from backend.experiment.published import BESSEL, EVALUATORS, MODELS, POOL
from backend.foundation.errors import InvalidInput


def published_shares(images: int) -> list[Spread]:
    """Return the spreads of the papers' six models; evaluators drew from 5,000 pictures a side.

    Args:
        images: that an evaluator judged.
    """
    return [
        replace(
            _of_share(one.label, one.percent, images, one.percent_sd**2 * BESSEL, EVALUATORS - 1),
            pictures=(POOL, POOL),
            of_picture=_prior(one.percent),
        )
        for one in MODELS
    ]


def _of_share(model: str, score: float, images: float, observed: float, df: float) -> Spread:
    within = score * (100 - score)
    sampled = within / images
    return Spread(
        model, score, images, 1 - score / 100, max(observed - sampled, 0.0), within, sampled, observed, df
    )


def spreads_of_shares(answers: Answers, values: dict[str, Values]) -> list[Spread]:
    """Return spreads of shares; a share of 0 or 1 is taken as half an answer from it."""
    judges, models = answers.judges, _models_of_session(answers)
    squares = np.bincount(judges.of_response, answers.weight**2)
    spreads, names = [], []
    for code, (model, own) in enumerate(values.items()):
        if len(own) < 2:
            continue
        mine = judges.model == code
        if (seen := judges.seen[mine]).min() < 2:
            raise InvalidInput(f"an evaluator of {model} judged one image; a pilot needs two or more of each")
        mean, half = mean_of(own.numbers), 50 / float(seen.sum())
        score, images = min(max(mean.value, half), 100 - half), float(1 / squares[mine].mean())
        spread = _of_share(model, score, images, mean.people.variance * len(own), len(own) - 1)
        spread = replace(spread, within=_of_answers(answers, code, spread), models=models)
        spreads.append(_with_shared(spread, answers, code))
        names.append(model)
    if models == 1 or len(spreads) < 2:
        return spreads
    alike = _alike(spreads, repeated.covariances(crossing_of(answers, values, names)))
    return [replace(spread, alike=alike) for spread in spreads]


def _models_of_session(answers: Answers) -> int:
    """Return how many models an evaluator judged in one session: beside the same reals, or set by set."""
    judges = answers.judges
    if answers.given == len(answers) and not judgment_of(answers.method).has_items:
        return 1
    return max(1, round(len(judges.model) / len(np.unique(judges.evaluator))))


def _of_answers(answers: Answers, code: int, spread: Spread) -> float:
    """Return the variance of an answer, which where exposures are fixed is the mean of that at each."""
    if not answers.has_fixed_exposures:
        return spread.within
    mine = answers.of_model[code]
    _, place = np.unique(answers.asked_ms[mine], return_inverse=True)
    count = np.bincount(place)
    share = np.bincount(place, answers.error[mine]) / count
    unbiased = count * share * (1 - share) * count / np.maximum(count - 1, 1)
    return max(1e4 * float(unbiased.sum()) / len(mine), 1.0)


def _alike(spreads: Sequence[Spread], covariance: float) -> float:
    """Return the part of the variance between evaluators that one has in common for all models.

    Args:
        covariance: mean over pairs of models of that of an evaluator's values.
    """
    between = float(np.mean([spread.between for spread in spreads]))
    reals = np.mean([spread.of_side(0, spread.images) - spread.of_reals for spread in spreads])
    return min(max((covariance - float(reals)) / between, 0.0), 1.0) if between else 0.0


def spreads_of_exposures(answers: Answers) -> Iterator[Spread]:
    """Yield the spreads of the scores at each exposure, if each evaluator saw all of them."""
    exposures = np.unique(answers.asked_ms)
    rows = [filter_rows(answers, answers.asked_ms == ms) for ms in exposures]
    if any(len(row.judges.model) < len(answers.judges.model) or row.judges.seen.min() < 2 for row in rows):
        return
    for ms, row in zip(exposures.tolist(), rows, strict=True):
        name = label(ms if math.isfinite(ms) else None)
        where = "without time limit" if name == UNLIMITED else f"at {name} ms"
        for spread in spreads_of_shares(row, values_by_model(row)):
            images = spread.images * len(exposures)
            yield replace(spread, model=f"{spread.model} {where}", images=images, part=1 / len(exposures))


def _with_shared(spread: Spread, answers: Answers, code: int) -> Spread:
    """Return a spread of shares with its pictures: how many there are, and how much they differ.

    The pilot's estimate is pooled with the one that is assumed.

    Args:
        spread: one whose `images` are those that the score rests on; a session's are returned.
    """
    sides, prior = sides_of(answers, code), _prior(spread.score)
    weights, pictures, same = shared_pictures(sides)
    spread = replace(spread, weights=weights, pictures=pictures, of_picture=prior)
    answer = spread.within / spread.images
    spread = replace(spread, images=spread.images * spread.sampling(1) / spread.within)
    if same:
        people = sides[0].people
        within = math.fsum(parts_of_images(seen).sum() for seen in sides) / people / (people - 1) / same
        count = sum(n for n in pictures if math.isfinite(n))
        spread = spread.with_found(within * spread.unit**2, answer, count, same, people)
    sampled = answer - spread.covariance if same else answer
    return replace(spread, sampled=sampled, between=max(spread.observed - sampled, 0.0))


def shared_pictures(sides: Sequence[Seen]) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """Return each side's weight and number of pictures, and the probability that two answers share one.

    Where there is one side, its items are not shared by models, as fakes are not.
    """
    weights = [shared_weight(seen) for seen in sides]
    weights = weights if len(sides[1].image) else weights[::-1]
    return (
        tuple(weight for weight, _ in weights),
        tuple(weight / same if same else math.inf for weight, same in weights),
        math.fsum(same for _, same in weights),
    )


def _prior(score: float) -> float:
    """Return the variance between pictures (squared percentage points) whose effects are `PICTURE_SD`.

    Over normal effects e, by quadrature: the variance of F(m + e), F being the normal distribution's.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)
    middle = float(ndtri(score / 100)) * math.sqrt(1 + PICTURE_SD**2)
    shares = 100 * ndtr(middle + PICTURE_SD * nodes)
    return float(weights @ (shares - score) ** 2 / weights.sum())
