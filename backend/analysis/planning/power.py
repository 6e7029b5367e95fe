"""What planned studies would print: the width of a score's interval, and the test between two models.

Both are those of `inference.py` and `crossed_tests.py`, over studies that are drawn: first what is not known
of the population (a pilot's variances have few degrees of freedom), then what such a study would estimate.
The draws are the same for every number of evaluators and images, so that widths and power change smoothly; a
Latin hypercube (McKay, Beckman and Conover, 1979) of them makes quantiles as precise as many more would.

A variance is drawn as a chi square (Wilson and Hilferty, 1931). The covariance that shared pictures add is
estimated with the noise of single answers, and not below 0: with few evaluators it is sometimes large by
chance, which the degrees of freedom of its interval tell.
"""

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit, ndtri, stdtrit

from backend.analysis.comparisons.repeated import degrees
from backend.analysis.distributions import studentized_range
from backend.analysis.distributions.inference import (
    Component,
    reaches,
    share_variances,
    third_of_share,
    wilson,
)
from backend.analysis.planning.spread import Spread

FEWEST = 2
"""Minimum number of evaluators, without which there is no spread."""
MOST = 10**6
"""Number of evaluators beyond which no plan is made."""
_STUDIES = 2048
_POINTS = 129
_REALS, _FAKES = 0, 1
_GRID = np.linspace(-1, 1, 401)
SEMICIRCLE = np.interp(
    (np.arange(12) + 0.5) / 12,
    0.5 + (_GRID * np.sqrt(1 - _GRID**2) + np.arcsin(_GRID)) / math.pi,
    _GRID,
)
"""Quantiles of the semicircle distribution."""
Part = tuple[np.ndarray, "np.ndarray | float"]
"""A component of a variance in each study, and its degrees of freedom."""


def width(spread: Spread, evaluators: int, images: float, level: float, assurance: float) -> float:
    """Return the width that the printed interval of a score does not exceed, with probability `assurance`.

    Args:
        level: confidence level of the interval, 0 to 1.
    """
    drawn, df = _drawn(spread, evaluators, images, "one"), evaluators - 1.0
    if spread.scale == "log-odds":
        return _width_of_strength(spread, drawn, df, level, assurance)
    of_pictures, noise = _clipped(drawn.pictures.sum(axis=0)), np.hypot(*drawn.noise)
    pictures_df = df_of_pictures(of_pictures, sum(drawn.seen), noise)
    if not spread.is_share:
        halves = (
            critical(level, 2, df) * np.sqrt(variance)
            for variance, df in ((drawn.people, np.array(df)), (of_pictures, pictures_df))
        )
        return 2 * spread.stretch * float(np.quantile(np.hypot(*halves), assurance))
    responses = evaluators * spread.within / spread.sampling(images)
    variances, dfs = share_variances(drawn.score, drawn.people, df, responses, of_pictures, pictures_df)
    third = third_of_share(drawn.score, drawn.people, _third(spread, drawn, evaluators, images), responses)
    below, above = reaches(critical(level, 2, dfs), variances, np.array([third, np.zeros(_STUDIES)]))
    low, high = (wilson(drawn.score, variances, reach, responses) for reach in (below, above))
    return 100 * float(np.quantile(high[1].max(axis=0) - low[0].min(axis=0), assurance))


def _third(spread: Spread, drawn: "_Drawn", evaluators: int, images: float) -> np.ndarray:
    """Return what studies find for the third cumulant of a share over evaluators.

    Evaluators' effects are normal in probits, their answers binomial. Of the skewness of shares n show the
    part n / (n + 11) (5 to 60 exponential values, simulated), more where their variance is large; it varies
    between studies by as much as that of normal ones (Fisher, 1930), and has a limit.
    """
    n, p = evaluators, drawn.score
    whole, of_mean = p * (1 - p), np.maximum(drawn.true_people, 1e-12)
    between = np.maximum(n * of_mean - whole / images, 0.0)
    z = ndtri(p)
    bend = -3 * z * between**2 * np.exp(z**2 / 2) * math.sqrt(2 * math.pi)  # the second term of Phi's series
    skewness = (bend + (1 - 2 * p) * whole / images**2) / (n * of_mean) ** 1.5
    spread_of = math.sqrt(6 * (n - 2) / (n + 1) / (n + 3))
    most = (n - 2) / math.sqrt(n - 1)
    along = np.clip(skewness, -0.7, 0.7)
    apart = along * _normal("one people") + np.sqrt(1 - along**2) * _normal("one skewness")
    shown = np.clip(skewness * n / (n + 11) + spread_of * apart, -most, most)
    third: np.ndarray = shown * math.sqrt(n - 1) / n * drawn.people**1.5
    return third


