"""Paying through a panel, a day at a time: who is paid, who is not, and what waits for what."""

import dataclasses
import re
from datetime import timedelta

import pytest

from backend.foundation.errors import Conflict, NotFound
from backend.foundation.timestamps import stamp
from backend.panels.api import PanelUnreached, PanelUnsure
from backend.payment import accounts, payer
from backend.payment.ledger import StudyFunds
from backend.stores.opening import open_store
from backend.stores.store import RESTORES

from .. import sample_studies as studies
from ..memory import MemoryStore
from ..payday import BASE, BONUS, FAULT, Payday, full_cost


@pytest.fixture
def payday():
    return Payday(MemoryStore())


class Broken:
    """A panel of which one call goes wrong."""

    def __init__(self, panel, name, error, before=True):
        self._panel, self._name, self._error, self._before = panel, name, error, before

    def __getattr__(self, name):
        call = getattr(self._panel, name)
        if name != self._name:
            return call

        def broken(*arguments, **options):
            if not self._before:
                call(*arguments, **options)
            raise self._error

        return broken


def payments(payday):
    return [payment for _, payment in accounts.payments(payday.store, payday.study.name)]


def asked(payday):
    return sum(bulk.asked for bulk in payday.books.bulks.values())


def test_everybody_is_paid_once_however_often_the_payer_runs(payday):
    payday.everyone()

    for _ in range(3):
        assert payday.payer().run() == []
        payday.check()


def test_nothing_is_written_or_paid_for_a_plan(payday):
    payday.everyone()

    plan = payday.payer().plan()

    reserved = StudyFunds().cost_usd_cents(BASE)
    assert (plan["total_usd_cents"], plan["undecided_usd_cents"]) == (full_cost() - reserved, reserved)
    assert payday.books.paid() == {}
    assert len(payday.accounts()) == 1


def test_a_bonus_waits_for_the_reward(payday):
    _, place = payday.person(at_panel="active")

    payday.payer().run()
    assert payday.books.paid() == {}
    payday.books.submit(place.id, "DONE7")
    payday.payer().run()

    payday.owes(place, bonus=5 * BONUS)
    payday.check()


def test_a_late_bonus_is_confirmed_when_it_is_there_and_not_before(payday):
    payday.books.pay_delay = timedelta(hours=3)
    payday.owes(payday.person()[1], bonus=5 * BONUS)

    payday.payer().run()
    assert not payday.is_paid()
    payday.clock.advance(hours=3)
    payday.payer().run()

    assert payday.is_paid()
    payday.check()


def test_what_the_panel_took_on_is_not_asked_for_again_however_long_it_takes(payday):
    payday.books.pay_delay = timedelta(hours=90)
    payday.owes(payday.person()[1], bonus=5 * BONUS)

    for _ in range(3):
        obstacles = payday.payer().run()
        payday.clock.advance(hours=26)
    assert "run again with --release" in obstacles[0]
    payday.clock.advance(hours=20)
    payday.payer().run()

    assert asked(payday) == 1
    payday.check()


def test_what_the_panel_took_on_and_never_paid_can_be_owed_again(payday):
    place = payday.person()[1]
    payday.owes(place, bonus=5 * BONUS)
    payday.books.pay_delay = timedelta(days=1000)
    payday.payer().run()
    payday.books._bonuses_due.clear()  # the panel lost it
    payday.books.pay_delay = timedelta(0)
    payday.clock.advance(hours=25)

    payday.payer(releases_sent=True).run()

    assert asked(payday) == 2
    payday.check()


def test_an_unsure_call_that_was_done_is_found_and_not_sent_again(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)

    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnsure("?"), before=False)).run()
    payday.payer().run()

    assert asked(payday) == 1
    payday.check()


def test_an_unsure_call_that_was_not_done_is_sent_again_after_the_settle_time_only(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnsure("?"))).run()

    payday.clock.advance(hours=23)
    payday.payer().run()
    assert asked(payday) == 0
    payday.clock.advance(hours=2)
    payday.payer().run()

    assert asked(payday) == 1
    payday.check()


