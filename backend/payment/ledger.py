"""What evaluators are owed, and the rules that pay it exactly once, as functions of plain records.

An *account* is what one session is owed, computed once: a base, which carries the wage, and a bonus for
right answers. A panel pays the base by approving the submission (the *reward*), and the rest as a bonus.
Each of the two is `owed`, then `intended`, which is written before anything is sent, then `confirmed`,
when the panel's own records show it; or `none`, if it is zero; or `closed`, by a person who says why it is
not to be paid.

A panel automatically approves submissions that nobody reviews, at the full reward, and a person may
approve them there by hand. So a submission that awaits review has an account even if nothing is owed for
it, for example that of somebody who declined, or who has no session here: its reward is `undecided`,
counts against the budget as though it were paid, and follows what becomes of the submission
(`reconciled`).

Bonuses are paid in *payments*, each with many accounts:

    intended -> handed_in -> paying -> sent -> closed
                    ^          |  |
                    '----------'  '-> lapsed, refused, void

`paying` is written before the one call that would pay twice if repeated. From there a payment goes back
only if the panel cannot have received the call; otherwise its accounts wait until the panel's records
show them, or until the panel can no longer be processing it (`lapsed`). No payment of a panel is paid
twice: what is owed again goes into a new one. `docs/paying.md` describes it step by step.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, Self

from backend.experiment.protocol import Protocol
from backend.experiment.records import Session
from backend.experiment.session import (
    BROKEN_OFF,
    CLOSED,
    CLOSED_EARLY,
    MISTIMED_BEFORE_ASKING,
    Cursor,
    earned_part_usd_cents,
)
from backend.foundation.errors import Conflict, InvalidInput
from backend.foundation.frozen import dataclass

State = Literal["none", "undecided", "owed", "intended", "confirmed", "closed"]
Part = Literal["reward", "bonus"]
PARTS: tuple[Part, ...] = ("reward", "bonus")
PaymentState = Literal[
    "intended", "handed_in", "paying", "sent", "closed", "lapsed", "refused", "void"
]  # fmt: skip
SETTLED = ("none", "confirmed", "closed")
OPEN = ("intended", "handed_in", "paying", "sent")
APPROVED = ("approved", "partially_approved")
GONE = ("returned", "timed_out")
LOST = (*GONE, "rejected", "screened_out")
"""Of these, the panel pays no reward."""
UNMATCHED = ("declined", "unfit_device", "screened_out", "unfinished", "no_session")
"""Reasons for an account of a submission for which nobody is owed a session."""
WAITED, REST = "waited", "rest"
_APART = (WAITED, REST)
"""Accounts beside that of a session, each under a key of its own: for waiting, and for what a session that
was paid in part has earned besides. Both are paid as a bonus."""
WITHDRAWN = "withdrawn"
CLOCKS_DIFFER = timedelta(minutes=5)
"""By how much clocks of computers that work on one ledger may differ."""
_NOT_FAULTS = (*CLOSED, *UNMATCHED, *_APART)
"""Reasons that are not that a session broke off."""


@dataclass(frozen=True)
class Account:
    """What one session is owed, and how far it has been paid. Money in US cents."""

    session: str
    evaluator: str
    why: str
    """`finished`, `ended` (closed early, paid in full), `broken_off` (closed early, paid in part), `waited`,
    `rest`, one of `UNMATCHED`, or a fault."""
    base_usd_cents: int
    bonus_usd_cents: int
    owed_at: str
    participant: str = ""
    """The panel's id of the person, if any; stored here so that nobody else is paid."""
    submission: str = ""
    code: str = ""
    reward: State = "owed"
    bonus: State = "owed"
    rewards: tuple[str, ...] = ()
    """Ids of the commitments that included the reward."""
    payments: tuple[str, ...] = ()
    """Ids of the payments that included the bonus; the last one is current."""
    before: tuple[int, ...] | None = None
    """Bonuses that the panel listed for the submission before the first payment."""
    confirmed_at: str = ""
    reward_cents: int | None = None
    """What the panel itself pays, if that is not the base."""
    panel_study: str = ""
    """The panel's study of the submission, if it is not the one recruited for but that of a study on the way
    to which a test was taken. Everything is then paid as a bonus."""
    closed_why: str = ""
    closed_at: str = ""
    is_withdrawn: bool = False
    fault: str = ""
    """Why it broke off, of a session that was finished after all: it is paid even if its place is gone."""
    asked_to_return_at: str = ""
    failed_flashes: int = 0
    """Of a session closed early, the number of answered pictures that its browser did not flash on time."""

    @property
    def reason(self) -> str:
        """In words, why it is owed."""
        if self.why not in CLOSED_EARLY:
            return self.why
        pictures = "1 picture" if self.failed_flashes == 1 else f"{self.failed_flashes} pictures"
        failed = f"{pictures} did not flash on time"
        if self.why == BROKEN_OFF:
            return f"broke off: {failed}, fewer than {MISTIMED_BEFORE_ASKING}; paid by the share answered"
        return f"closed early: {failed}"

    @property
    def key(self) -> str:
        """Key under which the account is stored: one per submission, even if several sessions claim it."""
        if not self.submission or self.why in _APART:
            return self.session
        return key_of(self.submission, self.participant)

    @property
    def is_unmatched(self) -> bool:
        """Whether nobody is owed a session for the submission."""
        return self.why in UNMATCHED

    @property
    def is_partial(self) -> bool:
        """Whether the session was interrupted, so that the panel's reward is not what is owed."""
        return self.why not in _NOT_FAULTS

    @property
    def is_part_or_rest(self) -> bool:
        """Whether it is of an interrupted session, or the rest of one: base in it is paid as a bonus."""
        return self.is_partial or self.why == REST

    @property
    def session_id(self) -> str:
        """The id of the session, of which `session` is that of an account."""
        return self.session.removesuffix(f"-{REST}")

    @property
    def wait_id(self) -> str:
        """The id of the wait that is paid; '' if none is."""
        return self.session.partition("-")[0] if self.why == WAITED else ""

    def usd_cents(self, part: Part) -> int:
        """Return what is paid by approval, or as a bonus; a partial session is paid entirely as a bonus."""
        if part == "reward" and self.reward_cents is not None:
            return self.reward_cents
        is_all_bonus = self.is_part_or_rest or bool(self.panel_study)
        if part == "reward":
            return 0 if is_all_bonus else self.base_usd_cents
        return self.bonus_usd_cents + (self.base_usd_cents if is_all_bonus else 0)

    @property
    def total_usd_cents(self) -> int:
        """What is owed for the session in all."""
        return self.base_usd_cents + self.bonus_usd_cents

    @property
    def is_paid(self) -> bool:
        """Whether nothing of it is left to be paid."""
        return all(getattr(self, part) in SETTLED for part in PARTS)

    @property
    def has_base_in_bonus(self) -> bool:
        """Whether the base is paid, or under way, as a bonus, so that an approval would pay it twice."""
        return self.is_partial and self.bonus in ("intended", "confirmed") and self.base_usd_cents > 0

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
    """A batch of bonuses submitted to the panel together."""

    id: str
    lines: tuple[Line, ...]
    made_at: str
    state: PaymentState = "intended"
    panel_id: str = ""
    asked_at: str = ""
    """When the call that pays was last about to be sent."""
    noticed_at: str = ""
    """When `asked_at` was first seen to be later than the time it was read at."""
    shown: tuple[str, ...] = ()
    """Accounts shown in the panel's records when the payment was given up."""
    is_filed: bool = False
    """Whether the outcome of an ended payment has been written to its accounts."""
    panel_study: str = ""
    """As `Account.panel_study`, which all accounts of a payment share."""

    def data(self) -> dict[str, Any]:
        return asdict(self)

    def waits_from(self, now: datetime) -> datetime:
        """Return the time from which the panel has to carry it out (`waits_from`)."""
        return waits_from(self.asked_at, self.noticed_at, now)


