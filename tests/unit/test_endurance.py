"""Days of looks and jobs: processes end with the files, threads and connections that they began with."""

import gc
import itertools
import os
import sqlite3
import threading

import pytest

from backend.jobs import queue
from backend.jobs.work import KINDS, runner
from backend.jobs.worker import Worker
from backend.web.monitor import Watch

from . import sample_studies as studies
from .jobs.ordered import Orders

WATCHED_MB = 16
"""Room for what an interpreter and its allocator keep; a connection that is left costs 0.3 MB."""


def counts():
    """Return the numbers of open files, threads and SQLite connections of this process."""
    gc.collect()
    connections = sum(issubclass(type(each), sqlite3.Connection) for each in gc.get_objects())
    return len(os.listdir("/proc/self/fd")), threading.active_count(), connections


def memory_mb():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def looks_at_a_study(world, count):
    """Have sessions finish one after another, and look at the live view and its scores after each."""
    watch = Watch(world.store, world.store.study("faces"), itertools.count(step=1000).__next__)
    for _ in range(count):
        world.player().play()
        assert watch.with_latest_scores(world.clock(), wait_s=60)["scores"]


def jobs_of_every_kind(world, rounds):
    """Have jobs of all kinds fail, in their own ways and in others, and be done."""

    def strange(work, job):
        raise {0: MemoryError(), 1: RecursionError("deep"), 2: sqlite3.OperationalError("locked")}[number % 3]

    worker = Worker(world.store, world.data, tick_s=0.001)
    for number in range(rounds):
        for kind, find in itertools.product(KINDS, (runner, lambda _: strange, lambda _: counting)):
            worker.find = find
            queue.enqueue(world.store, kind, "faces", "owner", {"number": number}, world.clock())
            assert worker.run_once() is not None


def counting(work, job):
    return {"done": len([*work.progress(range(5), 5, "counting")])}


def test_a_live_view_leaves_nothing_open_however_often_it_is_looked_at(world):
    world.add(studies.study(images=4, evaluators=500))
    looks_at_a_study(world, 5)
    before, mb = counts(), memory_mb()

    looks_at_a_study(world, 20)

    assert counts() <= before
    assert memory_mb() - mb < WATCHED_MB


def test_jobs_of_every_kind_leave_nothing_open_whether_they_fail_or_not(world):
    world.add(studies.study(images=4))
    jobs_of_every_kind(world, 1)
    before, mb = counts(), memory_mb()

    jobs_of_every_kind(world, 2)

    assert counts() <= before
    assert memory_mb() - mb < WATCHED_MB
    assert {job.state for job in queue.jobs(world.store)} == {"done", "failed"}


@pytest.mark.slow("hundreds of sessions, looks and jobs")
def test_a_day_of_watched_sessions_and_jobs_leaves_the_process_as_it_began(world):
    world.add(studies.study(images=4, evaluators=5000))
    orders = Orders(world)

    def part_of_a_day(sessions, rounds, audits):
        looks_at_a_study(world, sessions)
        jobs_of_every_kind(world, rounds)
        for _ in range(audits):
            assert orders.audit()["pool"]

    part_of_a_day(20, 1, 1)
    before, mb = counts(), memory_mb()

    part_of_a_day(300, 15, 5)

    assert counts() <= before
    assert memory_mb() - mb < 3 * WATCHED_MB
