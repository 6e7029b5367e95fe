"""Thresholds of the people whom a model's evaluators stand for, and the score that a rule gives them.

An evaluator's psychometric function is the logistic of log exposure with a lapse rate, as in
`psychometric.py`; all evaluators share slope and lapse rate, and their log thresholds are normal about
that of the typical one (a mixed model of psychometric functions: Moscatelli, Mezzetti and Lacquaniti,
2012). The threshold is the exposure at which accuracy is that at which the staircase's rule settles. A fit
to all answers as if one person had given them would not do: each staircase looks where its own evaluator
is right that often, so that together they show the same accuracy at every exposure.

Likelihoods are summed over grids, without random numbers, over slopes and lapse rates too. The typical log
threshold has a flat prior and the SD between evaluators one of 1/SD, under which the interval of a mean of
normal values is Student's (Box and Tiao, 1973, section 2.4).

The score is a mean of modes, and the expected mode of an evaluator follows from threshold, slope and lapse
rate by simulation of the rule. Near the shortest or longest exposure most evaluators have one and the same
value, and their spread tells nothing of the few who have not; the functions do, since whoever is right in
95% of cases at 100 ms is farther from 100 ms than who is right in 75%. So the interval of the score there
is that of the expected modes of the population, with what evaluators' values are off those expected of
them added (a difference estimator: Särndal, Swensson and Wretman, 1992, section 6.3; ends are put
together as by Zou and Donner, 2008).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, logit, ndtr, stdtrit

from backend.analysis.simulated_staircase import modal_exposures
from backend.experiment.staircase import StaircaseRule

GUESS = 0.5
_SLOPES = (1.0, 1.5, 2.0, 3.0, 4.5)
_LAPSES = (0.0, 0.02, 0.05)
_KINDS = [(slope, lapse) for slope in _SLOPES for lapse in _LAPSES]
_SDS = (math.log(0.05), math.log(2.0))
"""Between evaluators, of the log threshold: the logarithms of the least and the most."""
_SD_POINTS = 12
"""Of each look, even on the logarithm, which is the prior 1 / SD."""
_POINTS = 81
_REACH = (2.5, 1.6)
"""Natural logarithms by which thresholds may lie under the shortest exposure and over the longest."""
_COARSE, _FINE = 33, 41
"""Typical log thresholds of the first look and the second."""
_UNLIKELY = 1e-4
"""Kinds of functions with less of the likeliest one's weight are left out of the second look."""
_BLOCKS = 100
"""Simulated for each threshold and kind of function."""
_GUESSERS = 4000
HIGHEST_AT = 0.94
"""Accuracy of a threshold that every kind of function reaches."""


@dataclass(frozen=True)
class Counts:
    """Answers of evaluators by exposure."""

    exposure_ms: np.ndarray
    """Shape (exposures,)."""
    right: np.ndarray
    """Shape (evaluators, exposures)."""
    total: np.ndarray
    """Shape (evaluators, exposures)."""


@dataclass(frozen=True)
class Range:
    """The exposures that a study can show, and how it moves between them."""

    low_ms: float
    high_ms: float
    rule: StaircaseRule | None
    """None where it is not known; then a mode is taken for the threshold, within the range."""
    trials: int
    """Of a block."""


@dataclass(frozen=True)
class Population:
    """What the answers tell of the people; thresholds in natural logarithms of ms."""

    threshold: tuple[float, float, float]
    """Of the typical evaluator: lower end, median, upper end."""
    expected: tuple[float, float, float]
    """The score (ms) expected of the people: lower end, median, upper end."""
    slope: float
    lapse: float
    of_evaluators: np.ndarray
    """The mode (ms) expected of each evaluator, by their own answers."""
    rise: float
    """By how much accuracy rises with log exposure, over the answers there are."""
    turn: float
    """By how much the expected score (ms) rises with the typical log threshold."""
    accuracy: np.ndarray
    """Expected of each evaluator at each exposure, (evaluators, exposures)."""


