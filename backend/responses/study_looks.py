"""The looks of a running study: each is decided once, when enough evaluators of each model have finished.

A decision is a function of the study's plan, the decisions before and the answers that were read
(`analysis/look_decisions.py`); it says which evaluators it used, and the hash of their values, so that it
can be repeated from an export. Whoever withdraws later changes no decision.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput
from backend.payment import accounts
from backend.responses.finishing_times import times_of_study
from backend.responses.study_data import study_answers, study_rows
from backend.stores.store import Store
from backend.stores.updates import retried
from backend.studies import look_records, pausing, places_given_back
from backend.studies.look_records import Decision

if TYPE_CHECKING:
    from backend.analysis.planning.looks import LookPlan
    from backend.analysis.table.response_table import Answers
    from backend.experiment.planned_looks import PlannedLooks


def plan_of(study: Study) -> "LookPlan":
    """Return the plan of looks that a study was begun with.

    Raises:
        InvalidInput: it has none.
        Conflict: it is not the one whose hash was stored.
    """
    from backend.analysis.planning.looks import LookPlan

    plan = study.protocol.looks.plan
    if plan is None:
        raise InvalidInput(
            f"study {study.name} has no plan of looks; say one (--plan 15,20,25,30), or set it before the "
            "first evaluator comes"
        )
    if study.looks_digest not in ("", plan.digest):
        raise Conflict(
            f"study {study.name} was begun with the plan of looks {study.looks_digest[:12]}, and has "
            f"{plan.digest[:12]}: its record was changed from outside, and no look is decided"
        )
    return LookPlan.of(plan)


def decide(store: Store, study: Study, at: str, is_closed: bool = False) -> dict[str, Any] | None:
    """Decide the looks that are reached, record them, and return all as `look_decisions.decisions` does.

    None before anybody has finished.

    Args:
        at: UTC, ISO 8601; recorded with the decisions.
        is_closed: nobody else comes: the evaluators so far are the last look.

    Raises:
        InvalidInput: the study has no plan of looks, or its answers do not allow the aim.
        Conflict: the plan is not the one that was fixed, or another store decides.
    """
    plan = plan_of(study)
    if elsewhere := accounts.funds(store, study.name)[1].paid_from:
        raise Conflict(f"study {study.name} is a copy, whose looks are decided at {elsewhere}")

    _note_excluded(store, study)

    def decided() -> dict[str, Any] | None:
        known = look_records.decisions_of(store, study)
        found = _decisions(store, study, plan, known, is_closed)
        if found is None:
            return None
        stated = {"at": at, "plan": plan.digest, "errors": plan.errors.tolist()}
        end = {name: found[name] for name in ("stopped", "saved")}
        for each in found["looks"][len(known) :]:
            more = end if each["decision"] == "stop" else {}
            look_records.record(store, study, {**each, **more, **stated})
        return found

    found = retried(
        decided, f"the looks of study {study.name} are being decided from several programs at once"
    )
    look_records.follow(store, study)
    return found


def _note_excluded(store: Store, study: Study) -> None:
    """Have others admitted in place of evaluators whom the study's rule leaves out, within `early_ends`."""
    if not study.protocol.exclusion.is_declared:
        return
    excluded = {row["session"] for row in study_rows(store, study) if row["excluded"]}
    conditions = {
        session.id: session.condition or ""
        for session, _ in store.sessions(study.name)
        if session.id in excluded
    }
    most = pausing.early_ends_allowed(study.at_last_look)
    places_given_back.note_excluded(store, study, conditions, most)


def _decisions(
    store: Store, study: Study, plan: "LookPlan", known: Sequence[Decision], is_closed: bool
) -> dict[str, Any] | None:
    from backend.analysis.look_decisions import decisions

    if not store.finished(study.name)[0]:
        if is_closed:
            raise InvalidInput(f"study {study.name} has no finished session; nothing can be decided")
        return None
    answers = study_answers(store, study)
    times = times_of_study(store, study)
    return decisions(answers, times, plan, study.models, recorded=known, is_closed=is_closed)


def exported(store: Store, study: Study) -> dict[str, Any] | None:
    """Return the plan of looks with its decisions as an export has them; None without a plan.

    `p_below` has the p for all pairs below which each look stops.
    """
    plan = study.protocol.looks.plan
    if plan is None:
        return None
    return {
        "plan": {**asdict(plan), "aim": str(plan.aim)},
        "digest": plan.digest,
        "p_below": p_below(study, plan),
        "fixed_at": study.begun_at,
        "decisions": look_records.decisions_of(store, study),
    }


def p_below(study: Study, plan: "PlannedLooks") -> list[float]:
    """Return the p for all pairs of a study's models below which each look stops."""
    from backend.analysis.planning.family_errors import family_errors
    from backend.analysis.planning.looks import LookPlan

    return family_errors(LookPlan.of(plan), len(study.models), is_tukey=not study.is_mixed).tolist()


def plan_exported(looks: Mapping[str, Any]) -> "LookPlan":
    """Return the plan of looks of an export.

    Raises:
        InvalidInput: it is not the one whose hash it has.
    """
    from backend.analysis.planning.looks import LookPlan
    from backend.experiment.planned_looks import aim_of

    stated = looks["plan"]
    plan = LookPlan(tuple(stated["looks"]), aim_of(stated["aim"]), stated["spending"], stated["level"])
    if plan.digest != looks["digest"]:
        raise InvalidInput(
            f"the plan of looks has the hash {plan.digest[:12]}; {looks['digest'][:12]} stands beside it; "
            "one of them was changed"
        )
    return plan


def replayed(
    answers: "Answers", finished_at: Mapping[str, str], looks: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return for each recorded look whether the same follows from the answers of an export.

    Returns:
        `look`, `decision`, `outcome` (`same`, `other` or `incomplete`) and `difference` in words.

    Raises:
        InvalidInput: as for `plan_exported`.
    """
    plan, decided = plan_exported(looks), looks["decisions"]
    return [_replayed(answers, finished_at, plan, decided[: k + 1]) for k in range(len(decided))]


def _replayed(
    answers: "Answers", finished_at: Mapping[str, str], plan: "LookPlan", decided: Sequence[Decision]
) -> dict[str, Any]:
    import numpy as np

    from backend.analysis.look_decisions import decisions
    from backend.analysis.table.response_table import filter_rows

    *before, recorded = decided
    used = {name for look in decided for some in look["new"].values() for name in some}
    names = [str(name) for name in answers.evaluator.names]
    found = {"look": recorded["look"], "decision": recorded["decision"], "outcome": "same", "difference": ""}
    if gone := used - {*names}:
        said = f"{len(gone)} of its {len(used)} evaluators are not in the data: they withdrew since"
        return {**found, "outcome": "incomplete", "difference": said}
    if not used:
        return {**found, "difference": "nothing was tested"}
    is_used = np.array([name in used for name in names])
    some = filter_rows(answers, is_used[answers.evaluator.codes])
    again = decisions(
        some, finished_at, plan, with_bias=False, recorded=before, is_closed=recorded["is_closed"]
    )["looks"][len(before)]
    for name in ("decision", "reason", "dropped", "evaluators", "data"):
        if again[name] != recorded[name]:
            said = f"{name} is {again[name]}, and {recorded[name]} was recorded"
            return {**found, "outcome": "other", "difference": said}
    return found
