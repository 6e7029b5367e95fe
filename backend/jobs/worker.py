"""The worker: takes jobs from the queue and does them, one at a time.

A thread of its own renews the lease and stores progress, once a second at most: nothing else of a job writes
to the store, on which evaluators' answers depend.
"""

import logging
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.foundation.errors import NotFound, OpenhypeError, StoreFailed, Unavailable, reason
from backend.foundation.file_permissions import make_folder
from backend.foundation.timestamps import utc_now
from backend.jobs import job_turns, queue
from backend.jobs.locks import lock_of, place_of
from backend.jobs.queue import Job, Lease
from backend.jobs.work import Failed, Work, runner
from backend.stores.datadir import DataDir
from backend.stores.store import Store
from backend.uploads.uploads import UNKNOWN_UPLOAD

if TYPE_CHECKING:
    from backend.uploads.uploads import Uploads

log = logging.getLogger("openhype.jobs")
_TICK_S = 1.0
_RENEWED_S = queue.LEASE_S / 3
_WAIT_S = 1.0
_PASS_S = 1.0
"""Shortest time for which a submission is checked between other jobs."""
_TIDIED_S = 3600.0
Runner = Callable[[Work, Job], Mapping[str, Any]]


class Stopped(Exception):
    """A job is to stop: it was cancelled, or is no longer this worker's."""


