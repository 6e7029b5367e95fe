"""Withdrawing from a study: the answers go, what is owed stays.

First an entry is written to the book `withdrawn`; then what is owed to the ledger, which pays it as any
other; then the session is erased; then the entry says so. From the first write on no reading counts the
session. Whoever finds an entry whose session is not erased yet does the rest (`finish`), so that a process
may die at any point: before the entry nothing has changed, and after it nothing is lost.
"""

import dataclasses
import hashlib
import hmac
from contextlib import suppress
from typing import Any

from backend.experiment.protocol import Protocol
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor, earned_part_usd_cents
from backend.foundation.errors import NotFound
from backend.payment import accounts
from backend.stores.store import Entry, Stale, Store
from backend.studies.withdrawals import BOOK

_WHY = "withdrawn"


def secret_of(hash_key: bytes, session_id: str) -> str:
    """Return what opens a session's withdrawal: a keyed hash, which is stored nowhere.

    It stays good after the session is erased, so that withdrawing twice is no error.
    """
    return hmac.new(hash_key, f"withdraw\n{session_id}".encode(), hashlib.sha256).hexdigest()


def withdraw(store: Store, study: Study, session_id: str, at: str) -> Entry:
    """Delete a session and its answers for good, and return the entry that is left of it.

    Done before, it changes nothing.

    Args:
        at: UTC, ISO 8601.

    Raises:
        NotFound: there is no such session, and none was withdrawn.
    """
    entry = store.entry(BOOK, session_id)
    if entry is None:
        session = store.session(session_id)
        data = _kept(study.protocol, session, _stopped(store, session_id), at)
        with suppress(Stale):  # asked for twice at once: the other one wrote it
            store.write_entry(BOOK, session_id, 0, data)
        entry = store.entry(BOOK, session_id)
    return finish_one(store, entry)


def finish(store: Store) -> int:
    """Erase what was withdrawn when a process died; return how many sessions that were."""
    unfinished = [entry for entry in store.entries(BOOK) if not entry.data["is_erased"]]
    for entry in unfinished:
        finish_one(store, entry)
    return len(unfinished)


def _stopped(store: Store, session_id: str) -> Cursor:
    """Take the session away from the tab that has it, so that no answer comes after it was counted."""
    while True:
        cursor = store.cursor(session_id)
        after = dataclasses.replace(cursor, version=cursor.version + 1, lease=cursor.lease + 1)
        with suppress(Stale):
            store.move(session_id, cursor.version, after)
            return after


def _kept(protocol: Protocol, session: Session, cursor: Cursor, at: str) -> dict[str, Any]:
    """Return what is owed, and nothing that was answered.

    Of a session under way the base is owed by the share of trials that were answered, rounded up; of one
    that was closed, the whole; of one whose place was given back, nothing. The panel's ids of person and
    submission stay until retention.
    """
    base, bonus = (0, 0) if cursor.state == "returned" else earned_part_usd_cents(protocol, session, cursor)
    return {
        "study": session.study,
        "model": session.model,
        "evaluator": session.evaluator,
        "state": cursor.state,
        "answered": cursor.trial_index + cursor.voided_answers,
        "base_usd_cents": base,
        "bonus_usd_cents": bonus,
        "panel": session.panel,
        "completion_code": session.completion_code,
        "secret_hash": session.secret_hash,
        "at": at,
        "is_erased": False,
    }


def finish_one(store: Store, entry: Entry) -> Entry:
    """Erase a session that was withdrawn, unless it is done, and return the entry that is left of it."""
    if entry.data["is_erased"]:
        return entry
    with suppress(NotFound):  # erased already, and so entered
        study = store.study(entry.data["study"], even_deleted=True)
        session = store.session(entry.key)
        accounts.enter(store, study, session, store.cursor(session.id), why=_WHY)
    store.erase_session(entry.key)
    with suppress(Stale):
        return store.write_entry(BOOK, entry.key, entry.version, {**entry.data, "is_erased": True})
    return store.entry(BOOK, entry.key)
