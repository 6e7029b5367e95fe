"""Copies of a study's ledger in two stores, only one of which pays.

A copy includes the financial books, and stays a copy: its funds name the store that pays (`paid_from`),
and payment, lists of debts and recruitment are refused there. The right to pay is transferred in steps,
after each of which the process may die: the paying store is marked first, then its books are copied
again, and only then may the other store pay. In between neither does, and the transfer is repeated.

A payer that is running meanwhile pays nothing: after writing that it is about to ask, and before asking,
it reads its funds (`payment/payer.py`). What it asked for before is in the books that are copied.
"""

import secrets
from collections.abc import Iterator
from dataclasses import replace

from backend.foundation.errors import Conflict, Unavailable
from backend.payment import accounts, screened_out
from backend.stores.store import Entry, Store, stored_entry
from backend.stores.updates import TRIES, update
from backend.studies import lifecycle
from backend.studies.withdrawals import BOOK as WITHDRAWN
from backend.studies.withdrawals import withdrawn
from backend.task.withdrawal import finish_one


def copy_ledger(source: Store, target: Store, study: str, names: tuple[str, str]) -> bool:
    """Update the target's books of a study from the source's; return whether that was done.

    If the source is a copy itself, the target becomes one too, of the store that pays; it is left unchanged
    if it pays the study, or is a copy of another store's ledger.

    Args:
        names: as for `move_ledger`.

    Raises:
        Conflict: both stores pay the study.
    """
    of_source, (version, of_target) = accounts.funds(source, study)[1], accounts.funds(target, study)
    has_ledger = _has_ledger(target, study)
    if of_source.paid_from:
        is_new = not version and not has_ledger and of_source.paid_from != names[1]
        if of_target.paid_from != of_source.paid_from and not is_new:
            return False
    elif not of_target.paid_from and has_ledger:
        raise Conflict(
            f"both stores have a ledger of study {study}, and each may have paid people; they cannot be "
            "joined: pay from one of them only"
        )
    payer = of_source.paid_from or names[0]
    accounts.change_funds(
        target, study, lambda now: replace(of_source, paid_from=payer, handover=now.handover)
    )
    _copy_books(source, target, study)
    return True


def move_ledger(source: Store, target: Store, study: str, names: tuple[str, str]) -> None:
    """Transfer the right to pay a study from the source to the target; repeating it changes nothing.

    Args:
        names: names of source and target for error messages about which of them pays.

    Raises:
        Conflict: neither of them pays, or both do.
    """
    of_source, of_target = accounts.funds(source, study)[1], accounts.funds(target, study)[1]
    is_under_way = bool(of_source.handover) and of_source.handover == of_target.handover
    if of_source.paid_from and not is_under_way:
        raise Conflict(
            f"study {study} is not paid from {names[0]} but from {of_source.paid_from}; move it from there"
        )
    if not of_source.paid_from:
        copy_ledger(source, target, study, names)
        handover = secrets.token_hex(8)
        accounts.change_funds(target, study, lambda now: replace(now, handover=handover))
        accounts.change_funds(source, study, lambda now: replace(now, paid_from=names[1], handover=handover))
    elif not of_target.paid_from:
        return
    _copy_books(source, target, study)
    last = accounts.funds(source, study)[1]
    accounts.change_funds(target, study, lambda _: replace(last, paid_from=""))


def copy_withdrawals(source: Store, target: Store, study: str) -> None:
    """Withdraw at the target what was withdrawn at the source, once what is owed for it is in its ledger."""
    for entry in withdrawn(source, study):
        finish_one(source, entry)
    accounts.copy_debts(source, target, study)
    for entry in withdrawn(source, study):
        if target.entry(WITHDRAWN, entry.key) is None:
            _put(target, WITHDRAWN, Entry(entry.key, 1, {**entry.data, "is_erased": False}))
        finish_one(target, stored_entry(target, WITHDRAWN, entry.key))


def _has_ledger(store: Store, study: str) -> bool:
    books = (accounts.ledger_of(study), accounts.payments_of(study), lifecycle.recruitment_book(study))
    return any(next(iter(store.entries(book)), None) is not None for book in books)


def _copy_books(source: Store, target: Store, study: str) -> None:
    """Overwrite the target's entries with the source's; entries that only the target has remain.

    Bonuses wait at the target as after a restore of the source: what was asked for before may still arrive.
    """
    if at := accounts.restored_at(source, study):
        accounts.note_restore(target, study, at)
    for book in (lifecycle.recruitment_book(study), screened_out.book(study)):
        for entry in source.entries(book):
            _put(target, book, entry)
    for book, entry in _at_one_moment(source, study):
        _put(target, book, entry)


def _at_one_moment(store: Store, study: str) -> Iterator[tuple[str, Entry]]:
    """Yield a consistent snapshot of the entries of accounts and payments.

    A payer that is still running changes accounts and payments one after the other: they are read again
    until the accounts did not change while the payments were read.
    """
    for _ in range(TRIES):
        owed = list(store.entries(accounts.ledger_of(study)))
        payments = list(store.entries(accounts.payments_of(study)))
        if list(store.entries(accounts.ledger_of(study))) == owed:
            yield from ((accounts.ledger_of(study), entry) for entry in owed)
            yield from ((accounts.payments_of(study), entry) for entry in payments)
            return
    raise Unavailable(f"{accounts.BUSY}; try again", code="busy")


def _put(store: Store, book: str, entry: Entry) -> None:
    update(store, book, entry.key, lambda _: entry.data, accounts.BUSY)
