"""Parallel work on all cores, with ordered results and a bounded number of pending jobs."""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, closing, contextmanager
from itertools import islice
from multiprocessing import get_context, parent_process
from typing import Any

from backend.foundation.errors import OpenhypeError
from backend.stimuli.estimates import announced, tracked

_CHUNK = 16
_START_S = 0.4
"""How long a process takes to start and to import what makes pictures: 64 small pictures are done sooner."""
OF_BARS = "tqdm_monitor"
"""Name of threads that only refresh progress bars, which a forked process does not need."""


@contextmanager
def in_parallel(
    work: Callable[[Any], Any], jobs: Sequence[Any], workers: int | None = None, chunk: int = _CHUNK
) -> Iterator[Iterator[Any]]:
    """Yield an iterator of the results of `work` over `jobs` in order, with a bounded number of jobs pending.

    After the block no process works any more, also if it was left early: what they write into a folder can
    be deleted then.

    Args:
        work: a module-level function, since new processes import it by name.
        workers: number of processes; default, one a core, started when the jobs have taken this process
            longer than processes take to start. If there are few jobs, this process does them.
        chunk: jobs sent to a process at a time.

    Raises:
        OpenhypeError: a process was terminated from outside.
    """
    begin = _begun_here if workers is None else _by_processes
    workers = workers or cores()
    if workers == 1 or len(jobs) < 4 * chunk:
        yield map(work, jobs)
        return
    with closing(begin(work, jobs, workers, chunk)) as results:
        yield results


def results_of(
    work: Callable[[Any], Any],
    jobs: Sequence[Any],
    label: str,
    workers: int | None,
    progress: Callable[..., Iterable] | None,
    say: Callable[[str], Any] | None = None,
    first: int = 1,
    chunk: int = _CHUNK,
) -> list[Any]:
    """Return the results of jobs that are done `in_parallel`, under a progress bar called `label`.

    Args:
        say: called with how long all jobs will take, if that is long (`announced`).
    """
    with in_parallel(work, jobs, workers, chunk) as results:
        timed = announced(results, len(jobs), say, f"{len(jobs):,} {label} will take {{}}", first=first)
        return list(tracked(timed, len(jobs), label, progress))


def _begun_here(
    work: Callable[[Any], Any], jobs: Sequence[Any], workers: int, chunk: int
) -> Generator[Any, None, None]:
    """Do jobs in this process for as long as others would take to start, and leave them the rest."""
    until = time.monotonic() + _START_S
    for done, job in enumerate(jobs):
        if time.monotonic() > until:
            yield from _by_processes(work, jobs[done:], workers, chunk)
            return
        yield work(job)


def _by_processes(
    work: Callable[[Any], Any], jobs: Sequence[Any], workers: int, chunk: int
) -> Generator[Any, None, None]:
    chunks = (jobs[i : i + chunk] for i in range(0, len(jobs), chunk))
    advice = "close other programs, or bring very large pictures to a smaller size, and try again"
    spawn = get_context("spawn")
    processes = ProcessPoolExecutor(workers, spawn, _begin_process, (spawn.Lock(),))
    with _ending(processes, "read pictures", advice) as pool:
        with _interrupts_held():  # the processes start here
            waiting = deque(pool.submit(_all, work, some) for some in islice(chunks, 4 * workers))
        while waiting:
            yield from waiting.popleft().result()
            waiting.extend(pool.submit(_all, work, some) for some in islice(chunks, 1))


def in_forks(work: Callable[[Any], Any], jobs: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of `work` over `jobs` in order, from forked copies of this process.

    So `work` and `jobs` need not be picklable, but results are pickled. Without `fork`, with one core, or
    with another thread, which a copy would lack, all jobs are done in this process.

    Raises:
        OpenhypeError: a process was terminated from outside.
    """
    others = {thread.name for thread in threading.enumerate()} - {threading.main_thread().name, OF_BARS}
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


_LARGE_WORK: list[AbstractContextManager[Any]] = [threading.Lock()]
"""What `large_work` returns; in processes for jobs, a lock that they share."""


def large_work() -> AbstractContextManager[Any]:
    """Return a lock held during work that needs much memory, by one of the processes for the same jobs."""
    return _LARGE_WORK[0]


def _begin_process(shared: AbstractContextManager[Any]) -> None:
    _LARGE_WORK[0] = shared
    _end_with_parent()


def _end_with_parent() -> None:
    """End this process when the one that started it has ended, even if it was killed.

    Otherwise it would wait for work for ever: it holds an end of the pipe by which work comes.
    """
    parent = parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, name="openhype-parent", daemon=True).start()


_SHARED: list[Any] = []
"""In a forked process: its work and the jobs."""


def _remember(work: Callable[[Any], Any], jobs: Sequence[Any]) -> None:
    _SHARED[:] = [work, jobs]


def _remembered(job: int) -> Any:
    work, jobs = _SHARED
    return work(jobs[job])


def cores() -> int:
    """Return the number of cores available to this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _ending(pool: ProcessPoolExecutor, did: str, advice: str) -> Iterator[ProcessPoolExecutor]:
    """Cancel the pool's pending jobs after the block, and raise OpenhypeError if a process was terminated."""
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
    """Block SIGINT while processes start, so that Ctrl-C reaches only this process, after the block.

    Processes inherit the blocked signals. Otherwise a Ctrl-C while they start would print a traceback from
    each.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _all(work: Callable[[Any], Any], jobs: Sequence[Any]) -> list:
    return [work(job) for job in jobs]
