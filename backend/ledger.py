"""What evaluators are owed, and the rules by which it is paid once, as functions of plain records.

An *account* is what one session is owed, computed once: a base, which carries the wage, and a bonus for
right answers. A panel pays the base by approving the submission (the *reward*), and the rest as a bonus.
Each of the two is `owed`, then `intended`, which is written before anything is sent, then `confirmed`,
when the panel's own books show it; or `none`, where it is nothing.

Bonuses are paid in *payments*, each with many accounts:

    intended -> handed_in -> paying -> sent -> closed
                    ^          |  |
                    '----------'  '-> lapsed, refused, void

`paying` is written before the one call that pays again when sent again. From there a payment goes back
only if the panel cannot have heard of the call; else its accounts wait until the panel's books show them,
or for so long that the panel can no longer be at it (`lapsed`). No payment of a panel is paid twice: what
is owed again goes into a new one. `docs/paying.md` tells it step by step.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self

from backend.errors import InvalidInput
from backend.protocol import Protocol
from backend.records import Session
from backend.session import Cursor, earned_usd_cents, total_trials

State = Literal["none", "owed", "intended", "confirmed"]
Part = Literal["reward", "bonus"]
PARTS: tuple[Part, ...] = ("reward", "bonus")
PaymentState = Literal[
    "intended", "handed_in", "paying", "sent", "closed", "lapsed", "refused", "void"
]  # fmt: skip
OPEN = ("intended", "handed_in", "paying", "sent")
APPROVED = ("approved", "partially_approved")
GONE = ("returned", "timed_out")
LOST = (*GONE, "rejected", "screened_out")
"""Of these, the panel pays no reward."""
CLOSED_SESSION = ("finished", "ended")


@dataclass(frozen=True)
class Account:
    """What one session is owed, and how far that is. Money in US cents."""

    session: str
    evaluator: str
    why: str
    """`finished`, `ended` (closed early, kindly), or the fault for which a session broke off."""
    base_usd_cents: int
    bonus_usd_cents: int
    owed_at: str
    participant: str = ""
    """The panel's id of the person, where it has one; kept here so that nobody else is paid."""
    submission: str = ""
    code: str = ""
    reward: State = "owed"
    bonus: State = "owed"
    rewards: tuple[str, ...] = ()
    """Commitments that the reward was in."""
    payments: tuple[str, ...] = ()
    """Payments that the bonus was in; the last one is where it stands."""
    before: tuple[int, ...] | None = None
    """Bonuses that the panel listed for the submission before the first payment."""
    confirmed_at: str = ""

    @property
    def key(self) -> str:
        """The account's key when it is entered: a submission has one, though many sessions claim it."""
        if not self.submission:
            return self.session
        return hashlib.sha256(f"{self.submission}\n{self.participant}".encode()).hexdigest()[:32]

    @property
    def is_partial(self) -> bool:
        """Whether the session broke off, so that the panel's reward is not what is owed."""
        return self.why not in CLOSED_SESSION

    def usd_cents(self, part: Part) -> int:
        """Return what is paid by approval, or as a bonus; all of it as a bonus for part of a session."""
        if part == "reward":
            return 0 if self.is_partial else self.base_usd_cents
        return self.bonus_usd_cents + (self.base_usd_cents if self.is_partial else 0)

    @property
    def is_paid(self) -> bool:
        return all(getattr(self, part) in ("none", "confirmed") for part in PARTS)

    def moved(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def data(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Line:
    """One account's bonus in a payment."""

    account: str
    submission: str
    usd_cents: int


@dataclass(frozen=True)
class Payment:
    """Bonuses that are handed to the panel together."""

    id: str
    lines: tuple[Line, ...]
    made_at: str
    state: PaymentState = "intended"
    panel_id: str = ""
    asked_at: str = ""
    """When the call that pays was about to be sent, the last time."""
    shown: tuple[str, ...] = ()
    """Accounts that the panel's books showed when the payment was given up."""
    is_filed: bool = False
    """Whether a payment that is over has been carried over to its accounts."""

    def data(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Purse:
    """What a study may cost in all, fees included; None is no limit."""

    budget_usd_cents: int | None = None
    fee_percent: str = "42.8"
    """What the panel takes on top of what a person gets: the higher of Prolific's rates by default."""
    pending: Mapping[str, Any] | None = None
    """What was committed last and may not yet stand in the accounts: `id`, `part`, `lines`, `before`."""

    def __post_init__(self):
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", self.fee_percent):
            raise InvalidInput(f"a fee must be a number of percent such as 33.3, not {self.fee_percent!r}")
        if self.budget_usd_cents is not None and self.budget_usd_cents < 0:
            raise InvalidInput("a budget must not be negative")

    def data(self) -> dict[str, Any]:
        return asdict(self)

    def cost_usd_cents(self, usd_cents: int) -> int:
        """Return what it costs that a person gets `usd_cents`, the fee rounded up."""
        return usd_cents + math.ceil(usd_cents * Fraction(self.fee_percent) / 100)

    def committed_usd_cents(self, accounts: Iterable[Account]) -> int:
        """Return what is paid or intended, with fees."""
        return sum(
            self.cost_usd_cents(account.usd_cents(part))
            for account in accounts
            for part in PARTS
            if getattr(account, part) in ("intended", "confirmed")
        )


def account_of(
    protocol: Protocol, session: Session, cursor: Cursor, at: str, names: tuple[str, str] = ("", "")
) -> Account | None:
    """Return what a closed session is owed, or None where it is not closed.

    It is what its evaluator was told at the end: the whole base, also where the session was closed
    early, and the bonus of every right answer. For a simulated session nobody is owed anything.

    Args:
        names: the panel's parameters that name the person and the submission.
    """
    if cursor.state not in CLOSED_SESSION or session.is_simulated:
        return None
    bonus = earned_usd_cents(protocol, cursor) - protocol.base_usd_cents
    return _account(session, cursor.state, protocol.base_usd_cents, bonus, at, names)


def partial_account_of(
    protocol: Protocol,
    session: Session,
    cursor: Cursor,
    fault: str,
    at: str,
    names: tuple[str, str] = ("", ""),
) -> Account:
    """Return what a session is owed that broke off through no fault of the evaluator.

    The base is paid by the share of trials that were answered, rounded up, and the bonus as earned,
    right answers to mistimed flashes included. A session that was closed, but too late for the panel,
    is owed what its evaluator was told, the whole.
    """
    if session.is_simulated:
        raise InvalidInput(f"session {session.id} is simulated; nobody is owed anything for it")
    if not fault or fault in CLOSED_SESSION:
        raise InvalidInput("say in a few words why the session broke off")
    answered = min(cursor.trial_index + cursor.voided_answers, total_trials(session))
    if cursor.state in CLOSED_SESSION:
        answered = total_trials(session)
    base = -(-protocol.base_usd_cents * answered // total_trials(session))
    right = cursor.reals_right + cursor.fakes_right + cursor.voided_right
    return _account(session, fault, base, protocol.bonus_usd_cents * right, at, names)


def report(
    accounts: Mapping[str, Account],
    payments: Mapping[str, Payment],
    purse: Purse,
    statuses: Mapping[str, str],
) -> dict[str, Any]:
    """Return how a study's pay stands as plain data, people by their pseudonyms only; money in US cents.

    Args:
        statuses: where each account's submission stands at the panel, by the account's key.
    """
    rows = [
        _row(account, payments, statuses.get(key, "not listed"))
        for key, account in sorted(accounts.items(), key=lambda item: (item[1].owed_at, item[0]))
    ]
    due = [
        account.usd_cents(part)
        for key, account in accounts.items()
        for part in PARTS
        if _is_due(account, part, statuses.get(key, ""))
    ]
    committed, cost = purse.committed_usd_cents(accounts.values()), sum(map(purse.cost_usd_cents, due))
    left = None if purse.budget_usd_cents is None else purse.budget_usd_cents - committed
    return {
        "evaluators": rows,
        "to_pay_usd_cents": sum(due),
        "fees_usd_cents": cost - sum(due),
        "total_usd_cents": cost,
        "fee_percent": purse.fee_percent,
        "budget_usd_cents": purse.budget_usd_cents,
        "committed_usd_cents": committed,
        "left_usd_cents": left,
    }


def _row(account: Account, payments: Mapping[str, Payment], status: str) -> dict[str, Any]:
    bonus: str = account.bonus
    if bonus == "intended":
        payment = payments.get(account.payments[-1])
        bonus = payment.state if payment and payment.state in OPEN else "intended"
    return {
        "evaluator": account.evaluator,
        "why": account.why,
        "base_usd_cents": account.base_usd_cents,
        "bonus_usd_cents": account.bonus_usd_cents,
        "reward": account.reward,
        "bonus": bonus,
        "at_panel": status,
        "pays": [part for part in PARTS if _is_due(account, part, status)],
    }


def _is_due(account: Account, part: Part, status: str) -> bool:
    """Return whether a run pays a part: it can be paid as it stands, or once the reward is."""
    follows = part == "bonus" and account.bonus == "owed" and payable(account, "reward", status)
    return payable(account, part, status) or (follows and not account.is_partial)


def load_account(data: Mapping[str, Any]) -> Account:
    before = data["before"]
    return Account(
        **{
            **data,
            "rewards": tuple(data["rewards"]),
            "payments": tuple(data["payments"]),
            "before": None if before is None else tuple(before),
        }
    )


def load_payment(data: Mapping[str, Any]) -> Payment:
    lines = tuple(Line(**line) for line in data["lines"])
    return Payment(**{**data, "lines": lines, "shown": tuple(data["shown"])})


def payable(account: Account, part: Part, status: str) -> bool:
    """Return whether a part that is owed can be paid, by where the submission stands at the panel.

    A reward is paid to whom the panel lists as done. A bonus follows the reward. Nobody who returned
    a place or ran out of time is paid, unless for a session that broke off through no fault of theirs;
    and that is paid only once the place is given up, for else it may still end well.
    """
    if getattr(account, part) != "owed":
        return False
    if part == "reward":
        return status == "awaiting_review" or status in APPROVED
    return status in GONE if account.is_partial else status in APPROVED


def times_shown(account: Account, bonuses_usd_cents: Iterable[int]) -> int:
    """Return how often the panel's books show an account's bonus, beyond what stood there before."""
    usd_cents = account.usd_cents("bonus")
    before = (account.before or ()).count(usd_cents)
    return list(bonuses_usd_cents).count(usd_cents) - before


def _account(session: Session, why: str, base: int, bonus: int, at: str, names: tuple[str, str]) -> Account:
    person, submission = (session.panel.get(name, "") for name in names)
    account = Account(
        session=session.id,
        evaluator=session.evaluator,
        why=why,
        base_usd_cents=base,
        bonus_usd_cents=bonus,
        owed_at=at,
        participant=person,
        submission=submission,
        code=session.completion_code,
    )
    # A place at a panel is approved though our own base be nothing: the panel has a reward of its own.
    has_reward = account.usd_cents("reward") > 0 or (account.submission and not account.is_partial)
    return account.moved(
        reward="owed" if has_reward else "none", bonus="owed" if account.usd_cents("bonus") else "none"
    )
