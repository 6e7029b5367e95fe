"""Paying: the side effects around the ledger's rules. Every step is one conditional write in the store.

It may be killed at any instruction and run again, by several processes at once: each step's writes are
read by the next run, and a lost step is repeated where that is harmless. The one call that pays twice if
repeated is isolated in `_ask_to_pay`.
"""

import secrets
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from backend.experiment.money import format_money
from backend.experiment.records import Study
from backend.experiment.session import CLOSED
from backend.foundation.errors import Conflict, InvalidInput, Unavailable
from backend.foundation.timestamps import readable
from backend.panels.api import (
    COMPLETABLE,
    Bonus,
    NotThere,
    Panel,
    PanelRefused,
    PanelUnreached,
    PanelUnsure,
    Submission,
    TokenRefused,
)
from backend.payment import accounts
from backend.payment.accounts import BUSY, FUNDS, payments_of
from backend.payment.ledger import (
    OPEN,
    UNMATCHED,
    Account,
    Line,
    Part,
    Payment,
    PaymentState,
    StudyFunds,
    is_ahead,
    payable,
    reconciled,
    times_shown,
)
from backend.payment.unmatched import by_key, unmatched
from backend.stores.store import Stale, Store
from backend.stores.updates import TRIES, retried

SETTLE = timedelta(hours=24)
"""How long a panel may take to carry out a payment; Prolific speaks of minutes."""
ASK_WITHIN = timedelta(minutes=5)
"""A payer that was delayed for longer between writing and asking does not ask."""
BATCH = 100
"""Bonuses per payment; Prolific advises 200 at most."""
_RETURN_REASON = "There are no answers of yours in this study"

Progress = Callable[..., Iterable[Any]]


