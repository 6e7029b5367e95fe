"""Recruitment for one study as its researcher asks for it: a plan first, then what was confirmed of it.

Both the command line and the API come here; `recruit.py` has the steps.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from backend.experiment.records import Study
from backend.foundation.addresses import reach_of
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.panels.api import Panel, ScreenOut
from backend.panels.prolific import ProlificPanel
from backend.panels.prolific_webhooks import Webhooks
from backend.payment.accounts import check_paid_here, funds, set_budget
from backend.recruitment import panel_wallet, recruit, webhooks
from backend.recruitment.plan import FEE_PERCENT, VAT_PERCENT, Plan, plan
from backend.stores.store import Store
from backend.studies.confirmations import Offer

BY_SERVER = "server"
_FIXED = "that can no longer change"
ACTIONS: dict[str, Literal["pause", "start", "stop"]] = {"pause": "pause", "resume": "start", "stop": "stop"}
"""What a researcher asks for, and what `recruit.change` calls it."""


@dataclass(frozen=True)
class Wish:
    """What a researcher asks for; None, or '', for what was decided before, or else the default.

    Money in cents.
    """

    url: str = ""
    """The server's address, as evaluators reach it."""
    places: int | None = None
    fee_percent: str | None = None
    vat_percent: str | None = None
    budget_usd_cents: int | None = None
    completion: str | None = None
    """Who reports completion to the panel: `server` (by default), or the person with a `code`."""
    is_signed: bool | None = None
    """Whether the panel signs its links; by default it does not."""
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
    if wish.places and (state is None or state["state"] == "decided"):
        recruit.check_looks(study, wish.places, study.evaluators_wanted)
    if state is None:
        fees = (wish.fee_percent or FEE_PERCENT, wish.vat_percent or VAT_PERCENT)
        return plan(study, wish.places, *fees, _screen_out(None, wish))
    if state["state"] != "decided":
        recruit.check_growth(study, state, wish.places or state["places"])
    before = recruit.planned(study, state, wish.places)
    return replace(
        before,
        fee_percent=wish.fee_percent or before.fee_percent,
        vat_percent=wish.vat_percent or before.vat_percent,
        screen_out=_screen_out(before.screen_out, wish),
    )


def _screen_out(before: ScreenOut | None, wish: Wish) -> ScreenOut | None:
    """Return how people are paid by the panel for being screened out, as asked for now."""
    cents = before.reward_cents if before and wish.screen_out_usd_cents is None else wish.screen_out_usd_cents
    slots = before.slots if before and wish.slots is None else wish.slots
    if cents is None and slots is None:
        return None
    if cents is None or slots is None:
        raise InvalidInput("an amount for being screened out and the number of slots go together")
    return ScreenOut(cents, slots)


def terms(study: Study, state: Mapping[str, Any] | None, wish: Wish) -> dict[str, Any]:
    """Return the terms of a recruitment besides its plan, with the changes asked for now.

    `url` of the task page ('' if it is not known yet), `by_server` and `is_signed`.

    Raises:
        Conflict: they are published, so that they cannot change; or the decided wallet is another.
    """
    before = {name: state[name] for name in ("url", "by_server", "is_signed")} if state else {}
    asked = {
        "url": recruit.study_url(study, wish.url) if wish.url else None,
        "by_server": None if wish.completion is None else wish.completion == BY_SERVER,
        "is_signed": wish.is_signed,
    }
    after = {"url": "", "by_server": True, "is_signed": False, **before}
    after |= {name: value for name, value in asked.items() if value is not None}
    if state is not None:
        _check_changeable(study, state, before, after, wish)
    return after


def _check_changeable(
    study: Study,
    state: Mapping[str, Any],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    wish: Wish,
) -> None:
    """Raise Conflict if a wish contradicts what can no longer change."""
    is_draft = state["state"] == "decided"
    way_out = f"give the draft up first (`openhype recruit {study.name} --stop`)" if is_draft else _FIXED
    for name in ("workspace", "project"):
        if getattr(wish, name) not in ("", state[name], state[f"{name}_title"]):
            raise Conflict(
                f"the recruitment for {study.name} was decided with the {name} {state[f'{name}_title']} "
                f"({state[name]}), not {getattr(wish, name)}; {way_out}"
            )
    if is_draft:
        return
    if before != after:
        now, asked = terms_lines(before), terms_lines(after)
        raise Conflict(
            f"study {study.name} is published with the terms below; {_FIXED}: "
            f"{'; '.join(line for line in now if line not in asked)}"
        )
    paid = state["screen_out"]["reward_cents"] if state["screen_out"] else None
    if wish.screen_out_usd_cents not in (None, paid):
        raise Conflict(
            f"study {study.name} is published with {paid or 0} cents for being screened out, not "
            f"{wish.screen_out_usd_cents}; {_FIXED}"
        )


def terms_lines(terms: Mapping[str, Any]) -> list[str]:
    if not terms["url"]:
        return ["address of the task page: not known yet (--url)"]
    only_here = reach_of(terms["url"]) == "this_computer"
    return [
        f"address of the task page: {terms['url']}",
        *([f"warning: only this computer reaches {terms['url']}"] if only_here else []),
        "completion is reported by " + ("the server" if terms["by_server"] else "the person, with a code"),
        "the panel signs its links" if terms["is_signed"] else "the panel does not sign its links",
    ]


