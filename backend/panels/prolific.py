"""Prolific as a `Panel`: its studies, submissions and money, over `prolific_http`."""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import quote, urlsplit

from backend.experiment.panel import LINK_QUERIES, PROLIFIC
from backend.foundation.errors import InvalidInput
from backend.foundation.text_files import read_text
from backend.panels.api import (
    Balance,
    Bonus,
    Cost,
    NotThere,
    PanelRefused,
    PanelUnsure,
    Recruitment,
    Rehearsal,
    ScreenOut,
    Status,
    StudyLink,
    StudyState,
    Submission,
    TokenRefused,
    Wages,
    Workspace,
)
from backend.panels.prolific_http import BASE_URL, ProlificHttp, each

CODES = {
    "done": ("COMPLETED", "participant", "MANUALLY_REVIEW"),
    "done_by_server": ("COMPLETED_BY_SERVER", "researcher", "MANUALLY_REVIEW"),
    "no_consent": ("NO_CONSENT", "participant", "REQUEST_RETURN"),
    "unfit_device": ("INCOMPATIBLE_DEVICE", "participant", "REQUEST_RETURN"),
    "screened_out": ("FIXED_SCREENOUT", "participant", "MANUALLY_REVIEW"),
    "fault": ("OTHER", "participant", "REQUEST_RETURN"),
}
"""How the panel treats each completion code: its type, who submits it, and what happens then.

No code approves anybody: rewards are paid through the ledger. Only `done_by_server` works with
`complete`. If screening out has a payment of its own, the server submits that code, too: anybody who
entered it would be paid.
"""
RETURN_REASONS = {
    "no_consent": "Withdrew consent",
    "unfit_device": "Encountered technical problems",
    "fault": "Encountered technical problems",
}
"""The reason given to a person who is asked to return the place, in the panel's own words."""
_SCREEN_OUT = "FIXED_SCREEN_OUT_PAYMENT"
_URL_PARAMETERS = LINK_QUERIES[PROLIFIC.name]
_CHANGES: dict[str, tuple[str, set[StudyState]]] = {
    "publish": ("PUBLISH", {"scheduled", "publishing", "active", "paused", "closed"}),
    "pause": ("PAUSE", {"paused", "closed"}),
    "start": ("START", {"publishing", "active"}),
    "stop": ("STOP", {"closed"}),
}
"""The panel's action, and the states in which it has been done already."""
_STATES: dict[str, StudyState] = {
    "unpublished": "draft",
    "scheduled": "scheduled",
    "publishing": "publishing",
    "active": "active",
    "paused": "paused",
    "awaiting_review": "closed",
    "completed": "closed",
}
_DONE = {"awaiting_review", "approved", "partially_approved"}
_PAID = {"approved", "partially_approved"}
_APPROVED_AT_ONCE = 1000
_URGENT_S = (3, 5)
"""Timeouts (s) for a connection and for an answer while somebody is waiting."""


