"""Calls to Prolific's API (https://docs.prolific.com/api-reference), and what is known if one fails.

Refused: the panel refused the call. Unreached: the connection was never made, or the panel was too busy
(429, or 503 with a time to come back); nothing has happened, and the call may be repeated. Unsure:
anything else, such as a broken connection, a timeout, or an error on the panel's side; it may have
happened. After an unsure result, a call that is harmful when repeated is not retried.

The token has full rights over the account and never expires: it appears in one header and nowhere else,
neither in a message nor in a log. Panel ids do not appear in messages either.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random
from typing import Any
from urllib.parse import urlsplit

from backend.foundation.errors import InvalidInput
from backend.foundation.optional_packages import not_installed
from backend.panels.api import NotThere, PanelRefused, PanelUnreached, PanelUnsure, TokenRefused

BASE_URL = "https://api.prolific.com/api/v1/"
TRIES = 4
_WAIT_AT_MOST_S = 60
_CONNECT_S, _READ_S = 10, 60
_PASSES = (100, 67, 83, 50, 91, 59)
"""Page sizes of the successive passes over a list of several pages, until nothing new is found."""


class _TooBusy(PanelUnreached):
    """A temporary refusal, with the time (s) after which to retry."""

    def __init__(self, message: str, after_s: float):
        super().__init__(message)
        self.after_s = after_s


class ProlificHttp:
    """The API's calls. Safe to use from many threads, each of which has its own connection."""

    def __init__(
        self,
        token: str,
        base_url: str = BASE_URL,
        sleep: Callable[[float], None] = time.sleep,
        rng: Random | None = None,
        timeout_s: tuple[float, float] = (_CONNECT_S, _READ_S),
        http: Callable[[], Any] | None = None,
        **bounds: Any,
    ):
        """
        Args:
            http: creates the HTTP client, with the interface of `requests.Session`; by default, a
                `BoundedSession`.
            bounds: those of `BoundedSession`.
        """
        self._requests = _requests()
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise InvalidInput("the Prolific token must be one line of printable characters")
        self._auth = _auth(self._requests, token)
        self._base = base_url.rstrip("/") + "/"
        self._sleep, self._rng, self._timeout_s = sleep, rng or Random(), timeout_s
        self._open = http or partial(_bounded_session(), **bounds)
        self._of_thread = threading.local()
        # At debug level urllib3 logs the address of each call, which contains panel ids.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)

    def rows(self, path: str, what: str) -> list[dict[str, Any]]:
        """Return the rows of a list with all its pages, each row once, in its latest version.

        Rows move from page to page while a list is read, and one that crosses a page border is missed.
        So a list of several pages is read again, from the other end and with other page borders, until
        nothing new is found. Even so a row may be missing: absence from the list proves nothing.

        Args:
            path: with a query; the page size is added to it.
        """
        by_id: dict[str, dict[str, Any]] = {}
        orders = [path, re.sub(r"ordering=(-?)", lambda m: f"ordering={'' if m[1] else '-'}", path)]
        for number, size in enumerate(_PASSES):
            known = len(by_id)
            rows, pages = self._pages(f"{orders[number % 2]}&page_size={size}", what)
            by_id.update((row["id"], row) for row in rows)
            if pages == 1 or (number and len(by_id) == known):
                break
        return list(by_id.values())

    def _pages(self, path: str, what: str) -> tuple[list[dict[str, Any]], int]:
        """Return the rows of all pages, following the links to the next page, and the number of pages."""
        rows: list[dict[str, Any]] = []
        pages = 0
        url: str | None = path
        while url:
            try:
                page = self.data("GET", url, what)
            except NotThere:
                if pages == 0:
                    raise
                return rows, pages  # the list has become shorter in the meantime
            rows += page["results"]
            pages, url = pages + 1, ((page.get("_links") or {}).get("next") or {}).get("href")
        return rows, pages

    def data(self, method: str, path: str, what: str, body: Any = None, **options: Any) -> Any:
        """Return the object in the reply to a call; PanelUnsure if the reply cannot be read."""
        return self.json(self.call(method, path, what, body, **options), what)

    def json(self, reply: Any, what: str, kind: type | tuple[type, ...] = dict) -> Any:
        """Return the decoded JSON of a reply, which must be of the type `kind`."""
        try:
            data = reply.json()
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, kind):
            raise PanelUnsure(f"Prolific's answer to the request to {what} could not be read")
        return data

    def call(
        self,
        method: str,
        path: str,
        what: str,
        body: Any = None,
        repeats: bool = True,
        is_new: bool = False,
        tries: int = TRIES,
        timeout_s: tuple[float, float] | None = None,
    ) -> Any:
        """Return the reply to a call, retried after a pause if that is safe.

        Args:
            repeats: whether the call is idempotent.
            is_new: the object named by the path may have just been created, and not be known yet.
        """
        url = self._within(path)
        unsure: PanelUnsure | None = None
        for attempt in range(tries):
            pause_s = 2**attempt * self._rng.uniform(0.5, 1)
            is_last = attempt + 1 == tries
            try:
                return self._once(method, url, what, body, not repeats, timeout_s or self._timeout_s)
            except PanelUnreached as error:
                if is_last:
                    raise unsure or error from None
                if isinstance(error, _TooBusy):
                    pause_s += min(error.after_s, _WAIT_AT_MOST_S)
            except PanelUnsure as error:
                unsure = error
                if is_last or not repeats:
                    raise
            except NotThere:
                if is_last or not is_new:
                    raise
            self._sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _once(
        self, method: str, url: str, what: str, body: Any, fresh: bool, timeout_s: tuple[float, float]
    ) -> Any:
        """Send a call once.

        On a kept-alive connection, one closed by the panel in the meantime looks like one that broke
        after sending; a call that must not be repeated therefore gets a new connection.
        """
        errors = self._requests.exceptions
        http = self._open() if fresh else self._mine()
        try:
            reply = http.request(
                method, url, json=body, auth=self._auth, timeout=timeout_s, allow_redirects=False
            )
        except errors.RequestException as error:
            if _never_left(error):
                raise PanelUnreached(f"Prolific could not be reached to {what}") from None
            raise PanelUnsure(f"the connection to Prolific broke on the request to {what}") from None
        finally:
            if fresh:
                http.close()
        if 200 <= reply.status_code < 300:
            return reply
        raise _failure(reply, what, sent=[url, *(body or {}).values()])

    def _mine(self) -> Any:
        """Return this thread's connection."""
        if not hasattr(self._of_thread, "http"):
            self._of_thread.http = self._open()
        return self._of_thread.http

    def _within(self, path: str) -> str:
        """Return the URL of a path, or of a link from the panel, which must lead to the panel."""
        if "://" not in path:
            return self._base + path
        if urlsplit(path)[:2] != urlsplit(self._base)[:2]:
            raise PanelRefused("a link in an answer leads away from Prolific; it was not followed")
        return path


