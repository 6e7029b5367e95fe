"""Connections that are open and say nothing do not keep others out.

A connection costs its holder next to nothing, and the server a file and a place among the most that it
holds. When those places run low, room is made at the address that holds the most of them: its oldest
connections that have no request under way are closed. A browser or a proxy opens another one when it
needs it; whoever opens thousands and sends nothing only closes its own.
"""

import resource
from collections import Counter
from collections.abc import Mapping

from waitress.channel import HTTPChannel

_SPARE_FILES = 256
"""Files that the database, pictures and panels need besides."""
_FULL = 0.9
_MAKE_ROOM = 0.05
"""Shares of the most: from which on room is made, and how much at once."""


class Channel(HTTPChannel):
    """A connection of waitress's server that makes room when it is among the last that fit."""

    def __init__(self, server, sock, addr, adj, map=None):
        super().__init__(server, sock, addr, adj, map)
        if len(server.active_channels) >= _FULL * adj.connection_limit:
            make_room(server.active_channels, max(1, int(_MAKE_ROOM * adj.connection_limit)))


def make_room(channels: Mapping[int, HTTPChannel], count: int) -> None:
    """Close the `count` oldest idle connections of the address that holds the most idle ones.

    The newest of an address stays: somebody may be about to send a request by it.
    """
    idle = [
        channel for channel in channels.values() if not channel.requests and not channel.total_outbufs_len
    ]
    held = Counter(channel.addr[0] for channel in idle)
    if not held:
        return
    ((address, number),) = held.most_common(1)
    theirs = sorted(
        (channel for channel in idle if channel.addr[0] == address), key=lambda each: each.creation_time
    )
    for channel in theirs[: min(count, number - 1)]:
        channel.handle_close()


def connection_limit(most: int) -> int:
    """Return how many connections may be open at once, `most` or fewer; their files are allowed first.

    Many systems start a process with 1,024 files at most, which it may raise itself.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most + _SPARE_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return most if soft == resource.RLIM_INFINITY else min(most, max(64, soft - _SPARE_FILES))
