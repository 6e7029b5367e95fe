"""Spread of a model's evaluators and pictures, from which studies are planned.

The variance of an evaluator's share of counted answers over k images has two components: evaluators differ
(`between`), and each judges a sample of k images (`within` / k, where `within` is p (1 - p) at a share p).
Pictures that evaluators share add to the variance of a score a covariance, whatever the number of evaluators:
the variance between pictures over the number of pictures of a side, weighted by that side's part of a score.
Variances are in squared percentage points.

HYPE-time has no such components: a threshold is not a mean over images, so that its spread is known only for
sessions of the length in which it was observed. Variances are in squared ms.

A pilot of few people does not tell how much people differ: its variance has `df` degrees of freedom, which
the plan takes account of (`power.py`). Still less does it tell how much pictures differ: the estimate is
pooled with that of simulated evaluators, by the degrees of freedom of both.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr, ndtri

from backend.analysis.crossing import shared_weight, sides_of
from backend.analysis.inference import Seen, mean_of, parts_of_images
from backend.analysis.judgment_scores import scores_of
from backend.analysis.response_table import Answers
from backend.analysis.share_scores import ShareScores
from backend.analysis.time_scores import Times, variance_of_pictures
from backend.analysis.values import Values
from backend.experiment.judgments import method_named
from backend.experiment.observer import PICTURE_SD
from backend.experiment.published import BESSEL, EVALUATORS, IMAGES, MODELS, POOL
from backend.experiment.staircase import NAMED_RULES, equilibrium_accuracy
from backend.foundation.errors import InvalidInput

PRIOR_DF = 10.0
"""Degrees of freedom of the variance between pictures that is assumed without a pilot."""
REAL_OR_FAKE = (0.25, 0.25)
"""Squared weights of reals and fakes in a score, half of whose answers are to each."""


@dataclass(frozen=True)
class Spread:
    """The spread of one model's evaluators, in the score's unit: percentage points, or ms."""

    model: str
    score: float
    images: float
    """Images that each of the evaluators judged."""
    accuracy: float
    """Share of right answers, for the pay."""
    between: float
    """Variance between evaluators, whatever the number of images; at least 0."""
    within: float
    """Variance of one answer; 0 for HYPE-time."""
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

    @property
    def is_share(self) -> bool:
        """Whether scores are shares of answers, in percent."""
        return self.within > 0

    @property
    def unit(self) -> float:
        """What a share of 1, or 1 ms, is in the score's unit."""
        return 100.0 if self.is_share else 1.0

    @property
    def varies(self) -> bool:
        """Whether a number of evaluators follows from it."""
        return self.is_share or self.observed > 0

    @property
    def is_clipped(self) -> bool:
        """Whether the sampling of images would explain more than the observed spread."""
        return self.observed < self.sampled

    @property
    def covariance(self) -> float:
        """Variance that shared pictures add to a score."""
        return self.of_picture * sum(w / n for w, n in zip(self.weights, self.pictures, strict=True))

    @property
    def most_images(self) -> float:
        """Images that an evaluator can judge without seeing one twice."""
        return min(n / math.sqrt(w) for w, n in zip(self.weights, self.pictures, strict=True) if w)

    def sd_at(self, images: float) -> float:
        """Return the SD between the values of evaluators who judge `images` each."""
        return math.sqrt(max(self.between + self.within / images - self.covariance, 0.0))

    def with_pictures(self, count: int) -> "Spread":
        """Return the spread in a study that has `count` pictures a side."""
        return replace(self, pictures=(float(count), float(count)))


def published(method: str) -> list[Spread]:
    """Return the spreads of the papers' six models; evaluators drew from 5,000 pictures a side.

    Raises:
        InvalidInput: an unknown method.
    """
    if method not in IMAGES:
        raise InvalidInput(f"method must be 'infinity' or 'time', not {method!r}")
    images, df = IMAGES[method], EVALUATORS - 1
    if method == "time":
        sds = [one.ms_sd * math.sqrt(BESSEL) for one in MODELS]
        rule = NAMED_RULES["hype-2019"]
        right, bounds = equilibrium_accuracy(rule), (rule.min_ms, rule.max_ms)
        return [
            Spread(one.label, one.ms, images, right, sd**2, 0.0, 0.0, sd**2, df, bounds)
            for one, sd in zip(MODELS, sds, strict=True)
        ]
    return [
        replace(
            _of_share(one.label, one.percent, images, one.percent_sd**2 * BESSEL, df),
            pictures=(POOL, POOL),
            of_picture=_prior(one.percent),
        )
        for one in MODELS
    ]


