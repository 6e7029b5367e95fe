"""Requests to a server, with the token in a header, by `urllib`: its proxies and certificates apply.

The token is sent to the server's own address alone: no redirect to another one is followed, and parts of an
upload that go to another host (S3) carry only the headers that the server named for them. Requests that may
be repeated are sent again after a lost connection, 429, 502, 503 and 504; others never are.
"""

import hashlib
import http.client
import json
import logging
import ssl
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeVar
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urljoin, urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, Request, build_opener

from backend import __version__
from backend.client.errors import error_of
from backend.client.retries import Retries, stated_wait_s
from backend.foundation.errors import InvalidInput, NotAllowed, OpenhypeError, Unavailable, brief
from backend.foundation.exchange_deadline import Deadline, TooLong, whole_body

T = TypeVar("T")

_TIMEOUT_S = 60.0
"""Within which each part of a reply has to come."""
_WHOLE_S = 600.0
"""Within which a whole request is done: it sends up to 5 MiB, perhaps on a slow line."""
_MOST_REPLY_BYTES = 256 * 1024 * 1024
_MOST_MESSAGE = 2000
_TEMPORARY = (429, 502, 503, 504)
_REDIRECTS = (301, 302, 303, 307, 308)
_PORTS = {"http": 80, "https": 443}
_NO_TLS = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE")
"""How OpenSSL calls an answer that is none of TLS."""
_LOG = logging.getLogger("openhype")


class _NoRedirects(HTTPRedirectHandler):
    """Hands every redirect to the caller, since the headers of a request would go along with it."""

    def http_error_302(self, req: Any, fp: Any, code: Any, msg: Any, headers: Any) -> None:
        return None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Timed(Request):
    """A request with the deadline of its connection."""

    deadline: Deadline