@dataclass
class Worker:
    """Does the jobs of a store, one at a time; members take turns.

    Any number of workers may run on one store. Two on one data directory know of each other's end at once,
    by locks. On different machines, a lease has expired that another worker did not see renewed for its time:
    it compares no clocks, which may differ or be set.
    """

    store: Store
    data: DataDir
    uploads: "Uploads | None" = None
    url: str | None = None
    publish: Callable[[str, Path], Any] | None = None
    say: Callable[[str], Any] = log.info
    clock: Callable[[], datetime] = utc_now
    elapsed_s: Callable[[], float] = time.monotonic
    find: Callable[[str], Runner] = runner
    leaves: frozenset[str] = frozenset()
    """Kinds of jobs that it leaves to other workers, since it lacks what they need."""
    leaves_files_at: str = ""
    """The place of jobs that it does besides those of its data directory, such as a folder of a bucket."""
    may_begin: Callable[[Job], bool] = lambda job: True
    """Whether a job may be begun now; another one may have its study."""
    before_job: Callable[[], Any] = lambda: None
    lets_pass: bool = False
    """Whether other jobs are done in the midst of a submission, rather than after it."""
    tick_s: float = _TICK_S
    """Seconds between looks at whether the job is to stop, and notes of its progress."""

    def __post_init__(self) -> None:
        self.id = secrets.token_hex(8)
        self._folder = self.data.root / "jobs"
        self._seen: dict[str, tuple[Lease, float]] = {}
        """Leases of other workers, and when each was first seen as it is."""
        self._pass_at = 0.0
        """When other jobs may next pass the submission that is checked, by `elapsed_s`."""

    def run(self, until: threading.Event, wait_s: float = _WAIT_S) -> None:
        """Do jobs as they come until the event is set; a job that is begun is ended before."""
        self.clear_up()
        idle_s = _TIDIED_S
        while not until.is_set():
            with self._failures_logged():
                if self.run_once():
                    continue
                if idle_s >= _TIDIED_S:
                    self._tidy()
                    idle_s = 0
            until.wait(wait_s)
            idle_s += wait_s

    @contextmanager
    def _failures_logged(self) -> Iterator[None]:
        try:
            yield
        except (StoreFailed, Unavailable) as error:
            log.warning("no job could be taken: %s", error)
        except OSError as error:  # a full disk, for instance, on which no lock can be made
            log.warning("no job could be taken: %s", reason(error))

    def run_until_idle(self, may_go_on: Callable[[], bool] = lambda: True) -> Iterator[Job]:
        """Do jobs until none waits, and yield each as it is afterwards.

        If other machines do jobs at this moment, it watches whether their leases are renewed before it ends.
        """
        self.clear_up()
        idle_since: float | None = None
        while may_go_on():
            if done := self.run_once():
                idle_since = None
                yield done
                continue
            now = self.elapsed_s()
            idle_since = now if idle_since is None else idle_since
            is_elsewhere = any(lease.place != self._place for lease, _ in self._seen.values())
            if not is_elsewhere or now - idle_since > queue.LEASE_S + 2 * self.tick_s:
                return
            threading.Event().wait(self.tick_s)

    def run_once(self) -> Job | None:
        """Do one job, if there is one, and return it as it is afterwards."""
        return self._first_done(self._waiting())

    def let_pass(self, checked: Job) -> None:
        """Do a job that waits while a submission is checked, if it is time for that."""
        if not self.lets_pass or checked.kind != job_turns.SUBMISSION or self.elapsed_s() < self._pass_at:
            return
        begun = self.elapsed_s()
        with self._failures_logged():
            self._first_done(job_turns.passing(checked, self._waiting()))
        ended = self.elapsed_s()
        self._pass_at = ended + max(_PASS_S, ended - begun)

    def _waiting(self) -> list[Job]:
        waiting = [each for each in queue.open_jobs(self.store) if self._is_for_us(each)]
        self._seen = {each.id: self._first_seen(each, each.lease) for each in waiting if each.lease}
        return waiting

    def _first_done(self, waiting: Sequence[Job]) -> Job | None:
        """Do the first job, by turns, that can be had, and return it as it is afterwards."""
        for candidate in job_turns.in_turn(self.store, waiting):
            with lock_of(self._folder, candidate.id) as is_ours:
                if not is_ours:
                    continue
                shutil.rmtree(self._folder / candidate.id, ignore_errors=True)  # left by a killed worker
                if self.may_begin(candidate) and (claimed := self._claim(candidate)):
                    self._note_turn(claimed, waiting)
                    return self._done(claimed)
        return None

    def _is_for_us(self, candidate: Job) -> bool:
        place = candidate.args.get("place", self._place)
        return candidate.kind not in self.leaves and place in (self._place, self.leaves_files_at)

    def _note_turn(self, claimed: Job, waiting: Sequence[Job]) -> None:
        """Note whose turn it was; without that, a claimed job is done all the same."""
        try:
            job_turns.note(self.store, claimed, waiting)
        except (StoreFailed, Unavailable) as error:
            log.warning("job %s: whose turn it was could not be stored: %s", claimed.id, error)

    def clear_up(self) -> None:
        """Remove what jobs left whose worker was killed; one that is done again makes its own."""
        from backend.administration.join import clear_joining
        from backend.administration.killed_simulations import clear_killed

        self.data.clear_making()
        clear_joining(self.store, self.data)
        clear_killed(self.store, self.data)
        for folder in self._folder.glob("[!.]*"):
            with lock_of(self._folder, folder.name) as is_ours:
                if is_ours:
                    shutil.rmtree(folder, ignore_errors=True)

    def enqueue_due(self) -> None:
        """Enqueue the jobs that are due: reruns on a schedule, and looks that no request asked for."""
        from backend.jobs import look, rerun_schedule

        rerun_schedule.enqueue_due(self.store, self.clock())
        for study in self.store.studies():
            look.have_decided(self.store, study, self.clock())

    def _tidy(self) -> None:
        """Enqueue what is due; forget old jobs and files, and uploads that nobody used."""
        from backend.jobs import intake_audit

        self.enqueue_due()
        queue.forget(self.store, self.clock())
        intake_audit.forget(self.store)
        self.data.expire_downloads()
        if self.uploads is not None:
            self.uploads.expire(self.clock())

    def _claim(self, candidate: Job) -> Job | None:
        expired = candidate.lease if self._has_expired(candidate.id) else None
        return queue.claim(self.store, candidate.id, self.id, self._place, self.clock(), expired)

    def _first_seen(self, running: Job, lease: Lease) -> tuple[Lease, float]:
        """Return a job's lease, and when it was first seen as it is now."""
        before = self._seen.get(running.id)
        return before if before and before[0] == lease else (lease, self.elapsed_s())

    def _has_expired(self, job_id: str) -> bool:
        return job_id in self._seen and self.elapsed_s() - self._seen[job_id][1] > queue.LEASE_S

    @cached_property
    def _place(self) -> str:
        return place_of(self.data)

    def _done(self, job: Job) -> Job:
        """Do a claimed job and return it as it is afterwards."""
        self.before_job()
        folder = self._folder / job.id
        with _Beat(self, job) as beat:
            try:
                write, *facts = self._tried(job, beat, folder)
                shutil.rmtree(folder, ignore_errors=True)  # whoever reads that a job has ended finds no file
                try:
                    return self._stored(write, job, *facts)
                except Exception as error:  # noqa: BLE001 - a result that cannot be stored, such as not-a-number
                    return self._stored(queue.fail, job, self._why(job, error), None, False)
            except (KeyboardInterrupt, SystemExit):
                shutil.rmtree(folder, ignore_errors=True)
                self._stored(queue.give_back, job)
                raise

    def _tried(self, job: Job, beat: "_Beat", folder: Path) -> tuple[Any, ...]:
        """Return how a job ends: what stores it, and with which facts."""
        try:
            make_folder(folder)
            return queue.finish, self.find(job.kind)(self._work(beat, folder), job)
        except Stopped:
            return (queue.stop,)
        except Exception as error:  # noqa: BLE001 - the outermost level: whatever it is, the job failed
            details = error.details if isinstance(error, Failed) else None
            return queue.fail, self._why(job, error), details, _is_public(error)

    def _why(self, job: Job, error: Exception) -> str:
        return self.data.named_within(_why(job, error))

    def _work(self, beat: "_Beat", folder: Path) -> Work:
        return Work(
            self.store, self.data, self.uploads, self.url, self.publish, self.say, beat.progress, folder
        )

    def _stored(self, write: Callable[..., Job], job: Job, *facts: Any) -> Job:
        """Store how a job ended; if the store fails for long, the job is done again after its lease."""
        for _ in range(10):
            try:
                return write(self.store, job.id, self.id, *facts, self.clock())
            except (StoreFailed, Unavailable) as error:
                log.warning("job %s: what became of it could not be stored: %s", job.id, error)
                threading.Event().wait(self.tick_s)
        return job


