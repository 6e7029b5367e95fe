"""HTTP calls by `requests` that end at one deadline, with replies of bounded length.

Timeouts of `requests` hold for each read, so that a server which sends a byte now and then holds a call for
ever, and a compressed reply of a few kilobytes can have gigabytes.
"""

from socket import socket
from typing import Any

from requests import RequestException, Response, Session
from requests.adapters import HTTPAdapter
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from backend.foundation.exchange_deadline import Deadline

WHOLE_S = 120.0
"""Seconds for one call, from the connection to the last byte."""
MOST_BYTES = 1 << 26
"""Longest reply, decompressed; a list of 100 submissions has some 100 kB."""
_CHUNK = 1 << 16


class TooLong(RequestException):
    """A reply is longer than `MOST_BYTES`, or took longer than the deadline."""


class BoundedSession(Session):
    """A session of which every call is bounded; for one thread at a time."""

    def __init__(self, whole_s: float = WHOLE_S, most_bytes: int = MOST_BYTES):
        super().__init__()
        self._whole_s, self._most_bytes = whole_s, most_bytes
        self._deadline: Deadline | None = None
        for scheme in ("https://", "http://"):
            self.mount(scheme, _Adapter(self))

    def request(self, *args: Any, **options: Any) -> Response:
        """Return a reply with its whole content, as `Session.request` does.

        Raises:
            RequestException: the call failed; TooLong if the reply was too long or too slow.
        """
        options["stream"] = True
        with Deadline(self._whole_s) as self._deadline:
            reply = super().request(*args, **options)
            reply._content = self._content(reply)  # where `requests` keeps what it has read
            if self._deadline.is_over:  # what was cut off looks like an end
                raise TooLong(f"it took more than {self._whole_s:g} s")
            return reply

    @property
    def deadline(self) -> Deadline:
        return self._deadline or Deadline(self._whole_s)

    def _content(self, reply: Response) -> bytes:
        content = bytearray()
        for chunk in reply.iter_content(_CHUNK):
            content += chunk
            if len(content) > self._most_bytes:
                reply.close()
                raise TooLong(f"the reply has more than {self._most_bytes:,} bytes")
        return bytes(content)


class _Adapter(HTTPAdapter):
    """Has the connections of a session end with its deadline, new ones and those kept alive."""

    def __init__(self, session: BoundedSession):
        self._session = session
        super().__init__()

    def init_poolmanager(self, *args: Any, **options: Any) -> None:
        super().init_poolmanager(*args, **options)
        manager = self.poolmanager
        manager.pool_classes_by_scheme = {
            scheme: type(pool.__name__, (pool,), {"ConnectionCls": self._watched(pool.ConnectionCls)})
            for scheme, pool in manager.pool_classes_by_scheme.items()
        }

    def _watched(self, kind: Any) -> type:
        session = self._session

        class Watched(kind):
            def _new_conn(self) -> socket:
                where = (self._dns_host, self.port)
                try:
                    connection = session.deadline.connect(where, self.timeout, self.source_address)
                except TimeoutError as error:
                    raise ConnectTimeoutError(self, str(error)) from None
                except OSError as error:
                    raise NewConnectionError(self, str(error)) from None
                for option in self.socket_options or ():
                    connection.setsockopt(*option)
                return connection

            def request(self, *args: Any, **options: Any) -> None:
                if self.sock is not None:  # kept alive
                    session.deadline.watch(self.sock)
                super().request(*args, **options)

        return Watched
