"""Spread of a model's evaluators, from which studies are planned.

The variance of an evaluator's error rate over k images has two components: evaluators differ (`between`),
and each judges a sample of k images (`within` / k, where `within` is p (1 - p) at an error rate p).
Variances are in squared percentage points. HYPE-time has no such components: a threshold is not a mean over
images, so that its spread is known only for sessions of the length in which it was observed.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from backend.analysis.response_table import Answers
from backend.analysis.values import Values, values_by_model
from backend.experiment.published import IMAGES, MODELS
from backend.experiment.staircase import NAMED_RULES, equilibrium_accuracy
from backend.foundation.errors import InvalidInput


@dataclass(frozen=True)
class Spread:
    """The spread of one model's evaluators, in the score's unit: percentage points, or ms."""

    model: str
    score: float
    sd: float
    """SD of evaluators' values, with n - 1, at `images` images each."""
    images: float
    accuracy: float
    """Share of right answers, for the pay."""
    between: float | None = None
    """Variance between evaluators, whatever the number of images; HYPE-infinity only."""
    within: float | None = None
    """Variance of one answer; HYPE-infinity only."""
    is_clipped: bool = False
    """Whether the sampling of images would explain more than the observed spread."""
    values: Values | None = None
    """Values of a pilot's evaluators."""

    @property
    def components(self) -> tuple[float, float]:
        """(`between`, `within`).

        Raises:
            ValueError: the method has no such components.
        """
        if self.between is None or self.within is None:
            raise ValueError("only HYPE-infinity has variances between evaluators and of answers")
        return self.between, self.within

    def sd_at(self, images: float) -> float:
        """Return the SD between evaluators who judge `images` each."""
        if self.between is None or self.within is None or images == self.images:
            return self.sd
        return math.sqrt(self.between + self.within / images)


def published(method: str) -> list[Spread]:
    """Return the spreads of the papers' six models.

    Raises:
        InvalidInput: an unknown method.
    """
    if method not in IMAGES:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {method!r}")
    images = IMAGES[method]
    if method == "time":
        right = equilibrium_accuracy(NAMED_RULES["hype-2019"])
        return [Spread(model.label, model.ms, model.ms_sd, images, right) for model in MODELS]
    return [
        _split(
            model.label,
            model.percent,
            model.percent_sd,
            images,
            within=model.percent * (100 - model.percent),
            by_images=model.percent * (100 - model.percent) / images,
            values=None,
        )
        for model in MODELS
    ]


def spreads_of(answers: Answers) -> list[Spread]:
    """Return the spread of each model of a pilot that has two evaluators or more.

    HYPE-infinity: evaluator i, with error rate p_i on k_i images, has a variance of p_i (1 - p_i) /
    (k_i - 1) due to the images only; the variance of the p_i less the mean of these is that between
    evaluators. Both are unbiased.

    Raises:
        InvalidInput: no model has two evaluators, or an evaluator judged one image only.
    """
    found = [*_spreads(answers)]
    if not found:
        raise InvalidInput("a pilot needs a model with at least two evaluators, to estimate how they differ")
    return found


def _spreads(answers: Answers) -> Iterator[Spread]:
    judges = answers.judges
    for code, (model, values) in enumerate(values_by_model(answers).items()):
        if len(values) < 2:
            continue
        mine = judges.model == code
        seen, wrong = judges.seen[mine], judges.wrong[mine]
        score, sd = float(values.numbers.mean()), float((values.numbers - values.numbers[0]).std(ddof=1))
        if answers.method == "time":
            right = 1 - float(wrong.sum() / seen.sum())
            yield Spread(model, score, sd, float(seen.mean()), right, values=values)
            continue
        if seen.min() < 2:
            raise InvalidInput(f"an evaluator of {model} judged one image; a pilot needs two or more of each")
        by_images = values.numbers * (100 - values.numbers) / (seen - 1)
        images = float(1 / np.mean(1 / seen))
        yield _split(
            model, score, sd, images, float((by_images * seen).mean()), float(by_images.mean()), values
        )


def _split(
    model: str, score: float, sd: float, images: float, within: float, by_images: float, values: Values | None
) -> Spread:
    """Return the spread with its components; if images explain more than all of it, `between` is 0."""
    between = sd**2 - by_images
    is_clipped = between < 0
    if is_clipped:
        between, within = 0.0, sd**2 * images
    return Spread(model, score, sd, images, 1 - score / 100, between, within, is_clipped, values)
