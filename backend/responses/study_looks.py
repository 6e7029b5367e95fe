"""The looks of a running study: each is decided once, when enough evaluators of each model have finished.

A decision is a function of the study's plan, the decisions before and the answers that were read
(`analysis/look_decisions.py`); it says which evaluators it used, and the hash of their values, so that it
can be repeated from an export. Whoever withdraws later changes no decision. A model that joins has looks of
its own, once those of the models that the study was made with have ended (`analysis/newcomer_looks.py`).
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from backend.experiment.planned_looks import FEWEST
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

    None before anybody has finished. `newcomers` has the same of each model that joined.

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
        decisions_now = _decisions(store, study, plan, known, is_closed)
        if decisions_now is None:
            return None
        _record(store, study, decisions_now, len(known), {"at": at})
        return decisions_now

    decisions_now = retried(decided, _busy(study))
    study = look_records.follow(store, study)
    if decisions_now is None:
        return None
    newcomers = _decide_newcomers(store, study, plan, at, is_closed) if study.first_have_ended else {}
    look_records.follow(store, study)
    return {**decisions_now, "newcomers": newcomers}


def is_due(store: Store, study: Study) -> bool:
    """Return whether so many have finished that a look may be reached: from sessions, without their answers.

    Those of a model that joined are not reached before all of the models that the study was made with ended.
    """
    finished = _finished(store, study)
    reached = {name: finished[name] >= count for name, count in study.wanted.items()}
    if study.first_have_ended:
        return any(reached.values())
    return all(is_reached for name, is_reached in reached.items() if name not in study.newcomers)


def _busy(study: Study) -> str:
    return f"the looks of study {study.name} are being decided from several programs at once"


def _finished(store: Store, study: Study) -> Counter[str]:
    """Return how many sessions of each condition are finished."""
    sessions = store.sessions(study.name)
    return Counter(session.condition or "" for session, cursor in sessions if cursor.state == "finished")


def _record(
    store: Store, study: Study, decisions: Mapping[str, Any], known: int, stated: Mapping[str, Any]
) -> None:
    """Record the decisions beyond those that are known."""
    stated = {**stated, "plan": decisions["digest"], "errors": decisions["errors"]}
    end = {name: decisions[name] for name in ("stopped", "saved")}
    for each in decisions["looks"][known:]:
        more = end if each["decision"] == "stop" else {}
        look_records.record(store, study, {**each, **more, **stated})


def _decide_newcomers(
    store: Store, study: Study, plan: "LookPlan", at: str, is_closed: bool
) -> dict[str, dict[str, Any]]:
    """Decide the looks that models which joined have reached, and return all decisions of each."""
    finished, wanted = _finished(store, study), study.wanted

    def decided(model: str) -> dict[str, Any]:
        known = look_records.decisions_of(store, study, model)
        lacking = max(wanted.get(model, 0) - finished[model], 0)
        end = {name: known[-1].get(name) if known else None for name in ("stopped", "saved")}
        as_known = {"looks": known, "waits_for": {model: lacking} if lacking else {}, **end}
        is_over = model in study.ended or (known and known[-1]["decision"] == "stop")
        others = {} if is_over or (lacking and not is_closed) else _others(store, study, known)
        if not others:
            return as_known
        from backend.analysis.newcomer_looks import newcomer_decisions

        answers, times = study_answers(store, study), times_of_study(store, study)
        decisions_now = newcomer_decisions(answers, times, plan, model, others, known, is_closed)
        _record(store, study, decisions_now, len(known), {"at": at, "newcomer": model})
        return {name: decisions_now[name] for name in as_known}

    models = [model for model in study.newcomers if model not in study.closed]
    return {model: retried(partial(decided, model), _busy(study)) for model in models}


def _others(store: Store, study: Study, known: Sequence[Decision]) -> dict[str, list[str]]:
    """Return the models that a newcomer is compared with, and the evaluators whom their looks used.

    At its first look, they are those whose looks have ended on enough evaluators; and the same from then on.
    """
    if known:
        models = {*known[0]["evaluators"]} - {known[0]["newcomer"]}
    else:
        ended = zip(study.ended, study.ended_at, strict=True)
        models = {model for model, used in ended if used >= FEWEST and model not in study.closed}
    first = look_records.decisions_of(store, study)
    return {
        model: used_of(
            model, first if model in study.first_models else look_records.decisions_of(store, study, model)
        )
        for model in study.models
        if model in models
    }


def used_of(model: str, decisions: Sequence[Decision]) -> list[str]:
    """Return the evaluators of a model whom its looks used."""
    return [name for look in decisions for name in look["new"].get(model, ())]


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
    answers = _of_models(study_answers(store, study), study.newcomers)
    times = times_of_study(store, study)
    return decisions(answers, times, plan, study.first_models, recorded=known, is_closed=is_closed)


def _of_models(answers: "Answers", left_out: Collection[str]) -> "Answers":
    """Return the answers on other models than some."""
    if not left_out:
        return answers
    import numpy as np

    from backend.analysis.table.response_table import filter_rows

    is_kept = np.array([name not in left_out for name in answers.model.names])
    return filter_rows(answers, is_kept[answers.model.codes])


def exported(store: Store, study: Study) -> dict[str, Any] | None:
    """Return the plan of looks with its decisions as an export has them; None without a plan.

    `p_below` has the p for all pairs below which each look stops; `newcomers` the decisions of each model
    that joined.
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
        "newcomers": {model: look_records.decisions_of(store, study, model) for model in study.newcomers},
    }


