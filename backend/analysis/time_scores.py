"""Results reported with each HYPE-time score: its interval, the fitted threshold, and the blocks at a bound.

The score, a mean of modal exposures, cannot leave the range of the staircase, approaches its longest
exposure only in more trials than a block has, and is biased relative to the exposure at which an evaluator
has the accuracy that the rule converges to (docs/protocol.md has the figures). So that exposure, fitted to
all answers, is reported with it (`population.py`), and so are the shares of blocks at a bound.

The interval is Student's over evaluators. If 1 in 20 blocks or more has its mode at a bound, it is extended
to that of `population.py`, whose people have normally distributed log thresholds, and for the skewness of
evaluators' values, since some slow people among quick ones are the usual case. It includes the variance of
stimuli that evaluators share: the covariance of residuals on them, each answer's error less what the
evaluator's own function expects (`crossing.py`).

The upper end of the threshold's is farther out by half of the skewness of exponential values that so many
people do not show; half, since it is that of logarithms (docs/statistics.md has the coverage).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from backend.analysis.crossing import sides_of
from backend.analysis.distributions.inference import (
    Component,
    Estimate,
    Seen,
    mean_of,
    reaches,
    shared_pictures,
    t_quantile,
    unseen_skewness,
)
from backend.analysis.models import population, psychometric
from backend.analysis.models.population import Counts, Population, Range
from backend.analysis.models.rule_inference import in_blocks, infer_rule
from backend.analysis.table.evaluator_values import Values, modal_exposures
from backend.analysis.table.response_table import Answers
from backend.experiment.staircase import StaircaseRule, equilibrium_accuracy

AT_A_BOUND = 0.05
"""Share of blocks at the shortest or longest exposure above which they matter. Student's interval of 5
or 10 evaluators covers less than 93% above about this share (docs/statistics.md)."""
_LOWEST_AT = 0.52
_LEAST_RISE = 0.05
"""Minimum slope of accuracy in log exposure; near 0, stimuli would shift thresholds without limit."""
_STRAIGHT = 1e-6
"""Skewness below which there is nothing to transform."""
_LEVELS = 400
"""Maximum number of distinct exposures; more are grouped by their logarithm."""


@dataclass(frozen=True)
class Times:
    """HYPE-time's answers, and the quantities estimated from all of them together."""

    answers: Answers
    level: float

    @cached_property
    def rule(self) -> StaircaseRule | None:
        return infer_rule(self.answers)

    @cached_property
    def at(self) -> float:
        """The accuracy (0 to 1) of the threshold: that at which the rule converges, if functions reach it."""
        settles = None if self.rule is None else equilibrium_accuracy(self.rule)
        if settles is not None and _LOWEST_AT <= settles <= population.HIGHEST_AT:
            return settles
        return psychometric.THRESHOLD_AT

    @cached_property
    def range(self) -> Range:
        _, starts = in_blocks(self.answers)
        trials = int(np.median(np.diff(np.r_[starts, len(self.answers)])))
        if self.rule is not None:
            return Range(self.rule.min_ms, self.rule.max_ms, self.rule, trials)
        ms = self.asked_ms
        return Range(float(ms.min()), max(float(ms.max()), 1.001 * float(ms.min())), None, trials)

    @cached_property
    def asked_ms(self) -> np.ndarray:
        """The exposures that the staircase requested, by answer."""
        return self.answers.asked_ms

    @cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Judge and modal exposure (ms) of each block."""
        return modal_exposures(self.answers, self.asked_ms)

    def population(self, code: int) -> Population:
        """Return the population of a model's evaluators, of whom there are two or more."""
        fitted = self.answers.memo.setdefault("populations", {})
        if (code, self.level) not in fitted:
            counts = _counts(self.answers, code)
            fitted[code, self.level] = population.population(counts, self.range, self.at, self.level)
        result: Population = fitted[code, self.level]
        return result

    def of_model(self, code: int, values: Values) -> dict[str, Any]:
        """Return `interval`, `threshold` and `blocks` of a model.

        `interval` is None for one evaluator, and if neither evaluators nor stimuli show any variance.
        """
        blocks = self._blocks(code)
        if len(values) < 2:
            return {"interval": None, "threshold": self._of_one(code), "blocks": blocks}
        population = self.population(code)
        pictures = _pictures(self.answers, code, population)
        is_at_a_bound = blocks["at_floor"] + blocks["at_ceiling"] >= AT_A_BOUND
        return {
            "interval": self._interval(values, population, pictures, is_at_a_bound),
            "threshold": self._threshold(population, pictures, len(values)),
            "blocks": blocks,
        }

    def _interval(
        self, values: Values, found: Population, pictures: "Pictures | None", is_at_a_bound: bool
    ) -> dict[str, Any] | None:
        mean = mean_of(values.numbers)
        if pictures is not None:
            turned = Component(pictures.of_threshold.variance * found.turn**2, pictures.of_threshold.df)
            mean = replace(mean, pictures=turned)
        low, high = self._student(mean)
        extra = 0.0 if mean.pictures is None else mean.pictures.variance
        if is_at_a_bound:
            below, above = population.score_interval(found, values.numbers, self.range, extra, self.level)
            low, high = for_skewed(values.numbers, low, high)
            low, high = min(low, below), max(high, above)
        if is_at_a_bound or self.rule is not None:  # else nobody knows what other evaluators may be shown
            low, high = max(low, self.range.low_ms), min(high, self.range.high_ms)
        if high - low <= 1e-9 * high:
            return None
        return {
            "ci": [low, high],
            "method": "population" if is_at_a_bound else "student",
            "of": "evaluators" if pictures is None else "evaluators and pictures",
            "df": mean.people.df,
            "pictures": pictures and pictures.count,
            "pictures_df": mean.pictures and mean.pictures.df,
            "share_of_pictures": mean.share_of_pictures,
        }

    def _student(self, mean: Estimate) -> tuple[float, float]:
        """Return the interval with combined half-widths over evaluators and stimuli (Zou and Donner, 2008).

        Satterthwaite's degrees of freedom of the sum would be too many: with 5 evaluators, the stimuli's part
        is often 0 by chance, and often large.
        """
        half = math.hypot(*(_half(part, self.level) for part in (mean.people, mean.pictures)))
        return mean.value - half, mean.value + half

    def _threshold(self, population: Population, pictures: "Pictures | None", count: int) -> dict[str, Any]:
        low, middle, high = population.threshold
        half = _half(None if pictures is None else pictures.of_threshold, self.level)
        quantile = t_quantile(count - 1, self.level)
        _, reach = reaches(quantile, 1.0, unseen_skewness(count) / 2)
        longer = (high - middle) * reach / quantile
        ends = middle - math.hypot(middle - low, half), middle + math.hypot(longer, half)
        beyond = math.log(self.range.low_ms) - 1, math.log(self.range.high_ms) + 1
        return self._as_dict(
            math.exp(middle), [math.exp(min(max(end, beyond[0]), beyond[1])) for end in ends]
        )

    def _of_one(self, code: int) -> dict[str, Any]:
        counts = _counts(self.answers, code)
        trials = psychometric.Trials(counts.exposure_ms, counts.right[0], counts.total[0])
        fit = psychometric.fit(trials, at=self.at, level=None)
        return self._as_dict(math.inf if fit.threshold_ms is None else fit.threshold_ms, None)

    def _as_dict(self, ms: float, ci: list[float] | None) -> dict[str, Any]:
        low, high = self.range.low_ms, self.range.high_ms
        return {**psychometric.limited(ms, ci, low, high), "at": self.at}

    def _blocks(self, code: int) -> dict[str, Any]:
        judge, mode = self.modes
        mine = mode[self.answers.judges.model[judge] == code]
        order, starts = in_blocks(self.answers)
        longest = np.maximum.reduceat(self.asked_ms[order], starts)
        whose = self.answers.judges.model[self.answers.judges.of_response[order[starts]]]
        close = 1e-6 * self.range.high_ms
        return {
            "count": len(mine),
            "at_floor": float((mine <= self.range.low_ms + close).mean()),
            "at_ceiling": float((mine >= self.range.high_ms - close).mean()),
            "guessing_ms": None
            if self.rule is None
            else population.guessing_ms(self.rule, self.range.trials),
            "reached_ceiling": float((longest[whose == code] >= self.range.high_ms - close).mean()),
        }


