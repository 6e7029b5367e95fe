"""How long personal data are kept: the panel's parameters, and what browsers tell of devices.

`keep_days` after a session's end they are emptied. Answers stay, with the evaluator's random pseudonym
and the keyed hash of the panel's id, which tells nothing without the server's key and keeps people from
taking part twice. What is known of the display stays as well: without its refresh a flash means nothing.
Simulated sessions hold nothing personal, and are left as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from backend.experiment import browsers
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.counts import counted
from backend.foundation.timestamps import stamp
from backend.payment import accounts
from backend.stores.store import Store
from backend.studies.waiting_room import book_of
from backend.studies.withdrawals import BOOK, withdrawn
from backend.task.withdrawal import finish


@dataclass(frozen=True)
class Due:
    """The sessions of a study whose personal data have been kept long enough."""

    study: str
    keep_days: float
    sessions: tuple[Session, ...]
    entries: tuple[tuple[str, str], ...]
    """Of books, by book and key: what is left of sessions withdrawn, and people who waited."""
    accounts: tuple[str, ...] = ()
    """The sessions of accounts that were all paid so long ago."""
    before: str = ""
    """What is older than this is due; UTC, ISO 8601."""

    def __len__(self) -> int:
        """Return of how many sessions, and waits, something is due."""
        ids = {session.id for session in self.sessions}
        return len(ids.union(self.accounts, (key for _, key in self.entries)))


def due(store: Store, study: Study, now: datetime, keep_days: float | None = None) -> Due:
    """Return what is to be emptied now.

    A session's end is its last answer, also where it broke off: one that may still be resumed is not old.

    Args:
        keep_days: instead of the study's setting; 0 keeps for ever.
    """
    days = study.protocol.consent.keep_days if keep_days is None else keep_days
    if not days:
        return Due(study.name, days, (), ())
    before = now - timedelta(days=days)
    old = tuple(session for session, cursor in store.sessions(study.name) if _is_due(session, cursor, before))
    return _in_books(store, study, days, old, before)


def all_of(store: Store, study: Study) -> Due:
    """Return what books hold of a study that is being deleted: nothing personal is kept for longer."""
    return _in_books(store, study, 0, (), datetime.max.replace(tzinfo=UTC))


def _in_books(store: Store, study: Study, days: float, old: tuple[Session, ...], before: datetime) -> Due:
    left = [
        *((BOOK, entry, datetime.fromisoformat(entry.data["at"])) for entry in withdrawn(store, study.name)),
        *(
            (book_of(study.name), entry, datetime.fromtimestamp(entry.data["seen_at"], UTC))
            for entry in store.entries(book_of(study.name))
        ),
    ]
    entries = tuple((book, entry.key) for book, entry, at in left if entry.data["panel"] and at < before)
    paid = accounts.forgettable(store, study.name, stamp(before)).values()
    sessions_paid = tuple(account.session for account in paid)
    return Due(study.name, days, old, entries, sessions_paid, stamp(before))


def apply(store: Store, what: Due, now: datetime) -> None:
    """Empty what is due, for good. What was withdrawn and not erased yet is erased first.

    The panel's ids of closed sessions, and of people who waited, go to the ledger if they are not paid
    yet, which keeps them until they are. Interrupted, it is done again with what is left.
    """
    finish(store)
    if what.sessions or what.entries:
        for study in store.studies():
            if what.study in (study.name, study.protocol.admission.qualification):
                accounts.enter_all(store, study, now)
    for session in what.sessions:
        store.redact_session(session.id, {}, browsers.kept(session.device))
    for book, key in what.entries:
        found = store.entry(book, key)
        store.write_entry(book, key, found.version, {**found.data, "panel": {}})
    if what.accounts:
        accounts.forget(store, what.study, what.before)


def lines(found: list[Due]) -> Iterator[str]:
    """Yield a line for each study, for a terminal."""
    for what in found:
        if not what.keep_days:
            yield f"{what.study}: is kept as long as the study"
        elif not len(what):
            yield f"{what.study}: nothing is older than {what.keep_days:g} days"
        else:
            ends = f"that ended more than {what.keep_days:g} days ago"
            yield f"{what.study}: panel parameters and devices of {counted(len(what), 'session')} {ends}"


def _is_due(session: Session, cursor: Cursor, before: datetime) -> bool:
    is_whole = bool(session.panel) or dict(session.device) != browsers.kept(session.device)
    return is_whole and datetime.fromisoformat(cursor.last_at) < before
