"""People at the panel who hold no session here cost money: they are listed, and paid or asked to return."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

import pytest

from backend.foundation.errors import InvalidInput
from backend.panels.api import ScreenOut
from backend.payment import accounts as owing
from backend.payment import payer as paying
from backend.recruitment import recruit
from backend.recruitment.plan import plan
from backend.recruitment.recruit import begin
from tests.prolific import Books, Clock, Fake

from .. import sample_studies as studies
from ..memory import MemoryStore

FEE = Fraction(428, 1000)
COST = 286
"""Of a reward of 200 with the fee."""


class Recruited:
    """A study that is recruited for, and people who come to the panel and not here."""

    def __init__(self, **options):
        self.books = Books(
            clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=FEE, unknown_at_first=0, **options
        )
        self.store, self.panel = MemoryStore(), Fake(self.books).panel()
        self.study = studies.study(panel="prolific", images=8, evaluators=3, base_usd_cents=200, minutes=10)
        self.store.add_study(self.study, [])

    def begin(self, screen_out=None):
        wanted = plan(self.study, screen_out=screen_out)
        state = begin(self.store, self.panel, self.study, wanted, "https://study.example")
        self.id, self.codes = state["panel_study"], state["codes"]
        return self

    def came(self, code=None):
        place = self.books.take(self.id)
        self.books.start(place.id)
        if code:
            self.books.submit(place.id, self.codes.get(code, code))
        return place

    def payer(self):
        return paying.Payer(self.store, self.study, self.panel, self.id, self.books.clock)

    def unmatched(self):
        rows = self.payer().plan()["unmatched"]
        return sorted((row["why"], row["reward"]) for row in rows)

    def funds(self):
        return owing.funds(self.store, "faces")[1]

    def spent(self):
        accounts = [account for _, account in owing.accounts(self.store, "faces").values()]
        return self.funds().spent_usd_cents(accounts), self.books.total_with_fees()


@pytest.fixture
def recruited():
    return Recruited().begin()


def test_each_is_listed_with_the_reason(recruited):
    for code in ("no_consent", "unfit_device", "screened_out", "NOCODE"):
        recruited.came(code)
    recruited.came()  # still at it
    recruited.books.time_out(recruited.came().id)

    assert recruited.unmatched() == [
        ("declined", "undecided"),
        ("no_session", "undecided"),
        ("screened_out", "owed"),
        ("unfit_device", "undecided"),
    ]
    assert recruit.status(recruited.store, recruited.panel, recruited.study)["unmatched"] == {
        "declined": 1,
        "no session, active": 1,
        "no session, awaiting review": 1,
        "no session, timed out": 1,
        "screened out": 1,
        "unfit device": 1,
    }


def test_what_the_panel_may_pay_by_itself_is_kept_in_the_budget(recruited):
    owing.set_budget(recruited.store, "faces", 2 * COST)
    recruited.came("no_consent")

    assert recruited.payer().run() == []
    found = recruited.payer().plan()

    assert (found["undecided_usd_cents"], found["left_usd_cents"]) == (COST, COST)
    assert recruited.books.paid() == {}


def test_what_nobody_reviewed_is_in_the_ledger_once_the_panel_has_paid_it(recruited):
    place = recruited.came("no_consent")
    recruited.payer().run()
    recruited.books.clock.advance(days=21)

    recruited.payer().run()

    assert recruited.books.paid() == {(place.id, "reward"): 200}
    assert recruited.spent() == (COST, COST)
    assert recruited.unmatched() == [("declined", "confirmed")]


@pytest.mark.parametrize("leave", ["give_back", "reject"])
def test_who_returns_after_all_costs_nothing_any_more(recruited, leave):
    place = recruited.came("unfit_device")
    recruited.payer().run()
    getattr(recruited.books, leave)(place.id)

    recruited.payer().run()

    assert recruited.unmatched() == [("unfit_device", "none")]
    assert recruited.payer().plan()["committed_usd_cents"] == 0


def test_who_was_screened_out_is_paid_through_the_ledger(recruited):
    place = recruited.came("screened_out")

    recruited.payer().run()
    recruited.payer().run()

    assert recruited.books.paid() == {(place.id, "reward"): 200}
    assert recruited.spent() == (COST, COST)


@pytest.mark.parametrize("who", ["all", "no_session", "pseudonym"])
def test_who_did_nothing_can_be_paid_all_the_same(recruited, who):
    place = recruited.came("NOCODE")
    if who == "pseudonym":
        who = recruited.payer().plan()["unmatched"][0]["evaluator"]

    assert recruited.payer().decide(who, is_to_pay=True) == 1
    for _ in range(3):
        recruited.payer().run()

    assert recruited.books.paid() == {(place.id, "reward"): 200}
    assert recruited.spent() == (COST, COST)


def test_who_did_nothing_can_be_asked_to_return(recruited):
    place = recruited.came("NOCODE")

    assert recruited.payer().decide("no_session", is_to_pay=False) == 1

    assert place.return_requested
    (row,) = recruited.payer().plan()["unmatched"]
    assert row["asked_to_return_at"]
    with pytest.raises(InvalidInput, match=r"no submission without a session is undecided .* 'declined'"):
        recruited.payer().decide("declined", is_to_pay=False)


def test_nobody_is_approved_beyond_the_budget(recruited):
    owing.set_budget(recruited.store, "faces", COST - 1)
    recruited.came("screened_out")

    assert recruited.payer().run() == ["the budget does not suffice for all that is owed"]
    assert recruited.books.paid() == {}


def test_a_screen_out_that_the_panel_pays_is_in_the_ledger():
    recruited = Recruited(features=frozenset({"screen_out"})).begin(ScreenOut(50, 3))
    place = recruited.came()
    recruited.books.submit(place.id, recruited.codes["screened_out"], "researcher")

    recruited.payer().run()

    assert recruited.books.paid() == {(place.id, "screen_out"): 50}
    assert recruited.spent() == (50 + 22, 72)
    assert recruited.unmatched() == [("screened_out", "confirmed")]


def test_the_plan_counts_slots_and_the_budget_holds_them(recruited):
    with_slots = plan(recruited.study, screen_out=ScreenOut(50, 3))

    assert with_slots.total_cents == plan(recruited.study).total_cents + 3 * 72
    assert "screened out: $0.50 each, for 3 people at most" in with_slots.lines()


@pytest.mark.parametrize(("cents", "is_fine"), [(13, False), (14, True), (199, True), (200, False)])
def test_a_screen_out_pays_less_than_the_reward_and_not_too_little(cents, is_fine):
    recruited = Recruited(features=frozenset({"screen_out"}))

    if is_fine:
        recruited.begin(ScreenOut(cents, 3))
        return
    with pytest.raises(InvalidInput, match=r"at least \$0.14 and less than the reward of \$2.00"):
        recruited.begin(ScreenOut(cents, 3))
    assert recruited.books.studies == {}


def test_slots_that_are_used_up_are_told_and_can_be_raised():
    recruited = Recruited(features=frozenset({"screen_out"})).begin(ScreenOut(50, 1))
    store, panel, study = recruited.store, recruited.panel, recruited.study
    place = recruited.came()
    recruited.books.submit(place.id, recruited.codes["screened_out"], "researcher")
    recruit.notice(store, study, panel.state(recruited.id), False, "2026-01-01T00:00:00.000Z")

    told = recruit.at_odds(store, study)
    recruit.update(store, study, budget_usd_cents=10_000)
    recruit.set_slots(store, panel, study, 2)
    recruit.change(store, panel, study, "start")

    assert "by a person there or because all 1 screen-out slots are used" in told
    assert recruited.books.study(recruited.id)["status"] == "ACTIVE"
    with pytest.raises(InvalidInput, match="slots can only grow: there are 2, not 1"):
        recruit.set_slots(store, panel, study, 1)


def test_money_that_the_panel_pays_later_is_not_reserved_twice(recruited):
    recruited.books.approve_delay = timedelta(hours=2)
    recruited.came("screened_out")
    recruited.payer().run()

    before = recruited.payer().plan()["committed_usd_cents"]
    recruited.books.clock.advance(hours=2)
    recruited.payer().run()

    assert (before, recruited.payer().plan()["committed_usd_cents"]) == (COST, COST)