@dataclass(frozen=True)
class Pictures:
    """The stimuli that evaluators share."""

    of_threshold: Component
    """In the variance of the typical log threshold."""
    count: int


def _half(part: Component | None, level: float) -> float:
    """Return half the width of an interval in which only this is random."""
    return 0.0 if part is None else float(t_quantile(part.df, level) * math.sqrt(part.variance))


def variance_of_pictures(mean: Estimate, interval: Mapping[str, Any]) -> float:
    """Return the variance (ms^2) that an interval has of pictures, beside that over evaluators."""
    share: float = interval["share_of_pictures"] or 0.0
    return float(mean.people.variance) * share / (1 - share) if share < 1 else 0.0


def for_skewed(values: np.ndarray, low: float, high: float) -> tuple[float, float]:
    """Return an interval of the mean of skewed values, extended by the transformation of Hall (1992).

    With the skewness that values show, intervals of 30 people became up to twice as wide and covered 96 to
    98%; with half of it they cover 93 to 98% (docs/statistics.md). Neither end is moved inwards.

    Args:
        values: shape (evaluators,).
        low, high: an interval that is symmetric about their mean.
    """
    mean, sd, count = float(values.mean()), float(values.std()), len(values)
    if not sd:
        return low, high
    error = sd / math.sqrt(count - 1)
    skewness = float(((values - mean) ** 3).mean()) / sd**3
    bend = skewness / 2 / math.sqrt(count)

    def turned(t: float) -> float:
        return t if abs(bend) < _STRAIGHT else 3 / bend * (math.cbrt(1 + bend * (t - bend / 6)) - 1)

    reach = (high - mean) / error
    return min(low, mean - error * turned(reach)), max(high, mean - error * turned(-reach))


