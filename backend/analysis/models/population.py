"""Thresholds in the population from which a model's evaluators are sampled, and its expected score.

An evaluator's psychometric function is the logistic of log exposure with a lapse rate, as in
`psychometric.py`; all evaluators share slope and lapse rate, and their log thresholds are normal about
that of the typical one (a mixed model of psychometric functions: Moscatelli, Mezzetti and Lacquaniti,
2012). The threshold is the exposure with the accuracy that the staircase converges to. Pooling all answers
as if they were one person's would be wrong: each staircase samples exposures at which its own evaluator
has this accuracy, so that the pooled accuracy is the same at every exposure.

Likelihoods are summed over grids, without random numbers, over slopes and lapse rates too. The typical log
threshold has a flat prior and the SD between evaluators a prior of 1/SD, under which the interval of a mean
of normal values is Student's (Box and Tiao, 1973, section 2.4).

The score is a mean of modes, and an evaluator's expected mode follows from threshold, slope and lapse rate
by simulation of the rule. Near the shortest or longest exposure most evaluators have the same value, and
their spread gives no information on the few others. The functions do: an evaluator who is right in 95% of
trials at 100 ms has a threshold farther from 100 ms than one who is right in 75%. So the interval of the
score is there that of the population's expected modes, corrected by the differences between evaluators'
values and their expected modes (a difference estimator: Särndal, Swensson and Wretman, 1992, section 6.3;
ends are combined as by Zou and Donner, 2008).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import expit, logit, ndtr

from backend.analysis.distributions.inference import mean_of, t_quantile
from backend.analysis.models.simulated_staircase import modal_exposures
from backend.experiment.staircase import StaircaseRule

GUESS = 0.5  # a guess between real and fake, which are equally many
_SLOPES = (1.0, 1.5, 2.0, 3.0, 4.5)
_LAPSES = (0.0, 0.02, 0.05)
_KINDS = [(slope, lapse) for slope in _SLOPES for lapse in _LAPSES]
_SDS = (math.log(0.05), math.log(2.0))
"""Logarithms of the smallest and the largest SD of the log threshold between evaluators."""
_SD_POINTS = 12
"""Number of SDs in each grid, evenly spaced on the logarithm, which gives the prior 1 / SD."""
_POINTS = 81
_REACH = (2.5, 1.6)
"""Natural logarithms by which thresholds may be below the shortest exposure and above the longest."""
_COARSE, _FINE = 33, 41
"""Numbers of typical log thresholds in the coarse and in the fine grid."""
_UNLIKELY = 1e-4
"""Kinds of functions below this share of the likeliest one's weight are omitted from the fine grid."""
_BLOCKS = 100
"""Number of blocks simulated for each threshold and kind of function."""
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
    """The exposures that a study can show, and the rule that chooses among them."""

    low_ms: float
    high_ms: float
    rule: StaircaseRule | None
    """None if it is unknown; the expected mode is then the threshold, limited to the range."""
    trials: int
    """Trials of a block."""


@dataclass(frozen=True)
class Population:
    """Estimates for the population; thresholds in natural logarithms of ms."""

    threshold: tuple[float, float, float]
    """Threshold of the typical evaluator: lower end, median, upper end."""
    expected: tuple[float, float, float]
    """Expected score (ms) of the population: lower end, median, upper end."""
    slope: float
    lapse: float
    of_evaluators: np.ndarray
    """Expected mode (ms) of each evaluator, given their own answers."""
    rise: float
    """Mean slope of accuracy against log exposure, over the answers."""
    turn: float
    """Slope of the expected score (ms) against the typical log threshold."""
    accuracy: np.ndarray
    """Expected accuracy of each evaluator at each exposure, (evaluators, exposures)."""


