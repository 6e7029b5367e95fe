"""The queue of jobs: one entry of the book `jobs` for each, changed by conditional writes only.

A worker claims a job by a lease that it renews while it works. A job whose worker was killed is claimed
again, so that every kind of job must be safe to run again.

Workers look for work each second, and jobs are kept for a month: the book `open_jobs` lists the ids of those
that wait or run. A job is listed before it is stored and removed after it has ended, so that a process that
is killed in between leaves an id too many, never one too few. Results can be large, and have a book too.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from backend.foundation.errors import Conflict, NotFound, TooMany
from backend.foundation.timestamps import stamp
from backend.stores.store import Store
from backend.stores.updates import update

JOBS, OPEN_JOBS, RESULTS = "jobs", "open_jobs", "job_results"
"""Books of jobs, of those that may be open, and of results, by the ids of jobs."""
MAKING = "making"
"""The book of the latest order of a study by each name, with which its job is enqueued (`create_study`)."""
TIDIED = "jobs_tidied"
"""The book whose one entry, `at`, has the time at which all jobs were last looked at by `forget`."""
LEASE_S = 30
"""Seconds for which a claim holds unless it is renewed."""
MAX_TRIES = 3
"""How often a job is begun whose worker is killed each time, for instance because memory runs out."""
MOST_OPEN = 20
"""Most open jobs of one submitter."""
KEPT_DAYS = 30
"""Days after which a job that has ended is forgotten."""
_TIDIED = timedelta(hours=1)
"""Time between looks at all jobs for what is to be forgotten, and of rest after which a job that only one
place can do is cancelled, since the server there has ended, or forgotten, since its files are gone."""
State = Literal["queued", "running", "done", "failed", "cancelled"]
OPEN = frozenset({"queued", "running"})
_OF_THE_SERVER = "a fault of the server, of which its operator can read more"
Change = Callable[["Job"], "Job | None"]
_wake: ContextVar[Callable[[str], Any]] = ContextVar("wake", default=lambda job_id: None)


@dataclass(frozen=True)
class Lease:
    """A worker's claim."""

    worker: str
    place: str
    """The data directory whose locks the worker holds; within one, a lock tells at once who is alive."""
    renewals: int = 0


@dataclass(frozen=True)
class Job:
    """A job as it is stored; `result` is read by `job` only."""

    id: str
    kind: str
    study: str | None
    member: str
    args: Mapping[str, Any]
    state: State
    created_at: str
    updated_at: str
    progress: Mapping[str, Any] | None = None
    """`what` is done, how many of `total` are `done`; None before it is known."""
    reason: str | None = None
    """Why it failed."""
    is_reason_public: bool = False
    """Whether a submitter may read the reason: it names no file of the server, and nothing of others."""
    result: Mapping[str, Any] | None = None
    lease: Lease | None = None
    tries: int = 0
    """How often it was begun and neither ended nor given back."""
    is_to_stop: bool = False
    """Whether it was cancelled while it ran; its worker has yet to stop."""

    @property
    def is_open(self) -> bool:
        return self.state in OPEN