def power(
    spread: Spread, difference: float, evaluators: int, images: float, level: float, models: int = 2
) -> float:
    """Return the probability (0 to 1) that the printed test finds another model to differ by `difference`.

    Of the two possible scores of the other model, it has the one where evaluators vary more. Among several
    models the test is that of all pairs: Tukey's, or with sessions of several models Holm's, which is at
    least Bonferroni's. In a tournament it is that of the pair alone. Reals are the same for both models.

    Raises:
        ValueError: no score differs so much; see `other_score`.
    """
    if spread.scale == "log-odds":
        return _power_of_strengths(spread, difference, evaluators, images, level)
    other = other_score(spread, difference)
    if other is None:
        raise ValueError(f"no score differs by {difference:g} from {spread.score:g}")
    both = [
        _drawn(each, evaluators, images, name)
        for each, name in ((spread, "one"), (at_score(spread, other), "other"))
    ]
    common = _clipped(
        both[0].true_pictures[_REALS] + _normal("common") * both[0].noise[_REALS] / math.sqrt(2)
    )
    parts, spent = _of_people(both, spread, evaluators, models)
    for each in both:
        spent = spent + each.true_pictures[_FAKES]
        fakes, every = _clipped(each.pictures[_FAKES]), _clipped(each.pictures.sum(axis=0))
        reals = _clipped(each.pictures[_REALS] - common)
        parts += [
            (fakes, df_of_pictures(fakes, each.seen[_FAKES], each.noise[_FAKES])),
            (reals, df_of_pictures(every, sum(each.seen), np.hypot(*each.noise))),
        ]
    if spread.models > 1:
        level, models = 1 - (1 - level) / math.comb(models, 2), 2
    return _found(difference / spread.unit, spent, parts, level, models)


def _found(difference: float, spent: np.ndarray, parts: Sequence[Part], level: float, models: int) -> float:
    """Return how often a difference is found.

    Args:
        spent: its true variance in each study.
        parts: what a study finds for the components of it, each with its degrees of freedom.
    """
    variance = sum((part for part, _ in parts), np.zeros(_STUDIES))
    squares = sum((part**2 / df for part, df in parts), np.zeros(_STUDIES))
    observed = difference + _normal("difference") * np.sqrt(spent)
    bar = critical(level, models, variance**2 / np.maximum(squares, 1e-300)) * np.sqrt(variance)
    return float((np.abs(observed) > bar).mean())


def _of_people(
    both: Sequence["_Drawn"], spread: Spread, evaluators: int, models: int
) -> tuple[list[Part], np.ndarray]:
    """Return what a study finds for evaluators' part of a difference, and its true variance.

    Where sessions show several models, evaluators who judged both differ less in it (`repeated.py`).
    """
    spent = both[0].true_people + both[1].true_people
    if spread.models == 1:
        return [(each.people, evaluators - 1.0) for each in both], spent
    shared = evaluators * (min(spread.models, models) - 1) / (models - 1)
    common = np.sqrt(np.prod([_clipped(each.true_people - each.true_apart) for each in both], axis=0))
    spent = spent - 2 * common * shared / evaluators
    of_scores = np.diag([float(np.median(each.true_people)) for each in both])
    of_scores += (1 - np.eye(2)) * float(np.median(common)) * shared / evaluators
    counts = np.array([[evaluators, shared], [shared, evaluators]], float)
    (df,) = degrees(of_scores, counts, np.array([0]), np.array([1]))
    return [(spent * _chi_square("people", df) / df, df)], spent


def _width_of_strength(
    spread: Spread, drawn: "_Drawn", people_df: float, level: float, assurance: float
) -> float:
    """Return the width of a strength's interval, which has the degrees of freedom of all strengths."""
    pictures, pictures_df = _of_strengths(spread, drawn)
    df = (Component(drawn.true_people, people_df) + Component(pictures.mean(), pictures_df)).df
    half = critical(level, 2, df) * np.sqrt((drawn.people + pictures) * (1 - spread.centred))
    return 2 * float(np.quantile(half, assurance))