def population(counts: Counts, of: Range, at: float, level: float) -> Population:
    """Return what the answers of two evaluators or more tell of the people.

    Args:
        at: accuracy (0 to 1) of the threshold, above `GUESS` and at most `HIGHEST_AT`.
    """
    x = _grid(of)
    accuracy = _accuracy(x, np.log(counts.exposure_ms), at)
    likely, offset = _likelihoods(counts, accuracy)
    coarse, log_sds = np.linspace(x[0], x[-1], _COARSE), np.linspace(*_SDS, _SD_POINTS)
    first = _shares(_marginal(likely, offset, _weights(x, coarse, log_sds)))
    first = first.reshape(len(_KINDS), _COARSE, _SD_POINTS)
    kinds = np.flatnonzero(first.sum((1, 2)) > _UNLIKELY * first.sum((1, 2)).max())
    # of many evaluators little more than one SD of the first look is left, and so of their typical thresholds
    middles = _around(coarse, first.sum((0, 2)), _FINE)
    log_sds = _around(log_sds, first.sum((0, 1)), _SD_POINTS)
    weights = _weights(x, middles, log_sds)
    shares = _shares(_marginal(likely[kinds], offset[kinds], weights))
    expected = expected_modes(of, at)[kinds]
    tails = [(1 - level) / 2, 0.5, (1 + level) / 2]
    best, place = np.unravel_index(shares.argmax(), shares.shape)
    kind = kinds[best]
    mine = likely[kind] * weights[place]
    mine /= mine.sum(axis=1, keepdims=True)
    slope, lapse = _KINDS[kind]
    function = accuracy[kind]
    rises = slope * (function - GUESS) * (1 - (function - GUESS) / (1 - GUESS - lapse))
    return Population(
        threshold=_quantiles(np.repeat(middles, len(log_sds)), shares.sum(axis=0), tails),
        expected=_quantiles((expected @ weights.T).ravel(), shares.ravel(), tails),
        slope=slope,
        lapse=lapse,
        of_evaluators=mine @ expected[best],
        rise=float(((mine @ rises.T) * counts.total).sum() / counts.total.sum()),
        turn=float(weights[place] @ np.gradient(expected[best], x)),
        accuracy=mine @ function.T,
    )


def score_interval(
    found: Population, values: np.ndarray, of: Range, extra_variance: float, level: float
) -> tuple[float, float]:
    """Return the interval of the mean of evaluators' `values` (ms): what the people's would be.

    Args:
        extra_variance: (ms^2) of the mean, from pictures that evaluators share.
    """
    low, middle, high = found.expected
    off = values - found.of_evaluators
    quantile = float(stdtrit(len(values) - 1, (1 + level) / 2))
    half = quantile * math.sqrt(float(off.var(ddof=1)) / len(values) + extra_variance)
    centre, score = middle + float(off.mean()), float(values.mean())
    ends = centre - math.hypot(middle - low, half), centre + math.hypot(high - middle, half)
    return min(max(ends[0], of.low_ms), score), max(min(ends[1], of.high_ms), score)


def expected_modes(of: Range, at: float) -> np.ndarray:
    """Return the expected mode (ms) of a block: (kinds of functions, thresholds)."""
    if of.rule is None:
        return np.tile(np.clip(np.exp(_grid(of)), of.low_ms, of.high_ms), (len(_KINDS), 1))
    return _simulated(of.rule, of.trials, at)


@lru_cache(maxsize=16)
def guessing_ms(rule: StaircaseRule, trials: int) -> float:
    """Return the score (ms) expected of someone who is right in half of their answers at any exposure."""
    uniform = np.random.default_rng(0).random((trials, _GUESSERS))
    return float(modal_exposures(rule, lambda ms: np.full((len(ms), 1), GUESS), uniform).mean())


