"""Connection limits: idle connections do not keep others out.

A connection costs its holder almost nothing, and the server a file descriptor, one of a limited number
of connections, and a check in each turn of its event loop. If an address holds very many, or the most of
all when connections run low, its oldest idle ones are closed. A browser or a proxy reconnects when it
needs to; a client that opens thousands and sends nothing only closes its own.
"""

import resource
from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any

from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from backend.web.request_parser import LongBodies, Parser

_SPARE_FILES = 256
"""File descriptors reserved for the database, images and panels."""
_FULL = 0.9
_ONE_ADDRESS = 0.125
_CLOSED_SHARE = 0.05
"""Shares of the limit: held in total and by one address to trigger closing, and closed at once."""
_ACCEPTED_AT_ONCE = 64  # so that a flood of connections does not hold up those that are open


class Refusal(ErrorTask):
    """The reply to what is no request, or too long, which no application sees."""

    channel: Any

    def execute(self) -> None:
        self.response_headers = [*self.response_headers, *self.channel.server.headers_of_all.items()]
        super().execute()


class Channel(HTTPChannel):
    """A connection of waitress's server that closes others when there are too many."""

    # waitress's stubs lack, or declare otherwise, what it has when it runs.
    server: Any
    parser_class: Any
    _fileno: int | None
    error_task_class: Any = Refusal

    def __init__(self, server, sock, addr, adj, map=None):
        super().__init__(server, sock, addr, adj, map)
        self.parser_class = partial(Parser, server.long_bodies)
        most, address = adj.connection_limit, addr[0]
        server.accepted += 1
        server.held[address] += 1
        if server.held[address] < server.most_of_one_address:
            if len(server.active_channels) < _FULL * most:
                return
            ((address, _),) = server.held.most_common(1)
        close_idle(server.active_channels, address, max(1, int(_CLOSED_SHARE * most)))

    def del_channel(self, map=None):
        """Uncount a connection; waitress calls this again for one that its sender has reset.

        A body that was received in part lies in a temporary file, which waitress leaves open.
        """
        is_counted = self._fileno is not None
        super().del_channel(map)
        if not is_counted:
            return
        if self.request is not None:
            self.request.close()
        held = self.server.held
        held[self.addr[0]] -= 1
        if not held[self.addr[0]]:
            del held[self.addr[0]]


def protect(
    server: Any, long_bodies: LongBodies, one_address: bool = True, headers: Mapping[str, str] | None = None
) -> None:
    """Make a server close excess connections, and accept all waiting ones in one turn of its event loop.

    waitress accepts one per turn, so that a thousand silent ones delay the next for a thousand turns.

    Args:
        long_bodies: limits how many long bodies are received at once.
        one_address: whether to limit the share of connections of one address; all visitors behind a
            proxy have the proxy's.
        headers: of all replies, for those that the server sends itself.
    """
    most = server.adj.connection_limit
    server.most_of_one_address = _ONE_ADDRESS * most if one_address else most
    accept_one = server.handle_accept

    def accept_waiting() -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            before = server.accepted
            accept_one()
            if server.accepted == before:
                return

    server.accepted, server.held, server.long_bodies = 0, Counter(), long_bodies
    server.channel_class, server.headers_of_all = Channel, headers or {}
    server.handle_accept = accept_waiting


def close_idle(channels: Mapping[int, HTTPChannel], address: str, count: int) -> None:
    """Close the `count` oldest idle connections of an address, except its newest."""
    idle = [
        channel
        for channel in channels.values()
        if channel.addr[0] == address and not channel.requests and not channel.total_outbufs_len
    ]
    idle.sort(key=lambda channel: channel.creation_time)
    for channel in idle[: min(count, len(idle) - 1)]:
        channel.handle_close()


def connection_limit(most: int) -> int:
    """Return how many connections may be open at once, at most `most`, after raising the file limit.

    Many systems limit a new process to 1,024 files, which it may raise itself.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return most if soft == resource.RLIM_INFINITY else min(most, max(64, soft - _SPARE_FILES))
