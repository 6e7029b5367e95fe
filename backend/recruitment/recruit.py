"""Recruitment from a panel with an API: planned first, then carried out step by step.

Decisions are stored before the panel receives them, so that an interrupted run is resumed by calling
again: the panel's study is found by a unique name, and its codes stay those decided first. One study at
the panel serves all models; who judges which is decided here.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Literal

from backend.experiment import sampling
from backend.experiment.money import format_money
from backend.experiment.panel import CODE_LETTERS, NO_PANEL_CONFIG, PanelConfig
from backend.experiment.records import Study
from backend.foundation.addresses import study_page
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.timestamps import readable, stamp, utc_now
from backend.panels.api import (
    NotThere,
    Panel,
    PanelRefused,
    Recruitment,
    ScreenOut,
    StudyState,
    TokenRefused,
)
from backend.payment import unmatched
from backend.payment.accounts import check_paid_here, funds, in_force, set_budget
from backend.recruitment import panel_wallet
from backend.recruitment.plan import Plan, plan
from backend.stores import updates
from backend.stores.store import Stale, Store
from backend.studies import lifecycle
from backend.studies.lifecycle import recruitment_book as book
from backend.studies.places_given_back import rejected

OUTCOMES = ("done", "done_by_server", "no_consent", "unfit_device", "screened_out", "fault")
_CODE_LENGTH = 10
_PUBLISHED: tuple[StudyState, ...] = ("publishing", "active", "paused", "closed")


def check_panel(study: Study, name: str) -> None:
    """Refuse to recruit at a panel other than the study's own, which could not identify its people.

    Raises:
        InvalidInput: names the panel that the study was made for.
    """
    made_for = study.protocol.admission.panel.name
    if made_for != name:
        raise InvalidInput(
            f"study {study.name} was made for the panel {made_for}, not for {name}; make one with "
            f"--panel {name}"
        )


def panel_config(store: Store, study: Study) -> PanelConfig:
    """Return the parts of the panel study's configuration that evaluators' pages depend on.

    A code that the server reports never reaches a browser.
    """
    state = begun(store, study)
    if state is None:
        return NO_PANEL_CONFIG
    by_server = {"done_by_server", *(("screened_out",) if state["screen_out"] else ())}
    codes = {outcome: code for outcome, code in state["codes"].items() if outcome not in by_server}
    return PanelConfig(codes, state["by_server"])


def begun(store: Store, study: Study) -> Mapping[str, Any] | None:
    """Return a study's recruitment, or None if none was begun."""
    entry = store.entry(book(study.name), study.protocol.admission.panel.name)
    return entry.data if entry else None


def recruitment(store: Store, study: Study) -> Mapping[str, Any]:
    """Return a study's recruitment.

    Raises:
        NotFound: none was begun.
    """
    state = begun(store, study)
    if state is None:
        raise NotFound(
            f"nobody was recruited for {study.name} yet; see `openhype recruit {study.name} --panel prolific`"
        )
    return state


def planned(study: Study, state: Mapping[str, Any], places: int | None = None) -> Plan:
    """Return the plan of a recruitment as decided, or for another number of places if given."""
    screen_out = state["screen_out"]
    return plan(
        study,
        places or state["places"],
        state["fee_percent"],
        state["vat_percent"],
        ScreenOut(**screen_out) if screen_out else None,
    )


