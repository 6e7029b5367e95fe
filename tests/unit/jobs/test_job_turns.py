"""Turns: whoever orders many jobs has nobody else wait for all of them."""

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from backend.foundation.errors import Unavailable
from backend.jobs import job_turns, queue
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def store(tmp_path):
    made = open_store("sqlite:///jobs.db", tmp_path)
    yield made
    made.close()


class Ordering:
    """Members who order jobs, and a worker."""

    def __init__(self, store):
        self.store, self.now = store, NOW

    def order(self, member, kind="create", count=1):
        for _ in range(count):
            self.now += timedelta(seconds=1)
            queue.enqueue(self.store, kind, None, member, {}, self.now)

    def done(self, count):
        """Return whose jobs are done next."""
        return [self._one() for _ in range(count)]

    def _one(self):
        waiting = queue.open_jobs(self.store)
        first = job_turns.in_turn(self.store, waiting)[0]
        queue.claim(self.store, first.id, "w", "here", self.now)
        job_turns.note(self.store, first, waiting)
        queue.finish(self.store, first.id, "w", {}, self.now)
        return first.member


@pytest.fixture
def ordering(store):
    return Ordering(store)


def test_members_take_turns_and_each_ones_jobs_are_done_oldest_first(ordering):
    ordering.order("ana", count=4)
    ordering.order("bob", count=2)

    assert ordering.done(6) == ["ana", "bob", "ana", "bob", "ana", "ana"]


def test_a_researcher_waits_for_one_submission_however_many_submitters_there_are(ordering):
    for submitter in "abcdefgh":
        ordering.order(submitter, "join", count=3)
    ordering.done(2)
    ordering.order("researcher", count=3)

    assert [*filter("researcher".__eq__, ordering.done(6))] == ["researcher"] * 3


def test_submitters_take_turns_beside_a_researcher_with_many_jobs(ordering):
    ordering.order("researcher", count=20)
    ordering.order("a", "join", count=5)
    ordering.order("b", "join", count=5)

    done = ordering.done(8)

    assert (done.count("researcher"), done.count("a"), done.count("b")) == (4, 2, 2)


def test_who_orders_one_job_after_the_other_has_its_turn_beside_who_ordered_many(ordering):
    ordering.order("ana", count=9)
    done = []
    for _ in range(4):
        ordering.order("bob")
        done += ordering.done(2)

    assert (done.count("ana"), done.count("bob")) == (4, 4)


def test_a_member_who_has_no_open_job_is_remembered_no_longer(ordering):
    for number in range(30):
        ordering.order(f"member{number}", "join", count=2)
        ordering.done(2)

    assert len(ordering.store.entry(job_turns.TURNS, "latest").data) <= 4


def check_of_a_submission(worker, pictures, order_after):
    """Have a worker check a submission of many pictures; return the kinds of jobs as they end."""
    ended = []

    def run(work, job):
        if job.kind == "join":
            for i, _ in enumerate(work.progress(range(pictures), pictures, "pictures")):
                order_after(i)
        ended.append(job.kind)
        return {}

    worker(run).run_once()
    return ended


@pytest.fixture
def passing(store, tmp_path):
    """Return a function that makes a worker whose clock ticks once a second at each look."""
    ticks = itertools.count()

    def make(run):
        options = {"tick_s": 0.02, "elapsed_s": ticks.__next__, "lets_pass": True}
        return Worker(store, DataDir(tmp_path), find=lambda _: run, **options)

    return make


def test_a_job_of_a_researcher_passes_a_submission_that_is_being_checked(store, passing):
    queue.enqueue(store, "join", "faces", "submitter", {}, NOW)

    def order_after(i):
        if i == 3:
            queue.enqueue(store, "create", None, "researcher", {}, NOW)

    assert check_of_a_submission(passing, 20, order_after) == ["create", "join"]
    assert {job.state for job in queue.jobs(store)} == {"done"}


def test_other_submissions_and_what_needs_the_same_pictures_wait_for_it(store, passing):
    queue.enqueue(store, "join", "faces", "submitter", {}, NOW)

    def order_after(i):
        if i == 3:
            queue.enqueue(store, "join", "cats", "other", {}, NOW)
            for kind in ("join_model", "delete"):
                queue.enqueue(store, kind, "faces", "researcher", {}, NOW)

    assert check_of_a_submission(passing, 20, order_after) == ["join"]


def test_a_submission_is_checked_between_jobs_that_pass_it(store, passing):
    queue.enqueue(store, "join", "faces", "submitter", {}, NOW)

    def order_after(i):  # a researcher who always has a job waiting
        queue.enqueue(store, "create", None, "researcher", {}, NOW)

    ended = check_of_a_submission(passing, 20, order_after)

    assert ended[-1] == "join"
    assert 2 <= ended.count("create") < 20


def test_a_job_that_fails_or_a_store_that_does_leaves_the_submission_that_it_passed(store, passing):
    queue.enqueue(store, "join", "faces", "submitter", {}, NOW)
    queue.enqueue(store, "create", None, "researcher", {}, NOW + timedelta(seconds=1))

    def run(work, job):
        if job.kind == "create":
            raise KeyError("a fault")
        for _ in work.progress(range(9), 9, "pictures"):
            pass
        return {"ended": "joined"}

    worker = passing(run)
    before, looks = queue.open_jobs, itertools.count()

    def failing(store):
        if next(looks) == 1:
            raise Unavailable("throttled")
        return before(store)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queue, "open_jobs", failing)
        done = worker.run_once()

    assert (done.kind, done.state) == ("join", "done")
    assert [job.state for job in queue.jobs(store) if job.kind == "create"] == ["failed"]


def test_stopping_the_worker_gives_both_jobs_back(store, passing):
    for kind, second in (("join", 0), ("create", 1)):
        queue.enqueue(store, kind, "faces", kind, {}, NOW + timedelta(seconds=second))

    def run(work, job):
        if job.kind == "create":
            raise KeyboardInterrupt
        return {"n": [*work.progress(range(9), 9, "pictures")]}

    with pytest.raises(KeyboardInterrupt):
        passing(run).run_once()

    assert [(job.state, job.tries, job.lease) for job in queue.jobs(store)] == [("queued", 0, None)] * 2
