"""The payer is killed after every step, and the network fails around every call: all are paid once.

A *step* is the moment before or after one call of the store or the panel. A schedule says what happens at
which steps of which runs; afterwards the payer is run again, as a researcher would, until it has no more to
do. The panel is the fake's books without a socket; `test_paying_http.py` does the same over HTTP.
"""

import dataclasses
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random

import pytest

from backend.panels.api import PanelUnreached, PanelUnsure
from backend.payment import accounts
from tests.switches import number

from ..memory import MemoryStore
from ..payday import Payday, full_cost

SCHEDULES = number("SUITE_SCHEDULES", 120)
FIRST = number("SUITE_FIRST_SEED", 0)
EACH = number("SUITE_STEPS", 3)
"""The slow tests have a fault at every so many of the steps: 3 is no period of theirs; 1 takes minutes."""
PANEL_CALLS = ("submissions", "submission", "approve", "propose_bonuses", "pay_bonuses")
STORE_CALLS = ("entry", "entries", "sessions", "write_entry")


class Killed(BaseException):
    """The process is gone: nothing of it runs on."""


@dataclass
class Fate:
    """What happens at which step of one run."""

    events: dict = field(default_factory=dict)
    """By the number of the step, or by (side, call, how many of them): `kill`, `unreached`, `unsure`, or
    a function to call."""
    trace: list = field(default_factory=list)
    seen: Counter = field(default_factory=Counter)

    def meet(self, side, name, is_panel):
        self.seen[side, name] += 1
        step = len(self.trace)
        event = self.events.get(step) or self.events.get((side, name, self.seen[side, name]))
        self.trace.append((step, side, name))
        if event == "kill":
            raise Killed
        if callable(event):
            event(f"{side} {name}")
        if is_panel and event == "unsure":
            raise PanelUnsure(f"the connection broke {side} {name}")
        if is_panel and event == "unreached" and side == "before":
            raise PanelUnreached("the panel could not be reached")


class Fated:
    """A store or panel whose calls meet their fate before and after they are done."""

    def __init__(self, inner, fate, calls):
        self._inner, self._fate, self._calls = inner, fate, calls

    def __getattr__(self, name):
        call = getattr(self._inner, name)
        if name not in self._calls:
            return call
        is_panel = self._calls is PANEL_CALLS

        def met(*arguments):
            self._fate.meet("before", name, is_panel)
            result = call(*arguments)
            if name in ("entries", "sessions", "submissions"):
                result = list(result)
            self._fate.meet("after", name, is_panel)
            return result

        return met


def run(payday, fate, **options):
    """Run a payer to its end or its death."""
    store, panel = Fated(payday.store, fate, STORE_CALLS), Fated(payday.panel, fate, PANEL_CALLS)
    try:
        return payday.payer(store, panel, **options).run()
    except Killed:
        return None


def finish(payday, **options):
    """Run the payer again, on the same day and on the next ones, until everybody is paid who can be."""
    for days in range(6):
        for _ in range(3):
            payday.payer(**options).run()
            payday.clock.advance(minutes=20)
        if payday.is_paid():
            return
        payday.clock.advance(hours=25 * (days + 1))
    payday.payer(**options).run()  # weeks have gone by: the panel has approved what nobody reviewed


def payday_of():
    payday = Payday(MemoryStore())
    payday.everyone()
    return payday


def steps_of(**options):
    fate = Fate()
    payday = payday_of()
    run(payday, fate, **options)
    payday.check()
    return fate.trace


def some(step):
    """Return parameters for every `step`-th of a sequence, and for every `EACH`-th."""
    return pytest.mark.parametrize(
        "every", [step, pytest.param(EACH, marks=pytest.mark.slow("a run of payers for each of its steps"))]
    )


def test_nothing_goes_wrong_when_nothing_goes_wrong():
    payday = payday_of()

    assert run(payday, Fate()) == []
    assert accounts.odd_dates(payday.store, "faces", payday.clock()) == []
    payday.check()


@pytest.mark.parametrize("days", [-200, -2, 2, 200])
@pytest.mark.parametrize("side", ["before", "after"])
@some(4)
def test_a_payer_killed_at_any_write_under_a_wrong_clock_pays_once_and_its_dates_are_listed(
    days, side, every
):
    writes = sum(name == "write_entry" for _, side_of, name in steps_of(batch=3) if side_of == "before")
    for count in range(1, writes + 1, every):
        payday = payday_of()
        ahead = lambda payday=payday: payday.clock() + timedelta(days=days)  # noqa: E731
        fated = Fated(payday.store, Fate({(side, "write_entry", count): "kill"}), STORE_CALLS)
        with pytest.raises(Killed):
            dataclasses.replace(payday.payer(fated, batch=3), clock=ahead).run()
        listed = accounts.odd_dates(payday.store, "faces", payday.clock())

        told = payday.payer(batch=3).run()
        is_late = not payday.is_paid()
        finish(payday, batch=3)

        payday.check()
        assert not is_late or listed or told, f"{side} write {count}"


