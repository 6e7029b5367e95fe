"""Work on all cores: in order, and left alone by a Ctrl-C, which is this process's to answer."""

import signal

import pytest

from backend.parallel import in_parallel


def negative(job):
    return -job


def blocked_signals(_):
    return set(signal.pthread_sigmask(signal.SIG_BLOCK, []))


def fail(job):
    raise ValueError(f"job {job}")


def test_results_come_in_the_order_of_the_jobs():
    assert list(in_parallel(negative, range(300), workers=2)) == [-job for job in range(300)]


def test_a_process_is_not_interrupted_from_its_first_moment_on_and_this_one_is():
    before = blocked_signals(None)

    of_workers = list(in_parallel(blocked_signals, range(64), workers=2))

    assert all(signal.SIGINT in blocked for blocked in of_workers)
    assert signal.SIGINT not in before
    assert blocked_signals(None) == before


def test_what_a_process_raises_is_raised_here():
    with pytest.raises(ValueError, match="job 0"):
        list(in_parallel(fail, range(64), workers=2))
