"""What the panel refuses to show, or to do, for one person or study holds up nobody else, and has an end."""

import dataclasses
import re
from datetime import timedelta

import pytest

from backend.administration import delete
from backend.foundation.errors import Conflict, NotFound
from backend.panels.api import NotThere, PanelRefused, TokenRefused
from backend.payment import accounts as owing
from backend.payment import automatic, manual, study_payments
from backend.payment.ledger import waited_account
from backend.payment.study_payments import PayOptions

from ..memory import MemoryStore
from ..payday import BASE, BONUS, Payday
from .test_payer_faults import Fate, run
from .test_rests import pay

CALLS = ["propose_bonuses", "pay_bonuses", "submission"]


class Blind(type(Payday(MemoryStore()).panel)):
    """A panel that refuses what concerns chosen ids, from the `after`-th call that pays on."""

    def __init__(self, panel, ids, error=NotThere):
        self.__dict__ = panel.__dict__
        self._ids, self._error = ids, error

    def _check(self, id):
        if id in self._ids:
            raise self._error("Prolific does not know it (404)")

    def submission(self, id, is_urgent=False):
        self._check(id)
        return super().submission(id, is_urgent)

    def ask_to_return(self, id, reason):
        self._check(id)
        super().ask_to_return(id, reason)

    def cost(self, study, is_projected=False):
        self._check(study)
        return super().cost(study, is_projected)


def five():
    payday = Payday(MemoryStore())
    people = [payday.person(right=7) for _ in range(5)]
    return payday, people


def paid_bonuses(payday):
    return sorted(id for id, kind in payday.counts() if kind == "bonus")


@pytest.mark.parametrize("error", [NotThere, PanelRefused])
@pytest.mark.parametrize("after", [None, *CALLS])
def test_one_place_that_cannot_be_read_leaves_the_other_four_paid(error, after):
    payday, people = five()
    (who, lost), *rest = people
    if after:  # it vanished when a payment with all five was under way
        run(payday, Fate({("after", after, 1): "kill"}))
    panel = Blind(payday.panel, {lost.id}, error)

    for _ in range(4):
        obstacles, *_ = [payday.payer(panel=panel).run() for _ in range(3)]
        payday.clock.advance(hours=13)

    assert set(paid_bonuses(payday)) >= {place.id for _, place in rest}
    assert any(who in text for text in obstacles) or lost.id in paid_bonuses(payday)
    payments = [payment.state for _, payment in owing.payments(payday.store, "faces")]
    assert not {"intended", "handed_in", "paying", "sent"} & set(payments)

    pay(payday)  # it can be read again
    assert sorted(payday.counts().values()) == sorted([[BASE]] * 5 + [[7 * BONUS]] * 5)


def test_a_token_that_is_refused_still_ends_the_run():
    payday, people = five()

    obstacles = payday.payer(panel=Blind(payday.panel, {people[0][1].id}, TokenRefused)).run()

    assert len(obstacles) == 1
    assert paid_bonuses(payday) == []


def test_the_panels_study_of_another_study_that_cannot_be_read_stops_only_what_is_paid_there():
    payday, people = five()
    account = waited_account("w1-0", "e9", 50, "2026-01-04T00:00:00.000Z", "", ("p9", "s9", "gone"))
    owing.change(payday.store, "faces", account.key, lambda now: now or account)

    obstacles = payday.payer(panel=Blind(payday.panel, {"gone", "s9"})).run()

    assert paid_bonuses(payday) == sorted(place.id for _, place in people)
    assert any("404" in text for text in obstacles)


def test_a_refused_request_to_return_does_not_stop_the_others():
    payday = Payday(MemoryStore())
    places = [payday.person(at_panel="done", pid=f"forged{n}")[1] for n in range(3)]
    panel = Blind(payday.panel, {places[1].id}, PanelRefused)
    payer = payday.payer(panel=panel)

    obstacles = study_payments.run(payer, PayOptions(ask_return=("all",)))

    asked = [place for place in places if place.return_requested]
    assert len(asked) == 2
    assert any(re.match(r"p[0-9a-f]{12}: Prolific does not know it", text) for text in obstacles)