@lru_cache(maxsize=16)
def _simulated(rule: StaircaseRule, trials: int, at: float) -> np.ndarray:
    """Simulate blocks at every other threshold; each kind of function meets the same numbers."""
    x = _grid(Range(rule.min_ms, rule.max_ms, rule, trials))
    some = x[::2]
    uniform = np.random.default_rng(0).random((trials, len(some) * _BLOCKS))
    rows = []
    for slope, lapse in _KINDS:
        middle = np.repeat(some - _shift(slope, lapse, at), _BLOCKS)

        def accuracy(ms: np.ndarray, middle=middle, slope=slope, lapse=lapse) -> np.ndarray:
            return GUESS + (1 - GUESS - lapse) * expit(slope * (np.log(ms) - middle))

        means = modal_exposures(rule, accuracy, uniform).reshape(len(some), _BLOCKS).mean(axis=1)
        rows.append(np.interp(x, some, means))
    return np.array(rows)


def _grid(of: Range) -> np.ndarray:
    """Return the log thresholds that are looked at."""
    return np.linspace(math.log(of.low_ms) - _REACH[0], math.log(of.high_ms) + _REACH[1], _POINTS)


def _shift(slope: float, lapse: float, at: float) -> float:
    """Return by how much the log threshold is above the log midpoint of a function."""
    return float(logit((at - GUESS) / (1 - GUESS - lapse))) / slope


def _accuracy(x: np.ndarray, log_ms: np.ndarray, at: float) -> np.ndarray:
    """Return accuracies, (kinds, exposures, thresholds)."""
    return np.array(
        [
            GUESS
            + (1 - GUESS - lapse) * expit(slope * (log_ms[:, None] - (x - _shift(slope, lapse, at))[None]))
            for slope, lapse in _KINDS
        ]
    )


def _likelihoods(counts: Counts, accuracy: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each evaluator's likelihood, (kinds, evaluators, thresholds), the greatest of each being 1,
    and by kind the logarithms that were taken off for that.
    """
    bounded = np.clip(accuracy, 1e-9, 1 - 1e-9)
    log = counts.right @ np.log(bounded) + (counts.total - counts.right) @ np.log1p(-bounded)
    most = log.max(axis=2, keepdims=True)
    return np.exp(log - most), most.sum(axis=(1, 2))


def _weights(x: np.ndarray, middles: np.ndarray, log_sds: np.ndarray) -> np.ndarray:
    """Return the shares of a normal population at the grid's points, (middles * SDs, thresholds)."""
    edges = (x[1:] + x[:-1]) / 2
    below = ndtr((edges - middles[:, None, None]) / np.exp(log_sds)[None, :, None]).reshape(-1, len(edges))
    ends = np.zeros((len(below), 1)), np.ones((len(below), 1))
    return np.diff(np.concatenate([ends[0], below, ends[1]], axis=1), axis=1)


def _marginal(likely: np.ndarray, offset: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return log likelihoods of populations, (kinds, middles * SDs)."""
    return np.array(
        [
            np.log(one @ weights.T + 1e-300).sum(axis=0) + base
            for one, base in zip(likely, offset, strict=True)
        ]
    )


def _shares(log_likelihood: np.ndarray) -> np.ndarray:
    shares = np.exp(log_likelihood - log_likelihood.max())
    return shares / shares.sum()


def _around(coarse: np.ndarray, shares: np.ndarray, points: int) -> np.ndarray:
    """Return a finer grid over all of `coarse` that is not out of the question."""
    is_in = np.flatnonzero(shares > 1e-5 * shares.sum())
    low, high = coarse[max(is_in[0] - 1, 0)], coarse[min(is_in[-1] + 1, len(coarse) - 1)]
    return np.linspace(low, high, points)


def _quantiles(values: np.ndarray, shares: np.ndarray, tails: list[float]) -> tuple[float, float, float]:
    order = np.argsort(values)
    reached = np.cumsum(shares[order]) - shares[order] / 2
    low, middle, high = np.interp(tails, reached, values[order])
    return float(low), float(middle), float(high)