def p_below(study: Study, plan: "PlannedLooks") -> list[float]:
    """Return the p for all pairs of a study's models below which each look stops."""
    from backend.analysis.planning.family_errors import family_errors
    from backend.analysis.planning.looks import LookPlan

    models = len(study.first_models)
    return family_errors(LookPlan.of(plan), models, is_tukey=not study.is_mixed).tolist()


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
        `newcomer` ('' for the models that the study was made with), `look`, `decision`, `outcome` (`same`,
        `other` or `incomplete`) and `difference` in words.

    Raises:
        InvalidInput: as for `plan_exported`.
    """
    plan = plan_exported(looks)
    by_newcomer = {"": looks["decisions"], **looks.get("newcomers", {})}
    return [
        _replayed(answers, finished_at, plan, decided[: k + 1], by_newcomer)
        for decided in by_newcomer.values()
        for k in range(len(decided))
    ]


def _replayed(
    answers: "Answers",
    finished_at: Mapping[str, str],
    plan: "LookPlan",
    decided: Sequence[Decision],
    by_newcomer: Mapping[str, Sequence[Decision]],
) -> dict[str, Any]:
    import numpy as np

    from backend.analysis.look_decisions import decisions
    from backend.analysis.newcomer_looks import newcomer_decisions
    from backend.analysis.table.response_table import filter_rows

    *before, recorded = decided
    newcomer = recorded.get("newcomer", "")
    others = {
        model: used_of(model, by_newcomer.get(model, by_newcomer[""]))
        for model in recorded["evaluators"]
        if newcomer and model != newcomer
    }
    used = {name for look in decided for some in look["new"].values() for name in some}
    names = [str(name) for name in answers.evaluator.names]
    replayed_looks = {
        "newcomer": newcomer, "look": recorded["look"], "decision": recorded["decision"], "outcome": "same",
        "difference": "",
    }  # fmt: skip
    there = {*names}
    for model, some in others.items():  # those who withdrew before this look are not in it either
        if (lacking := recorded["evaluators"][model] - len(there.intersection(some))) > 0:
            said = f"{lacking} evaluators of {model} are not in the data: they withdrew since"
            return {**replayed_looks, "outcome": "incomplete", "difference": said}
    if gone := used - there:
        said = f"{len(gone)} of its {len(used)} evaluators are not in the data: they withdrew since"
        return {**replayed_looks, "outcome": "incomplete", "difference": said}
    if not used:
        return {**replayed_looks, "difference": "nothing was tested"}
    used.update(name for some in others.values() for name in some)
    is_used = np.array([name in used for name in names])
    data = filter_rows(answers, is_used[answers.evaluator.codes])
    options: dict[str, Any] = {"recorded": before, "is_closed": recorded["is_closed"]}
    if newcomer:
        made = newcomer_decisions(data, finished_at, plan, newcomer, others, **options)
    else:
        made = decisions(data, finished_at, plan, with_bias=False, **options)
    again = made["looks"][len(before)]
    for name in ("decision", "reason", "dropped", "evaluators", "data"):
        if again[name] != recorded[name]:
            said = f"{name} is {again[name]}, and {recorded[name]} was recorded"
            return {**replayed_looks, "outcome": "other", "difference": said}
    return replayed_looks
