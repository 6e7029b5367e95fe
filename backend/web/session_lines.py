"""The sessions of a study as lines of a table, without answers and without the panel's ids."""

from datetime import datetime

from backend.experiment.browsers import language_of
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.stores.store import Store
from backend.studies.withdrawals import sessions_of, withdrawn
from backend.web.progress import state_of
from backend.web.study_types import SessionLine


def session_lines(store: Store, study: Study, now: datetime) -> list[SessionLine]:
    """Return real and simulated sessions, the latest first, then what is left of withdrawn ones."""
    gone = list(withdrawn(store, study.name))
    lines = [_line(study, *found, now) for found in sessions_of(store, study, gone=gone)]
    lines += [_line(study, *found, now) for found in sessions_of(store, study, simulated=True)]
    lines.sort(key=lambda line: (line["opened_at"], line["session"]), reverse=True)
    for entry in sorted(gone, key=lambda entry: entry.data["at"], reverse=True):
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
