"""Somebody whose session broke off is paid a part, then finishes, or withdraws: the rest is owed once."""

import dataclasses

import pytest

from backend.foundation.errors import Conflict
from backend.payment import accounts as owing
from backend.payment import manual
from backend.studies import withdrawals
from backend.task import withdrawal

from ..memory import MemoryStore
from ..payday import BASE, BONUS, FAULT, Payday
from ..task.test_withdrawal import AT, Dying, Killed
from .test_payer_faults import Fate, run, some

PART, WHOLE = BASE // 2 + 2 * BONUS, BASE + 7 * BONUS


def broke_off(payday):
    """A person who answered half of the trials, two right, and lost the place: owed 54, not yet paid."""
    evaluator, place = payday.person("active", right=2, answered=5, at_panel="timed_out")
    owing.broke_off(payday.store, payday.study, evaluator, FAULT)
    return evaluator, place


def goes_on(payday, answered=10, state="finished"):
    """The person answers the rest in the tab that is still open."""
    ((session, cursor),) = payday.store.sessions(payday.study.name)
    if cursor.state == "active":
        right = {"real": 3, "fake": 4}
        after = dataclasses.replace(
            cursor, version=cursor.version + 1, trial_index=answered, state=state, right=right
        )
        payday.store.move(session.id, cursor.version, after)
    return session


def pay(payday):
    for _ in range(4):
        for _ in range(3):
            payday.payer().run()
            payday.clock.advance(minutes=20)
        payday.clock.advance(hours=25)


def total(payday):
    return sum(sum(amounts) for amounts in payday.counts().values())


@some(5)
def test_who_finishes_at_any_step_of_the_payment_of_a_part_is_paid_the_whole(every):
    fate, payday = Fate(), Payday(MemoryStore())
    broke_off(payday)
    run(payday, fate)

    for step, _, _ in fate.trace[::every]:
        payday = Payday(MemoryStore())
        broke_off(payday)
        run(payday, Fate({step: lambda _, payday=payday: goes_on(payday)}))
        goes_on(payday)
        pay(payday)

        assert total(payday) == WHOLE, step
        accounts = [account for _, account in owing.accounts(payday.store, "faces").values()]
        assert payday.funds().spent_usd_cents(accounts) == payday.books.total_with_fees(), step


def test_who_goes_on_and_withdraws_after_a_part_was_paid_is_paid_for_all_that_was_answered():
    payday = Payday(MemoryStore())
    broke_off(payday)
    pay(payday)

    session = goes_on(payday, answered=8, state="active")
    withdrawal.withdraw(payday.store, payday.study, session.id, AT)
    pay(payday)

    assert total(payday) == BASE * 8 // 10 + 7 * BONUS


def test_who_finishes_while_a_part_is_under_way_and_whose_place_is_approved_is_paid_the_whole():
    payday = Payday(MemoryStore())
    _, place = broke_off(payday)
    run(payday, Fate({("before", "propose_bonuses", 1): "kill"}))

    goes_on(payday)
    owing.enter_all(payday.store, payday.study, payday.clock())
    payday.books.submit(place.id, "NOCODE")
    payday.books.approve(place.id)
    pay(payday)

    assert total(payday) == WHOLE


@pytest.mark.parametrize("at_panel", ["timed_out", "returned"])
def test_who_is_excused_before_the_first_answer_and_then_finishes_is_paid_the_whole(at_panel):
    payday = Payday(MemoryStore())
    evaluator, _ = payday.person("active", right=0, answered=0, at_panel=at_panel)
    owing.broke_off(payday.store, payday.study, evaluator, FAULT)

    goes_on(payday)
    pay(payday)

    assert total(payday) == WHOLE


def test_who_finishes_in_a_second_visit_after_a_part_of_the_first_was_paid_is_paid_the_whole():
    payday = Payday(MemoryStore())
    broke_off(payday)
    pay(payday)

    ((session, cursor),) = payday.store.sessions("faces")
    again = dataclasses.replace(session, id="faces-099", evaluator="e099")
    finished = dataclasses.replace(cursor, state="finished", trial_index=10, right={"real": 3, "fake": 4})
    payday.store.add_session(again, finished)
    pay(payday)

    assert total(payday) == WHOLE