@dataclass
class Payer:
    """Pays what a study owes through a panel with an API."""

    store: Store
    study: Study
    panel: Panel
    panel_study: str
    """The panel's id of its study; '' if all people came on the way to other studies."""
    clock: Callable[[], datetime]
    settle: timedelta = SETTLE
    batch: int = BATCH
    releases_sent: bool = False
    """Treat as owed again what the panel accepted but has not shown for longer than `settle`, and rewards of
    places that it does not know."""
    ceiling_usd_cents: int | None = None
    """What all commitments of the study may come to, fees included; None for as much as its budget allows."""
    progress: Progress = lambda items, **_: items
    new_id: Callable[[], str] = lambda: secrets.token_hex(8)
    _unread_studies: set[str] = field(default_factory=set, init=False)
    """The panel's studies of other studies here whose currency the panel refused to tell."""
    refused: dict[str, None] = field(default_factory=dict, init=False)
    """Obstacles of `decide`."""
    _obstacles: dict[str, None] = field(default_factory=dict, init=False)
    _elsewhere: list[Account] | None = field(default=None, init=False)

    def run(self) -> list[str]:
        """Update the ledger from the panel's records, then pay what is owed and can be paid.

        Returns descriptions of all obstacles; an unreachable panel ends the run.

        Raises:
            Conflict: the panel pays in another currency than the study, or another store pays it.
        """
        self._obstacles.clear()
        self._elsewhere = None
        accounts.check_paid_here(self.store, self.study.name)
        try:
            statuses = self._updated()
            self._reconcile_payments()
            self._pay_rewards(statuses)
            self._pay_bonuses()
        except (PanelRefused, PanelUnreached, PanelUnsure) as error:
            self._note_obstacle(error)
        return list(self._obstacles)

    def _updated(self) -> dict[str, str]:
        """Update the accounts from the panel's records, and return each submission's status."""
        try:
            self._check_currency()
            accounts.enter_all(self.store, self.study, self.clock())
            self._funds()
            return self._take_over(self.look())
        except TokenRefused:
            raise
        except PanelRefused:  # the study cannot be read: what is under way must have an end all the same
            self._reconcile_payments()
            if self.releases_sent:
                self._take_over({})
            raise

    def look(self) -> dict[str, Submission]:
        """Return the panel's list of submissions, by the keys of their accounts."""
        if not self.panel_study:
            return {}
        return by_key(self.progress(self.panel.submissions(self.panel_study), label="places"))

    def plan(self) -> dict[str, Any]:
        """Return the state of payments and what a run would pay, as plain data; nothing is written."""
        return accounts.payment_status(self.store, self.study, *self.known())

    def known(
        self, listed: Mapping[str, Submission] | None = None
    ) -> tuple[dict[str, Account], dict[str, str]]:
        """Return all accounts as a run would find them, and each submission's status; nothing is written.

        Args:
            listed: the result of `look`, by default asked for here.
        """
        self._check_currency()
        listed, now = self.look() if listed is None else listed, self._now()
        known = accounts.plain_accounts(self.store, self.study, self.clock())
        for account in unmatched(self.store, self.study, listed, known, now):
            known[account.key] = account
        statuses = self._statuses(known, listed)
        terms = accounts.panel_terms(self.store, self.study)
        known = {
            key: reconciled(account, statuses.get(key, ""), terms, now) for key, account in known.items()
        }
        return known, statuses

    def decide(self, who: str, is_to_pay: bool) -> int:
        """Approve submissions without an owed session, or have them returned; return how many.

        Those of which the panel refused that, or whose work is paid as a bonus, are in `refused`, with the
        reasons.

        Args:
            who: a pseudonym, a reason for having no session, or `all`.
            is_to_pay: approve them; otherwise the panel asks the person to return the place.

        Raises:
            InvalidInput: no undecided submission matches `who`.
        """
        accounts.check_paid_here(self.store, self.study.name)
        self._check_currency()
        self._take_over(self.look())
        chosen = [
            key
            for key, account in self._accounts().items()
            if account.reward == "undecided" and who in ("all", account.evaluator, account.why)
        ]
        if not chosen:
            raise InvalidInput(
                f"no submission without a session is undecided that is called {who!r}; `openhype pay "
                f"{self.study.name}` lists them; besides a name it may be all, {', '.join(UNMATCHED)}"
            )
        return sum(self._approve(key) if is_to_pay else self._ask_to_return(key) for key in chosen)

    def _approve(self, key: str) -> bool:
        account = self._accounts()[key]
        if account.has_base_in_bonus:
            amount = format_money(account.usd_cents("bonus"), self.study.protocol.pay.currency)
            self.refused[
                f"{account.evaluator} is paid {amount} as a bonus already, for the session that broke off; "
                "approving the submission would pay that twice: ask for its return (--ask-return "
                f"{account.evaluator}), or reject it at the panel"
            ] = None
            return False
        self._change_all([key], _approved)
        return True

    def _ask_to_return(self, key: str) -> bool:
        account = self._accounts()[key]
        try:
            self.panel.ask_to_return(account.submission, _RETURN_REASON)
        except TokenRefused:
            raise
        except PanelRefused as error:  # that of one person must not hold up the others
            self.refused[f"{account.evaluator}: {error}"] = None
            return False
        at = self._now()
        self._change_all([key], lambda _, now: now.moved(asked_to_return_at=at))
        return True

    # synchronization of the ledger with the panel's records

    def _check_currency(self) -> None:
        owed_in, elsewhere = (
            self.study.protocol.pay.currency,
            {one.panel_study for one in self._accounts().values() if not one.is_paid},
        )
        self._unread_studies.clear()
        for panel_study in sorted(filter(None, {self.panel_study, *elsewhere})):
            try:
                paid_in = self.panel.cost(panel_study).currency
            except TokenRefused:
                raise
            except PanelRefused as error:
                if panel_study == self.panel_study:
                    raise
                self._note_obstacle(error)
                self._unread_studies.add(panel_study)
                continue
            if paid_in != owed_in:
                raise Conflict(
                    f"study {self.study.name} owes {owed_in}, and its study at the panel pays {paid_in}; "
                    "nobody is paid by it"
                )

    def _take_over(self, listed: Mapping[str, Submission]) -> dict[str, str]:
        """Update the accounts from the panel's list, and return each account's submission status."""
        at, terms = self._now(), accounts.panel_terms(self.store, self.study)
        unknown = unmatched(self.store, self.study, listed, self._accounts(), at)
        accounts.enter_unmatched(self.store, self.study, unknown)
        known = self._accounts()
        statuses = self._statuses(known, listed)
        self._report_done(known, statuses)

        def rule(key: str, now: Account) -> Account | None:
            after = reconciled(now, statuses.get(key, ""), terms, at)
            if self.releases_sent and after.reward == "intended" and not statuses.get(key):
                after = after.moved(reward="owed")  # what the panel does not know can be closed
            return None if after == now else after

        self._change_all([key for key, account in known.items() if rule(key, account)], rule)
        return statuses

    def _statuses(self, known: Mapping[str, Account], listed: Mapping[str, Submission]) -> dict[str, str]:
        """Return each submission's status at the panel, by the account's key.

        A submission that the panel does not know, or knows for another person, has none. One that is not
        listed is read individually: it may belong to another study at the panel, and lists lose rows.
        """
        statuses: dict[str, str] = {key: listed[key].status for key in known if key in listed}
        for key, account in known.items():
            if key in statuses or not account.submission or account.is_paid:
                continue
            try:
                one = self.panel.submission(account.submission)
            except TokenRefused:
                raise
            except PanelRefused as error:
                if not isinstance(error, NotThere):
                    self._note_obstacle(error)
                continue
            if one.participant in ("", account.participant):
                statuses[key] = one.status
        return statuses

    def _report_done(self, known: Mapping[str, Account], statuses: dict[str, str]) -> None:
        """Report people to the panel who are done and whom it still waits for.

        The server does so at once; these are those for whom that failed, or who have withdrawn since.
        """
        made = accounts.recruited(self.store, self.study.name) or {}
        if not made.get("by_server"):
            return
        for key, account in known.items():
            is_whole = account.why in CLOSED and not account.panel_study
            if is_whole and account.reward == "owed" and statuses.get(key) in COMPLETABLE:
                try:
                    self.panel.complete(account.submission, made["codes"]["done_by_server"])
                    statuses[key] = "awaiting_review"
                except TokenRefused:
                    raise
                except (PanelRefused, PanelUnsure) as error:
                    self._note_obstacle(error)

    # rewards: approving is idempotent, and simply repeated

    def _pay_rewards(self, statuses: dict[str, str]) -> None:
        while self._commit("reward", statuses, {}):
            pass
        to_approve = [
            account.submission
            for key, account in self._accounts().items()
            if account.reward == "intended" and statuses.get(key) == "awaiting_review"
        ]
        if not to_approve:
            return
        try:
            self.panel.approve(to_approve)
        except TokenRefused:
            raise
        except (PanelRefused, PanelUnsure) as error:
            self._note_obstacle(error)

    # bonuses

    def _pay_bonuses(self) -> None:
        statuses = self._take_over(self.look())
        self._confirm_closed()
        if until := self.restored_until():
            at = accounts.restored_at(self.store, self.study.name)
            accounts.notice_restore(self.store, self.study.name, self.clock())
            self._obstacles[
                f"this store was restored from a backup, or took a ledger over, at {at}; bonuses are paid "
                f"from {until.isoformat(timespec='minutes')} on, when the panel's records show what was paid "
                "before"
            ] = None
            return
        before = self._baselines(statuses)
        while self._commit("bonus", statuses, before):
            pass
        for version, payment in self._payments():
            if payment.state in ("intended", "handed_in"):
                self._advance(version, payment)
        self._reconcile_payments()

    def _confirm_closed(self) -> None:
        """Record as paid the bonuses of lapsed payments that were closed, and arrived all the same."""
        lapsed = {
            line.account
            for _, payment in self._payments()
            if payment.state == "lapsed"
            for line in payment.lines
        }
        for key, account in self._accounts().items():
            if account.bonus != "closed" or key not in lapsed or not account.submission:
                continue
            try:
                bonuses = self.panel.submission(account.submission).bonuses_cents
            except TokenRefused:
                raise
            except PanelRefused:  # nobody waits for it
                continue
            if times_shown(account, bonuses, self._sharing(key, self._accounts())):
                self._change_all(
                    [key], lambda _, now: self._confirmed(now) if now.bonus == "closed" else None
                )

    def restored_until(self) -> datetime | None:
        """Return until when the panel may be processing payments made after a restored backup, if it may."""
        now = self.clock()
        since = accounts.restore_waits_from(self.store, self.study.name, now)
        return since + self.settle if since and now < since + self.settle else None

    def _baselines(self, statuses: dict[str, str]) -> dict[str, tuple[int, ...]]:
        """Return the bonuses that the panel lists for each account whose bonus can be paid.

        An account that was in a payment before keeps its first baseline, so that money of that payment
        which arrives late is recognised; if it is there, nothing is owed any more. After a restore, a
        listed bonus of the same amount is taken for that of a payment made since the backup, if it was owed
        before the restore.
        """
        baselines, restored_at = {}, accounts.restored_at(self.store, self.study.name)
        ledger = self._accounts()
        due = {
            key: account
            for key, account in ledger.items()
            if payable(account, "bonus", statuses.get(key, ""))
        }
        for key, account in self.progress(due.items(), label="bonuses so far"):
            place = self._place(account, account.submission)
            if place is None:
                continue
            bonuses = place.bonuses_cents
            is_older = account.owed_at < restored_at or is_ahead(account.owed_at, self.clock())
            may_be_there = account.before is not None or (restored_at and is_older)
            if may_be_there and times_shown(account, bonuses, self._sharing(key, ledger)) > 0:
                self._change_all([key], lambda _, now: self._confirmed(now) if now.bonus == "owed" else None)
                ledger[key] = account.moved(bonus="confirmed")
            else:
                baselines[key] = bonuses if account.before is None else account.before
        return baselines

    def _advance(self, version: int, payment: Payment) -> None:
        """Advance a payment from its current state: submit it, and ask for it to be paid."""
        try:
            if payment.state == "intended":
                version, payment = self._hand_in(version, payment)
            if payment.state == "handed_in":
                self._ask_to_pay(version, payment)
        except Stale:
            return  # another payer is handling it
        except (PanelRefused, PanelUnreached, PanelUnsure) as error:
            self._note_obstacle(error)

    def _hand_in(self, version: int, payment: Payment) -> tuple[int, Payment]:
        bonuses = [Bonus(line.submission, line.usd_cents) for line in payment.lines]
        try:
            panel_id = self.panel.propose_bonuses(payment.panel_study or self.panel_study, bonuses)
        except TokenRefused:
            raise
        except PanelRefused as error:
            names = ", ".join(self._accounts()[line.account].evaluator for line in payment.lines)
            self._obstacles[f"{names}: {error}"] = None
            return self._give_up(version, payment, "refused", ())
        return self._write_payment(version, replace(payment, state="handed_in", panel_id=panel_id))

    def _ask_to_pay(self, version: int, payment: Payment) -> None:
        """Ask the panel to pay a submitted payment.

        Only the process that writes `paying` at this version asks, ever, unless the panel cannot have
        received the call.
        """
        shown, lapsed, unread = self._look_at(payment)
        if shown or lapsed or unread:  # the others go into a new one
            self._give_up(version, payment, "void", shown)
            return
        asked_at = self.clock()
        paying = replace(payment, state="paying", asked_at=asked_at.isoformat())
        version, paying = self._write_payment(version, paying)
        if accounts.funds(self.store, self.study.name)[1].paid_from:  # transferred while this ran
            self._write_payment(version, replace(paying, state="handed_in"))
            accounts.check_paid_here(self.store, self.study.name)
        if not timedelta(0) <= self.clock() - asked_at <= ASK_WITHIN:
            raise PanelUnsure("this payer was held up for too long, and asked for nothing")
        try:
            self.panel.pay_bonuses(payment.panel_id)
        except (PanelUnreached, TokenRefused):
            self._write_payment(version, replace(paying, state="handed_in"))
            raise
        except PanelRefused:
            self._give_up(version, paying, "refused", ())
            raise
        self._write_payment(version, replace(paying, state="sent"))

    # the panel's records

    def _reconcile_payments(self) -> None:
        """Confirm what the panel's records show, and give up payments that can no longer appear in them."""
        for version, payment in self._payments():
            if payment.state in ("paying", "sent"):
                self._look_for(version, payment)
            elif payment.state not in OPEN and not payment.is_filed:
                self._file(version, payment)

    def _look_for(self, version: int, payment: Payment) -> None:
        now = self.clock()  # before the records are read: they are at least this recent
        shown, _, unread = self._look_at(payment)
        self._confirm(payment, shown)
        is_settled = now >= payment.waits_from(now) + self.settle
        missing = len(payment.lines) - len(shown) - len(unread)
        try:
            if len(shown) == len(payment.lines):
                self._give_up(version, payment, "closed", shown)
            elif is_settled and (payment.state == "paying" or self.releases_sent or missing == 0):
                # what cannot be read is owed again, but not paid before it can be read
                self._give_up(version, payment, "lapsed", shown)
            elif is_ahead(payment.asked_at, now):
                self._notice(version, payment, now)
        except Stale:
            return  # another payer knows more recent facts
        if is_settled and payment.state == "sent" and missing and not self.releases_sent:
            self._obstacles[
                f"the panel has not paid {missing} bonuses that it took on; if its own pages say so too, run "
                "again with --release"
            ] = None

    def _notice(self, version: int, payment: Payment, now: datetime) -> None:
        """Tell that a payment was asked for later than now, and have its wait count from now on."""
        since = payment.waits_from(now)
        asked, read, until = (
            readable(at.isoformat())
            for at in (datetime.fromisoformat(payment.asked_at), now, since + self.settle)
        )
        self._obstacles[
            f"payment {payment.id} was asked for on {asked}, and now it is {read}: a clock was or is wrong; "
            "correct this computer's if it is; what the panel's records lack is owed again, and paid, after "
            f"{until}"
        ] = None
        if since == now:
            self._write_payment(version, replace(payment, noticed_at=now.isoformat()))

    def _look_at(self, payment: Payment) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        """Return the accounts of a payment that the panel shows as paid, those that lapsed, those not shown.

        Lapsed are accounts whose place has been reactivated since, so that they are paid in another way, and
        accounts that are owed another amount than when the payment was made. Not shown are those whose place
        the panel refused to show.
        """
        now, shown, lapsed, unread = self._accounts(), [], [], []
        for line in self.progress(payment.lines, label="bonuses paid"):
            account = now[line.account]
            times = 1
            if account.bonus != "confirmed":
                place = self._place(account, line.submission)
                if place is None:
                    unread.append(line.account)
                    continue
                times = times_shown(account, place.bonuses_cents, self._sharing(line.account, now))
                is_in_it = account.payments[-1:] == (payment.id,)
                is_same = is_in_it and account.usd_cents("bonus") == line.usd_cents
                if not (is_same and payable(account.moved(bonus="owed"), "bonus", place.status)):
                    lapsed.append(line.account)
            if times > 0:
                shown.append(line.account)
            if times > 1:
                self._obstacles[f"the panel shows the bonus of {account.evaluator} {times} times"] = None
        return tuple(shown), tuple(lapsed), tuple(unread)

    def _place(self, account: Account, submission: str) -> Submission | None:
        """Return a place as the panel has it; None, and an obstacle, if it refuses to show this one."""
        try:
            return self.panel.submission(submission)
        except TokenRefused:
            raise
        except PanelRefused as error:
            self._obstacles[f"{account.evaluator}: {error}"] = None
            return None

    def _give_up(
        self, version: int, payment: Payment, state: PaymentState, shown: tuple[str, ...]
    ) -> tuple[int, Payment]:
        """End a payment; its accounts that are not shown as paid are owed again."""
        version, payment = self._write_payment(version, replace(payment, state=state, shown=shown))
        return self._file(version, payment)

    def _file(self, version: int, payment: Payment) -> tuple[int, Payment]:
        """Write the outcome of an ended payment to its accounts."""
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

    # commitments: one conditional write on the funds decides what is paid and enforces the budget

    def _commit(self, part: Part, statuses: dict[str, str], before: dict[str, tuple[int, ...]]) -> bool:
        """Commit a part of as many accounts as the budget allows, at most a batch; return whether any.

        The funds is read first. Unless another process writes it in the meantime, the accounts read
        after it include everything that is committed.
        """

        def committed() -> bool:
            version, now = self._funds()
            ledger = self._accounts()
            limits = accounts.in_force(self.store, self.study.name, now)
            chosen = self._affordable(part, statuses, before, limits, ledger)
            if not chosen:
                return False
            pending = {
                "id": self.new_id(),
                "part": part,
                "at": self._now(),
                "lines": [[key, ledger[key].submission, ledger[key].usd_cents(part)] for key in chosen],
                "before": {key: list(before[key]) for key in chosen if key in before},
                "panel_study": ledger[chosen[0]].panel_study if part == "bonus" else "",
            }
            after = replace(now, pending=pending)
            written = self.store.write_entry(FUNDS, self.study.name, version, after.data())
            self._carry_over(written.version, after, pending)
            return True

        return retried(committed, BUSY)

    def _affordable(
        self,
        part: Part,
        statuses: dict[str, str],
        before: dict[str, tuple[int, ...]],
        funds: StudyFunds,
        ledger: dict[str, Account],
    ) -> list[str]:
        """Return the accounts to pay next, oldest debts first, all of one study at the panel.

        Of equal bonuses on one submission one is paid at a time: the panel's records do not tell them apart.
        A bonus of a payment that was not taken in is handed in alone, as one line is enough to refuse it all.
        """
        due = [
            key
            for key, account in sorted(ledger.items(), key=lambda item: (item[1].owed_at, item[0]))
            if payable(account, part, statuses.get(key, "")) and (part == "reward" or key in before)
            if part == "reward" or account.panel_study not in self._unread_studies
        ]
        everybodys = (*ledger.values(), *self._others(ledger)) if part == "bonus" else ()
        under_way = {_line(one) for one in everybodys if one.bonus == "intended"}
        alone = self._not_taken_in(ledger) if part == "bonus" else set()
        chosen: list[str] = []
        committed = funds.committed_usd_cents(ledger.values())
        for key in due:
            if chosen and part == "bonus" and ledger[key].panel_study != ledger[chosen[0]].panel_study:
                continue
            if part == "bonus":
                if _line(ledger[key]) in under_way or (chosen and alone.intersection((key, chosen[0]))):
                    continue
                under_way.add(_line(ledger[key]))
            committed += funds.cost_usd_cents(ledger[key].usd_cents(part))
            if funds.budget_usd_cents is not None and committed > funds.budget_usd_cents:
                self._obstacles["the budget does not suffice for all that is owed"] = None
                break
            if self.ceiling_usd_cents is not None and committed > self.ceiling_usd_cents:
                self._obstacles["more is owed by now than was confirmed"] = None
                break
            chosen.append(key)
        return chosen[: self.batch]

    def _not_taken_in(self, ledger: Mapping[str, Account]) -> set[str]:
        """Return the accounts whose latest payment the panel refused to take in."""
        refused = {one.id for _, one in self._payments() if one.state == "refused" and not one.panel_id}
        return {key for key, account in ledger.items() if refused.intersection(account.payments[-1:])}

    def _funds(self) -> tuple[int, StudyFunds]:
        """Return the funds with nothing pending, after completing a pending commitment."""
        for _ in range(TRIES):
            version, now = accounts.funds(self.store, self.study.name)
            if now.paid_from:
                accounts.check_paid_here(self.store, self.study.name)
            if now.pending is None:
                return version, now
            self._carry_over(version, now, now.pending)
        raise Unavailable(f"{BUSY}; try again", code="busy")

    def _carry_over(self, version: int, funds: StudyFunds, pending: Mapping[str, Any]) -> None:
        """Write the pending commitment to the accounts and clear it; concurrent calls take effect once.

        The payment is created after its accounts refer to it, because others may then advance it.
        """
        id, is_reward = pending["id"], pending["part"] == "reward"
        amounts = {key: cents for key, _, cents in pending["lines"]}

        def rule(key: str, now: Account) -> Account | None:
            if is_reward:
                if id in now.rewards or now.reward != "owed":
                    return None
                return now.moved(reward="intended", rewards=(*now.rewards, id))
            if id in now.payments or now.bonus != "owed" or now.usd_cents("bonus") != amounts[key]:
                return None
            before = tuple(pending["before"][key])
            return now.moved(bonus="intended", payments=(*now.payments, id), before=before)

        self._change_all([key for key, _, _ in pending["lines"]], rule)
        if not is_reward:
            lines = tuple(Line(*line) for line in pending["lines"])
            made = Payment(id, lines, pending["at"], panel_study=pending["panel_study"])
            self._try(payments_of(self.study.name), id, 0, made.data())
        self._try(FUNDS, self.study.name, version, replace(funds, pending=None).data())

    # access to the books

    def _accounts(self) -> dict[str, Account]:
        return {key: account for key, (_, account) in accounts.accounts(self.store, self.study.name).items()}

    def _sharing(self, key: str, ledger: Mapping[str, Account]) -> list[Account]:
        """Return the other accounts of an account's submission, of all studies."""
        submission, own = ledger[key].submission, (one for other, one in ledger.items() if other != key)
        return [one for one in (*own, *self._others(ledger)) if one.submission == submission]

    def _others(self, ledger: Mapping[str, Account]) -> list[Account]:
        """Return other studies' accounts of submissions here, as they were when this run first asked."""
        if self._elsewhere is None:
            here = {one.submission for one in ledger.values()} - {""}
            self._elsewhere = accounts.elsewhere(self.store, self.study.name, here)
        return self._elsewhere

    def _payments(self) -> list[tuple[int, Payment]]:
        return list(accounts.payments(self.store, self.study.name))

    def _change_all(self, keys: Iterable[str], rule: Callable[[str, Account], Account | None]) -> None:
        for key in keys:
            accounts.change_known(self.store, self.study.name, key, partial(rule, key))

    def _write_payment(self, version: int, payment: Payment) -> tuple[int, Payment]:
        book = payments_of(self.study.name)
        return self.store.write_entry(book, payment.id, version, payment.data()).version, payment

    def _try(self, book: str, key: str, version: int, data: dict[str, Any]) -> None:
        """Write an entry; if its version has changed, another payer was first."""
        with suppress(Stale):
            self.store.write_entry(book, key, version, data)

    def _note_obstacle(self, error: Exception) -> None:
        self._obstacles[str(error)] = None

    def _now(self) -> str:
        return self.clock().isoformat()


def _approved(_: str, now: Account) -> Account | None:
    """Return an account whose reward is to be paid although nobody is owed it."""
    return now.moved(reward="owed") if now.reward == "undecided" and not now.has_base_in_bonus else None


def _line(account: Account) -> tuple[str, int]:
    """Return how the panel's records list an account's bonus."""
    return account.submission, account.usd_cents("bonus")
