"""Support for one proxy in front of the server, which terminates TLS and identifies visitors.

A proxy reports the visitor's address, scheme and host in the headers X-Forwarded-For, -Proto and -Host, and
the path below which it has put this server in X-Forwarded-Prefix.
Anybody can send them, so they are trusted only if the researcher states that there is a proxy, and only
the last value of each: the one added by this proxy.

A proxy may also authenticate members (single sign-on), and name them in a header. Whoever reaches the server
past the proxy could send that header too; therefore it counts only beside a secret that the proxy sends.
"""

import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from ipaddress import ip_address
from typing import Any

from flask import request
from werkzeug.datastructures import Headers
from werkzeug.middleware.proxy_fix import ProxyFix

from backend.foundation.errors import InvalidInput, brief
from backend.foundation.frozen import dataclass
from backend.stores.datadir import DataDir
from backend.web import headers

VARIABLE = "OPENHYPE_BEHIND_PROXY"
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}
_WITH_PORT = re.compile(r"\[(?P<six>[^\]]+)\](:[0-9]+)?|(?P<four>[0-9.]+):[0-9]+")

SECRET = "X-Openhype-Proxy-Secret"
"""The header by which a proxy shows that what it says of members is its own."""
PROXY = "openhype_proxy"
"""The name of a Flask application's extension that is its `SignInHeader`, or None."""
SIGN_IN_VARIABLE = "OPENHYPE_SIGN_IN_HEADER"
SECRET_VARIABLE = "OPENHYPE_PROXY_SECRET"
_SECRET_FILE = "proxy"
_BASE_PATH = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9._~-]{1,64}){1,8}")
_OWN = frozenset(
    {"/api", "/assets", "/competitions", "/console", "/demo", "/i", "/preview", "/results", "/s", "/w"}
    | {"/timing.html", "/wait"}
)
"""Where this server has pages of its own."""
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")

Application = Callable[[dict[str, Any], Callable], Iterable[bytes]]


@dataclass(frozen=True)
class SignInHeader:
    """The header in which a proxy names members."""

    name: str
    secret: str

    def member_in(self, sent: Headers) -> str | None:
        """Return the name that the proxy gives, or None if it gives none, or another sender claims one."""
        if not hmac.compare_digest(sent.get(SECRET, "").encode(), self.secret.encode()):
            return None
        return sent.get(self.name, "").strip() or None


def sign_in_header(
    name: str | None, is_behind_proxy: bool, data: DataDir, environment: Mapping[str, str]
) -> SignInHeader | None:
    """Return the header called `name` with its secret, which is made at first; None without a name.

    The secret is OPENHYPE_PROXY_SECRET, or else in `proxy.secret` of the data directory.

    Raises:
        InvalidInput: `name` is not that of a header, or there is no proxy.
    """
    if not name:
        return None
    if not _HEADER.fullmatch(name):
        raise InvalidInput(
            f"a header's name must be letters, digits and hyphens, as in X-Forwarded-User, not {brief(name)}"
        )
    if not is_behind_proxy:
        raise InvalidInput(
            f"only a proxy can sign members in by the header {name}; add --behind-proxy (or {VARIABLE}=true)"
        )
    secret = environment.get(SECRET_VARIABLE, "").strip() or data.secret(_SECRET_FILE)
    if not secret:
        secret = secrets.token_urlsafe(32)
        data.keep_secret(_SECRET_FILE, secret)
    return SignInHeader(name, secret)


def secret_place(data: DataDir, environment: Mapping[str, str]) -> str:
    """Return where the secret of a sign-in header is, for a message."""
    return (
        SECRET_VARIABLE
        if environment.get(SECRET_VARIABLE, "").strip()
        else str(data.secret_file(_SECRET_FILE))
    )


def behind_one_proxy(app: Application) -> Application:
    """Return a WSGI application that sees the addresses of visitors behind one proxy, and its prefix."""

    def checked(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        original = environ["werkzeug.proxy_fix.orig"]
        environ["REMOTE_ADDR"] = _address(environ.get("REMOTE_ADDR")) or original["REMOTE_ADDR"]
        if environ["wsgi.url_scheme"] not in ("http", "https"):
            environ["wsgi.url_scheme"] = original["wsgi.url_scheme"]
        return app(environ, start_response)

    return ProxyFix(checked, x_for=1, x_proto=1, x_host=1, x_prefix=1)


def always_encrypted(app: Application) -> Application:
    """Return a WSGI application whose replies have browsers reach this host by https alone (RFC 6797)."""

    def encrypted(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        def start(status: str, sent: list[tuple[str, str]], *error: Any) -> Callable:
            writes: Callable = start_response(status, [*sent, *headers.HTTPS_ONLY.items()], *error)
            return writes

        return app(environ, start)

    return encrypted


def parse_base_path(text: str) -> str:
    """Return the path below which browsers reach this server, without a slash at its end; "" for the top.

    Raises:
        InvalidInput: it is no path, or a page of this server has its first part.
    """
    path = text.rstrip("/")
    if path and not _BASE_PATH.fullmatch(path):
        raise InvalidInput(
            "a base path must be parts of letters, digits, '-', '_', '~' and '.', each after a slash, as in "
            f"/hype, not {brief(text)}"
        )
    if path and _first(path) in _OWN:
        raise InvalidInput(
            f"a base path cannot begin with {_first(path)}, where this server has its own pages"
        )
    return path


def below(app: Application, base_path: str) -> Application:
    """Return a WSGI application below a path, whether or not a proxy takes that off the addresses.

    The path is `base_path`, or else what `behind_one_proxy` took from X-Forwarded-Prefix.
    """

    def based(environ: dict[str, Any], start_response: Callable) -> Iterable[bytes]:
        root, path = base_path or _valid(environ.get("SCRIPT_NAME", "")), environ["PATH_INFO"]
        if root and _first(root) not in _OWN and f"{path}/".startswith(f"{root}/"):
            path = path[len(root) :] or "/"
        environ |= {"SCRIPT_NAME": root, "PATH_INFO": path}  # the same object: the server reads it afterwards
        return app(environ, start_response)

    return based


def address_of(path: str) -> str:
    """Return a path of this server as the browser of the request reaches it; other URLs as they are."""
    return f"{request.script_root}{path}" if path.startswith("/") else path


def _valid(prefix: str) -> str:
    prefix = prefix.rstrip("/")
    return prefix if _BASE_PATH.fullmatch(prefix) else ""


def _first(path: str) -> str:
    """Return the first part of a path, with its slash."""
    return f"/{path.split('/')[1]}"


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
    match = _WITH_PORT.fullmatch(text or "")
    try:
        return str(ip_address(match["six"] or match["four"] if match else text or ""))
    except ValueError:
        return None
