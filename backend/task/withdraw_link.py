"""Withdrawal by a link that belongs to one session."""

import hmac
from contextlib import suppress

from backend.experiment.records import Session
from backend.foundation.errors import Conflict, NotAllowed, NotFound
from backend.stores.store import Entry
from backend.studies import withdrawals
from backend.task import replies, withdrawal
from backend.task.access import SessionAccess
from backend.task.reply_types import Withdrawal


class Withdrawing:
    """What the withdrawal link can do; it stays valid after the session is erased."""

    def __init__(self, access: SessionAccess):
        self._access, self._store = access, access.store

    def withdrawal(self, session_id: str, secret: str) -> Withdrawal:
        """Return what an evaluator would delete by withdrawing, or that it has been done.

        Raises:
            NotAllowed: `wrong_link`.
            NotFound: there never was such a session.
        """
        self._check_link(session_id, secret)
        entry = self._store.entry(withdrawals.BOOK, session_id)
        if entry is not None:
            return self._withdrawn(entry)
        session = self._access.session(session_id)
        _check_somebodys(session)
        return replies.withdrawal(self._access.study_of(session), session, self._store.cursor(session_id))

    def withdraw(self, session_id: str, secret: str) -> Withdrawal:
        """Delete a session with its responses; repeating it has no effect. Raises as `withdrawal`."""
        self._check_link(session_id, secret)
        entry = self._store.entry(withdrawals.BOOK, session_id)
        if entry is None:
            session = self._store.session(session_id)
            _check_somebodys(session)
            entry = withdrawal.withdraw(
                self._store, self._access.study_of(session), session_id, self._access.now()
            )
        else:
            entry = withdrawal.finish_one(self._store, entry)
        return self._withdrawn(entry)

    def _withdrawn(self, entry: Entry) -> Withdrawal:
        """Return the reply for a withdrawn session, also if its study was deleted."""
        name = entry.data["study"]
        with suppress(NotFound):
            return replies.withdrawn(self._store.study(name).protocol, entry.data)
        return replies.withdrawn(None, entry.data)

    def _check_link(self, session_id: str, secret: str) -> None:
        wanted = withdrawal.secret_of(self._access.hash_key, session_id)
        if not hmac.compare_digest(secret.encode(), wanted.encode()):
            raise NotAllowed("this link withdraws no session; it must be whole", code="wrong_link")


def _check_somebodys(session: Session) -> None:
    if session.is_simulated:
        raise Conflict(
            "nobody can withdraw from a simulated session; `openhype clear` removes it", code="simulated"
        )
