"""Payments of one study as its researcher asks for them: a plan first, then what was confirmed of it.

Both the command line and the API come here. How a study is paid follows from its panel: `prolific` by the
panel's API (`payer.py`), `link` from a list (`manual.py`).
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from backend.experiment.panel import PROLIFIC
from backend.experiment.records import Study
from backend.foundation.errors import InvalidInput
from backend.panels.api import Panel
from backend.payment import accounts, automatic, ledger
from backend.payment.payer import SETTLE, Payer, Progress
from backend.stores.store import Store
from backend.studies import pausing
from backend.studies.confirmations import Offer

LINK = "link"
_MOST_NAMED = 200
_HOUR = timedelta(hours=1)
STATE_WORDS = {
    "owed": "owed",
    "undecided": "the panel may pay the reward",
    "intended": "about to be paid",
    "handed_in": "handed in",
    "paying": "asked for, without an answer",
    "sent": "on its way",
    "confirmed": "paid",
    "closed": "closed",
    "none": "–",
}
"""The states of a reward or a bonus in words."""


@dataclass(frozen=True)
class PayOptions:
    """How a study is paid through a panel's API, and what becomes of submissions without a session."""

    panel_study: str = ""
    """The panel's study, if `recruit` did not make it."""
    reconcile_hours: float = SETTLE / _HOUR
    release: bool = False
    """Owe again what the panel accepted and has not shown for `reconcile_hours`."""
    approve: tuple[str, ...] = ()
    """Submissions without a session to pay: pseudonyms, reasons, or `all`."""
    ask_return: tuple[str, ...] = ()
    """Submissions without a session whose people are asked to return the place."""


def paid_by(study: Study) -> str:
    """Return how a study is paid by default: `prolific` or `link`."""
    return PROLIFIC.name if study.protocol.admission.panel.name == PROLIFIC.name else LINK


def payer(
    store: Store,
    study: Study,
    panel: Panel,
    clock: Callable[[], datetime],
    options: PayOptions,
    progress: Progress = lambda items, **_: items,
    ceiling_usd_cents: int | None = None,
) -> Payer:
    """Return the payer of a study.

    Raises:
        InvalidInput: nobody was recruited at the panel.
    """
    panel_study = options.panel_study or accounts.panel_study_of(store, study, clock())
    if panel_study is None:
        raise InvalidInput(
            f"nobody was recruited for {study.name} from Prolific; name its study there with --panel-study ID"
        )
    return Payer(
        store,
        study,
        panel,
        panel_study,
        clock,
        options.reconcile_hours * _HOUR,
        releases_sent=options.release,
        ceiling_usd_cents=ceiling_usd_cents,
        progress=progress,
    )


def run(payer: Payer, options: PayOptions) -> list[str]:
    """Decide about submissions without a session as asked for, and pay; return all obstacles."""
    for chosen, is_to_pay in ((options.approve, True), (options.ask_return, False)):
        for who in chosen:
            payer.decide(who, is_to_pay)
    return [*payer.refused, *payer.run()]


