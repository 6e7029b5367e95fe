"""The server of one machine: the application under waitress, stopped cleanly by a signal."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from flask import Flask

from backend import wire
from backend.errors import InvalidInput

_THREADS = 16
_BACKLOG = 2048


def make_server(app: Flask, host: str, port: int):
    """Return a waitress server that listens already; `effective_port` tells the port of port 0.

    Raises:
        InvalidInput: the address cannot be listened on.
    """
    from waitress.server import create_server

    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    try:
        return create_server(
            app,
            host=host,
            port=port,
            threads=_THREADS,
            backlog=_BACKLOG,
            connection_limit=4096,
            channel_timeout=60,
            max_request_body_size=4 * wire.MAX_BODY_BYTES,
            ident=None,
            asyncore_use_poll=True,
        )
    except OSError as error:
        raise InvalidInput(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another with --port"
        ) from None


def serve(server) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are finished."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    _keep_to_one_core()
    try:
        server.run()
    finally:
        server.close()


def _keep_to_one_core() -> None:
    """Keep all threads of this process on one core, where the system can.

    The interpreter runs one thread at a time. Spread over cores, the threads wake each other across
    them at every hand-over, which on virtual machines costs more than the work (`make bench`).
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    core = cores[os.getpid() % len(cores)]
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # a thread may end meanwhile
            os.sched_setaffinity(int(thread.name), {core})


@contextmanager
def in_background(app: Flask) -> Iterator[str]:
    """Serve `app` on a free port of loopback in a thread; gives its URL."""
    server = make_server(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, name="openhype-server", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()
        for channel in list(server.active_channels.values()):
            channel.will_close = True  # kept-alive connections would keep the loop running
        thread.join(timeout=10)
        server.task_dispatcher.shutdown()