def budget(state: Mapping[str, Any] | None, wish: Wish) -> int | None:
    """Return the budget in cents: that asked for, or that decided before; None: what the plan costs."""
    if wish.budget_usd_cents is None and state is not None:
        return state["budget_usd_cents"]
    return wish.budget_usd_cents


def check_url(url: str) -> None:
    """Raise InvalidInput unless evaluators can reach the address."""
    if not url:
        raise InvalidInput("say where evaluators reach the server: --url https://…")
    if not url.startswith("https://") and reach_of(url) != "this_computer":
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
    plan, agreed = wanted(study, state, wish), terms(study, state, wish)
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
    limit = _limit(study, state, wish, plan)
    if wish.url:
        check_url(wish.url)
    recruit.decide_anew(store, study, state, budget_usd_cents=limit, **_decided(state, plan, agreed))
    if wish.fee_percent or wish.vat_percent:
        set_budget(store, study.name, fee_percent=plan.fee_percent, vat_percent=plan.vat_percent)
    state = recruit.begin(store, panel, study, plan, state["url"])
    if plan.screen_out and wish.slots is not None:  # also if they were recorded and not raised at the panel
        recruit.set_slots(store, panel, study, plan.screen_out.slots)
    return recruit.grow(store, panel, study, plan.places)


def rehearse(store: Store, panel: Panel, study: Study, wish: Wish, email: str = "") -> Mapping[str, Any]:
    """Publish a copy to test participants and return the recruitment; errors as for `recruit.rehearse`."""
    recruit.check_panel(study, panel.name)
    state = recruit.notice_published(store, panel, study)
    plan, agreed = wanted(study, state, wish), terms(study, state, wish)
    if state is None or wish.url:
        check_url(wish.url)
    if state is not None and state["state"] == "decided":
        limit = _limit(study, state, wish, plan)
        recruit.decide_anew(store, study, state, budget_usd_cents=limit, **_decided(state, plan, agreed))
    recruit.prepare(store, panel, study, plan, wish.url, **_options(wish))
    return recruit.rehearse(store, panel, study, email)


def _limit(study: Study, state: Mapping[str, Any], wish: Wish, plan: Plan) -> int | None:
    """Return the budget as asked for or decided before; raise InvalidInput if the plan exceeds it."""
    limit = budget(state, wish)
    if limit is not None and plan.total_cents > limit:
        raise recruit.over_budget(study, limit, plan)
    return limit


def _decided(state: Mapping[str, Any], plan: Plan, agreed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is decided anew; of a published recruitment only the fee, since places grow by `grow`."""
    fee = {"fee_percent": plan.fee_percent, "vat_percent": plan.vat_percent}
    if state["state"] != "decided":
        return fee
    screen_out = asdict(plan.screen_out) if plan.screen_out else None
    return {**fee, "places": plan.places, "screen_out": screen_out, **agreed}


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
    made, agreed = wanted(study, state, wish), terms(study, state, wish)
    if state is None or wish.url:
        check_url(wish.url)
    if state is None:
        limit = wish.budget_usd_cents
        made.check(study.name, limit)
    else:
        limit = _limit(study, state, wish, made)
    wallet = None if panel is None or state is not None else _wallet(panel, wish)
    data = {
        "places": made.places,
        "reward_usd_cents": made.reward_cents,
        "minutes": made.minutes,
        "wage_usd_cents_an_hour": made.wage_cents_an_hour,
        "largest_bonus_usd_cents": made.largest_bonus_cents,
        "screen_out_usd_cents": made.screen_out.reward_cents if made.screen_out else None,
        "slots": made.screen_out.slots if made.screen_out else None,
        "fee_percent": made.fee_percent,
        "vat_percent": made.vat_percent,
        "total_usd_cents": made.total_cents,
        "budget_usd_cents": limit,
        "currency": made.currency,
        **agreed,
        "lines": [*made.lines(), *terms_lines(agreed)],
        "wallet": wallet,
    }
    facts = {
        "plan": {name: value for name, value in data.items() if name not in ("lines", "wallet")},
        "wallet": [wallet["workspace"], wallet["project"]] if wallet else [],
        "recruitment": dict(state) if state else None,
        "paid_from": funds(store, study.name)[1].paid_from,
    }
    order = {"wish": asdict(replace(wish, places=made.places)), "total_usd_cents": made.total_cents}
    return Offer(facts, order), data


def status(store: Store, panel: ProlificPanel, study: Study) -> dict[str, Any]:
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
        "by_server": wish.completion in (None, BY_SERVER),
        "is_signed": bool(wish.is_signed),
        "workspace": wish.workspace,
        "project": wish.project,
    }


def _wallet(panel: Panel, wish: Wish) -> dict[str, Any]:
    wallet = panel_wallet.choose(panel, wish.workspace, wish.project)
    return {
        "workspace": wallet.workspace,
        "workspace_title": wallet.workspace_title,
        "project": wallet.project,
        "available_usd_cents": wallet.balance.available_cents,
        "currency": wallet.balance.currency,
    }
