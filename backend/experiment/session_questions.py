"""The questions of a session: which are open, and the cursor after they are answered, as pure functions.

The questions before the task are answered before its first block begins. Those after it are open in a
closed session, whose pay and completion code do not depend on them. The first answers stored count.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

from backend.experiment import questionnaire
from backend.experiment.questionnaire import AFTER, BEFORE
from backend.experiment.records import Study
from backend.experiment.session import CLOSED, Cursor, check_lease, check_not_returned
from backend.foundation.errors import Conflict


def open_questions(study: Study, cursor: Cursor) -> str | None:
    """Return the time, `before` or `after`, whose questions are to be answered now; None for neither."""
    when = AFTER if cursor.state in CLOSED else BEFORE if cursor.state == "active" else None
    is_asked = when is not None and bool(questionnaire.asked(study.questions, when))
    return when if is_asked and when not in cursor.questions else None


def answers_of(cursor: Cursor, when: str) -> dict[str, Any]:
    """Return the stored answers to the questions of a time, by name; {} if none are stored."""
    return dict(cursor.questions.get(when, {}).get("answers", {}))


def answer_questions(
    study: Study, cursor: Cursor, lease: int, when: str, given: Mapping[str, Any], declined: bool, at: str
) -> Cursor:
    """Return the cursor with the answers to the questions of a time; the same one if it has some already.

    Args:
        given: answers by the questions' names.
        declined: whether the evaluator chose not to answer the questions after the task.

    Raises:
        Conflict: `returned`; `stale_lease`; `out_of_order` if these questions are not open.
        InvalidInput: as `questionnaire.checked_answers`.
    """
    check_not_returned(cursor)
    check_lease(cursor, lease)
    if when in cursor.questions:
        return cursor
    if open_questions(study, cursor) != when:
        raise Conflict(f"no questions {when} the task are open", code="out_of_order")
    stored: dict[str, Any] = {"at": at}
    if declined and when == AFTER:
        stored |= {"answers": {}, "declined": True}
    else:
        earlier = answers_of(cursor, BEFORE)
        stored |= {"answers": questionnaire.checked_answers(study.questions, when, given, earlier)}
    return dataclasses.replace(
        cursor,
        version=cursor.version + 1,
        questions={**cursor.questions, when: stored},
        last_at=at if cursor.state == "active" else cursor.last_at,
    )


def check_answered(study: Study, cursor: Cursor) -> None:
    """Raise Conflict (`questions_first`) while the questions before the task are unanswered."""
    if open_questions(study, cursor) == BEFORE:
        raise Conflict("the questions before the task come first", code="questions_first")
