"""How a browser shows the researcher's key: typed into a form once, then a cookie that only results see.

No key stands in an address. The cookie holds a time and its HMAC under the key, so that the server
stores nothing and another key ends every visit. It is HttpOnly (a key kept by a script could be read by
any script), SameSite=Strict, and sent to the researcher's pages only: evaluators' requests never carry it.
"""

import hmac
from datetime import datetime, timedelta
from hashlib import sha256

from flask import Request, Response

from backend.foundation.errors import NotAllowed
from backend.stores.datadir import Keys
from backend.web import origins

PATH = "/results"
DASHBOARD = "/dashboard"
PATHS = (PATH, DASHBOARD)
_COOKIE = "openhype_results"
_LASTS = timedelta(hours=12)


def is_key(keys: Keys, key: str) -> bool:
    """Return whether this is the researcher's key, in a time that does not tell how much of it is right."""
    return hmac.compare_digest(key.encode(), keys.researcher.encode())


def is_in(request: Request, keys: Keys, now: datetime) -> bool:
    """Return whether the browser has shown the key within the last hours."""
    until, _, seal = request.cookies.get(_COOKIE, "").partition(".")
    if not hmac.compare_digest(seal.encode(), _seal(keys, until).encode()):
        return False
    return int(now.timestamp()) < int(until)


def let_in(reply: Response, request: Request, keys: Keys, now: datetime) -> None:
    """Give the browser the cookie, for each of the researcher's pages."""
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


def let_out(reply: Response) -> None:
    """Take the cookie away."""
    for path in PATHS:
        reply.delete_cookie(_COOKIE, path=path, httponly=True, samesite="Strict")


def check_origin(request: Request) -> None:
    """Raise NotAllowed where another site's page sent the form."""
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    is_elsewhere = site not in (None, "same-origin")
    if is_elsewhere or not origins.is_ours(origin, site, request.host, ()):
        raise NotAllowed("this form was sent from another site; open the page here and try again")


def _seal(keys: Keys, until: str) -> str:
    return hmac.new(keys.researcher.encode(), f"openhype results {until}".encode(), sha256).hexdigest()
