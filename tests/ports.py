"""Ports of loopback for servers that are started later, or again at the same one."""

import secrets
import socket
from contextlib import suppress

LOWEST, COUNT = 20_000, 10_000
"""Below those that systems give out by themselves, so that nobody gets one by chance before it is used."""


def free_port() -> int:
    """Return a port that nothing listens on."""
    while True:
        port = LOWEST + secrets.randbelow(COUNT)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
