"""How much a model's evaluators differ: what a study is planned from.

The variance of an evaluator's error rate over k images has two parts: evaluators differ (`between`),
and each is judged by a sample of k images (`within` / k, where `within` is p (1 - p) at an error rate p).
Variances are in squared percentage points. HYPE-time has no such parts: a threshold is not a mean over
images, so that its spread is known only for sessions as long as those it was seen in.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from backend.analysis.values import Values, values_by_model
from backend.answers import Answers
from backend.errors import InvalidInput
from backend.staircase import NAMED_RULES, equilibrium_accuracy

PUBLISHED_IMAGES = {"infinity": 100, "time": 450}
"""Images an evaluator judges (HYPE 2.1, 2.2)."""
_PUBLISHED = {
    "infinity": {
        "StyleGAN CelebA-64": (50.7, 6.9),
        "ProGAN CelebA-64": (40.3, 4.8),
        "BEGAN CelebA-64": (10.0, 8.4),
        "WGAN-GP CelebA-64": (3.8, 2.7),
        "StyleGAN trunc FFHQ": (27.6, 13.4),
        "StyleGAN no-trunc FFHQ": (19.0, 9.7),
    },
    "time": {
        "StyleGAN CelebA-64": (439.4, 178.0),
        "ProGAN CelebA-64": (363.7, 162.0),
        "BEGAN CelebA-64": (111.0, 39.0),
        "WGAN-GP CelebA-64": (100.0, 0.0),
        "StyleGAN trunc FFHQ": (363.2, 166.0),
        "StyleGAN no-trunc FFHQ": (240.7, 155.0),
    },
}
"""Scores (HYPE, tables 1 to 3) and SDs between evaluators: the bootstrap SDs of the workshop paper's
tables 6 and 7, times the root of the number of evaluators drawn. Percent, ms."""


@dataclass(frozen=True)
class Spread:
    """The spread of one model's evaluators, in the score's unit: percentage points, or ms."""

    model: str
    score: float
    sd: float
    """Between evaluators' values, with n - 1, at `images` images each."""
    images: float
    accuracy: float
    """Share of right answers, for the pay."""
    between: float | None = None
    """Variance between evaluators, whatever the number of images; HYPE-infinity only."""
    within: float | None = None
    """Variance of one answer; HYPE-infinity only."""
    is_clipped: bool = False
    """Whether the images explain all of the spread, and more."""
    values: Values | None = None
    """Of a pilot's evaluators."""

    def sd_at(self, images: float) -> float:
        """Return the SD between evaluators who judge so many images each."""
        if self.between is None or images == self.images:
            return self.sd
        return math.sqrt(self.between + self.within / images)


def published(method: str) -> list[Spread]:
    """Return the spreads of the papers' six models.

    Raises:
        InvalidInput: an unknown method.
    """
    if method not in _PUBLISHED:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {method!r}")
    images = PUBLISHED_IMAGES[method]
    if method == "time":
        right = equilibrium_accuracy(NAMED_RULES["hype-2019"])
        return [Spread(model, score, sd, images, right) for model, (score, sd) in _PUBLISHED["time"].items()]
    return [
        _split(model, score, sd, images, score * (100 - score), score * (100 - score) / images, None)
        for model, (score, sd) in _PUBLISHED["infinity"].items()
    ]


def spreads_of(answers: Answers) -> list[Spread]:
    """Return the spread of each model of a pilot that has two evaluators or more.

    HYPE-infinity: evaluator i, wrong at a rate p_i of k_i images, shows a variance of p_i (1 - p_i) /
    (k_i - 1) by the images alone; what the variance of the p_i has beyond the mean of these is between
    evaluators. Both are unbiased.

    Raises:
        InvalidInput: no model has two evaluators, or an evaluator judged one image only.
    """
    found = [*_spreads(answers)]
    if not found:
        raise InvalidInput("a pilot needs a model with two evaluators or more; their spread is what it tells")
    return found


def _spreads(answers: Answers) -> Iterator[Spread]:
    judges = answers.judges
    for code, (model, values) in enumerate(values_by_model(answers).items()):
        if len(values) < 2:
            continue
        mine = judges.model == code
        seen, wrong = judges.seen[mine], judges.wrong[mine]
        score, sd = float(values.numbers.mean()), float(values.numbers.std(ddof=1))
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
    """Return the spread with its parts; where images explain more than all of it, they are all of it."""
    between = sd**2 - by_images
    is_clipped = between < 0
    if is_clipped:
        between, within = 0.0, sd**2 * images
    return Spread(model, score, sd, images, 1 - score / 100, between, within, is_clipped, values)
