"""Retention of personal data: the panel's parameters, and the facts that browsers send of devices.

They are erased `keep_days` after a session's end. Responses are retained, with the evaluator's random
pseudonym and the keyed hash of the panel's id, which is meaningless without the server's key and prevents
repeated participation. Facts of the display are retained as well: without its refresh rate an exposure
cannot be interpreted. Simulated sessions contain nothing personal and are not changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.experiment import browsers
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.counted_nouns import counted
from backend.foundation.timestamps import stamp
from backend.payment import accounts, screened_out
from backend.stores.store import Store
from backend.studies.waiting_room import book_of
from backend.studies.withdrawals import BOOK, withdrawn
from backend.task.withdrawal import finish


@dataclass(frozen=True)
class Due:
    """The data of a study whose retention period is over."""

    study: str
    keep_days: float
    sessions: tuple[Session, ...]
    entries: tuple[tuple[str, str], ...]
    """Entries by book and key: of withdrawn sessions, and of people who waited or were screened out."""
    accounts: tuple[str, ...] = ()
    """The sessions of accounts paid in full before the retention period."""
    before: str = ""
    """Data older than this are due; UTC, ISO 8601."""

    def __len__(self) -> int:
        """Return the number of sessions and waits with data due."""
        ids = {session.id for session in self.sessions}
        return len(ids.union(self.accounts, (key for _, key in self.entries)))


def due(store: Store, study: Study, now: datetime, keep_days: float | None = None) -> Due:
    """Return the data to erase now.

    A session ends with its last response, even if it was interrupted: one that may still be resumed is
    not old.

    Args:
        keep_days: overrides the study's setting; 0 keeps data forever.
    """
    days = study.protocol.consent.keep_days if keep_days is None else keep_days
    if not days:
        return Due(study.name, days, (), ())
    before = now - timedelta(days=days)
    old = tuple(session for session, cursor in store.sessions(study.name) if _is_due(session, cursor, before))
    return _in_books(store, study, days, old, before)


def all_of(store: Store, study: Study) -> Due:
    """Return all personal data in the books of a study that is being deleted."""
    return _in_books(store, study, 0, (), datetime.max.replace(tzinfo=UTC))


def _in_books(store: Store, study: Study, days: float, old: tuple[Session, ...], before: datetime) -> Due:
    left = [
        *((BOOK, entry, datetime.fromisoformat(entry.data["at"])) for entry in withdrawn(store, study.name)),
        *(
            (book_of(study.name), entry, datetime.fromtimestamp(entry.data["seen_at"], UTC))
            for entry in store.entries(book_of(study.name))
        ),
        *(
            (screened_out.book(study.name), entry, datetime.fromisoformat(entry.data["at"]))
            for entry in store.entries(screened_out.book(study.name))
        ),
    ]
    entries = tuple((book, entry.key) for book, entry, at in left if entry.data["panel"] and at < before)
    paid = accounts.forgettable(store, study.name, stamp(before)).values()
    sessions_paid = tuple(account.session for account in paid)
    return Due(study.name, days, old, entries, sessions_paid, stamp(before))


def apply(store: Store, what: Due, now: datetime) -> None:
    """Erase the data that are due, permanently; withdrawn sessions not erased yet are erased first.

    The panel's ids of closed sessions, and of people who waited, move to the ledger if they are not paid
    yet, which stores them until they are. If interrupted, call it again to erase the rest.
    """
    finish(store)
    if what.sessions or what.entries:
        for study in store.studies():
            if what.study in (study.name, study.protocol.admission.qualification):
                accounts.enter_all(store, study, now)
    for session in what.sessions:
        store.redact_session(session.id, {}, browsers.retained(session.device))
    for book, key in what.entries:
        entry = store.entry(book, key)
        if entry is not None:  # else it was erased with its study in the meantime
            store.write_entry(book, key, entry.version, {**entry.data, "panel": {}})
    if what.accounts:
        accounts.forget(store, what.study, what.before)


def lines(due: list[Due]) -> Iterator[str]:
    """Yield a line for each study, for a terminal."""
    for what in due:
        if not what.keep_days:
            yield f"{what.study}: stored as long as the study"
        elif not len(what):
            yield f"{what.study}: nothing is older than {what.keep_days:g} days"
        else:
            ends = f"that ended more than {what.keep_days:g} days ago"
            yield f"{what.study}: panel parameters and devices of {counted(len(what), 'session')} {ends}"


def _is_due(session: Session, cursor: Cursor, before: datetime) -> bool:
    is_whole = bool(session.panel) or dict(session.device) != browsers.retained(session.device)
    return is_whole and datetime.fromisoformat(cursor.last_at) < before