@lru_cache(maxsize=64)
def _rate(fee_percent: str, vat_percent: str) -> Fraction:
    return Fraction(fee_percent) / 100 * (1 + Fraction(vat_percent) / 100)


@dataclass(frozen=True)
class StudyFunds:
    """The maximum total cost of a study, fees included; None means no limit."""

    budget_usd_cents: int | None = None
    fee_percent: str = "42.8"
    """The panel's fee on top of what a person gets; by default the higher of Prolific's rates."""
    vat_percent: str = "0"
    """VAT on the fee, where due."""
    pending: Mapping[str, Any] | None = None
    """The last commitment, possibly not yet in the accounts: `id`, `part`, `lines`, `before`."""
    paid_from: str = ""
    """The store that pays, if this ledger is a copy of that store's."""
    handover: str = ""
    """Id of the last transfer of the right to pay between stores: the same in both."""

    def __post_init__(self) -> None:
        for what, percent in (("a fee", self.fee_percent), ("VAT", self.vat_percent)):
            if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,6})?", percent):
                raise InvalidInput(f"{what} must be a number of percent such as 33.3, not {percent!r}")
        if self.budget_usd_cents is not None and self.budget_usd_cents < 0:
            raise InvalidInput("a budget must not be negative")

    def data(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def rate(self) -> Fraction:
        """The surcharge on what a person gets, as a share of it: the fee with VAT."""
        return _rate(self.fee_percent, self.vat_percent)

    def cost_usd_cents(self, usd_cents: int) -> int:
        """Return the cost of paying a person `usd_cents`, the fee and VAT rounded up."""
        return usd_cents + math.ceil(usd_cents * self.rate)

    def committed_usd_cents(self, accounts: Iterable[Account]) -> int:
        """Return what is paid or intended, or may be paid by the panel at any time, with fees."""
        return self._sum(accounts, ("undecided", "intended", "confirmed"))

    def spent_usd_cents(self, accounts: Iterable[Account]) -> int:
        """Return what is paid or intended, with fees."""
        return self._sum(accounts, ("intended", "confirmed"))

    def _sum(self, accounts: Iterable[Account], states: tuple[State, ...]) -> int:
        return sum(
            self.cost_usd_cents(account.usd_cents(part))
            for account in accounts
            for part in PARTS
            if getattr(account, part) in states
        )


@dataclass(frozen=True)
class PanelTerms:
    """What the panel itself pays."""

    reward_cents: int
    screen_out_cents: int = 0
    """0 if screening out has no payment of its own."""


def is_ahead(at: str, now: datetime) -> bool:
    """Return whether a stored time is later than now, so that one of the two clocks was or is wrong."""
    return bool(at) and datetime.fromisoformat(at) > now + CLOCKS_DIFFER


def waits_from(at: str, noticed_at: str, now: datetime) -> datetime:
    """Return the time from which a wait since `at` counts: if that is ahead, when it was noticed, or now.

    Whatever was stored happened before it was read. So the wait is never shorter than from `at`, and ends
    even if that was written by a clock months ahead.
    """
    if not is_ahead(at, now):
        return datetime.fromisoformat(at)
    return now if not noticed_at or is_ahead(noticed_at, now) else datetime.fromisoformat(noticed_at)


def key_of(submission: str, participant: str) -> str:
    """Return the key of the account of a person's submission."""
    return hashlib.sha256(f"{submission}\n{participant}".encode()).hexdigest()[:32]


def pseudonym_of(key: str) -> str:
    """Return the pseudonym of a person without a session, by the key of the account."""
    return f"p{key[:12]}"


def account_of(
    protocol: Protocol, session: Session, cursor: Cursor, at: str, names: tuple[str, str] = ("", "")
) -> Account | None:
    """Return what a closed session is owed, or None if it is not closed.

    It is what its evaluator was shown at the end: the base, in part if the session broke off, and the bonus
    of every right answer. Nothing is owed for a simulated session, nor if it broke off without an answer.

    Args:
        names: the panel's parameters that name the person and the submission.
    """
    if cursor.state not in (*CLOSED, BROKEN_OFF) or session.is_simulated:
        return None
    base, bonus = earned_part_usd_cents(protocol, session, cursor)
    if cursor.state == BROKEN_OFF and not base + bonus:
        return None
    account = _account(session, cursor.state, base, bonus, at, names)
    is_early = cursor.state in CLOSED_EARLY
    return account.moved(failed_flashes=cursor.failed_flashes) if is_early else account


def partial_account_of(
    protocol: Protocol,
    session: Session,
    cursor: Cursor,
    fault: str,
    at: str,
    names: tuple[str, str] = ("", ""),
) -> Account:
    """Return what is owed for a session interrupted through no fault of the evaluator.

    The base is paid by the share of trials that were answered, rounded up, and the bonus as earned,
    including right answers to mistimed flashes. A session that was closed, but too late for the panel,
    is owed in full what its evaluator was shown.
    """
    if session.is_simulated:
        raise InvalidInput(f"session {session.id} is simulated; nobody is owed anything for it")
    _check_fault(fault)
    base, bonus = earned_part_usd_cents(protocol, session, cursor)
    return _account(session, fault, base, bonus, at, names)


def as_broken_off(account: Account, fault: str) -> Account:
    """Return a full account as one that is paid although the place is gone: entirely as a bonus."""
    _check_fault(fault)
    return account.moved(why=fault, reward="none", bonus="owed" if account.total_usd_cents else "none")


def closed(account: Account, why: str, at: str) -> Account:
    """Return an account of which what is open is not to be paid.

    Raises:
        Conflict: nothing is open, or a payment of it is under way.
    """
    if "intended" in (account.reward, account.bonus):
        raise Conflict(
            f"the payment of {account.evaluator} is under way; close what is left when it has ended"
        )
    parts: dict[str, Any] = {part: "closed" for part in PARTS if getattr(account, part) not in SETTLED}
    if not parts:
        raise Conflict(f"nothing is open for {account.evaluator}")
    return account.moved(**parts, closed_why=why, closed_at=at)


def _check_fault(fault: str) -> None:
    if not fault or fault in (*_NOT_FAULTS, BROKEN_OFF):
        raise InvalidInput(f"say in a few words why the session broke off, other than {fault!r}")


def rest_of(part: Account, whole: Account) -> Account | None:
    """Return the account of what a session has earned beyond what it is paid as one that broke off.

    None if that is nothing, if the whole can replace it (`entered`), or as long as the panel may still pay
    the place's reward. What was closed counts as paid.

    Args:
        part: the stored account.
        whole: what the session is owed in all, now that it is closed or withdrawn.
    """
    if not part.is_partial or entered(part, whole) or part.reward not in SETTLED:
        return None
    base = part.usd_cents("reward") if part.reward == "confirmed" else 0  # it may be more than is owed by now
    more_base = max(whole.base_usd_cents - part.base_usd_cents - base, 0)
    more_bonus = whole.bonus_usd_cents - part.bonus_usd_cents
    if more_base + more_bonus <= 0:
        return None
    return Account(
        session=f"{part.session}-{REST}",
        evaluator=part.evaluator,
        why=REST,
        base_usd_cents=more_base,
        bonus_usd_cents=more_bonus,
        owed_at=whole.owed_at,
        participant=part.participant,
        submission=part.submission,
        panel_study=part.panel_study,
        code=part.code,
        reward="none",
    )


def waited_account(
    wait: str, evaluator: str, usd_cents: int, at: str, code: str, place: tuple[str, str, str]
) -> Account:
    """Return what is owed for waiting.

    Args:
        wait: the wait's id, and the minute from which it is owed.
        code: the completion code of the qualification, which identifies a person who is paid by hand.
        place: (participant, submission, study) at the panel, of the qualification; '' if there is none.
    """
    participant, submission, panel_study = place
    return Account(
        session=wait,
        evaluator=evaluator,
        why=WAITED,
        base_usd_cents=0,
        bonus_usd_cents=usd_cents,
        owed_at=at,
        participant=participant,
        submission=submission,
        panel_study=panel_study,
        code=code,
        reward="none",
    )


def as_paid_elsewhere(account: Account, panel_study: str) -> Account:
    """Return the account of a session whose submission is in the panel's study of another study."""
    moved = account.moved(panel_study=panel_study, reward="none")
    return moved.moved(bonus="owed" if moved.usd_cents("bonus") else "none")


def unmatched_account(submission: str, participant: str, why: str, at: str, terms: PanelTerms) -> Account:
    """Return the account of a submission for which nobody is owed a session.

    Args:
        why: one of `UNMATCHED`.
        at: when the submission was completed.
    """
    key = key_of(submission, participant)
    return Account(
        session="",
        evaluator=pseudonym_of(key),
        why=why,
        base_usd_cents=terms.reward_cents,
        bonus_usd_cents=0,
        owed_at=at,
        participant=participant,
        submission=submission,
        reward="none",
        bonus="none",
    )


def reconciled(account: Account, status: str, terms: PanelTerms, at: str) -> Account:
    """Return an account updated by what the panel, or a person there, did independently.

    Args:
        status: the submission's status at the panel; '' if it is not listed.
        at: the current time.
    """
    if not status or account.panel_study:
        return account
    is_excused = (account.is_withdrawn and status == "returned") or (account.fault and status in GONE)
    if is_excused and account.reward in ("owed", "intended"):
        # A person who withdrew and also returned the place is paid all the same: as a bonus.
        whole = account.moved(why=account.fault or WITHDRAWN, reward="none")
        account = whole.moved(bonus="owed" if account.bonus == "none" else account.bonus)
    if account.is_partial or account.is_unmatched:
        return _followed(account, status, terms, at)
    if account.why == REST:
        return _with_base_paid(account) if status in APPROVED else account
    if status in APPROVED and account.reward in ("owed", "intended", "closed"):
        return account.moved(reward="confirmed", confirmed_at=at)
    if status in LOST and account.reward == "intended":
        return account.moved(reward="owed")
    return account


def _followed(account: Account, status: str, terms: PanelTerms, at: str) -> Account:
    """Return the updated account of a submission that is approved only if somebody decides so."""
    if status in APPROVED or (status == "screened_out" and terms.screen_out_cents):
        if account.reward != "confirmed":
            paid = terms.reward_cents if status in APPROVED else terms.screen_out_cents
            account = account.moved(reward="confirmed", reward_cents=paid, confirmed_at=at)
        return _with_base_paid(account)
    if status == "awaiting_review" and account.reward == "none":
        owed: State = "owed" if account.why == "screened_out" else "undecided"
        return account.moved(reward=owed, reward_cents=terms.reward_cents)
    if status in LOST and account.reward in ("undecided", "owed", "intended"):
        return account.moved(reward="none", reward_cents=None)
    return account


def _with_base_paid(account: Account) -> Account:
    """Return a partial account, or the rest of one, whose place's reward is confirmed: it pays the base.

    Of a bonus that is under way the base is taken off once its payment has ended without paying it.
    """
    if not account.is_part_or_rest or account.bonus != "owed":
        return account
    return account.moved(base_usd_cents=0, bonus="owed" if account.bonus_usd_cents else "none")


def entered(now: Account | None, account: Account) -> Account | None:
    """Return the account to store when `account` is entered; None to keep the existing one.

    An existing account is kept, unless it was partial and open and the new one is whole or owes more, or it
    was for a submission without an owed session.
    """
    if now is None:
        return account
    if now.is_unmatched and not account.is_unmatched:
        return _matched(now, account)
    is_replaceable = now.is_partial and not now.payments and not now.closed_at
    if is_replaceable and now.reward != "confirmed" and not now.confirmed_at:
        return _excused(now, account) if now.total_usd_cents < account.total_usd_cents else None
    if is_replaceable and now.bonus != "confirmed" and not account.is_partial:
        paid = {"reward": now.reward, "reward_cents": now.reward_cents, "confirmed_at": now.confirmed_at}
        return _excused(now, account).moved(**paid)
    if account.is_withdrawn and not now.is_withdrawn:
        return now.moved(is_withdrawn=True)
    return None


def _excused(now: Account, account: Account) -> Account:
    """Return the account that replaces one of a session that broke off."""
    return account if account.is_partial else account.moved(fault=now.why)


def _matched(now: Account, account: Account) -> Account:
    """Return a session's account with what was paid on its submission's previous, unmatched account."""
    if now.reward not in ("intended", "confirmed"):
        return account
    reward = {"reward": now.reward, "rewards": now.rewards, "reward_cents": now.reward_cents}
    account = account.moved(**reward, confirmed_at=now.confirmed_at)
    return _with_base_paid(account) if now.reward == "confirmed" else account


def report(
    accounts: Mapping[str, Account],
    payments: Mapping[str, Payment],
    funds: StudyFunds,
    statuses: Mapping[str, str],
) -> dict[str, Any]:
    """Return the state of a study's payments as plain data, with pseudonyms only; money in US cents.

    Args:
        statuses: each submission's status at the panel, by the account's key.
    """
    ordered = sorted(accounts.items(), key=lambda item: (item[1].owed_at, item[0]))
    rows = {key: _row(account, payments, statuses.get(key, "not listed")) for key, account in ordered}
    due = [
        account.usd_cents(part)
        for key, account in accounts.items()
        for part in PARTS
        if _is_due(account, part, statuses.get(key, ""))
    ]
    committed, cost = funds.committed_usd_cents(accounts.values()), sum(map(funds.cost_usd_cents, due))
    left = None if funds.budget_usd_cents is None else funds.budget_usd_cents - committed
    return {
        "evaluators": [row for key, row in rows.items() if not accounts[key].is_unmatched],
        "unmatched": [
            {"evaluator": row["evaluator"], "why": row["why"], "reward": row["reward"],
             "at_panel": row["at_panel"], "completed_at": account.owed_at,
             "asked_to_return_at": account.asked_to_return_at, "pays": row["pays"]}
            for (key, account), row in zip(ordered, rows.values(), strict=True) if account.is_unmatched
        ],
        "to_pay_usd_cents": sum(due),
        "fees_usd_cents": cost - sum(due),
        "total_usd_cents": cost,
        "fee_percent": funds.fee_percent,
        "vat_percent": funds.vat_percent,
        "budget_usd_cents": funds.budget_usd_cents,
        "committed_usd_cents": committed,
        "undecided_usd_cents": committed - funds.spent_usd_cents(accounts.values()),
        "left_usd_cents": left,
    }  # fmt: skip


def due(
    accounts: Mapping[str, Account], funds: StudyFunds, statuses: Mapping[str, str]
) -> list[tuple[str, Part, int]]:
    """Return what a run pays within the budget, as (account's key, part, amount in cents without fees).

    In the order in which a run commits it: rewards, then bonuses, each with the oldest debts first.

    Args:
        funds: with the budget in force.
        statuses: as in `report`.
    """
    parts: list[tuple[str, Part, int]] = []
    committed, rewarded = funds.committed_usd_cents(accounts.values()), set()
    ordered = sorted(accounts.items(), key=lambda item: (item[1].owed_at, item[0]))
    for part in PARTS:
        for key, account in ordered:
            status = statuses.get(key, "")
            if not (payable(account, part, status) or (key in rewarded and _is_due(account, part, status))):
                continue
            cost = funds.cost_usd_cents(account.usd_cents(part))
            if funds.budget_usd_cents is not None and committed + cost > funds.budget_usd_cents:
                break
            committed += cost
            parts.append((key, part, account.usd_cents(part)))
            rewarded.add(key)
    return parts


def _row(account: Account, payments: Mapping[str, Payment], status: str) -> dict[str, Any]:
    bonus: str = account.bonus
    if bonus == "intended":
        payment = payments.get(account.payments[-1])
        bonus = payment.state if payment and payment.state in OPEN else "intended"
    return {
        "evaluator": account.evaluator,
        "why": account.why,
        "reason": account.reason,
        "base_usd_cents": account.base_usd_cents,
        "bonus_usd_cents": account.bonus_usd_cents,
        "reward": account.reward,
        "bonus": bonus,
        "closed_why": account.closed_why,
        "at_panel": status,
        "pays": [part for part in PARTS if _is_due(account, part, status)],
    }


def _is_due(account: Account, part: Part, status: str) -> bool:
    """Return whether a run pays a part: it is payable now, or will be once the reward is paid."""
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
    """Return whether a part that is owed can be paid, given the submission's status at the panel.

    A reward is paid if the panel lists the person as done. A bonus follows the reward. Nobody who
    returned a place or ran out of time is paid, except for a session that was interrupted through no
    fault of theirs, and then only once the place is given up, since it may still end well. Waiting, a test
    on the way to another study, and what was earned after a part was paid, are paid whatever becomes of the
    place there; base in it, only once the place cannot be approved any more without coming back.
    """
    if getattr(account, part) != "owed":
        return False
    if part == "reward":
        return status == "awaiting_review"
    if account.panel_study or account.why == REST:
        has_base = account.why == REST and account.base_usd_cents and not account.panel_study
        return status in LOST or (not has_base and status in (*APPROVED, "awaiting_review"))
    if account.is_partial:
        is_base_paid = account.reward == "confirmed"  # and must not be paid again
        return status in GONE or (status in APPROVED and is_base_paid and not account.base_usd_cents)
    return status in APPROVED


def times_shown(account: Account, bonuses_usd_cents: Iterable[int], others: Iterable[Account] = ()) -> int:
    """Return how often the panel's records show an account's bonus.

    Not counted are bonuses of the same amount that were there before its first payment, and those that
    belong to other accounts of the same submission. What arrives belongs to the debt that is under way (of
    several, which only payers of two studies can bring about, to the oldest), and else to the oldest.

    Args:
        others: the other accounts of the submission, of all studies.
    """
    usd_cents = account.usd_cents("bonus")
    equal = [
        one
        for one in others
        if one.usd_cents("bonus") == usd_cents and (one.bonus == "confirmed" or one.before is not None)
    ]
    before = min((one.before or ()).count(usd_cents) for one in (account, *equal))
    shown = list(bonuses_usd_cents).count(usd_cents) - before
    first = sum(one.bonus == "confirmed" or _order(one) < _order(account) for one in equal)
    return 0 if shown <= first else 1 + max(shown - len(equal) - 1, 0)


def _order(account: Account) -> tuple[bool, str, str, str]:
    return account.bonus != "intended", account.owed_at, account.session, account.key


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
    # A place at a panel is approved even if our own base is zero: the panel has a reward of its own.
    has_reward = account.usd_cents("reward") > 0 or (account.submission and not account.is_partial)
    return account.moved(
        reward="owed" if has_reward else "none", bonus="owed" if account.usd_cents("bonus") else "none"
    )
