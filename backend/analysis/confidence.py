"""Confidence: how sure evaluators were, and whether they were right when they were sure.

Ratings. An answer with its confidence is a rating from surely real to surely fake, whose ROC curve and area
tell how well fakes and reals are told apart, whatever the criterion (Green and Swets, 1966). The type-2 area
tells how well confidence tells right answers from wrong ones (Galvin, Podd, Drga and Whitmore, 2003); it
depends on how hard the pictures are, too.

Probabilities. Of two alternatives, the lowest confidence is a guess and the highest is certainty: the scale
is mapped linearly to 50% to 100% (the half range; Lichtenstein, Fischhoff and Phillips, 1982). So mapped,
confidence is held against the share of right answers: overconfidence is their difference, the calibration
error its mean size over levels (Naeini, Cooper and Hauskrecht, 2015), and the probability score that of
Brier (1950) for the probability that the picture is fake. The weighted score is our own: the error in which
each answer counts as much as its mapped confidence, sum(w wrong) / sum(w), averaged over evaluators.

Intervals are over evaluators and the pictures that they share.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.analysis.clusters import Answered, Part, answered, area_of, mean_of, share_of
from backend.analysis.distributions.inference import Share
from backend.analysis.distributions.inference import mean_of as over_evaluators
from backend.analysis.table.response_table import Answers
from backend.foundation.counted_nouns import counted

SLIDER = 101
"""Number of points that stands for a slider, whose values are 0 to 100."""
_MOST_GUESSED = 7
_MOST_LEVELS = 11
"""Maximum number of points that are reported one by one; otherwise confidence is reported in tenths."""
_CURVE_POINTS = 200


@dataclass(frozen=True)
class _Rated:
    """Answers that have a confidence, as arrays of shape (answers,)."""

    who: Answered
    said_fake: np.ndarray
    position: np.ndarray
    """Place on the scale, from 0 (the lowest confidence) to 1 (the highest)."""
    is_balanced: bool

    @property
    def was_right(self) -> np.ndarray:
        result: np.ndarray = self.who.is_fake == self.said_fake
        return result

    @property
    def probability(self) -> np.ndarray:
        """Mapped confidence: the probability (0.5 to 1) of being right that it stands for."""
        return 0.5 + self.position / 2

    @property
    def rating(self) -> np.ndarray:
        """Signed rating: -2 (surely real) to -1, and 1 to 2 (surely fake)."""
        result: np.ndarray = np.where(self.said_fake, 1, -1) * (1 + self.position)
        return result

    def weights(self, raw: np.ndarray | None = None, is_balanced: bool = False) -> np.ndarray:
        """Return the weights of an evaluator's answers in their mean, which sum to 1; equal ones by default.

        Of a balanced mean, those to fakes and those to reals sum to 1/2 each.
        """
        raw = np.ones(len(self.position)) if raw is None else raw
        key = 2 * self.who.evaluator + (self.who.is_fake if is_balanced else 0)
        total = np.bincount(key, raw, 2 * (int(self.who.evaluator.max()) + 1)).reshape(-1, 2)
        result: np.ndarray = raw / total.ravel()[key] / (total > 0).sum(axis=1)[self.who.evaluator]
        return result

    def mean(self, values: np.ndarray, weights: np.ndarray) -> "_Mean":
        own = self.who.by_evaluator(weights * values)
        weights = weights / len(own)
        return _Mean(self.who, own, (weights * (values - own.mean()), weights))


@dataclass(frozen=True)
class _Mean:
    """A mean over evaluators of what each answers on average."""

    who: Answered
    values: np.ndarray
    """Shape (evaluators,)."""
    influence: Part
    """Influences of the answers on the mean, and their weights."""

    def __sub__(self, other: "_Mean") -> "_Mean":
        centred = [self.who.centred(*each.influence) for each in (self, other)]
        return _Mean(
            self.who, self.values - other.values, (centred[0] - centred[1], np.zeros(len(centred[0])))
        )

    def interval(self, level: float) -> tuple[float, list[float] | None]:
        return mean_of(self.values, level, self.who, self.influence)

    def percent_interval(self, level: float) -> list[float] | None:
        """Return the interval, in percent, of a mean of shares, as that of a score is formed."""
        if len(self.values) < 2:
            return None
        _, weight = self.influence
        mean = over_evaluators(self.values, self.who.stratum)
        answers = float(weight.sum() ** 2 / (weight**2).sum())
        share = Share(mean.value, mean.people, self.who.of_pictures(*self.influence), answers=answers)
        return [100 * end for end in share.interval(level)]


def confidence(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return how confidence relates to answers, by model and over all; None if there is no confidence.

    Scores and their intervals are in percent, all other shares from 0 to 1. `notes` say in sentences what was
    left out or assumed. `overall` is None for a single model.
    """
    given = answers.numbers.get("confidence")
    if given is None:
        return None
    position, points, notes = _positions(given, answers.numbers.get("confidence_points"))
    has = ~np.isnan(position) & answers.is_decided
    own = answers.is_first
    if unsure := int((own & ~np.isnan(position) & ~has).sum()):
        notes.append(f"{counted(unsure, 'confidence')} left out: the answer was not_sure")
    without = int((own & np.isnan(given)).sum())
    if without:
        notes.append(f"{without:,} of {answers.given:,} answers have no confidence and are left out here")
    scales = [
        {"points": int(each), "answers": int((own & has & (points == each)).sum())}
        for each in np.unique(points[has])
    ]
    if len(scales) > 1:
        notes.append(
            "confidence was given on several scales; they are joined by where answers are between their ends"
        )
    steps = _Levels.of([row["points"] for row in scales])
    rows = [
        {"model": name, **_row(_rated(answers, has & (answers.model.codes == code), position), steps, level)}
        for code, name in enumerate(answers.model.names)
        if (has & (answers.model.codes == code)).any()
    ]
    if len(rows) == 1:
        overall = None
    else:
        overall = _row(_rated(answers, has & own, position), steps, level) if rows else None
    return {"scales": scales, "models": rows, "overall": overall, "notes": notes}


