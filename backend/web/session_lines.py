"""The sessions of a study as lines of a table, without answers and without the panel's ids, in pages."""

from collections.abc import Sequence
from datetime import datetime

from backend.experiment.browsers import language_of
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import InvalidInput, brief
from backend.stores.store import Store
from backend.studies.withdrawals import sessions_of, withdrawn
from backend.web.progress import state_of
from backend.web.study_types import SessionLine, Sessions


def session_lines(store: Store, study: Study, now: datetime) -> list[SessionLine]:
    """Return real and simulated sessions, the latest first, then what is left of withdrawn ones."""
    gone = list(withdrawn(store, study.name))
    lines = [_line(study, *session, now) for session in sessions_of(store, study, gone=gone)]
    lines += [_line(study, *session, now) for session in sessions_of(store, study, simulated=True)]
    lines.sort(key=lambda line: (line["opened_at"], line["session"]), reverse=True)
    for entry in sorted(gone, key=lambda entry: (entry.data["at"], entry.key), reverse=True):
        lines.append(
            {
                "session": entry.key,
                "evaluator": entry.data["evaluator"],
                "models": list(entry.data["models"] or study.models),
                "state": "withdrawn",
                "simulated": False,
                "opened_at": "",
                "last_at": entry.data["at"],
                "answers": 0,
                "language": "",
            }
        )
    return lines


def page_of(lines: Sequence[SessionLine], find: str, before: str | None, limit: int) -> Sessions:
    """Return a page of the lines that `session_lines` returned, and where the next one begins.

    A page begins after a line, not at a number, so that sessions that are opened meanwhile move no page.

    Args:
        find: a part of the session's id or of the pseudonym, in upper or lower case; "" for all.
        before: `next` of the page before; None for the first page.

    Raises:
        InvalidInput: `before` is not the `next` of a page.
    """
    wanted = find.strip().lower()
    listed = [line for line in lines if wanted in f"{line['session']} {line['evaluator']}".lower()]
    place = None if before is None else _place_in(before)
    rest = listed if place is None else [line for line in listed if _place(line) < place]
    page = rest[:limit]
    following = "/".join(_place(page[-1])) if len(rest) > limit else None
    return {"sessions": page, "count": len(listed), "next": following}


def _place(line: SessionLine) -> tuple[str, ...]:
    """Return by what lines are sorted, downwards: withdrawn ones, without a time of opening, at the end."""
    return line["opened_at"], "" if line["opened_at"] else line["last_at"], line["session"]


def _place_in(before: str) -> tuple[str, ...]:
    place = tuple(before.split("/"))
    if len(place) != 3:
        raise InvalidInput(f"before must be the `next` of an earlier page, not {brief(before)}")
    return place


def _line(study: Study, session: Session, cursor: Cursor, now: datetime) -> SessionLine:
    return {
        "session": session.id,
        "evaluator": session.evaluator,
        "models": list(session.models or study.models),
        "state": state_of(study, cursor, now),
        "simulated": session.is_simulated,
        "opened_at": session.opened_at,
        "last_at": cursor.last_at,
        "answers": cursor.trial_index + cursor.voided_answers,
        "language": language_of(session.device),
    }