def test_a_call_that_never_reached_the_panel_is_sent_again_at_once(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)

    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnreached("?"))).run()
    payday.payer().run()

    assert asked(payday) == 1
    payday.check()


def test_money_of_a_payment_that_was_given_up_and_comes_after_all_is_known_for_what_it_is(payday):
    """Later than the settle time: the new payment is handed in already when it arrives, and is dropped."""
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    payday.books.pay_delay = timedelta(hours=30)
    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnsure("?"), before=False)).run()
    payday.clock.advance(hours=25)
    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnreached("?"))).run()
    assert sorted(payment.state for payment in payments(payday)) == ["handed_in", "lapsed"]
    payday.clock.advance(hours=6)

    payday.payer().run()

    assert asked(payday) == 1
    payday.check()


def test_a_refused_payment_is_owed_again_and_paid_when_there_is_money(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    payday.books.workspace.balance = 0

    (told,) = payday.payer().run()
    assert "refused to pay bonuses (400): Bad request" in told
    payday.books.workspace.balance = None
    payday.payer().run()

    payday.check()


def test_one_submission_that_cannot_be_read_does_not_keep_the_others_from_their_pay(payday):
    first, second = payday.person()[1], payday.person()[1]
    payday.owes(first, bonus=5 * BONUS)
    payday.owes(second, bonus=5 * BONUS)

    class Forgetful(Broken):
        def submission(self, id):
            if id == first.id:
                raise payer.PanelRefused("no such submission")
            return payday.panel.submission(id)

    payday.payer(panel=Forgetful(payday.panel, "", None)).run()
    assert payday.books.bonuses(second.id) == [10]
    payday.payer().run()

    payday.check()


@pytest.mark.parametrize("budget", [0, 142, 143, 157, 158, 300, full_cost() - 1])
def test_the_budget_holds_and_a_higher_one_lets_the_rest_be_paid(payday, budget):
    payday.everyone()
    accounts.set_budget(payday.store, "faces", budget)

    obstacles = payday.payer().run()

    assert obstacles == ["the budget does not suffice for all that is owed"]
    payday.check(complete=False)
    accounts.set_budget(payday.store, "faces", full_cost())
    assert payday.payer().run() == []
    payday.check()


def test_of_the_budgets_for_pay_and_for_recruiting_the_lower_holds(payday):
    payday.everyone()
    terms = studies.recruitment(budget_usd_cents=300)
    payday.store.write_entry("recruitment faces", "prolific", 0, terms)
    accounts.set_budget(payday.store, "faces", full_cost())

    payday.payer().run()

    assert 0 < payday.books.total_with_fees() <= 300


def test_what_was_approved_by_hand_counts_against_the_budget(payday):
    accounts.set_budget(payday.store, "faces", 143 + 15)
    by_hand, other = payday.person()[1], payday.person()[1]
    payday.books.approve(by_hand.id)

    payday.payer().run()

    assert payday.books.paid() == {(by_hand.id, "reward"): 100, (by_hand.id, "bonus"): 10}
    assert payday.accounts()[other.id].reward == "owed"


def test_who_rejects_by_hand_is_not_overruled(payday):
    _, place = payday.person(at_panel="rejected")

    payday.payer().run()

    assert payday.books.paid() == {}
    assert payday.books.place(place.id).status == "REJECTED"


def test_a_reward_that_can_no_longer_be_paid_frees_the_budget(payday):
    _, place = payday.person()
    payday.payer(panel=Broken(payday.panel, "approve", PanelUnsure("?"))).run()
    assert payday.accounts()[place.id].reward == "intended"
    payday.books.give_back(place.id)

    payday.payer().run()

    assert payday.accounts()[place.id].reward == "owed"
    payday.check()


def test_sessions_that_claim_one_place_are_paid_once(payday):
    _, place = payday.person()
    payday.owes(place, bonus=5 * BONUS)
    session, cursor = next(payday.store.sessions("faces"))
    payday.store.add_session(dataclasses.replace(session, id="again", evaluator="e-again"), cursor)

    payday.payer().run()

    payday.check()
    assert len(payday.accounts()) == 1


def test_who_claims_anothers_place_is_not_paid_and_takes_nothing_from_them(payday):
    _, place = payday.person()
    payday.owes(place, bonus=5 * BONUS)
    session, cursor = next(payday.store.sessions("faces"))
    thief = {**session.panel, "PROLIFIC_PID": "thief"}
    payday.store.add_session(
        dataclasses.replace(session, id="a-thief", evaluator="e0", panel=thief),
        dataclasses.replace(cursor, right={"real": 5, "fake": 5}, last_at="2026-01-01T00:00:00+00:00"),
    )

    payday.payer().run()

    assert payday.counts() == {(place.id, "reward"): [100], (place.id, "bonus"): [10]}


def test_what_is_owed_outlives_the_session(payday):
    _, place = payday.person()
    payday.owes(place, bonus=5 * BONUS)
    session, cursor = next(payday.store.sessions("faces"))

    accounts.enter(payday.store, payday.study, session, cursor)
    payday.store.erase_session(session.id)
    payday.payer().run()

    payday.check()


def test_a_session_that_loses_its_panels_parameters_is_not_owed_anew(payday):
    _, place = payday.person()
    payday.owes(place, bonus=5 * BONUS)
    payday.payer().run()
    session, cursor = next(payday.store.sessions("faces"))
    payday.store.erase_session(session.id)
    payday.store.add_session(dataclasses.replace(session, panel={}), cursor)

    payday.payer().run()
    accounts.enter(payday.store, payday.study, dataclasses.replace(session, panel={}), cursor)
    with pytest.raises(Conflict, match="in progress"):
        accounts.broke_off(payday.store, payday.study, session.evaluator, FAULT)

    assert len(payday.accounts()) == 1
    payday.check()


def test_the_panels_ids_are_forgotten_of_those_who_were_paid_only_and_nobody_is_paid_again(payday):
    payday.everyone()
    payday.payer().run()
    paid = {place.id for place in payday.books.places.values() if (place.id, "bonus") in payday.expected}
    payday.clock.advance(days=1)
    later = payday.person()[1]
    payday.owes(later, bonus=5 * BONUS)

    forgotten = accounts.forget(payday.store, "faces", payday.clock().isoformat())

    assert forgotten == 6
    books = (accounts.ledger_of("faces"), accounts.payments_of("faces"))
    kept = str([entry.data for book in books for entry in payday.store.entries(book)])
    assert not [id for id in paid if id in kept]
    assert accounts.forget(payday.store, "faces", payday.clock().isoformat()) == 0
    payday.payer().run()
    assert {len(amounts) for amounts in payday.counts().values()} == {1}
    assert set(payday.counts()) == set(payday.expected)


def test_an_account_that_another_payer_enters_meanwhile_is_found(tmp_path):
    """While a list of sessions is being read, its reader sees the store as it was when the list began."""
    store, another = (open_store("sqlite:///a.db", tmp_path) for _ in "12")
    payday = Payday(store)
    payday.person()
    payday.person()

    class Meddled:
        def __getattr__(self, name):
            return getattr(store, name)

        def sessions(self, study):
            for session, cursor in store.sessions(study):
                accounts.enter(another, payday.study, session, cursor)
                yield session, cursor

    accounts.enter_all(Meddled(), payday.study, payday.clock())

    assert len(payday.accounts()) == 2
    store.close()
    another.close()


def test_who_was_done_too_late_is_paid_the_whole_if_it_was_no_fault_of_theirs(payday):
    evaluator, place = payday.person(at_panel="timed_out")
    payday.payer().run()
    assert payday.books.paid() == {}

    accounts.broke_off(payday.store, payday.study, evaluator, FAULT)
    payday.payer().run()

    payday.owes(place, reward=0, bonus=110)
    payday.check()


def test_a_session_that_broke_off_and_was_finished_after_all_is_paid_whole(payday):
    evaluator, place = payday.person("active", answered=5, right=2, at_panel="active")
    accounts.broke_off(payday.store, payday.study, evaluator, FAULT)
    session, cursor = next(payday.store.sessions("faces"))
    payday.store.move(
        session.id, cursor.version, dataclasses.replace(cursor, trial_index=10, state="finished")
    )
    payday.books.submit(place.id, "DONE7")

    payday.payer().run()

    payday.owes(place, bonus=2 * BONUS)
    payday.check()


def test_pay_that_is_under_way_is_not_changed_into_a_part(payday):
    evaluator, _ = payday.person()
    payday.payer().run()

    with pytest.raises(Conflict, match="in progress"):
        accounts.broke_off(payday.store, payday.study, evaluator, FAULT)
    with pytest.raises(NotFound, match="no session"):
        accounts.broke_off(payday.store, payday.study, "nobody", FAULT)


def test_a_bonus_that_the_panel_paid_twice_is_told(payday):
    _, place = payday.person()
    payday.books.pay_delay = timedelta(hours=1)
    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnsure("?"), before=False)).run()
    (bulk,) = payday.books.bulks.values()
    payday.books.pay_bulk(bulk.id)
    payday.clock.advance(hours=1)

    assert "the panel shows the bonus of e001 2 times" in payday.payer().run()
    assert payday.books.bonuses(place.id) == [10, 10]