class _Http(HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(lambda *at, **how: req.deadline.over(http.client.HTTPConnection(*at, **how)), req)


class _Https(HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        return self.do_open(
            lambda *at, **how: req.deadline.over(http.client.HTTPSConnection(*at, **how)), req
        )


class Lost(Unavailable):
    """The server could not be reached, or the connection broke; whether it acted is not known."""

    code = "lost"


class Connection:
    """A server and the token by which it knows the caller."""

    def __init__(
        self,
        url: str,
        token: str,
        retries: Retries | None = None,
        timeout_s: float = _TIMEOUT_S,
        whole_s: float = _WHOLE_S,
    ):
        self.url = _address(url)
        self._token = _checked(token)
        self._retries = retries or Retries()
        self._timeout_s, self._whole_s = timeout_s, whole_s
        self._opener = build_opener(_NoRedirects, _Http, _Https)

    def __repr__(self) -> str:
        return f"Connection({self.url!r})"

    def get(self, path: str, is_patient: bool = True) -> Any:
        """Return the JSON of a path; unless `is_patient` is False, sent again if the connection is lost."""
        return self._tried(lambda: self._json("GET", path, None), is_patient)

    def post(self, path: str, body: Mapping[str, Any], repeatable: bool) -> Any:
        """Post JSON and return the JSON of the reply.

        Args:
            repeatable: whether sending it twice does the same as sending it once.
        """
        data = json.dumps(body).encode()
        return self._tried(lambda: self._json("POST", path, data), repeatable)

    def put(self, url: str, content: bytes, headers: Mapping[str, str]) -> None:
        """Put bytes to a path of the server, or to an address elsewhere; sent again if it does not arrive.

        Args:
            headers: those that the server named for this address.
        """
        is_below = url.startswith(f"{urlsplit(self.url).path}/")  # a path from the top, as browsers take it
        target = urljoin(self.url, url) if is_below or not url.startswith("/") else f"{self.url}{url}"
        sent = {"Content-Type": "application/octet-stream", **headers}
        if self._is_ours(target):
            sent |= self._credentials()
        elif self.url.startswith("https:") and not target.startswith("https:"):  # as http://169.254.169.254
            raise InvalidInput(
                f"{self.url} wants parts of an upload sent to {brief(target)}, without encryption; its own "
                "address is https, so that these must be as well"
            )
        self._tried(lambda: self._send(_Timed(target, content, sent, method="PUT")), is_repeatable=True)

    def _tried(self, attempt: Callable[[], T], is_repeatable: bool) -> T:
        """Return what `attempt` does, tried again after temporary failures if that does no harm."""
        count, began = 0, None
        while True:
            try:
                return attempt()
            except (Lost, _Temporary) as failure:
                began = self._retries.clock() if began is None else began
                stated_s = failure.stated_s if isinstance(failure, _Temporary) else None
                error = failure.error if isinstance(failure, _Temporary) else failure
                pause_s = self._retries.pause_s(count, began, stated_s) if is_repeatable else None
                if pause_s is None:
                    raise error from None
                if not count:
                    _LOG.warning("%s; trying again for up to %g s", error, self._retries.patience_s)
                self._retries.sleep(pause_s)
                count += 1

    def _json(self, verb: str, path: str, data: bytes | None) -> Any:
        headers = {"Accept": "application/json", **self._credentials()}
        if data is not None:
            headers["Content-Type"] = "application/json"
            # CloudFront's signature needs the digest
            headers["X-Amz-Content-Sha256"] = hashlib.sha256(data).hexdigest()
        content = self._send(_Timed(f"{self.url}{path}", data, headers, method=verb))
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError):
            reply = None
        if not isinstance(reply, dict):
            raise InvalidInput(f"{self.url} does not answer as openhype does; is the address right?")
        return reply

    def _credentials(self) -> dict[str, str]:
        # Authorization as well would be lost behind CloudFront, which sets its own
        return {"X-Openhype-Token": self._token}

    def _is_ours(self, url: str) -> bool:
        return _origin(url) == _origin(self.url)

    def _send(self, request: _Timed) -> bytes:
        """Return the body of a successful reply.

        Raises:
            Lost: no reply came. _Temporary: one that asks to come back. OpenhypeError: any other refusal.
        """
        request.add_header("User-Agent", f"openhype/{__version__}")
        host = urlsplit(request.full_url).netloc.rpartition("@")[2]
        try:
            with Deadline(self._whole_s) as request.deadline:
                try:
                    with self._opener.open(request, timeout=self._timeout_s) as reply:
                        content = whole_body(reply, _MOST_REPLY_BYTES)
                except HTTPError as error:
                    with error:
                        _refuse(error, host)
                request.deadline.left_s()  # what was cut off looks like an end
                return content
        except (URLError, OSError, http.client.HTTPException) as error:
            raise _unreached(error, host) from None
        except TooLong:
            raise InvalidInput(f"{host} sent a reply of more than {_MOST_REPLY_BYTES} bytes") from None


class _Temporary(Exception):
    """A refusal that asks to come back; `error` is what it is if that does not help."""

    def __init__(self, error: OpenhypeError, stated_s: float | None):
        super().__init__(str(error))
        self.error, self.stated_s = error, stated_s


def _refuse(reply: HTTPError, host: str) -> NoReturn:
    """Raise the error that an unsuccessful reply stands for."""
    if reply.code in _REDIRECTS:
        place = _place(reply)
        raise InvalidInput(f"{host} redirects to {place}, where no token is sent; give that address instead")
    details = _details(reply)
    message = str(
        details.get("message") or f"{host} answered {reply.code} {http.client.responses.get(reply.code, '')}"
    )
    error = error_of(
        reply.code, str(details.get("code") or ""), message[:_MOST_MESSAGE], str(details.get("id") or "")
    )
    is_final = error.code == "limit_reached"
    if reply.code in _TEMPORARY and not is_final:
        raise _Temporary(error, stated_wait_s(reply.headers.get("Retry-After")))
    raise error


def _place(redirect: HTTPError) -> str:
    """Return the server that a redirect leads to, without what may be secret in its address."""
    try:
        target = urlsplit(urljoin(redirect.url, redirect.headers.get("Location", "")))
    except ValueError:
        return "another address"
    return f"{target.scheme}://{target.netloc.rpartition('@')[2]}"


def _details(reply: HTTPError) -> Mapping[str, Any]:
    """Return the error that the body of a reply describes; {} if it is none of openhype's."""
    try:
        body = json.loads(reply.read(1 << 20))
        details = body["error"]
    except (ValueError, RecursionError, OSError, http.client.HTTPException, KeyError, TypeError):
        return {}
    return details if isinstance(details, Mapping) else {}


def _unreached(error: Exception, host: str) -> OpenhypeError:
    cause = error.reason if isinstance(error, URLError) else error
    if isinstance(cause, ssl.SSLError) and cause.reason in _NO_TLS:
        return InvalidInput(f"{host} answers without encryption; is its address http:// and not https://?")
    if isinstance(cause, ssl.SSLCertVerificationError):
        return NotAllowed(f"the certificate of {host} is not valid: {cause.verify_message}", "certificate")
    what = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return Lost(f"{host} cannot be reached: {what}")


def segment(name: str) -> str:
    """Return a name or an id as a segment of a path; one that is no valid text names nothing there is.

    Raises:
        InvalidInput: it is no text, or empty.
    """
    if not isinstance(name, str) or not name:
        raise InvalidInput(f"the name of a study, or an id, must be a text, not {brief(name)}")
    return quote(name, safe="", errors="backslashreplace")


def _address(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_one = parts.scheme in _PORTS and bool((parts.hostname or "").encode("idna")) and parts.port != 0
    except (ValueError, AttributeError):  # an invalid host, port or IPv6 address; no text
        is_one = False
    is_sendable = is_one and url.isprintable() and " " not in url and parts.path.isascii()
    if not is_sendable or parts.query or parts.fragment:
        raise InvalidInput(f"a server's address must be like https://study.example.org, not {brief(url)}")
    if parts.username or parts.password:
        raise InvalidInput("a server's address must be without a user's name and password")
    return url.rstrip("/")


def _checked(token: str) -> str:
    """Return a token; its text is in no message."""
    if not isinstance(token, str) or not token.strip():
        raise InvalidInput("a token is missing; a researcher makes one with `openhype members`")
    bare = token.strip()
    if not bare.isascii() or not bare.isprintable() or " " in bare:
        raise InvalidInput("the token must be one word of letters, digits, - and _")
    return bare


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)