def enqueue(
    store: Store,
    kind: str,
    study: str | None,
    member: str,
    args: Mapping[str, Any],
    now: datetime,
    key: str | None = None,
    is_outdated: Callable[[Job], bool] = lambda before: False,
) -> Job:
    """Add a job, and return it.

    Args:
        study: the study that it is about, if any.
        member: who asked for it.
        args: JSON data for the kind's `run`; with `place`, only workers of this place do the job.
        key: names the work; the job that was enqueued by this kind and key before, whatever its state, is
            returned instead of a new one.
        is_outdated: whether the job before, which has ended, is enqueued anew.
    """
    at = stamp(now)
    name = secrets.token_hex(12) if key is None else _digest(kind, key)
    made = Job(name, kind, study, member, args, "queued", at, at)

    def rule(before: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        return _data(made) if before is None or is_outdated(_read(name, before)) else None

    known = store.entry(JOBS, name)
    if known is None or rule(known.data) is not None:
        update(store, OPEN_JOBS, name, lambda _: {"at": at})
        known = update(store, JOBS, name, rule)
    asked = _job(known)
    if asked.state == "queued":
        _wake.get()(asked.id)
    return asked


@contextmanager
def waking(wake: Callable[[str], Any]) -> Iterator[None]:
    """Have `wake` called with the id of each job that waits once it was asked for within the block.

    For workers that do not look for work by themselves each second.
    """
    token = _wake.set(wake)
    try:
        yield
    finally:
        _wake.reset(token)


def find(store: Store, kind: str, key: str) -> Job | None:
    """Return the job that was enqueued by this kind and key, without its result; None if there is none."""
    entry = store.entry(JOBS, _digest(kind, key))
    return _job(entry) if entry else None


def job(store: Store, job_id: str) -> Job:
    """Return a job with its result.

    Raises:
        NotFound: there is none.
    """
    entry = store.entry(JOBS, job_id)
    if entry is None:
        raise NotFound(f"there is no job {job_id!r}", code="unknown_job")
    job_record = _job(entry)
    result = store.entry(RESULTS, job_id) if job_record.state in ("done", "failed") else None
    return replace(job_record, result=result.data) if result else job_record


def jobs(store: Store, study: str | None = None) -> list[Job]:
    """Return all jobs, or those of a study, newest first and without their results."""
    all_jobs = [_job(entry) for entry in store.entries(JOBS)]
    mine = [each for each in all_jobs if study is None or each.study == study]
    return sorted(mine, key=_age, reverse=True)


def open_jobs(store: Store) -> list[Job]:
    """Return the jobs that wait or run, oldest first."""
    entries = (store.entry(JOBS, listed.key) for listed in store.entries(OPEN_JOBS))
    return sorted((each for each in map(_job, filter(None, entries)) if each.is_open), key=_age)


def check_room(store: Store, member: str) -> None:
    """Check that a submitter may have one more job.

    Raises:
        TooMany: it has `MOST_OPEN` that wait or run.
    """
    count = sum(each.member == member for each in open_jobs(store))
    if count >= MOST_OPEN:
        raise TooMany(
            f"{count} submissions of yours wait to be checked, the most there can be at a time; send these "
            "pictures when one of them has been checked",
            retry_after_s=LEASE_S,
        )


def reason_for(job: Job, is_researcher: bool) -> str | None:
    """Return why a job failed as a member may read it.

    A submitter reads no details that may name files of the server, or what others do meanwhile.
    """
    is_readable = is_researcher or job.is_reason_public or job.reason is None
    return job.reason if is_readable else _OF_THE_SERVER


def cancel(store: Store, job_id: str, now: datetime) -> Job:
    """Cancel a job and return it; one that runs is stopped by its worker within seconds.

    Raises:
        NotFound: there is none.
        Conflict: it has ended (`job_ended`); a cancelled one is returned as it is.
    """

    def rule(before: Job) -> Job | None:
        if before.state == "cancelled":
            return None
        if not before.is_open:
            how = "failed" if before.state == "failed" else "is done"
            raise Conflict(
                f"job {job_id} {how}, and can no longer be cancelled; nothing changed", code="job_ended"
            )
        if before.state == "queued":
            return _ended(before, "cancelled", now)
        return replace(before, is_to_stop=True, updated_at=stamp(now))

    return _changed(store, job_id, rule)


def claim(
    store: Store, job_id: str, worker: str, place: str, now: datetime, expired: Lease | None = None
) -> Job | None:
    """Claim a job for a worker that holds its lock in `place`; return None if it cannot be had.

    It can if it waits, if its lease has expired, or if the lease is of the same place, since the worker that
    had the lock there has ended. A job that was begun too often fails, and one that was to stop is cancelled.

    Args:
        expired: a lease that was not renewed for `LEASE_S` by the worker's own measure of time.
    """

    def rule(before: Job) -> Job | None:
        if not _is_free(before, place, expired):
            return None
        if before.is_to_stop:
            return _ended(before, "cancelled", now)
        if before.tries >= MAX_TRIES:
            reason = (
                f"the process that did it was ended from outside {before.tries} times, perhaps for lack of "
                "memory, or on AWS because it took longer than 15 minutes; try it with fewer or smaller "
                "files, or on a machine with more memory"
            )
            return replace(_ended(before, "failed", now), reason=reason, is_reason_public=True)
        lease = Lease(worker, place)
        return replace(
            before, state="running", lease=lease, tries=before.tries + 1, progress=None, updated_at=stamp(now)
        )

    after = _changed(store, job_id, rule)
    return after if _is_held(after, worker) else None


def void_open(store: Store, now: datetime) -> None:
    """Fail the jobs that are open in a store that is being restored from a backup.

    What they did, or others did since, is not known here: they might pay a second time.
    """
    reason = "the data were restored from a backup before it had ended; order it again if it is needed"

    def rule(before: Job) -> Job | None:
        if not before.is_open:
            return None
        return replace(_ended(before, "failed", now), reason=reason, is_reason_public=True)

    for each in jobs(store):
        if each.is_open:
            _changed(store, each.id, rule)


def renew(
    store: Store, job_id: str, worker: str, progress: Mapping[str, Any] | None, now: datetime
) -> Job | None:
    """Renew a worker's claim, store its progress and return the job; None if the job is no longer its own."""

    def rule(before: Job) -> Job | None:
        if not _is_held(before, worker) or before.lease is None:
            return None
        lease = replace(before.lease, renewals=before.lease.renewals + 1)
        return replace(before, lease=lease, progress=progress, updated_at=stamp(now))

    try:
        after = _changed(store, job_id, rule)
    except NotFound:
        return None
    return after if _is_held(after, worker) else None


def has_to_stop(store: Store, job_id: str, worker: str) -> bool:
    """Return whether a worker has to stop its job: it was cancelled, or another worker has it by now."""
    entry = store.entry(JOBS, job_id)
    return entry is None or (job := _job(entry)).is_to_stop or not _is_held(job, worker)


def finish(store: Store, job_id: str, worker: str, result: Mapping[str, Any], now: datetime) -> Job:
    """Store the result of a job that is done."""
    update(store, RESULTS, job_id, lambda _: dict(result))
    return _end(store, job_id, worker, "done", now)


def fail(
    store: Store,
    job_id: str,
    worker: str,
    reason: str,
    details: Mapping[str, Any] | None,
    is_public: bool,
    now: datetime,
) -> Job:
    """Store why a job failed, and as its result `details`, if there are any."""
    if details:
        update(store, RESULTS, job_id, lambda _: dict(details))
    return _end(store, job_id, worker, "failed", now, reason, is_public)


def stop(store: Store, job_id: str, worker: str, now: datetime) -> Job:
    """Store that a worker has stopped a job that was to be cancelled."""
    return _end(store, job_id, worker, "cancelled", now)


def give_back(store: Store, job_id: str, worker: str, now: datetime) -> Job:
    """Return a job that its worker began, and will not end because it is being stopped, to the queue."""

    def rule(before: Job) -> Job | None:
        if not _is_held(before, worker):
            return None
        if before.is_to_stop:
            return _ended(before, "cancelled", now)
        again = replace(before, state="queued", lease=None, progress=None, tries=before.tries - 1)
        return replace(again, updated_at=stamp(now))

    return _changed(store, job_id, rule)


def forget(store: Store, now: datetime, forgotten: Callable[[Job], Any] = lambda job: None) -> None:
    """Erase the jobs that ended more than `KEPT_DAYS` ago, their results, and the orders they were made by.

    Those that only one place can do are erased, or cancelled if they are open, after an hour.

    It also sets right what killed processes left in the list of open jobs. All jobs are read, once an hour,
    whichever worker calls it.

    Args:
        forgotten: is called with each job before it is erased, to remove what it made.
    """
    if not _is_time_to_tidy(store, now):
        return
    recently = stamp(now - _TIDIED)
    _cancel_left(store, recently, now)
    before, by_id = stamp(now - timedelta(days=KEPT_DAYS)), {each.id: each for each in jobs(store)}
    for each in by_id.values():
        if not each.is_open and each.updated_at < (recently if "place" in each.args else before):
            forgotten(each)
            store.erase_entry(RESULTS, each.id)
            store.erase_entry(JOBS, each.id)
    left = {each.study for each in by_id.values() if each.is_open or each.updated_at >= before}
    for entry in store.entries(MAKING):
        if entry.key not in left and entry.data["at"] < before:
            store.erase_entry(MAKING, entry.key)
    listed = {entry.key: entry.data["at"] for entry in store.entries(OPEN_JOBS)}
    for job_id, at in listed.items():
        is_left = not by_id[job_id].is_open if job_id in by_id else at < before
        if is_left:
            store.erase_entry(OPEN_JOBS, job_id)
    for each in by_id.values():
        if each.is_open and each.id not in listed:
            update(store, OPEN_JOBS, each.id, lambda _: {"at": stamp(now)})


def _cancel_left(store: Store, before: str, now: datetime) -> None:
    """Cancel jobs that only one place can do, and of which nothing was heard since the time `before`."""

    def rule(job: Job) -> Job | None:
        return _ended(job, "cancelled", now) if job.is_open and job.updated_at < before else None

    for each in open_jobs(store):
        if "place" in each.args and each.updated_at < before:
            _changed(store, each.id, rule)


def _is_time_to_tidy(store: Store, now: datetime) -> bool:
    last = store.entry(TIDIED, "at")
    if last and abs(now - datetime.fromisoformat(last.data["at"])) < _TIDIED:
        return False
    update(store, TIDIED, "at", lambda _: {"at": stamp(now)})
    return True


def _end(
    store: Store,
    job_id: str,
    worker: str,
    state: State,
    now: datetime,
    reason: str = "",
    is_public: bool = False,
) -> Job:
    def rule(before: Job) -> Job | None:
        if not _is_held(before, worker):  # another worker has it by now, and will end it
            return None
        return replace(_ended(before, state, now), reason=reason or None, is_reason_public=is_public)

    return _changed(store, job_id, rule)


def _ended(before: Job, state: State, now: datetime) -> Job:
    return replace(before, state=state, lease=None, is_to_stop=False, updated_at=stamp(now))


def _changed(store: Store, job_id: str, rule: Change) -> Job:
    def change(data: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        if data is None:
            raise NotFound(f"there is no job {job_id!r}", code="unknown_job")
        after = rule(_read(job_id, data))
        return None if after is None else _data(after)

    after = _job(update(store, JOBS, job_id, change))
    if not after.is_open:
        store.erase_entry(OPEN_JOBS, job_id)
    return after


def _is_free(before: Job, place: str, expired: Lease | None) -> bool:
    lease = before.lease
    if before.state != "running" or lease is None:
        return before.state == "queued"
    return lease.place == place or lease == expired


def _is_held(job: Job, worker: str) -> bool:
    return job.state == "running" and job.lease is not None and job.lease.worker == worker


def _age(job: Job) -> tuple[str, str]:
    return job.created_at, job.id


def _digest(kind: str, key: str) -> str:
    return hashlib.blake2b(f"{kind}\n{key}".encode(), digest_size=12).hexdigest()


def _data(job: Job) -> dict[str, Any]:
    data = asdict(replace(job, args={}))
    for name in ("id", "result"):
        del data[name]
    return {**data, "args": job.args}


def _job(entry: Any) -> Job:
    return _read(entry.key, entry.data)


def _read(job_id: str, data: Mapping[str, Any]) -> Job:
    lease = data["lease"]
    return Job(**{**data, "id": job_id, "lease": Lease(**lease) if lease else None})