class Watched:
    """A panel that does something before one of its calls, and keeps what each call was asked for."""

    def __init__(self, panel, name="", before=None):
        self._panel, self._name, self._before, self.calls = panel, name, before, []

    def __getattr__(self, name):
        call = getattr(self._panel, name)

        def watched(*arguments, **options):
            self.calls.append((name, *arguments))
            if name == self._name:
                self._before()
            return call(*arguments, **options)

        return watched


def test_only_places_that_the_panels_list_lacks_are_read_one_by_one(payday):
    payday.person()
    payday.person("ended", at_panel="returned")
    elsewhere = payday.person()[1]
    rows = [row for row in payday.panel.submissions(payday.panel_study) if row.id != elsewhere.id]
    panel = Watched(payday.panel)
    panel.submissions = lambda study: iter(rows)

    payday.payer(panel=panel).run()

    assert {call[1] for call in panel.calls if call[0] == "submission"} == {elsewhere.id}


def test_a_run_stops_at_the_first_payment_after_another_store_took_over(payday):
    payday.everyone()

    def hand_over():
        moved = {"paid_from": "dynamodb:elsewhere"}
        accounts.change_funds(payday.store, payday.study.name, lambda now: dataclasses.replace(now, **moved))

    with pytest.raises(Conflict, match="is paid from dynamodb:elsewhere"):
        payday.payer(panel=Watched(payday.panel, "submissions", hand_over)).run()

    assert payday.counts() == {}


