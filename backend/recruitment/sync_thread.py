"""A background thread that synchronizes sessions and places at the panel while the server runs.

It reads all places periodically, and sooner after an event from the panel, a session that closed, or a
newcomer to a study that seems full. Only one call to the panel is made at a time.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta

from backend.experiment.records import Session, Study
from backend.foundation.errors import NotAllowed, OpenhypeError
from backend.foundation.timestamps import stamp, utc_now
from backend.panels.api import Panel, TokenRefused
from backend.panels.prolific_events import HeaderFields, read_event
from backend.payment import screened_out
from backend.recruitment import panel_health, sync
from backend.recruitment.recruit import at_odds, book
from backend.stores.store import Stale, Store

_PATIENCE_S = 15
"""How long a newcomer waits for places to be read, before the study counts as full."""
_EVENTS_KEPT = timedelta(days=1)
"""For how long an event is known to have come: longer than one is accepted (`prolific_events`)."""
log = logging.getLogger("openhype")


class Watch:
    """Synchronizes places in the background, from `start` to `stop`. Safe to use from many threads."""

    def __init__(
        self,
        store: Store,
        panel: Panel,
        secret: str = "",
        every_s: float = 60,
        clock: Callable[[], datetime] = utc_now,
        has_thread: bool = True,
    ):
        """
        Args:
            secret: with which the panel signs its events; '' where none are expected.
            every_s: time between readings of all places.
            has_thread: whether `start` will be called; without a thread, as in a function that runs only
                during a request, everything is done within the calls, and `reconcile_all` is called from
                outside.
        """
        self.panel = panel
        self._store, self._secret = store, secret
        self._every_s, self._clock, self._has_thread = every_s, clock, has_thread
        # Newcomers who wait for a reading use that one, and do not read again.
        self._asking = threading.Lock()
        self._read_at: dict[str, float] = {}
        self._pending: set[str] = set()
        """Submissions queued for reading, each once however many events named it."""
        self._odds: dict[str, str] = {}
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="openhype-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._jobs.put(None)
        if self._thread.is_alive():  # not if Ctrl-C came before it was started
            self._thread.join()

    def closed(self, study: Study, session: Session) -> None:
        """Note that a session was closed here; the panel is notified soon."""
        if session.panel.get(study.protocol.admission.panel.submission) and self._is_recruited(study):
            self._add(lambda: self._reconcile_session(study, session))

    def heard(self, headers: HeaderFields, body: bytes) -> None:
        """Process an event of the panel; duplicates are dropped.

        Raises:
            NotAllowed: no events are expected, or this one is not the panel's.
        """
        if not self._secret:
            raise NotAllowed("no events are expected here; see docs/prolific.md", code="no_webhooks")
        names, submission = read_event(self._secret, headers, body, self._clock())
        try:
            for name in reversed(names):
                self._store.write_entry(f"events {self.panel.name}", name, 0, {"at": self._now()})
        except Stale:
            return
        if submission is not None and submission not in self._pending:
            self._pending.add(submission)
            self._add(lambda: self._reconcile_submission(submission))

    def screened_out(self, study: Study, submission: str) -> None:
        """Note that a person was screened out whom the panel pays for that; it is notified soon."""
        self._add(lambda: self._report_screened_out(study, submission))

    def read_places(self, study: Study) -> bool:
        """Read the places of a study that seems full; return whether another try is worthwhile.

        The panel offers a place that was given back at once, and its next owner may arrive here before
        we know of that.
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
            panel_health.failed(self._store, study.name, error, self._now())
            return False
        finally:
            self._asking.release()
        return True

    def _add(self, job: Callable[[], None]) -> None:
        if self._has_thread:
            self._jobs.put(job)
        else:
            self._do(job)

    def _run(self) -> None:
        due = time.monotonic()
        while True:
            try:
                job = self._jobs.get(timeout=max(due - time.monotonic(), 0))
            except queue.Empty:
                job, due = self.reconcile_all, time.monotonic() + self._every_s
            if job is None:
                return
            self._do(job)

    def _do(self, job: Callable[[], None]) -> None:
        try:
            job()
        except TokenRefused as error:  # logged once per study, when all places are read
            log.debug("the panel was not brought up to date: %s", error)
        except OpenhypeError as error:  # the next reading of all places makes up for it
            log.warning("the panel was not brought up to date: %s", error)
        except Exception:  # the thread must survive
            log.exception("fault while the panel was brought up to date")

    def _forget_events(self) -> None:
        """Erase the names of events that are too old to be accepted again."""
        oldest = stamp(self._clock() - _EVENTS_KEPT)
        for entry in list(self._store.entries(f"events {self.panel.name}")):
            if entry.data["at"] < oldest:
                self._store.erase_entry(f"events {self.panel.name}", entry.key)

    def reconcile_all(self) -> None:
        """Synchronize all studies that are recruited at the panel; errors are recorded by study."""
        if self._secret:
            self._forget_events()
        for study in sync.recruited(self._store, self.panel.name):
            try:
                with self._asking:
                    reports = self._read(study)
                for each in reports:
                    with self._asking:  # one at a time: newcomers may be waiting for the lock
                        sync.report(self.panel, study, each)
            except OpenhypeError as error:  # an error in one study must not hold up the others
                panel_health.failed(self._store, study.name, error, self._now())
            except Exception:  # nor a bug of ours
                log.exception("fault while the submissions of %s were read", study.name)

    def _read(self, study: Study) -> list[sync.Report]:
        began = time.monotonic()
        _, reports = sync.read(self._store, self.panel, study, self._now())
        self._read_at[study.name] = began
        panel_health.succeeded(self._store, study.name, self._now())
        odds = at_odds(self._store, study)
        if odds and self._odds.get(study.name) != odds:
            log.warning("%s", odds)
        self._odds[study.name] = odds
        return reports

    def _reconcile_session(self, study: Study, session: Session) -> None:
        with self._asking:
            sync.reconcile_one(self._store, self.panel, study, session, self._now())

    def _reconcile_submission(self, submission: str) -> None:
        self._pending.discard(submission)
        for study in sync.recruited(self._store, self.panel.name):
            name = study.protocol.admission.panel.submission
            for session, _ in sync.of_panel(self._store, study):
                if session.panel[name] == submission:
                    self._reconcile_session(study, session)

    def _report_screened_out(self, study: Study, submission: str) -> None:
        with self._asking:
            place = self.panel.submission(submission)
            for each in screened_out.to_report(self._store, study, {place.id: place}):
                sync.report(self.panel, study, each)

    def _is_recruited(self, study: Study) -> bool:
        return self._store.entry(book(study.name), self.panel.name) is not None

    def _now(self) -> str:
        return stamp(self._clock())