def test_a_session_that_is_owed_less_does_not_replace_the_debt_of_another_on_its_place():
    payday = Payday(MemoryStore())
    evaluator, _ = payday.person("active", right=2, answered=5, at_panel="timed_out")
    ((session, cursor),) = payday.store.sessions("faces")
    again = dataclasses.replace(session, id="faces-099", evaluator="e099")
    payday.store.add_session(again, dataclasses.replace(cursor, trial_index=1, right={}))
    owing.broke_off(payday.store, payday.study, evaluator, FAULT)

    with pytest.raises(Conflict, match="submission of session faces-099, to faces-001: name that one"):
        owing.broke_off(payday.store, payday.study, "e099", FAULT)

    pay(payday)
    assert total(payday) == PART


def test_the_rest_is_on_the_list_of_who_is_paid_by_hand(tmp_path):
    payday = Payday(MemoryStore())
    evaluator, _ = broke_off(payday)
    paid, at = tmp_path / "paid.csv", payday.clock()
    manual.write_list(payday.store, payday.study, paid, at)
    assert manual.mark_paid(payday.store, payday.study, paid, payday.clock) == 1

    goes_on(payday)

    (account,) = manual.owed(payday.store, payday.study, at)
    assert (account.evaluator, account.total_usd_cents, account.why) == (evaluator, WHOLE - PART, "rest")
    manual.write_list(payday.store, payday.study, paid, at)
    assert manual.mark_paid(payday.store, payday.study, paid, payday.clock) == 1
    assert manual.owed(payday.store, payday.study, at) == []


@pytest.mark.parametrize("state", ["finished", "active"])
@pytest.mark.parametrize("at", range(10))
def test_a_withdrawal_that_died_is_paid_though_the_place_was_given_back_since(state, at):
    """A pass of `sync` closes the session before the withdrawal is finished."""
    payday = Payday(MemoryStore())
    at_panel = "done" if state == "finished" else "active"
    _, place = payday.person(state, right=7, answered=10 if state == "finished" else 5, at_panel=at_panel)
    (session,) = (session for session, _ in payday.store.sessions("faces"))
    with pytest.raises(Killed):
        withdrawal.withdraw(Dying(payday.store, at), payday.study, session.id, AT)
    was_entered = payday.store.entry(withdrawals.BOOK, session.id) is not None
    payday.books.give_back(place.id)
    _close(payday, session)

    withdrawal.withdraw(payday.store, payday.study, session.id, AT)
    pay(payday)

    owed = BASE + 7 * BONUS if state == "finished" else BASE // 2 + 7 * BONUS
    assert total(payday) == (owed if was_entered else 0)


def _close(payday, session):
    """Close a session whose place is gone, as a pass of `sync` does."""
    found = {one.id: cursor for one, cursor in payday.store.sessions("faces")}
    if cursor := found.get(session.id):
        after = dataclasses.replace(cursor, version=cursor.version + 1, state="returned")
        payday.store.move(session.id, cursor.version, after)


def test_who_goes_on_after_a_part_was_closed_is_owed_only_what_was_earned_since():
    payday = Payday(MemoryStore())
    evaluator, place = broke_off(payday)
    owing.close(payday.store, payday.study, evaluator, "paid by bank transfer", payday.clock())

    goes_on(payday)
    pay(payday)

    assert payday.counts() == {(place.id, "bonus"): [WHOLE - PART]}


def test_a_closed_debt_is_not_opened_again_as_one_that_broke_off():
    payday = Payday(MemoryStore())
    evaluator, _ = broke_off(payday)
    owing.close(payday.store, payday.study, evaluator, "paid by bank transfer", payday.clock())

    with pytest.raises(Conflict, match="e001 is closed: paid by bank transfer"):
        owing.broke_off(payday.store, payday.study, evaluator, FAULT)
