"""Paying: the world around the ledger's rules. Every step is one conditional write in the store.

It may be killed at any instruction and run again, by several at once: what a step has written is read by
whoever comes next, and a step that was lost is done again where that does no harm. The one call that does
harm when sent twice stands alone in `_ask_to_pay`.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from backend import owing
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
    payable,
    times_shown,
)
from backend.owing import PURSES, TRIES, busy, payments_of
from backend.panels import Bonus, Panel, PanelRefused, PanelUnreached, PanelUnsure, Submission
from backend.records import Study
from backend.stores import RESTORES, Stale, Store

SETTLE = timedelta(hours=24)
"""How long a panel may take to pay what it was asked for; Prolific speaks of minutes."""
ASK_WITHIN = timedelta(minutes=5)
"""A payer that was held up for longer between writing and asking does not ask."""
BATCH = 100
"""Bonuses in one payment; Prolific advises 200 at most."""

Progress = Callable[..., Iterable]


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
            owing.enter_all(self.store, self.study)
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
        known = owing.plain_accounts(self.store, self.study)
        return owing.standing(self.store, self.study, known, self.look(known))

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
        if self._is_just_restored():
            return
        before = self._baselines(statuses)
        while self._commit("bonus", statuses, before):
            pass
        for version, payment in self._payments():
            if payment.state in ("intended", "handed_in"):
                self._advance(version, payment)
        self._settle_payments()

    def _restored_at(self) -> str:
        """Return when the store was last restored from a backup, or '' where it never was."""
        return max((entry.key for entry in self.store.entries(RESTORES)), default="")

    def _is_just_restored(self) -> bool:
        """Return whether the panel may still be at payments made after a backup that was restored."""
        restored_at = self._restored_at()
        if not restored_at:
            return False
        until = datetime.fromisoformat(restored_at) + self.settle
        if self.clock() >= until:
            return False
        self._hindrances[
            f"this store was restored from a backup at {restored_at}; bonuses are paid from "
            f"{until.isoformat(timespec='minutes')} on, when the panel's books show what was paid before"
        ] = None
        return True

    def _baselines(self, statuses: dict[str, str]) -> dict[str, tuple[int, ...]]:
        """Return what bonuses the panel lists for each account whose bonus can be paid.

        An account that was in a payment before keeps its first baseline, so that money of that payment
        which arrives late is known for what it is; if it is there, nothing is owed any more. After a
        restore, a bonus of the same amount that the panel lists is taken for one of a payment made since
        the backup.
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
            if times_shown(account, bonuses) > 0 and (account.before is not None or self._restored_at()):
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
        for _ in range(TRIES):
            version, now = self._purse()
            ledger = self._accounts()
            limits = owing.in_force(self.store, self.study.name, now)
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
        raise busy()

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
        for _ in range(TRIES):
            version, now = owing.purse(self.store, self.study.name)
            if now.pending is None:
                return version, now
            self._carry_over(version, now)
        raise busy()

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
        return {key: account for key, (_, account) in owing.accounts(self.store, self.study.name).items()}

    def _payments(self) -> list[tuple[int, Payment]]:
        return list(owing.payments(self.store, self.study.name))

    def _change_all(self, keys: Iterable[str], rule: Callable[[str, Account], Account | None]) -> None:
        for key in keys:
            owing.change(self.store, self.study.name, key, lambda now, key=key: rule(key, now))

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
