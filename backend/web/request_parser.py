"""waitress's parser of requests, which refuses a body that is too long when it has read the headers only.

waitress writes a long body to a temporary file before the application sees the request, so that memory does
not grow. Nobody has looked at the request's token by then, and a slow body stays long: so how many are
received at once is limited, in total, for one member, and for senders whom the application has not admitted
before. The event loop, which must not wait for a store, looks only at what the application found earlier.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from copy import copy
from hashlib import sha256
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

from backend.client.file_stream import PART_BYTES
from backend.foundation.bounded_cache import Recent
from backend.task.requests import MAX_BODY_BYTES, TOKEN
from backend.web.login import COOKIE
from backend.web.proxies import SECRET, SignInHeader
from backend.web.routing import MEMBER

_ABOVE = r"(/[^/]+){0,8}"  # the path below which a proxy may have put this server
_PART = re.compile(_ABOVE + r"/api/uploads/[0-9a-f]{32}/parts/[0-9]{1,5}")
"""Path of the one route that takes long bodies, by PUT: the parts of uploads."""
_MARGIN = 3 * MAX_BODY_BYTES
"""Bodies that are longer by so little are read, and refused by the application with a reason in JSON."""
_AT_ONCE, _OF_ONE, _OF_UNKNOWN = 64, 16, 8
"""Most long bodies that are received at once: from everybody, from one member, and from all senders whom
the application has not admitted before."""
_MOST_REMEMBERED = 1024  # a member may sign in again and again, each time with another credential
_RETRY_AFTER_S = "5"
_SIGNED_IN = re.compile(rf"(?:^|; *){COOKIE}=([^;]*)")

Application = Callable[[dict[str, Any], Callable], Iterable[bytes]]


class Busy(Error):
    """Too many long bodies are being received."""

    code, reason = 503, "Service Unavailable"

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], Any]:
        """Return status, headers and body of the reply."""
        status, fields, body = super().to_response(ident)
        return status, [*fields, ("Retry-After", _RETRY_AFTER_S)], body


class LongBodies:
    """The long bodies that are being received, and the members whom credentials were found to be of."""

    def __init__(self, proxy: SignInHeader | None = None):
        self._proxy = proxy
        self._lock = Lock()  # the event loop counts bodies while a thread that has replied drops one
        self._members = Recent[str](_MOST_REMEMBERED)
        self._receiving: WeakKeyDictionary[Parser, str | None] = WeakKeyDictionary()

    def learning(self, app: Application) -> Application:
        """Return an application whose requests show which member a credential is of."""

        def call(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
            reply = app(environ, start_response)
            if MEMBER in environ:
                self._members.put(self._credential(environ, "HTTP_"), environ[MEMBER])
            return reply

        return call

    def receive(self, parser: "Parser") -> bool:
        """Return whether the long body of a request may be received now; it is then, until `release`."""
        with self._lock:
            member = self._members.get(self._credential(parser.headers, ""))
            own = sum(each == member for each in self._receiving.values())
            most = _OF_UNKNOWN if member is None else _OF_ONE
            if len(self._receiving) >= _AT_ONCE or own >= most:
                return False
            self._receiving[parser] = member
            return True

    def release(self, parser: "Parser") -> None:
        """Have the body of a request no longer count."""
        with self._lock:
            self._receiving.pop(parser, None)

    def _credential(self, fields: Mapping[str, str], prefix: str) -> str:
        """Return a hash of the header by which `login.member` finds who sent a request."""

        def field(name: str) -> str:
            return fields.get(f"{prefix}{name.upper().replace('-', '_')}", "")

        name = field(self._proxy.name) if self._proxy else ""
        named = f"{name} {field(SECRET)}" if name else ""
        signed_in = _SIGNED_IN.search(field("Cookie"))
        shown = field(TOKEN) or named or field("Authorization") or (signed_in[1] if signed_in else "")
        return sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()


class Parser(HTTPRequestParser):
    """waitress's parser of a request, with a limit on the body that depends on the route."""

    # waitress's stubs lack, or declare otherwise, what it has when it runs.
    command: Any
    path: str
    headers: dict[str, str]
    adj: Any

    def __init__(self, long_bodies: LongBodies, adj: Adjustments):
        super().__init__(adj)
        self._long_bodies = long_bodies

    def received(self, data: bytes) -> int:
        """Take in bytes of a request; return how many of them were used.

        A request that others follow before its reply is the last of its connection, and the others are
        dropped: waitress has the thread that answers them wait until enough of the replies is read, which a
        sender need not do.
        """
        count = super().received(data)
        if not self.completed or not data[count:].strip():
            return count
        self.headers["CONNECTION"] = "close"
        return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        is_part = self.command == "PUT" and _PART.fullmatch(self.path)
        limit = PART_BYTES if is_part else MAX_BODY_BYTES
        self.adj = copy(self.adj)
        self.adj.max_request_body_size = limit + _MARGIN
        is_long = self.chunked or self.content_length > MAX_BODY_BYTES + _MARGIN
        if is_long and limit > MAX_BODY_BYTES and not self._long_bodies.receive(self):
            self.error = Busy("many parts of uploads are being received; send it again later")
            self.content_length, self.body_rcv = 0, None
        if self.error or self.content_length >= self.adj.max_request_body_size:
            self.expect_continue = False  # waitress would have the refused body sent, and wait for it

    def close(self) -> None:
        """Forget a request that was answered."""
        self._long_bodies.release(self)
        super().close()