@pytest.mark.parametrize("delay_hours", [0, 3])
def test_a_store_that_was_restored_pays_nobody_again(payday, delay_hours):
    payday.books.pay_delay = timedelta(hours=delay_hours)
    payday.everyone()
    backup = payday.store.backup()
    payday.payer().run()

    payday.store = backup
    backup.write_entry(RESTORES, stamp(payday.clock()), 0, {})
    obstacles = payday.payer().run()
    payday.clock.advance(hours=25)
    payday.payer().run()
    payday.clock.advance(hours=25)

    assert "restored from a backup" in obstacles[0]
    assert payday.payer().run() == []
    payday.check()


def wrong(payday, **by):
    """Return a clock that differs from the panel's by some time."""
    return lambda: payday.clock() + timedelta(**by)


@pytest.mark.parametrize("was_done", [True, False])
@pytest.mark.parametrize("days", [2, 200, 4000])
def test_a_payer_killed_under_a_clock_ahead_leaves_nobody_unpaid_or_paid_twice(payday, days, was_done):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    payday.books.pay_delay = timedelta(hours=3)
    killed = Broken(payday.panel, "pay_bonuses", PanelUnsure("?"), before=not was_done)
    dataclasses.replace(payday.payer(panel=killed), clock=wrong(payday, days=days)).run()

    told = payday.payer().run()
    payday.clock.advance(hours=23)
    payday.payer().run()
    assert asked(payday) == was_done
    payday.clock.advance(hours=2)
    payday.payer().run()
    payday.clock.advance(hours=4)

    assert any("a clock was or is wrong" in each for each in told)
    assert payday.payer().run() == []
    assert asked(payday) == 1
    payday.check()


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (200, "what e001 is owed was paid on .*, and now it is"),
        (200, "payment .* was made on .*, and now it is"),
        (-200, "payment .* was made on .*, before the last amount in it was owed, on 2026-01-04"),
    ],
)
def test_dates_that_cannot_be_right_are_listed(payday, days, words):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    dataclasses.replace(payday.payer(), clock=wrong(payday, days=days)).run()

    listed = accounts.odd_dates(payday.store, "faces", payday.clock())

    assert any(re.fullmatch(f"{words}.*", each) for each in listed), listed
    assert accounts.odd_dates(payday.store, "faces", payday.clock() + timedelta(days=300)) == listed * (
        days < 0
    )


