"""Requests and replies of the routes that recruit and pay, declared once. Amounts are in cents."""

from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta, Struct

from backend.task.reply_types import Currency
from backend.task.requests import Text
from backend.web.study_types import At, Count, RecruitedFacts

MOST_CENTS = 10**9
Amount = Annotated[int, Meta(ge=0, le=MOST_CENTS)]
Percent = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{1,3}(\.[0-9]{1,6})?$",
        description="Percent as text, such as `42.8`",
        extra={"expected": "a number of percent as text, such as '42.8'"},
    ),
]
Confirmation = Annotated[
    str,
    Meta(
        max_length=64,
        description="Names exactly what would be done, and for how much; valid while nothing of it changes",
    ),
]
Names = Annotated[list[Text], Meta(max_length=200)]


class RecruitTerms(Struct, kw_only=True):
    """What is asked for; null or empty for what was decided before, or else the default."""

    url: Annotated[str, Meta(max_length=300)] | None = None
    """The server as evaluators reach it; at first this address by default."""
    places: Count | None = None
    """By default every session wanted."""
    fee_percent: Percent | None = None
    """The panel's fee on top of pay, as `42.8`."""
    vat_percent: Percent | None = None
    """VAT on the fee, as `20`."""
    budget_usd_cents: Amount | None = None
    """Maximum total cost; by default the plan's."""
    completion: Literal["server", "code"] | None = None
    """Who reports completion; by default the server."""
    is_signed: bool | None = None
    """Have the panel sign links; by default not."""
    screen_out_usd_cents: Amount | None = None
    """What the panel pays for being screened out."""
    slots: Count | None = None
    """For how many people."""
    workspace: Text = ""
    """The workspace that pays, if there are several."""
    project: Text = ""
    """The project that it is paid by, if there are several."""


class RecruitWish(RecruitTerms, kw_only=True):
    """What is asked for; null for what was decided before, or else the default."""

    confirmation: Confirmation


class Rehearsal(RecruitTerms, kw_only=True):
    """As for recruiting, for a copy that test participants take part in."""

    email: Text = ""
    """Of a test participant to make; empty if there is one."""


class RecruitmentChange(Struct):
    action: Literal["pause", "resume", "stop"]
    slots: Count | None = None
    """Raise the screen-out slots to this first."""


class WebhookWish(Struct):
    url: Annotated[str, Meta(max_length=300)]
    """https address of the server."""


class Wallet(TypedDict):
    workspace: str
    workspace_title: str
    project: str
    available_usd_cents: int
    currency: str


class RecruitPlan(TypedDict):
    places: int
    reward_usd_cents: int
    minutes: float
    wage_usd_cents_an_hour: float
    largest_bonus_usd_cents: int
    screen_out_usd_cents: int | None
    slots: int | None
    fee_percent: str
    vat_percent: str
    total_usd_cents: int
    """At most, with fees."""
    budget_usd_cents: int | None
    currency: Currency
    url: str
    """The task page's address, as the panel is told."""
    by_server: bool
    """Whether this server reports completion."""
    is_signed: bool
    """Whether the panel signs links."""
    lines: list[str]
    """The plan in words, with what is to be said against it."""
    wallet: Wallet | None
    """What pays; null if it is decided, or not known."""


class RecruitmentState(TypedDict):
    recruited: RecruitedFacts | None
    plan: RecruitPlan | None
    """What is asked for would do this."""
    confirmation: str | None
    """For `POST …/recruit` with the same wishes."""
    obstacle: str | None
    """Why there is no plan."""
    at_panel: dict[str, Any] | None
    """Places by state, sessions and cost so far, as the panel has them now."""
    problem: str | None
    """Why the panel could not be asked."""
    warnings: list[str]


class RecruitDone(TypedDict):
    recruited: RecruitedFacts | None
    """Null after a draft was given up."""


class Subscribed(TypedDict):
    url: str
    """The address that the panel notifies."""


class PaymentTerms(Struct, kw_only=True):
    """How to pay."""

    approve: Names = []
    """Submissions without a session to pay: pseudonyms, reasons, or `all`."""
    ask_return: Names = []
    """Those whose people are asked to return the place."""
    panel_study: Text = ""
    """The study at the panel, if it was not made here."""
    reconcile_hours: Annotated[float, Meta(ge=1, le=8760)] = 24
    """How long the panel may take to carry out a payment."""
    release: bool = False
    """Owe again what the panel took on and has not paid by then."""


class PaymentWish(PaymentTerms, kw_only=True):
    confirmation: Confirmation


