"""Access to sessions by a secret token; each change is one conditional write."""

import hashlib
import hmac
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from backend.experiment import session as sessions
from backend.experiment.panel import NO_PANEL_CONFIG, PanelConfig
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.bounded_cache import Recent
from backend.foundation.errors import NotAllowed, NotFound, OpenhypeError
from backend.foundation.timestamps import stamp
from backend.recruitment.recruit import begun, panel_config
from backend.stores.store import Capacity, Stale, Store
from backend.stores.updates import retried
from backend.studies import pausing, withdrawals
from backend.studies.places_given_back import rejected
from backend.task import replies, withdrawal
from backend.task.reply_types import State

if TYPE_CHECKING:
    from backend.recruitment.sync_thread import Watch

Clock = Callable[[], datetime]
BUSY = "the session is being changed from several programs at once"
_CURSORS_CACHED = 4096
_SESSIONS_BYTES = 48 << 20
"""Cached sessions, in bytes of memory: some 2,800 of HYPE-infinity, or 700 of HYPE-time."""
_STUDIES_CACHED = 256


class SessionAccess:
    """Reads and changes the sessions of a store. Safe to use from many threads.

    Args:
        watch: notified of what concerns the panel; None if nobody is recruited through its API.
        finished: called with a study of planned looks once another session of it is finished.
    """

    def __init__(
        self,
        store: Store,
        hash_key: bytes,
        clock: Clock,
        watch: "Watch | None",
        finished: Callable[[Study], Any] = lambda study: None,
    ):
        self.store, self.hash_key, self.clock, self.watch = store, hash_key, clock, watch
        self.finished = finished
        # A stored session never changes, nor do the settings under which it was opened.
        self._studies = Recent[Study](_STUDIES_CACHED)
        self._sessions = Recent[Session](_SESSIONS_BYTES, lambda session: session.memory_bytes)
        # A cursor can change, also in another process. A stale one is harmless: its write is refused.
        self._cursors = Recent[Cursor](_CURSORS_CACHED)

    def session(self, session_id: str) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            session = self.store.session(session_id)
            self._sessions.put(session_id, session)
        return session

    def known_cursor(self, session_id: str) -> Cursor | None:
        return self._cursors.get(session_id)

    def remember(self, session: Session, cursor: Cursor, study: Study | None = None) -> None:
        """Cache what was just stored, so that the next request need not read it."""
        self._cursors.put(session.id, cursor)
        if study is not None:
            self._studies.put(settings_of(session), study)

    def study(self, name: str) -> Study:
        """Return the current record of a study: until it is begun its settings may change."""
        return self.store.study(name)

    def authorized(self, session_id: str, token: str) -> tuple[Session, Study]:
        """Return the session that a token authorizes, with its study.

        Raises:
            NotAllowed: `wrong_token`.
            NotFound: there is no such session.
            Conflict: `withdrawn`.
        """
        named, _, secret = token.partition(".")
        if not secret or named != session_id:
            raise NotAllowed("the token does not open this session", code="wrong_token")
        try:
            session = self.session(session_id)
        except NotFound:
            withdrawals.check_not_withdrawn(self.store, session_id)
            raise
        own = (session.secret_hash, hash_of(handover_secret(self.hash_key, session_id)))
        if not any(hmac.compare_digest(hash_of(secret), known) for known in own):
            raise NotAllowed("the token does not open this session", code="wrong_token")
        return session, self.study_of(session)

    def cursor(self, session_id: str) -> Cursor:
        """Return the current cursor of a session; a session cached here may have been withdrawn elsewhere."""
        try:
            return self.store.cursor(session_id)
        except NotFound:
            withdrawals.check_not_withdrawn(self.store, session_id)
            raise

    def study_of(self, session: Session) -> Study:
        """Return a session's study, with the settings under which it was opened."""
        study = self._studies.get(settings_of(session))
        if study is None:
            study = self.store.study(session.study, even_deleted=True)
            if study.settings_id != session.settings_id:
                raise NotFound(
                    f"the settings of study {session.study} were changed, which ended this simulated session",
                    code="unknown_session",
                )
            self._studies.put(settings_of(session), study)
        return study

    def change(self, study: Study, session: Session, rule: Callable[[Cursor], Cursor]) -> Cursor:
        """Replace a session's cursor by `rule(cursor)` and return the result.

        Raises:
            Unavailable: other writers always came first; also whatever else `rule` raises.
        """
        known = self._cursors.get(session.id)
        if known is not None:
            try:
                if (after := rule(known)) is not known:
                    return self._moved(study, session, known, after)
            except OpenhypeError:
                pass  # the cached cursor may be stale: read it and try again

        def change() -> Cursor:
            cursor = self.cursor(session.id)
            after = rule(cursor)
            return cursor if after is cursor else self._moved(study, session, cursor, after)

        return retried(change, BUSY)

    def _moved(self, study: Study, session: Session, cursor: Cursor, after: Cursor) -> Cursor:
        self.hold_place(study, session, cursor)
        self.note_early_end(study, session, after)
        self.store.move(session.id, cursor.version, after)
        self._cursors.put(session.id, after)
        self.notify_panel(study, session, after)
        return after

    def hold_place(self, study: Study, session: Session, cursor: Cursor) -> None:
        """Let a session that fell silent go on only if its place was not given to another meanwhile.

        Whoever holds a place at a panel that is asked keeps it until the panel says otherwise.

        Raises:
            Conflict: `lapsed`, the session is closed.
            Stale: it holds its place again, from a new cursor on.
        """
        if session.is_simulated or session.condition is None or not self._is_silent(study, cursor):
            return
        submission = session.panel.get(study.protocol.admission.panel.submission)
        if self.watch is not None and submission and begun(self.store, study) is not None:
            return
        again = replace(cursor, version=cursor.version + 1, last_at=self.now())
        if self.store.hold_again(session, cursor.version, again, self.capacity(study, session)):
            raise Stale(f"session {session.id} was silent, and goes on")
        lapsed = sessions.lapse(cursor)
        self.store.move(session.id, cursor.version, lapsed)
        self._cursors.put(session.id, lapsed)
        sessions.check_not_returned(lapsed)

    def capacity(self, study: Study, session: Session) -> Capacity:
        """Return how many sessions of a session's condition may count, and which ones count at present."""
        if study.protocol.looks.looks:
            study = self.study(study.name)  # how many are wanted until the next look changes
        of_study = wanted(study, self.clock(), session.condition)
        return replace(of_study, replaced=rejected(self.store, study)[session.condition or ""])

    def _is_silent(self, study: Study, cursor: Cursor) -> bool:
        silent = timedelta(minutes=sessions.holds_place_minutes(study.protocol, cursor))
        return cursor.state == "active" and cursor.last_at < stamp(self.clock() - silent)

    def note_early_end(self, study: Study, session: Session, after: Cursor) -> None:
        """Count a session that is about to be closed early, which may pause the study."""
        if after.state in sessions.CLOSED_EARLY and not session.is_simulated:
            pausing.note_early_end(self.store, study, session.id, after.last_at)

    def notify_panel(self, study: Study, session: Session, after: Cursor) -> None:
        """Notify the panel of a session that is closed now, and who decides looks of a finished one."""
        if after.state == "finished" and study.protocol.looks.looks and not session.is_simulated:
            with suppress(OpenhypeError):  # the answer is stored; the worker asks for all studies again
                self.finished(study)
        if self.watch and _is_of_panel(session) and after.state in sessions.CLOSED:
            self.watch.closed(study, session)

    def state(self, study: Study, session: Session, cursor: Cursor) -> State:
        """Return the state of a session as sent to the page."""
        link = f"/w/{session.id}#{withdrawal.secret_of(self.hash_key, session.id)}"
        return replies.state(study, session, cursor, link, self.panel_config(study, session, cursor))

    def panel_config(self, study: Study, session: Session, cursor: Cursor) -> PanelConfig:
        """Return what the panel's study was created with, if the end of the session depends on it."""
        is_panels = cursor.state != "active" and _is_of_panel(session)
        return panel_config(self.store, study) if is_panels else NO_PANEL_CONFIG

    def now(self) -> str:
        return stamp(self.clock())


