"""Validation of confidence, reasons and marks: scikit-learn's areas, recovery, and coverage of intervals.

Evaluators rate x fakes and x reals by a normal signal with a sensitivity and a criterion of their own,
cut into levels of confidence. What is true of the population comes from one simulated study of many
evaluators.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from backend.analysis import clusters
from backend.analysis.clusters import Answered
from backend.analysis.confidence import confidence
from backend.analysis.marks import FEWEST_PICTURES, marks
from backend.analysis.table.response_table import Answers, Coded

Row = dict[str, object]
_STUDIES = 1000
_MANY = 4000
_CONSERVATIVE = 0.99
"""Highest coverage of differences, which are never surer than those of independent answers."""
_SE = 100 * np.sqrt(0.95 * 0.05 / _STUDIES)


@dataclass(frozen=True)
class Raters:
    """A population of evaluators who answer with confidence; all SDs in units of the signal's noise."""

    sensitivity: float = 1.2
    sensitivity_sd: float = 0.4
    criterion_sd: float = 0.3
    points: int = 5
    width: float = 0.6
    """Distance between two neighbouring levels of confidence."""
    width_sd: float = 0.2
    """SD of the logarithm of an evaluator's own widths."""
    answers: int = 50
    """Answers to fakes, and answers to reals, of one evaluator."""

    def study(self, evaluators: int, rng: np.random.Generator) -> Answers:
        """Return the responses of one study of one model."""
        sensitivity = rng.normal(self.sensitivity, self.sensitivity_sd, (evaluators, 1))
        criterion = rng.normal(0, self.criterion_sd, (evaluators, 1))
        width = self.width * np.exp(rng.normal(0, self.width_sd, (evaluators, 1)))
        is_fake = np.tile([True, False], (evaluators, self.answers))
        signal = np.where(is_fake, 0.5, -0.5) * sensitivity + rng.standard_normal(is_fake.shape) - criterion
        steps = np.minimum(np.abs(signal) / width, self.points - 1).astype(int)
        codes = np.repeat(np.arange(evaluators), is_fake.shape[1]).astype(np.int32)
        return Answers(
            "infinity",
            Coded(np.zeros(codes.size, np.int32), ["m"]),
            Coded(codes, [f"e{i}" for i in range(evaluators)]),
            is_fake.ravel(),
            (signal > 0).ravel(),
            numbers={
                "confidence": steps.ravel() + 1.0,
                "confidence_points": np.full(codes.size, float(self.points)),
            },
        )


def run() -> dict[str, Row]:
    """Return the results by name."""
    return {
        **_against_sklearn(),
        **_recovery(),
        **_coverage_of_confidence(),
        **_coverage_of_differences(),
        **_level_of_marks(),
    }


def _against_sklearn() -> dict[str, Row]:
    from sklearn.metrics import roc_auc_score

    most = 0.0
    for seed in range(50):
        rng = np.random.default_rng(seed)
        is_fake, evaluator = rng.random(300) < 0.4, rng.integers(0, 12, 300)
        ratings = rng.integers(-5, 6, 300) + 2 * is_fake
        ours = clusters.area_of(ratings, is_fake, apart(evaluator))
        most = max(most, abs(ours.estimate.value - roc_auc_score(is_fake, ratings)))
    return {"scikit-learn: area under the ROC curve": _row(most, 1e-12, "<= 1e-12")}


def _recovery() -> dict[str, Row]:
    """Return how far estimates are from what equal-variance normal signals imply, with many evaluators."""
    d_prime, width, points = 1.2, 0.25, 12
    raters = Raters(d_prime, 0, 0, points, width, 0)
    (found,) = confidence(raters.study(2000, np.random.default_rng(6)), 0.95)["models"]
    edges = np.append(width * np.arange(points), np.inf)
    right, wrong = np.diff(ndtr(edges - d_prime / 2)), np.diff(ndtr(edges + d_prime / 2))
    probability = 0.5 + np.arange(points) / (points - 1) / 2
    said, true = right / (right + wrong), float(ndtr(d_prime / 2))
    weighted = float((wrong * probability).sum() / ((right + wrong) * probability).sum())
    sure = float(((right + wrong) * probability).sum())
    rows = {
        "area of the ROC curve": (found["roc"]["area"], float(ndtr(d_prime / np.sqrt(2))), 0.003),
        "weighted score, as a share": (found["weighted_score"] / 100, weighted, 0.003),
        "overconfidence": (found["overconfidence"], sure - true, 0.003),
        "calibration error": (
            found["calibration_error"],
            float(((right + wrong) * abs(said - probability)).sum()),
            0.003,
        ),
    }
    return {
        f"confidence: {name}, less its expectation": _row(abs(value - true), most, f"<= {most}")
        for name, (value, true, most) in rows.items()
    }


_READ: dict[str, Callable[[Row], tuple[float, list[float] | None]]] = {
    "area of the ROC curve": lambda row: (row["roc"]["area"], row["roc"]["ci"]),
    "mean of evaluators' own areas": lambda row: (row["roc"]["own"], row["roc"]["own_ci"]),
    "type-2 area": lambda row: (row["type_2"]["area"], row["type_2"]["ci"]),
    "weighted score": lambda row: (row["weighted_score"], row["weighted_score_ci"]),
    "weighted less plain score": lambda row: (row["difference"], row["difference_ci"]),
    "overconfidence": lambda row: (row["overconfidence"], row["overconfidence_ci"]),
    "probability score": lambda row: (row["brier"], row["brier_ci"]),
    "right answers at the third level": lambda row: (row["levels"][2]["right"], row["levels"][2]["ci"]),
}


