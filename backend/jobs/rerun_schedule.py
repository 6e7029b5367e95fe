"""Studies that are made again on a schedule: every so many days after the schedule was set.

A schedule is an entry of the store under the study's name. The worker looks once an hour, on AWS at each of
its invocations, which runs are due, and enqueues the job `rerun` for each. A period that passed while nothing
looked is made up for once, not as often as it passed. A clock that was ahead makes one run too early, and the
next ones come in time. A new run is made only: recruiting people for it, which costs money, is left to a
person.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from backend.administration.rerun import check, free_name
from backend.experiment.records import Study
from backend.foundation.timestamps import stamp
from backend.jobs.queue import Job, enqueue, open_jobs
from backend.stores.store import Store, study_if_any
from backend.stores.updates import update

BOOK = "rerun_schedules"
MEMBER = "schedule"


@dataclass(frozen=True)
class Schedule:
    """When a study is made again."""

    days: int
    next_at: str
    """When the next run is due; in the past until somebody looks."""


def schedule(store: Store, study: Study, days: int, now: datetime) -> datetime:
    """Have a study made again every `days` days from now on; return when the first time is.

    Raises:
        InvalidInput: the study is a qualification.
    """
    check(store, study, free_name(store, study.name))
    facts = {"created_at": study.created_at, "days": days, "since": stamp(now), "runs": 0}
    update(store, BOOK, study.name, lambda _: facts)
    return now + timedelta(days=days)


def schedule_of(store: Store, study: Study) -> Schedule | None:
    """Return the schedule of a study, if it has one."""
    entry = store.entry(BOOK, study.name)
    if entry is None or entry.data["created_at"] != study.created_at:
        return None
    days = entry.data["days"]
    next_at = datetime.fromisoformat(entry.data["since"]) + timedelta(days=days * (entry.data["runs"] + 1))
    return Schedule(days, stamp(next_at))


def unschedule(store: Store, study: Study) -> bool:
    """End the schedule of a study; return whether it had one."""
    had_one = store.entry(BOOK, study.name) is not None
    store.erase_entry(BOOK, study.name)
    return had_one


def enqueue_due(store: Store, now: datetime) -> list[Job]:
    """Enqueue the jobs of the runs that are due, once each; return them. Forget those of deleted studies."""
    jobs = []
    for entry in [*store.entries(BOOK)]:
        facts = entry.data
        study = study_if_any(store, entry.key)
        if study is None or study.created_at != facts["created_at"]:
            store.erase_entry(BOOK, entry.key)
            continue
        passed = (now - datetime.fromisoformat(facts["since"])) // timedelta(days=facts["days"])
        if passed < facts["runs"]:  # the clock was ahead when the last one was enqueued
            update(store, BOOK, entry.key, partial(_noted, passed))
        if passed <= facts["runs"]:
            continue
        of = {"study": entry.key, "created_at": facts["created_at"]}
        # the key holds the period, so that two workers who look at once enqueue one job
        key = f"{entry.key} {facts['created_at']} {facts['since']} {passed}"
        name = free_name(store, entry.key, {job.study for job in open_jobs(store)})
        jobs.append(enqueue(store, "rerun", name, MEMBER, {"of": of}, now, key))
        update(store, BOOK, entry.key, partial(_noted, passed))
    return jobs


def _noted(runs: int, facts: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    return facts and {**facts, "runs": runs}
