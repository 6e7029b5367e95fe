"""The deadline of the current request: nothing is tried again that could not end in time.

A function on Lambda is stopped after its timeout, and its caller then learns nothing. A request that gives up
before that is answered 503 with Retry-After, and the page sends it again.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_left: ContextVar[Callable[[], float]] = ContextVar("left", default=lambda: float("inf"))


def seconds_left() -> float:
    """Return the seconds until the deadline, negative after it; infinite if there is none."""
    return _left.get()()


@contextmanager
def deadline(seconds: float, clock: Callable[[], float] = time.monotonic) -> Iterator[None]:
    """Set the deadline of what runs within, `seconds` from now."""
    until = clock() + seconds
    token = _left.set(lambda: until - clock())
    try:
        yield
    finally:
        _left.reset(token)


def with_deadline(app: Callable, seconds: float) -> Callable:
    """Return a WSGI application whose requests have a deadline, `seconds` after their arrival."""

    def limited(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        with deadline(seconds):
            return app(environ, start_response)

    return limited
