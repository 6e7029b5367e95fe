"""A bonus that the panel lists belongs to one debt: not to a newer one, nor to an equal one beside it."""

import dataclasses
from datetime import timedelta

import pytest

from backend.foundation.timestamps import stamp
from backend.payment import accounts as owing
from backend.payment.ledger import waited_account
from backend.stores.store import RESTORES

from ..memory import MemoryStore
from ..payday import BASE, Payday
from .test_payer_faults import Fate, run, some
from .test_rests import pay

WAGE = 14


def owe_again(payday, name, store=None):
    """The person has waited, for what the bonus for seven right answers is, on the same submission."""
    ((session, _),) = list(payday.store.sessions("faces"))[:1]
    place = (session.panel["PROLIFIC_PID"], session.panel["SESSION_ID"], payday.panel_study)
    account = waited_account(name, session.evaluator, WAGE, stamp(payday.clock()), "", place)
    owing.change(store or payday.store, "faces", account.key, lambda now: now or account)


def bonuses(payday):
    return sorted(amount for (_, kind), all in payday.counts().items() if kind == "bonus" for amount in all)


@pytest.mark.parametrize("late", [timedelta(0), timedelta(hours=20)])
@some(7)
def test_two_equal_debts_on_one_submission_are_each_paid_whatever_fails(late, every):
    def both():
        payday = Payday(MemoryStore())
        payday.books.pay_delay = late
        payday.person(right=7)
        owe_again(payday, "w1-0")
        return payday

    fate = Fate()
    run(both(), fate, batch=1)
    for step, _, name in fate.trace[::every]:
        for event in ("kill", "unsure") if name == "pay_bonuses" else ("kill",):
            payday = both()
            run(payday, Fate({step: event}), batch=1)
            pay(payday)

            assert bonuses(payday) == [WAGE, WAGE], (step, event)


@pytest.mark.parametrize("study", ["faces", "another", None])
def test_a_debt_that_is_newer_than_a_restore_is_not_counted_as_paid(study):
    payday = Payday(MemoryStore())
    payday.person(right=7)
    backup = payday.store.backup()
    pay(payday)
    payday.store = backup
    at = {"study": study, "paid_from": "elsewhere"} if study else {"taken_at": ""}
    backup.write_entry(RESTORES, stamp(payday.clock()), 0, at)
    payday.clock.advance(days=40)

    owe_again(payday, "w1-0")
    pay(payday)

    known = 2 if study != "another" else 3  # another study's take-over says nothing about this one
    assert bonuses(payday) == [WAGE] * known


def test_one_studys_take_over_does_not_hold_up_another():
    payday = Payday(MemoryStore())
    _, place = payday.person(right=7)
    taken = {"study": "another", "paid_from": "dynamodb:elsewhere"}
    payday.store.write_entry(RESTORES, stamp(payday.clock()), 0, taken)

    assert payday.payer().run() == []

    assert payday.counts() == {(place.id, "reward"): [BASE], (place.id, "bonus"): [WAGE]}


def test_an_equal_debt_of_another_study_on_the_submission_is_paid_besides():
    payday = Payday(MemoryStore())
    payday.person(right=7)
    ((session, _),) = payday.store.sessions("faces")
    place = (session.panel["PROLIFIC_PID"], session.panel["SESSION_ID"], payday.panel_study)
    other = dataclasses.replace(payday.study, name="other")
    payday.store.add_study(other, [])
    account = waited_account("w1-0", session.evaluator, WAGE, stamp(payday.clock()), "", place)
    owing.change(payday.store, "other", account.key, lambda now: now or account)
    theirs = dataclasses.replace(payday.payer(), study=other, panel_study="")
    payday.books.pay_delay = timedelta(minutes=30)

    for payer in [payday.payer(), theirs] * 4:
        payer.run()
        payday.clock.advance(minutes=20)

    assert bonuses(payday) == [WAGE, WAGE]
    states = [
        one.bonus for name in ("faces", "other") for _, one in owing.accounts(payday.store, name).values()
    ]
    assert states == ["confirmed", "confirmed"]
