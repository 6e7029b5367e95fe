"""Sessions as evaluators reach them: by a secret token, each change one conditional write."""

import hashlib
import hmac
from collections.abc import Callable
from datetime import datetime
from functools import lru_cache

from backend.experiment import session as sessions
from backend.experiment.panel import NOTHING_TOLD, Told
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor
from backend.foundation.errors import NotAllowed, NotFound, OpenhypeError
from backend.foundation.recent import Recent
from backend.foundation.timestamps import stamp
from backend.recruitment.recruit import told
from backend.recruitment.sync_thread import Watch
from backend.stores.store import Store
from backend.stores.updates import retried
from backend.studies import withdrawals
from backend.task import replies, withdrawal
from backend.task.reply_types import State

Clock = Callable[[], datetime]
BUSY = "the session is being changed from several places at once"
_SESSIONS_CACHED = 4096
_STUDIES_CACHED = 256


class SessionAccess:
    """The sessions of a store, read and changed. Safe to use from many threads.

    Args:
        watch: who hears of what happens at the panel; None where nobody is recruited through its API.
    """

    def __init__(self, store: Store, hash_key: bytes, clock: Clock, watch: Watch | None):
        self.store, self.hash_key, self.clock, self.watch = store, hash_key, clock, watch
        # A session never changes once stored, nor do the settings under which it was opened.
        self._studies = Recent[Study](_STUDIES_CACHED)
        self._session = lru_cache(maxsize=_SESSIONS_CACHED)(store.session)
        # A cursor changes, perhaps by another process. An old one does no harm: its write is refused.
        self._cursors = Recent[Cursor](_SESSIONS_CACHED)

    def session(self, session_id: str) -> Session:
        return self._session(session_id)

    def known_cursor(self, session_id: str) -> Cursor | None:
        """Return where a session stood when it was last seen here."""
        return self._cursors.get(session_id)

    def remember(self, session: Session, cursor: Cursor, study: Study | None = None) -> None:
        """Keep what was just stored, so that the next request need not read it."""
        self._cursors.put(session.id, cursor)
        if study is not None:
            self._studies.put(settings_of(session), study)

    def study(self, name: str) -> Study:
        """Return a study as it stands now: until it is begun its settings may change."""
        return self.store.study(name)

    def authorized(self, session_id: str, token: str) -> tuple[Session, Study]:
        """Return the session that a token opens, with its study.

        Raises:
            NotAllowed: `wrong_token`.
            NotFound: there is no such session.
            Conflict: `withdrawn`.
        """
        named, _, secret = token.partition(".")
        if not secret or named != session_id:
            raise NotAllowed("the token does not open this session", code="wrong_token")
        try:
            session = self._session(session_id)
        except NotFound:
            withdrawals.check_not_withdrawn(self.store, session_id)
            raise
        if not hmac.compare_digest(hash_of(secret), session.secret_hash):
            raise NotAllowed("the token does not open this session", code="wrong_token")
        return session, self.study_of(session)

    def cursor(self, session_id: str) -> Cursor:
        """Return where a session stands now; one that is known here may have been withdrawn elsewhere."""
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
        """Bring a session to where `rule` has it stand next, and return that.

        Raises:
            Unavailable: others change it all the time; whatever else `rule` raises.
        """
        known = self._cursors.get(session.id)
        if known is not None:
            try:
                if (after := rule(known)) is not known:
                    return self._moved(study, session, known, after)
            except OpenhypeError:
                pass  # what is known here may be old: read where the session stands, and look again

        def change() -> Cursor:
            cursor = self.cursor(session.id)
            after = rule(cursor)
            return cursor if after is cursor else self._moved(study, session, cursor, after)

        return retried(change, BUSY)

    def _moved(self, study: Study, session: Session, cursor: Cursor, after: Cursor) -> Cursor:
        self.store.move(session.id, cursor.version, after)
        self._cursors.put(session.id, after)
        self.tell(study, session, after)
        return after

    def tell(self, study: Study, session: Session, after: Cursor) -> None:
        """Have the panel hear of a session that is closed now."""
        if self.watch and _is_of_panel(session) and after.state in sessions.CLOSED:
            self.watch.closed(study, session)

    def state(self, study: Study, session: Session, cursor: Cursor) -> State:
        """Return what the page is told of where a session stands."""
        link = f"/w/{session.id}#{withdrawal.secret_of(self.hash_key, session.id)}"
        return replies.state(study, session, cursor, link, self.told(study, session, cursor))

    def told(self, study: Study, session: Session, cursor: Cursor) -> Told:
        """Return what the panel was told, where the session's end has use for it."""
        is_panels = cursor.state != "active" and _is_of_panel(session)
        return told(self.store, study) if is_panels else NOTHING_TOLD

    def now(self) -> str:
        return stamp(self.clock())


def settings_of(session: Session) -> str:
    """Return a name for the settings under which a session was opened."""
    return f"{session.study} {session.settings_id}"


def _is_of_panel(session: Session) -> bool:
    """Return whether the panel hears of a session: of a simulated one if a test participant rehearses."""
    return not session.is_simulated or bool(session.panel)


def hash_of(secret: str) -> str:
    """Return what is stored of a session's secret: SHA-256 in hex."""
    return hashlib.sha256(secret.encode()).hexdigest()
