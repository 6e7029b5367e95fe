"""Spread of a model's evaluators and pictures: the components of the variance of a planned score.

The variance of an evaluator's share of counted answers over k images has two components: evaluators differ
(`between`), and each judges a sample of k images (`within` / k, where `within` is p (1 - p) at a share p).
Pictures that evaluators share add to the variance of a score a covariance, whatever the number of evaluators:
the variance between pictures over the number of pictures of a side, weighted by that side's part of a score.
Variances are in squared percentage points.

A session that shows several models (M) shows each M-th part of its fakes, so that a score has fewer answers;
models share its reals and its evaluator's leniency (`alike`), which a difference within evaluators lacks.

HYPE-time has no such components: a threshold is not a mean over images, so that its spread is known only for
sessions of the length in which it was observed. Variances are in squared ms.

Strengths of a tournament have the same components, in log-odds: of answers the inverse of their information,
of evaluators and of pictures what they add to it. They are those of a strength by itself, which centring
lowers by 1 / models (`tournament_spreads.py`).
"""

import math
from dataclasses import dataclass, replace

PRIOR_DF = 10.0
"""Degrees of freedom of a variance that is assumed without a pilot."""
REAL_OR_FAKE = (0.25, 0.25)
"""Squared weights of reals and fakes in a score, half of whose answers are to each."""


@dataclass(frozen=True)
class Spread:
    """The spread of one model's evaluators, in the score's unit: percentage points, ms, or log-odds."""

    model: str
    score: float
    images: float
    """Images that a session shows; in a tournament, pairs."""
    accuracy: float
    """Share of right answers, for the pay."""
    between: float
    """Variance between evaluators, whatever the number of images; at least 0."""
    within: float
    """Variance of one answer; in a tournament, of one to a pair with the model; 0 for HYPE-time."""
    sampled: float
    """What the images that they judged added to the variance of the evaluators' values."""
    observed: float
    """The variance of the evaluators' values."""
    df: float
    """Its degrees of freedom."""
    range: tuple[float, float] = (0.0, 100.0)
    """Lowest and highest possible score."""
    weights: tuple[float, ...] = REAL_OR_FAKE
    """Squared weight of the answers to reals and to fakes (or items) in a score."""
    pictures: tuple[float, ...] = (math.inf, math.inf)
    """Pictures of each side from which evaluators' are drawn."""
    of_picture: float = 0.0
    """Variance between pictures."""
    of_picture_df: float = PRIOR_DF
    stretch: float = 1.0
    """Width of the printed interval relative to Student's; HYPE-time near the ends of the staircase."""
    scale: str = "percent"
    """The score's unit: `percent`, `ms` or `log-odds`."""
    models: int = 1
    """Models that a session shows; in a tournament, its contestants."""
    centred: float = 0.0
    """Part of the variance that is lost by centring strengths: 1 over the number of models."""
    alike: float | None = None
    """Part (0 to 1) of `between` that an evaluator has in common for all models; None, as 0, if unknown."""
    part: float = 1.0
    """Part of a session's answers that the score rests on: of X exposures each has 1 / X."""

    @property
    def is_share(self) -> bool:
        """Whether scores are shares of answers, in percent."""
        return self.scale == "percent"

    @property
    def has_images(self) -> bool:
        """Whether it is known for any number of images."""
        return self.within > 0

    @property
    def unit(self) -> float:
        """What a share of 1, or 1 ms, is in the score's unit."""
        return 100.0 if self.is_share else 1.0

    @property
    def varies(self) -> bool:
        """Whether a number of evaluators follows from it."""
        return self.has_images or self.observed > 0

    @property
    def is_clipped(self) -> bool:
        """Whether the sampling of images would explain more than the observed spread."""
        return self.observed < self.sampled

    @property
    def covariance(self) -> float:
        """Variance that shared pictures add to a score."""
        return self.of_picture * sum(w / n for w, n in zip(self.weights, self.pictures, strict=True))

    @property
    def of_reals(self) -> float:
        """The part of the reals in it."""
        return self.of_picture * self.weights[0] / self.pictures[0]

    @property
    def most_images(self) -> float:
        """Images that a session can show without one twice; infinite for HYPE-time."""
        if not self.has_images:
            return math.inf
        shown = zip(self.pictures, self.shown(1 / self.part), strict=True)
        return min(count / each for count, each in shown if each)

    def shown(self, images: float) -> tuple[float, float]:
        """Return the pictures of both sides that the score of an evaluator who judges `images` rests on."""
        if self.scale == "log-odds":
            return 0.0, 2 * images / self.models
        reals, fakes = (images * self.part * math.sqrt(weight) for weight in self.weights)
        return reals, fakes / self.models

    def sampling(self, images: float) -> float:
        """Return the variance that a session's answers add to an evaluator's value."""
        if not self.has_images:
            return 0.0
        # an answer to a pair is one to both of its sides
        whole = math.fsum(map(math.sqrt, self.weights))
        return math.fsum(self.of_side(side, images) for side in (0, 1)) / whole

    def of_side(self, side: int, images: float) -> float:
        """Return the variance that the answers to the reals (0) or the fakes (1) add."""
        shown = self.shown(images)[side]
        return self.within * self.weights[side] / shown if shown else 0.0

    def sd_at(self, images: float) -> float:
        """Return the SD between the values of evaluators who judge `images` each."""
        variance = self.between + self.sampling(images) - self.covariance
        return math.sqrt(max(variance * (1 - self.centred), 0.0))

    def with_pictures(self, count: int) -> "Spread":
        """Return the spread in a study that has `count` pictures a side."""
        return replace(self, pictures=(float(count), float(count)))

    def with_found(self, found: float, answer: float, count: float, same: float, people: int) -> "Spread":
        """Return the spread with a pilot's variance between pictures pooled with the one it has.

        The pilot's has the degrees of freedom of the number of pictures and of answers' noise (Satterthwaite,
        1946), that which is assumed has `of_picture_df`; both are pooled by these.

        Args:
            found: the pilot's.
            answer: what a session's answers add to the variance of the pilot's values.
            count: pictures of the pilot.
            same: probability that the answers of two of its `people` are to one picture.
        """
        noise = answer**2 * 2 / (people * (people - 1)) / same
        square = max(found, self.of_picture) ** 2
        df = 2 * square / (2 * square / count + noise)
        mean = (df * max(found, 0.0) + self.of_picture_df * self.of_picture) / (df + self.of_picture_df)
        return replace(self, of_picture=mean, of_picture_df=df + self.of_picture_df)

    def in_sessions_of(self, models: int) -> "Spread":
        """Return the spread in a study whose sessions show so many models."""
        if self.scale != "log-odds":
            return replace(self, models=models)
        contestants = models + self.models - round(1 / self.centred)
        ratio = (1 - 1 / contestants) / (1 - 1 / self.models)
        return replace(self, models=contestants, centred=1 / models, within=self.within * ratio)
