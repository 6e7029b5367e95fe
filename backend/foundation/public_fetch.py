"""Fetching a small document from an address that somebody else chose, such as a researcher in a study.

The server must not become a way into its own network: a host that resolves to an address that is not public
is refused, and the connection is made to the address that was checked, whatever the name resolves to a moment
later (DNS rebinding). Redirects are not followed. One deadline holds from the connection to the last byte.
"""

import http.client
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

PRIVATE_HOSTS = "OPENHYPE_PRIVATE_HOSTS"
"""Environment variable: hosts, separated by commas, that may have addresses that are not public."""


def fetched(
    url: str,
    seconds: float,
    most_bytes: int,
    resolve: Callable[..., list[tuple]] = socket.getaddrinfo,
    is_trusted: bool = False,
) -> bytes:
    """Return the body of a reply with status 200.

    Args:
        url: of the scheme https, or http.
        seconds: within which the whole of it has to be there, once the name is resolved.
        is_trusted: whether the host may have an address that is not public, besides those of the environment.

    Raises:
        OSError: it could not be fetched in time.
        ValueError: the host's address is not public, the status is not 200, or the document is too long or
            cut short.
        http.client.HTTPException: the reply is not HTTP.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    address = _address(host, port, resolve, is_trusted or host in _private_hosts())
    deadline = time.monotonic() + seconds
    connection = http.client.HTTPConnection(host, port)
    plain = socket.create_connection(address, seconds)
    ending = threading.Timer(max(0.0, deadline - time.monotonic()), _end, (plain,))
    ending.daemon = True
    ending.start()
    try:
        is_safe = parts.scheme == "https"
        context = ssl.create_default_context() if is_safe else None
        connection.sock = context.wrap_socket(plain, server_hostname=host) if context else plain
        path = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
        connection.request("GET", path, headers={"Host": parts.netloc.rpartition("@")[2], "Accept": "*/*"})
        body = _body(connection.getresponse(), host, most_bytes)
        if time.monotonic() >= deadline:  # what was cut off looks like an end
            raise TimeoutError(f"{host} did not send all within {seconds:g} s")
        return body
    finally:
        ending.cancel()
        connection.close()
        plain.close()


def _body(reply: http.client.HTTPResponse, host: str, most_bytes: int) -> bytes:
    if reply.status != 200:
        raise ValueError(f"{host} replies with the status {reply.status}, not 200")
    content = reply.read(most_bytes + 1)
    promised = reply.headers.get("Content-Length", "")
    if len(content) > most_bytes:
        raise ValueError(f"{host} sends more than {most_bytes:,} bytes")
    if promised.isdecimal() and int(promised) != len(content):
        raise ValueError(f"{host} sent {len(content)} of {promised} bytes")
    return content


def _address(
    host: str, port: int, resolve: Callable[..., list[tuple]], may_be_private: bool
) -> tuple[str, int]:
    """Return the address and port to connect to."""
    addresses = [str(found[4][0]) for found in resolve(host, port, type=socket.SOCK_STREAM)]
    inside = [] if may_be_private else [address for address in addresses if not _is_public(address)]
    if inside:
        raise ValueError(
            f"{host} has the address {inside[0]}, which is not public; if it is yours, name it in "
            f"{PRIVATE_HOSTS}"
        )
    return addresses[0], port


def _is_public(address: str) -> bool:
    found = ip_address(address.partition("%")[0])
    found = getattr(found, "ipv4_mapped", None) or found
    return found.is_global and not found.is_multicast


def _private_hosts() -> set[str]:
    return {host.strip().lower() for host in os.environ.get(PRIVATE_HOSTS, "").split(",") if host.strip()}


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:  # it has ended
        return
