"""Payment without a panel's API: export a list of what is owed, import the list of what was paid.

If a study's evaluators come from a panel that pays them itself, this concerns people without a place
there: those who came by a plain link, or waited to be called after a qualification taken by one.

An account is listed until it is marked as paid; the list may be written any number of times. A list names
each account, so that marking it again marks nothing that was owed since.
"""

import csv
import hashlib
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from backend.experiment.records import Study
from backend.foundation.csv_formulas import escape_formula
from backend.foundation.csv_tables import read_rows
from backend.foundation.errors import InvalidInput
from backend.foundation.file_permissions import private
from backend.payment.accounts import (
    change_known,
    check_paid_here,
    enter_all,
    funds,
    in_force,
    plain_accounts,
    recruited,
)
from backend.payment.ledger import PARTS, Account, report
from backend.stores.store import Store

COLUMNS = (
    "evaluator",
    "completion_code",
    "base_usd_cents",
    "bonus_usd_cents",
    "usd_cents",
    "currency",
    "reason",
    "account",
)
_NAME_LENGTH = 12
_LETTERS = str.maketrans("0123456789", "ghijklmnop")


@dataclass(frozen=True)
class Paid:
    """What a row of a list says was paid."""

    evaluator: str
    usd_cents: str
    code: str = ""
    """The completion code, which tells accounts of one amount apart; '' if the row has none."""
    account: str = ""
    """The account's name as lists have it; '' if the row has none."""


def owed(store: Store, study: Study, now: datetime) -> list[Account]:
    """Return the accounts to be paid by hand, oldest debts first, as far as the budget goes."""
    known = by_hand(store, study, now)
    limits = replace(in_force(store, study.name, funds(store, study.name)[1]), fee_percent="0")
    left, lines = limits.budget_usd_cents, []
    if left is not None:
        left -= limits.committed_usd_cents(known.values())
    for account in sorted(filter(_is_owed, known.values()), key=lambda one: (one.owed_at, one.key)):
        if left is not None:
            left -= account.total_usd_cents
            if left < 0:
                break
        lines.append(account)
    return lines


def by_hand(store: Store, study: Study, now: datetime) -> dict[str, Account]:
    """Return a study's accounts that no panel pays, by key."""
    is_at_panel = recruited(store, study.name) is not None
    known = plain_accounts(store, study, now)
    return {key: one for key, one in known.items() if not (is_at_panel and one.submission)}


def due(store: Store, study: Study, now: datetime) -> dict[str, int]:
    """Return to how many people how much (cents) is owed by hand, as far as the budget goes."""
    listed = owed(store, study, now)
    return {
        "people": len({account.evaluator for account in listed}),
        "usd_cents": sum(account.total_usd_cents for account in listed),
    }


def plan(store: Store, study: Study, now: datetime) -> dict[str, Any]:
    """Return the state of payments as plain data; what is paid by hand has no fee."""
    known = by_hand(store, study, now)
    limits = replace(in_force(store, study.name, funds(store, study.name)[1]), fee_percent="0")
    status = report(known, {}, limits, {})
    listed = owed(store, study, now)
    keys = {account.evaluator for account in listed}
    for row in status["evaluators"]:
        row["pays"] = [part for part in PARTS if row["evaluator"] in keys and row[part] == "owed"]
    total = sum(account.total_usd_cents for account in listed)
    beyond = sum(map(_is_owed, known.values())) - len(listed)
    return {
        "study": study.name,
        **status,
        "to_pay_usd_cents": total,
        "total_usd_cents": total,
        "obstacles": [f"the budget does not suffice for {beyond} more"] if beyond else [],
    }


def write_list(store: Store, study: Study, path: Path, now: datetime) -> None:
    """Write what is owed as CSV, one row per session, to a file that others cannot read."""
    text = as_list(store, study, now)
    with open(path, "w", encoding="utf-8", newline="", opener=private) as file:
        file.write(text)


def as_list(store: Store, study: Study, now: datetime) -> str:
    """Return what is owed as CSV, one row per session."""
    check_paid_here(store, study.name)
    listed = owed(store, study, now)
    enter_all(store, study, now)
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    for account in listed:
        amounts = (account.base_usd_cents, account.bonus_usd_cents, account.total_usd_cents)
        code, currency = escape_formula(account.code), study.protocol.pay.currency
        why = escape_formula(account.reason)
        writer.writerow((account.evaluator, code, *amounts, currency, why, _name(account.key)))
    return file.getvalue()


