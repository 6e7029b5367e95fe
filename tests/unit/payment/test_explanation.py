"""What is said of people in every state of the model: in words, with amounts, and without the panel's ids."""

import pytest

from backend.foundation.errors import InvalidInput, NotFound
from backend.payment.explanation import explain

from ..memory import MemoryStore
from ..money_cases import CASES, Away, known, played
from ..payday import Payday


def text_of(found):
    return "\n".join(f"{one.about}: {one.words}" for each in found for one in each.said)


@pytest.mark.parametrize("name", CASES)
def test_it_says_why_an_amount_is_owed_paid_or_closed(name):
    payday, who = played(name)

    text = text_of(explain(known(payday, Away() if name == "panel_away" else None), who))

    missing = [words for words in CASES[name][1] if words not in text]
    assert not missing, text
    places = payday.books.places.values()
    assert not [id for place in places for id in (place.id, place.participant) if id in text]


@pytest.fixture
def payday():
    payday = Payday(MemoryStore())
    payday.everyone()
    return payday


def test_somebody_is_found_by_every_name_that_a_researcher_may_have(payday):
    _, place = payday.person()

    names = ["e012", "faces-012", "CODE012", place.id, place.participant]
    found = [explain(known(payday), name) for name in names]

    assert [each.evaluator for each in found[0]] == ["e012"]
    assert all(each == found[0] for each in found)


def test_the_beginning_of_a_pseudonym_suffices_if_it_is_nobody_elses(payday):
    (payday_of_one,) = explain(known(payday), "p")

    assert payday_of_one.said[1].words.startswith("has no session here")
    with pytest.raises(InvalidInput, match=r"the names of 11 people begin with 'e0': e001, e002, .*e010 …"):
        explain(known(payday), "e0")


def test_nobody_of_a_name_is_an_error_with_the_nearest_name(payday):
    with pytest.raises(NotFound, match="faces knows nobody called 'e0111'; did you mean `e011`"):
        explain(known(payday), "e0111")
    with pytest.raises(NotFound, match="nobody called 'ada'; there are e001, e002"):
        explain(known(payday), "ada")


def test_explaining_writes_nothing(payday):
    before = repr(payday.store._books)

    for who in ("e001", "e006", "p"):
        explain(known(payday), who)

    assert repr(payday.store._books) == before


def test_a_panels_id_that_retention_erased_finds_nobody():
    payday, _ = played("forgotten")
    (place,) = payday.books.places.values()
    session, _ = next(payday.store.sessions("faces"))
    payday.store.redact_session(session.id, {}, {})

    (found,) = explain(known(payday), "e001")

    assert ("reward", "$1.00 paid, as recorded on 2026-01-05 00:00 UTC") in {
        (one.about, one.words) for one in found.said
    }
    with pytest.raises(NotFound):
        explain(known(payday), place.id)
