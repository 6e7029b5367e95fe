"""The researcher's login: the key is typed into a form once, then a cookie replaces it.

The key never appears in a URL. The cookie holds a time and its HMAC under the key, so that the server
stores nothing and changing the key ends every login. It is HttpOnly (any script could read a key that a
script stores), SameSite=Strict, and sent to the researcher's pages only: evaluators' requests never
carry it.
"""

import hmac
from datetime import datetime, timedelta
from hashlib import sha256

from flask import Request, Response

from backend.stores.datadir import Keys

PATH = "/results"
DASHBOARD = "/dashboard"
PATHS = (PATH, DASHBOARD)
_COOKIE = "openhype_results"
_LASTS = timedelta(hours=12)


def is_key(keys: Keys, key: str) -> bool:
    """Return whether this is the researcher's key, compared in constant time."""
    return hmac.compare_digest(key.encode(), keys.researcher.encode())


def is_logged_in(request: Request, keys: Keys, now: datetime) -> bool:
    """Return whether the browser has a valid login cookie that has not expired."""
    until, _, seal = request.cookies.get(_COOKIE, "").partition(".")
    if not hmac.compare_digest(seal.encode(), _seal(keys, until).encode()):
        return False
    return int(now.timestamp()) < int(until)


def log_in(reply: Response, request: Request, keys: Keys, now: datetime) -> None:
    """Set the login cookie, for each of the researcher's pages."""
    until = str(int((now + _LASTS).timestamp()))
    for path in PATHS:
        reply.set_cookie(
            _COOKIE,
            f"{until}.{_seal(keys, until)}",
            max_age=int(_LASTS.total_seconds()),
            path=path,
            secure=request.is_secure,
            httponly=True,
            samesite="Strict",
        )


def log_out(reply: Response) -> None:
    """Delete the login cookie."""
    for path in PATHS:
        reply.delete_cookie(_COOKIE, path=path, httponly=True, samesite="Strict")


def _seal(keys: Keys, until: str) -> str:
    return hmac.new(keys.researcher.encode(), f"openhype results {until}".encode(), sha256).hexdigest()