class ProlificPanel:
    """`Panel` over Prolific's API. Safe to use from many threads."""

    name = "prolific"

    def __init__(self, token: str, base_url: str = BASE_URL, **options: Any):
        """Take the arguments of `ProlificHttp`."""
        self.http = ProlificHttp(token, base_url, **options)
        parts = urlsplit(base_url)
        self.keys_url = f"{parts.scheme}://{parts.netloc}/.well-known/study/jwks.json"
        """URL of the keys that sign the links of studies with a secure URL."""

    # money

    def workspaces(self) -> list[Workspace]:
        return [
            Workspace(row["id"], row.get("title") or "", self._projects(row["id"]))
            for row in self.http.rows("workspaces/?page=1", "list workspaces")
        ]

    def _projects(self, workspace: str) -> tuple[tuple[str, str], ...]:
        rows = self.http.rows(f"workspaces/{_id(workspace)}/projects/?page=1", "list projects")
        return tuple((row["id"], row.get("title") or "") for row in rows)

    def balance(self, workspace: str) -> Balance:
        reply = self.http.data("GET", f"workspaces/{_id(workspace)}/balance/", "read the balance")
        return Balance(reply["currency_code"], round(reply["available_balance"]))

    def wages(self, workspace: str, currency: str, filters: Sequence[Mapping[str, Any]] = ()) -> Wages:
        what = "read the wages that it asks for"
        path = f"reward-recommendations/?workspace_id={_id(workspace)}&currency={currency}"
        screeners = [one["filter_id"] for one in filters if one.get("filter_id")]
        path += f"&screener_ids={quote(','.join(screeners), safe='')}" if screeners else ""
        rows = list(each(self.http.json(self.http.call("GET", path, what), what, (list, dict))))
        if not rows:
            raise PanelUnsure(f"Prolific's answer to the request to {what} could not be read")
        newest = rows[0]
        return Wages(round(newest["min_reward_per_hour"]), round(newest["recommended_reward_per_hour"]))

    def cost(self, study: str, is_projected: bool = False) -> Cost:
        path = f"studies/{_id(study)}/cost/{'?is_projected=true' if is_projected else ''}"
        data = self.http.data("GET", path, "read a study's cost", is_new=True)
        parts = {
            (kind, name): (data.get(kind) or {}).get(name) or {}
            for kind in ("rewards", "bonuses")
            for name in ("rewards", "fees", "tax")
        }
        currencies = {part["currency"] for part in parts.values() if part.get("currency")}
        if len(currencies) != 1:
            raise PanelUnsure(f"Prolific reports a study's cost in {len(currencies)} currencies, not in one")
        amount = {key: round(part.get("amount") or 0) for key, part in parts.items()}
        return Cost(
            currency=currencies.pop(),
            rewards_cents=amount["rewards", "rewards"],
            bonuses_cents=amount["bonuses", "rewards"],
            fees_cents=amount["rewards", "fees"] + amount["bonuses", "fees"],
            tax_cents=amount["rewards", "tax"] + amount["bonuses", "tax"],
        )

    # studies

    def create(self, order: Recruitment) -> str:
        made = self._made_before(order)
        if made:
            return made
        body = _body(order)
        if order.project:
            body["project"] = order.project
        if not order.is_signed:  # few workspaces know of it
            del body["is_external_study_url_secure"]
        return self.http.data("POST", "studies/", "create a study", body, repeats=False)["id"]

    def revise(self, study: str, order: Recruitment) -> None:
        body = _body(order)
        if self.link(study).is_signed == order.is_signed:
            del body["is_external_study_url_secure"]
        self.http.call("PATCH", f"studies/{_id(study)}/", "change a draft", body, is_new=True)

    def discard(self, study: str) -> None:
        with suppress(NotThere):
            self.http.call("DELETE", f"studies/{_id(study)}/", "delete a draft", is_new=True)

    def link(self, study: str) -> StudyLink:
        record = self._study(study)
        url = re.split(r"[?&]PROLIFIC_PID=", record["external_study_url"])[0]
        is_signed = bool(record.get("is_external_study_url_secure"))
        return StudyLink(url, is_signed, record["total_available_places"])

    def _made_before(self, order: Recruitment) -> str | None:
        """Return the existing study of this order; lists give only its name, so that each match is read."""
        within = f"projects/{_id(order.project)}/studies/" if order.project else "studies/"
        rows = self.http.rows(f"{within}?ordering=-date_created", "list studies")
        for row in rows:
            if row.get("name", order.title) == order.title and self._internal_name(row) == order.name:
                return row["id"]
        return None

    def _internal_name(self, row: Mapping[str, Any]) -> str:
        if row.get("internal_name"):
            return row["internal_name"]
        try:
            return self._study(row["id"]).get("internal_name") or ""
        except NotThere:  # a draft that was deleted in the meantime
            return ""

    def _study(self, study: str) -> Mapping[str, Any]:
        return self.http.data("GET", f"studies/{_id(study)}/", "read a study", is_new=True)

    def state(self, study: str) -> StudyState:
        return _STATES.get(_spelled(str(self._study(study).get("status"))), "unknown")

    def change(self, study: str, action: Literal["publish", "pause", "start", "stop"]) -> None:
        sent, reached = _CHANGES[action]
        path = f"studies/{_id(study)}/transition/"
        if self.state(study) in reached:
            return
        try:
            self.http.call("POST", path, f"{action} a study", {"action": sent}, repeats=False, is_new=True)
        except TokenRefused:
            raise
        except PanelRefused:  # another process may just have done it
            if self.state(study) not in reached:
                raise

    def set_places(self, study: str, places: int) -> None:
        body = {"total_available_places": places}
        self.http.call("PATCH", f"studies/{_id(study)}/", "increase the number of places", body, is_new=True)

    def set_slots(self, study: str, code: str, screen_out: ScreenOut) -> None:
        body = {"completion_codes": [{"code": code, "actions": [_screen_out(screen_out)]}]}
        self.http.call("PATCH", f"studies/{_id(study)}/", "raise the screen-out slots", body, is_new=True)

    # submissions

    def submissions(self, study: str) -> Iterator[Submission]:
        """Yield all places that were ever taken; the list does not include bonuses."""
        path = f"submissions/?study={_id(study)}&ordering=started_at"
        rows = map(_submission, self.http.rows(path, "list submissions"))
        yield from sorted(rows, key=lambda one: one.started_at)

    def submission(self, id: str, is_urgent: bool = False) -> Submission:
        options = {"tries": 1, "timeout_s": _URGENT_S} if is_urgent else {}
        return _submission(self.http.data("GET", f"submissions/{_id(id)}/", "read a submission", **options))

    def complete(self, submission: str, code: str) -> None:
        self._transition(submission, {"action": "COMPLETE", "completion_code": code}, "complete", _DONE)

    def approve(self, submissions: Sequence[str]) -> None:
        refused: PanelRefused | None = None
        for first in range(0, len(submissions), _APPROVED_AT_ONCE):
            ids = [_id(id) for id in submissions[first : first + _APPROVED_AT_ONCE]]
            try:
                body = {"submission_ids": ids}
                self.http.call("POST", "submissions/bulk-approve/", "approve submissions", body)
            except TokenRefused:
                raise
            except PanelRefused:  # one that cannot be approved must not block the others
                refused = self._approve_each(ids) or refused
        if refused is not None:
            raise refused

    def _approve_each(self, ids: Sequence[str]) -> PanelRefused | None:
        """Approve submissions one by one; return why one could not be, if so."""
        refused = None
        for id in ids:
            try:
                self._transition(id, {"action": "APPROVE"}, "approve", _PAID)
            except TokenRefused:
                raise
            except PanelRefused as error:
                refused = error
        return refused

    def ask_to_return(self, submission: str, reason: str) -> None:
        path = f"submissions/{_id(submission)}/request-return/"
        body = {"request_return_reasons": [reason]}
        self.http.call("POST", path, "ask for the return of a submission", body, is_new=True)

    def _transition(self, submission: str, body: dict[str, str], verb: str, done: set[str]) -> None:
        path = f"submissions/{_id(submission)}/"
        try:
            self.http.call("POST", f"{path}transition/", f"{verb} a submission", body, is_new=True)
        except TokenRefused:
            raise
        except PanelRefused:
            if self.submission(submission).status not in done:
                raise

    # bonuses

    def propose_bonuses(self, study: str, bonuses: Sequence[Bonus]) -> str:
        csv = "".join(f"{_id(bonus.submission)},{_whole_currency(bonus.cents)}\n" for bonus in bonuses)
        body = {"study_id": study, "csv_bonuses": csv}
        bulk = self.http.data("POST", "submissions/bonus-payments/", "hand in bonuses", body)
        total = sum(bonus.cents for bonus in bonuses)
        if bulk.get("amount", total) != total:
            raise PanelRefused(
                f"the panel understood bonuses of {bulk['amount']:g} cents where {total} were handed in; "
                "nothing was paid"
            )
        return bulk["id"]

    def pay_bonuses(self, payment: str) -> None:
        path = f"bulk-bonus-payments/{_id(payment)}/pay/"
        self.http.call("POST", path, "pay bonuses", repeats=False, is_new=True)

    # trying a study out

    def add_test_participant(self, email: str) -> str:
        path, what = "researchers/participants/", "make a test participant"
        return self.http.data("POST", path, what, {"email": email}, repeats=False)["participant_id"]

    def test(self, study: str) -> Rehearsal:
        path = f"studies/{_id(study)}/test-study"
        made = self.http.data("POST", path, "make a test study", repeats=False, is_new=True)
        return Rehearsal(made["study_id"], made.get("study_url") or "")


