"""What costs money is accepted once, and only as it was told."""

import dataclasses

import pytest

from backend.foundation.errors import Conflict
from backend.studies import confirmations
from backend.studies.confirmations import Offer, accept, confirmation

from .. import sample_studies as studies

OFFER = Offer({"due": [["a", 100]], "currency": "USD"}, {"total": 143})


def never():
    raise AssertionError("a confirmation that was accepted is not computed again")


def test_an_accepted_confirmation_gives_its_order_again(each_world):
    study = each_world.add(studies.study())
    given = confirmation(each_world.store, study, "pay", OFFER)

    assert accept(each_world.store, study, "pay", given, lambda: OFFER) == {"total": 143}
    assert accept(each_world.store, study, "pay", given, never) == {"total": 143}


@pytest.mark.parametrize(
    "other",
    [
        Offer({**OFFER.facts, "due": [["a", 101]]}, OFFER.order),
        Offer({**OFFER.facts, "currency": "GBP"}, OFFER.order),
        Offer(OFFER.facts, {"total": 144}),
    ],
)
def test_another_offer_is_refused_and_nothing_is_accepted(world, other):
    study = world.add(studies.study())
    given = confirmation(world.store, study, "pay", OFFER)

    with pytest.raises(Conflict, match="look at the amounts again") as refused:
        accept(world.store, study, "pay", given, lambda: other)
    assert refused.value.code == "changed"
    assert world.store.entry(confirmations.BOOK, "faces/pay") is None


def test_each_acceptance_makes_the_next_confirmation_another_one(world):
    study = world.add(studies.study())
    first = confirmation(world.store, study, "pay", OFFER)
    accept(world.store, study, "pay", first, lambda: OFFER)
    second = confirmation(world.store, study, "pay", OFFER)

    accept(world.store, study, "pay", second, lambda: OFFER)

    assert first != second
    with pytest.raises(Conflict, match="look at the amounts again"):  # a reply that was lost long ago
        accept(world.store, study, "pay", first, lambda: OFFER)


def test_a_confirmation_is_for_one_study_and_one_kind_of_change(world):
    study = world.add(studies.study())
    namesake = dataclasses.replace(study, created_at="2027-01-01T00:00:00+00:00")
    given = confirmation(world.store, study, "pay", OFFER)

    for action, other in (("recruit", study), ("pay", namesake)):
        with pytest.raises(Conflict, match="look at the amounts again"):
            accept(world.store, other, action, given, lambda: OFFER)


def test_another_who_accepts_first_wins(world):
    study = world.add(studies.study())
    given = confirmation(world.store, study, "pay", OFFER)
    other = Offer(OFFER.facts, {"total": 999})

    def overtaken():
        theirs = confirmation(world.store, study, "pay", other)
        accept(world.store, study, "pay", theirs, lambda: other)
        return OFFER

    with pytest.raises(Conflict, match="look at the amounts again"):
        accept(world.store, study, "pay", given, overtaken)


def test_the_same_at_once_is_accepted_by_both(world):
    study = world.add(studies.study())
    given = confirmation(world.store, study, "pay", OFFER)

    def overtaken():
        accept(world.store, study, "pay", given, lambda: OFFER)
        return OFFER

    assert accept(world.store, study, "pay", given, overtaken) == {"total": 143}


def test_a_deleted_study_leaves_none(world):
    study = world.add(studies.study())
    accept(world.store, study, "pay", confirmation(world.store, study, "pay", OFFER), lambda: OFFER)

    confirmations.forget(world.store, study)

    assert [*world.store.entries(confirmations.BOOK)] == []
