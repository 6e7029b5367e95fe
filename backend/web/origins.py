"""Protection against cross-site requests: changes are accepted from our own pages, and from programs.

Any page can make its visitors' browsers send requests here. Two rules keep it from changing anything. A
body must be declared as JSON, which a browser sends to another site only with permission (CORS), and
that is never granted here. And the browser's statements about the sending page must match ours:
`Origin`, and `Sec-Fetch-Site`, which no script can forge. Programs send neither.
"""

from collections.abc import Collection
from contextlib import suppress
from urllib.parse import urlsplit

from backend.foundation.errors import InvalidInput

CHANGING = frozenset({"POST", "PUT", "PATCH", "DELETE"})
"""Methods of requests that change something."""
_DEFAULT_PORTS = (80, 443)  # of http and https, which an origin leaves out
_OTHER_SITES = ("cross-site", "same-site")


def is_ours(origin: str | None, fetch_site: str | None, host: str | None, allowed: Collection[str]) -> bool:
    """Return whether a request was sent by one of our pages, or by a program that is not a browser.

    Schemes are not compared: behind a proxy that terminates TLS, `http` arrives here for the browser's
    `https`.

    Args:
        origin: the header `Origin`; like all headers, None if it was not sent.
        fetch_site: the header `Sec-Fetch-Site`.
        host: the host of the request; None if it is not that of the pages.
        allowed: other hosts at which our pages are reached, as returned by `parse_origin`.
    """
    site = fetch_site.strip().lower() if fetch_site else None
    if site == "same-origin":
        return True
    if origin is None:
        return site not in _OTHER_SITES
    named = host_of(origin)
    if named is not None and named in allowed:
        return True
    if site in _OTHER_SITES:
        return False
    return host is None or (named is not None and named == plain_host(host))


def parse_origin(text: str) -> str:
    """Return the host of an origin named by a researcher, such as `https://faces.lab.example`.

    Raises:
        InvalidInput: it is not an origin.
    """
    host = host_of(text)
    if host is None or urlsplit(text).path not in ("", "/"):
        raise InvalidInput(
            f"an origin must be of the form https://HOST or https://HOST:PORT, without a path, not {text!r}"
        )
    return host


def host_of(origin: str) -> str | None:
    """Return host and port of an origin; None if it is not an origin, such as `null`."""
    with suppress(ValueError):  # such as http://[x
        split = urlsplit(origin)
        if split.scheme in ("http", "https") and split.hostname:
            return plain_host(split.netloc)
    return None


def plain_host(host: str) -> str | None:
    """Return a host in lower case, without a default port; None if it is not a host."""
    with suppress(ValueError):
        split = urlsplit(f"//{host}")
        if split.hostname and split.username is None:
            name = f"[{split.hostname}]" if ":" in split.hostname else split.hostname
            return name if split.port in (None, *_DEFAULT_PORTS) else f"{name}:{split.port}"
    return None