def wanted(study: Study, now: datetime, condition: str | None = None) -> Capacity:
    """Return how many sessions of a condition a study wants, and which ones count at present.

    Args:
        condition: its name; None for those that the study was made with.
    """
    admission = study.protocol.admission
    active_since, unanswered_since = (
        stamp(now - timedelta(minutes=minutes))
        for minutes in (admission.abandon_after_minutes, admission.begin_within_minutes)
    )
    count = study.wanted.get(condition or "", study.sessions_a_condition)
    return Capacity(count, active_since, unanswered_since)


def settings_of(session: Session) -> str:
    """Return a cache key for the settings under which a session was opened."""
    return f"{session.study} {session.settings_id}"


def _is_of_panel(session: Session) -> bool:
    """Return whether a session concerns the panel: a simulated one does if a test participant rehearses."""
    return not session.is_simulated or bool(session.panel)


def handover_secret(hash_key: bytes, session_id: str) -> str:
    """Return the second secret of a session, for its person on another device: a keyed hash, not stored.

    Only those get it for whom the panel, or a private link, vouches (`Visitors.own_session`).
    """
    return hmac.new(hash_key, f"hand over\n{session_id}".encode(), hashlib.sha256).hexdigest()


def hash_of(secret: str) -> str:
    """Return the stored form of a session's secret: SHA-256 in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()
