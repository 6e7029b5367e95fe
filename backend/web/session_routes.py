"""Routes of a study's sessions: their list, and the withdrawal of one for its evaluator."""

import threading
import time
from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput, NotFound
from backend.foundation.timestamps import stamp
from backend.members.roles import RESEARCHER
from backend.studies.withdrawals import BOOK
from backend.task.withdrawal import withdraw
from backend.web.context import Context
from backend.web.monitor import RateLimited
from backend.web.results_cache import results_cache
from backend.web.routing import Routes
from backend.web.session_lines import page_of, session_lines
from backend.web.study_types import SessionLine, Sessions, WithdrawnSession

_MOST_STUDIES = 16
_FEW = 500
"""Sessions of a study up to which the list is read anew for each request."""
route = Routes(RESEARCHER)


class SessionsQuery(Struct, frozen=True):
    """Which sessions are asked for."""

    find: Annotated[str, Meta(max_length=200)] = ""
    """A part of the session's id, or of the evaluator's pseudonym."""
    before: Annotated[str, Meta(max_length=300)] | None = None
    """`next` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=500)] = 100
    """Sessions, at most."""


class Lists:
    """The lists of sessions of a server's studies, which take a small share of its time."""

    def __init__(self, make: Callable[[Study], list[SessionLine]], timer: Callable[[], float]):
        self._make, self._timer = make, timer
        self._lists = results_cache(_MOST_STUDIES)

    def get(self, study: Study) -> list[SessionLine]:
        """Return the list of a study, read anew if it is short or the last time is some seconds ago."""
        key = study.name, study.created_at, study.version
        limits, lock = self._lists(key, lambda: (RateLimited(self._timer), threading.Lock()))
        with lock:  # who asks while the list is read waits for it, and does not read it too
            if limits.value is not None and len(limits.value) > _FEW:
                return limits.get(None, lambda: self._make(study))
            limits.value = self._make(study)
            return limits.value

    def forget(self) -> None:
        """Have the next list read anew."""
        self._lists.cache_clear()


@route("GET /api/studies/{study}/sessions", is_polled=True)
def list_sessions(context: Context, study: Study, query: SessionsQuery) -> Sessions:
    """The sessions of a study in pages, without answers; of many, some seconds old at most.

    Returns:
        The latest first; withdrawn ones at the end.
    """
    return page_of(context.shared(_lists).get(study), query.find, query.before, query.limit)


@route("POST /api/studies/{study}/sessions/{session}/withdraw", "409 503")
def withdraw_session(context: Context, study: Study, session: str) -> WithdrawnSession:
    """Withdraw a session for its evaluator: its answers are deleted for good, what is owed stays.

    Returns:
        It is withdrawn, now or before.
    """
    _check_real(context, study, session)
    entry = withdraw(context.store, study, session, stamp(context.clock()))
    context.downloads.remove(study.name)
    context.shared(_lists).forget()
    owed = entry.data["base_usd_cents"] + entry.data["bonus_usd_cents"]
    return {"session": session, "state": "withdrawn", "owed_usd_cents": owed}


def _lists(context: Context) -> Lists:
    return Lists(lambda study: session_lines(context.store, study, context.clock()), time.monotonic)


def _check_real(context: Context, study: Study, session: str) -> None:
    """Raise NotFound unless a real session of a study is, or was, called `session`.

    Another study's session does not exist here.
    """
    entry = context.store.entry(BOOK, session)
    if entry is not None:
        owner, simulated = entry.data["study"], False
    else:
        record = context.store.session(session)
        owner, simulated = record.study, record.is_simulated
    if owner != study.name:
        raise NotFound(f"study {study.name} has no session {session!r}", code="unknown_session")
    if simulated:
        raise InvalidInput(
            f"session {session} is simulated: nobody can withdraw it; simulated sessions are cleared together"
        )
