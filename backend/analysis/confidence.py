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

Intervals are over evaluators alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from backend.analysis.clusters import Area, area_of, mean_of, share_of
from backend.analysis.intervals import spread_of, student_quantile, wilson
from backend.analysis.response_table import Answers
from backend.foundation.counts import counted

SLIDER = 101
"""Number of points that stands for a slider, whose values are 0 to 100."""
_MOST_GUESSED = 7
_MOST_LEVELS = 11
"""Maximum number of points that are reported one by one; otherwise confidence is reported in tenths."""
_CURVE_POINTS = 200


@dataclass(frozen=True)
class _Rated:
    """Answers that have a confidence, as arrays of shape (answers,)."""

    is_fake: np.ndarray
    said_fake: np.ndarray
    position: np.ndarray
    """Place on the scale, from 0 (the lowest confidence) to 1 (the highest)."""
    evaluator: np.ndarray
    """Codes from 0 without gaps."""
    is_balanced: bool

    @property
    def was_right(self) -> np.ndarray:
        result: np.ndarray = self.is_fake == self.said_fake
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

    def means(self, values: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """Return each evaluator's weighted mean of `values`; of both sides' means for a balanced score."""
        weights = np.ones(len(values)) if weights is None else weights
        people, side = int(self.evaluator.max()) + 1, self.is_fake if self.is_balanced else 0
        key = 2 * self.evaluator + side
        total = np.bincount(key, weights, 2 * people).reshape(-1, 2)
        sums = np.bincount(key, weights * values, 2 * people).reshape(-1, 2)
        there = total > 0
        result: np.ndarray = (sums / np.where(there, total, 1)).sum(axis=1) / there.sum(axis=1)
        return result


def confidence(answers: Answers, level: float) -> dict[str, Any] | None:
    """Return how confidence relates to answers, by model and over all; None if there is no confidence.

    Scores and their intervals are in percent, all other shares from 0 to 1. `notes` say in sentences what was
    left out or assumed. `overall` is None for a single model.
    """
    given = answers.numbers.get("confidence")
    if given is None:
        return None
    position, points, notes = _positions(given, answers.numbers.get("confidence_points"))
    has = ~np.isnan(position)
    own = answers.is_first
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
    _, evaluator = np.unique(answers.evaluator.codes[chosen], return_inverse=True)
    return _Rated(
        answers.is_fake[chosen],
        answers.said_fake[chosen],
        position[chosen],
        evaluator,
        answers.is_balanced,
    )


def _row(rated: _Rated, steps: "_Levels", level: float) -> dict[str, Any]:
    wrong, probability = (~rated.was_right).astype(float), rated.probability
    plain, weighted = rated.means(wrong), rated.means(wrong, probability)
    says_fake = np.where(rated.said_fake, probability, 1 - probability)
    people = len(plain)
    sure = np.bincount(rated.evaluator, probability) / np.bincount(rated.evaluator)
    right = np.bincount(rated.evaluator, rated.was_right) / np.bincount(rated.evaluator)
    brier = np.bincount(rated.evaluator, (says_fake - rated.is_fake) ** 2) / np.bincount(rated.evaluator)
    difference, difference_ci = mean_of(100 * (weighted - plain), level)
    overconfidence, overconfidence_ci = mean_of(sure - right, level)
    brier_mean, brier_ci = mean_of(brier, level)
    levels = steps.rows(rated, level)
    error = sum(row["answers"] * abs(row["right"] - row["probability"]) for row in levels)
    return {
        "answers": len(wrong),
        "evaluators": people,
        "score": 100 * float(plain.mean()),
        "score_ci": _percent_interval(plain, len(wrong), level),
        "weighted_score": 100 * float(weighted.mean()),
        "weighted_score_ci": _percent_interval(weighted, len(wrong), level),
        "difference": difference,
        "difference_ci": difference_ci,
        "probability": float(sure.mean()),
        "right": float(right.mean()),
        "overconfidence": overconfidence,
        "overconfidence_ci": overconfidence_ci,
        "calibration_error": error / len(wrong),
        "brier": brier_mean,
        "brier_ci": brier_ci,
        "roc": _area(
            area_of(rated.rating, rated.is_fake, rated.evaluator), level, rated.rating, "fakes and reals"
        ),
        "type_2": _area(
            area_of(rated.position, rated.was_right, rated.evaluator),
            level,
            rated.position,
            "right and wrong answers",
        ),
        "curve": _curve(rated.rating, rated.is_fake),
        "levels": levels,
    }


def _percent_interval(values: np.ndarray, answers: int, level: float) -> list[float] | None:
    """Return Wilson's interval, in percent, of the mean of evaluators' shares."""
    if len(values) < 2:
        return None
    spread = spread_of(values, answers)
    variance = max(spread.variance, spread.mean * (1 - spread.mean) / answers)
    return [100 * end for end in wilson(spread.mean, variance, student_quantile(spread.df, level), answers)]


def _area(area: Area | None, level: float, ratings: np.ndarray, sides: str) -> dict[str, Any]:
    """Return an area as plain data; `why` says in words why it or its interval is missing."""
    if area is None:
        return {"area": None, "ci": None, "own": None, "own_ci": None, "own_evaluators": 0,
                "why": f"it needs both {sides}"}  # fmt: skip
    ci = area.interval(level)
    why = ""
    if ratings.min() == ratings.max():
        why = "all ratings are equal"
    elif ci is None and area.area in (0.0, 1.0):
        why = f"{sides} are separated without error, which shows no variation"
    elif ci is None:
        why = f"it needs two evaluators with {sides} whose ratings differ"
    own, own_ci = mean_of(area.own, level) if len(area.own) else (None, None)
    return {
        "area": area.area,
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
        count, people = len(self.labels), int(rated.evaluator.max()) + 1
        if self.is_single:
            place = np.rint(rated.position * (count - 1)).astype(int)
        else:
            place = np.minimum((rated.position * count + 1e-9).astype(int), count - 1)
        found: list[Mapping[str, Any]] = []
        for i, label in enumerate(self.labels):
            here = place == i
            whole = np.bincount(rated.evaluator[here], minlength=people)
            part = np.bincount(rated.evaluator[here], rated.was_right[here], people)
            share = share_of(part, whole, level)
            if share is None:  # nobody answered so
                continue
            found.append(
                {
                    "level": label,
                    "probability": float(rated.probability[here].mean()),
                    "answers": int(here.sum()),
                    "evaluators": int((whole > 0).sum()),
                    "right": share.share,
                    "ci": share.ci,
                }
            )
        return found
