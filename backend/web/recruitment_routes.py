"""Routes that recruit evaluators at a panel: the plan with its cost, confirmed, then carried out once."""

from typing import Any, cast

from flask import Flask, request

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.members.roles import RESEARCHER
from backend.panels.prolific import ProlificPanel, has_token, open_prolific
from backend.recruitment import recruit, study_recruitment
from backend.recruitment.study_recruitment import Wish
from backend.studies import confirmations
from backend.studies.confirmations import Offer
from backend.web import queries
from backend.web.bodies import body
from backend.web.context import Context
from backend.web.money_types import (
    RecruitDone,
    RecruitmentChange,
    RecruitmentState,
    RecruitPlan,
    RecruitTerms,
    RecruitWish,
    Rehearsal,
    Subscribed,
    WebhookWish,
)
from backend.web.operations import TRUE_OR_FALSE, Operation, Operations
from backend.web.progress import panel_warnings
from backend.web.study_record import recruited
from backend.web.study_routes import base_url

_PATH = "/api/studies/{study}"
_WHOLE = {"type": "integer", "minimum": 1}
_CENTS = {"type": "integer", "minimum": 0}
_TEXT = {"type": "string", "maxLength": 300}
OPERATIONS: Operations = {
    f"GET {_PATH}/recruitment": Operation(
        "How a recruitment stands, and what recruiting as asked for would cost, with its confirmation",
        {200: ("State, plan and confirmation; nothing is done", RecruitmentState)},
        "400 404",
        role=RESEARCHER,
        parameters=(
            ("url", "query", _TEXT, "The server as evaluators reach it; by default this address"),
            ("places", "query", _WHOLE, "By default every session wanted"),
            ("fee_percent", "query", _TEXT, "The panel's fee on top of pay"),
            ("vat_percent", "query", _TEXT, "VAT on the fee"),
            ("budget_usd_cents", "query", _CENTS, "Maximum total cost; by default the plan's"),
            ("completion", "query", {"type": "string", "enum": ["server", "code"]}, "Who reports completion"),
            ("is_signed", "query", TRUE_OR_FALSE, "Have the panel sign links"),
            ("screen_out_usd_cents", "query", _CENTS, "What the panel pays for being screened out"),
            ("slots", "query", _WHOLE, "For how many people"),
            ("workspace", "query", _TEXT, "The workspace that pays, if there are several"),
            ("project", "query", _TEXT, "The project that it is paid by, if there are several"),
        ),
    ),
    f"POST {_PATH}/recruit": Operation(
        "Recruit as it was confirmed; the same confirmation again does nothing twice",
        {200: ("The recruitment", RecruitDone)},
        "400 404 409 415 501 503",
        RecruitWish,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/recruitment": Operation(
        "Pause a recruitment, resume it, or stop it for good",
        {200: ("The recruitment", RecruitDone)},
        "400 404 409 415 501 503",
        RecruitmentChange,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/recruitment/rehearsal": Operation(
        "Publish a copy to test participants, whose sessions are simulated: neither scored nor paid",
        {200: ("The recruitment, with the rehearsal's address", RecruitDone)},
        "400 404 409 415 501 503",
        Rehearsal,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/recruitment/webhooks": Operation(
        "Have the panel notify a server of each place that changes; it takes effect when that starts again",
        {200: ("The address that is notified", Subscribed)},
        "400 404 409 415 501 503",
        WebhookWish,
        role=RESEARCHER,
    ),
}


