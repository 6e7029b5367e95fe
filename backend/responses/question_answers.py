"""Answers to a study's own questions, as rows of an export and as summaries for a report."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from statistics import median, quantiles
from typing import Any

from backend.experiment.questionnaire import (
    AFTER,
    BEFORE,
    CHOICE,
    CHOICES,
    NUMBER,
    SCALE,
    TEXT,
    Question,
    asked,
)
from backend.experiment.records import Study
from backend.experiment.response_columns import Column
from backend.experiment.session import Cursor
from backend.experiment.session_questions import answers_of
from backend.stores.store import Store
from backend.studies.withdrawals import sessions_of

_PREFIX = "q_"
"""Begins the names of questions' columns, so that none is called like another column."""
FIXED = {
    "state": Column(
        "State of the session: finished, ended (closed early), or active (in progress, or broken off)",
        "finished, ended, active",
    ),
    "before_at": Column("When the answers to the questions before the task were stored", "UTC, ISO 8601"),
    "after_at": Column("When the answers to the questions after the task were stored", "UTC, ISO 8601"),
    "declined": Column(
        "Whether the evaluator chose not to answer the questions after the task", "true, false"
    ),
}
"""Columns of the table of answers, besides those that name the session and those of the questions."""


def columns(study: Study) -> dict[str, Column]:
    """Return the columns of the questions' answers, each described by the text of its question."""
    return {f"{_PREFIX}{question.name}": _column(question) for question in study.questions}


def header(study: Study) -> list[str]:
    """Return the names of the columns of the table of answers."""
    return ["study", "session", "evaluator", "simulated", *FIXED, *columns(study)]


def rows(store: Store, study: Study, simulated: bool = False) -> Iterator[dict[str, Any]]:
    """Yield a row for each session that has answers; several choices are written as a JSON list.

    Args:
        simulated: yield the rows of simulated sessions instead of real ones.
    """
    for session, cursor in sessions_of(store, study, simulated):
        if not cursor.questions or cursor.state == "returned":
            continue
        answers = {f"{_PREFIX}{name}": _cell(answer) for name, answer in _all_answers(cursor).items()}
        after = cursor.questions.get(AFTER)
        yield {
            "study": study.name,
            "session": session.id,
            "evaluator": session.evaluator,
            "simulated": session.is_simulated,
            "state": cursor.state,
            "before_at": cursor.questions.get(BEFORE, {}).get("at"),
            "after_at": after and after["at"],
            "declined": after and after.get("declined", False),
            **answers,
        }


def summaries(store: Store, study: Study, simulated: bool = False) -> list[dict[str, Any]]:
    """Return what was answered to each question in finished sessions, without texts, as plain data.

    For choices and scales, how often each answer was given (`counts`); for numbers and scales, `quartiles`
    (linear interpolation between order statistics), `low` and `high`, None if nobody answered.
    """
    sessions = [cursor for _, cursor in sessions_of(store, study, simulated) if cursor.state == "finished"]
    return [
        _summary(question, sessions) for when in (BEFORE, AFTER) for question in asked(study.questions, when)
    ]


def texts(store: Store, study: Study, simulated: bool = False) -> list[dict[str, Any]]:
    """Return the texts that evaluators of finished sessions wrote, by question and evaluator."""
    names = [question.name for question in study.questions if question.kind == TEXT]
    if not names:
        return []
    rows = [
        {"question": name, "evaluator": session.evaluator, "text": answers[name]}
        for session, cursor in sessions_of(store, study, simulated)
        if cursor.state == "finished"
        for answers in [_all_answers(cursor)]
        for name in names
        if name in answers
    ]
    return sorted(rows, key=lambda row: (names.index(row["question"]), row["evaluator"]))


def _all_answers(cursor: Cursor) -> dict[str, Any]:
    return answers_of(cursor, BEFORE) | answers_of(cursor, AFTER)


def _summary(question: Question, sessions: Sequence[Cursor]) -> dict[str, Any]:
    given = [answers[question.name] for answers in map(_all_answers, sessions) if question.name in answers]
    return {
        "question": question.name,
        "when": question.when,
        "kind": question.kind,
        "text": question.text,
        "low_label": question.low,
        "high_label": question.high,
        "answered": len(given),
        "evaluators": sum(_was_shown(question, cursor) for cursor in sessions),
        "counts": _counts(question, given),
        **_distribution(question, given),
    }


def _was_shown(question: Question, cursor: Cursor) -> bool:
    is_met = question.shown_if is None or question.shown_if.is_met(_all_answers(cursor))
    stored: Mapping[str, Any] = cursor.questions.get(question.when, {})
    return is_met and bool(stored) and not stored.get("declined", False)


def _counts(question: Question, given: Sequence[Any]) -> list[dict[str, Any]]:
    if question.kind not in (CHOICE, CHOICES, SCALE):
        return []
    counts = Counter(each for answer in given for each in (answer if isinstance(answer, list) else [answer]))
    return [{"answer": answer, "count": counts[answer]} for answer in question.possible]


def _distribution(question: Question, given: Sequence[float]) -> dict[str, Any]:
    if question.kind not in (NUMBER, SCALE) or not given:
        return {"quartiles": None, "low": None, "high": None}
    q1, _, q3 = quantiles(given, n=4, method="inclusive") if len(given) > 1 else (given[0],) * 3
    return {"quartiles": [q1, median(given), q3], "low": min(given), "high": max(given)}


def _column(question: Question) -> Column:
    text = " ".join(question.text.split())
    condition = question.shown_if
    if condition is not None:
        options = " or ".join(map(str, condition.answers))
        text += f" (asked if {_PREFIX}{condition.question} is {options})"
    return Column(f"{text} (asked {question.when} the task)", _unit(question))


def _unit(question: Question) -> str:
    if question.kind == CHOICE:
        return "one of " + json.dumps(question.choices, ensure_ascii=False)
    if question.kind == CHOICES:
        return "JSON list of some of " + json.dumps(question.choices, ensure_ascii=False)
    if question.kind == SCALE:
        low, high = (f" ({label})" if label else "" for label in (question.low, question.high))
        return f"whole number from 1{low} to {question.points}{high}"
    if question.kind == NUMBER:
        low = "" if question.min is None else f" from {question.min:g}"
        high = "" if question.max is None else f" up to {question.max:g}"
        return f"number{low}{high}"
    return "text"


def _cell(answer: Any) -> Any:
    return json.dumps(answer, ensure_ascii=False) if isinstance(answer, list) else answer
