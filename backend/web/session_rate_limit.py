"""Limits on the sessions that one client address may open, so that nobody fills an open study at once.

Counted in the memory of one server process. Many people may share an address: a lab, a school, a
company. A household gets a whole IPv6 network (/64) from its provider, so that its addresses count as
one.
"""

import ipaddress
import math
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from backend.foundation.errors import TooMany

PER_MINUTE, PER_HOUR = 100, 600
"""Per minute, two for each of fifty people in a lab who begin at once, after a test."""
_MINUTE_S, _HOUR_S = 60, 3600
_MOST_ADDRESSES = 10_000


class Openings:
    """The sessions that addresses opened within the last hour. Safe to use from many threads.

    Args:
        per_minute, per_hour: maximum number of new sessions per address; 0 for no limit.
        clock: monotonic time in seconds.
        most_addresses: how many addresses are remembered; the oldest are dropped.
    """

    def __init__(
        self,
        per_minute: int = PER_MINUTE,
        per_hour: int = PER_HOUR,
        clock: Callable[[], float] = time.monotonic,
        most_addresses: int = _MOST_ADDRESSES,
    ):
        self._limits = [
            (most, span_s) for most, span_s in ((per_minute, _MINUTE_S), (per_hour, _HOUR_S)) if most
        ]
        self._clock, self._most_addresses = clock, most_addresses
        self._lock = threading.Lock()  # checked and counted in one step, or openings at once exceed the limit
        self._opened: OrderedDict[str, deque[float]] = OrderedDict()

    def check(self, address: str | None) -> None:
        """Check that an address may open a session now.

        Raises:
            TooMany: `too_many_sessions`, if it may not.
        """
        with self._lock:
            self._check(self._times(network(address)))

    @contextmanager
    def one(self, address: str | None) -> Iterator[Callable[[], None]]:
        """Count a session opened within the context, unless that fails or the yielded function is called.

        Raises:
            TooMany: `too_many_sessions`.
        """
        with self._lock:
            times = self._times(network(address))
            self._check(times)
            now = self._clock()
            times.append(now)

        def forget() -> None:
            with self._lock:
                if now in times:
                    times.remove(now)

        try:
            yield forget
        except BaseException:
            forget()
            raise

    def _times(self, name: str) -> deque[float]:
        """Return the times (s) at which an address opened sessions within the last hour."""
        times = self._opened.setdefault(name, deque())
        self._opened.move_to_end(name)
        while len(self._opened) > self._most_addresses:
            self._opened.popitem(last=False)
        while times and times[0] <= self._clock() - _HOUR_S:
            times.popleft()
        return times

    def _check(self, times: deque[float]) -> None:
        now = self._clock()
        for most, span_s in self._limits:
            if len(times) >= most and times[-most] > now - span_s:
                wait_s = max(1, math.ceil(times[-most] + span_s - now))
                raise TooMany(
                    f"many sessions were opened from this address in a short time, at most {most} in "
                    f"{span_s // 60} min; try again in {wait_s} s",
                    code="too_many_sessions",
                    retry_after_s=wait_s,
                )


def network(address: str | None) -> str:
    """Return the key under which an address is counted: itself, or its IPv6 network."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or ""
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
