"""Recruitment for one study as its researcher asks for it: a plan first, then what was confirmed of it.

Both the command line and the API come here; `recruit.py` has the steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.panels.api import Panel, ScreenOut
from backend.panels.prolific import ProlificPanel
from backend.panels.prolific_webhooks import Webhooks
from backend.payment.accounts import check_paid_here, purse
from backend.recruitment import panel_wallet, recruit, webhooks
from backend.recruitment.plan import FEE_PERCENT, VAT_PERCENT, Plan, plan
from backend.stores.store import Store
from backend.studies.confirmations import Offer

BY_SERVER, BY_CODE = "server", "code"
ACTIONS: dict[str, Literal["pause", "start", "stop"]] = {"pause": "pause", "resume": "start", "stop": "stop"}
"""What a researcher asks for, and what `recruit.change` calls it."""


@dataclass(frozen=True)
class Wish:
    """What a researcher asks for; None for what was decided before, or else the default. Money in cents."""

    url: str = ""
    """The server's address, as evaluators reach it."""
    places: int | None = None
    fee_percent: str | None = None
    vat_percent: str | None = None
    budget_usd_cents: int | None = None
    completion: str = BY_SERVER
    """Who reports completion to the panel: `server`, or the person with a `code`."""
    is_signed: bool = False
    screen_out_usd_cents: int | None = None
    slots: int | None = None
    workspace: str = ""
    project: str = ""


def wanted(study: Study, state: Mapping[str, Any] | None, wish: Wish) -> Plan:
    """Return the plan: as decided before, with the changes asked for now.

    Raises:
        InvalidInput: as for `plan.plan`, an amount for screening out without slots, or fewer places than
            are published.
        Conflict: more places, and the recruitment was stopped permanently.
    """
    if state is not None:
        if state["state"] != "decided":
            recruit.check_growth(study, state, wish.places or state["places"])
        before = recruit.planned(study, state, wish.places)
        if state["state"] == "decided":
            before = replace(
                before,
                fee_percent=wish.fee_percent or before.fee_percent,
                vat_percent=wish.vat_percent or before.vat_percent,
            )
        if wish.slots is not None and before.screen_out:
            before = replace(before, screen_out=replace(before.screen_out, slots=wish.slots))
        return before
    terms = None
    if wish.screen_out_usd_cents is not None and wish.slots is not None:
        terms = ScreenOut(wish.screen_out_usd_cents, wish.slots)
    elif wish.screen_out_usd_cents is not None or wish.slots is not None:
        raise InvalidInput("an amount for being screened out and the number of slots go together")
    return plan(study, wish.places, wish.fee_percent or FEE_PERCENT, wish.vat_percent or VAT_PERCENT, terms)


def budget(state: Mapping[str, Any] | None, wish: Wish) -> int | None:
    """Return the budget in cents: that asked for, or that decided before; None: what the plan costs."""
    if wish.budget_usd_cents is None and state is not None:
        return state["budget_usd_cents"]
    return wish.budget_usd_cents


def check_url(url: str) -> None:
    """Raise InvalidInput unless evaluators can reach the address."""
    if not url:
        raise InvalidInput("say where evaluators reach the server: --url https://…")
    if not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
        raise InvalidInput(f"evaluators must reach the server by https, not at {url!r}")


def publish(
    store: Store, panel: Panel, study: Study, wish: Wish, confirmed_usd_cents: int | None = None
) -> Mapping[str, Any]:
    """Recruit as asked for and return the recruitment; resumed, nothing is done twice.

    Args:
        confirmed_usd_cents: the cost that was confirmed, if it was shown before.

    Raises:
        InvalidInput, Conflict, PanelRefused, PanelUnsure, PanelUnreached: as for `recruit.begin` and
            `recruit.grow`; Conflict also for a higher cost than was confirmed.
    """
    recruit.check_panel(study, panel.name)
    state = recruit.notice_published(store, panel, study)
    plan = wanted(study, state, wish)
    if confirmed_usd_cents is not None and plan.total_cents > confirmed_usd_cents:
        raise Conflict(
            f"recruiting for {study.name} costs {plan.money(plan.total_cents)} at most by now, and "
            f"{plan.money(confirmed_usd_cents)} was confirmed; look at the amounts again, and confirm those",
            code="changed",
        )
    if state is None:
        check_url(wish.url)
        return recruit.begin(store, panel, study, plan, wish.url, **_options(wish))
    check_paid_here(store, study.name)
    changes: dict[str, Any] = {"budget_usd_cents": budget(state, wish)}
    if plan.total_cents > changes["budget_usd_cents"]:
        raise recruit.over_budget(study, changes["budget_usd_cents"], plan)
    if state["state"] == "decided":
        terms = {"fee_percent": plan.fee_percent, "vat_percent": plan.vat_percent}
        changes |= {"places": plan.places, **terms}
    recruit.update(store, study, **changes)
    state = recruit.begin(store, panel, study, plan, state["url"])
    if plan.screen_out and plan.screen_out.slots != state["screen_out"]["slots"]:
        recruit.set_slots(store, panel, study, plan.screen_out.slots)
    return recruit.grow(store, panel, study, plan.places)