def open_prolific(environment: Mapping[str, str] | None = None) -> ProlificPanel:
    """Return the panel with the token in PROLIFIC_TOKEN, or in the file named by PROLIFIC_TOKEN_FILE.

    Raises:
        InvalidInput: there is no token.
        NotInstalled: the package `requests` is missing.
    """
    environment = os.environ if environment is None else environment
    token = prolific_token(environment)
    return ProlificPanel(token, environment.get("OPENHYPE_PROLIFIC_URL") or BASE_URL)


def has_token(environment: Mapping[str, str] | None = None) -> bool:
    """Return whether a token is configured, valid or not."""
    environment = os.environ if environment is None else environment
    return bool(environment.get("PROLIFIC_TOKEN") or environment.get("PROLIFIC_TOKEN_FILE"))


def prolific_token(environment: Mapping[str, str]) -> str:
    """Return the token in PROLIFIC_TOKEN, or in the file named by PROLIFIC_TOKEN_FILE.

    Raises:
        InvalidInput: there is none.
    """
    token = environment.get("PROLIFIC_TOKEN", "").strip()
    file = environment.get("PROLIFIC_TOKEN_FILE", "")
    if not token and file:
        token = read_text(Path(file)).strip()
    if not token:
        raise InvalidInput(
            "there is no Prolific token; put it into PROLIFIC_TOKEN, or its file's path into "
            "PROLIFIC_TOKEN_FILE"
        )
    return token


