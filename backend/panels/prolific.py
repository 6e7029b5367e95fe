"""Prolific (https://docs.prolific.com/api-reference) as a `Panel`.

What counts is what is known of a call that failed. Refused: the panel answered that it will not.
Unreached: the connection was never made, or the panel said that it was too busy (429, or 503 with a time
to come back); nothing has happened, and the call may be sent again. Unsure: anything else, such as a
connection that broke, a time-out, or an error on the panel's side; it may have happened. A call that does
harm when sent twice is not sent again after an unsure one.

The token has full rights over the account and never expires: it stands in one header and nowhere else,
neither in a message nor in a log. Panel ids do not stand in messages either.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args
from urllib.parse import urlsplit

from backend.errors import InvalidInput
from backend.extras import not_installed
from backend.panels import Bonus, PanelRefused, PanelUnreached, PanelUnsure, Recruitment, Status, Submission
from backend.reading.texts import read_text

BASE_URL = "https://api.prolific.com/api/v1/"
CODES = {
    "done": ("COMPLETED", "participant", "MANUALLY_REVIEW"),
    "done_by_server": ("COMPLETED_BY_SERVER", "researcher", "MANUALLY_REVIEW"),
    "no_consent": ("NO_CONSENT", "participant", "REQUEST_RETURN"),
    "unfit_device": ("INCOMPATIBLE_DEVICE", "participant", "REQUEST_RETURN"),
    "screened_out": ("FIXED_SCREENOUT", "participant", "MANUALLY_REVIEW"),
    "fault": ("OTHER", "participant", "REQUEST_RETURN"),
}
"""What each completion code is to the panel: its type, who gives it, and what then happens.

Nobody is approved by a code: rewards are paid through the ledger. Only `done_by_server` works with
`complete`.
"""
_URL_PARAMETERS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
_CHANGES = {
    "publish": ("PUBLISH", {"ACTIVE", "PAUSED", "AWAITING_REVIEW", "COMPLETED"}),
    "pause": ("PAUSE", {"PAUSED", "AWAITING_REVIEW", "COMPLETED"}),
    "start": ("START", {"ACTIVE"}),
    "stop": ("STOP", {"AWAITING_REVIEW", "COMPLETED"}),
}
"""The panel's action, and the states in which it is done already."""
_DONE = {"awaiting_review", "approved", "partially_approved"}
_PAID = {"approved", "partially_approved"}
_PAGE = 100
_TRIES = 4
_WAIT_AT_MOST_S = 60
_CONNECT_S, _READ_S = 10, 60


class _Answered(PanelRefused):
    """A refusal with its HTTP status."""

    def __init__(self, message: str, status: int):
        super().__init__(message)
        self.status = status


class _TooBusy(PanelUnreached):
    """A refusal for now, with the time (s) after which to come back."""

    def __init__(self, message: str, after_s: float):
        super().__init__(message)
        self.after_s = after_s