def panel() -> ProlificPanel:
    """Return the panel's API.

    Raises:
        Conflict: `no_panel_token`.
    """
    if not has_token():
        raise Conflict(
            "this server has no token for Prolific: start it with PROLIFIC_TOKEN, or PROLIFIC_TOKEN_FILE",
            code="no_panel_token",
        )
    return open_prolific()


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes."""
    store = context.store

    def done(study: Study) -> RecruitDone:
        found = recruited(store, study)
        assert found is not None  # a recruitment is never removed while its study is there
        return {"recruited": found}

    @app.get("/api/studies/<study>/recruitment")
    def recruitment(study: str) -> RecruitmentState:
        found = store.study(study)
        reply: RecruitmentState = {
            "recruited": recruited(store, found),
            "plan": None,
            "confirmation": None,
            "hindrance": None,
            "at_panel": None,
            "trouble": None,
            "warnings": panel_warnings(store, found),
        }
        wish = _wish_in_query(context)
        at_panel = open_prolific() if has_token() else None
        try:
            offer, plan = study_recruitment.offer(store, found, at_panel, wish)
            reply["plan"] = cast(RecruitPlan, plan)
            reply["confirmation"] = confirmations.confirmation(store, found, "recruit", offer)
        except OpenhypeError as error:
            reply["hindrance"] = str(error)
        if reply["recruited"]:
            _look(context, found, reply)
        return reply

    @app.post("/api/studies/<study>/recruit")
    def recruit_evaluators(study: str) -> RecruitDone:
        found, wanted = store.study(study), body(RecruitWish)
        at_panel = panel()
        wish = _wish(context, wanted)

        def current() -> Offer:
            return study_recruitment.offer(store, found, at_panel, wish)[0]

        asked = (store, found, "recruit", wanted.confirmation)
        if not confirmations.is_carried_out(*asked):
            order = confirmations.accept(*asked, current)
            wish = Wish(**order["wish"])
            study_recruitment.publish(store, at_panel, found, wish, order["total_usd_cents"])
            confirmations.note_carried_out(*asked)
        return done(found)

    @app.post("/api/studies/<study>/recruitment")
    def change_recruitment(study: str) -> RecruitDone:
        found, wanted = store.study(study), body(RecruitmentChange)
        recruit.recruitment(store, found)
        study_recruitment.change(store, panel(), found, wanted.action, wanted.slots)
        return done(found)

    @app.post("/api/studies/<study>/recruitment/rehearsal")
    def rehearse(study: str) -> RecruitDone:
        found, wanted = store.study(study), body(Rehearsal)
        study_recruitment.rehearse(store, panel(), found, _wish(context, wanted), wanted.email)
        return done(found)

    @app.post("/api/studies/<study>/recruitment/webhooks")
    def subscribe(study: str) -> Subscribed:
        found, wanted = store.study(study), body(WebhookWish)
        recruit.recruitment(store, found)

        def keep(secret: str) -> None:
            context.data.keep_secret("prolific-webhooks", secret)

        return {"url": study_recruitment.subscribe(store, panel(), found, wanted.url, keep)}


def _look(context: Context, study: Study, reply: RecruitmentState) -> None:
    """Add to a reply how the recruitment stands at the panel, or why that is not known."""
    try:
        reply["at_panel"] = study_recruitment.status(context.store, panel(), study)
    except OpenhypeError as error:
        reply["trouble"] = str(error)


def _wish(context: Context, wanted: RecruitTerms) -> Wish:
    values = {name: getattr(wanted, name) for name in Wish.__dataclass_fields__}
    return Wish(**{**values, "url": wanted.url or base_url(context)})


def _wish_in_query(context: Context) -> Wish:
    return Wish(
        url=queries.text("url") or base_url(context),
        places=queries.whole("places", 1, 100_000),
        fee_percent=_percent("fee_percent"),
        vat_percent=_percent("vat_percent"),
        budget_usd_cents=queries.whole("budget_usd_cents", 0, 10**9),
        completion=queries.choice("completion", ("server", "code")),
        is_signed=queries.truth_value("is_signed"),
        screen_out_usd_cents=queries.whole("screen_out_usd_cents", 0, 10**9),
        slots=queries.whole("slots", 1, 100_000),
        workspace=queries.text("workspace"),
        project=queries.text("project"),
    )


def _percent(name: str) -> str | None:
    """Return a parameter in percent as text; None if it is not given."""
    if name not in request.args:
        return None
    value = queries.number(name, 0, 999)
    text: Any = request.args[name]
    if value is None or "e" in text.lower() or text.strip() != text:
        raise InvalidInput(f"{name} must be a number of percent such as 42.8, not {text[:40]!r}")
    return text
