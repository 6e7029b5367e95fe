"""The addresses of this machine in its networks."""

import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

_SIOCGIFADDR = 0x8915
"""Of ioctl on Linux: the IPv4 address of an interface (netdevice(7))."""
_NAME_BYTES, _REQUEST_BYTES, _ADDRESS = 15, 256, slice(20, 24)
_IPV6 = Path("/proc/net/if_inet6")
_GLOBAL = "00"
"""The scope of IPv6 addresses that are not only of one link (proc(5))."""
_OF_CONTAINERS = ("docker", "br-", "virbr")
"""Interfaces that lead to containers and virtual machines of this machine only."""
_ROUTED_TO = ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "2001:db8::1"))
"""Addresses for documentation (RFC 5737, RFC 3849): nothing is sent to them."""

Address = IPv4Address | IPv6Address


def own_addresses() -> list[Address]:
    """Return this machine's addresses for other machines: IPv4, private and of the default route first."""
    routed = {*_routed()}
    others = {*_ipv4_of_interfaces(), *_ipv6_of_interfaces()} if sys.platform == "linux" else set()
    return sorted(
        filter(_is_for_others, routed | others),
        key=lambda one: (one.version, not one.is_private, one not in routed, int(one)),
    )


def _routed() -> Iterator[Address]:
    """Yield the addresses from which this machine would send by its default routes."""
    for family, there in _ROUTED_TO:
        with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((there, 9))
            yield ip_address(probe.getsockname()[0])


def _ipv4_of_interfaces() -> Iterator[Address]:
    import fcntl

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            if name.startswith(_OF_CONTAINERS):
                continue
            request = struct.pack(f"{_REQUEST_BYTES}s", name.encode()[:_NAME_BYTES])
            with suppress(OSError):  # it has none
                yield ip_address(fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, request)[_ADDRESS])


def _ipv6_of_interfaces() -> Iterator[Address]:
    with suppress(OSError):  # this machine has no IPv6
        for line in _IPV6.read_text().splitlines():
            digits, _, _, scope, _, name = line.split()
            if scope == _GLOBAL and not name.startswith(_OF_CONTAINERS):
                yield IPv6Address(int(digits, 16))


def _is_for_others(address: Address) -> bool:
    return not (address.is_loopback or address.is_link_local or address.is_unspecified)
