"""Work on all cores: in order, and left alone by a Ctrl-C, which is this process's to answer."""

import os
import signal
import threading
import time

import pytest

from backend.foundation.errors import OpenhypeError
from backend.stimuli.parallel import in_forks, in_parallel


def negative(job):
    return -job


def blocked_signals(_):
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, []))


def fail(job):
    raise ValueError(f"job {job}")


def write_slowly(path):
    time.sleep(0.005)
    path.write_bytes(b"")


def process_after_a_while(job):
    time.sleep(0.005)
    return job, os.getpid()


def results(work, jobs):
    with in_parallel(work, jobs, workers=2) as done:
        return list(done)


def test_results_come_in_the_order_of_the_jobs():
    assert results(negative, range(300)) == [-job for job in range(300)]


def test_a_process_is_not_interrupted_from_its_first_moment_on_and_this_one_is():
    before = blocked_signals(None)

    of_workers = results(blocked_signals, range(64))

    assert all(signal.SIGINT in blocked for blocked in of_workers)
    assert signal.SIGINT not in before
    assert blocked_signals(None) == before


def test_what_a_process_raises_is_raised_here():
    with pytest.raises(ValueError, match="job 0"):
        results(fail, range(64))


def test_no_process_works_after_the_block_while_the_error_that_left_it_is_handled(tmp_path):
    jobs = [tmp_path / str(number) for number in range(200)]

    def take_one():
        with in_parallel(write_slowly, jobs, workers=2) as made:
            next(made)
            raise OSError("the disk is full")

    try:
        take_one()
    except OSError:
        before = set(os.listdir(tmp_path))
        time.sleep(0.2)
        after = set(os.listdir(tmp_path))

    assert before == after
    assert 0 < len(before) < len(jobs)


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr("backend.stimuli.parallel.cores", lambda: 2)


@pytest.fixture
def alone(two_cores, monkeypatch):
    """As if the tests' own threads were not there."""
    monkeypatch.setattr("threading.enumerate", lambda: [threading.main_thread()])


def test_processes_start_when_the_jobs_take_longer_than_that(two_cores):
    with in_parallel(process_after_a_while, range(300)) as done:
        rows = list(done)
    with in_parallel(negative, range(300)) as done:
        quick = list(done)

    assert [job for job, _ in rows] == list(range(300))
    assert rows[0][1] == os.getpid() != rows[-1][1]
    assert quick == [-job for job in range(300)]


def test_copies_of_this_process_do_what_has_no_name_in_order(alone):
    secret = object()
    jobs = [lambda i=i: (i, secret is not None, os.getpid()) for i in range(20)]

    done = list(in_forks(lambda job: job(), jobs))

    assert [row[:2] for row in done] == [(i, True) for i in range(20)]
    assert os.getpid() not in {row[2] for row in done}


@pytest.mark.parametrize("jobs", [[], [7]])
def test_little_is_done_in_this_process(alone, jobs):
    assert list(in_forks(lambda job: (job, os.getpid()), jobs)) == [(job, os.getpid()) for job in jobs]


def test_a_process_with_threads_is_not_copied(two_cores):
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert set(in_forks(lambda job: os.getpid(), [1, 2, 3])) == {os.getpid()}
    finally:
        stop.set()
        thread.join()


def test_an_error_in_a_copy_comes_back_and_one_that_is_ended_is_told(alone):
    parent = os.getpid()

    def end(_):
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ZeroDivisionError, match="by zero"):
        list(in_forks(lambda job: 1 // job, [1, 0, 1]))
    with pytest.raises(OpenhypeError, match="ended from outside"):
        list(in_forks(end, [1, 2]))
