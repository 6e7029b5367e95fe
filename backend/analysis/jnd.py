"""JND: whether a metric finds pairs close that people take for the same.

Pairs are sorted by the metric's distance. Down to each pair, true positives are the sum of the shares who
said `same`, false positives the sum of the others (fractional labels), and the score is the area under
precision against recall with the precision envelope (at each recall the highest precision at that recall or
a higher one), as in the published code of Zhang et al. (2018), which calls it mAP; not the 11-point area.

Pairs at equal distances stay in their order (by set and name, which is the order of sorted file names); the
area depends on it, so `range_of_ties` returns the areas of the worst and the best order.
"""

import numpy as np

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Precision, recall and envelope of precision by pair, in the order of distances."""


def curve(distance: np.ndarray, same: np.ndarray) -> tuple[np.ndarray, Curve]:
    """Return the order of the pairs by distance, and the precision-recall curve in that order.

    Args:
        distance: shape (pairs,), finite.
        same: shape (pairs,), share of votes that say `same`; not all 0.
    """
    order = np.argsort(distance, kind="stable")
    return order, _curve(same[order])


def area(distance: np.ndarray, same: np.ndarray) -> float:
    """Return the area under the precision-recall curve (0 to 1); NaN if nobody said `same`."""
    return _area(same[np.argsort(distance, kind="stable")])


def range_of_ties(distance: np.ndarray, same: np.ndarray) -> tuple[float, float]:
    """Return the lowest and the highest area that another order of pairs at equal distances gives."""
    return _area(same[np.lexsort((same, distance))]), _area(same[np.lexsort((-same, distance))])


def influence(distance: np.ndarray, same: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of the area by each pair's mass of `same` and of `different`.

    With masses t and f (a pair of share p has t = p and f = 1 - p), T their sum, TP and N = TP + FP the sums
    down to a pair, and E_i the envelope at pair i, reached at the pair m(i), the area is sum(t_i / T E_i).
    With G_m the recall whose envelope is reached at m,

        d area / d t_k = (E_k - area) / T + sum_{m >= k} G_m FP_m / N_m^2
        d area / d f_k = -sum_{m >= k} G_m TP_m / N_m^2.

    Since only ratios of masses count, sum(t d/dt + f d/df) = 0.
    """
    order, (_, _, envelope) = curve(distance, same)
    label = same[order]
    total, positives, seen = label.sum(), np.cumsum(label), np.arange(1, len(label) + 1)
    reached = _reached(positives / seen)
    recall = np.bincount(reached, label / total, len(label))
    by_same = (envelope - _area(label)) / total + _from_here_on(recall * (seen - positives) / seen**2)
    by_different = -_from_here_on(recall * positives / seen**2)
    found = np.empty((2, len(label)))
    found[:, order] = by_same, by_different
    return found[0], found[1]


def _curve(label: np.ndarray) -> Curve:
    positives = np.cumsum(label)
    precision = positives / np.arange(1, len(label) + 1)
    total = label.sum()
    recall = positives / total if total else np.full(len(label), np.nan)
    return precision, recall, np.maximum.accumulate(precision[::-1])[::-1]


def _area(label: np.ndarray) -> float:
    _, recall, envelope = _curve(label)
    return float((np.diff(recall, prepend=0.0) * envelope).sum())


def _reached(precision: np.ndarray) -> np.ndarray:
    """Return for each pair the pair, here or below, with the highest precision; the nearest one."""
    backwards = precision[::-1]
    is_new = backwards >= np.maximum.accumulate(backwards)
    places = np.maximum.accumulate(np.where(is_new, np.arange(len(backwards)), 0))
    return len(backwards) - 1 - places[::-1]


def _from_here_on(values: np.ndarray) -> np.ndarray:
    return np.cumsum(values[::-1])[::-1]
