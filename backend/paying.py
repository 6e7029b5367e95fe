"""Paying: the world around the ledger's rules. Every step is one conditional write in the store.

It may be killed at any instruction and run again, by several at once: what a step has written is read by
whoever comes next, and a step that was lost is done again where that does no harm. The one call that does
harm when sent twice stands alone in `_ask_to_pay`.
"""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from backend.errors import Conflict, NotFound
from backend.ledger import (
    APPROVED,
    LOST,
    OPEN,
    Account,
    Line,
    Part,
    Payment,
    PaymentState,
    Purse,
    account_of,
    load_account,
    load_payment,
    partial_account_of,
    payable,
    report,
    times_shown,
)
from backend.panels import Bonus, Panel, PanelRefused, PanelUnreached, PanelUnsure, Submission
from backend.records import Session, Study
from backend.session import Cursor
from backend.stores import Stale, Store

SETTLE = timedelta(hours=24)
"""How long a panel may take to pay what it was asked for; Prolific speaks of minutes."""
ASK_WITHIN = timedelta(minutes=5)
"""A payer that was held up for longer between writing and asking does not ask."""
BATCH = 100
"""Bonuses in one payment; Prolific advises 200 at most."""
_TRIES = 100

Progress = Callable[..., Iterable]


def ledger_of(study: str) -> str:
    """Return the name of a study's book of accounts."""
    return f"ledger/{study}"


def payments_of(study: str) -> str:
    return f"payments/{study}"


PURSES = "purses"


def panel_names(study: Study) -> tuple[str, str]:
    """Return the parameters of the link that name the person and the submission at the panel."""
    return study.protocol.panel.evaluator, study.protocol.panel.submission


def recruited(store: Store, study: str, panel: str = "prolific") -> Mapping[str, Any] | None:
    """Return what was written down when people were recruited from a panel; None where nobody was."""
    entry = store.entry(f"recruitment {study}", panel)
    return entry.data if entry else None


def purse(store: Store, study: str) -> tuple[int, Purse]:
    """Return a study's purse and the version it stands at."""
    entry = store.entry(PURSES, study)
    return (entry.version, Purse(**entry.data)) if entry else (0, Purse())


def in_force(store: Store, study: str, purse: Purse) -> Purse:
    """Return the purse with the budget that holds: of those set for pay and for recruiting, the lower."""
    terms = recruited(store, study) or {}
    budgets = [b for b in (purse.budget_usd_cents, terms.get("budget_usd_cents")) if b is not None]
    return replace(purse, budget_usd_cents=min(budgets, default=None))


def set_budget(
    store: Store, study: str, budget_usd_cents: int | None = None, fee_percent: str | None = None
) -> Purse:
    """Set what a study may cost in all, fees included; what is None stays as it is."""
    for _ in range(_TRIES):
        version, now = purse(store, study)
        after = now
        if budget_usd_cents is not None:
            after = replace(after, budget_usd_cents=budget_usd_cents)
        if fee_percent is not None:
            after = replace(after, fee_percent=fee_percent)
        try:
            store.write_entry(PURSES, study, version, after.data())
            return after
        except Stale:
            continue
    raise _busy()


def accounts(store: Store, study: str) -> dict[str, tuple[int, Account]]:
    """Return a study's accounts as they stand, with their versions, by key."""
    return {entry.key: (entry.version, load_account(entry.data)) for entry in store.entries(ledger_of(study))}


def payments(store: Store, study: str) -> Iterator[tuple[int, Payment]]:
    """Yield a study's payments as they stand, with their versions."""
    for entry in store.entries(payments_of(study)):
        yield entry.version, load_payment(entry.data)


def broke_off(store: Store, study: Study, evaluator: str, fault: str) -> Account:
    """Write down what is owed to an evaluator whose session broke off through no fault of theirs.

    Also for one who was done too late for the panel. Raises Conflict where pay is under way already.
    """
    found = [pair for pair in store.sessions(study.name) if pair[0].evaluator == evaluator]
    if not found:
        raise NotFound(f"study {study.name} has no session of an evaluator {evaluator!r}")
    session, cursor = found[0]
    account = partial_account_of(study.protocol, session, cursor, fault, cursor.last_at, panel_names(study))

    def rule(now: Account | None) -> Account:
        if now is not None and (now.rewards or now.payments or now.confirmed_at):
            raise Conflict(f"the pay of {evaluator} is under way already")
        return account

    return change(store, study.name, _key_of(store, study.name, account), rule)


