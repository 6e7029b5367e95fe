"""Live view of a study for polling clients: progress, and the score as it narrows.

Polling must not slow down evaluators, who share the interpreter. So cursors are read without session
plans, scores are recomputed only if other sessions are finished than before, and neither takes more than
a twentieth of the server's time.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from backend.experiment.browsers import engine_of
from backend.experiment.records import Session, Study
from backend.experiment.session import Cursor, total_trials
from backend.foundation.errors import NotFound
from backend.stores.store import Store
from backend.studies.pausing import is_paused
from backend.studies.withdrawals import withdrawn
from backend.web import look_course
from backend.web.progress import SessionStatus, panel_warnings, retained, simulated, summary
from backend.web.progress_types import LiveScores, StudyLine, StudyProgress, WatchedStudy

log = logging.getLogger("openhype")
_SHARE = 0.05
_LEAST_SECONDS = 1.0
_SCORES_S = 2.0
"""Time for which a request waits for scores."""


@dataclass(frozen=True)
class _Known:
    """The immutable facts of a session, which are read once."""

    models: tuple[str, ...]
    opened_at: str
    browser: str
    evaluator: str
    trials: int


class Watch:
    """The live view of one study. Safe to use from many threads, which share what is computed."""

    def __init__(self, store: Store, study: Study, timer: Callable[[], float] = time.monotonic):
        self._store, self._study = store, study
        self._known: dict[str, _Known] = {}
        self._finished: dict[str, str] = {}
        self._lock = threading.Lock()
        self._progress = RateLimited(timer)
        self._scores = RateLimited(timer)
        self._latest, self._rescoring = RateLimited(timer), threading.Thread()

    def progress(self, now: datetime) -> StudyProgress:
        """Return the study's progress, possibly some seconds old; `paused` is always current."""
        with self._lock:
            progress: StudyProgress = self._progress.get(None, lambda: self._compute_progress(now))
        return {**progress, "paused": is_paused(self._store, self._study.name)}

    def with_scores(self, now: datetime) -> WatchedStudy:
        """Return `progress` with `scores` added, which are None before the first session is finished."""
        progress = self.progress(now)
        with self._lock:
            scores = None
            if self._study.kind == "study" and self._finished and not self._study.hides_scores:
                scores = self._scores.get(frozenset(self._finished), self._score)
        return {**progress, "scores": scores}

    def with_latest_scores(self, now: datetime, wait_s: float = _SCORES_S) -> WatchedStudy:
        """Return `with_scores`, with earlier scores, or None, if computing them takes longer than `wait_s`.

        They are then computed meanwhile; a later call returns them.
        """
        progress = self.progress(now)
        with self._lock:
            finished = frozenset(self._finished)
            if self._study.kind != "study" or not finished or self._study.hides_scores:
                return {**progress, "scores": None}
            if not self._rescoring.is_alive():
                self._rescoring = threading.Thread(
                    target=self._rescore, args=(finished,), name="openhype-scores", daemon=True
                )
                self._rescoring.start()
            rescoring = self._rescoring
        rescoring.join(wait_s)
        return {**progress, "scores": self._latest.value}

    def _rescore(self, finished: frozenset[str]) -> None:
        try:
            self._latest.get(finished, self._score)
        except Exception as error:  # noqa: BLE001 - the outermost level of a thread
            log.warning("the scores of %s could not be computed: %s", self._study.name, error)

    def _compute_progress(self, now: datetime) -> StudyProgress:
        withdrawn_entries = list(withdrawn(self._store, self._study.name))
        ids = {entry.key for entry in withdrawn_entries}
        cursors = {
            session: cursor
            for session, cursor in self._cursors()
            if session not in ids and self._is_known(session)
        }
        self._known = {session: self._known[session] for session in cursors}
        self._finished = {s: cursor.last_at for s, cursor in cursors.items() if cursor.state == "finished"}
        statuses = [self._status(session, cursor) for session, cursor in cursors.items()]
        totals = summary(self._study, statuses, withdrawn_entries, now)
        progress = {
            **totals,
            "looks": look_course.looks(self._store, self._study),
            "warnings": [*panel_warnings(self._store, self._study), *totals["warnings"]],
            "simulated": simulated(self._store, self._study),
            "retainer": retained(self._store, self._study, now),
        }
        return cast(StudyProgress, progress)

    def _cursors(self) -> Iterator[tuple[str, Cursor]]:
        """Yield all cursors, at the first look with the facts of their sessions: not one read for each."""
        if self._known:
            yield from self._store.cursors(self._study.name)
            return
        for session, cursor in self._store.sessions(self._study.name):
            self._know(session)
            yield session.id, cursor

    def _is_known(self, session_id: str) -> bool:
        """Return whether a session exists, after reading its facts if it is new."""
        if session_id not in self._known:
            try:
                self._know(self._store.session(session_id))
            except NotFound:  # withdrawn in the meantime
                return False
        return True

    def _know(self, session: Session) -> None:
        self._known[session.id] = _Known(
            session.models,
            session.opened_at,
            engine_of(session.device),
            session.evaluator,
            total_trials(session),
        )

    def _status(self, session_id: str, cursor: Cursor) -> SessionStatus:
        known = self._known[session_id]
        return SessionStatus(known.models, known.opened_at, known.browser, cursor, known.trials)

    def _score(self) -> LiveScores | None:
        from backend.responses.live_scores import live_scores

        ended = {self._known[session].evaluator: at for session, at in self._finished.items()}
        return cast(LiveScores | None, live_scores(self._store, self._study, ended))


class RateLimited:
    """A value that is recomputed when its version changes, but takes at most a fixed share of the time.

    `value` is the latest one; None before the first.
    """

    def __init__(self, timer: Callable[[], float]):
        self._timer = timer
        self._version: Any = None
        self.value: Any = None
        self._not_before = float("-inf")

    def get(self, version: Any, make: Callable[[], Any]) -> Any:
        """Return the value, recomputed if outdated and allowed now; a version of None is always outdated."""
        began = self._timer()
        is_new = version is None or version != self._version
        if is_new and began >= self._not_before:
            self.value, self._version = make(), version
            ended = self._timer()
            self._not_before = ended + max(_LEAST_SECONDS, (ended - began) / _SHARE)
        return self.value


def line_of(progress: StudyProgress) -> StudyLine:
    """Return the part of a study's progress that a list of studies shows."""
    return cast(
        StudyLine, {name: value for name, value in progress.items() if name in StudyLine.__annotations__}
    )
