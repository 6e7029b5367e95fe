"""Progress of a study: sessions by state, pay, and what evaluators actually earned per hour."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Literal, cast

from backend.experiment.browsers import MistimedFlashes, engine_of
from backend.experiment.judgments import method_named
from backend.experiment.money import currency, format_money
from backend.experiment.protocol import Protocol
from backend.experiment.records import Study
from backend.experiment.session import (
    BROKEN_OFF,
    LAPSED,
    Cursor,
    holds_place_minutes,
    owed_usd_cents,
    total_trials,
)
from backend.recruitment.panel_health import health
from backend.recruitment.recruit import at_odds, begun
from backend.stores.store import Entry, Store
from backend.studies import picture_needs, unfilled_links
from backend.studies.pausing import early_ends_exceeded, is_paused
from backend.studies.waiting_room import owed_usd_cents as owed_for_waiting
from backend.studies.waiting_room import waiting_now
from backend.studies.withdrawals import sessions_of, withdrawn
from backend.web import look_course

STATES = ("active", "abandoned", "ended", "returned", "finished")
SessionState = Literal["active", "abandoned", "ended", "returned", "finished"]


@dataclass(frozen=True)
class SessionStatus:
    """The facts of a session that progress depends on."""

    models: tuple[str, ...]
    opened_at: str
    browser: str
    """The browser's engine, one of `browsers.ENGINES`; '' if unknown."""
    cursor: Cursor
    trials: int
    """Number of trials of the complete session."""


def progress(store: Store, study: Study, now: datetime | None = None) -> dict[str, Any]:
    """Return a study's progress as plain data; money in cents of its currency, wage in cents per hour.

    A session is `finished`, `ended` (closed early, paid in full or in part), `active`, `abandoned` (no
    response for the study's `abandon_after_minutes`, or no first one for its `begin_within_minutes`; it may
    still be resumed), or `returned` (its place was given back at the panel: neither counted nor paid).
    Withdrawn sessions are in none of these: only their number and what is owed for them are reported. The
    wage is the median over finished sessions of the amount earned divided by the time from opening to last
    response.
    """
    withdrawn_entries = list(withdrawn(store, study.name))
    retainer = retained(store, study, now)
    statuses = (
        SessionStatus(
            session.models, session.opened_at, engine_of(session.device), cursor, total_trials(session)
        )
        for session, cursor in sessions_of(store, study, gone=withdrawn_entries)
    )
    totals = summary(study, statuses, withdrawn_entries, now)
    return {
        **totals,
        "looks": look_course.looks(store, study),
        "warnings": [
            *panel_warnings(store, study),
            *totals["warnings"],
            *filter(None, [picture_needs.warning(store, study)]),
        ],
        "simulated": simulated(store, study),
        "paused": is_paused(store, study.name),
        "retainer": retainer,
    }


def simulated(store: Store, study: Study) -> int:
    """Return how many simulated sessions are finished; they are in no other count."""
    return store.finished(study.name, simulated=True)[0]


def panel_warnings(store: Store, study: Study) -> list[str]:
    """Return the warnings about a study's panel and its links, and that it has paused itself."""
    warnings = [early_ends_exceeded(store, study), unfilled_links.warning(store, study)]
    if begun(store, study) is not None:
        warnings += [health(store, study.name).warning, at_odds(store, study)]
    return list(filter(None, warnings))


def retained(store: Store, study: Study, now: datetime | None) -> dict[str, int] | None:
    """Return how many people wait to be called, and the amount owed for waiting; None if it is not paid."""
    if not study.protocol.pay.retainer_usd_cents:
        return None
    count = waiting_now(store, study.name, now.timestamp()) if now else 0
    return {"waiting": count, "owed_usd_cents": owed_for_waiting(store, study)}


def summary(
    study: Study, statuses: Iterable[SessionStatus], withdrawn_entries: list[Entry], now: datetime | None
) -> dict[str, Any]:
    """Return the progress of a study from its sessions' statuses and the entries of withdrawn ones."""
    groups = {study.group_label(models): models for models in _groups(study)}
    states: dict[str, Counter[str]] = {label: Counter() for label in groups}
    wages, owed = [], 0
    flashes = MistimedFlashes()
    for status in statuses:
        cursor = status.cursor
        states[study.group_label(status.models or study.models)][state_of(study, cursor, now)] += 1
        flashes.add(status.browser, cursor)
        earned = owed_usd_cents(study.protocol, status.trials, cursor)
        owed += earned
        if cursor.state == "finished":
            wages.append(earned / _hours(status))
    owed_to_withdrawn = sum(
        entry.data["base_usd_cents"] + entry.data["bonus_usd_cents"] for entry in withdrawn_entries
    )
    wage = median(wages) if wages else None
    return {
        "study": study.name,
        "kind": study.kind,
        "method": study.protocol.method,
        "title": method_named(study.protocol.method).title,
        "evaluators_wanted": study.evaluators_a_group,
        "models": [
            {"model": label, "wanted": _wanted(study, groups[label]), **_counts(states[label])}
            for label in states
        ],
        "responses": flashes.answers,
        "flashes": study.protocol.has_flashes,
        "mistimed": {
            "responses": flashes.mistimed,
            "share": flashes.mistimed / max(flashes.answers + flashes.mistimed, 1),
            "by_browser": flashes.rows(),
        },
        "withdrawn": {"sessions": len(withdrawn_entries), "owed_usd_cents": owed_to_withdrawn},
        "currency": study.protocol.pay.currency,
        "owed_usd_cents": owed + owed_to_withdrawn,
        "median_wage_usd_cents_an_hour": wage,
        "target_wage_usd_cents_an_hour": study.protocol.pay.target_wage_usd_cents,
        "warnings": _wage_warnings(study.protocol, wage),
        "notes": list(study.notes),
    }


