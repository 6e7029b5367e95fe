"""A thread that keeps sessions and places at the panel in agreement while the server runs.

It reads all places from time to time, and sooner where something happened: an event from the panel, a
session that closed, a newcomer to a study that seems full. One call to the panel is under way at a time.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from backend import places
from backend.errors import NotAllowed, OpenhypeError
from backend.panels import Panel
from backend.panels.events import read_event
from backend.records import Session, Study
from backend.stamps import stamp, utc_now
from backend.stores import Stale, Store

_PATIENCE_S = 15
"""How long a newcomer waits for places to be read, before the study is called full."""
log = logging.getLogger("openhype")


class Watch:
    """Settles places in the background, from `start` to `stop`. Safe to use from many threads."""

    def __init__(
        self,
        store: Store,
        panel: Panel,
        secret: str = "",
        every_s: float = 60,
        clock: Callable[[], datetime] = utc_now,
    ):
        """
        Args:
            secret: with which the panel signs its events; '' where none are expected.
            every_s: time between readings of all places.
        """
        self._store, self._panel, self._secret = store, panel, secret
        self._every_s, self._clock = every_s, clock
        self._asking = threading.Lock()
        self._read_at: dict[str, float] = {}
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="openhype-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def closed(self, study: Study, session: Session) -> None:
        """Hear that a session was closed here; the panel is told soon."""
        if session.panel.get(study.protocol.panel.submission) and self._is_recruited(study):
            self._jobs.put(lambda: self._settle_session(study, session))

    def heard(self, headers: Mapping[str, str], body: bytes) -> None:
        """Take an event of the panel; one that was taken before is dropped.

        Raises:
            NotAllowed: no events are expected, or this one is not the panel's.
        """
        if not self._secret:
            raise NotAllowed("no events are expected here; see docs/prolific.md", code="no_webhooks")
        event, submission = read_event(self._secret, headers, body, self._clock())
        try:
            self._store.write_entry(f"events {self._panel.name}", event, 0, {"at": self._now()})
        except Stale:
            return
        if submission is not None:
            self._jobs.put(lambda: self._settle_submission(submission))

    def make_room(self, study: Study) -> bool:
        """Read the places of a study that seems full; return whether it is worth another try.

        A place that was given back is offered by the panel at once, and its next owner may be here
        before we have heard of it.
        """
        if not self._is_recruited(study):
            return False
        asked = time.monotonic()
        if not self._asking.acquire(timeout=_PATIENCE_S):
            return False
        try:
            if self._read_at.get(study.name, -1.0) < asked:
                self._read(study)
        except OpenhypeError as error:
            log.warning("places of %s could not be read: %s", study.name, error)
            return False
        finally:
            self._asking.release()
        return True

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            try:
                job = self._jobs.get(timeout=max(due - time.monotonic(), 0))
            except queue.Empty:
                job, due = self._settle_all, time.monotonic() + self._every_s
            if job is None:
                return
            try:
                job()
            except OpenhypeError as error:  # the next reading of all places makes it good
                log.warning("the panel was not brought up to date: %s", error)
            except Exception:  # the thread must live on
                log.exception("fault while the panel was brought up to date")

    def _settle_all(self) -> None:
        for study in places.recruited(self._store, self._panel.name):
            with self._asking:
                waiting = self._read(study)
            for submission in waiting:
                with self._asking:  # one at a time: newcomers may be waiting for it
                    places.report(self._store, self._panel, study, submission)

    def _read(self, study: Study) -> list[str]:
        began = time.monotonic()
        _, waiting = places.read(self._store, self._panel, study, self._now())
        self._read_at[study.name] = began
        return waiting

    def _settle_session(self, study: Study, session: Session) -> None:
        with self._asking:
            places.settle_one(self._store, self._panel, study, session, self._now())

    def _settle_submission(self, submission: str) -> None:
        for study in places.recruited(self._store, self._panel.name):
            name = study.protocol.panel.submission
            for session, _ in places.of_panel(self._store, study):
                if session.panel[name] == submission:
                    self._settle_session(study, session)

    def _is_recruited(self, study: Study) -> bool:
        from backend.recruiting import book

        return self._store.entry(book(study.name), self._panel.name) is not None

    def _now(self) -> str:
        return stamp(self._clock())