def rehearse(store: Store, panel: Panel, study: Study, wish: Wish, email: str = "") -> Mapping[str, Any]:
    """Publish a copy to test participants and return the recruitment; errors as for `recruit.rehearse`."""
    recruit.check_panel(study, panel.name)
    state = recruit.begun(store, study)
    if state is None:
        check_url(wish.url)
    recruit.prepare(store, panel, study, wanted(study, state, wish), wish.url, **_options(wish))
    return recruit.rehearse(store, panel, study, email)


def change(
    store: Store, panel: Panel, study: Study, action: str, slots: int | None = None
) -> Mapping[str, Any]:
    """Pause, resume or stop a recruitment (one of `ACTIONS`), and return it.

    Args:
        slots: raise the number of people who are paid for being screened out to this first.
    """
    if slots is not None:
        recruit.set_slots(store, panel, study, slots)
    return recruit.change(store, panel, study, ACTIONS[action])


def offer(store: Store, study: Study, panel: Panel | None, wish: Wish) -> tuple[Offer, dict[str, Any]]:
    """Return what recruiting as asked for would do, to be confirmed, and the plan as plain data.

    Args:
        panel: names the wallet that pays; None if there is no token for it.

    Raises:
        InvalidInput: as for `wanted`, the study is of another panel, or the plan costs more than the budget,
            or pays less than panels allow.
    """
    recruit.check_panel(study, "prolific")
    state = recruit.begun(store, study)
    made = wanted(study, state, wish)
    limit = budget(state, wish)
    if state is None:
        check_url(wish.url)
        made.check(study.name, limit)
    elif limit is not None and made.total_cents > limit:
        raise recruit.over_budget(study, limit, made)
    wallet = None if panel is None or state is not None else _wallet(panel, wish)
    data = {
        "places": made.places,
        "reward_usd_cents": made.reward_cents,
        "minutes": made.minutes,
        "wage_usd_cents_an_hour": made.wage_cents_an_hour,
        "least_wage_usd_cents_an_hour": made.least_wage_cents,
        "largest_bonus_usd_cents": made.largest_bonus_cents,
        "screen_out_usd_cents": made.screen_out.reward_cents if made.screen_out else None,
        "slots": made.screen_out.slots if made.screen_out else None,
        "fee_percent": made.fee_percent,
        "vat_percent": made.vat_percent,
        "total_usd_cents": made.total_cents,
        "budget_usd_cents": limit,
        "currency": made.currency,
        "lines": made.lines(),
        "wallet": wallet,
    }
    facts = {
        "plan": {name: value for name, value in data.items() if name not in ("lines", "wallet")},
        "wallet": [wallet["workspace"], wallet["project"]] if wallet else [],
        "recruitment": dict(state) if state else None,
        "paid_from": purse(store, study.name)[1].paid_from,
    }
    order = {"wish": asdict(replace(wish, places=made.places)), "total_usd_cents": made.total_cents}
    return Offer(facts, order), data


def status(store: Store, panel: ProlificPanel, study: Study) -> dict[str, Any]:
    """Return the state of a recruitment at the panel, with its webhooks."""
    state = recruit.recruitment(store, study)
    try:
        hook = webhooks.status(store, Webhooks(panel.http), state["workspace"])
    except NotFound:
        events = None
    else:
        events = {"is_enabled": hook.is_enabled, "events": dict(hook.deliveries)}
    return {**recruit.status(store, panel, study), "webhooks": events}


def subscribe(
    store: Store, panel: ProlificPanel, study: Study, server: str, keep_secret: Callable[[str], None]
) -> str:
    """Have the panel notify a server of each place that changes; return the address that it notifies."""
    workspace = recruit.recruitment(store, study)["workspace"]
    return webhooks.subscribe(store, Webhooks(panel.http), workspace, server, keep_secret)


def _options(wish: Wish) -> dict[str, Any]:
    return {
        "budget_cents": wish.budget_usd_cents,
        "by_server": wish.completion == BY_SERVER,
        "is_signed": wish.is_signed,
        "workspace": wish.workspace,
        "project": wish.project,
    }


def _wallet(panel: Panel, wish: Wish) -> dict[str, Any]:
    found = panel_wallet.choose(panel, wish.workspace, wish.project)
    return {
        "workspace": found.workspace,
        "workspace_title": found.workspace_title,
        "project": found.project,
        "project_title": found.project_title,
        "available_usd_cents": found.balance.available_cents,
        "currency": found.balance.currency,
    }