def offer(payer: Payer, options: PayOptions) -> tuple[Offer, dict[str, Any]]:
    """Return what a run would do, to be confirmed, and the state of payments with it as plain data.

    The state has in addition `now_usd_cents`, `now_fees_usd_cents` and `now_total_usd_cents`: what a run
    would pay within the budget, with the submissions that it approves, and `pays`, to how many people.
    """
    known, statuses = payer.known()
    known = dict(known)
    approved = [key for key in _undecided(known, options.approve) if not known[key].has_base_in_bonus]
    asked = [key for key in _undecided(known, options.ask_return) if not known[key].asked_to_return_at]
    funds = accounts.in_force(payer.store, payer.study.name, accounts.funds(payer.store, payer.study.name)[1])
    committed = funds.committed_usd_cents(known.values())
    for key in approved:
        known[key] = known[key].moved(reward="owed")
    due = ledger.due(known, funds, statuses)
    costs = [funds.cost_usd_cents(cents) for _, _, cents in due]
    newly = sum(cost for cost, (key, _, _) in zip(costs, due, strict=True) if key not in approved)
    amount = sum(cents for _, _, cents in due)
    state = {
        **accounts.payment_status(payer.store, payer.study, known, statuses),
        "now_usd_cents": amount,
        "now_fees_usd_cents": sum(costs) - amount,
        "now_total_usd_cents": sum(costs),
        "pays": len({key for key, _, _ in due}),
        "asks_return": len(asked),
    }
    order = {
        "options": {
            **asdict(options),
            "approve": sorted(known[key].evaluator for key in approved),
            "ask_return": sorted(known[key].evaluator for key in asked),
        },
        "ceiling_usd_cents": committed + newly,
        "total_usd_cents": sum(costs),
        "currency": payer.study.protocol.pay.currency,
    }
    facts = {
        "due": hashlib.sha256(json.dumps(due).encode()).hexdigest(),
        "fee_percent": funds.fee_percent,
        "vat_percent": funds.vat_percent,
        "budget_usd_cents": funds.budget_usd_cents,
        "panel_study": payer.panel_study,
    }
    return Offer(facts, order), state


def carry_out(
    store: Store,
    study: Study,
    panel: Panel,
    clock: Callable[[], datetime],
    order: Mapping[str, Any],
    progress: Progress = lambda items, **_: items,
) -> list[str]:
    """Pay what was confirmed, and return all obstacles; again, or interrupted, nobody is paid twice.

    Whatever is owed by then, all commitments of the study stay within what was confirmed.

    Args:
        order: as `offer` returned it.
    """
    options = PayOptions(**{name: _plain(value) for name, value in order["options"].items()})
    paying = payer(store, study, panel, clock, options, progress, order["ceiling_usd_cents"])
    accounts.check_paid_here(store, study.name)
    undecided = {account.evaluator for account in paying.known()[0].values() if account.reward == "undecided"}
    left = PayOptions(
        options.panel_study,
        options.reconcile_hours,
        options.release,
        tuple(name for name in options.approve if name in undecided),
        tuple(name for name in options.ask_return if name in undecided),
    )
    return run(paying, left)


def status(store: Store, study: Study, state: Mapping[str, Any], by: str, now: datetime) -> dict[str, Any]:
    """Return the state of payments with how they are made, and the approval of automatic ones."""
    approval = automatic.approval(store, study)
    return {
        "currency": study.protocol.pay.currency,
        "paid_by": by,
        "paid_from": accounts.funds(store, study.name)[1].paid_from,
        **state,
        "automatic": asdict(approval) if approval else None,
        "early_ends_exceeded": pausing.early_ends_exceeded(store, study),
        "odd_dates": accounts.odd_dates(store, study.name, now),
    }


def set_automatic(store: Store, study: Study, by: str, is_wanted: bool, now: datetime) -> None:
    """Approve automatic payments, or withdraw the approval.

    Raises:
        InvalidInput: the study is paid from a list.
        Conflict: as for `automatic.approve`.
    """
    if not is_wanted:
        automatic.withdraw(store, study)
    elif by != PROLIFIC.name:
        raise InvalidInput(f"only Prolific pays automatically, and {study.name} is paid by a list")
    else:
        automatic.approve(store, study, now)


def _undecided(known: Mapping[str, ledger.Account], chosen: Collection[str]) -> list[str]:
    """Return the keys of undecided submissions that are named.

    Raises:
        InvalidInput: a name fits none, or more are named than one confirmation takes.
    """
    places: dict[str, None] = {}
    for who in chosen:
        fits = [
            key
            for key, account in known.items()
            if account.reward == "undecided" and who in ("all", account.evaluator, account.why)
        ]
        if not fits:
            raise InvalidInput(f"no submission without a session is undecided that is called {who!r}")
        places |= dict.fromkeys(fits)
    if len(places) > _MOST_NAMED:
        raise InvalidInput(
            f"{len(places)} submissions without a session are named, and {_MOST_NAMED} can be decided at once"
        )
    return list(places)


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, tuple)) else value