class BudgetWish(Struct):
    """Null leaves a value as it is."""

    budget_usd_cents: Amount | None = None
    fee_percent: Percent | None = None
    vat_percent: Percent | None = None
    replaces: Annotated[dict[str, int | str | None], Meta(max_length=3)] | None = None
    """Values that are replaced, as a reply had them: refused if one is another by now."""


class BrokeOff(Struct):
    evaluator: Annotated[str, Meta(max_length=128)]
    """Pseudonym, or the session's id."""
    reason: Annotated[str, Meta(min_length=1, max_length=100)]


class Closing(Struct):
    evaluator: Annotated[str, Meta(max_length=128)]
    """Pseudonym, or the session's id."""
    reason: Annotated[str, Meta(min_length=1, max_length=100)]
    """Why nothing more is paid."""


class Automatic(Struct):
    automatic: bool


class PaidByHand(Struct):
    evaluator: Annotated[str, Meta(max_length=128)]
    usd_cents: Amount
    """What was paid: all that is owed."""
    completion_code: Text = ""
    """As the list has it; may be empty."""
    account: Text = ""
    """As the list has it; without it, any of this amount is marked."""


class MarkPaid(Struct):
    paid: Annotated[list[PaidByHand], Meta(min_length=1, max_length=1000)]


class TakeOver(Struct):
    confirm: Annotated[str, Meta(max_length=300)]
    """`paid_from`, the store that is lost."""


class OwedLine(TypedDict):
    evaluator: str
    why: str
    reason: str
    """`why` in words; of a session closed early, with the number of pictures that did not flash on time."""
    base_usd_cents: int
    bonus_usd_cents: int
    reward: str
    bonus: str
    closed_why: str
    """Why what is `closed` is not paid."""
    at_panel: str
    pays: list[str]
    """The parts that paying now would pay."""


class UnmatchedLine(TypedDict):
    """A submission for which nobody is owed a session."""

    evaluator: str
    why: str
    reward: str
    at_panel: str
    completed_at: At
    asked_to_return_at: At
    pays: list[str]


class AutomaticApproval(TypedDict):
    approved_at: At
    last_at: At
    obstacles: list[str]


class PaymentTotals(TypedDict):
    """Of all that is owed, as far as it can be paid."""

    to_pay_usd_cents: int
    fees_usd_cents: int
    total_usd_cents: int
    fee_percent: str
    vat_percent: str
    budget_usd_cents: int | None
    committed_usd_cents: int
    """Paid, on its way, or reserved."""
    undecided_usd_cents: int
    """Reserved for submissions without a session."""
    left_usd_cents: int | None


class DueByHand(TypedDict):
    people: int
    usd_cents: int


class PaymentState(PaymentTotals):
    study: str
    currency: Currency
    paid_by: Literal["prolific", "link"]
    paid_from: str
    """The store that pays, if the ledger here is a copy."""
    evaluators: list[OwedLine]
    unmatched: list[UnmatchedLine]
    by_hand: DueByHand
    """What no panel pays: what `payments.csv` lists."""
    automatic: AutomaticApproval | None
    states: dict[str, str]
    """Every state of a reward or a bonus, in words."""
    early_ends_exceeded: str | None
    """That the study has paused itself, as too many sessions were closed early."""
    odd_dates: list[str]
    """Dates in the ledger that cannot be right, so that a clock was or is wrong."""
    now_usd_cents: int
    """What paying now would pay within the budget."""
    now_fees_usd_cents: int
    now_total_usd_cents: int
    """The same with fees: what is confirmed."""
    pays: int
    """How many people it would pay."""
    asks_return: int
    confirmation: str | None
    """For `POST …/pay`; null if it cannot be paid here."""
    problem: str | None
    """Why it cannot be paid here now."""


class Said(TypedDict):
    about: str
    """What it is about: `who`, `did`, `owed`, `reward`, `bonus`, `at the panel`, `next`, `you may`."""
    words: str


class Explanation(TypedDict):
    """What is said of an account of a person, or of the lack of one."""

    evaluator: str
    said: list[Said]


class Explained(TypedDict):
    accounts: list[Explanation]


class BudgetSet(TypedDict):
    budget_usd_cents: int | None
    fee_percent: str
    vat_percent: str


class OwedInPart(TypedDict):
    evaluator: str
    base_usd_cents: int
    bonus_usd_cents: int


class Closed(TypedDict):
    evaluator: str
    accounts: int
    """How many were closed."""


class AutomaticState(TypedDict):
    automatic: AutomaticApproval | None


class Marked(TypedDict):
    marked: int
    """How many were not marked before."""


class TakenOver(TypedDict):
    paid_from: str