def _coverage_of_confidence() -> dict[str, Row]:
    raters, found = Raters(), {}
    (whole,) = confidence(raters.study(_MANY, np.random.default_rng(1)), 0.95)["models"]
    true = {name: read(whole)[0] for name, read in _READ.items()}
    for evaluators in (10, 30):
        held = dict.fromkeys(_READ, 0)
        for seed in range(_STUDIES):
            answers = raters.study(evaluators, np.random.default_rng([2, evaluators, seed]))
            (row,) = confidence(answers, 0.95)["models"]
            for name, read in _READ.items():
                ci = read(row)[1]
                held[name] += ci is not None and ci[0] <= true[name] <= ci[1]
        for name, count in held.items():
            found[f"confidence: coverage, {name}, {evaluators} evaluators"] = _between(count / _STUDIES)
    return found


def _counts(
    evaluators: int, shares: tuple[float, float], rng: np.random.Generator, few: float
) -> tuple[np.ndarray, ...]:
    """Return (part, whole) of two shares that go together within evaluators (beta-binomial, SD 0.1)."""
    wholes = rng.binomial(50, 0.6, evaluators), rng.binomial(50, few, evaluators)
    shift = rng.normal(0, 0.1, evaluators)
    parts = (
        rng.binomial(whole, np.clip(share + shift, 0.01, 0.99))
        for whole, share in zip(wholes, shares, strict=True)
    )
    first, second = parts
    return first, wholes[0], second, wholes[1]


def _coverage_of_differences() -> dict[str, Row]:
    found, shares = {}, (0.35, 0.2)
    for few, of in ((0.3, "15 false alarms each"), (0.03, "1.5 false alarms each")):
        first, whole, second, other = _counts(400_000, shares, np.random.default_rng(3), few)
        true = first.sum() / whole.sum(), second.sum() / other.sum()
        for evaluators in (10, 30):
            held = [0, 0]
            for seed in range(_STUDIES):
                rng = np.random.default_rng([4, evaluators, seed])
                first, whole, second, other = _counts(evaluators, shares, rng, few)
                low, high = share_of(first, whole, 0.95)[1]
                held[0] += low <= true[0] <= high
                low, high = difference_of((first, whole), (second, other), 0.95)["ci"]
                held[1] += low <= true[0] - true[1] <= high
            for name, count in zip(("a share", "a difference of shares"), held, strict=True):
                most = 0.975 if name == "a share" else _CONSERVATIVE
                found[f"reasons: coverage, {name}, {of}, {evaluators} evaluators"] = _between(
                    count / _STUDIES, most
                )
    return found


def _level_of_marks() -> dict[str, Row]:
    """Return how often pictures seem to be agreed on if everybody marks about the middle of every picture."""
    evaluators, pictures, beyond, tested = 20, FEWEST_PICTURES, 0, 0
    for seed in range(_STUDIES // 2):
        rng = np.random.default_rng([5, seed])
        count = evaluators * pictures
        places = np.clip(rng.normal(500, 150, (count, 2)).round(), 0, 1000)
        cells = [f"{x:.0f} {y:.0f}" for x, y in places]
        answers = Answers(
            "infinity",
            Coded(np.zeros(count, np.int32), ["m"]),
            Coded(
                np.repeat(np.arange(evaluators), pictures).astype(np.int32), [*map(str, range(evaluators))]
            ),
            np.ones(count, bool),
            np.ones(count, bool),
            texts={
                "mark": Coded(np.arange(count, dtype=np.int32), cells),
                "stimulus": Coded(np.tile(np.arange(pictures), evaluators).astype(np.int32), [*"abc"]),
            },
        )
        (group,) = marks(answers, 0.95, rng)["groups"]
        beyond += sum(picture["is_beyond_chance"] for picture in group["pictures"])
        tested += len(group["pictures"])
    share, agrees_if = beyond / tested, f"0.03 to 0.07 ({tested} pictures)"
    is_right = 0.03 <= share <= 0.07
    return {
        "marks: pictures agreed on beyond chance, of those without anything to mark": {
            "value": share, "agrees_if": agrees_if, "agrees": bool(is_right),
        }
    }  # fmt: skip


def _between(value: float, most: float = 0.975) -> Row:
    agrees_if = f"0.93 to {most} ({_STUDIES} studies, SE {_SE:.1f}%)"
    return {"value": value, "agrees_if": agrees_if, "agrees": bool(0.93 <= value <= most)}


def _row(value: float, most: float, agrees_if: str) -> Row:
    return {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value <= most)}


def apart(evaluator):
    """Return who gave answers to pictures that nobody else saw."""
    evaluator = np.asarray(evaluator)
    return Answered(evaluator, np.arange(len(evaluator)), np.zeros(len(evaluator), bool))


def share_of(part, whole, level):
    """Return the share of answers, from the numbers of each evaluator that count and of all."""
    counts = np.concatenate([np.arange(n) < k for k, n in zip(part, whole, strict=True)])
    who = apart(np.repeat(np.arange(len(whole)), whole)) if whole.sum() else apart([0])
    counts, among = (counts, counts | True) if whole.sum() else (np.zeros(1, bool),) * 2
    return clusters.share_of((counts, among), who, level)


def difference_of(first, second, level):
    """Return the difference of two shares of the same evaluators, each from numbers as in `share_of`."""
    parts = [np.concatenate([np.arange(n) < k for k, n in zip(*one, strict=True)]) for one in (first, second)]
    counts = np.concatenate(parts)
    is_first = np.arange(len(counts)) < len(parts[0])
    evaluator = np.concatenate([np.repeat(np.arange(len(whole)), whole) for _, whole in (first, second)])
    return clusters.difference_of((counts, is_first), (counts, ~is_first), apart(evaluator), level)