def times_of(answers: Answers, values: Mapping[str, Values], level: float) -> dict[str, dict[str, Any]]:
    """Return the results reported with each model's score, by model."""
    times = Times(answers, level)
    return {model: times.of_model(code, values[model]) for code, model in enumerate(answers.model.names)}


def accuracies(answers: Answers, code: int, population: Population) -> np.ndarray:
    """Return the accuracy (0 to 1) expected of each of a model's answers, by its evaluator's own function."""
    mine = answers.of_model[code]
    _, person = np.unique(answers.evaluator.codes[mine], return_inverse=True)
    _, level = _levels(answers.exposures_ms[mine])
    result: np.ndarray = population.accuracy[person, level]
    return result


def _counts(answers: Answers, code: int) -> Counts:
    """Return a model's answers by evaluator and exposure."""
    mine = answers.of_model[code]
    _, person = np.unique(answers.evaluator.codes[mine], return_inverse=True)
    levels, level = _levels(answers.exposures_ms[mine])
    cells = person * len(levels) + level
    size = (int(person.max()) + 1) * len(levels)
    right = np.bincount(cells, 1 - answers.error[mine], size).reshape(-1, len(levels))
    return Counts(levels, right, np.bincount(cells, minlength=size).reshape(right.shape))


def _levels(ms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct exposures (ms), and the index of each answer's among them."""
    found, place = np.unique(ms, return_inverse=True)
    if len(found) <= _LEVELS:
        return found, place
    logs = np.log(found)
    bins = np.minimum((_LEVELS * (logs - logs[0]) / (logs[-1] - logs[0])).astype(int), _LEVELS - 1)
    _, of_bin = np.unique(bins, return_inverse=True)
    return np.exp(np.bincount(of_bin, logs) / np.bincount(of_bin)), of_bin[place]


def residual_sides(answers: Answers, code: int, population: Population) -> list[Seen]:
    """Return a model's answers to reals and to fakes, with their errors less those that each evaluator's
    function predicts at their exposures; [] if no stimulus is named.
    """
    mine = answers.of_model[code]
    if not answers.has_image[mine].any():
        return []
    residual = answers.error[mine] - (1 - accuracies(answers, code, population))
    for side in (False, True):  # a bias to real or fake is the evaluators', not the stimuli's
        here = answers.is_fake[mine] == side
        residual[here] -= residual[here].mean() if here.any() else 0.0
    return sides_of(answers, code, residual)


def threshold_a_residual(population: Population) -> float:
    """Return by how much the log threshold rises with the mean residual of all answers."""
    return 1 / max(population.rise, _LEAST_RISE)


def _pictures(answers: Answers, code: int, population: Population) -> Pictures | None:
    """Return the part of shared stimuli; None if no stimulus is named."""
    sides = residual_sides(answers, code, population)
    if not sides:
        return None
    shared = shared_pictures(sides)
    count = sum(len(np.unique(seen.image[seen.image >= 0])) for seen in sides)
    return Pictures(Component(shared.variance * threshold_a_residual(population) ** 2, shared.df), count)
