"""Withdrawal from a study: the responses are deleted, what is owed stays.

First an entry is written to the book `withdrawn`; then what is owed is written to the ledger, which pays
it like any other debt; then the session is erased; then the entry records that. From the first write on
no reader counts the session. Whoever finds an entry whose session is not erased yet completes the rest
(`finish`), so that a process may die at any point: before the entry nothing has changed, and after it
nothing is lost.
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
from backend.stores.store import Entry, Stale, Store, stored_entry
from backend.studies import pausing
from backend.studies.withdrawals import BOOK

_WHY = "withdrawn"


def secret_of(hash_key: bytes, session_id: str) -> str:
    """Return the secret of a session's withdrawal link: a keyed hash, which is not stored.

    It stays valid after the session is erased, so that withdrawing twice is no error.
    """
    return hmac.new(hash_key, f"withdraw\n{session_id}".encode(), hashlib.sha256).hexdigest()


def withdraw(store: Store, study: Study, session_id: str, at: str) -> Entry:
    """Delete a session and its responses permanently, and return the entry that remains.

    Repeating the call changes nothing.

    Args:
        at: UTC, ISO 8601.

    Raises:
        NotFound: there is no such session, and none was withdrawn.
    """
    entry = store.entry(BOOK, session_id)
    if entry is None:
        session = store.session(session_id)
        data = _what_is_owed(study.protocol, session, _stopped(store, session_id), at)
        with suppress(Stale):  # a concurrent request wrote it
            store.write_entry(BOOK, session_id, 0, data)
        entry = stored_entry(store, BOOK, session_id)
    return finish_one(store, entry)


def finish(store: Store) -> int:
    """Erase sessions whose withdrawal was interrupted by a crash; return how many."""
    unfinished = [entry for entry in store.entries(BOOK) if not entry.data["is_erased"]]
    for entry in unfinished:
        finish_one(store, entry)
    return len(unfinished)


def _stopped(store: Store, session_id: str) -> Cursor:
    """Close the session to the tab that has its lease, so that no response arrives after it was counted."""
    while True:
        cursor = store.cursor(session_id)
        after = dataclasses.replace(cursor, version=cursor.version + 1, lease=cursor.lease + 1)
        with suppress(Stale):
            store.move(session_id, cursor.version, after)
            return after


def _what_is_owed(protocol: Protocol, session: Session, cursor: Cursor, at: str) -> dict[str, Any]:
    """Return what is owed, without any response.

    For an open session the base is owed by the share of trials that were answered, rounded up; for a
    closed one, in full; for one whose place was given back, nothing. The panel's ids of person and
    submission stay until retention removes them.
    """
    base, bonus = (0, 0) if cursor.state == "returned" else earned_part_usd_cents(protocol, session, cursor)
    return {
        "study": session.study,
        "models": session.models,
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
    """Erase a withdrawn session, unless that is done, and return the entry that remains."""
    if entry.data["is_erased"]:
        return entry
    with suppress(NotFound):  # erased already, and recorded as such
        study = store.study(entry.data["study"], even_deleted=True)
        session = store.session(entry.key)
        # as it was when it was withdrawn: its place may have been given back since
        cursor = dataclasses.replace(store.cursor(session.id), state=entry.data["state"])
        accounts.enter(store, study, session, cursor, why=_WHY)
        if entry.data["base_usd_cents"] + entry.data["bonus_usd_cents"] and not session.is_simulated:
            pausing.note_early_end(store, study, session.id, entry.data["at"])
    store.erase_session(entry.key)
    with suppress(Stale):
        return store.write_entry(BOOK, entry.key, entry.version, {**entry.data, "is_erased": True})
    return stored_entry(store, BOOK, entry.key)