@pytest.mark.parametrize("late", [timedelta(0), timedelta(minutes=15), timedelta(hours=20)])
@pytest.mark.parametrize("event", ["kill", "unsure", "unreached"])
@some(17)
def test_one_fault_at_every_step_of_a_run(event, late, every):
    trace = steps_of(batch=3)[::every]

    for step, side, name in trace:
        if event != "kill" and (name not in PANEL_CALLS or (event == "unreached" and side == "after")):
            continue
        payday = payday_of()
        payday.books.pay_delay = late
        run(payday, Fate({step: event}), batch=3)
        payday.check(complete=None)
        finish(payday, batch=3)
        payday.check()


@some(13)
def test_another_payer_runs_from_end_to_end_at_every_step_of_one(every):
    for step, _, _ in steps_of(batch=3)[::every]:
        payday = payday_of()
        other = Fate({step: lambda _, payday=payday: payday.payer(batch=3).run()})
        run(payday, other, batch=3)
        finish(payday, batch=3)
        payday.check()


@some(13)
def test_another_payer_is_refused_everything_at_every_step_of_one(every):
    for step, _, _ in steps_of(batch=3)[::every]:
        payday = payday_of()

        def meanwhile(_, payday=payday):
            payday.books.refusing_bulks = True
            payday.payer(batch=3).run()
            payday.books.refusing_bulks = False

        run(payday, Fate({step: meanwhile}), batch=3)
        finish(payday, batch=3)
        payday.check()


@some(13)
def test_a_payer_that_slept_for_days_at_any_step_pays_nobody_twice(every):
    """The one step left out is between the payer's look at the clock and the call: nobody sleeps there."""
    for step, _, _ in steps_of(batch=3)[::every]:
        payday = payday_of()

        def meanwhile(where, payday=payday):
            if where == "before pay_bonuses":
                return
            payday.clock.advance(hours=30)
            payday.payer(batch=3).run()
            payday.clock.advance(minutes=1)

        run(payday, Fate({step: meanwhile}), batch=3)
        finish(payday, batch=3)
        payday.check()


@dataclass
class Schedule:
    """Runs of payers, each with its fate, and the time between them, all drawn from one seed."""

    seed: int

    def __post_init__(self):
        self.rng = Random(self.seed)
        rng = self.rng
        self.late = timedelta(minutes=rng.choice([0, 0, 1, 15, 200, 1300]))
        self.batch = rng.choice([1, 2, 3, 100])
        self.budget = rng.choice([None, None, full_cost(), full_cost(), full_cost() - 1, 500, 200])
        self.runs = [self._events(rng) for _ in range(rng.randint(1, 4))]
        self.pauses = [timedelta(minutes=rng.choice([0, 0, 2, 30, 600, 1500])) for _ in self.runs]

    def _events(self, rng, depth=0):
        return [self._event(rng, depth) for _ in range(rng.randint(1, 4))]

    def _event(self, rng, depth):
        """Return where something happens, half of the time at any step, else around a call of the panel."""
        if rng.random() < 0.5:
            return rng.randint(0, 300), rng.choice(["kill"] + ["other"] * (depth < 2))
        name = rng.choice([*PANEL_CALLS, "pay_bonuses", "pay_bonuses"])
        where = (rng.choice(["before", "after"]), name, rng.choice([1, 1, 2, 3, 10]))
        return where, rng.choice(["kill", "unsure", "unsure", "unreached"] + ["other"] * (depth < 2))

    def fate(self, payday, events, depth=0):
        met = {}
        for step, event in events:
            if event == "other":
                theirs = self._events(self.rng, depth + 1)

                def event(_, theirs=theirs):
                    run(payday, self.fate(payday, theirs, depth + 1), batch=self.batch)

            met[step] = event
        return Fate(met)

    def play(self, payday):
        payday.books.pay_delay = self.late
        if self.budget is not None:
            accounts.set_budget(payday.store, payday.study.name, self.budget)
        for events, pause in zip(self.runs, self.pauses, strict=True):
            run(payday, self.fate(payday, events), batch=self.batch)
            payday.check(complete=None)
            payday.clock.advance(seconds=pause.total_seconds())
        finish(payday, batch=self.batch)
        payday.check(complete=self.budget in (None, full_cost()))


@pytest.mark.parametrize("count", [12, pytest.param(SCHEDULES, marks=pytest.mark.slow("many schedules"))])
def test_schedules_of_kills_failures_and_other_payers(count):
    for seed in range(FIRST, FIRST + count):
        try:
            Schedule(seed).play(payday_of())
        except AssertionError as error:
            raise AssertionError(f"schedule {seed}: {error}") from error
