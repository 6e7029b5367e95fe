"""A place that was given up comes back and is approved, at any step of the payment of what it was owed."""

from datetime import timedelta

import pytest

from backend.payment import accounts as owing
from backend.payment import study_payments
from backend.payment.study_payments import PayOptions
from backend.task import withdrawal

from ..memory import MemoryStore
from ..payday import BASE, BONUS, FAULT, Payday
from .test_payer_faults import Fate, finish, run, some


def interrupted(late=timedelta(0)):
    """A person who answered half of the trials, two of them right, and lost the place: owed 50 and 4."""
    payday = Payday(MemoryStore())
    payday.books.pay_delay = late
    evaluator, place = payday.person("active", right=2, answered=5, at_panel="timed_out")
    owing.broke_off(payday.store, payday.study, evaluator, FAULT)
    return payday, place


def comes_back(payday, place):
    """The place is completed after its time, and approved by a person at the panel."""
    if place.status == "TIMED-OUT":
        payday.books.submit(place.id, "DONE7")
    if place.status == "AWAITING REVIEW":
        payday.books.approve(place.id)


def steps(before, late):
    """Return the steps of a run, and the last one before it looks at the place, and then pays."""
    payday, _ = interrupted(late)
    before(payday)
    fate = Fate()
    run(payday, fate)
    calls = {}
    for step, side, name in fate.trace:
        if (side, name) == ("before", "pay_bonuses"):
            break
        calls[side, name] = step
    return [step for step, _, _ in fate.trace], calls["before", "submission"]


def nothing(_):
    pass


def refused(payday):
    payday.books.refusing_bulks = True
    payday.payer().run()
    payday.books.refusing_bulks = False


def lapsed(payday):
    """The call that pays is never answered nor carried out, and the payment lapses."""
    run(payday, Fate({("before", "pay_bonuses", 1): "unsure"}))
    payday.clock.advance(hours=30)


@pytest.mark.parametrize("before", [nothing, refused, lapsed])
@pytest.mark.parametrize("late", [timedelta(0), timedelta(hours=20)])
@some(5)
def test_the_base_is_paid_once_whenever_the_place_comes_back(before, late, every):
    all_steps, last_look = steps(before, late)
    for step in all_steps[::every]:
        payday, place = interrupted(late)
        before(payday)
        run(payday, Fate({step: lambda _, payday=payday, place=place: comes_back(payday, place)}))
        payday.owes(place, bonus=2 * BONUS if step <= last_look else BASE // 2 + 2 * BONUS)
        finish(payday)

        try:
            payday.check()
        except AssertionError as error:
            raise AssertionError(f"at step {step}: {error}") from error


def test_a_place_whose_work_is_paid_as_a_bonus_is_not_approved_besides():
    payday, place = interrupted()
    payday.payer().run()
    payday.books.submit(place.id, "DONE7")
    payer = payday.payer()

    assert payer.decide("e001", is_to_pay=True) == 0
    payer.decide("e001", is_to_pay=False)

    assert next(iter(payer.refused)).startswith("e001 is paid $0.54 as a bonus already")

    assert place.return_requested
    assert payday.counts() == {(place.id, "bonus"): [BASE // 2 + 2 * BONUS]}


def unfinished():
    """A person who answered half of the trials, two of them right, and entered the code: owed nothing."""
    payday = Payday(MemoryStore())
    evaluator, place = payday.person("active", right=2, answered=5, at_panel="done")
    payday.payer().run()
    return payday, evaluator, place


def excused(payday, evaluator):
    owing.broke_off(payday.store, payday.study, evaluator, FAULT)


def withdraws(payday, evaluator):
    ((session, _),) = payday.store.sessions("faces")
    withdrawal.withdraw(payday.store, payday.study, session.id, "2026-01-05T00:00:00.000Z")


@pytest.mark.parametrize("owed", [excused, withdraws])
def test_the_bonus_follows_where_the_place_was_approved_before_it_was_said_to_have_broken_off(owed):
    payday, evaluator, place = unfinished()
    payer = payday.payer()
    payer.decide("unfinished", is_to_pay=True)
    payer.run()

    owed(payday, evaluator)
    finish(payday)

    payday.owes(place, bonus=2 * BONUS)
    payday.check()


@pytest.mark.parametrize("owed", [excused, withdraws])
def test_the_base_is_owed_as_a_bonus_where_a_place_is_given_back_before_its_approval_is_sent(owed):
    payday, evaluator, place = unfinished()
    payday.payer().decide("unfinished", is_to_pay=True)
    run(payday, Fate({("before", "approve", 1): "kill"}))

    owed(payday, evaluator)
    payday.books.give_back(place.id)
    finish(payday)

    payday.owes(place, reward=0, bonus=BASE // 2 + 2 * BONUS)
    payday.check()


def test_who_is_paid_as_a_bonus_already_does_not_stop_the_approval_of_all_others():
    payday, place = interrupted()
    payday.payer().run()
    payday.books.submit(place.id, "DONE7")
    others = [payday.person(at_panel="done", pid=f"forged{n}")[1] for n in range(2)]
    options = PayOptions(approve=("all",))

    offered, state = study_payments.offer(payday.payer(), options)
    obstacles = study_payments.run(payday.payer(), options)

    assert any("e001 is paid $0.54 as a bonus already" in text for text in obstacles)
    assert [one.status for one in (place, *others)] == ["AWAITING REVIEW", "APPROVED", "APPROVED"]
    assert state["now_usd_cents"] == 2 * BASE
    assert "e001" not in offered.order["options"]["approve"]
