"""The queue: every job is done once, whoever is killed."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from backend.foundation.errors import Conflict, NotFound, TooMany
from backend.jobs import queue
from backend.stores.opening import open_store
from tests.dynamodb import moto

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


@pytest.fixture(params=["sqlite", "dynamodb"])
def store(request, tmp_path):
    if request.param == "sqlite":
        made = open_store("sqlite:///jobs.db", tmp_path)
        yield made
        made.close()
    else:
        with moto("jobs") as url:
            yield open_store(url, tmp_path)


@pytest.fixture
def one(tmp_path):
    made = open_store("sqlite:///jobs.db", tmp_path)
    yield made
    made.close()


def add(store, kind="create", key=None, **args):
    return queue.enqueue(store, kind, "faces", "ana", args, NOW, key)


def test_a_job_passes_from_queue_to_result(store):
    added = add(store, real="u1")

    claimed = queue.claim(store, added.id, "w1", "here", NOW)
    renewed = queue.renew(store, added.id, "w1", {"what": "pictures", "done": 3, "total": 9}, NOW)
    done = queue.finish(store, added.id, "w1", {"study": "faces"}, NOW)

    assert (added.state, claimed.state, done.state) == ("queued", "running", "done")
    assert claimed.args == {"real": "u1"}
    assert renewed.progress == {"what": "pictures", "done": 3, "total": 9}
    assert queue.job(store, added.id).result == {"study": "faces"}
    assert [(each.id, each.result) for each in queue.jobs(store, "faces")] == [(added.id, None)]
    assert queue.jobs(store, "others") == queue.open_jobs(store) == []


def test_a_key_makes_one_job_of_many_requests(store):
    first, again = add(store, key="a", n=1), add(store, key="a", n=2)

    assert again == first
    assert add(store, key="b").id != first.id != add(store, kind="audit", key="a").id
    assert len(queue.jobs(store)) == 3


def test_a_job_is_claimed_by_one_worker_of_many(one):
    added, won = add(one), []

    def claim(i):
        if queue.claim(one, added.id, f"w{i}", f"place {i}", NOW):
            won.append(i)

    threads = [threading.Thread(target=claim, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(won) == 1


def test_a_job_of_a_killed_worker_is_claimed_when_its_lease_has_expired(store):
    added = add(store)
    first = queue.claim(store, added.id, "w1", "here", NOW).lease
    second = queue.renew(store, added.id, "w1", None, NOW).lease

    assert first != second
    for seen in (None, first):
        assert queue.claim(store, added.id, "w2", "there", LATER, seen) is None
    assert queue.claim(store, added.id, "w2", "there", LATER, second).lease.worker == "w2"
    assert queue.renew(store, added.id, "w1", None, LATER) is None
    assert queue.finish(store, added.id, "w1", {"late": True}, LATER).state == "running"
    assert queue.has_to_stop(store, added.id, "w1")
    assert not queue.has_to_stop(store, added.id, "w2")


def test_a_job_of_a_worker_of_the_same_place_is_claimed_at_once(one):
    added = add(one)
    queue.claim(one, added.id, "w1", "here", NOW)

    assert queue.claim(one, added.id, "w2", "here", NOW).tries == 2


def test_a_job_that_kills_its_workers_fails_with_a_reason(one):
    added = add(one)
    for i in range(queue.MAX_TRIES):
        assert queue.claim(one, added.id, f"w{i}", "here", NOW)

    assert queue.claim(one, added.id, "w", "here", NOW) is None
    assert "ended from outside 3 times, perhaps for lack of memory" in queue.job(one, added.id).reason


def test_a_job_that_is_given_back_is_no_try(one):
    added = add(one)
    for i in range(2 * queue.MAX_TRIES):
        queue.claim(one, added.id, f"w{i}", "here", NOW)
        queue.give_back(one, added.id, f"w{i}", NOW)

    assert (queue.job(one, added.id).state, queue.job(one, added.id).tries) == ("queued", 0)


def test_cancelling(store):
    waiting, running, done = add(store), add(store), add(store)
    queue.claim(store, running.id, "w1", "here", NOW)
    queue.claim(store, done.id, "w1", "here", NOW)
    queue.finish(store, done.id, "w1", {}, NOW)

    assert queue.cancel(store, waiting.id, NOW).state == "cancelled"
    assert queue.cancel(store, waiting.id, NOW).state == "cancelled"
    assert queue.cancel(store, running.id, NOW).is_to_stop
    assert queue.stop(store, running.id, "w1", NOW).state == "cancelled"
    with pytest.raises(Conflict, match="is done, and can no longer be cancelled"):
        queue.cancel(store, done.id, NOW)
    with pytest.raises(NotFound, match="there is no job 'x'"):
        queue.cancel(store, "x", NOW)


def test_a_job_that_was_cancelled_while_its_worker_was_killed_is_not_run_again(one):
    added = add(one)
    queue.claim(one, added.id, "w1", "here", NOW)
    queue.cancel(one, added.id, NOW)

    assert queue.claim(one, added.id, "w2", "here", NOW) is None
    assert queue.job(one, added.id).state == "cancelled"


def test_jobs_that_ended_long_ago_are_forgotten(one):
    old, still_open = add(one), add(one)
    queue.claim(one, old.id, "w1", "here", NOW)
    queue.finish(one, old.id, "w1", {"study": "faces"}, NOW)

    queue.forget(one, NOW + timedelta(days=queue.KEPT_DAYS + 1))

    assert [each.id for each in queue.jobs(one)] == [still_open.id]
    assert list(one.entries(queue.RESULTS)) == []


class Counting:
    """A store that counts the entries that are read of it."""

    def __init__(self, store):
        self._store, self.read = store, 0

    def __getattr__(self, name):
        return getattr(self._store, name)

    def entry(self, book, key):
        self.read += 1
        return self._store.entry(book, key)

    def entries(self, book):
        for entry in self._store.entries(book):
            self.read += 1
            yield entry


def ended(store, count):
    for _ in range(count):
        queue.cancel(store, add(store).id, NOW)


def test_looking_for_work_reads_no_job_that_has_ended(store):
    ended(store, 30)
    waiting, counting = add(store), Counting(store)

    assert [each.id for each in queue.open_jobs(counting)] == [waiting.id]
    assert counting.read == 2


@pytest.mark.parametrize("end", ["finish", "fail", "stop", "cancel", "void", "tries"])
def test_a_job_that_ended_in_any_way_is_not_looked_at_again(one, end):
    added = add(one)
    queue.claim(one, added.id, "w1", "here", NOW)
    if end == "finish":
        queue.finish(one, added.id, "w1", {}, NOW)
    elif end == "fail":
        queue.fail(one, added.id, "w1", "why", None, False, NOW)
    elif end == "stop":
        queue.stop(one, added.id, "w1", NOW)
    elif end == "cancel":
        queue.cancel(one, added.id, NOW)
        queue.give_back(one, added.id, "w1", NOW)
    elif end == "void":
        queue.void_open(one, NOW)
    else:
        for i in range(queue.MAX_TRIES):
            queue.claim(one, added.id, f"w{i}", "here", NOW)

    assert list(one.entries(queue.OPEN_JOBS)) == []


def test_what_killed_processes_left_in_the_list_of_open_jobs_is_set_right(one):
    lost, over = add(one), add(one)
    one.erase_entry(queue.OPEN_JOBS, lost.id)
    queue.cancel(one, over.id, NOW)
    for left, at in ((over.id, NOW), ("never-stored", NOW), ("being-stored", LATER)):
        one.write_entry(queue.OPEN_JOBS, left, 0, {"at": at.isoformat()})

    queue.forget(one, NOW + timedelta(days=queue.KEPT_DAYS, minutes=1))

    listed = {entry.key for entry in one.entries(queue.OPEN_JOBS)}
    assert listed == {lost.id, "being-stored"}
    assert [each.id for each in queue.open_jobs(one)] == [lost.id]


def test_all_jobs_are_looked_at_once_an_hour_by_all_workers_together(one):
    ended(one, 5)
    queue.forget(one, NOW)
    counting = Counting(one)

    queue.forget(counting, NOW + timedelta(minutes=59))

    assert counting.read == 1


def test_a_submitter_has_a_limited_number_of_open_jobs(one):
    added = [add(one, n=n) for n in range(queue.MOST_OPEN)]

    with pytest.raises(TooMany, match="20 submissions of yours wait to be checked, the most there can be"):
        queue.check_room(one, "ana")
    queue.check_room(one, "bob")
    queue.cancel(one, added[0].id, NOW)
    queue.check_room(one, "ana")


@pytest.mark.parametrize(("is_public", "read"), [(True, "why"), (False, "a fault of the server")])
def test_a_submitter_reads_a_reason_that_names_nothing_of_others(one, is_public, read):
    added = add(one)
    queue.claim(one, added.id, "w1", "here", NOW)

    failed = queue.fail(one, added.id, "w1", "why", None, is_public, NOW)

    assert queue.reason_for(failed, False).startswith(read)
    assert queue.reason_for(failed, True) == "why"