def test_an_error_of_ours_in_one_study_does_not_stop_the_automatic_payment_of_others():
    store = MemoryStore()
    broken, well = Payday(store, "broken"), None
    well = Payday(store, "well", books=broken.books)
    for payday in (broken, well):
        payday.person(right=7)
        recruit = {
            "panel_study": payday.panel_study,
            "budget_usd_cents": 9999,
            "by_server": False,
            "codes": {},
        }
        store.write_entry(f"recruitment {payday.study.name}", "prolific", 0, {**recruit, "screen_out": None})
        automatic.approve(store, payday.study, payday.clock())
    entry = {"session": "s", "unknown": 1}
    store.write_entry(owing.ledger_of("broken"), "bad", 0, entry)

    outcome = automatic.run(store, well.panel, well.clock)

    assert "an error of openhype itself" in outcome["broken"][0]
    assert outcome["well"] == ()
    assert len(well.counts()) == 2


@pytest.mark.parametrize(
    ("at_panel", "reward"), [("rejected", "closed"), ("returned", "closed"), ("timed_out", "closed")]
)
def test_a_debt_that_cannot_be_paid_is_closed_with_a_reason_and_holds_up_nothing(at_panel, reward):
    payday = Payday(MemoryStore())
    evaluator, _ = payday.person(right=7, at_panel=at_panel)
    pay(payday)
    with pytest.raises(Conflict, match="or say why it is not to be paid"):
        delete.check(payday.store, payday.study, payday.clock())

    (account,) = owing.close(payday.store, payday.study, evaluator, "rejected for spam", payday.clock())
    pay(payday)

    assert (account.reward, account.bonus, account.closed_why) == ("closed", "closed", "rejected for spam")
    assert payday.counts() == {}
    row = next(row for row in payday.payer().plan()["evaluators"] if row["evaluator"] == evaluator)
    assert (row["reward"], row["closed_why"], row["pays"]) == ("closed", "rejected for spam", [])
    delete.check(payday.store, payday.study, payday.clock())
    assert owing.forget(payday.store, "faces", "2027-01-01") == 1
    with pytest.raises(Conflict, match=f"nothing is open for {evaluator}"):
        owing.close(payday.store, payday.study, evaluator, "again", payday.clock())
    with pytest.raises(NotFound, match="owes nobody 'nobody' anything"):
        owing.close(payday.store, payday.study, "nobody", "why", payday.clock())


def test_what_is_under_way_cannot_be_closed():
    payday, people = five()
    run(payday, Fate({("before", "pay_bonuses", 1): "kill"}))

    with pytest.raises(Conflict, match="is under way; close what is left when it has ended"):
        owing.close(payday.store, payday.study, people[0][0], "why", payday.clock())
    pay(payday)
    assert len(paid_bonuses(payday)) == 5


def test_a_closed_reward_that_the_panel_pays_all_the_same_is_recorded_and_its_bonus_stays_closed():
    payday = Payday(MemoryStore())
    evaluator, place = payday.person(right=7, at_panel="done")
    owing.close(payday.store, payday.study, evaluator, "a duplicate", payday.clock())

    payday.books.approve(place.id)
    pay(payday)

    account = payday.accounts()[place.id]
    assert (account.reward, account.bonus) == ("confirmed", "closed")
    assert payday.funds().spent_usd_cents([account]) == payday.books.total_with_fees()


def test_what_is_closed_is_on_no_list_of_who_is_paid_by_hand():
    payday = Payday(MemoryStore())
    evaluator, _ = payday.person(right=7, at_panel="active")
    payday.person(right=3, at_panel="active")

    owing.close(payday.store, payday.study, evaluator, "test of our own", payday.clock())

    assert [account.evaluator for account in manual.owed(payday.store, payday.study, payday.clock())] == [
        "e002"
    ]