def _power_of_strengths(
    spread: Spread, difference: float, evaluators: int, images: float, level: float
) -> float:
    """Return the probability that a difference of strengths is found, symmetric about the model's."""
    spread = at_difference(spread, difference)
    drawn, people_df = _drawn(spread, evaluators, images, "one"), evaluators - 1.0
    pictures, pictures_df = _of_strengths(spread, drawn)
    df = (Component(drawn.true_people, people_df) + Component(pictures.mean(), pictures_df)).df
    spent = 2 * (drawn.true_people + drawn.true_pictures[_FAKES])
    bar = critical(level, 2, df) * np.sqrt(2 * (drawn.people + pictures))
    observed = difference + _normal("difference") * np.sqrt(spent)
    return float((np.abs(observed) > bar).mean())


def _of_strengths(spread: Spread, drawn: "_Drawn") -> tuple[np.ndarray, np.ndarray]:
    """Return the variance that pictures are found to add to a strength by itself, and its df.

    A covariance of all strengths is estimated, and only its positive part counted: about the semicircle of
    the eigenvalues of noise (Wigner, 1955), of which more are positive than negative ones are cut off.
    """
    estimate, noise = drawn.pictures[_FAKES], drawn.noise[_FAKES]
    reach = noise * math.sqrt(2 * max(spread.models - 2, 0))
    eigenvalues = estimate + reach * SEMICIRCLE[:, None]
    df = 2 * df_of_pictures(drawn.true_pictures[_FAKES], drawn.seen[_FAKES], noise)
    return np.maximum(eigenvalues, 0.0).mean(axis=0), np.maximum(df, 1.0)


