"""Accounts that are gone: what is read and changed afterwards neither fails nor brings them back."""

from backend.payment import accounts

from ..memory import MemoryStore
from ..payday import Payday


def test_the_rule_for_a_known_account_is_not_asked_where_there_is_none():
    payday = Payday(MemoryStore())
    asked = []

    account = accounts.change_known(payday.store, "faces", "nobody", asked.append)

    assert account is None
    assert asked == []
    assert "nobody" not in accounts.accounts(payday.store, "faces")


def test_the_rule_for_a_known_account_gets_it_and_what_it_returns_is_stored():
    payday = Payday(MemoryStore())
    payday.person(right=5)
    accounts.enter_all(payday.store, payday.study, payday.clock())
    (key,) = accounts.accounts(payday.store, "faces")

    account = accounts.change_known(payday.store, "faces", key, lambda now: now.moved(is_withdrawn=True))

    assert account.is_withdrawn
    assert accounts.accounts(payday.store, "faces")[key] == (2, account)