def as_text(data: Mapping[str, Any]) -> str:
    """Return the progress as lines for a terminal."""

    def money(cents: float) -> str:
        return format_money(cents, data["currency"])

    paused = " (paused)" if data["paused"] else ""
    lines = [f"{data['kind']} {data['study']} ({data['title']}), {data['responses']} responses{paused}"]
    width = max(len(row["model"]) for row in data["models"])
    for row in data["models"]:
        states = ", ".join(f"{row[state]} {state}" for state in STATES)
        goal = f" of {row['wanted']} wanted" if row["wanted"] else ""
        lines.append(f"  {row['model']:<{width}}  {states}{goal}")
    lines += [f"  {line}" for line in looks_lines(data.get("looks"))]
    if data["mistimed"]["responses"]:
        count, share, browsers = data["mistimed"].values()
        by = ", ".join(f"{row['browser'] or 'unknown browsers'} {row['share']:.1%}" for row in browsers)
        lines.append(f"  {count} flashes ({share:.1%}) were mistimed and replaced: {by}")
    if data["withdrawn"]["sessions"]:
        lines.append(f"  {data['withdrawn']['sessions']} withdrawn; their answers are deleted")
    if data.get("retainer"):
        waiting, owed = data["retainer"].values()
        lines.append(f"  {waiting} waiting to be called; owed for waiting: {money(owed)}")
    lines.append(f"  owed to evaluators: {money(data['owed_usd_cents'])}")
    if data["median_wage_usd_cents_an_hour"] is not None:
        lines.append(f"  median wage: {money(data['median_wage_usd_cents_an_hour'])} an hour")
    lines += [f"  warning: {warning}" for warning in data["warnings"]]
    if data["simulated"]:
        lines.append(f"  {data['simulated']} simulated sessions, in none of these numbers")
    return "\n".join(lines + [f"  note: {note}" for note in data["notes"]])


def looks_lines(plan: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what a terminal shows of a study's planned looks; nothing without any."""
    if not plan:
        return
    fixed = f"fixed on {plan['fixed_at'][:10]}" if plan["fixed_at"] else "fixed once an evaluator comes"
    at, aim = ", ".join(map(str, plan["looks"])), f"{plan['aim']} ({plan['spending']})"
    of_each = f"of each model, aim {aim}, {fixed}: plan {plan['digest'][:12]}"
    yield f"looks at {at} {of_each}; {_course(plan['done'], plan['next'])}"
    for row in plan["newcomers"]:
        yield f"looks of {row['model']}, which joined: {_course(row['done'], row['next'])}"
    if plan["hides_scores"]:
        yield "scores are hidden until the looks have ended (looks_hide_scores)"


def _course(done: int, following: int | None) -> str:
    return f"{done} done, {'stopped' if following is None else f'the next at {following} evaluators'}"


def _wage_warnings(protocol: Protocol, wage: float | None) -> list[str]:
    """Return at most one warning; a study that pays nothing promises no wage."""
    if wage is None or not (protocol.pay.base_usd_cents or protocol.pay.bonus_usd_cents):
        return []
    known = currency(protocol.pay.currency)
    wage_text = f"the median wage is {format_money(wage, known.code)} an hour"
    if wage < known.least_wage_cents:
        least = format_money(known.least_wage_cents, known.code)
        return [f"{wage_text}, and the least that panels allow is {least}; raise what evaluators are paid"]
    if wage < protocol.pay.target_wage_usd_cents:
        aim = format_money(protocol.pay.target_wage_usd_cents, known.code)
        return [f"{wage_text}, and this study aims at {aim}"]
    return []


def _groups(study: Study) -> list[tuple[str, ...]]:
    """Return the groups of models whose sessions are counted together."""
    return [study.models] if study.kind == "qualification" else [*study.counted_groups]


def _wanted(study: Study, models: tuple[str, ...]) -> int:
    """Return how many finished sessions are wanted of a group: those that a look used that ended it; else 0
    if none are opened for it.
    """
    if study.ended and models[0] in study.ended:
        return study.ended_at[study.ended.index(models[0])]
    is_open = study.kind == "study" and models in study.model_groups and not {*models} & {*study.closed}
    of_newcomer = study.wanted.get(models[0]) if models[0] in study.newcomers else None
    return (of_newcomer or study.evaluators_a_group) if is_open else 0


def _counts(states: Counter) -> dict[str, int]:
    return {state: states[state] for state in STATES}


def state_of(study: Study, cursor: Cursor, now: datetime | None) -> SessionState:
    """Return the state of a session, one of those that `progress` counts."""
    if cursor.state != "active" or now is None:
        shown = {BROKEN_OFF: "ended", LAPSED: "abandoned"}.get(cursor.state, cursor.state)
        return cast(SessionState, shown)
    idle = now - datetime.fromisoformat(cursor.last_at)
    return "abandoned" if idle > timedelta(minutes=holds_place_minutes(study.protocol, cursor)) else "active"


def _hours(status: SessionStatus) -> float:
    spent = datetime.fromisoformat(status.cursor.last_at) - datetime.fromisoformat(status.opened_at)
    return max(spent.total_seconds(), 1) / 3600