def test_a_payment_that_was_asked_for_before_it_was_made_is_listed(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    unreached = Broken(payday.panel, "pay_bonuses", PanelUnreached("?"))
    payday.payer(panel=unreached).run()

    dataclasses.replace(payday.payer(), clock=wrong(payday, hours=-2)).run()

    assert any(
        "was asked for on" in each for each in accounts.odd_dates(payday.store, "faces", payday.clock())
    )


def test_a_run_under_a_clock_behind_shortens_no_wait_for_the_panel(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    payday.books.pay_delay = timedelta(hours=3)
    payday.payer(panel=Broken(payday.panel, "pay_bonuses", PanelUnsure("?"), before=False)).run()

    dataclasses.replace(payday.payer(), clock=wrong(payday, days=-200)).run()
    payday.clock.advance(hours=1)
    payday.payer().run()
    payday.clock.advance(hours=4)

    assert payday.payer().run() == []
    assert asked(payday) == 1
    payday.check()


def test_a_restore_dated_by_a_clock_ahead_delays_bonuses_by_the_settle_time_only(payday):
    payday.owes(payday.person()[1], bonus=5 * BONUS)
    payday.store.write_entry(RESTORES, stamp(wrong(payday, days=200)()), 0, {})

    told = payday.payer().run()
    payday.clock.advance(hours=23)
    payday.payer().run()
    assert asked(payday) == 0
    payday.clock.advance(hours=2)
    payday.payer().run()

    assert "restored from a backup" in told[0]
    assert asked(payday) == 1
    payday.check()


@pytest.mark.parametrize("days", [-200, 200])
def test_a_restored_store_pays_nobody_again_whose_debt_a_wrong_clock_dated(payday, days):
    payday.everyone()
    unreached = Broken(payday.panel, "propose_bonuses", PanelUnreached("?"))
    dataclasses.replace(payday.payer(panel=unreached), clock=wrong(payday, days=days)).run()
    backup = payday.store.backup()
    payday.payer().run()

    payday.store = backup
    backup.write_entry(RESTORES, stamp(payday.clock()), 0, {})
    payday.payer().run()
    payday.clock.advance(hours=25)
    payday.payer().run()
    payday.clock.advance(hours=25)
    payday.payer().run()

    payday.check()