def panel_studies(state: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the panel's studies that evaluators may come from: the recruitment's, and its rehearsal."""
    rehearsal = state.get("rehearsal") or {}
    return tuple(filter(None, (state["panel_study"], rehearsal.get("panel_study"))))


def begin(
    store: Store, panel: Panel, study: Study, wanted: Plan, url: str, **decided: Any
) -> Mapping[str, Any]:
    """Create the panel's study and publish it; resumes an interrupted run.

    Args:
        url: the server's address, as evaluators reach it.
        decided: the others of `prepare`.

    Raises:
        InvalidInput: the plan exceeds the budget or the balance, is below the minimum wage, or differs
            from the wallet in currency or from the study in panel.
        Conflict: the panel expects higher costs, or what was decided before costs more than `wanted`.
        PanelRefused, PanelUnsure, PanelUnreached: call again.
    """
    state = prepare(store, panel, study, wanted, url, **decided)
    if state["state"] == "decided":
        _check_decided(store, study, state, wanted)
        try:
            _publish(panel, study, state)
        except TokenRefused:
            raise
        except PanelRefused:  # another process may just have published it
            if panel.state(state["panel_study"]) not in _PUBLISHED:
                raise
        state = _published(store, panel, study, state)
    return state


def _publish(panel: Panel, study: Study, state: Mapping[str, Any]) -> None:
    """Publish a draft as it is decided now, which may be otherwise than when it was made."""
    if panel.state(state["panel_study"]) not in _PUBLISHED:
        panel.revise(state["panel_study"], _order(study, state))
        _check_projected(panel, study, state)
        panel.change(state["panel_study"], "publish")


def prepare(
    store: Store,
    panel: Panel,
    study: Study,
    wanted: Plan,
    url: str,
    *,
    budget_cents: int | None = None,
    by_server: bool = True,
    is_signed: bool = False,
    workspace: str = "",
    project: str = "",
) -> Mapping[str, Any]:
    """Decide a recruitment and create the panel's study as a draft; errors as for `begin`.

    Args:
        budget_cents: maximum total cost; by default the plan's maximum.
        is_signed: whether the panel signs its links.
        workspace, project: the wallet that pays, by id or title; required if there are several.
    """
    check_panel(study, panel.name)
    check_paid_here(store, study.name)
    if begun(store, study) is None:
        wallet = panel_wallet.choose(panel, workspace, project)
        wanted = _checked(panel, study, wanted, wallet, budget_cents)
        _fix_settings(store, study)
        data = {
            "state": "decided",
            "panel_study": "",
            "internal_name": f"openhype {study.name} {secrets.token_hex(6)}",
            "url": study_url(study, url),
            "codes": {outcome: _code() for outcome in OUTCOMES},
            "places": wanted.places,
            "fee_percent": wanted.fee_percent,
            "vat_percent": wanted.vat_percent,
            "currency": wanted.currency,
            "workspace": wallet.workspace,
            "workspace_title": wallet.workspace_title,
            "project": wallet.project,
            "project_title": wallet.project_title,
            "screen_out": asdict(wanted.screen_out) if wanted.screen_out else None,
            "by_server": by_server,
            "is_signed": is_signed,
            "budget_usd_cents": wanted.total_cents if budget_cents is None else budget_cents,
        }
        with suppress(Stale):  # decided by another process just now: that decision holds
            store.write_entry(book(study.name), panel.name, 0, data)
    state = recruitment(store, study)
    if state["state"] == "decided":  # applies to payments, too
        set_budget(store, study.name, fee_percent=state["fee_percent"], vat_percent=state["vat_percent"])
    if not state["panel_study"]:
        made = panel.create(_order(study, state))
        # If two processes created it, the first to record it wins; the other draft is never published.
        state = _changed(store, study, lambda now: {"panel_study": now["panel_study"] or made})
    return state


def rehearse(store: Store, panel: Panel, study: Study, email: str) -> Mapping[str, Any]:
    """Publish a copy of the draft to test participants, and return the recruitment.

    Sessions that come from it are marked as simulated, and are neither scored nor paid.

    Args:
        email: of a test participant to create; '' if the workspace has one.

    Raises:
        Conflict: the study is published already, so that there is no draft.
    """
    state = recruitment(store, study)
    if state["state"] != "decided":
        raise Conflict(f"the recruitment for {study.name} is published already; rehearse before that")
    if email:
        panel.add_test_participant(email)
    panel.revise(state["panel_study"], _order(study, state))
    made = panel.test(state["panel_study"])
    return update(store, study, rehearsal={"panel_study": made.id, "url": made.url})


def change(
    store: Store, panel: Panel, study: Study, action: Literal["pause", "start", "stop"]
) -> Mapping[str, Any]:
    """Pause a recruitment, resume it (`start`), or stop it permanently; one that is a draft is given up.

    Returns:
        the recruitment; with the state `given_up` if nothing of it is left, so that another can be decided.
    """
    check_paid_here(store, study.name)
    state = recruitment(store, study)
    if state["state"] == "decided" and action == "stop":
        return _withdrawn(store, panel, study, state)
    if state["state"] == "decided":
        raise Conflict(
            f"the recruitment for {study.name} is not published yet; publish it first (--yes), or give it "
            "up (--stop)"
        )
    if state["state"] == "stopped" and action != "stop":
        raise Conflict(f"the recruitment for {study.name} was stopped permanently")
    try:
        panel.change(state["panel_study"], action)
    except NotThere:  # one that the panel does not know admits nobody
        if action != "stop":
            raise
    after = {"pause": "paused", "start": "published", "stop": "stopped"}[action]
    return update(store, study, state=after, at_panel=None)


def grow(store: Store, panel: Panel, study: Study, places: int, is_decided: bool = True) -> Mapping[str, Any]:
    """Raise the number of places, within the budget.

    They are recorded first, so that no more are open than are recorded; `finish_growth` completes what was
    interrupted after that.

    Args:
        is_decided: whether a person asked for more, rather than for what was decided before
            (`approved_sessions`).

    Raises:
        InvalidInput: fewer places than there are, or more than the budget pays for.
        Conflict: the recruitment was stopped permanently.
    """
    check_paid_here(store, study.name)

    def grown(now: Mapping[str, Any]) -> Mapping[str, Any]:
        check_growth(study, now, places)
        if is_decided and study.protocol.looks.looks and places > now["places"]:
            lacking = sampling.lacking(study, store.sessions(study.name), rejected(store, study))
            check_looks(study, places, now["places"] + lacking)
        if places > affordable(store, study, now):
            raise over_budget(study, limit_cents(store, study), planned(study, now, places))
        changes = {"places": places, "is_growing": True}
        if is_decided and now.get("approved_sessions") is not None:
            changes["approved_sessions"] = now["approved_sessions"] + places - now["places"]
        if is_decided and now.get("approved_models") is not None and places > now["places"]:
            changes["approved_models"] = len(study.models)
        return changes if places > now["places"] else {}

    return finish_growth(store, panel, study, _changed(store, study, grown))


def finish_growth(store: Store, panel: Panel, study: Study, state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Raise the places at the panel to the recorded number, unless that is done; return the recruitment.

    If the panel has more, as after a restore, these are recorded: places cannot shrink there.
    """
    if not state.get("is_growing"):
        return state
    places, at_panel = state["places"], panel.link(state["panel_study"]).places
    if at_panel < places:
        panel.set_places(state["panel_study"], places)
    most = max(places, at_panel)
    return _changed(
        store, study, lambda now: {"places": max(now["places"], most), "is_growing": now["places"] > most}
    )


def notice_published(store: Store, panel: Panel, study: Study) -> Mapping[str, Any] | None:
    """Return a study's recruitment, None if there is none, after recording that it is published at the panel.

    So it is if the process that published it ended before it recorded that.
    """
    state = begun(store, study)
    if state is None or state["state"] != "decided" or not state["panel_study"]:
        return state
    try:
        is_published = panel.state(state["panel_study"]) in _PUBLISHED
    except NotThere as error:
        raise NotThere(
            f"the draft of the recruitment for {study.name} is not at the panel any more ({error}); give it "
            f"up (`openhype recruit {study.name} --stop`), and decide anew"
        ) from None
    return _published(store, panel, study, state) if is_published else state


def _published(store: Store, panel: Panel, study: Study, state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Record that a recruitment is published, with link and places as the panel has them.

    Another process may have published it, or changed the decision meanwhile.
    """
    link = asdict(panel.link(state["panel_study"]))
    return _changed(
        store, study, lambda now: {**link, "state": "published"} if now["state"] == "decided" else {}
    )


def _withdrawn(store: Store, panel: Panel, study: Study, state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Give up a draft: delete it at the panel, end its rehearsal, and forget what was decided.

    If another process has published it, that is stopped.
    """
    if state["panel_study"]:
        try:
            panel.discard(state["panel_study"])
        except PanelRefused:
            if notice_published(store, panel, study) == state:
                raise
            return change(store, panel, study, "stop")
    if rehearsal := state.get("rehearsal"):
        with suppress(NotThere):
            panel.change(rehearsal["panel_study"], "stop")
    store.erase_entry(book(study.name), panel.name)
    return {**state, "state": "given_up"}


def check_growth(study: Study, state: Mapping[str, Any], places: int) -> None:
    """Raise unless a published recruitment may have this number of places, whatever they cost.

    Raises:
        InvalidInput: fewer than there are.
        Conflict: more, and it was stopped permanently.
    """
    if places < state["places"]:
        raise InvalidInput(
            f"the number of slots can only grow: there are {state['places']}, and {places} were asked for"
        )
    if places > state["places"] and state["state"] == "stopped":
        raise Conflict(f"the recruitment for {study.name} was stopped permanently")


def check_looks(study: Study, places: int, most: int) -> None:
    """Raise InvalidInput for more places than a study with planned looks wants until the next one."""
    if study.protocol.looks.looks and places > most:
        raise InvalidInput(
            f"study {study.name} wants at most {most} slots until its next planned look, not {places}; more "
            "are opened by themselves once it goes on"
        )


def set_slots(store: Store, panel: Panel, study: Study, slots: int) -> Mapping[str, Any]:
    """Raise the number of people who are paid for being screened out, within the budget.

    Raises:
        InvalidInput: fewer than there are, or more than the budget pays for.
        Conflict: screening out has no payment of its own.
    """
    check_paid_here(store, study.name)

    def raised(now: Mapping[str, Any]) -> Mapping[str, Any]:
        if not now["screen_out"]:
            raise Conflict(f"the recruitment for {study.name} pays nothing for being screened out")
        if slots < now["screen_out"]["slots"]:
            raise InvalidInput(f"slots can only grow: there are {now['screen_out']['slots']}, not {slots}")
        changes = {"screen_out": {**now["screen_out"], "slots": slots}}
        after = planned(study, {**now, **changes})
        if after.total_cents > (limit := limit_cents(store, study)):
            raise over_budget(study, limit, after)
        return changes

    state = _changed(store, study, raised)
    panel.set_slots(state["panel_study"], state["codes"]["screened_out"], ScreenOut(**state["screen_out"]))
    return state


def over_budget(study: Study, budget_cents: int, wanted: Plan) -> InvalidInput:
    """Return the error for a plan that costs more than a budget."""
    budget = format_money(budget_cents, study.protocol.pay.currency)
    return InvalidInput(
        f"{wanted.all_places} slots cost {wanted.money(wanted.total_cents)} at most, over the budget of "
        f"{budget}; raise the budget (--budget; that of `openhype pay` limits slots, too)"
    )


def limit_cents(store: Store, study: Study) -> int:
    """Return the budget in force of a study that recruits."""
    limit = in_force(store, study.name, funds(store, study.name)[1]).budget_usd_cents
    assert limit is not None  # a recruitment has one
    return limit


def affordable(store: Store, study: Study, state: Mapping[str, Any]) -> int:
    """Return how many places the budget in force pays for."""
    return planned(study, state).affordable(limit_cents(store, study))


def decide_anew(store: Store, study: Study, state: Mapping[str, Any], **changes: Any) -> None:
    """Change what is decided of a recruitment.

    Raises:
        Conflict: another process published it since `state` was read.
    """

    def rule(now: Mapping[str, Any]) -> Mapping[str, Any]:
        if (now["state"] == "decided") != (state["state"] == "decided"):
            raise Conflict(
                f"the recruitment for {study.name} is {now['state']} since a moment ago, by another command; "
                "look at the plan again",
                code="changed",
            )
        return changes

    _changed(store, study, rule)


def update(store: Store, study: Study, **changes: Any) -> Mapping[str, Any]:
    """Change a study's recruitment and return it."""
    return _changed(store, study, lambda _: changes)


def _changed(
    store: Store, study: Study, rule: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> Mapping[str, Any]:
    """Apply the changes that `rule` returns to a study's recruitment, and return it."""

    def changed(now: Mapping[str, Any] | None) -> Mapping[str, Any]:
        if now is None:
            raise NotFound(f"nobody was recruited for {study.name} yet")
        return {**now, **rule(now)}

    entry = updates.update(store, book(study.name), study.protocol.admission.panel.name, changed)
    assert entry is not None  # `changed` never leaves out an entry
    return entry.data


def notice(store: Store, study: Study, at_panel: StudyState, is_stopped: bool, at: str) -> Mapping[str, Any]:
    """Record the state of the panel's study, and since when, if it has changed.

    Args:
        is_stopped: it is closed though not all places were taken, so that a person stopped it there.
    """
    state, seen = recruitment(store, study), {"state": at_panel, "is_stopped": is_stopped}
    before = state.get("at_panel") or {}
    if {name: before.get(name) for name in seen} == seen:
        return state
    return update(store, study, at_panel={**seen, "since": at})


def at_odds(store: Store, study: Study) -> str:
    """Return how the state of the panel's study differs from the decision here; '' if it does not."""
    state = begun(store, study) or {}
    seen = state.get("at_panel") or {}
    if not seen or state["state"] == "decided":
        return ""
    name, since = study.name, f"since about {readable(seen['since'])}"
    if state["state"] == "published" and seen["state"] == "paused":
        slots = (state["screen_out"] or {}).get("slots")
        why = f", by a person there or because all {slots} screen-out slots are used" if slots else ""
        more = ", with more slots (--slots N) if these are used" if slots else ""
        return (
            f"study {name} is paused at Prolific {since}{why}: nobody new arrives; resume it "
            f"(`openhype recruit {name} --resume`){more}"
        )
    if state["state"] == "published" and seen["state"] in ("draft", "scheduled"):
        return f"study {name} is only {seen['state']} at Prolific {since}: nobody arrives yet"
    if state["state"] == "published" and seen["is_stopped"]:
        return (
            f"study {name} was stopped at Prolific {since}, before all slots were taken: nobody new "
            f"arrives; more slots resume it (`openhype recruit {name} --places N --yes`)"
        )
    if state["state"] in ("paused", "stopped") and seen["state"] == "active":
        return f"study {name} was {state['state']} here and takes people in at Prolific {since}"
    return ""


def status(store: Store, panel: Panel, study: Study) -> dict[str, Any]:
    """Return the state of a recruitment: places by state, sessions, cost so far with fees (cents)."""
    state = recruitment(store, study)
    listed = list(panel.submissions(state["panel_study"]))
    places = Counter(submission.status for submission in listed)
    sessions = Counter(cursor.state for _, cursor in store.sessions(study.name))
    cost = panel.cost(state["panel_study"])
    return {
        "study": study.name,
        "panel": panel.name,
        "state": state["state"],
        "at_panel": panel.state(state["panel_study"]),
        "places": state["places"],
        "submissions": dict(sorted(places.items())),
        "unmatched": unmatched.count(store, study, listed),
        "sessions": dict(sorted(sessions.items())),
        "currency": cost.currency,
        "cost_usd_cents": cost.total_cents,
        "fees_usd_cents": cost.fees_cents,
        "tax_usd_cents": cost.tax_cents,
        "budget_usd_cents": state["budget_usd_cents"],
    }


def _checked(
    panel: Panel, study: Study, wanted: Plan, wallet: panel_wallet.Wallet, budget_cents: int | None
) -> Plan:
    """Return the plan with the panel's wage requirements, checked against them, wallet and budget."""
    balance = wallet.balance
    panel_wallet.check_currency(balance, study.name, study.protocol.pay.currency, wanted.reward_cents)
    with suppress(PanelRefused):  # use its general minimum; publishing may still be refused
        wanted = wanted.with_wages(panel.wages(wallet.workspace, balance.currency))
    wanted.check(study.name, budget_cents)
    if balance.available_cents < wanted.rewards_cents:
        raise InvalidInput(
            f"the rewards of {wanted.places} slots cost {wanted.money(wanted.rewards_cents)} with fees, and "
            f"workspace {wallet.workspace_title} has {wanted.money(balance.available_cents)}; add money there"
        )
    return wanted


def _fix_settings(store: Store, study: Study) -> None:
    """Fix the study's settings, which the panel's study depends on."""
    if lifecycle.begin(store, study, stamp(utc_now())).settings_id != study.settings_id:
        raise Conflict(f"the settings of {study.name} were changed in the meantime; look at the plan again")


def _check_decided(store: Store, study: Study, state: Mapping[str, Any], wanted: Plan) -> None:
    """Raise unless what was decided, perhaps by another process, costs no more than is wanted now."""
    decided = planned(study, state)
    if decided.total_cents > wanted.total_cents:
        raise Conflict(
            f"the recruitment for {study.name} was decided with {decided.places} slots for at most "
            f"{decided.money(decided.total_cents)}, not {wanted.places} for "
            f"{wanted.money(wanted.total_cents)}; look at the plan again (nothing is published)"
        )
    if decided.total_cents > (limit := limit_cents(store, study)):
        raise over_budget(study, limit, decided)


def _check_projected(panel: Panel, study: Study, state: Mapping[str, Any]) -> None:
    """Raise Conflict if the panel expects a higher fee or VAT, before anything is published."""
    try:
        cost = panel.cost(state["panel_study"], is_projected=True)
    except TokenRefused:
        raise
    except PanelRefused:
        return  # it gives no projection
    wanted = planned(study, state)
    if cost.currency != wanted.currency:
        raise Conflict(
            f"the panel's study pays in {cost.currency}, and study {study.name} in {wanted.currency}"
        )
    if cost.total_cents <= wanted.rewards_cents:
        return
    fee = 100 * cost.fees_cents / max(cost.rewards_cents, 1)
    vat = 100 * cost.tax_cents / max(cost.fees_cents, 1)
    raise Conflict(
        f"Prolific reckons {wanted.money(cost.total_cents)} for the rewards with fees, and this plan "
        f"{wanted.money(wanted.rewards_cents)}; say what your account pays: a fee of {fee:.1f}% "
        f"and VAT of {vat:.0f}% on it (--fee {fee:.1f} --vat {vat:.0f}) "
        "(nothing is published)"
    )


def study_url(study: Study, url: str) -> str:
    """Return the address of a study's page on a server."""
    return study_page(url, study.name)


def _order(study: Study, state: Mapping[str, Any]) -> Recruitment:
    protocol, screen_out = study.protocol, state["screen_out"]
    return Recruitment(
        name=state["internal_name"],
        title=protocol.consent.title,
        description=protocol.consent.consent_text,
        url=state["url"],
        places=state["places"],
        minutes=protocol.consent.minutes,
        reward_cents=protocol.pay.base_usd_cents,
        codes=state["codes"],
        project=state["project"],
        is_signed=state["is_signed"],
        screen_out=ScreenOut(**screen_out) if screen_out else None,
    )


def _code() -> str:
    return "".join(secrets.choice(CODE_LETTERS) for _ in range(_CODE_LENGTH))