class ProlificPanel:
    """`Panel` over Prolific's API. Safe to use from one thread."""

    name = "prolific"

    def __init__(
        self,
        token: str,
        base_url: str = BASE_URL,
        sleep: Callable[[float], None] = time.sleep,
        rng: Random | None = None,
        timeout_s: tuple[float, float] = (_CONNECT_S, _READ_S),
    ):
        self._requests = _requests()
        if not re.fullmatch(r"[\x21-\x7e]+", token):
            raise InvalidInput("the Prolific token must be one line of printable characters")
        self._auth = _auth(self._requests, token)
        self._base = base_url.rstrip("/") + "/"
        self._sleep, self._rng, self._timeout_s = sleep, rng or Random(), timeout_s
        self._http = self._requests.Session()
        # At its debug level urllib3 writes the address of each call, and with it panel ids.
        logging.getLogger("urllib3.connectionpool").setLevel(logging.WARNING)

    def create(self, order: Recruitment) -> str:
        for study in self._listed("studies/", "list studies"):
            if study["internal_name"] == order.name:
                return study["id"]
        body = {
            "name": order.title,
            "internal_name": order.name,
            "description": order.description,
            "external_study_url": f"{order.url}{'&' if '?' in order.url else '?'}{_URL_PARAMETERS}",
            "prolific_id_option": "url_parameters",
            "completion_codes": [_code(means, code) for means, code in order.codes.items()],
            "total_available_places": order.places,
            "estimated_completion_time": max(1, round(order.minutes)),
            "reward": order.reward_usd_cents,
            "device_compatibility": ["desktop"],
            "filters": list(order.filters),
        }
        return self._data("POST", "studies/", "create a study", body, repeats=False)["id"]

    def change(self, study: str, action: Literal["publish", "pause", "start", "stop"]) -> None:
        sent, reached = _CHANGES[action]
        path = f"studies/{_id(study)}/"
        state = _spelled(self._data("GET", path, "read a study")["status"]).upper()
        if state not in reached:
            self._call("POST", f"{path}transition/", f"{action} a study", {"action": sent}, repeats=False)

    def is_closed(self, study: str) -> bool:
        status = self._data("GET", f"studies/{_id(study)}/", "read a study")["status"]
        return _spelled(status) in ("awaiting_review", "completed")

    def set_places(self, study: str, places: int) -> None:
        self._call("PATCH", f"studies/{_id(study)}/", "raise the places", {"total_available_places": places})

    def cost_usd_cents(self, study: str) -> int:
        costs = self._data("GET", f"studies/{_id(study)}/cost/", "read a study's cost")
        amounts = [
            part
            for kind in ("rewards", "bonuses")
            for part in (costs.get(kind) or {}).values()
            if isinstance(part, Mapping)
        ]
        for amount in amounts:
            if amount["currency"] != "USD":
                raise PanelRefused(f"the account must pay in USD, not in {amount['currency']}")
        return sum(round(amount["amount"]) for amount in amounts)

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield all places that were ever taken; the list does not tell of bonuses."""
        seen = set()
        path = f"submissions/?study={_id(study)}&ordering=started_at&page_size={_PAGE}"
        for row in self._listed(path, "list submissions"):
            if row["id"] not in seen:
                seen.add(row["id"])
                yield _submission(row)

    def submission(self, id: str) -> Submission:
        return _submission(self._data("GET", f"submissions/{_id(id)}/", "read a submission"))

    def complete(self, submission: str, code: str) -> None:
        self._transition(submission, {"action": "COMPLETE", "completion_code": code}, "complete", _DONE)

    def approve(self, submission: str) -> None:
        self._transition(submission, {"action": "APPROVE"}, "approve", _PAID)

    def propose_bonuses(self, study: str, bonuses: Sequence[Bonus]) -> str:
        csv = "".join(f"{_id(bonus.submission)},{_dollars(bonus.usd_cents)}\n" for bonus in bonuses)
        body = {"study_id": study, "csv_bonuses": csv}
        bulk = self._data("POST", "submissions/bonus-payments/", "hand in bonuses", body)
        total = sum(bonus.usd_cents for bonus in bonuses)
        if bulk.get("amount", total) != total:
            raise PanelRefused(
                f"the panel understood bonuses of {bulk['amount']} cents where {total} were handed in; "
                "nothing was paid"
            )
        return bulk["id"]

    def pay_bonuses(self, payment: str) -> None:
        self._call("POST", f"bulk-bonus-payments/{_id(payment)}/pay/", "pay bonuses", repeats=False)

    def _transition(self, submission: str, body: dict[str, str], verb: str, done: set[str]) -> None:
        path = f"submissions/{_id(submission)}/"
        try:
            self._call("POST", f"{path}transition/", f"{verb} a submission", body)
        except PanelRefused:
            if self.submission(submission).status not in done:
                raise

    def _listed(self, path: str, what: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of all pages, by the links from each to the next."""
        url, is_first = path, True
        while url:
            try:
                page = self._data("GET", url, what)
            except _Answered as error:
                if error.status == 404 and not is_first:
                    return  # the list has become shorter meanwhile
                raise
            yield from page["results"]
            url, is_first = ((page.get("_links") or {}).get("next") or {}).get("href"), False

    def _data(self, method: str, path: str, what: str, body: Any = None, repeats: bool = True) -> Any:
        """Return what a call answers with; an answer that cannot be read leaves it unsure."""
        reply = self._call(method, path, what, body, repeats)
        try:
            data = reply.json()
        except ValueError:
            data = None
        if not isinstance(data, dict):
            raise PanelUnsure(f"Prolific's answer to the call to {what} could not be read")
        return data

    def _call(self, method: str, path: str, what: str, body: Any = None, repeats: bool = True) -> Any:
        """Return the reply to a call, sent again after a pause where that does no harm.

        Args:
            repeats: sent twice, the call does what it does when sent once.
        """
        url = self._within(path)
        unsure: PanelUnsure | None = None
        for attempt in range(_TRIES):
            pause_s = 2**attempt * self._rng.uniform(0.5, 1)
            try:
                return self._once(method, url, what, body, fresh=not repeats)
            except PanelUnreached as error:
                if attempt + 1 == _TRIES:
                    raise unsure or error from None
                if isinstance(error, _TooBusy):
                    pause_s += min(error.after_s, _WAIT_AT_MOST_S)
            except PanelUnsure as error:
                unsure = error
                if attempt + 1 == _TRIES or not repeats:
                    raise
            self._sleep(pause_s)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, url: str, what: str, body: Any, fresh: bool) -> Any:
        """Send a call once.

        On a connection kept alive, one that the panel has closed meanwhile looks like one that broke
        after sending; a call that must not be repeated gets a connection of its own.
        """
        errors = self._requests.exceptions
        http = self._requests.Session() if fresh else self._http
        try:
            reply = http.request(
                method, url, json=body, auth=self._auth, timeout=self._timeout_s, allow_redirects=False
            )
        except errors.RequestException as error:
            if _never_left(error):
                raise PanelUnreached(f"Prolific could not be reached to {what}") from None
            raise PanelUnsure(f"the connection to Prolific broke on the call to {what}") from None
        finally:
            if fresh:
                http.close()
        if 200 <= reply.status_code < 300:
            return reply
        raise _failure(reply, what, sent=[url, *(body or {}).values()])

    def _within(self, path: str) -> str:
        """Return the address of a path, or of a link that the panel gave, which must lead to the panel."""
        if "://" not in path:
            return self._base + path
        if urlsplit(path)[:2] != urlsplit(self._base)[:2]:
            raise PanelRefused("a link in an answer leads away from Prolific; it was not followed")
        return path


