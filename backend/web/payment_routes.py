"""Routes that pay evaluators: what is owed with its exact amount, confirmed, then paid once.

The panel's API pays in a job (`jobs/study_work.py`): it takes seconds for each evaluator, and goes on where
it stopped if its process ends. Who is not paid by a panel is paid by the researcher, from a list.
"""

from dataclasses import asdict
from typing import Any, cast

from flask import Response

from backend.experiment.panel import PROLIFIC
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.foundation.timestamps import stamp
from backend.jobs import queue
from backend.members.roles import RESEARCHER
from backend.payment import accounts, automatic, manual, people, study_payments
from backend.payment.explanation import explain
from backend.payment.payer import Payer
from backend.payment.study_payments import PayOptions
from backend.studies import confirmations
from backend.studies.confirmations import Offer
from backend.web.authorisation import caller
from backend.web.context import Context
from backend.web.job_types import Enqueued
from backend.web.money_types import (
    Automatic,
    AutomaticApproval,
    AutomaticState,
    BrokeOff,
    BudgetSet,
    BudgetWish,
    Closed,
    Closing,
    DueByHand,
    Explained,
    Explanation,
    Marked,
    MarkPaid,
    OwedInPart,
    PaymentState,
    PaymentTerms,
    PaymentWish,
    TakenOver,
    TakeOver,
)
from backend.web.recruitment_routes import panel
from backend.web.routing import Routes, as_declared

_NOTHING_NOW = {
    "now_usd_cents": 0,
    "now_fees_usd_cents": 0,
    "now_total_usd_cents": 0,
    "pays": 0,
    "asks_return": 0,
    "confirmation": None,
    "problem": None,
}
route = Routes(RESEARCHER)


@route("GET /api/studies/{study}/payments")
def show_payments(context: Context, study: Study, query: PaymentTerms) -> PaymentState:
    """What evaluators are owed and were paid, what paying now would cost, and its confirmation.

    Returns:
        The state of payments; nothing is paid.
    """
    by = study_payments.paid_by(study)
    state = _by_panel(context, study, _options(query)) if by == PROLIFIC.name else _by_hand(context, study)
    facts = {**state, "by_hand": _due_by_hand(context, study, by), "states": study_payments.STATE_WORDS}
    return cast(PaymentState, study_payments.status(context.store, study, facts, by, context.clock()))


@route("GET /api/studies/{study}/payments/{who}")
def explain_payment(context: Context, study: Study, who: str) -> Explained:
    """Why somebody is owed, paid or not: by pseudonym, session, completion code, or the panel's id.

    Returns:
        In words, what was done, sent and is next; nothing is paid.
    """
    by = study_payments.paid_by(study)
    known = people.as_known(context.store, study, panel, context.clock, by, PayOptions())
    return {"accounts": [cast(Explanation, asdict(each)) for each in explain(known, who)]}


@route("POST /api/studies/{study}/pay", "409 501 503", status=202)
def pay(context: Context, study: Study, wanted: PaymentWish) -> Enqueued:
    """Pay through the panel what was confirmed; the same confirmation again gives the same job.

    Returns:
        It is being paid.
    """
    store = context.store
    if study_payments.paid_by(study) != PROLIFIC.name:
        raise InvalidInput(
            f"no panel pays the evaluators of {study.name}: pay them by the list at payments.csv, and "
            "mark them as paid"
        )
    accounts.check_paid_here(store, study.name)
    options = _options(wanted)

    def current() -> Offer:
        return study_payments.offer(_payer(context, study, options), options)[0]

    order = confirmations.accept(store, study, "pay", wanted.confirmation, current)
    args = {"created_at": study.created_at, "order": dict(order)}
    key = f"{study.name}/{wanted.confirmation}"
    job = queue.enqueue(store, "pay", study.name, caller().name, args, context.clock(), key)
    return {"job": job.id}


@route("GET /api/studies/{study}/payments.csv", "409", reply_media="text/csv")
def payment_list(context: Context, study: Study) -> Response:
    """The list of what is owed and no panel pays, to be paid by hand.

    Returns:
        One row a session, until it is marked as paid.
    """
    rows = manual.as_list(context.store, study, context.clock())
    reply = Response(rows, content_type="text/csv; charset=utf-8")
    reply.headers["Content-Disposition"] = f'attachment; filename="{study.name}-payments.csv"'
    reply.headers["Cache-Control"] = "private, no-store"
    return reply


@route("POST /api/studies/{study}/payments/mark-paid", "409 503")
def mark_paid(context: Context, study: Study, wanted: MarkPaid) -> Marked:
    """Mark people as paid by hand; again, it changes nothing.

    Returns:
        They are marked.
    """
    paid = [
        manual.Paid(row.evaluator, str(row.usd_cents), row.completion_code, row.account)
        for row in wanted.paid
    ]
    return {"marked": manual.mark_amounts(context.store, study, paid, context.clock)}


