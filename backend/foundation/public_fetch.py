"""Fetching a small document from an address that somebody else chose, such as a researcher in a study.

The server must not become a way into its own network: a host that resolves to an address that is not public
is refused, and the connection is made to the address that was checked, whatever the name resolves to a moment
later (DNS rebinding). Redirects are not followed. One deadline holds from the connection to the last byte.
"""

import http.client
import os
import ssl
from contextlib import suppress
from ipaddress import IPv6Address, ip_address, ip_network
from urllib.parse import urlsplit

from backend.foundation.addresses import host_of, reach_of
from backend.foundation.exchange_deadline import Deadline, Resolve, TooLong, resolved, whole_body
from backend.foundation.own_addresses import own_addresses

PRIVATE_HOSTS = "OPENHYPE_PRIVATE_HOSTS"
"""Environment variable: hosts, separated by commas, that may have addresses that are not public."""
_RESOLVED_WITHIN_S = 3.0
_PUBLIC_IPV6 = ip_network("2000::/3")
"""Global unicast (RFC 4291); outside is what embeds an IPv4 address for translation, such as 64:ff9b::/96."""
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        (
            "2002::/16",  # 6to4, which embeds an IPv4 address
            "192.0.0.0/24",  # of protocols (RFC 6890); metadata of a cloud at 192.0.0.192
            "168.63.129.16/32",  # the host of a virtual machine on Azure, which also serves metadata
        ),
    )
)


class NotPublic(ValueError):
    """A host has an address that is not public."""


def fetched(
    url: str,
    seconds: float,
    most_bytes: int,
    resolve: Resolve | None = None,
    is_trusted: bool = False,
) -> bytes:
    """Return the body of a reply with status 200.

    Args:
        url: of the scheme https, or http.
        seconds: within which the whole of it has to be there.
        is_trusted: whether the host may have an address that is not public, besides those of the environment.

    Raises:
        OSError: it could not be fetched in time.
        ValueError: the host's address is not public, the status is not 200, or the document is too long or
            cut short.
        http.client.HTTPException: the reply is not HTTP.
    """
    parts = urlsplit(url)
    with Deadline(seconds) as deadline:
        host, address = _address(url, resolve, is_trusted, deadline.left_s())
        connection = http.client.HTTPConnection(host, address[1])
        try:
            plain = connection.sock = deadline.connect(address)
            if parts.scheme == "https":
                connection.sock = ssl.create_default_context().wrap_socket(plain, server_hostname=host)
            path = parts.path + (f"?{parts.query}" if parts.query else "") or "/"
            sent = {"Host": parts.netloc.rpartition("@")[2], "Accept": "*/*"}
            connection.request("GET", path, headers=sent)
            body = _body(connection.getresponse(), host, most_bytes)
        finally:
            connection.close()
        deadline.left_s()  # what was cut off looks like an end
        return body


def check_public(url: str, resolve: Resolve | None = None) -> None:
    """Raise if an address leads into this network; a name that does not resolve may later.

    Raises:
        NotPublic: it leads into this network, or its name is one that only a network of its own knows.
        ValueError: no server can have this address.
    """
    with suppress(OSError):
        _address(url, resolve, False, _RESOLVED_WITHIN_S)


def _body(reply: http.client.HTTPResponse, host: str, most_bytes: int) -> bytes:
    if reply.status != 200:
        raise ValueError(f"{host} replies with the status {reply.status}, not 200")
    try:
        return whole_body(reply, most_bytes)
    except TooLong:
        raise TooLong(f"{host} sends more than {most_bytes:,} bytes") from None


def _address(
    url: str, resolve: Resolve | None, is_trusted: bool, seconds: float
) -> tuple[str, tuple[str, int]]:
    """Return the host of a URL, and the address and port to connect to."""
    parts, host = urlsplit(url), str(host_of(url))
    port = parts.port or (443 if parts.scheme == "https" else 80)
    may_be_private = is_trusted or host in _private_hosts()
    if not may_be_private and reach_of(url) != "internet":
        raise _not_public(host)
    addresses = resolved(host, port, seconds, resolve)
    inside = [] if may_be_private else [address for address in addresses if not _is_public(address)]
    if inside:
        raise _not_public(f"{host} has the address {inside[0]}, which")
    return host, (addresses[0], port)


def _not_public(what: str) -> NotPublic:
    return NotPublic(
        f"{what} is not public; if it is yours, have the operator of the server name it in {PRIVATE_HOSTS}"
    )


def _is_public(text: str) -> bool:
    address = ip_address(text.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    if isinstance(address, IPv6Address) and address not in _PUBLIC_IPV6:
        return False
    is_own = address in own_addresses() or any(address in network for network in _NOT_PUBLIC)
    return address.is_global and not address.is_multicast and not is_own


def _private_hosts() -> set[str]:
    return {host.strip().lower() for host in os.environ.get(PRIVATE_HOSTS, "").split(",") if host.strip()}