def spreads_of(answers: Answers) -> list[Spread]:
    """Return the spread of each model of a pilot that has two evaluators or more.

    Args:
        answers: of HYPE-infinity or HYPE-time, pairs, 2AFC or JND.

    Raises:
        InvalidInput: a method of another kind, no model with two evaluators, or an evaluator with one image.
    """
    scores = scores_of(answers.method)
    if isinstance(scores, ShareScores):
        found = [*_of_shares(scores.counted(answers), scores.values(answers))]
    elif answers.method in IMAGES:
        of_method = _of_times if answers.method == "time" else _of_shares
        found = [*of_method(answers, scores.values(answers))]
    else:
        raise InvalidInput(
            "plans are for HYPE-infinity, HYPE-time, pairs, 2AFC and JND; these responses are of "
            f"{method_named(answers.method).title}; `openhype simulate` shows what a design gives"
        )
    if not found:
        raise InvalidInput("a pilot needs a model with at least two evaluators, to estimate how they differ")
    return found


def _of_share(model: str, score: float, images: float, observed: float, df: float) -> Spread:
    within = score * (100 - score)
    sampled = within / images
    return Spread(
        model, score, images, 1 - score / 100, max(observed - sampled, 0.0), within, sampled, observed, df
    )


def _of_shares(answers: Answers, values: dict[str, Values]) -> Iterator[Spread]:
    """Yield spreads of shares; a share of 0 or 1 is taken as half an answer from it."""
    judges = answers.judges
    for code, (model, own) in enumerate(values.items()):
        if len(own) < 2:
            continue
        seen = judges.seen[judges.model == code]
        if seen.min() < 2:
            raise InvalidInput(f"an evaluator of {model} judged one image; a pilot needs two or more of each")
        mean, half = mean_of(own.numbers), 50 / float(seen.sum())
        score, images = min(max(mean.value, half), 100 - half), float(1 / np.mean(1 / seen))
        spread = _of_share(model, score, images, mean.people.variance * len(own), len(own) - 1)
        yield _with_shared(spread, answers, code)


def _with_shared(spread: Spread, answers: Answers, code: int) -> Spread:
    """Return a spread of shares with its pictures: how many there are, and how much they differ.

    The pilot's estimate has the degrees of freedom of the number of pictures and of answers' noise
    (Satterthwaite, 1946), the one that is assumed has `PRIOR_DF`; both are pooled by these.
    """
    sides, prior = sides_of(answers, code), _prior(spread.score)
    weights, pictures, same = _shared(sides)
    spread = replace(spread, weights=weights, pictures=pictures, of_picture=prior)
    if not same:
        return spread
    pairs = sides[0].people * (sides[0].people - 1)
    found = math.fsum(parts_of_images(seen).sum() for seen in sides) / pairs / same * spread.unit**2
    noise = (spread.within / spread.images) ** 2 * 2 / pairs / same
    count = sum(n for n in pictures if math.isfinite(n))
    square = max(found, prior) ** 2
    df = 2 * square / (2 * square / count + noise)
    mean = (df * max(found, 0.0) + PRIOR_DF * prior) / (df + PRIOR_DF)
    spread = replace(spread, of_picture=mean, of_picture_df=df + PRIOR_DF)
    sampled = spread.within / spread.images - spread.covariance
    return replace(spread, sampled=sampled, between=max(spread.observed - sampled, 0.0))


def _shared(sides: Sequence[Seen]) -> tuple[tuple[float, ...], tuple[float, ...], float]:
    """Return each side's weight and number of pictures, and the probability that two answers share one.

    Where there is one side, its items are not shared by models, as fakes are not.
    """
    found = [shared_weight(seen) for seen in sides]
    found = found if len(sides[1].image) else found[::-1]
    return (
        tuple(weight for weight, _ in found),
        tuple(weight / same if same else math.inf for weight, same in found),
        math.fsum(same for _, same in found),
    )


def _of_times(answers: Answers, values: dict[str, Values]) -> Iterator[Spread]:
    judges, level = answers.judges, 0.95
    times = Times(answers, level)
    for code, (model, own) in enumerate(values.items()):
        if len(own) < 2:
            continue
        mine = judges.model == code
        mean, interval = mean_of(own.numbers), times.of_model(code, own)["interval"]
        low, high = mean.interval(level)
        right = 1 - float(judges.wrong[mine].sum() / judges.seen[mine].sum())
        observed, extra = mean.people.variance * len(own), variance_of_pictures(mean, interval)
        weights, pictures, same = _shared(sides_of(answers, code))
        printed = interval["ci"][1] - interval["ci"][0] if interval["method"] == "population" else 0.0
        yield Spread(
            model, mean.value, float(judges.seen[mine].mean()), right, observed, 0.0, 0.0, observed,
            len(own) - 1, (times.range.low_ms, times.range.high_ms), weights, pictures,
            extra / same if same else 0.0, interval["pictures_df"] or 1.0,
            max(1.0, printed / (high - low)) if high > low else 1.0,
        )  # fmt: skip


def _prior(score: float) -> float:
    """Return the variance between pictures (squared percentage points) whose effects are `PICTURE_SD`.

    Over normal effects e, by quadrature: the variance of F(m + e), F being the normal distribution's.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(21)
    middle = float(ndtri(score / 100)) * math.sqrt(1 + PICTURE_SD**2)
    shares = 100 * ndtr(middle + PICTURE_SD * nodes)
    return float(weights @ (shares - score) ** 2 / weights.sum())