def evaluators_for(suffices: Callable[[int], bool], start: int = FEWEST) -> int | None:
    """Return the smallest number of evaluators that suffices; None if `MOST` do not.

    Args:
        start: a number near it.
    """
    if not suffices(MOST):
        return None
    low, high = FEWEST - 1, max(start, FEWEST)
    step = max(1, high // 16)
    if suffices(high):
        while high - step > low and suffices(high - step):
            high, step = high - step, 2 * step
        low = max(low, high - step)
    else:
        while not suffices(high + step):
            high, step = high + step, 2 * step
        low, high = high, high + step
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def other_score(spread: Spread, difference: float) -> float | None:
    """Return the score of a model that differs by `difference` and whose evaluators vary more.

    None if no possible score differs so much.
    """
    low, high = spread.range
    possible = [
        score for score in (spread.score + difference, spread.score - difference) if low <= score <= high
    ]
    return min(possible, key=lambda score: abs(score - 50) if spread.is_share else -score, default=None)


def at_score(spread: Spread, score: float) -> Spread:
    """Return the spread of a model with another score; variances of times are as t^2."""
    if spread.is_share:
        answers, effects = map(float, _ratios(min(max(score, 0.5), 99.5), spread.score))
    else:
        answers = effects = (score / spread.score) ** 2
    return replace(
        spread, score=score,
        within=answers * spread.within, sampled=answers * spread.sampled,
        between=effects * spread.between, of_picture=effects * spread.of_picture,
        observed=answers * spread.sampled + effects * (spread.observed - spread.sampled),
    )  # fmt: skip


def _ratios(score: Any, other: float) -> tuple[Any, Any]:
    """Return the ratios of variances at a score (percent, or scores) to those at another one.

    Those of answers are as p (1 - p); those of evaluators and pictures, whose effects are alike in probits,
    as the square of the normal density at its quantile of p.

    Returns:
        Of answers, and of effects.
    """
    answers = score * (100 - score) / (other * (100 - other))
    return answers, np.exp(ndtri(other / 100) ** 2 - ndtri(score / 100) ** 2)


def at_difference(spread: Spread, difference: float) -> Spread:
    """Return the spread of a strength by so much above the others': answers to such pairs tell less."""
    ratio = 4 * expit(difference) * expit(-difference), 4 * expit(difference / 2) * expit(-difference / 2)
    within = spread.within * spread.models / (2 * ratio[0] + (spread.models - 2) * ratio[1])
    return replace(spread, score=spread.score + difference, within=within)


def critical(level: float, models: int, df: np.ndarray) -> np.ndarray:
    """Return the critical values of t for a pair among `models` models, interpolated over 1 / df."""
    result: np.ndarray = np.interp(1 / np.maximum(df, 1.0), *_critical(level, models))
    return result


@dataclass(frozen=True)
class _Drawn:
    """Studies of one model, in shares (0 to 1) or ms: arrays of shape (studies,), or (2, studies) by side."""

    true_people: np.ndarray
    """Variance of the score over evaluators."""
    true_pictures: np.ndarray
    """Variance of the score over pictures."""
    score: np.ndarray
    """What a study finds for the score."""
    people: np.ndarray
    """What it finds for the variance over evaluators."""
    pictures: np.ndarray
    """What it finds for that over pictures, which noise makes negative at times."""
    noise: np.ndarray
    """SD of that noise."""
    seen: tuple[float, ...]
    """Pictures that are seen of each side."""
    true_apart: np.ndarray
    """Part of `true_people` that models of one session do not share."""


def _drawn(spread: Spread, evaluators: int, images: float, name: str) -> _Drawn:
    """Draw studies; those of another `name` have other evaluators, and the same unknown population."""
    df, people_df, pairs = spread.df, evaluators - 1, evaluators * (evaluators - 1)
    observed = spread.observed * df / np.maximum(_chi_square("observed", df), 1e-3)
    between = np.maximum(observed - spread.sampled, 0.0)
    of_picture = spread.of_picture * _chi_square("pictures", spread.of_picture_df) / spread.of_picture_df
    score = np.full(_STUDIES, spread.score)
    of_answers = of_effects = np.ones(_STUDIES)
    if spread.is_share:
        error = np.sqrt(np.maximum(observed, spread.sampled) / (df + 1) + spread.covariance)
        score = _inside(score + error * _normal("score"), (df + 1) * spread.images)
        of_answers, of_effects = _ratios(score, spread.score)
    weights, sizes = (np.array(each)[:, None] for each in (spread.weights, spread.pictures))
    true_pictures, between = of_effects * of_picture * weights / sizes, of_effects * between
    values = np.maximum(between + of_answers * spread.sampling(images) - true_pictures.sum(axis=0), 0.0)
    own = (
        (1 - (spread.alike or 0.0)) * between
        + of_answers * spread.of_side(_FAKES, images)
        - true_pictures[_FAKES]
    )
    of_sides = np.array([[spread.of_side(side, images)] for side in (_REALS, _FAKES)])
    noise = of_answers * of_sides * np.sqrt(2 / sizes / pairs)
    if spread.scale == "log-odds":  # the pictures of opponents add to it
        noise = noise * math.sqrt(spread.models / (spread.models - 1))
    shown = spread.shown(images)
    seen = tuple(
        min(size, max(2.0, evaluators * each)) for size, each in zip(spread.pictures, shown, strict=True)
    )
    pictures = np.array(
        [
            true * _chi_square(f"{name} pictures {side}", count - 1) / (count - 1)
            + spent * _normal(f"{name} noise {side}")
            for side, (true, spent, count) in enumerate(zip(true_pictures, noise, seen, strict=True))
        ]
    )
    error = np.sqrt(values / evaluators + true_pictures.sum(axis=0))
    found = score + error * _normal(f"{name} score")
    if spread.is_share:
        found = _inside(found, evaluators * images)
    square = spread.unit**2
    return _Drawn(
        values / evaluators / square,
        true_pictures / square,
        found / spread.unit,
        values / evaluators * _chi_square(f"{name} people", people_df) / people_df / square,
        pictures / square,
        noise / square,
        seen,
        np.clip(own, 0.0, values) / evaluators / square,
    )


def _inside(percent: np.ndarray, responses: float) -> np.ndarray:
    """Return shares (percent) at least half an answer from 0 and 100%."""
    half = 50 / responses
    result: np.ndarray = np.clip(percent, half, 100 - half)
    return result


def _clipped(variance: np.ndarray) -> np.ndarray:
    result: np.ndarray = np.maximum(variance, 0.0)
    return result


def df_of_pictures(variance: np.ndarray, count: float | np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Return about the degrees of freedom that `crossing.df_of_parts` finds."""
    squares = 2 * variance**2
    most = np.maximum(count - 1, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = squares / (squares / count + noise**2)
    return np.where(squares > 0, np.clip(found, 1.0, most), most)


@lru_cache(maxsize=64)
def _normal(name: str) -> np.ndarray:
    """Return a column of the hypercube: normal quantiles in an order of its own."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    result: np.ndarray = ndtri((rng.permutation(_STUDIES) + 0.5) / _STUDIES)
    return result


def _chi_square(name: str, df: float) -> np.ndarray:
    part = 2 / 9 / df
    result: np.ndarray = df * np.maximum(1 - part + math.sqrt(part) * _normal(name), 0.0) ** 3
    return result


@lru_cache(maxsize=64)
def _critical(level: float, models: int) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 / df, from 0 to 1, and the critical values of t there."""
    inverse = np.linspace(0, 1, _POINTS) ** 2
    df = 1 / np.maximum(inverse, 1e-12)
    if models == 2:
        return inverse, stdtrit(df, (1 + level) / 2)
    return inverse, studentized_range.isf(1 - level, models, df) / math.sqrt(2)
