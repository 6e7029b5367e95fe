"""waitress's parser of requests, which refuses a body that is too long when it has read the headers only.

waitress writes a long body to a temporary file before the application sees the request, so that memory does
not grow; how many are received at once is limited, since nobody has looked at their tokens by then.
"""

from typing import Any, ClassVar
from weakref import WeakSet

from waitress.adjustments import Adjustments
from waitress.parser import HTTPRequestParser
from waitress.utilities import Error

from backend.task.requests import MAX_BODY_BYTES
from backend.web.body_limits import body_limit

_MARGIN = 3 * MAX_BODY_BYTES
"""Bodies that are longer by so little are read, and refused by the application with a reason in JSON."""
_AT_ONCE = 64
"""Most long bodies that are received at once, from everybody."""


class Busy(Error):
    """Too many long bodies are being received."""

    code, reason = 503, "Service Unavailable"


class _Limited:
    """waitress's settings with another limit on the body."""

    def __init__(self, adjustments: Adjustments, most: int):
        self._adjustments, self.max_request_body_size = adjustments, most

    def __getattr__(self, name: str) -> Any:
        return getattr(self._adjustments, name)


class Parser(HTTPRequestParser):
    """waitress's parser of a request, with a limit on the body that depends on the route."""

    _receiving: ClassVar[WeakSet["Parser"]] = WeakSet()
    """Those whose long body is being received or processed; a broken connection drops its own."""

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        limit = body_limit(self.command, self.path)
        self.adj = _Limited(self.adj, limit + _MARGIN)
        is_long = self.chunked or self.content_length > MAX_BODY_BYTES + _MARGIN
        if is_long and limit > MAX_BODY_BYTES:
            if len(Parser._receiving) >= _AT_ONCE:
                self.error = Busy(f"{_AT_ONCE} parts of uploads are being received; send it again later")
                self.content_length, self.body_rcv = 0, None
                self.connection_close = True
            else:
                Parser._receiving.add(self)

    def close(self) -> None:
        """Forget a request that was answered."""
        Parser._receiving.discard(self)
        super().close()
