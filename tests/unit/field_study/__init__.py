"""Whole recruitments at a fake panel to test with: people of every kind, faults, and what must hold.

Nothing has a socket: the product's own client asks the fake in the process, over a store in memory. What
people do is in `people.py`, what the researcher's programs do in `programs.py`, what happens at the panel in
`panel.py`, and what must hold in `oracle.py`.
"""

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

from backend.panels.api import ScreenOut
from backend.payment.accounts import set_budget
from backend.recruitment import recruit as recruiting
from backend.recruitment.plan import plan
from backend.studies.pausing import set_paused
from tests.prolific import Clock, Fake

from .. import sample_studies as studies
from ..memory import MemoryStore
from .oracle import Oracle
from .panel import FOCUSES, PanelPeople, WatchedBooks
from .people import (
    BASE,
    BONUS,
    IMAGES,
    MINUTE,
    MINUTES,
    MINUTES_EACH,
    TEST_BASE,
    TEST_BONUS,
    TEST_IMAGES,
    People,
)
from .programs import Programs

SCREEN_OUT = 50
KINDS = ("alone", "alone", "two", "test", "waiting")
"""One study, two that recruit, one with a test on the way, and one for which people wait who took that."""


@dataclass
class Counts:
    """What a schedule went through."""

    kills: int = 0
    calls: int = 0
    people: int = 0
    strangers: int = 0
    faults: Counter = field(default_factory=Counter)
    deeds: Counter = field(default_factory=Counter)
    refusals: Counter = field(default_factory=Counter)

    def add(self, other):
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)


