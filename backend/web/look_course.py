"""The course of a study against the boundaries of its planned looks, as its live view shows it."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import NormalDist, harmonic_mean
from typing import Any

from backend.experiment.judgments import method_named
from backend.experiment.planned_looks import EQUAL_WITHIN, HALF_WIDTH, PlannedLooks
from backend.experiment.records import Study
from backend.stores.store import Store
from backend.studies import look_records
from backend.web.progress_types import LookPoint, LooksProgress, LookTaken, NewcomerLooks

_LEAST_P = 1e-15
_MOST_ENDED = 10
"""Models that joined and whose looks have ended, of which a live view shows the looks."""


def looks(store: Store, study: Study) -> LooksProgress | None:
    """Return a study's plan of looks with those that were decided; None if it has none."""
    plan = study.protocol.looks.plan
    if plan is None:
        return None
    decided = look_records.decisions_of(store, study)[: study.looks_done] if study.looks_done else []
    return {
        "looks": [*plan.looks],
        "aim": str(plan.aim),
        "spending": plan.spending,
        "digest": plan.digest,
        "fixed_at": study.begun_at,
        "done": study.looks_done,
        "stopped": study.has_stopped,
        "ended": [*study.ended],
        "hides_scores": study.hides_scores,
        "unit": method_named(study.protocol.method).unit,
        "boundary": _boundary(plan, decided),
        "decided": [*_decided(plan, decided)],
        "next": None if study.first_have_ended else plan.looks[min(study.looks_done, len(plan.looks) - 1)],
        "newcomers": [*_newcomers(store, study, plan)],
    }


def _newcomers(store: Store, study: Study, plan: PlannedLooks) -> Iterator[NewcomerLooks]:
    """Yield the looks of models that joined: of those that go on, and of the latest that have ended."""
    names = [model for model in study.newcomers if model not in study.closed]
    latest = [model for model in names if model in study.ended][-_MOST_ENDED:]
    for model in names:
        if model in study.ended and model not in latest:
            continue
        decided, is_over = look_records.decisions_of(store, study, model), model in study.ended
        yield {
            "model": model,
            "against": [name for name in decided[0]["evaluators"] if name != model] if decided else [],
            "done": len(decided),
            "stopped": is_over,
            "next": None if is_over else study.wanted[model],
            "boundary": _boundary(plan, decided),
            "decided": [*_decided(plan, decided, model)],
        }


def _boundary(plan: PlannedLooks, decided: Sequence[Mapping[str, Any]]) -> list[float]:
    """Return the boundary at each planned look: z, or the half-width that is aimed at.

    Empty while only the first decision can tell z, since it takes numpy, which a function of the API lacks.
    """
    if plan.aim.kind == HALF_WIDTH:
        return [plan.widest(look) for look in range(len(plan.looks))]
    return [_z(plan, error) for error in decided[0]["errors"]] if decided else []


def _decided(
    plan: PlannedLooks, decided: Sequence[Mapping[str, Any]], newcomer: str = ""
) -> Iterator[LookTaken]:
    ended: set[str] = set()
    for each in decided:
        counts = [
            count
            for model, count in each["evaluators"].items()
            if model not in ended and newcomer in ("", model)
        ]
        ended |= {*each["dropped"]}
        is_half_width, error = plan.aim.kind == HALF_WIDTH, each["error"]
        yield {
            "look": each["look"],
            "evaluators": harmonic_mean(counts) if counts else 0.0,
            "boundary": None if error is None else _widest(plan, each) if is_half_width else _z(plan, error),
            "decision": each["decision"],
            "reason": each["reason"],
            "at": each["at"],
            "points": _half_widths(each["scores"]) if is_half_width else _differences(plan, each["pairs"]),
        }


def _widest(plan: PlannedLooks, decided: Mapping[str, Any]) -> float | None:
    """Return the half-width of a look: the whole one of the last, also if that was not planned."""
    return plan.aim.number if decided["is_closed"] else plan.widest(decided["look"] - 1)


def _half_widths(scores: Sequence[Mapping[str, Any]]) -> list[LookPoint]:
    halves = [row["ci"] and (row["ci"][1] - row["ci"][0]) / 2 for row in scores]
    return [
        {"of": [row["model"]], "value": half, "p": None, "state": None}
        for row, half in zip(scores, halves, strict=True)
    ]


def _differences(plan: PlannedLooks, pairs: Sequence[Mapping[str, Any]]) -> list[LookPoint]:
    return [
        {
            "of": sorted((row["a"], row["b"])),  # scores order a pair anew at each look
            "value": None if row["p"] is None else _z(plan, row["p"]),
            "p": row["p"],
            "state": row["state"],
        }
        for row in pairs
    ]


def _z(plan: PlannedLooks, p: float) -> float:
    """Return the standard normal deviate of a p-value: two-sided, of equality one-sided."""
    tail = max(p, _LEAST_P) / (1 if plan.aim.kind == EQUAL_WITHIN else 2)
    return -NormalDist().inv_cdf(min(tail, 1 - _LEAST_P))
