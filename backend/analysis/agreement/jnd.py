"""JND: whether a metric finds pairs close that people take for the same.

Pairs are sorted by the metric's distance. Down to each pair, true positives are the sum of the shares who
said `same`, false positives the sum of the others (fractional labels), and the score is the area under
precision against recall with the precision envelope (at each recall the highest precision at that recall or
a higher one), as in the published code of Zhang et al. (2018), which calls it mAP; not the 11-point area.

Pairs at equal distances stay in their order (by set and name, which is the order of sorted file names); the
area depends on it, so `range_of_ties` returns the areas of the worst and the best order.

From few pairs the envelope, a maximum of noisy precisions, is too high. `average_precision` takes the
precision as it is, and pairs at one distance as one step, sum((R_n - R_n-1) P_n) over distances n (as
scikit-learn's `average_precision_score`; Boyd, Eng and Page, 2013, compare it with other estimates of the
area). The envelope of a population whose precision falls with recall is its precision, so that there the two
areas are equal unless distances tie.
"""

from dataclasses import dataclass

import numpy as np

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Precision, recall and envelope of precision by pair, in the order of distances."""
ENVELOPE_RATE, STEPS_RATE, STEPS_SLOWEST = 0.5, 1.0, 2 / 3
"""Powers of 1 / pairs with which the biases of area and average precision fall (docs/agreement.md); that of a
useless metric's average precision falls as log(pairs) / pairs, about the last of these from 30 pairs on."""
_MOST_CELLS, _FEWEST_GROUPS = 2_500_000, 20
"""Groups of pairs times pairs of a jackknife (0.3 s and 100 MB), and the fewest groups of many pairs."""


@dataclass(frozen=True)
class Jackknife:
    """The areas without each of some groups of pairs (Quenouille, 1956; Tukey, 1958)."""

    whole: float
    """The area of all pairs."""
    without: np.ndarray
    """Shape (groups,): the area without each group; NaN where nobody said `same` of the others."""

    def bias(self, rate: float) -> float:
        """Return how much the area is expected to be too high if its bias falls as pairs ** -rate.

        The generalised jackknife of Schucany, Gray and Owen (1971); a rate of 1 is the ordinary one.
        """
        groups = len(self.without)
        return float((np.nanmean(self.without) - self.whole) / ((groups / (groups - 1)) ** rate - 1))


def jackknife_variance(without: np.ndarray) -> float:
    """Return the variance over pairs of an area, or of a difference, from its values without each group."""
    return float((np.isfinite(without).sum() - 1) * np.nanvar(without))


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


def average_precision(distance: np.ndarray, same: np.ndarray) -> float:
    """Return the average precision (0 to 1), ties being one step; NaN if nobody said `same`."""
    order, (precision, recall, _) = curve(distance, same)
    return float((np.diff(recall, prepend=0.0) * precision[_last_of_ties(distance[order])]).sum())


def influence(
    distance: np.ndarray, same: np.ndarray, is_stepwise: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of the area by each pair's mass of `same` and of `different`.

    With masses t and f (a pair of share p has t = p and f = 1 - p), T their sum, TP and N = TP + FP the sums
    down to a pair, and E_i the envelope at pair i, reached at the pair m(i), the area is sum(t_i / T E_i).
    With G_m the recall whose envelope is reached at m,

        d area / d t_k = (E_k - area) / T + sum_{m >= k} G_m FP_m / N_m^2
        d area / d f_k = -sum_{m >= k} G_m TP_m / N_m^2,

    m >= k where m(k) is after a tie. Since only ratios of masses count, sum(t d/dt + f d/df) = 0.

    Args:
        is_stepwise: of the average precision, whose E_i is the precision at m(i), the last pair at the
            distance of i.
    """
    order, (precision, _, _) = curve(distance, same)
    label, ties = same[order], _last_of_ties(distance[order])
    total, positives, seen = label.sum(), np.cumsum(label), np.arange(1, len(label) + 1)
    reached = ties if is_stepwise else _reached(precision)
    height = precision[reached]
    recall = np.bincount(reached, label / total, len(label))
    area_of_all = label @ height / total
    by_same = (height - area_of_all) / total + _from_here_on(recall * (seen - positives) / seen**2)
    by_different = -_from_here_on(recall * positives / seen**2)
    influences = np.empty((2, len(label)))
    influences[:, order] = by_same, by_different
    return influences[0], influences[1]


def jackknife(distance: np.ndarray, same: np.ndarray, is_stepwise: bool = False) -> Jackknife | None:
    """Return the jackknife of the area, or of the average precision; None if too few pairs say `same`.

    Each pair is left out once: alone, or, from more than some 1,600 pairs, in a group of every g-th pair.
    """
    pairs = len(same)
    groups = pairs // -(-pairs // max(_FEWEST_GROUPS, _MOST_CELLS // pairs))
    order = np.argsort(distance, kind="stable")
    is_left = (order % groups) != np.arange(groups)[:, None]
    label = np.where(is_left, same[order], 0.0)
    positives = np.cumsum(label, axis=1)
    precision = positives / np.maximum(np.cumsum(is_left, axis=1), 1)
    if is_stepwise:
        height = precision[:, _last_of_ties(distance[order])]
    else:
        height = np.maximum.accumulate(precision[:, ::-1], axis=1)[:, ::-1]
    total = positives[:, -1]
    if (total > 0).sum() < 2:
        return None
    with np.errstate(invalid="ignore"):
        without = (label * height).sum(axis=1) / total
    return Jackknife(average_precision(distance, same) if is_stepwise else area(distance, same), without)


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


def _last_of_ties(distance: np.ndarray) -> np.ndarray:
    """Return for each pair, in ascending order of distances, the last one at its distance."""
    last: np.ndarray = np.searchsorted(distance, distance, side="right") - 1
    return last


def _from_here_on(values: np.ndarray) -> np.ndarray:
    return np.cumsum(values[::-1])[::-1]