@dataclass
class Branch:
    """A study, and how it is recruited for."""

    study: object
    base: int
    bonus: int
    images: int
    budget: int | None = None
    by_server: bool = True
    screen_out: ScreenOut | None = None
    places: int | None = None
    urls: list = field(default_factory=list)
    """Addresses that were asked for, in order."""
    lower: int | None = None
    """The budget for payments, in cents, if it is lower than that for recruiting."""
    running: list = field(default_factory=list)
    """Of programs that recruit now, how many addresses were asked for before."""
    asked_urls: list = field(default_factory=list)
    """Those that the programs asked for that ran when the study was published."""
    published_url: str = ""
    ends_allowed: int = 0
    """How many sessions had been closed early when the study was resumed for the last time."""

    def part(self, answered, right):
        """Return what is owed for a session that broke off."""
        return -(-self.base * answered // self.images) + self.bonus * right


class FieldStudy(People, Programs, PanelPeople, Oracle):
    """Studies, their panel, and everybody who has to do with them, all drawn from one seed."""

    def __init__(self, seed):
        self.rng = rng = Random(seed)
        self.books = _books(rng, seed)
        self.clock, self.fake, self.store = self.books.clock, Fake(self.books), MemoryStore()
        self.token, self.counts, self.people, self.events = self.books.token, Counts(), [], []
        self.vat = "20" if self.books.vat else "0"
        self.backup, self.before_restore, self.restored_at = None, Counter(), datetime.min.replace(tzinfo=UTC)
        self.unreadable, self.may_vanish, self.came_in = {}, rng.random() < 0.25, {}
        self.asks_panel, self.early_rate = rng.random() < 0.65, rng.choice([1, 1, 10])
        """Whether the server has the panel's token, and how often sessions are closed early."""
        self.kind = rng.choice(KINDS)
        self._add_branches()
        self.fault_rate, self.focus = 0.0, rng.choice(FOCUSES)
        self.fake.faults.weather = self.weather
        self.books.count_calls = lambda: len(self.fake.calls)
        self.books.watchers.append(self.note_published)

    def _add_branches(self):
        rng, waits = self.rng, self.kind == "waiting"
        tested = {"qualification": "gate"} if self.kind in ("test", "waiting") else {}
        if waits:
            tested |= {"retainer_usd_cents": MINUTE, "retainer_minutes": MINUTES_EACH,
                       "retainer_budget_usd_cents": MINUTE * MINUTES}  # fmt: skip
        self.test = self._test() if tested else None
        size = {"images": IMAGES, "base_usd_cents": BASE, "bonus_usd_cents": BONUS, "minutes": 10}
        repeats = {"repeat_visits": rng.random() < 0.2}
        self.branch = self._branch("faces", (BASE, BONUS, IMAGES), **size, **tested, **repeats)
        self.branches = [self.branch]
        if self.kind == "two":
            self.branches.append(self._branch("other", (BASE, BONUS, IMAGES), **size, exclusive=False))
        self.recruiting = [*self.branches]
        if self.test:
            self.branches.append(self.test)
        for branch in [*self.recruiting, *([self.test] if waits else [])]:
            self._plan(branch)
        if waits:
            self.recruiting.append(self.test)
            set_paused(self.store, "faces", True, "2026")
        if self.test:
            set_budget(self.store, "gate", vat_percent=self.vat)
        self.may_go_back = rng.random() < 0.3

    def _test(self):
        pay = {"base_usd_cents": TEST_BASE, "bonus_usd_cents": TEST_BONUS, "minutes": 3}
        size = (TEST_BASE, TEST_BONUS, TEST_IMAGES)
        return self._branch("gate", size, kind="qualification", images=TEST_IMAGES, **pay)

    def _branch(self, name, pay, **settings):
        wanted = {} if settings.get("kind") else {"evaluators": self.rng.choice([1, 1, 2, 3, 5])}
        settings = {"panel": "prolific", "currency": self.books.currency, **wanted, **settings}
        study = studies.study(name, **settings)
        self.store.add_study(study, studies.pool(study, each=IMAGES))
        return Branch(study, *pay)

    def _plan(self, branch):
        rng = self.rng
        if branch is not self.test and rng.random() < 0.4:
            branch.screen_out = ScreenOut(SCREEN_OUT, 2)
        places = 5 if branch is self.test else None
        wanted = plan(branch.study, places, vat_percent=self.vat, screen_out=branch.screen_out)
        branch.places, branch.budget = places, wanted.total_cents * rng.choice([1, 2, 2, 3])
        branch.by_server = rng.random() < 0.8
        if rng.random() < 0.5:  # the budget for payments is the lower one, and holds places back
            set_budget(self.store, branch.study.name, wanted.total_cents)
            branch.lower = wanted.total_cents

    def panel_study(self, branch):
        return (recruiting.begun(self.store, branch.study) or {}).get("panel_study", "")

    def is_published(self, branch):
        return (recruiting.begun(self.store, branch.study) or {}).get("state") not in (None, "decided")

    @property
    def has_restored(self):
        return bool(self.counts.deeds["restore"])

    # the whole

    def play(self):
        """Live through weeks of a recruitment, and end it well."""
        rng = self.rng
        self.fault_rate = rng.choice([0.0, 0.05, 0.15, 0.3])
        deeds = self._deeds()
        for _ in range(rng.randint(25, 75)):
            hidden = [branch for branch in self.recruiting if not self.is_published(branch)]
            if hidden:
                self.run(self.recruit, rng.choice(hidden))
            else:
                rng.choice(deeds)()
            self.clock.advance(minutes=rng.choice([0, 0, 1, 2, 5, 20]))
            if rng.random() < 0.05:
                self.clock.advance(days=rng.choice([1, 3, 8, 22]))
        self.end()

    def _deeds(self):
        def program(deed, branches):
            return lambda: self.run(deed, self.rng.choice(branches))

        deeds = [self.arrive] * 5 + [self.somebody_goes_on] * 6 + [self.others_come] * 2
        deeds += [program(self.reconcile, self.recruiting)] * 4 + [program(self.pay, self.branches)] * 4
        deeds += [program(self.reconcile_one, self.recruiting)] * 3
        deeds += [program(self.decide, self.recruiting), program(self.resume, self.recruiting)]
        deeds += [self.intrude, self.meddle, self.rotate, self.notice, self.notice, self.hear]
        deeds += [self.excuse, self.excuse, self.come_late, self.close_somebodys, self.vanish]
        deeds += [self.take_another_over, self.allow_more, self.allow_more]
        deeds += [self.begin_again, self.pay_a_part] * 2
        if self.branch.study.protocol.admission.repeat_visits:
            deeds += [self.begin_again] * 4
        if self.may_go_back:
            deeds += [self.back_up, self.back_up, self.restore, self.move]
            deeds += [self.go_back_at_once, self.answer_again]
        if self.kind == "waiting":
            deeds += [self.wait] * 3 + [self.call]
        return deeds

    def end(self):
        """Have the weather clear up, and programs run until nothing is left to do."""
        self.fault_rate, self.token = 0.0, self.books.token
        for branch in self.recruiting:
            for _ in range(3):
                if not self.is_published(branch):
                    self.run(self.recruit, branch, kills=False)
        self._run_for((0, 1, 25, 2))
        for branch in self.recruiting:
            self.check_budget(branch)
            recruiting.update(self.store, branch.study, budget_usd_cents=100 * branch.budget)
            set_budget(self.store, branch.study.name, 100 * branch.budget)
        self._run_for((0, 2, 23, 2, 2))

    def _run_for(self, days):
        for count in days:
            self.clock.advance(days=count, minutes=3)
            for branch in self.recruiting:
                is_done = self.run(self.reconcile, branch, kills=False)
                self.check_reading(branch, is_done)
            for branch in self.branches * 2:
                self.run(self.pay, branch, kills=False)
                self.clock.advance(minutes=2)


def _books(rng, seed):
    return WatchedBooks(
        clock=Clock(datetime(2026, 1, 5, tzinfo=UTC)),
        currency=rng.choice(["USD", "GBP"]),
        fee=Fraction(428, 1000),
        vat=rng.choice([Fraction(0), Fraction(1, 5)]),
        ids=Random(seed),
        pay_delay=timedelta(minutes=rng.choice([0, 0, 15, 200, 1300])),
        approve_delay=timedelta(minutes=rng.choice([0, 0, 5, 300])),
        features=frozenset({"screen_out"}),
        unknown_at_first=rng.choice([0, 1, 2]),
        largest_page=rng.choice([2, 3, 100]),
    )