@route("POST /api/studies/{study}/payments/budget", "409 503")
def set_budget(context: Context, study: Study, wanted: BudgetWish) -> BudgetSet:
    """Set the maximum total cost of a study, and the panel's fee.

    Returns:
        They are set.
    """
    limits = wanted.budget_usd_cents, wanted.fee_percent, wanted.vat_percent
    funds = accounts.set_budget(context.store, study.name, *limits, wanted.replaces)
    return as_declared(BudgetSet, funds)


@route("POST /api/studies/{study}/payments/broke-off", "409 503")
def broke_off(context: Context, study: Study, wanted: BrokeOff) -> OwedInPart:
    """Owe a part for a session that broke off through no fault of its evaluator.

    Returns:
        What is owed for it.
    """
    account = accounts.broke_off(context.store, study, wanted.evaluator, wanted.reason)
    return as_declared(OwedInPart, account)


@route("POST /api/studies/{study}/payments/close", "409 503")
def close(context: Context, study: Study, wanted: Closing) -> Closed:
    """Close what is open for an evaluator without paying it, for a recorded reason.

    Returns:
        What was closed.
    """
    closed = accounts.close(context.store, study, wanted.evaluator, wanted.reason, context.clock())
    return {"evaluator": closed[0].evaluator, "accounts": len(closed)}


@route("POST /api/studies/{study}/payments/automatic", "409 503")
def pay_automatically(context: Context, study: Study, wanted: Automatic) -> AutomaticState:
    """Approve that functions on AWS pay within the budget each hour, or withdraw that.

    Returns:
        The approval.
    """
    by = study_payments.paid_by(study)
    study_payments.set_automatic(context.store, study, by, wanted.automatic, context.clock())
    approval = automatic.approval(context.store, study)
    if approval is None:
        return {"automatic": None}
    return {"automatic": as_declared(AutomaticApproval, approval, obstacles=list(approval.obstacles))}


@route("POST /api/studies/{study}/payments/take-over", "409 503")
def take_over(context: Context, study: Study, wanted: TakeOver) -> TakenOver:
    """Pay from here though the ledger is a copy, since the store that paid is lost.

    Returns:
        This store pays.
    """
    paid_from = accounts.funds(context.store, study.name)[1].paid_from
    if not paid_from:
        raise Conflict(f"study {study.name} is paid from this store already", code="paid_here")
    if wanted.confirm != paid_from:
        raise InvalidInput(f"confirm must name the store that pays now, {paid_from}: nothing was changed")
    accounts.take_over(context.store, study.name, stamp(context.clock()))
    return {"paid_from": ""}


def _options(asked: PaymentTerms) -> PayOptions:
    return PayOptions(
        asked.panel_study, asked.reconcile_hours, asked.release, tuple(asked.approve), tuple(asked.ask_return)
    )


def _payer(context: Context, study: Study, options: PayOptions) -> Payer:
    return study_payments.payer(context.store, study, panel(), context.clock, options)


def _due_by_hand(context: Context, study: Study, by: str) -> DueByHand:
    """Return what no panel pays: in a study that recruits, to people without a place there."""
    if by == PROLIFIC.name and accounts.recruited(context.store, study.name) is None:
        return {"people": 0, "usd_cents": 0}  # nobody knows yet who holds a place there
    return cast(DueByHand, manual.due(context.store, study, context.clock()))


def _by_panel(context: Context, study: Study, options: PayOptions) -> dict[str, Any]:
    """Return the state of payments with their confirmation, or from the ledger alone, and why."""
    store = context.store
    try:
        offer, state = study_payments.offer(_payer(context, study, options), options)
        accounts.check_paid_here(store, study.name)
        confirmation = confirmations.confirmation(store, study, "pay", offer)
        return {**state, "confirmation": confirmation, "problem": None}
    except OpenhypeError as error:
        if isinstance(error, InvalidInput) and (options.approve or options.ask_return):
            raise
        known = accounts.plain_accounts(store, study, context.clock())
        state = accounts.payment_status(store, study, known, {})
        return {**_NOTHING_NOW, **state, "problem": str(error)}


def _by_hand(context: Context, study: Study) -> dict[str, Any]:
    """Return the state of payments that the researcher makes."""
    state = manual.plan(context.store, study, context.clock())
    obstacles = state.pop("obstacles")
    return {
        **_NOTHING_NOW,
        **state,
        "now_usd_cents": state["to_pay_usd_cents"],
        "now_total_usd_cents": state["total_usd_cents"],
        "pays": sum(bool(row["pays"]) for row in state["evaluators"]),
        "problem": "; ".join(obstacles) or None,
    }
