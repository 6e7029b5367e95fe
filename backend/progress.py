"""How far a study has come: sessions by state, pay, and what evaluators really earned an hour."""

from collections import Counter
from datetime import datetime, timedelta
from statistics import median
from typing import Any

from backend.records import Session, Study
from backend.session import Cursor, earned_usd_cents
from backend.stores import Store


def progress(store: Store, study: Study, now: datetime | None = None) -> dict[str, Any]:
    """Return a study's progress as plain data; money in US cents, wage in US cents an hour.

    A session is `finished`, `ended` (closed early, kindly), `active`, or `abandoned` (no answer
    for the study's `abandon_after_minutes`; it may still be resumed), or `returned` (its place was given
    back at the panel: neither counted nor paid). The wage is the median over
    finished sessions of what was earned over the time from opening to last answer.
    """
    states = {model: Counter() for model in _models(study)}
    wages, paid, answers, mistimed = [], 0, 0, 0
    for session, cursor in store.sessions(study.name):
        states[session.model or "all models"][_state(study, cursor, now)] += 1
        answers += cursor.trial_index
        mistimed += cursor.voided_answers
        if cursor.state not in ("active", "returned"):
            earned = earned_usd_cents(study.protocol, cursor)
            paid += earned
            if cursor.state == "finished":
                wages.append(earned / _hours(session, cursor))
    return {
        "study": study.name,
        "kind": study.kind,
        "method": study.protocol.method,
        "evaluators_wanted": study.protocol.evaluators,
        "models": [{"model": model, **_counts(states[model])} for model in states],
        "responses": answers,
        "mistimed": {"responses": mistimed, "share": mistimed / max(answers + mistimed, 1)},
        "owed_usd_cents": paid,
        "median_wage_usd_cents_an_hour": median(wages) if wages else None,
        "notes": list(study.notes),
    }


def as_text(data: dict[str, Any]) -> str:
    """Return the progress as lines for a terminal."""
    lines = [f"{data['kind']} {data['study']} (HYPE-{data['method']}), {data['responses']} responses"]
    width = max(len(row["model"]) for row in data["models"])
    for row in data["models"]:
        states = ", ".join(f"{count} {state}" for state, count in row.items() if state != "model")
        goal = "" if data["kind"] == "qualification" else f" of {data['evaluators_wanted']} wanted"
        lines.append(f"  {row['model']:<{width}}  {states}{goal}")
    if data["mistimed"]["responses"]:
        count, share = data["mistimed"].values()
        lines.append(f"  {count} flashes ({share:.1%}) were mistimed and replaced")
    lines.append(f"  owed to evaluators: ${data['owed_usd_cents'] / 100:.2f}")
    if data["median_wage_usd_cents_an_hour"] is not None:
        lines.append(f"  median wage: ${data['median_wage_usd_cents_an_hour'] / 100:.2f} an hour")
    return "\n".join(lines + [f"  note: {note}" for note in data["notes"]])


def _models(study: Study) -> tuple[str, ...]:
    return ("all models",) if study.kind == "qualification" else study.models


def _counts(states: Counter) -> dict[str, int]:
    return {state: states[state] for state in ("active", "abandoned", "ended", "returned", "finished")}


def _state(study: Study, cursor: Cursor, now: datetime | None) -> str:
    if cursor.state != "active" or now is None:
        return cursor.state
    idle = now - datetime.fromisoformat(cursor.last_at)
    return "abandoned" if idle > timedelta(minutes=study.protocol.abandon_after_minutes) else "active"


def _hours(session: Session, cursor: Cursor) -> float:
    spent = datetime.fromisoformat(cursor.last_at) - datetime.fromisoformat(session.opened_at)
    return max(spent.total_seconds(), 1) / 3600
