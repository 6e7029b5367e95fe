"""Routes that recruit evaluators at a panel: the plan with its cost, confirmed, then carried out once."""

from typing import cast

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, OpenhypeError
from backend.members.roles import RESEARCHER
from backend.panels.prolific import ProlificPanel, has_token, open_prolific
from backend.recruitment import recruit, study_recruitment
from backend.recruitment.study_recruitment import Wish
from backend.studies import confirmations
from backend.studies.confirmations import Offer
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
from backend.web.progress import panel_warnings
from backend.web.routing import Routes
from backend.web.study_record import recruited
from backend.web.study_routes import base_url

route = Routes(RESEARCHER)


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


@route("GET /api/studies/{study}/recruitment")
def show_recruitment(context: Context, study: Study, query: RecruitTerms) -> RecruitmentState:
    """How a recruitment stands, and what recruiting as asked for would cost, with its confirmation.

    Returns:
        State, plan and confirmation; nothing is done.
    """
    store = context.store
    reply: RecruitmentState = {
        "recruited": recruited(store, study),
        "plan": None,
        "confirmation": None,
        "obstacle": None,
        "at_panel": None,
        "problem": None,
        "warnings": panel_warnings(store, study),
    }
    at_panel = open_prolific() if has_token() else None
    try:
        offer, plan = study_recruitment.offer(store, study, at_panel, _wish(context, study, query))
        reply["plan"] = cast(RecruitPlan, plan)
        reply["confirmation"] = confirmations.confirmation(store, study, "recruit", offer)
    except OpenhypeError as error:
        reply["obstacle"] = str(error)
    if reply["recruited"]:
        _look(context, study, reply)
    return reply


@route("POST /api/studies/{study}/recruit", "409 501 503")
def recruit_evaluators(context: Context, study: Study, wanted: RecruitWish) -> RecruitDone:
    """Recruit as it was confirmed; the same confirmation again does nothing twice.

    Returns:
        The recruitment.
    """
    store, at_panel, wish = context.store, panel(), _wish(context, study, wanted)

    def current() -> Offer:
        return study_recruitment.offer(store, study, at_panel, wish)[0]

    asked = (store, study, "recruit", wanted.confirmation)
    if not confirmations.is_carried_out(*asked):
        order = confirmations.accept(*asked, current)
        wish = Wish(**order["wish"])
        study_recruitment.publish(store, at_panel, study, wish, order["total_usd_cents"])
        confirmations.note_carried_out(*asked)
    return _done(context, study)


@route("POST /api/studies/{study}/recruitment", "409 501 503")
def change_recruitment(context: Context, study: Study, wanted: RecruitmentChange) -> RecruitDone:
    """Pause a recruitment, resume it, or stop it for good; a draft is given up.

    Returns:
        The recruitment.
    """
    recruit.recruitment(context.store, study)
    study_recruitment.change(context.store, panel(), study, wanted.action, wanted.slots)
    return _done(context, study)


@route("POST /api/studies/{study}/recruitment/rehearsal", "409 501 503")
def rehearse(context: Context, study: Study, wanted: Rehearsal) -> RecruitDone:
    """Publish a copy to test participants, whose sessions are simulated: neither scored nor paid.

    Returns:
        The recruitment, with the rehearsal's address.
    """
    study_recruitment.rehearse(context.store, panel(), study, _wish(context, study, wanted), wanted.email)
    return _done(context, study)


@route("POST /api/studies/{study}/recruitment/webhooks", "409 501 503")
def subscribe(context: Context, study: Study, wanted: WebhookWish) -> Subscribed:
    """Have the panel notify a server of each submission that changes, after the server's next start.

    Returns:
        The address that is notified.
    """
    recruit.recruitment(context.store, study)

    def keep(secret: str) -> None:
        context.data.keep_secret("prolific-webhooks", secret)

    return {"url": study_recruitment.subscribe(context.store, panel(), study, wanted.url, keep)}


def _done(context: Context, study: Study) -> RecruitDone:
    return {"recruited": recruited(context.store, study)}


def _look(context: Context, study: Study, reply: RecruitmentState) -> None:
    """Add to a reply how the recruitment stands at the panel, or why that is not known."""
    try:
        reply["at_panel"] = study_recruitment.status(context.store, panel(), study)
    except OpenhypeError as error:
        reply["problem"] = str(error)


def _wish(context: Context, study: Study, wanted: RecruitTerms) -> Wish:
    default = "" if recruit.begun(context.store, study) else base_url(context)
    values = {name: getattr(wanted, name) for name in Wish.__dataclass_fields__}
    return Wish(**{**values, "url": wanted.url or default})