def _requests() -> Any:
    try:
        import requests
    except ImportError:
        raise not_installed("Prolific", "requests") from None
    return requests


def _bounded_session() -> Any:
    from backend.panels.bounded_http import BoundedSession

    return BoundedSession


def _auth(requests: Any, token: str) -> Any:
    class Token(requests.auth.AuthBase):
        """Sets the header of each call explicitly, so that no .netrc file overrides it."""

        def __call__(self, request: Any) -> Any:
            request.headers["Authorization"] = f"Token {token}"
            return request

    return Token()


def _never_left(error: Exception) -> bool:
    """Return whether a call failed before any of it was sent: no connection was made."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, (ConnectTimeoutError, NewConnectionError))


def _failure(reply: Any, what: str, sent: list) -> Exception:
    """Map an unsuccessful response to an exception."""
    status, after = reply.status_code, reply.headers.get("Retry-After", "")
    after_s = float(after) if re.fullmatch(r"\d{1,6}", after) else 0.0
    if status == 429 or (status == 503 and after):
        return _TooBusy(f"Prolific was too busy to {what} ({status})", after_s)
    if status >= 500 or status == 408:
        return PanelUnsure(f"Prolific failed on the request to {what} ({status})")
    if status in (401, 403):
        reason = _reason(reply, sent)
        return TokenRefused(
            f"Prolific refuses this token to {what} ({status}){reason}; check PROLIFIC_TOKEN, which may have "
            "been deleted at Prolific, or lack a right"
        )
    kind = NotThere if status == 404 else PanelRefused
    return kind(f"Prolific refused to {what} ({status}){_reason(reply, sent)}")


def _reason(reply: Any, sent: list) -> str:
    """Return the panel's reason for a refusal, without possible ids or anything that was sent."""
    try:
        error = reply.json()["error"]
        text = f"{error['title']}: {_detail_text(error['detail'])}"
    except (ValueError, RecursionError, KeyError, TypeError):
        return ""
    words = {word for part in sent for word in re.findall(r"[\w-]{8,}", str(part)) if re.search(r"\d", word)}
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "…")
    return ": " + re.sub(r"[0-9a-fA-F]{16,}", "…", text)[:300]


def _detail_text(detail: Any) -> str:
    """Return the detail of an error, a text or texts by field, as one text."""
    if isinstance(detail, Mapping):
        return "; ".join(f"{name}: {_detail_text(value)}" for name, value in detail.items())
    return ", ".join(map(str, detail)) if isinstance(detail, list) else str(detail)


def each(reply: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a reply: a single object, a list, or an object with `results`."""
    if isinstance(reply, Mapping):
        reply = reply.get("results", [reply])
    yield from (one for one in reply if isinstance(one, Mapping))
