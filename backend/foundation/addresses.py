"""The addresses at which browsers reach the pages of a server, and who gets there."""

from ipaddress import ip_address
from typing import Literal
from urllib.parse import urlsplit

from backend.foundation.errors import InvalidInput

VARIABLE = "OPENHYPE_URL"
"""The environment variable with the public address of a store's pages."""
LOOPBACK_NAMES = ("localhost", "ip6-localhost")
_LOCAL_ENDINGS = (".local", ".lan", ".internal", ".home.arpa")

Reach = Literal["this_computer", "network", "internet"]


def study_page(base: str, study: str) -> str:
    """Return the address of a study's page on a server that is reached at `base`."""
    return f"{base.rstrip('/')}/s/{study}"


def reach_of(base: str) -> Reach:
    """Return from where an address can be reached, as far as the address says."""
    host = urlsplit(base).hostname or ""
    try:
        address = ip_address(host)
    except ValueError:
        if host in LOOPBACK_NAMES or host.endswith(".localhost"):
            return "this_computer"
        return "network" if "." not in host or host.endswith(_LOCAL_ENDINGS) else "internet"
    if address.is_loopback:
        return "this_computer"
    return "network" if address.is_private or address.is_link_local else "internet"


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