def population(counts: Counts, of: Range, at: float, level: float) -> Population:
    """Return estimates for the population from the answers of two evaluators or more.

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
    # with many evaluators, the coarse grid leaves little more than one SD and one typical threshold
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
    rises = rise_at(function, slope, lapse)
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


def rise_at(accuracy: np.ndarray, slope: float, lapse: float) -> np.ndarray:
    """Return the slope of accuracy against log exposure where a function has this accuracy (0 to 1)."""
    return slope * (accuracy - GUESS) * (1 - (accuracy - GUESS) / (1 - GUESS - lapse))


def score_interval(
    population: Population, values: np.ndarray, of: Range, extra_variance: float, level: float
) -> tuple[float, float]:
    """Return the interval of the population mean from evaluators' `values` (ms).

    Args:
        extra_variance: variance of the mean (ms^2) due to stimuli that evaluators share.
    """
    low, middle, high = population.expected
    off = mean_of(values - population.of_evaluators)
    half = t_quantile(off.people.df, level) * math.sqrt(off.people.variance + extra_variance)
    centre, score = middle + off.value, float(values.mean())
    ends = centre - math.hypot(middle - low, half), centre + math.hypot(high - middle, half)
    return min(max(ends[0], of.low_ms), score), max(min(ends[1], of.high_ms), score)


def expected_modes(of: Range, at: float) -> np.ndarray:
    """Return the expected mode (ms) of a block: (kinds of functions, thresholds)."""
    if of.rule is None:
        return np.tile(np.clip(np.exp(_grid(of)), of.low_ms, of.high_ms), (len(_KINDS), 1))
    return _simulated(of.rule, of.trials, at)


@lru_cache(maxsize=16)
def guessing_ms(rule: StaircaseRule, trials: int) -> float:
    """Return the expected score (ms) of an evaluator who is right in half of the trials at any exposure."""
    uniform = np.random.default_rng(0).random((trials, _GUESSERS))
    return float(modal_exposures(rule, lambda ms: np.full((len(ms), 1), GUESS), uniform).mean())


@lru_cache(maxsize=16)
def _simulated(rule: StaircaseRule, trials: int, at: float) -> np.ndarray:
    """Simulate blocks at every other threshold; all kinds of functions use the same random numbers."""
    x = _grid(Range(rule.min_ms, rule.max_ms, rule, trials))
    some = x[::2]
    uniform = np.random.default_rng(0).random((trials, len(some) * _BLOCKS))
    rows = []
    for slope, lapse in _KINDS:
        middle = np.repeat(some - _shift(slope, lapse, at), _BLOCKS)

        def accuracy(
            ms: np.ndarray, middle: np.ndarray = middle, slope: float = slope, lapse: float = lapse
        ) -> np.ndarray:
            result: np.ndarray = GUESS + (1 - GUESS - lapse) * expit(slope * (np.log(ms) - middle))
            return result

        means = modal_exposures(rule, accuracy, uniform).reshape(len(some), _BLOCKS).mean(axis=1)
        rows.append(np.interp(x, some, means))
    return np.array(rows)


def _grid(of: Range) -> np.ndarray:
    """Return the grid of log thresholds."""
    return np.linspace(math.log(of.low_ms) - _REACH[0], math.log(of.high_ms) + _REACH[1], _POINTS)


def _shift(slope: float, lapse: float, at: float) -> float:
    """Return the difference of the log threshold from the log midpoint of a function."""
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
    """Return each evaluator's likelihood, (kinds, evaluators, thresholds), scaled to a maximum of 1,
    and by kind the sum of the logarithms of the scale factors.
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
    result: np.ndarray = shares / shares.sum()
    return result


def _around(coarse: np.ndarray, shares: np.ndarray, points: int) -> np.ndarray:
    """Return a finer grid over the part of `coarse` with non-negligible weight."""
    is_in = np.flatnonzero(shares > 1e-5 * shares.sum())
    low, high = coarse[max(is_in[0] - 1, 0)], coarse[min(is_in[-1] + 1, len(coarse) - 1)]
    return np.linspace(low, high, points)


def _quantiles(values: np.ndarray, shares: np.ndarray, tails: list[float]) -> tuple[float, float, float]:
    order = np.argsort(values)
    reached = np.cumsum(shares[order]) - shares[order] / 2
    low, middle, high = np.interp(tails, reached, values[order])
    return float(low), float(middle), float(high)