def whole_minutes(minutes: float) -> int:
    """Return the minutes from which the panel computes the wage: rounded up to whole ones."""
    return max(1, math.ceil(minutes))


def longest_minutes(minutes: int) -> int:
    """Return the minutes after which a submission times out, which frees an abandoned place.

    Three times the estimate plus two minutes, but at least the panel's own minimum: two minutes plus
    twice the estimate plus twice its square root.
    """
    return max(3 * minutes + 2, math.ceil(2 + 2 * minutes + 2 * math.sqrt(minutes)))


def _submission(row: Mapping[str, Any]) -> Submission:
    studies = (row.get("study_id"), row.get("parent_study_id"))
    return Submission(
        id=row["id"],
        participant=row.get("participant") or row.get("participant_id") or "",
        status=_status(row["status"]),
        started_at=row.get("started_at") or "",
        bonuses_cents=tuple(round(cents) for cents in row.get("bonus_payments") or ()),
        code=row.get("entered_code") or row.get("study_code") or "",
        completed_at=row.get("completed_at") or "",
        is_asked_to_return=bool(row.get("return_requested")),
        studies=tuple(filter(None, studies)),
    )


def _status(text: str) -> Status:
    known: tuple[Status, ...] = get_args(Status)
    spelled = _spelled(text)
    return next((status for status in known if status == spelled), "processing")


def _spelled(text: str) -> str:
    return re.sub(r"[\s_-]+", "_", text.strip()).lower()


def _body(order: Recruitment) -> dict[str, Any]:
    """Return a study as the API takes it, but for the project, which it takes for a new one only."""
    minutes = whole_minutes(order.minutes)
    return {
        "name": order.title,
        "internal_name": order.name,
        "description": order.description,
        "external_study_url": f"{order.url}{'&' if '?' in order.url else '?'}{_URL_PARAMETERS}",
        "prolific_id_option": "url_parameters",
        "completion_codes": [_code(means, code, order) for means, code in order.codes.items()],
        "total_available_places": order.places,
        "estimated_completion_time": minutes,
        "maximum_allowed_time": longest_minutes(minutes),
        "reward": order.reward_cents,
        "device_compatibility": ["desktop"],
        "filters": list(order.filters),
        "is_external_study_url_secure": order.is_signed,
    }


def _code(means: str, code: str, order: Recruitment) -> dict[str, Any]:
    kind, actor, action = CODES[means]
    actions: dict[str, Any] = {"action": action}
    if action == "REQUEST_RETURN":
        actions["return_reason"] = RETURN_REASONS[means]
    if means == "screened_out" and order.screen_out:
        actor, actions = "researcher", _screen_out(order.screen_out)
    return {"code": code, "code_type": kind, "actor": actor, "actions": [actions]}


def _screen_out(terms: ScreenOut) -> dict[str, Any]:
    return {"action": _SCREEN_OUT, "fixed_screen_out_reward": terms.reward_cents, "slots": terms.slots}


def _whole_currency(cents: int) -> str:
    """Return cents as a decimal number of whole currency: 1 is 0.01, and 30 would mean thirty dollars."""
    if cents < 1:
        raise InvalidInput(f"a bonus must be of at least 1 cent, not {cents}")
    return f"{cents // 100}.{cents % 100:02d}"


def _id(text: str) -> str:
    """Return an id checked for use in a path or a row; one that came through a link may be anything."""
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", text):
        raise NotThere("an id of the panel must be of letters and digits")
    return text