class _Beat:
    """Renews the lease of a job while it runs, and stores its progress."""

    def __init__(self, worker: Worker, job: Job):
        self._worker, self._job = worker, job
        self._ended = threading.Event()
        self._is_to_stop = False
        self._progress: dict[str, Any] | None = None
        self._thread = threading.Thread(target=self._beat, name="openhype-heartbeat", daemon=True)

    def __enter__(self) -> "_Beat":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def progress(self, items: Iterable, total: int | None = None, label: str = "") -> Iterator:
        """Yield items, note how many are done, and raise Stopped where the job is to stop."""
        total = len(items) if total is None and isinstance(items, Sized) else total
        done = 0
        for done, item in enumerate(items):
            self._tell(label, done, total)
            yield item
        self._tell(label, total or done, total)

    def _tell(self, what: str, done: int, total: int | None) -> None:
        if self._is_to_stop:
            raise Stopped
        self._worker.let_pass(self._job)
        self._progress = {"what": what, "done": done, "total": total}

    def _beat(self) -> None:
        stored, quiet_s = None, 0.0
        while not self._ended.wait(self._worker.tick_s):
            quiet_s += self._worker.tick_s
            now = self._progress
            try:
                if now == stored and quiet_s < _RENEWED_S:
                    self._look()
                    continue
                self._renew(now)
                stored, quiet_s = now, 0.0
            except Exception as error:  # noqa: BLE001 - the outermost level; tried again at the next beat
                log.warning("job %s: its progress could not be stored: %s", self._job.id, error)

    def _look(self) -> None:
        worker = self._worker
        self._is_to_stop |= queue.has_to_stop(worker.store, self._job.id, worker.id)

    def _renew(self, now: dict[str, Any] | None) -> None:
        worker = self._worker
        mine = queue.renew(worker.store, self._job.id, worker.id, now, worker.clock())
        self._is_to_stop |= mine is None or mine.is_to_stop


def _is_public(error: Exception) -> bool:
    """Return whether submitters may read what an error says: their pictures have to be sent again."""
    return isinstance(error, NotFound) and error.code == UNKNOWN_UPLOAD


def _why(job: Job, error: Exception) -> str:
    """Return the reason for a failure as its researcher reads it; a fault is logged with an id."""
    if isinstance(error, OpenhypeError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; try it with fewer or smaller files"
    if isinstance(error, OSError):
        log.error("job %s failed", job.id, exc_info=error)
        return f"a file could not be read or written on the server: {reason(error)}"
    fault = secrets.token_hex(4)
    log.error("fault %s in job %s (%s)", fault, job.id, job.kind, exc_info=error)
    return f"something went wrong here (fault {fault}, which the server's log describes)"
