"""The addresses at which browsers reach the pages of a server, and who gets there."""

import re
import unicodedata
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal
from urllib.parse import urlsplit

from backend.foundation.errors import InvalidInput

VARIABLE = "OPENHYPE_URL"
"""The environment variable with the public address of a store's pages."""
LOOPBACK_NAMES = ("localhost", "ip6-localhost")
_LOCAL_ENDINGS = (".local", ".lan", ".internal", ".home.arpa")
_LABEL = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")

Reach = Literal["this_computer", "network", "internet"]


def study_page(base: str, study: str) -> str:
    """Return the address of a study's page on a server that is reached at `base`."""
    return f"{base.rstrip('/')}/s/{study}"


def reach_of(base: str) -> Reach:
    """Return from where an address can be reached, as far as the address says."""
    try:
        host = host_of(base)
    except ValueError:
        return "network"
    if isinstance(host, str):
        if host in LOOPBACK_NAMES or host.endswith(".localhost"):
            return "this_computer"
        return "network" if "." not in host or host.endswith(_LOCAL_ENDINGS) else "internet"
    if host.is_loopback:
        return "this_computer"
    return "network" if host.is_private or host.is_link_local else "internet"


def host_of(url: str) -> str | IPv4Address | IPv6Address:
    """Return the host of an address as browsers read it, without the dot at a name's end.

    So `127.1`, `0x7f000001` and full-width digits are 127.0.0.1. Source: "Host parsing" of the URL standard.

    Raises:
        ValueError: no host can have this name.
    """
    written = urlsplit(url).hostname or ""
    if ":" in written:
        return ip_address(written)
    host = unicodedata.normalize("NFKC", written).lower().replace("\u3002", ".").removesuffix(".")
    name = host if host.isascii() else host.encode("idna").decode()
    *_, last = labels = name.split(".")
    if _NUMBER.fullmatch(last):
        return _ipv4(name)
    if len(name) > 253 or not all(map(_LABEL.fullmatch, labels)):
        raise ValueError(f"{written} is no name of a host")
    return name


def _ipv4(name: str) -> IPv4Address:
    """Return an IPv4 address in any notation, decimal, octal or hexadecimal, of one to four numbers."""
    try:
        *first, last = map(_number, name.split("."))
        if max(first, default=0) > 255 or last >= 256 ** (4 - len(first)):
            raise ValueError
    except ValueError:
        raise ValueError(f"{name} is no IPv4 address") from None
    return IPv4Address(int.from_bytes(bytes(first), "big") * 256 ** (4 - len(first)) + last)


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError
    if text.startswith("0x"):
        return int(text[2:] or "0", 16)
    return int(text, 8 if text.startswith("0") else 10)


def parse_public(text: str) -> str:
    """Return an address such as https://study.lab.edu or https://lab.edu/hype, without a slash at its end.

    Raises:
        InvalidInput: it is not the address of a server.
    """
    try:
        parts = urlsplit(text)
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # an invalid port or IPv6 address
        is_one = False
    if not is_one or parts.query or parts.fragment or parts.username is not None:
        raise InvalidInput(f"a server's address must be like https://study.lab.edu, not {text!r}")
    return text.rstrip("/")


def origin_of(base: str) -> str:
    """Return the origin of an address, which is what browsers name it by."""
    parts = urlsplit(base)
    return f"{parts.scheme}://{parts.netloc}"