def enter(store: Store, study: Study, session: Session, cursor: Cursor) -> Account | None:
    """Write down what a closed session is owed, once; whatever is there already stays as it is.

    Call it before a session is erased, for then nothing else tells what was owed.
    """
    account = account_of(study.protocol, session, cursor, cursor.last_at, panel_names(study))
    if account is None:
        return None
    return _enter(store, study.name, _key_of(store, study.name, account), account)


def enter_all(store: Store, study: Study) -> None:
    """Write down what every closed session of a study is owed."""
    # The list is read to its end first: a reader in the middle of one may see the store as it was then.
    for account in list(newly_owed(store, study)):
        _enter(store, study.name, account.key, account)


def newly_owed(store: Store, study: Study) -> Iterator[Account]:
    """Yield what is owed to closed sessions that have no account yet."""
    known = {key: account for key, (_, account) in accounts(store, study.name).items()}
    seen = {key for key, account in known.items() if not account.is_partial}
    # A session may have lost the panel's parameters since, and then would seem to be another one.
    entered = {account.session for account in known.values() if not account.is_partial or account.is_paid}
    for session, cursor in store.sessions(study.name):
        account = account_of(study.protocol, session, cursor, cursor.last_at, panel_names(study))
        if account is not None and account.key not in seen and account.session not in entered:
            seen.add(account.key)
            yield account


def forget(store: Store, study: str, before: str) -> int:
    """Empty the panel's ids in what was all paid before a time (UTC, ISO 8601); return how many accounts."""

    def rule(now: Account) -> Account | None:
        is_old = now.is_paid and now.confirmed_at < before and (now.submission or now.participant)
        return now.moved(submission="", participant="") if is_old else None

    old = {key for key, (_, account) in accounts(store, study).items() if rule(account)}
    for version, payment in list(payments(store, study)):
        if payment.is_filed and any(line.account in old and line.submission for line in payment.lines):
            lines = tuple(
                replace(line, submission="") if line.account in old else line for line in payment.lines
            )
            store.write_entry(payments_of(study), payment.id, version, replace(payment, lines=lines).data())
    for key in old:
        change(store, study, key, rule)
    return len(old)


def change(
    store: Store, study: str, key: str, rule: Callable[[Account | None], Account | None]
) -> Account | None:
    """Replace an account by what `rule` makes of it, None leaving it as it is; return how it stands then."""
    for _ in range(_TRIES):
        entry = store.entry(ledger_of(study), key)
        now = load_account(entry.data) if entry else None
        after = rule(now)
        if after is None:
            return now
        try:
            store.write_entry(ledger_of(study), key, entry.version if entry else 0, after.data())
            return after
        except Stale:
            continue
    raise _busy()


def _key_of(store: Store, study: str, account: Account) -> str:
    """Return the key under which a session is known; it may have lost the panel's parameters since."""
    known = accounts(store, study).items()
    return next((key for key, (_, other) in known if other.session == account.session), account.key)


def _enter(store: Store, study: str, key: str, account: Account) -> Account:
    """Write a new account down; one that is there stays, unless it was for part of what is now whole."""

    def rule(now: Account | None) -> Account | None:
        if now is None:
            return account
        has_grown = now.is_partial and now.base_usd_cents < account.base_usd_cents
        return account if has_grown and not now.payments and not now.confirmed_at else None

    return change(store, study, key, rule)


def plain_accounts(store: Store, study: Study) -> dict[str, Account]:
    """Return a study's accounts by key, with those that are not written down yet."""
    fresh = {account.key: account for account in newly_owed(store, study)}
    return fresh | {key: account for key, (_, account) in accounts(store, study.name).items()}


def standing(
    store: Store, study: Study, known: Mapping[str, Account], statuses: Mapping[str, str]
) -> dict[str, Any]:
    """Return how a study's pay stands, as plain data."""
    limits = in_force(store, study.name, purse(store, study.name)[1])
    made = {payment.id: payment for _, payment in payments(store, study.name)}
    return {"study": study.name, **report(known, made, limits, statuses)}


