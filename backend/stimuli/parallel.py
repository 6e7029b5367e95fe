"""Work on all cores, in order, with a bounded number of jobs under way."""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context
from typing import Any

from backend.foundation.errors import OpenhypeError

_CHUNK = 16
_OF_BARS = "tqdm_monitor"
"""A thread that only refreshes progress bars, so that a copy of the process does well without it."""


def in_parallel(
    work: Callable[[Any], Any], jobs: Sequence[Any], workers: int | None = None, chunk: int = _CHUNK
) -> Iterator[Any]:
    """Yield the results of `work` over `jobs` in their order, a bounded number under way.

    Args:
        work: a function of a module, since it goes to fresh processes by its name.
        workers: processes; default, one a core. Few jobs are done in this process.
        chunk: jobs that a process gets at a time.

    Raises:
        OpenhypeError: a process was ended from outside.
    """
    workers = workers or cores()
    if workers == 1 or len(jobs) < 4 * chunk:
        yield from map(work, jobs)
        return
    chunks = (jobs[i : i + chunk] for i in range(0, len(jobs), chunk))
    advice = "close other programs, or bring very large pictures to a smaller size, and try again"
    with _ending(ProcessPoolExecutor(workers, get_context("spawn")), "read pictures", advice) as pool:
        with _interrupts_held():  # the processes start here
            waiting = deque(pool.submit(_all, work, some) for some in islice(chunks, 4 * workers))
        while waiting:
            yield from waiting.popleft().result()
            waiting.extend(pool.submit(_all, work, some) for some in islice(chunks, 1))


def in_forks(work: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of `work` over `jobs` in order, from processes that begin as copies of this one.

    So `work` and `jobs` need no names by which a fresh process would find them; results are pickled. Where
    there is no `fork`, one core, or a thread besides this one that a copy would lack, all is done here.

    Raises:
        OpenhypeError: a process was ended from outside.
    """
    others = {thread.name for thread in threading.enumerate()} - {threading.main_thread().name, _OF_BARS}
    can_fork = sys.platform.startswith("linux") and not others
    workers = min(cores(), len(jobs))
    if not can_fork or workers < 2:
        yield from map(work, jobs)
        return
    copies = ProcessPoolExecutor(workers, get_context("fork"), _remember, (work, jobs))
    with _ending(copies, "drew figures", "close other programs, and try again") as pool:
        with _interrupts_held():  # the processes start here
            waiting = [pool.submit(_remembered, i) for i in range(len(jobs))]
        for result in waiting:
            yield result.result()


_SHARED: list[Any] = []
"""In a copy of a process: the work that it does, and the jobs."""


def _remember(work: Callable[[Any], Any], jobs: Sequence[Any]) -> None:
    _SHARED[:] = [work, jobs]


def _remembered(job: int) -> Any:
    work, jobs = _SHARED
    return work(jobs[job])


def cores() -> int:
    """Return how many processes this one may have at work."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _ending(pool: ProcessPoolExecutor, did: str, advice: str) -> Iterator[ProcessPoolExecutor]:
    """Let nothing of the pool's work begin after the block, and say so where a process of it was ended."""
    try:
        yield pool
    except BrokenProcessPool:
        raise OpenhypeError(
            f"a process that {did} was ended from outside, perhaps for lack of memory; {advice}"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Start processes that a Ctrl-C does not reach: they leave it to this one, which gets it right after.

    A process inherits what is blocked, so that it is not interrupted while it starts either, which would
    print a traceback from each.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _all(work: Callable[[Any], Any], jobs: Sequence[Any]) -> list:
    return [work(job) for job in jobs]
