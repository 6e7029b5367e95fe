"""Support for one proxy in front of the server, which terminates TLS and identifies visitors.

A proxy reports the visitor's address, scheme and host in the headers X-Forwarded-For, -Proto and -Host.
Anybody can send them, so they are trusted only if the researcher states that there is a proxy, and only
the last value of each: the one added by this proxy.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from werkzeug.middleware.proxy_fix import ProxyFix

from backend.foundation.errors import InvalidInput

VARIABLE = "OPENHYPE_BEHIND_PROXY"
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}
_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](:[0-9]+)?|(?P<four>[0-9.]+):[0-9]+")

Application = Callable[[dict[str, Any], Callable], Iterable[bytes]]


def behind_one_proxy(app: Application) -> Application:
    """Return a WSGI application that sees the addresses of visitors behind one proxy."""

    def checked(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        original = environ["werkzeug.proxy_fix.orig"]
        environ["REMOTE_ADDR"] = _address(environ.get("REMOTE_ADDR")) or original["REMOTE_ADDR"]
        if environ["wsgi.url_scheme"] not in ("http", "https"):
            environ["wsgi.url_scheme"] = original["wsgi.url_scheme"]
        return app(environ, start_response)

    return ProxyFix(checked, x_for=1, x_proto=1, x_host=1)


def asks_for_proxy(environment: Mapping[str, str]) -> bool:
    """Return whether OPENHYPE_BEHIND_PROXY states that there is a proxy.

    Raises:
        InvalidInput: it is neither true nor false.
    """
    value = environment.get(VARIABLE, "")
    if value.lower() not in _TRUE | _FALSE:
        raise InvalidInput(f"{VARIABLE} must be true or false, not {value!r}")
    return value.lower() in _TRUE


def _address(text: str | None) -> str | None:
    """Return an address without the port that some proxies add, or None if it is not an address."""
    found = _WITH_PORT.fullmatch(text or "")
    try:
        return str(ip_address(found["six"] or found["four"] if found else text or ""))
    except ValueError:
        return None