def _positions(given: np.ndarray, points: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return places on the scale (0 to 1, NaN where there is none), numbers of points, and notes."""
    notes: list[str] = []
    points = np.full(len(given), np.nan) if points is None else points.copy()
    unknown = np.isnan(points) & ~np.isnan(given)
    if unknown.any():
        known = np.unique(points[~np.isnan(points) & ~np.isnan(given)])
        most, what = (int(known[0]), "as for the others") if len(known) == 1 else _guessed(given[unknown])
        points[unknown] = most
        scale = "a slider from 0 to 100" if most == SLIDER else f"a scale of 1 to {most}"
        notes.append(
            f"{counted(int(unknown.sum()), 'confidence')} without the number of points of the scale "
            f"(confidence_points); read {f'on {scale}, ' if most else ''}{what}"
        )
    is_slider = points == SLIDER
    low, high = np.where(is_slider, 0.0, 1.0), np.where(is_slider, 100.0, points)
    fits = (points >= 2) & (given >= low) & (given <= high)
    refused = int((~np.isnan(given) & ~fits).sum())
    if refused:
        notes.append(f"{counted(refused, 'confidence')} left out: outside the scale")
    position = np.full(len(given), np.nan)
    position[fits] = (given[fits] - low[fits]) / (high[fits] - low[fits])
    return position, np.where(fits, points, np.nan), notes


def _guessed(given: np.ndarray) -> tuple[int, str]:
    """Return the number of points of a scale that is not stated, and why; 0 if it cannot be inferred."""
    low, high = float(given.min()), float(given.max())
    if low >= 1 and high <= _MOST_GUESSED and (given == np.rint(given)).all():
        return max(2, int(high)), "the largest that was given"
    if low >= 0 and high <= 100 and high > 1:
        return SLIDER, "since all are within it"
    return 0, "as none: neither whole numbers from 1 to 7 nor numbers from 0 to 100"


def _rated(answers: Answers, chosen: np.ndarray, position: np.ndarray) -> _Rated:
    who = answered(answers, chosen)
    return _Rated(who, answers.said_fake[chosen], position[chosen], answers.is_balanced)


def _row(rated: _Rated, steps: "_Levels", level: float) -> dict[str, Any]:
    wrong, probability = (~rated.was_right).astype(float), rated.probability
    plain, weighted = (
        rated.mean(wrong, rated.weights(raw, rated.is_balanced)) for raw in (None, probability)
    )
    says_fake, equal = np.where(rated.said_fake, probability, 1 - probability), rated.weights()
    difference, difference_ci = (weighted - plain).interval(level)
    overconfidence, overconfidence_ci = rated.mean(probability - rated.was_right, equal).interval(level)
    brier_mean, brier_ci = rated.mean((says_fake - rated.who.is_fake) ** 2, equal).interval(level)
    levels = steps.rows(rated, level)
    error = sum(row["answers"] * abs(row["right"] - row["probability"]) for row in levels)
    return {
        "answers": len(wrong),
        "evaluators": len(plain.values),
        "score": 100 * float(plain.values.mean()),
        "score_ci": plain.percent_interval(level),
        "weighted_score": 100 * float(weighted.values.mean()),
        "weighted_score_ci": weighted.percent_interval(level),
        "difference": 100 * difference,
        "difference_ci": difference_ci and [100 * end for end in difference_ci],
        "probability": float(rated.mean(probability, equal).values.mean()),
        "right": float(rated.mean(rated.was_right, equal).values.mean()),
        "overconfidence": overconfidence,
        "overconfidence_ci": overconfidence_ci,
        "calibration_error": error / len(wrong),
        "brier": brier_mean,
        "brier_ci": brier_ci,
        "roc": _area(rated, rated.rating, rated.who.is_fake, level, "fakes and reals"),
        "type_2": _area(rated, rated.position, rated.was_right, level, "right and wrong answers"),
        "curve": _curve(rated.rating, rated.who.is_fake),
        "levels": levels,
    }


def _area(
    rated: _Rated, ratings: np.ndarray, is_positive: np.ndarray, level: float, sides: str
) -> dict[str, Any]:
    """Return an area as plain data; `why` says in words why it or its interval is missing."""
    area = area_of(ratings, is_positive, rated.who)
    if area is None:
        return {"area": None, "ci": None, "own": None, "own_ci": None, "own_evaluators": 0,
                "why": f"it needs both {sides}"}  # fmt: skip
    ci, point = area.estimate.log_odds_interval(level), area.estimate.value
    why = ""
    if ratings.min() == ratings.max():
        why = "all ratings are equal"
    elif ci is None and point in (0.0, 1.0):
        why = f"{sides} are separated without error, which shows no variation"
    elif ci is None:
        why = f"it needs two evaluators with {sides} whose ratings differ"
    own, own_ci = None, None
    if len(area.own):
        own, own_ci = mean_of(area.own, level, rated.who, area.own_influence, area.own_evaluators)
    return {
        "area": point,
        "ci": ci,
        "own": own,
        "own_ci": own_ci,
        "own_evaluators": len(area.own),
        "why": why,
    }


def _curve(ratings: np.ndarray, is_fake: np.ndarray) -> list[dict[str, float]]:
    """Return the points of the ROC curve from (0, 0) to (1, 1); empty without fakes or without reals."""
    if is_fake.all() or not is_fake.any():
        return []
    _, place = np.unique(-ratings, return_inverse=True)  # surely fake first
    hits = np.cumsum(np.bincount(place, is_fake)) / is_fake.sum()
    false_alarms = np.cumsum(np.bincount(place, ~is_fake)) / (~is_fake).sum()
    if len(hits) > _CURVE_POINTS:
        kept = np.linspace(0, len(hits) - 1, _CURVE_POINTS).round().astype(int)
        hits, false_alarms = hits[kept], false_alarms[kept]
    points = [(0.0, 0.0), *zip(false_alarms.tolist(), hits.tolist(), strict=True)]
    return [{"false_alarms": x, "hits": y} for x, y in points]


@dataclass(frozen=True)
class _Levels:
    """The levels at which confidence is held against the share of right answers."""

    labels: tuple[str, ...]
    is_single: bool
    """Whether each is one point of a scale; otherwise tenths of it."""

    @classmethod
    def of(cls, scales: list[int]) -> "_Levels":
        if len(scales) == 1 and scales[0] <= _MOST_LEVELS:
            return cls(tuple(f"{i} of {scales[0]}" for i in range(1, scales[0] + 1)), True)
        if scales == [SLIDER]:
            return cls(tuple(f"{10 * i} to {10 * i + (9 if i < 9 else 10)}" for i in range(10)), False)
        return cls(tuple(f"{50 + 5 * i} to {55 + 5 * i}%" for i in range(10)), False)

    def rows(self, rated: _Rated, level: float) -> list[Mapping[str, Any]]:
        """Return the levels that have answers, the lowest first."""
        count = len(self.labels)
        if self.is_single:
            place = np.rint(rated.position * (count - 1)).astype(int)
        else:
            place = np.minimum((rated.position * count + 1e-9).astype(int), count - 1)
        table: list[Mapping[str, Any]] = []
        for i, label in enumerate(self.labels):
            here = place == i
            if not here.any():
                continue
            right, ci = share_of((rated.was_right, here), rated.who, level)
            table.append(
                {
                    "level": label,
                    "probability": float(rated.probability[here].mean()),
                    "answers": int(here.sum()),
                    "evaluators": rated.who.count(here),
                    "right": right,
                    "ci": ci,
                }
            )
        return table
