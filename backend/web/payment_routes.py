"""Routes that pay evaluators: what is owed with its exact amount, confirmed, then paid once.

The panel's API pays in a job (`jobs/study_work.py`): it takes seconds for each evaluator, and goes on where
it stopped if its process ends. Who is not paid by a panel is paid by the researcher, from a list.
"""

from typing import Any, cast

from flask import Flask, Response

from backend.experiment.panel import PROLIFIC
from backend.experiment.records import Study
from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError
from backend.jobs import queue
from backend.members.roles import RESEARCHER
from backend.payment import accounts, automatic, manual, study_payments
from backend.payment.payer import Payer
from backend.payment.study_payments import PayOptions
from backend.studies import confirmations
from backend.studies.confirmations import Offer
from backend.web import queries
from backend.web.authorisation import caller
from backend.web.bodies import body
from backend.web.context import Context
from backend.web.job_types import Enqueued
from backend.web.money_types import (
    Automatic,
    AutomaticApproval,
    AutomaticState,
    BrokeOff,
    BudgetSet,
    BudgetWish,
    DueByHand,
    Marked,
    MarkPaid,
    OwedInPart,
    PaymentState,
    PaymentWish,
    TakenOver,
    TakeOver,
)
from backend.web.operations import TRUE_OR_FALSE, Operation, Operations
from backend.web.recruitment_routes import panel