def test_the_ledger_of_a_copy_closes_nothing():
    payday, people = five()
    owing.change_funds(payday.store, "faces", lambda now: dataclasses.replace(now, paid_from="elsewhere"))

    with pytest.raises(Conflict, match="is paid from elsewhere"):
        owing.close(payday.store, payday.study, people[0][0], "why", payday.clock())


def test_a_reward_whose_place_vanished_after_it_was_committed_is_released_and_then_closed():
    payday = Payday(MemoryStore())
    evaluator, place = payday.person(right=7)
    run(payday, Fate({("before", "approve", 1): "kill"}))
    panel = Vanished(payday.panel, {place.id})
    payday.payer(panel=panel).run()
    with pytest.raises(Conflict, match="is under way"):
        owing.close(payday.store, payday.study, evaluator, "unknown there", payday.clock())

    payday.payer(panel=panel, releases_sent=True).run()
    (account,) = owing.close(payday.store, payday.study, evaluator, "unknown there", payday.clock())

    assert (account.reward, account.bonus) == ("closed", "closed")
    assert payday.counts() == {}


def test_a_release_leaves_a_reward_that_the_panel_may_still_approve():
    payday = Payday(MemoryStore())
    _, place = payday.person(right=7)
    run(payday, Fate({("before", "approve", 1): "kill"}))

    payday.payer(releases_sent=True).run()

    assert payday.accounts()[place.id].reward == "confirmed"


class Vanished(Blind):
    """A panel that no longer lists chosen places either."""

    def submissions(self, study):
        return (one for one in super().submissions(study) if one.id not in self._ids)


def test_a_bonus_that_the_panel_does_not_take_in_leaves_the_other_four_paid():
    payday, people = five()

    class Strict(type(payday.panel)):
        def __init__(self, panel):
            self.__dict__ = panel.__dict__

        def propose_bonuses(self, study, bonuses):
            if any(bonus.submission == people[2][1].id for bonus in bonuses):
                raise PanelRefused("it did not take part in the study")
            return super().propose_bonuses(study, bonuses)

    panel = Strict(payday.panel)
    for _ in range(2):
        obstacles = payday.payer(panel=panel).run()

    assert paid_bonuses(payday) == sorted(place.id for _, place in people if place is not people[2][1])
    assert obstacles == [f"{people[2][0]}: it did not take part in the study"]
    owing.close(payday.store, payday.study, people[2][0], "not taken in", payday.clock())
    assert payday.payer(panel=panel).run() == []


def test_what_is_under_way_can_be_released_and_closed_though_the_study_cannot_be_read():
    payday = Payday(MemoryStore())
    evaluator, _ = payday.person(right=7)
    payday.books.pay_delay = timedelta(days=1000)
    payday.payer().run()
    payday.clock.advance(hours=25)

    obstacles = payday.payer(panel=Blind(payday.panel, {payday.panel_study}), releases_sent=True).run()

    assert obstacles == ["Prolific does not know it (404)"]
    (account,) = owing.close(payday.store, payday.study, evaluator, "the study is gone", payday.clock())
    assert (account.reward, account.bonus) == ("confirmed", "closed")


def test_a_reward_under_way_can_be_released_and_closed_though_the_study_cannot_be_read():
    payday = Payday(MemoryStore())
    evaluator, place = payday.person(right=7)
    run(payday, Fate({("before", "approve", 1): "kill"}))
    panel = Vanished(payday.panel, {payday.panel_study, place.id})

    payday.payer(panel=panel, releases_sent=True).run()

    (account,) = owing.close(payday.store, payday.study, evaluator, "the study is gone", payday.clock())
    assert (account.reward, account.bonus) == ("closed", "closed")
