"""The worker beside a server: a child process of low priority that ends with it, however the server ends.

The child's standard input is a pipe from the server. The system closes it when the server ends, also when it
is killed; the child then gives its job back and ends. While it works it keeps off the core of the server.
"""

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import FrameType

from backend.foundation.child_processes import environment_of_child
from backend.foundation.errors import reason

log = logging.getLogger("openhype.jobs")
_ENDING_S = 10.0
"""Time for a worker to give its job back; then it is killed, and the next one takes the job over."""
_AGAIN_S = (1.0, 60.0)
"""Time to wait, at first and at most, before a worker that ended is started again."""


class WorkerProcess:
    """Starts `openhype work` as a child, again if it ends by itself, and ends it."""

    def __init__(self, options: Sequence[str]):
        self._command = [
            sys.executable,
            "-P",
            "-m",
            "backend",
            "work",
            "--beside",
            str(os.getpid()),
            *options,
        ]
        self._is_ending = threading.Event()
        self._process: subprocess.Popen | None = None
        self._thread = threading.Thread(target=self._watch, name="openhype-worker", daemon=True)

    def start(self) -> None:
        self._process = self._started()
        self._thread.start()

    def stop(self) -> None:
        """End the worker, and wait until it has ended."""
        self._is_ending.set()
        self._end(self._process)
        if self._thread.is_alive():  # not if Ctrl-C came before it was started
            self._thread.join(_ENDING_S)

    def _started(self) -> subprocess.Popen:
        return subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # a Ctrl-C in the terminal is the server's, which then ends the worker
            env=environment_of_child(os.environ),
        )

    def _watch(self) -> None:
        wait_s = 0.0
        while self._process is not None:
            begun = time.monotonic()
            status = self._process.wait()
            if self._is_ending.is_set():
                return
            self._close(self._process)
            wait_s = wait_before_next(wait_s, time.monotonic() - begun)
            log.warning("the worker ended with status %d; another is started in %.0f s", status, wait_s)
            while not self._is_ending.wait(wait_s):
                try:
                    self._process = self._started()
                    break
                except OSError as error:  # too little memory, for instance
                    log.warning("no worker could be started: %s", reason(error))
            if self._is_ending.is_set():
                self._end(self._process)

    @staticmethod
    def _close(process: subprocess.Popen) -> None:
        """Close the pipe to a worker, which ends it if it has not ended."""
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()

    @staticmethod
    def _end(process: subprocess.Popen | None) -> None:
        if process is None:
            return
        WorkerProcess._close(process)
        try:
            process.wait(_ENDING_S + 2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_before_next(before_s: float, lived_s: float) -> float:
    """Return the time (s) before a worker is started again: longer each time, unless the last one lived long.

    Args:
        before_s: the time before the last one was started.
        lived_s: how long it lived.
    """
    shortest_s, longest_s = _AGAIN_S
    return shortest_s if lived_s > longest_s else min(max(2 * before_s, shortest_s), longest_s)


def end_with_input() -> None:
    """Interrupt this process when its standard input is closed, and end it if that takes too long."""

    def watch() -> None:
        while os.read(0, 1024):
            continue
        signal.raise_signal(signal.SIGINT)
        threading.Event().wait(_ENDING_S)
        os._exit(1)

    threading.Thread(target=watch, name="openhype-server-watch", daemon=True).start()


def interrupt_once() -> None:
    """Raise KeyboardInterrupt in the main thread at the first SIGINT or SIGTERM, and ignore later ones."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        raise KeyboardInterrupt

    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, interrupt)


def keeping_off(server: int) -> Callable[[], None]:
    """Return a function that moves this thread to cores to which the process `server` is not pinned.

    It changes nothing if the server is pinned to none, or to the only one there is. A worker that was started
    by a server that was pinned already begins with its core alone.
    """
    if not hasattr(os, "sched_getaffinity"):
        return lambda: None
    cores, every = os.sched_getaffinity(0), set(range(os.cpu_count() or 1))

    def move() -> None:
        with suppress(OSError):  # the server has ended
            pinned = os.sched_getaffinity(server)
            if others := (cores - pinned) or (every - pinned):
                os.sched_setaffinity(0, others)

    return move