def open_prolific(environment: Mapping[str, str] | None = None) -> ProlificPanel:
    """Return the panel with the token in PROLIFIC_TOKEN, or in the file that PROLIFIC_TOKEN_FILE names.

    Raises:
        InvalidInput: there is no token.
        NotInstalled: the package `requests` is missing.
    """
    environment = os.environ if environment is None else environment
    token = environment.get("PROLIFIC_TOKEN", "").strip()
    file = environment.get("PROLIFIC_TOKEN_FILE", "")
    if not token and file:
        token = read_text(Path(file)).strip()
    if not token:
        raise InvalidInput(
            "there is no Prolific token; put it into PROLIFIC_TOKEN, or its file's path into "
            "PROLIFIC_TOKEN_FILE"
        )
    return ProlificPanel(token, environment.get("OPENHYPE_PROLIFIC_URL") or BASE_URL)


def _requests() -> Any:
    try:
        import requests
    except ImportError:
        raise not_installed("Prolific", "requests") from None
    return requests


def _auth(requests: Any, token: str) -> Any:
    class Token(requests.auth.AuthBase):
        """Sets the header of each call; given outright, so that no .netrc file takes its place."""

        def __call__(self, request: Any) -> Any:
            request.headers["Authorization"] = f"Token {token}"
            return request

    return Token()


def _never_left(error: Exception) -> bool:
    """Return whether a call failed before anything of it was sent: no connection was made."""
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

    reason = getattr(error.args[0], "reason", None) if error.args else None
    return isinstance(reason, (ConnectTimeoutError, NewConnectionError))


def _failure(reply: Any, what: str, sent: list) -> Exception:
    """Return the error that a reply which is none of success stands for."""
    status, after = reply.status_code, reply.headers.get("Retry-After", "")
    after_s = float(after) if re.fullmatch(r"\d{1,6}", after) else 0.0
    if status == 429 or (status == 503 and after):
        return _TooBusy(f"Prolific was too busy to {what} ({status})", after_s)
    if status >= 500 or status == 408:
        return PanelUnsure(f"Prolific failed on the call to {what} ({status})")
    if status in (401, 403):
        return _Answered(f"Prolific refuses this token to {what} ({status}); check PROLIFIC_TOKEN", status)
    return _Answered(f"Prolific refused to {what} ({status}){_reason(reply, sent)}", status)


def _reason(reply: Any, sent: list) -> str:
    """Return what the panel says of a refusal, without what could be an id or anything that was sent."""
    try:
        error = reply.json()["error"]
        text = f"{error['title']}: {error['detail']}"
    except (ValueError, KeyError, TypeError):
        return ""
    words = {word for part in sent for word in re.findall(r"[\w-]{8,}", str(part)) if re.search(r"\d", word)}
    for word in sorted(words, key=len, reverse=True):
        text = text.replace(word, "…")
    return ": " + re.sub(r"[0-9a-fA-F]{16,}", "…", text)[:300]


def _submission(row: Mapping[str, Any]) -> Submission:
    return Submission(
        id=row["id"],
        participant=row.get("participant") or row.get("participant_id") or "",
        status=_status(row["status"]),
        started_at=row.get("started_at") or "",
        bonuses_usd_cents=tuple(round(cents) for cents in row.get("bonus_payments") or ()),
    )


def _status(text: str) -> Status:
    status = _spelled(text)
    return status if status in get_args(Status) else "processing"


def _spelled(text: str) -> str:
    return re.sub(r"[\s_-]+", "_", text.strip()).lower()


def _code(means: str, code: str) -> dict[str, Any]:
    kind, actor, action = CODES[means]
    return {"code": code, "code_type": kind, "actor": actor, "actions": [{"action": action}]}


def _dollars(usd_cents: int) -> str:
    """Return cents as whole currency, in digits: 1 is 0.01, for 30 would pay thirty dollars."""
    if usd_cents < 1:
        raise InvalidInput(f"a bonus must be of at least 1 cent, not {usd_cents}")
    return f"{usd_cents // 100}.{usd_cents % 100:02d}"


def _id(text: str) -> str:
    """Return an id for a path or a row; one that came through a link may hold anything."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text):
        raise PanelRefused("an id of the panel must be of letters and digits")
    return text
