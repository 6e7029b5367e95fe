"""Shares, their differences, means, and areas under ROC curves, over evaluators and the pictures they share.

Answers of one evaluator resemble one another, and so do answers to one picture. The variance of a statistic
is that of its linearization, summed by evaluator, and of different evaluators' answers to one picture
(`inference.py`); of an area that is, over evaluators, Obuchowski's (1997, Biometrics 53,
567-578), who extended DeLong, DeLong and Clarke-Pearson (1988) to clusters. Quantiles are Student's, with
one degree of freedom fewer than evaluators and Satterthwaite's for both parts.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from backend.analysis.distributions import inference
from backend.analysis.distributions.inference import (
    Component,
    Estimate,
    Seen,
    Share,
    clustered,
    shared_pictures,
)
from backend.analysis.table.designs import models_as_strata
from backend.analysis.table.response_table import Answers

Part = tuple[np.ndarray, np.ndarray]
"""Which answers count, and among which; both of shape (answers,)."""


@dataclass(frozen=True)
class Answered:
    """Who gave each answer, and to what; arrays of shape (answers,)."""

    evaluator: np.ndarray
    """Codes from 0."""
    picture: np.ndarray
    """Codes; -1 where none is named."""
    is_fake: np.ndarray
    stratum: np.ndarray | None = None
    """Shape (evaluators,): strata as of `inference.clustered`."""

    def by_evaluator(self, values: np.ndarray) -> np.ndarray:
        """Return the sum of each evaluator's values."""
        result: np.ndarray = np.bincount(self.evaluator, values, int(self.evaluator.max()) + 1)
        return result

    def count(self, is_there: np.ndarray) -> int:
        """Return how many evaluators have one of these answers."""
        return len(np.unique(self.evaluator[is_there]))

    def of_evaluators(self, influence: np.ndarray, among: np.ndarray) -> Component:
        """Return the evaluators' component of the variance of a statistic, of whom two or more contribute.

        Args:
            influence: of each answer on the statistic.
            among: whether the statistic uses the answer.
        """
        there = np.unique(self.evaluator[among])
        strata = None if self.stratum is None else self.stratum[there]
        return clustered(self.by_evaluator(influence)[there], strata=strata)

    def of_pictures(self, influence: np.ndarray, weight: np.ndarray) -> Component:
        """Return the pictures' component of the variance of a statistic.

        Args:
            influence: of each answer on the statistic.
            weight: of each answer: its influence is this times how far it is from the statistic. What all
                answers to fakes, or to reals, of a stratum have in common is not the pictures'.
        """
        people = int(self.evaluator.max()) + 1
        if people < 2:
            return Component(0.0, 1.0)
        own, sides = self.centred(influence, weight) * people, []
        for side in (False, True):
            here = self.is_fake == side
            who = self.evaluator[here]
            sides.append(Seen(who, who, self.picture[here], own[here], weight[here] * people, people))
        return shared_pictures(sides)

    def centred(self, influence: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Return influences that sum to 0 over the fakes and over the reals of each stratum."""
        side = self.is_fake.astype(int)
        if self.stratum is not None:
            side = side + 2 * self.stratum[self.evaluator]
        whole, sums = (np.bincount(side, each) for each in (weight, influence))
        common = np.divide(sums, whole, out=np.zeros(len(whole)), where=whole != 0)
        result: np.ndarray = influence - weight * common[side]
        return result


def answered(answers: Answers, chosen: np.ndarray) -> Answered:
    """Return who gave the chosen answers, of which there is one at least, and to what."""
    _, first, evaluator = np.unique(answers.evaluator.codes[chosen], return_index=True, return_inverse=True)
    model = answers.model.codes[chosen]
    strata = models_as_strata(answers) if model.min() < model.max() else None
    stratum = None if strata is None else strata[chosen][first]
    return Answered(evaluator, answers.image_ranks[chosen], answers.is_fake[chosen], stratum)


def share_of(part: Part, who: Answered, level: float) -> tuple[float | None, list[float] | None]:
    """Return the share of answers that count with Wilson's interval for the effective sample size.

    The effective size is that of independent answers with the variance that evaluators and pictures show
    (Korn and Graubard, 1998), and at least what `inference.Share` has of that of answers. No share among no
    answers, and no interval of one evaluator's.
    """
    counts, among = part
    total = float(among.sum())
    if not total:
        return None, None
    share = float((counts & among).sum()) / total
    if who.count(among) < 2:
        return share, None
    weight = among / total
    influence = weight * (counts - share)
    people, pictures = who.of_evaluators(influence, among), who.of_pictures(influence, weight)
    estimate = Share(share, people, pictures, answers=total)
    return share, estimate.interval(level)


def difference_of(first: Part, second: Part, who: Answered, level: float) -> dict[str, Any] | None:
    """Return the difference of two shares of the same evaluators, with interval and p (two-sided).

    Its variance is never below that of independent answers, with a success and a failure added to each share
    (Agresti and Caffo, 2000): a few answers that happen to be alike show no variation. With less of it
    (`least_variance`) intervals of ten evaluators with one or two answers each cover 92%. Interval and p are
    None if either share has fewer than two evaluators. None if a share has no answers.

    Args:
        first, second: the difference is first - second.
    """
    if not first[1].any() or not second[1].any():
        return None
    shares, weights, influences = [], [], []
    for counts, among in (first, second):
        shares.append(float((counts & among).sum() / among.sum()))
        weights.append(among / among.sum())
        influences.append(weights[-1] * (counts - shares[-1]))
    difference: dict[str, Any] = {"difference": shares[0] - shares[1], "ci": None, "p": None}
    fewest = min(who.count(among) for _, among in (first, second))
    if fewest < 2:
        return difference
    people = who.of_evaluators(influences[0] - influences[1], first[1] | second[1])
    independent = sum(_independent(*part) for part in (first, second))
    centred = who.centred(influences[0], weights[0]) - who.centred(influences[1], weights[1])
    over_people = Component(max(people.variance, independent), min(people.df, fewest - 1))
    pictures = who.of_pictures(centred, np.zeros(len(centred)))
    apart = Estimate(difference["difference"], over_people, pictures)
    return {**difference, "ci": apart.interval(level), "p": apart.p()}


def mean_of(
    values: np.ndarray,
    level: float,
    who: Answered | None = None,
    influence: Part | None = None,
    evaluators: np.ndarray | None = None,
) -> tuple[float, list[float] | None]:
    """Return the mean of evaluators' values, and Student's interval; None for one value or equal ones.

    Args:
        values: shape (evaluators,).
        who: who gave the answers that the values are of; None if none of them can be told.
        influence: influences of the answers on the mean, and their weights, as for `Answered.of_pictures`.
        evaluators: whose values they are; default, all.
    """
    if len(values) < 2 or inference.are_equal(values):
        return float(values[0]), None
    strata = None if who is None else who.stratum
    if strata is not None and evaluators is not None:
        strata = strata[evaluators]
    mean = inference.mean_of(values, strata)
    if who is not None and influence is not None:
        mean = replace(mean, pictures=who.of_pictures(*influence))
    return mean.value, mean.interval(level)


@dataclass(frozen=True)
class Area:
    """The area under a ROC curve: the chance that a positive is rated above a negative, ties counted half."""

    estimate: Estimate
    """Its variance is NaN for fewer than two evaluators with positives, or with negatives."""
    own: np.ndarray
    """The areas of single evaluators, from their own ratings only, who have both positives and negatives."""
    own_evaluators: np.ndarray
    """Their codes."""
    own_influence: Part
    """Influences of the answers on the mean of these, and their weights."""


def area_of(ratings: np.ndarray, is_positive: np.ndarray, who: Answered) -> Area | None:
    """Return the area under the ROC curve of ratings; None without positives or without negatives.

    Args:
        ratings: shape (answers,); only their order counts.
    """
    negative = ~is_positive
    sides = (is_positive, negative)
    if not all(side.any() for side in sides):
        return None
    placements, weight = np.empty(len(ratings)), np.empty(len(ratings))
    for side, other in (sides, sides[::-1]):
        placed = _placements(ratings[side], ratings[other])
        placements[side] = placed if side is is_positive else 1 - placed
        weight[side] = 1 / side.sum()
    area = float(placements[is_positive].mean())
    influence = weight * (placements - area)
    fewest = min(map(who.count, sides))
    estimate = Estimate(area, Component(np.nan, 1))
    if fewest >= 2:
        people = _obuchowski(influence, sides, who)
        people = replace(people, df=min(people.df, fewest - 1))
        estimate = Estimate(area, people, who.of_pictures(influence, weight))
    return Area(estimate, *_own_areas(ratings, is_positive, who))


def _obuchowski(influence: np.ndarray, sides: tuple[np.ndarray, np.ndarray], who: Answered) -> Component:
    """Return the component of evaluators in an area, whose positives and negatives go together."""
    either, parts = sides[0] | sides[1], [np.where(side, influence, 0.0) for side in sides]
    own = [who.of_evaluators(part, side) for part, side in zip(parts, sides, strict=True)]
    of_sum, *of_sides = (who.of_evaluators(part, either) for part in (influence, *parts))
    covariance = of_sum.variance - sum(each.variance for each in of_sides)
    return Component(sum(each.variance for each in own) + covariance, of_sum.df)


def _placements(ratings: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return for each rating the share of `others` below it, ties counted half."""
    ordered = np.sort(others)
    below, up_to = np.searchsorted(ordered, ratings, "left"), np.searchsorted(ordered, ratings, "right")
    return (below + up_to) / (2 * len(ordered))


def _own_areas(
    ratings: np.ndarray, is_positive: np.ndarray, who: Answered
) -> tuple[np.ndarray, np.ndarray, Part]:
    """Return the areas of single evaluators, their codes, and the influences on their mean, with weights."""
    order = np.argsort(who.evaluator, kind="stable")
    ends = np.cumsum(np.bincount(who.evaluator))[:-1]
    areas, evaluators = [], []
    placements, weight = np.zeros(len(ratings)), np.zeros(len(ratings))
    for mine in np.split(order, ends):
        positives, negatives = mine[is_positive[mine]], mine[~is_positive[mine]]
        if not len(positives) or not len(negatives):
            continue
        placements[positives] = _placements(ratings[positives], ratings[negatives])
        placements[negatives] = 1 - _placements(ratings[negatives], ratings[positives])
        weight[positives], weight[negatives] = 1 / len(positives), 1 / len(negatives)
        areas.append(placements[positives].mean())
        evaluators.append(who.evaluator[mine[0]])
    if not areas:
        return np.empty(0), np.empty(0, int), (placements, weight)
    weight /= len(areas)
    return np.array(areas), np.array(evaluators), (weight * (placements - np.mean(areas)), weight)


def _independent(counts: np.ndarray, among: np.ndarray) -> float:
    """Return the variance of a share of independent answers, with a success and a failure added."""
    total = float(among.sum()) + 2
    share = (float((counts & among).sum()) + 1) / total
    return share * (1 - share) / total