_PATH = "/api/studies/{study}"
_NAMES = {"type": "array", "items": {"type": "string"}, "maxItems": 200}
_TEXT = {"type": "string", "maxLength": 300}
_HOURS = {"type": "number", "minimum": 1, "maximum": 8760}
OPERATIONS: Operations = {
    f"GET {_PATH}/payments": Operation(
        "What evaluators are owed and were paid, what paying now would cost, and its confirmation",
        {200: ("The state of payments; nothing is paid", PaymentState)},
        "400 404",
        role=RESEARCHER,
        parameters=(
            ("approve", "query", _NAMES, "As for `POST …/pay`; may be repeated"),
            ("ask_return", "query", _NAMES, "As for `POST …/pay`; may be repeated"),
            ("panel_study", "query", _TEXT, "The study at the panel, if it was not made here"),
            ("settle_hours", "query", _HOURS, "How long the panel may take to carry out a payment"),
            (
                "release",
                "query",
                TRUE_OR_FALSE,
                "Owe again what it has not paid by then",
            ),
        ),
    ),
    f"POST {_PATH}/pay": Operation(
        "Pay through the panel what was confirmed; the same confirmation again gives the same job",
        {202: ("It is being paid", Enqueued)},
        "400 404 409 415 501 503",
        PaymentWish,
        role=RESEARCHER,
    ),
    f"GET {_PATH}/payments.csv": Operation(
        "The list of what is owed and no panel pays, to be paid by hand",
        {200: ("One row a session, until it is marked as paid", None)},
        "404 409",
        role=RESEARCHER,
        reply_media="text/csv",
    ),
    f"POST {_PATH}/payments/mark-paid": Operation(
        "Mark people as paid by hand; again, it changes nothing",
        {200: ("They are marked", Marked)},
        "400 404 409 415 503",
        MarkPaid,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/payments/budget": Operation(
        "Set the maximum total cost of a study, and the panel's fee",
        {200: ("They are set", BudgetSet)},
        "400 404 409 415 503",
        BudgetWish,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/payments/broke-off": Operation(
        "Owe a part for a session that broke off through no fault of its evaluator",
        {200: ("What is owed for it", OwedInPart)},
        "400 404 409 415 503",
        BrokeOff,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/payments/automatic": Operation(
        "Approve that functions on AWS pay within the budget each hour, or withdraw that",
        {200: ("The approval", AutomaticState)},
        "400 404 409 415 503",
        Automatic,
        role=RESEARCHER,
    ),
    f"POST {_PATH}/payments/take-over": Operation(
        "Pay from here though the ledger is a copy, since the store that paid is lost",
        {200: ("This store pays", TakenOver)},
        "400 404 409 415 503",
        TakeOver,
        role=RESEARCHER,
    ),
}
_NOTHING_NOW = {
    "now_usd_cents": 0,
    "now_fees_usd_cents": 0,
    "now_total_usd_cents": 0,
    "pays": 0,
    "asks_return": 0,
    "confirmation": None,
    "trouble": None,
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes."""
    store, clock = context.store, context.clock

    def payer(study: Study, options: PayOptions) -> Payer:
        return study_payments.payer(store, study, panel(), clock, options)

    @app.get("/api/studies/<study>/payments")
    def payments(study: str) -> PaymentState:
        found = store.study(study)
        by = study_payments.paid_by(found)
        state = by_panel(found, _options_in_query()) if by == PROLIFIC.name else by_hand(found)
        status = study_payments.status(store, found, {**state, "by_hand": due_by_hand(found, by)}, by)
        return cast(PaymentState, status)

    def due_by_hand(study: Study, by: str) -> DueByHand:
        """Return what no panel pays: in a study that recruits, to people without a place there."""
        if by == PROLIFIC.name and accounts.recruited(store, study.name) is None:
            return {"people": 0, "usd_cents": 0}  # nobody knows yet who holds a place there
        return cast(DueByHand, manual.due(store, study, clock()))

    def by_panel(study: Study, options: PayOptions) -> dict[str, Any]:
        """Return the state of payments with their confirmation, or from the ledger alone, and why."""
        try:
            offer, state = study_payments.offer(payer(study, options), options)
            accounts.check_paid_here(store, study.name)
            confirmation = confirmations.confirmation(store, study, "pay", offer)
            return {**state, "confirmation": confirmation, "trouble": None}
        except OpenhypeError as error:
            if isinstance(error, InvalidInput) and (options.approve or options.ask_return):
                raise
            known = accounts.plain_accounts(store, study, clock())
            state = accounts.payment_status(store, study, known, {})
            return {**_NOTHING_NOW, **state, "trouble": str(error)}

    def by_hand(study: Study) -> dict[str, Any]:
        """Return the state of payments that the researcher makes."""
        state = manual.plan(store, study, clock())
        hindrances = state.pop("hindrances")
        return {
            **_NOTHING_NOW,
            **state,
            "now_usd_cents": state["to_pay_usd_cents"],
            "now_total_usd_cents": state["total_usd_cents"],
            "pays": sum(bool(row["pays"]) for row in state["evaluators"]),
            "trouble": "; ".join(hindrances) or None,
        }

    @app.post("/api/studies/<study>/pay")
    def pay(study: str) -> tuple[Enqueued, int]:
        found, wanted = store.study(study), body(PaymentWish)
        if study_payments.paid_by(found) != PROLIFIC.name:
            raise InvalidInput(
                f"no panel pays the evaluators of {found.name}: pay them by the list at payments.csv, and "
                "mark them as paid"
            )
        accounts.check_paid_here(store, found.name)
        options = PayOptions(
            wanted.panel_study,
            wanted.settle_hours,
            wanted.release,
            tuple(wanted.approve),
            tuple(wanted.ask_return),
        )

        def current() -> Offer:
            return study_payments.offer(payer(found, options), options)[0]

        order = confirmations.accept(store, found, "pay", wanted.confirmation, current)
        args = {"created_at": found.created_at, "order": dict(order)}
        key = f"{found.name}/{wanted.confirmation}"
        job = queue.enqueue(store, "pay", found.name, caller().name, args, clock(), key)
        return {"job": job.id}, 202

    @app.get("/api/studies/<study>/payments.csv")
    def payment_list(study: str) -> Response:
        found = store.study(study)
        reply = Response(manual.as_list(store, found, clock()), content_type="text/csv; charset=utf-8")
        reply.headers["Content-Disposition"] = f'attachment; filename="{found.name}-payments.csv"'
        reply.headers["Cache-Control"] = "private, no-store"
        return reply

    @app.post("/api/studies/<study>/payments/mark-paid")
    def mark_paid(study: str) -> Marked:
        found, wanted = store.study(study), body(MarkPaid)
        paid = [
            manual.Paid(row.evaluator, str(row.usd_cents), row.completion_code, row.account)
            for row in wanted.paid
        ]
        return {"marked": manual.mark_amounts(store, found, paid, clock)}

    @app.post("/api/studies/<study>/payments/budget")
    def set_budget(study: str) -> BudgetSet:
        found, wanted = store.study(study), body(BudgetWish)
        purse = accounts.set_budget(
            store, found.name, wanted.budget_usd_cents, wanted.fee_percent, wanted.vat_percent
        )
        return {
            "budget_usd_cents": purse.budget_usd_cents,
            "fee_percent": purse.fee_percent,
            "vat_percent": purse.vat_percent,
        }

    @app.post("/api/studies/<study>/payments/broke-off")
    def broke_off(study: str) -> OwedInPart:
        found, wanted = store.study(study), body(BrokeOff)
        account = accounts.broke_off(store, found, wanted.evaluator, wanted.reason)
        return {
            "evaluator": account.evaluator,
            "base_usd_cents": account.base_usd_cents,
            "bonus_usd_cents": account.bonus_usd_cents,
        }

    @app.post("/api/studies/<study>/payments/automatic")
    def pay_automatically(study: str) -> AutomaticState:
        found, wanted = store.study(study), body(Automatic)
        study_payments.set_automatic(store, found, study_payments.paid_by(found), wanted.automatic, clock())
        approval = automatic.approval(store, found)
        if approval is None:
            return {"automatic": None}
        told = {**vars(approval), "obstacles": list(approval.obstacles)}
        return {"automatic": cast(AutomaticApproval, told)}

    @app.post("/api/studies/<study>/payments/take-over")
    def take_over(study: str) -> TakenOver:
        from backend.foundation.timestamps import stamp

        found, wanted = store.study(study), body(TakeOver)
        paid_from = accounts.purse(store, found.name)[1].paid_from
        if not paid_from:
            raise Conflict(f"study {found.name} is paid from this store already", code="paid_here")
        if wanted.confirm != paid_from:
            raise InvalidInput(f"confirm must name the store that pays now, {paid_from}: nothing was changed")
        accounts.take_over(store, found.name, stamp(clock()))
        return {"paid_from": ""}


def _options_in_query() -> PayOptions:
    return PayOptions(
        queries.text("panel_study"),
        queries.number("settle_hours", 1, 8760) or 24,
        queries.truth_value("release"),
        queries.texts("approve"),
        queries.texts("ask_return"),
    )
