"""A place that was given up comes back and is approved, at any step of the payment of what it was owed."""

from datetime import timedelta

import pytest

from backend.foundation.errors import Conflict
from backend.payment import accounts as owing

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

    with pytest.raises(Conflict, match=r"e001 is paid \$0.54 as a bonus already"):
        payer.decide("e001", is_to_pay=True)
    payer.decide("e001", is_to_pay=False)

    assert place.return_requested
    assert payday.counts() == {(place.id, "bonus"): [BASE // 2 + 2 * BONUS]}
