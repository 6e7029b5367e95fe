"""A study with planned looks at the panel: places only up to the next look, and everybody is paid once."""

from datetime import UTC, datetime
from fractions import Fraction
from random import Random

import pytest

from backend.foundation.errors import InvalidInput
from backend.payment.payer import Payer
from backend.recruitment import approved_sessions, recruit
from backend.recruitment.plan import plan
from backend.responses.study_looks import decide
from backend.studies import look_records
from tests import prolific
from tests.prolific import Books, Clock
from tests.unit.panel_reconciliation import reconcile

from .. import sample_studies as studies
from ..killed import killed_at_each_step
from ..payment.test_payer_http import panel_at
from ..test_newcomer_looks import joined

SETTINGS = {
    "looks": "5,10,15", "images": 8, "base_usd_cents": 200, "bonus_usd_cents": 2, "minutes": 10,
    "exclude_faster_ms": 100,
}  # fmt: skip
FEE = Fraction(428, 1000)
PANEL_CALLS = {
    "approve", "change", "link", "pay_bonuses", "propose_bonuses", "set_places", "state", "submission",
    "submissions",
}  # fmt: skip


class Run:
    """A study that is recruited for at the fake panel over HTTP, whose programs are killed at each write."""

    def __init__(self, world, fake):
        self.world, self.books, self.panel = world, fake.books, panel_at(fake)
        self.study = world.add(studies.study(**SETTINGS))
        made = recruit.begin(world.store, self.panel, self.study, plan(self.study), "https://s.example")
        self.id, self.people, self.places = made["panel_study"], {}, []

    def current(self):
        return self.world.store.study("faces")

    def at(self):
        return self.books.clock().isoformat()

    def arrive(self):
        place = self.books.take(self.id)
        self.books.start(place.id)
        link = {"PROLIFIC_PID": place.participant, "STUDY_ID": self.id, "SESSION_ID": place.id}
        return place, self.world.player(panel=link)

    def take_part(self, errors, rt=321.5):
        """Have one person answer; `errors` has numbers of wrong answers of each model's people, in turn."""
        place, player = self.arrive()
        wrong = errors[self.world.store.session(player.state["session"]).model]
        wrong.append(wrong.pop(0))
        player.begin()
        for trial in range(8):
            player.answer(trial >= wrong[-1], rt=rt)
        self.people[place.id] = 2 * (8 - wrong[-1])

    def pass_time(self):
        """Synchronize, and decide what is reached; each is killed at every write, and ends the next time."""
        self.books.clock.advance(minutes=2)
        self.world.clock.move(minutes=2)
        for run in (self._sync, self._decide, self._sync, self._sync):
            for _ in killed_at_each_step(self.world.store, self.panel, PANEL_CALLS, run):
                self.check()
            self.check()

    def _sync(self, store, panel):
        reconcile(store, panel, self.current(), self.at())

    def _decide(self, store, _):
        decide(store, self.current(), self.at())

    def _pay(self, store, panel):
        Payer(store, self.study, panel, self.id, self.books.clock, new_id=self.books.new_id).run()

    def pay(self):
        """Have everybody paid by a payer that is killed at every step, and is run again some time later."""
        kills = 0
        for _ in range(4):
            for _ in killed_at_each_step(self.world.store, self.panel, PANEL_CALLS, self._pay):
                kills += 1
                self.books.clock.advance(minutes=20)
            self.books.clock.advance(hours=8)
        assert kills > 2 * len(self.people)

    def check(self):
        """Check that no more places are open than are wanted until the next look."""
        store, study = self.world.store, self.current()
        replaced = len([*store.entries("excluded faces")])
        self.places.append(self.books.study(self.id)["total_available_places"])
        assert self.places[-1] <= study.evaluators_wanted + replaced

    def is_open(self):
        found = self.books.study(self.id)
        return found["status"] == "ACTIVE" and found["places_taken"] < found["total_available_places"]


@pytest.fixture
def run(world):
    books = Books(clock=Clock(datetime(2026, 1, 1, tzinfo=UTC)), fee=FEE, ids=Random(1))
    with prolific.running(books) as fake:
        yield Run(world, fake)


@pytest.mark.slow("twenty people over HTTP, and programs killed at each write")
def test_a_study_stops_at_its_look_with_no_place_too_many_and_everybody_paid_once(run):
    near, far = {"gan": [2, 3, 4], "vae": [4, 3, 2]}, {"gan": [0, 1], "vae": [7, 8]}
    left, _ = run.arrive()
    run.books.give_back(left.id)
    run.pass_time()
    run.take_part(near, rt=50)  # too fast, and replaced
    while run.is_open():
        run.take_part(near)
    run.pass_time()
    run.take_part(near)
    run.pass_time()
    assert (run.current().looks_done, run.places[-1]) == (1, 21)
    while run.is_open():
        run.take_part(far)
    run.pass_time()

    assert [each["decision"] for each in look_records.decisions_of(run.world.store, run.study)] == [
        "go on",
        "stop",
    ]
    assert (run.is_open(), run.places[-1], len(run.people)) == (False, 21, 21)
    run.pay()
    lines = [(line.submission, line.kind, line.cents) for line in run.books.account()]
    assert sorted(lines) == sorted(
        [(place, "reward", 200) for place in run.people]
        + [(place, "bonus", cents) for place, cents in run.people.items() if cents]
    )


def test_a_recruitment_reserves_money_until_the_last_look_and_opens_places_until_the_next(run):
    made = recruit.recruitment(run.world.store, run.study)
    wanted = plan(run.study)

    assert (made["places"], wanted.places, wanted.most_places) == (10, 10, 30)
    assert made["budget_usd_cents"] == 30 * wanted.place_cents == wanted.total_cents
    assert wanted.lines()[0] == "places: 10 until the next planned look, 30 until the last"
    with pytest.raises(InvalidInput, match="wants at most 20 slots until its next planned look, not 25"):
        recruit.grow(run.world.store, run.panel, run.study, 25)


@pytest.mark.slow("fifteen people over HTTP")
def test_places_for_a_newcomer_are_a_decision_and_are_opened_up_to_its_next_look(run):
    errors = {"gan": [0, 1], "vae": [7, 8], "wae": [0, 1]}
    while run.is_open():
        run.take_part(errors)
    run.pass_time()
    assert run.current().has_stopped
    run.world.pools.setdefault("faces", [])
    approved_sessions.keep(run.world.store, run.current())
    joined(run.world, "wae")
    run.pass_time()
    assert (run.places[-1], run.is_open()) == (10, False)
    assert approved_sessions.more_places(run.world.store, run.current()) == (10, 15)
    with pytest.raises(InvalidInput, match="wants at most 15 slots until its next planned look, not 16"):
        recruit.grow(run.world.store, run.panel, run.current(), 16)

    recruit.grow(run.world.store, run.panel, run.current(), 15)
    while run.is_open():
        run.take_part(errors)
    run.pass_time()

    assert (run.current().newcomer_looks, run.places[-1], run.is_open()) == ((1,), 20, True)
    while run.is_open():
        run.take_part(errors)
    run.pass_time()
    assert (run.current().newcomer_looks, run.places[-1]) == ((2,), 25)
    assert len(run.people) == 20
    assert plan(run.current()).most_places == 25
