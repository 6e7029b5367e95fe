"""The worker beside a server: it is there again after it ended, whatever was in the way."""

import os
import subprocess
import sys
import threading

import pytest

from backend.jobs import worker_process
from backend.jobs.worker_process import WorkerProcess, wait_before_next
from backend.recruitment.sync_thread import Watch


def test_a_worker_that_ends_again_and_again_is_started_less_and_less_often():
    waits = [0.0]
    for _ in range(8):
        waits.append(wait_before_next(waits[-1], lived_s=1))

    assert waits[1:] == [1, 2, 4, 8, 16, 32, 60, 60]


def test_a_worker_that_lived_for_long_is_started_again_soon():
    assert wait_before_next(60, lived_s=3600) == 1


class Failing(WorkerProcess):
    """A worker that ends at once, and cannot be started the second time."""

    def __init__(self):
        super().__init__([])
        self._command = [sys.executable, "-c", "pass"]
        self.tries, self.third, self.are_closed = 0, threading.Event(), []

    def _started(self):
        self.tries += 1
        if self._process is not None:
            self.are_closed.append(self._process.stdin.closed)
        if self.tries == 2:
            raise OSError(12, "Cannot allocate memory")
        if self.tries == 3:
            self.third.set()
        return super()._started()


def test_a_worker_that_cannot_be_started_is_tried_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_process, "_AGAIN_S", (0.01, 0.02))
    process = Failing()
    process.start()

    assert process.third.wait(20)
    process.stop()
    assert {*process.are_closed} == {True}  # the pipes to workers that ended


@pytest.mark.parametrize(
    "beside", [lambda: WorkerProcess([]), lambda: Watch(None, None)], ids=["worker", "panel"]
)
def test_what_runs_beside_a_server_can_be_stopped_before_it_was_started(beside):
    """As by a Ctrl-C that comes while the server starts."""
    beside().stop()


def test_a_worker_whose_server_has_ended_already_ends_without_a_word(tmp_path):
    command = [sys.executable, "-m", "backend", "work", "--data", str(tmp_path), "--beside", str(os.getpid())]

    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
