"""One deadline for a whole exchange over the network, from the connection to the last byte.

A socket's own timeout holds for each read, and a server that sends a byte in two seconds never exceeds it.
At the deadline the connections of the exchange are shut down, which ends whatever waits for them.
"""

import http.client
import os
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, TypeVar

HTTP = TypeVar("HTTP", bound=http.client.HTTPConnection)
Resolve = Callable[..., list[tuple]]
"""As `socket.getaddrinfo`."""


class Deadline:
    """The end of one exchange, in seconds from now; a context manager around it."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._copies: list[socket.socket] = []
        # The timer's thread may end the exchange while another adds or closes a copy.
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> "Deadline":
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        with self._lock:
            while self._copies:
                self._copies.pop().close()

    @property
    def is_over(self) -> bool:
        """Whether the time is over: what was read may then be cut off, which looks like an end."""
        return time.monotonic() >= self._ends_at

    def left_s(self) -> float:
        """Return the time that is left (s).

        Raises:
            TimeoutError: there is none.
        """
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError(f"it took more than {self.seconds:g} s")
        return left

    def watch(self, connection: socket.socket) -> None:
        """Have a connection end with the exchange, also once TLS has taken it over."""
        with self._lock:  # a copy: wrapping a socket for TLS detaches it
            self._copies.append(socket.socket(fileno=os.dup(connection.fileno())))
        if self.is_over:
            self._end()

    def over(self, connection: HTTP) -> HTTP:
        """Return an HTTP connection, new or one kept alive, that ends with the exchange."""
        connection._create_connection = self.connect  # type: ignore[attr-defined]
        if connection.sock is not None:
            self.watch(connection.sock)
        return connection

    def connect(self, address: tuple[str, int], timeout: Any = None, source: Any = None) -> socket.socket:
        """Return a new connection, as `socket.create_connection` does; names are resolved in time, too.

        Raises:
            OSError: no address of the host can be reached in time.
        """
        limit_s = timeout if isinstance(timeout, (int, float)) else self.seconds
        host, port = address
        failure: OSError = socket.gaierror(f"{host} has no address")
        for numeric in resolved(host, port, min(limit_s, self.left_s())):
            try:
                connection = socket.create_connection((numeric, port), min(limit_s, self.left_s()), source)
            except OSError as error:
                failure = error
            else:
                self.watch(connection)
                return connection
        raise failure

    def _end(self) -> None:
        with self._lock:
            for copy in self._copies:
                with suppress(OSError):  # it has ended
                    copy.shutdown(socket.SHUT_RDWR)


def resolved(host: str, port: int, seconds: float, resolve: Resolve | None = None) -> list[str]:
    """Return the addresses of a host; nothing interrupts a resolution, so its thread may be left behind.

    Raises:
        OSError: there are none, or they are not known in time.
        ValueError: it is no name of a host.
    """
    result: Future[list[tuple]] = Future()

    def run() -> None:
        try:
            result.set_result((resolve or socket.getaddrinfo)(host, port, type=socket.SOCK_STREAM))
        except (OSError, ValueError) as error:
            result.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return [str(entry[4][0]) for entry in result.result(seconds)]
    except TimeoutError:
        raise TimeoutError(f"the address of {host} is not known after {seconds:.3g} s") from None


class TooLong(ValueError):
    """A reply is longer than its reader takes."""


def whole_body(reply: http.client.HTTPResponse, most_bytes: int) -> bytes:
    """Return the body of a reply.

    Raises:
        TooLong: it has more than `most_bytes`.
        OSError, http.client.HTTPException: it is cut short.
    """
    promised = reply.headers.get("Content-Length", "")
    content = reply.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise TooLong(f"the reply has more than {most_bytes:,} bytes")
    if promised.isdecimal() and len(content) < int(promised) and not reply.chunked:
        raise ConnectionError(f"the connection broke after {len(content)} of {promised} bytes")
    return content
