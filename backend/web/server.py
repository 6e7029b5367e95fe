"""The server of one machine: the application under waitress, shut down cleanly by a signal."""

import errno
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path

from flask import Flask

from backend.foundation.errors import InvalidInput, reason
from backend.foundation.own_addresses import own_addresses
from backend.task import requests
from backend.web import headers
from backend.web.proxies import PROXY, Application

_THREADS = 16
_BACKLOG = 2048
_CONNECTIONS = 4096
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses that mean all interfaces, each with the loopback address to reach them."""


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 selects a free one.

    Clients that connect before the server runs wait for it.

    Raises:
        InvalidInput: listening at the address failed; the message says why, and what to do.
    """
    try:
        family, kind, protocol, _, address = _resolved(host, port)
    except (OSError, UnicodeError):
        raise InvalidInput(
            f"cannot listen on {host.strip() or repr(host)}: not an address of this machine"
        ) from None
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise InvalidInput(f"cannot listen on {_why_not(error, host, port)}") from None
    return listening


def reached_at(listening: socket.socket) -> tuple[str, int]:
    """Return host and port by which this machine reaches the server of a listening socket."""
    host, port = listening.getsockname()[:2]
    return _EVERYWHERE.get(host, host), port


def local_url(listening: socket.socket) -> str:
    """Return the URL by which this machine reaches the server of a listening socket."""
    return _url(*reached_at(listening))


def other_urls(listening: socket.socket) -> list[str]:
    """Return the URLs by which other machines reach the server of a listening socket, most usable first."""
    host, port = listening.getsockname()[:2]
    if host not in _EVERYWHERE:
        return [] if ip_address(host.partition("%")[0]).is_loopback else [_url(host, port)]
    versions = {6} if listening.family == socket.AF_INET6 else {4}
    if 6 in versions and not listening.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY):
        versions.add(4)
    return [_url(str(one), port) for one in own_addresses() if one.version in versions]


def is_everywhere(listening: socket.socket) -> bool:
    return listening.getsockname()[0] in _EVERYWHERE


def _url(host: str, port: int) -> str:
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(
    app: Flask | Application,
    listening: socket.socket,
    connections: int = _CONNECTIONS,
    behind_proxy: bool = False,
):
    """Return a waitress server on a listening socket; `effective_port` is its port.

    Args:
        connections: maximum number of open connections.
        behind_proxy: whether `app` trusts one proxy's headers, and all connections are that proxy's.
    """
    from waitress.server import create_server

    from backend.web.connections import connection_limit, protect
    from backend.web.request_parser import LongBodies

    extensions = getattr(app, "extensions", {})  # an application that wraps another has none
    long_bodies = LongBodies(extensions.get(PROXY))
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    server = create_server(
        long_bodies.learning(app),
        sockets=[listening],
        threads=_THREADS,
        backlog=_BACKLOG,
        connection_limit=connection_limit(connections),
        channel_timeout=60,
        max_request_body_size=4 * requests.MAX_BODY_BYTES,
        ident=None,
        asyncore_use_poll=True,
        recv_bytes=262144,
        clear_untrusted_proxy_headers=not behind_proxy,
    )
    protect(server, long_bodies, not behind_proxy, extensions.get(headers.OF_ALL, {}))
    return server


def serve(server) -> None:
    """Serve until SIGINT or SIGTERM; open requests are completed."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    log_times()
    _keep_to_one_core()
    try:
        server.run()
    finally:
        server.close()


def _resolved(host: str, port: int) -> tuple:
    """Return the first address of a host, an IPv4 one if it has both."""
    addresses = socket.getaddrinfo(host or "-", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return min(addresses, key=lambda each: each[0] != socket.AF_INET)


def _why_not(error: OSError, host: str, port: int) -> str:
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{host}: not an address of this machine"
    if error.errno == errno.EADDRINUSE:
        return f"{host}:{port}: another program does so; choose another with --port (0 takes a free one)"
    if error.errno == errno.EACCES:
        return f"{host}:{port}: ports below 1024 need more rights; choose another with --port"
    return f"{host}:{port}: {reason(error)}"


def log_times() -> None:
    """Log to stderr, each line with its time (UTC)."""
    handler = logging.StreamHandler()
    formatter = logging.Formatter("%(asctime)sZ %(message)s", "%Y-%m-%dT%H:%M:%S")
    formatter.converter = time.gmtime
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler])


def _keep_to_one_core() -> None:
    """Pin all threads of this process to one core, if the system allows.

    The interpreter runs one thread at a time. Spread over cores, the threads wake each other across them
    at every switch, which on virtual machines costs more than the work (`make bench`).
    """
    if not hasattr(os, "sched_setaffinity"):
        return
    cores = sorted(os.sched_getaffinity(0))
    core = cores[os.getpid() % len(cores)]
    for thread in Path("/proc/self/task").iterdir():
        with suppress(ProcessLookupError):  # a thread may end in the meantime
            os.sched_setaffinity(int(thread.name), {core})


@contextmanager
def in_background(app: Flask) -> Iterator[str]:
    """Serve `app` on a free loopback port in a thread; yields its URL."""
    server = make_server(app, listen("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, name="openhype-server", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.task_dispatcher.shutdown()
        with server.trigger.lock:  # or else its thread may close the pipe before it is written to
            server.trigger.thunks.append(lambda: _close(server))
            server.trigger.pull_trigger()
        thread.join(timeout=10)


def _close(server) -> None:
    """Close a server and its connections, in the thread of its event loop, which would notice it late."""
    server.close()
    for channel in list(server.active_channels.values()):
        channel.will_close = True  # kept-alive connections would keep the event loop running
