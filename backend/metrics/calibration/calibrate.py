"""A calibration as a whole: split, fit, and what the result is worth on triplets that took no part in it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.agreement.votes import TWO_AFC, Votes
from backend.foundation.errors import InvalidInput
from backend.metrics.calibration.fit import Fit, fit
from backend.metrics.calibration.schedule import DEFAULT, SCHEDULES, Schedule
from backend.metrics.calibration.split import Shares, Split, check_count, split
from backend.metrics.calibration.start import Start
from backend.metrics.calibration.vectors import Vectors

CALIBRATED, BEFORE = "calibrated", "before"
"""The two metrics of which scores are computed: the result, and the metric as it was."""


@dataclass(frozen=True)
class Options:
    """How triplets are divided and weights fitted."""

    shares: Shares = Shares()
    schedule: str = DEFAULT
    steps: int | None = None
    """Largest number of steps, in place of the schedule's."""
    rate: float | None = None
    """Learning rate, in place of the schedule's."""
    seed: int = 0
    level: float = 0.95
    """Of the intervals."""


@dataclass(frozen=True)
class Calibration:
    """The result of a calibration."""

    weights: tuple[np.ndarray, ...]
    """For each layer, shape (channels,), float32 and 0 or more."""
    data: dict[str, Any]
    """Everything else, as plain data."""


def check_votes(votes: Votes) -> None:
    """Raise InvalidInput unless the votes are on triplets, and on enough of them."""
    if votes.kind != TWO_AFC:
        raise InvalidInput(
            "a calibration needs votes on triplets (2AFC): its loss is of which of two pictures is closer to "
            "a reference; votes of same or different (JND) can test a metric (openhype agree), not fit it"
        )
    check_count(len(votes.items))


def calibrate(
    votes: Votes,
    references: Sequence[str],
    vectors: Vectors,
    start: Start,
    options: Options = Options(),
    progress: Callable[..., Iterable] | None = None,
) -> Calibration:
    """Return weights fitted on a share of the triplets, and their scores on the others.

    Args:
        votes: on triplets.
        references: for each item of `votes`, what identifies its reference picture.
        vectors: of each item of `votes`, in their order.
        progress: as in `fit.fit`.

    Raises:
        InvalidInput: the votes are of another kind, or triplets or references are too few.
    """
    check_votes(votes)
    if not len(votes.items) == len(references) == len(vectors):
        raise InvalidInput(
            f"{len(votes.items):,} triplets must have as many references and vectors, not "
            f"{len(references):,} and {len(vectors):,}"
        )
    parts = split(references, [votes.sets[i] for i in votes.set_of], options.shares, options.seed)
    schedule = SCHEDULES[options.schedule](len(parts.train)).changed(options.steps, options.rate)
    fitted = fit(
        vectors, votes.share, parts.train, parts.validation, start.weights, schedule, options.seed, progress
    )
    layers = vectors.by_layer(fitted.weights.astype(np.float32))
    data = {
        "seed": options.seed,
        "level": options.level,
        "triplets": len(votes.items),
        "references": len({*references}),
        "votes": None if votes.count is None else int(votes.count.sum()),
        "evaluators": votes.evaluators,
        "simulated": votes.is_simulated,
        "start": start.kind,
        "schedule": {**asdict(schedule), "train_triplets": len(parts.train)},
        "fit": _fit(fitted, schedule),
        "layers": _layers(vectors, parts, start.before, fitted.weights),
        "shares": _shares(votes, references, vectors, parts, start.before, fitted.weights, options.level),
        "split": [
            {"item": votes.items[i], "set": votes.sets[votes.set_of[i]], "share": name}
            for name, rows in parts.items()
            for i in rows
        ],
    }
    return Calibration(tuple(layers), data)


def _fit(fit: Fit, schedule: Schedule) -> dict[str, Any]:
    return {
        "step": fit.step,
        "steps": fit.curve[-1].step,
        "is_at_limit": fit.curve[-1].step == schedule.steps,
        "curve": [
            {
                "step": look.step,
                "train_loss": look.train_loss,
                "validation_loss": look.validation_loss,
                "train_score": 100 * look.train_score,
                "validation_score": 100 * look.validation_score,
            }
            for look in fit.curve
        ],
    }


def _layers(vectors: Vectors, parts: Split, before: np.ndarray, after: np.ndarray) -> list[dict[str, Any]]:
    """Return for each layer its weights, and its part of the distances of held-out triplets, in percent."""
    mean = sum(phi[parts.held_out].mean(axis=0, dtype=float) for phi in (vectors.phi0, vectors.phi1))
    whole = {"before": float(mean @ before), "after": float(mean @ after)}
    rows = []
    layers = zip(*map(vectors.by_layer, (mean, before, after)), strict=True)
    for number, (phi, old, new) in enumerate(layers, start=1):
        rows.append(
            {
                "layer": number,
                "channels": len(new),
                "zeros_before": int((old == 0).sum()),
                "zeros": int((new == 0).sum()),
                "mean_before": float(old.mean()),
                "mean": float(new.mean()),
                "largest": float(new.max()),
                "part_before": 100 * float(phi @ old) / whole["before"] if whole["before"] else None,
                "part": 100 * float(phi @ new) / whole["after"] if whole["after"] else None,
            }
        )
    return rows


def _shares(
    votes: Votes,
    references: Sequence[str],
    vectors: Vectors,
    parts: Split,
    before: np.ndarray,
    after: np.ndarray,
    level: float,
) -> list[dict[str, Any]]:
    """Return the scores of both metrics on each share, beside the human ceiling and the oracle."""
    metrics = {CALIBRATED: vectors.distances(after), BEFORE: vectors.distances(before)}
    return [
        {
            "share": name,
            "references": len({references[i] for i in rows}),
            "agreement": agreement(
                votes.of_items(rows), {metric: of[rows] for metric, of in metrics.items()}, level
            ),
        }
        for name, rows in parts.items()
    ]