@dataclass
class Payer:
    """Pays what a study owes through a panel with an API."""

    store: Store
    study: Study
    panel: Panel
    panel_study: str
    """The panel's id of its study."""
    clock: Callable[[], datetime]
    settle: timedelta = SETTLE
    batch: int = BATCH
    releases_sent: bool = False
    """Owe again what the panel took on, and has not shown for longer than `settle`."""
    progress: Progress = lambda items, **_: items
    new_id: Callable[[], str] = lambda: secrets.token_hex(8)

    def run(self) -> list[str]:
        """Bring the ledger up to the panel's books, then pay what is owed and can be paid.

        Returns what stood in the way of anything, in words; a panel that cannot be reached ends the run.
        """
        self._hindrances: dict[str, None] = {}
        try:
            enter_all(self.store, self.study)
            self._purse()
            self._settle_payments()
            self._pay_rewards()
            self._pay_bonuses()
        except (PanelRefused, PanelUnreached, PanelUnsure) as error:
            self._hinder(error)
        return list(self._hindrances)

    def look(self, known: Mapping[str, Account] | None = None) -> dict[str, str]:
        """Return where each account's submission stands at the panel, by the account's key.

        A submission that the panel does not list, or lists for another person, stands nowhere.

        Args:
            known: the accounts to look for; those of the ledger by default.
        """
        places = self.progress(self.panel.submissions(self.panel_study), label="places")
        listed = {submission.id: submission for submission in places}
        return {
            key: listed[account.submission].status
            for key, account in (self._accounts() if known is None else known).items()
            if _is_of(account, listed.get(account.submission))
        }

    def plan(self) -> dict[str, Any]:
        """Return how pay stands and what a run would pay, as plain data; nothing is written."""
        known = plain_accounts(self.store, self.study)
        return standing(self.store, self.study, known, self.look(known))

    # rewards: approving is idempotent, so that it is simply done again

    def _pay_rewards(self) -> None:
        statuses = self.look()
        while self._commit("reward", statuses, {}):
            pass
        to_approve = [
            account
            for key, account in self._accounts().items()
            if account.reward == "intended" and statuses.get(key) == "awaiting_review"
        ]
        for account in self.progress(to_approve, label="rewards"):
            try:
                self.panel.approve(account.submission)
            except (PanelRefused, PanelUnsure) as error:
                self._hinder(error)

    def _confirm_rewards(self, statuses: dict[str, str]) -> None:
        """Take over which rewards the panel shows as paid, and which can no longer be paid."""

        def rule(key: str, account: Account) -> Account | None:
            if account.reward != "intended":
                return None
            if statuses.get(key) in APPROVED:
                return account.moved(reward="confirmed", confirmed_at=self._now())
            return account.moved(reward="owed") if statuses.get(key) in LOST else None

        self._change_all(self._accounts(), rule)

    # bonuses

    def _pay_bonuses(self) -> None:
        statuses = self.look()
        self._confirm_rewards(statuses)
        before = self._baselines(statuses)
        while self._commit("bonus", statuses, before):
            pass
        for version, payment in self._payments():
            if payment.state in ("intended", "handed_in"):
                self._advance(version, payment)
        self._settle_payments()

    def _baselines(self, statuses: dict[str, str]) -> dict[str, tuple[int, ...]]:
        """Return what bonuses the panel lists for each account whose bonus can be paid.

        An account that was in a payment before keeps its first baseline, so that money of that payment
        which arrives late is known for what it is; if it is there, nothing is owed any more.
        """
        found = {}
        due = {
            key: account
            for key, account in self._accounts().items()
            if payable(account, "bonus", statuses.get(key, ""))
        }
        for key, account in self.progress(due.items(), label="bonuses so far"):
            try:
                bonuses = self.panel.submission(account.submission).bonuses_usd_cents
            except PanelRefused as error:
                self._hinder(error)
                continue
            if times_shown(account, bonuses) > 0 and account.before is not None:
                self._change_all([key], lambda _, now: self._confirmed(now) if now.bonus == "owed" else None)
            else:
                found[key] = bonuses if account.before is None else account.before
        return found

    def _advance(self, version: int, payment: Payment) -> None:
        """Hand a payment in and ask for it to be paid, from where it stands."""
        try:
            if payment.state == "intended":
                version, payment = self._hand_in(version, payment)
            if payment.state == "handed_in":
                self._ask_to_pay(version, payment)
        except Stale:
            return  # another payer is at it
        except (PanelRefused, PanelUnreached, PanelUnsure) as error:
            self._hinder(error)

    def _hand_in(self, version: int, payment: Payment) -> tuple[int, Payment]:
        bonuses = [Bonus(line.submission, line.usd_cents) for line in payment.lines]
        try:
            panel_id = self.panel.propose_bonuses(self.panel_study, bonuses)
        except PanelRefused as error:
            self._hinder(error)
            return self._give_up(version, payment, "refused", ())
        return self._write_payment(version, replace(payment, state="handed_in", panel_id=panel_id))

    def _ask_to_pay(self, version: int, payment: Payment) -> None:
        """Ask the panel to pay what was handed in.

        Whoever writes `paying` at this version asks, and nobody else does, then or ever, unless the
        panel cannot have heard of it.
        """
        shown = self._shown(payment)
        if shown:
            self._give_up(version, payment, "void", shown)
            return
        asked_at = self.clock()
        paying = replace(payment, state="paying", asked_at=asked_at.isoformat())
        version, paying = self._write_payment(version, paying)
        if self.clock() - asked_at > ASK_WITHIN:
            raise PanelUnsure("this payer was held up for too long, and asked for nothing")
        try:
            self.panel.pay_bonuses(payment.panel_id)
        except PanelUnreached:
            self._write_payment(version, replace(paying, state="handed_in"))
            raise
        except PanelRefused:
            self._give_up(version, paying, "refused", ())
            raise
        self._write_payment(version, replace(paying, state="sent"))

    # what the panel's books say

    def _settle_payments(self) -> None:
        """Confirm what the panel's books show, and give up payments that they can no longer come to show."""
        for version, payment in self._payments():
            if payment.state in ("paying", "sent"):
                self._look_for(version, payment)
            elif payment.state not in OPEN and not payment.is_filed:
                self._file(version, payment)

    def _look_for(self, version: int, payment: Payment) -> None:
        now = self.clock()  # before the books are read: what they show is at least as new
        try:
            shown = self._shown(payment)
        except PanelRefused as error:
            self._hinder(error)
            return
        self._confirm(payment, shown)
        is_settled = now >= datetime.fromisoformat(payment.asked_at) + self.settle
        try:
            if len(shown) == len(payment.lines):
                self._give_up(version, payment, "closed", shown)
            elif is_settled and (payment.state == "paying" or self.releases_sent):
                self._give_up(version, payment, "lapsed", shown)
        except Stale:
            return  # another payer has come to know more
        if is_settled and payment.state == "sent" and not self.releases_sent:
            self._hindrances[f"the panel has not paid {len(payment.lines) - len(shown)} bonuses that it took "
                             "on; if its own pages say so too, run again with --release"] = None  # fmt: skip

    def _shown(self, payment: Payment) -> tuple[str, ...]:
        """Return the accounts of a payment whose bonus the panel's books show."""
        now, shown = self._accounts(), []
        for line in self.progress(payment.lines, label="bonuses paid"):
            account = now[line.account]
            times = 1
            if account.bonus != "confirmed":
                times = times_shown(account, self.panel.submission(line.submission).bonuses_usd_cents)
            if times > 0:
                shown.append(line.account)
            if times > 1:
                self._hindrances[f"the panel shows the bonus of {account.evaluator} {times} times"] = None
        return tuple(shown)

    def _give_up(
        self, version: int, payment: Payment, state: PaymentState, shown: tuple[str, ...]
    ) -> tuple[int, Payment]:
        """End a payment; those of its accounts that are not shown are owed again."""
        version, payment = self._write_payment(version, replace(payment, state=state, shown=shown))
        return self._file(version, payment)

    def _file(self, version: int, payment: Payment) -> tuple[int, Payment]:
        """Carry a payment that is over to its accounts."""
        self._confirm(payment, payment.shown)
        self._change_all(
            [line.account for line in payment.lines],
            lambda _, now: (
                now.moved(bonus="owed")
                if now.payments[-1:] == (payment.id,) and now.bonus == "intended"
                else None
            ),
        )
        try:
            return self._write_payment(version, replace(payment, is_filed=True))
        except Stale:
            return version, payment

    def _confirm(self, payment: Payment, shown: Iterable[str]) -> None:
        self._change_all(
            shown,
            lambda _, now: (
                self._confirmed(now)
                if now.payments[-1:] == (payment.id,) and now.bonus in ("owed", "intended")
                else None
            ),
        )

    def _confirmed(self, account: Account) -> Account:
        return account.moved(bonus="confirmed", confirmed_at=self._now())

    # intending: one conditional write on the purse decides what is paid and keeps the budget

    def _commit(self, part: Part, statuses: dict[str, str], before: dict[str, tuple[int, ...]]) -> bool:
        """Intend to pay a part to as many as the budget allows, at most a batch; return whether any.

        The purse is read first. While nobody else has written it since, the accounts read after it tell
        all that is committed.
        """
        for _ in range(_TRIES):
            version, now = self._purse()
            ledger = self._accounts()
            limits = in_force(self.store, self.study.name, now)
            chosen = self._affordable(part, statuses, before, limits, ledger)
            if not chosen:
                return False
            pending = {
                "id": self.new_id(),
                "part": part,
                "at": self._now(),
                "lines": [[key, ledger[key].submission, ledger[key].usd_cents(part)] for key in chosen],
                "before": {key: list(before[key]) for key in chosen if key in before},
            }
            try:
                after = replace(now, pending=pending)
                written = self.store.write_entry(PURSES, self.study.name, version, after.data())
            except Stale:
                continue
            self._carry_over(written.version, after)
            return True
        raise _busy()

    def _affordable(
        self,
        part: Part,
        statuses: dict[str, str],
        before: dict[str, tuple[int, ...]],
        purse: Purse,
        ledger: dict[str, Account],
    ) -> list[str]:
        """Return the accounts to be paid next, those owed longest first.

        What the panel has paid already, such as a submission approved by hand, counts in any case.
        """
        due = [
            key
            for key, account in sorted(ledger.items(), key=lambda item: (item[1].owed_at, item[0]))
            if payable(account, part, statuses.get(key, "")) and (part == "reward" or key in before)
        ]
        chosen = [key for key in due if part == "reward" and statuses[key] in APPROVED]
        committed = purse.committed_usd_cents(ledger.values())
        committed += sum(purse.cost_usd_cents(ledger[key].usd_cents(part)) for key in chosen)
        for key in due:
            if key in chosen:
                continue
            committed += purse.cost_usd_cents(ledger[key].usd_cents(part))
            if purse.budget_usd_cents is not None and committed > purse.budget_usd_cents:
                self._hindrances["the budget does not suffice for all that is owed"] = None
                break
            chosen.append(key)
        return chosen[: self.batch]

    def _purse(self) -> tuple[int, Purse]:
        """Return the purse with nothing pending, after helping along what was."""
        for _ in range(_TRIES):
            version, now = purse(self.store, self.study.name)
            if now.pending is None:
                return version, now
            self._carry_over(version, now)
        raise _busy()

    def _carry_over(self, version: int, purse: Purse) -> None:
        """Write what is pending into the accounts and free the purse; done by many at once, it is done once.

        The payment appears after its accounts know of it, for then others may go on with it.
        """
        pending = purse.pending
        id, is_reward = pending["id"], pending["part"] == "reward"

        def rule(key: str, now: Account) -> Account | None:
            if is_reward:
                if id in now.rewards or now.reward != "owed":
                    return None
                return now.moved(reward="intended", rewards=(*now.rewards, id))
            if id in now.payments or now.bonus != "owed":
                return None
            before = tuple(pending["before"][key])
            return now.moved(bonus="intended", payments=(*now.payments, id), before=before)

        self._change_all([key for key, _, _ in pending["lines"]], rule)
        if not is_reward:
            lines = tuple(Line(*line) for line in pending["lines"])
            self._try(payments_of(self.study.name), id, 0, Payment(id, lines, pending["at"]).data())
        self._try(PURSES, self.study.name, version, replace(purse, pending=None).data())

    # the books

    def _accounts(self) -> dict[str, Account]:
        return {key: account for key, (_, account) in accounts(self.store, self.study.name).items()}

    def _payments(self) -> list[tuple[int, Payment]]:
        return list(payments(self.store, self.study.name))

    def _change_all(self, keys: Iterable[str], rule: Callable[[str, Account], Account | None]) -> None:
        for key in keys:
            change(self.store, self.study.name, key, lambda now, key=key: rule(key, now))

    def _write_payment(self, version: int, payment: Payment) -> tuple[int, Payment]:
        book = payments_of(self.study.name)
        return self.store.write_entry(book, payment.id, version, payment.data()).version, payment

    def _try(self, book: str, key: str, version: int, data: dict[str, Any]) -> None:
        """Write an entry; where it has moved on, another payer was here before."""
        try:
            self.store.write_entry(book, key, version, data)
        except Stale:
            return

    def _hinder(self, error: Exception) -> None:
        self._hindrances[str(error)] = None

    def _now(self) -> str:
        return self.clock().isoformat()


def _is_of(account: Account, submission: Submission | None) -> bool:
    return submission is not None and submission.participant == account.participant


def _busy() -> Conflict:
    return Conflict("several payers are at work at once; try again", code="busy")
