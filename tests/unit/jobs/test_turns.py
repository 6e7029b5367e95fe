"""Turns: whoever orders many jobs has nobody else wait for all of them."""

from datetime import UTC, datetime, timedelta

import pytest

from backend.jobs import queue, turns
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
        first = turns.in_turn(self.store, waiting)[0]
        queue.claim(self.store, first.id, "w", "here", self.now)
        turns.note(self.store, first, waiting)
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

    assert len(ordering.store.entry(turns.TURNS, "latest").data) <= 4
