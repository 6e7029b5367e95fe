"""Variance of a score whose votes cross evaluators with items, by evaluators, by items, and by both.

A score is described by the influence of each vote on it; influences sum to 0. Votes of one evaluator
resemble one another, and so do votes on one item. With S_j the sum of the influences of evaluator j, T_i
that of item i, and r the single ones, the variance over evaluators and items together is

    sum_j S_j^2 + sum_i T_i^2 - sum r^2

(Cameron, Gelbach and Miller, 2011, Journal of Business & Economic Statistics 29, 238-249): the first two
terms contain the variance of single votes once each. Each of the first two has its factor n / (n - 1).
Items cannot vary less than single votes do; of evaluators, see `inference.least_variance`.

For the agreement of people with one another, the observations are pairs of votes on one item. Two of them
are related if they share an item or an evaluator (Aronow, Samii and Assenova, 2015, Political Analysis 23,
564-577).
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array

from backend.analysis.distributions.inference import Component, clustered, df_of_parts, least_variance


@dataclass(frozen=True)
class TwoWay:
    """What is random in a score; None if fewer than two evaluators, or items, contribute."""

    by_evaluators: Component | None
    by_items: Component | None
    by_both: Component | None
    """Over evaluators and items; over items only where evaluators are not known."""


def two_way(
    influence: np.ndarray, item: np.ndarray, evaluator: np.ndarray | None, is_used: np.ndarray
) -> TwoWay:
    """Return the variances of a score.

    Args:
        influence: shape (votes,).
        item, evaluator: shape (votes,), codes from 0; each evaluator votes once on an item.
        is_used: shape (votes,), whether the score uses the vote.
    """
    influence, item = influence[is_used], item[is_used]
    items = _sums(influence, item)
    if evaluator is None:
        by_items = _clustered(items)
        return TwoWay(None, by_items, by_items)
    who = evaluator[is_used]
    return _combined(_clustered(_sums(influence, who)), items, _sums(influence**2, item))


def _combined(by_people: Component | None, items: np.ndarray, common: np.ndarray) -> TwoWay:
    """Return the components from that of evaluators and the sums of influences by item.

    Args:
        items: shape (items,), sums of influences.
        common: shape (items,), what both other terms contain.
    """
    by_items = _clustered(items)
    if by_people is None or by_items is None:
        return TwoWay(by_people, by_items, None)
    least = least_variance(by_people.variance, float(common.sum()))
    of_people = replace(by_people, variance=max(by_people.variance, least))
    # where nothing varies, the fewer degrees of freedom count
    fewer, more = sorted((of_people, _of_items(items, common)), key=lambda part: float(part.df))
    return TwoWay(by_people, by_items, fewer + more)


def _of_items(items: np.ndarray, common: np.ndarray) -> Component:
    """Return what items add to the variance of single votes; arguments of `_combined`."""
    shared = (items**2 - common) * len(items) / (len(items) - 1)
    return Component(max(0.0, float(shared.sum())), df_of_parts(shared))


def two_way_apart(
    influence: np.ndarray, item: np.ndarray, evaluator: np.ndarray | None, is_used: np.ndarray
) -> TwoWay:
    """Return the variances of a score, that over both with single votes apart; arguments of `two_way`.

    It is sum r^2, and what evaluators and items add to it if that is above 0. Degrees of freedom are
    Satterthwaite's with the precision of each estimate: few evaluators make that of their part imprecise,
    and not that of single votes, as it is in `two_way`.
    """
    components = two_way(influence, item, evaluator, is_used)
    if evaluator is None or components.by_both is None:
        return components
    influence, item, evaluator = influence[is_used], item[is_used], evaluator[is_used]
    single = Component(float((influence**2).sum()), len(influence) - 1)
    of_items = _of_items(_sums(influence, item), _sums(influence**2, item))
    both, by_people = single + of_items, clustered(_sums(influence, evaluator))
    inflation = (by_people.df + 1) / by_people.df
    of_people = by_people.variance - single.variance * inflation
    if of_people > 0:  # as imprecise as what it is the difference of
        both += Component(of_people, by_people.df * (of_people / by_people.variance) ** 2)
    return replace(components, by_both=both if both.variance else components.by_both)


def two_way_of_pairs(
    vote: np.ndarray, item: np.ndarray, evaluator: np.ndarray, weight: np.ndarray, centre: np.ndarray
) -> TwoWay:
    """Return the variances of a weighted mean share of agreeing pairs of votes on items.

    The influence of a pair of votes on item i is w_i (a - c_i), where a is 1 if they agree, else 0.

    Args:
        weight: shape (items,), w_i, the weight of each pair of votes on an item; 0 for an unused one.
        centre: shape (items,), c_i.
    """
    is_used = weight[item] != 0
    vote, item = vote[is_used], item[is_used]
    who, person = np.unique(evaluator[is_used], return_inverse=True)
    what, place = np.unique(item, return_inverse=True)
    w, c = weight[what], centre[what]
    n, k = np.bincount(place), np.bincount(place, vote)
    # with signs s = +-1, a pair's influence is w (1/2 - c) + w s s' / 2
    sign = 2 * vote - 1
    own = w[place] * ((n[place] - 1) * (0.5 - c[place]) + (sign * (2 * k - n)[place] - 1) / 2)
    people = np.bincount(person, own, len(who))
    pairs_of_item = n * (n - 1) / 2
    agreeing = (k * (k - 1) + (n - k) * (n - k - 1)) / 2
    items = w * (agreeing - pairs_of_item * c)
    squares = w**2 * (agreeing * (1 - c) ** 2 + (pairs_of_item - agreeing) * c**2)
    by_people = _of_people(people, _squares_of_pairs(sign, person, place, w, c) / 2)
    within = np.bincount(place, own**2, len(what)) - squares  # of pairs on one item that share an evaluator
    return _combined(by_people, items, within)


def _of_people(sums: np.ndarray, squares: float) -> Component | None:
    """Return what people add to a mean over pairs of them; None for a single one.

    With S_j the summed influences of the pairs of person j, of n, and q the sum over pairs of their squared
    influences, which sum_j S_j^2 contains twice, the variance is n (n - 1) / ((n - 2) (n - 3)) times
    sum_j S_j^2 - q: influences are distances from the mean of the same pairs, which makes them too small.
    This is exact where all people meet equally often. Pairs vary no less than if each were of people of its
    own, n / (n - 2) q. Of two or three people it is not known. The skewness is that of the sums.
    """
    count = len(sums)
    if count < 2:
        return None
    if count < 4:
        return Component(0.0, count - 1.0)
    known = count * (count - 1) / ((count - 2) * (count - 3)) * (float((sums**2).sum()) - squares)
    variance, plain = max(known, count / (count - 2) * squares), clustered(sums)
    third = plain.third * (variance / plain.variance) ** 1.5 if plain.variance else 0.0
    return Component(variance, plain.df, third)


def _squares_of_pairs(
    sign: np.ndarray, person: np.ndarray, place: np.ndarray, weight: np.ndarray, centre: np.ndarray
) -> float:
    """Return the sum over ordered pairs of people of the square of their summed influences."""
    shape = (int(person.max()) + 1, len(weight))
    votes = coo_array((sign, (person, place)), shape).tocsr()
    there = coo_array((np.ones(len(sign)), (person, place)), shape).tocsr()
    sums = votes @ (votes * (weight / 2)).T + there @ (there * (weight * (0.5 - centre))).T
    return float((sums.multiply(sums)).sum() - (sums.diagonal() ** 2).sum())


def _sums(values: np.ndarray, code: np.ndarray) -> np.ndarray:
    """Return the sum of the values of each code that occurs."""
    found, place = np.unique(code, return_inverse=True)
    return np.bincount(place, values, len(found))


def _clustered(sums: np.ndarray) -> Component | None:
    return clustered(sums) if len(sums) > 1 else None
