"""One deadline for a whole exchange over the network, from the connection to the last byte.

A socket's own timeout holds for each read, and a server that sends a byte in two seconds never exceeds it.
At the deadline the connections of the exchange are shut down, which ends whatever waits for them.
"""

import http.client
import os
import socket
import threading
import time
from contextlib import suppress
from typing import Any, TypeVar

HTTP = TypeVar("HTTP", bound=http.client.HTTPConnection)


class Deadline:
    """The end of one exchange, in seconds from now; a context manager around it."""

    def __init__(self, seconds: float):
        self.seconds = seconds
        self._ends_at = time.monotonic() + seconds
        self._copies: list[socket.socket] = []
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
        """Return a new connection, as `socket.create_connection` does."""
        limit_s = min(timeout, self.left_s()) if isinstance(timeout, (int, float)) else self.left_s()
        connection = socket.create_connection(address, limit_s, source)
        self.watch(connection)
        return connection

    def _end(self) -> None:
        with self._lock:
            for copy in self._copies:
                with suppress(OSError):  # it has ended
                    copy.shutdown(socket.SHUT_RDWR)
