"""Programs that run as long as a test needs them, and no longer."""

import os
import select
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

STARTED_WITHIN_S = 60
_ENDED_WITHIN_S = 10


class NotStarted(Exception):
    """A program did not start within its time."""


@contextmanager
def running(command: Sequence[str], **environment: str) -> Iterator[subprocess.Popen]:
    """Run a command, in a group of its own, which is ended with all that it started."""
    with _started(command, environment) as process:
        yield process


@contextmanager
def display(width_px: int, height_px: int) -> Iterator[str]:
    """Give the name of an X display that nobody sees."""
    read, write = os.pipe()
    screen = f"{width_px}x{height_px}x24"
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-nolisten", "tcp"]
    try:
        with _started(command, {}, pass_fds=(write,)):
            if not select.select([read], [], [], STARTED_WITHIN_S)[0]:
                raise NotStarted(f"Xvfb named no display within {STARTED_WITHIN_S} s")
            yield f":{os.read(read, 16).decode().strip()}"
    finally:
        os.close(read)
        os.close(write)


def await_port(port: int, process: subprocess.Popen) -> None:
    """Wait until a process listens on a port of loopback.

    Raises:
        NotStarted: it ended, or did not listen in time.
    """
    until = time.monotonic() + STARTED_WITHIN_S
    while True:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        if process.poll() is not None or time.monotonic() > until:
            raise NotStarted(f"{process.args[-1]} does not listen on port {port}; it ended: {process.poll()}")
        time.sleep(0.05)


@contextmanager
def _started(command: Sequence[str], environment: Mapping[str, str], **options) -> Iterator[subprocess.Popen]:
    # A test run that is killed cannot end anything itself; where it can, the system then does.
    with_us = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
    process = subprocess.Popen(
        [*with_us, *command],
        env={**os.environ, **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        **options,
    )
    try:
        yield process
    finally:
        _end(process)


def _end(process: subprocess.Popen) -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=_ENDED_WITHIN_S)