def mark_paid(store: Store, study: Study, path: Path, clock: Callable[[], datetime]) -> int:
    """Mark the rows of a list as paid; return how many were not marked before.

    Raises:
        InvalidInput: a row names nobody, or another amount than is owed; then nothing is marked.
    """
    return _mark(store, study, clock, lambda known: _keys(path, known))


def mark_amounts(store: Store, study: Study, paid: Iterable[Paid], clock: Callable[[], datetime]) -> int:
    """Mark what was paid; return how many accounts were not marked before.

    Raises:
        InvalidInput: nobody of the name is owed anything, or another amount; then nothing is marked.
    """
    return _mark(
        store, study, clock, lambda known: [known.take(f"paid[{i}]", each) for i, each in enumerate(paid)]
    )


class _Accounts:
    """The accounts that rows of a list are about, each taken by one row at most.

    Somebody who waited in stretches and took part has several, perhaps of the same amount.
    """

    def __init__(self, known: Mapping[str, Account]):
        self._of: dict[str, dict[str, Account]] = defaultdict(dict)
        for key, account in sorted(known.items(), key=lambda item: not _is_owed(item[1])):  # owed ones first
            self._of[account.evaluator][key] = account

    def take(self, where: str, paid: Paid) -> str:
        """Return the key of the account that a row is about.

        Raises:
            InvalidInput: nothing is owed to anybody of the name, or another amount.
        """
        own = self._of.get(paid.evaluator)
        if own is None:
            raise InvalidInput(f"{where}: no evaluator {paid.evaluator!r} is owed")
        named = [key for key in own if not paid.account or _name(key) == paid.account]
        fitting = [key for key in named if paid.usd_cents == str(own[key].total_usd_cents)]
        if fitting:  # of several, that of the code; a spreadsheet may have changed how it is written
            is_of_code = (key for key in fitting if escape_formula(own[key].code) == paid.code)
            key = next(is_of_code, fitting[0])
            del own[key]
            return key
        if not named:
            account = f"account {paid.account!r}" if paid.account else "account"
            raise InvalidInput(f"{where}: {paid.evaluator} has no {account} that is not in a row above")
        each = " and ".join(f"{own[key].total_usd_cents}" for key in named)
        raise InvalidInput(f"{where}: {paid.evaluator} is owed {each} cents, not {paid.usd_cents!r}")


def _mark(
    store: Store, study: Study, clock: Callable[[], datetime], chosen: Callable[[_Accounts], list[str]]
) -> int:
    """Mark the accounts whose keys `chosen` returns as paid; return how many were not marked before."""
    check_paid_here(store, study.name)
    enter_all(store, study, clock())
    known = by_hand(store, study, clock())
    marked = 0
    for key in chosen(_Accounts(known)):
        was_marked = False

        def rule(now: Account) -> Account | None:
            nonlocal was_marked
            was_marked = _is_owed(now)
            paid = {part: "confirmed" for part in PARTS if getattr(now, part) == "owed"}
            return now.moved(**paid, confirmed_at=clock().isoformat()) if was_marked else None

        change_known(store, study.name, key, rule)
        marked += was_marked
    return marked


def _keys(path: Path, known: _Accounts) -> list[str]:
    """Return the keys of the accounts that a file names."""
    return [
        known.take(
            f"{path.name} line {line}",
            Paid(
                row["evaluator"].strip(),
                row["usd_cents"].strip(),
                row.get("completion_code", "").strip(),
                row.get("account", "").strip(),
            ),
        )
        for line, row in read_rows(path, ("evaluator", "usd_cents"))
    ]


def _name(key: str) -> str:
    """Return what lists call the account of a key: letters, for a spreadsheet takes `12e4` for a number."""
    return hashlib.sha256(key.encode()).hexdigest()[:_NAME_LENGTH].translate(_LETTERS)


def _is_owed(account: Account) -> bool:
    """Return whether something is owed and no payment is under way at a panel."""
    states = {getattr(account, part) for part in PARTS}
    return "owed" in states and "intended" not in states and "confirmed" not in states
