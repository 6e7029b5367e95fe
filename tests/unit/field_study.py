"""A whole recruitment at a fake panel to test with: people of every kind, faults, and what must hold.

Nothing has a socket: the product's own client asks the fake in the process, over a store in memory.
"""

import dataclasses
import re
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

from backend.administration import retention
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, InvalidInput, NotAllowed, TooMany, Unavailable
from backend.foundation.timestamps import stamp
from backend.panels.api import PanelRefused, PanelUnreached, PanelUnsure, ScreenOut
from backend.payment import accounts as owing
from backend.payment import payer as paying
from backend.payment import screened_out
from backend.recruitment import recruit as recruiting
from backend.recruitment import sync
from backend.recruitment.plan import plan
from backend.task.place_check import PlaceCheck
from backend.task.withdrawal import withdraw
from tests.prolific import Books, Clock, Fake, Refusal
from tests.prolific.faults import Fault

from . import sample_studies as studies
from .memory import MemoryStore

BASE, BONUS, SCREEN_OUT, IMAGES = 200, 2, 50, 10
URL = "https://study.example"
HASH_KEY = b"k" * 32
_DRAWN = studies.session(studies.study(images=IMAGES))
FAULTS = ("unreached", "before", "after", 400, 401, 403, 404, 408, 429, "429 later", 500, 502, "503 later")
FOCUSES = (
    "GET .*/submissions/$", "GET .*/submissions/[^/]+/$", "POST .*/submissions/[^/]+/transition/",
    "/bulk-approve/",
    "POST .*/bonus-payments/$", "POST .*/pay/$", "POST .*/studies/$", "POST .*/studies/[^/]+/transition/",
    "GET .*/studies/", "/cost/", "PATCH", "nothing",
)  # fmt: skip
"""Calls that fail most, one of them in each schedule."""
PANEL_ERRORS = (PanelRefused, PanelUnreached, PanelUnsure)


class Killed(BaseException):
    """The process is gone: nothing of it runs on."""


class Mortal:
    """A store or panel around whose writing calls the process may end."""

    def __init__(self, inner, fate):
        self._inner, self._fate = inner, fate

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if name not in CALLS:
            return found

        def met(*arguments, **options):
            self._fate.meet(name)
            result = found(*arguments, **options)
            if name in ("entries", "sessions", "submissions"):
                result = list(result)
            self._fate.meet(name)
            return result

        return met


CALLS = {
    "entry", "entries", "sessions", "write_entry", "move", "submissions", "submission", "approve", "complete",
    "create", "change", "set_places", "propose_bonuses", "pay_bonuses", "cost", "balance", "state",
}  # fmt: skip


class Fate:
    """Ends a process after a number of steps, and has another one run in between; None does neither."""

    def __init__(self, left, meanwhile=None, other=None):
        self._left, self._meanwhile, self._other = left, meanwhile, other

    def meet(self, name):
        if self._meanwhile is not None:
            self._meanwhile -= 1
            if self._meanwhile < 0:
                self._meanwhile = None
                self._other()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                raise Killed


@dataclass
class Person:
    """Somebody who took a place, what they did, and what they must be paid for it in the end."""

    place: object
    session: str = ""
    right: int = 0
    answered: int = 0
    did: str = "came"
    is_lost: bool = False
    """The session was closed here because the place was gone: nothing is owed."""


@dataclass
class Counts:
    """What a schedule went through."""

    kills: int = 0
    calls: int = 0
    people: int = 0
    strangers: int = 0
    faults: Counter = field(default_factory=Counter)
    deeds: Counter = field(default_factory=Counter)

    def add(self, other):
        for name in ("kills", "calls", "people", "strangers"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.faults.update(other.faults)
        self.deeds.update(other.deeds)


class FieldStudy:
    """One study, its panel, and everybody who has to do with it, all drawn from one seed."""

    def __init__(self, seed):
        self.rng = rng = Random(seed)
        self.books = Books(
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
        self.clock, self.fake, self.store = self.books.clock, Fake(self.books), MemoryStore()
        self.token, self.counts, self.people = self.books.token, Counts(), []
        settings = {"images": IMAGES, "base_usd_cents": BASE, "bonus_usd_cents": BONUS, "minutes": 10}
        self.study = studies.study(
            panel="prolific", currency=self.books.currency, evaluators=rng.choice([2, 3, 5]), **settings
        )
        self.store.add_study(self.study, [])
        screen_out = ScreenOut(SCREEN_OUT, 2) if rng.random() < 0.4 else None
        vat = "20" if self.books.vat else "0"
        self.plan = plan(self.study, vat_percent=vat, screen_out=screen_out)
        self.budget = self.plan.total_cents * rng.choice([1, 2, 2, 3])
        self.by_server = rng.random() < 0.8
        self.fault_rate, self.focus = 0.0, rng.choice(FOCUSES)
        self.fake.faults.weather = self._weather
        self.panel = self._panel()

    # the world's weather

    def _weather(self, method, path):
        self.counts.calls += 1
        is_focus = bool(re.search(self.focus, f"{method} {path}"))
        if self.rng.random() >= self.fault_rate * (4 if is_focus else 0.5):
            return None
        how = self.rng.choice(FAULTS)
        self.counts.faults[how] += 1
        if isinstance(how, str) and how.endswith("later"):
            return Fault(method, path, int(how[:3]), headers=(("Retry-After", "1"),))
        return Fault(method, path, how)

    def _panel(self):
        return self.fake.panel(self.token, rng=Random(self.rng.random()))

    def run(self, deed, kills=True):
        """Run a process that may meet faults, and its end; return what it returned, None if it broke off."""
        steps = [self.rng.randrange(120) if kills and self.rng.random() < 0.3 else None for _ in "12"]
        others = [self.reconcile, self.pay, self.pay] if self.panel_study else [self.recruit]
        other = self.rng.choice(others)
        fate = Fate(*steps, lambda: self.run(other, kills=self.rng.random() < 0.3))
        self.counts.deeds[deed.__name__] += 1
        try:
            return deed(Mortal(self.store, fate), Mortal(self._panel(), fate))
        except Killed:
            self.counts.kills += 1
        except (*PANEL_ERRORS, Conflict, InvalidInput):
            pass
        return None

    # what programs do

    def recruit(self, store, panel):
        options = {"budget_cents": self.budget, "by_server": self.by_server}
        recruiting.begin(store, panel, self.study, self.plan, URL, **options)

    def resume(self, store, panel):
        recruiting.change(store, panel, self.study, "start")

    def reconcile(self, store, panel):
        sync.reconcile(store, panel, self.study, stamp(self.clock()))

    def reconcile_one(self, store, panel):
        """Read one place, as the server does when somebody is done or an event tells of a place."""
        sessions = [session for session, _ in sync.of_panel(store, self.study)]
        if sessions:
            sync.reconcile_one(store, panel, self.study, self.rng.choice(sessions), stamp(self.clock()))

    def pay(self, store, panel):
        state = recruiting.recruitment(store, self.study)
        batch = self.rng.choice([1, 2, 100])
        payer = paying.Payer(
            store, self.study, panel, state["panel_study"], self.clock, batch=batch, new_id=self.books.new_id
        )
        return payer.run()

    def decide(self, store, panel):
        state = recruiting.recruitment(store, self.study)
        payer = paying.Payer(store, self.study, panel, state["panel_study"], self.clock)
        undecided = [
            account
            for _, account in owing.accounts(self.store, "faces").values()
            if account.reward == "undecided"
        ]
        if undecided:
            payer.decide(self.rng.choice(undecided).evaluator, self.rng.random() < 0.5)

    # what people do

    @property
    def panel_study(self):
        return (recruiting.begun(self.store, self.study) or {}).get("panel_study", "")

    @property
    def codes(self):
        return recruiting.recruitment(self.store, self.study)["codes"]

    def arrive(self):
        """Have somebody take a place and be admitted here, if the panel can be asked."""
        try:
            place = self.books.take(self.panel_study)
        except Refusal:
            return None
        self.counts.people += 1
        person = Person(place)
        self.people.append(person)
        if self.rng.random() < 0.1:
            return None  # never came
        self.books.start(place.id)
        if self.rng.random() < 0.1:
            person.did = "nocode"
            self.books.submit(place.id, "NOCODE")
            return None
        link = {"PROLIFIC_PID": place.participant, "STUDY_ID": place.study, "SESSION_ID": place.id}
        for _ in range(4):  # as the page does
            try:
                self._check(link)
            except (NotAllowed, Unavailable, TooMany):
                continue
            if self.rng.random() < 0.1:
                return self._screen_out(person, link)
            self._open(person, link)
            return person
        self._leave(person, "no_consent")
        return None

    def _screen_out(self, person, link):
        """Have somebody screened out: the server says so where that is paid for, else the person's code."""
        person.did = "screened out"
        if screened_out.is_paid_by_panel(self.store, self.study):
            screened_out.note(self.store, self.study, link, stamp(self.clock()))
        else:
            self._submit(person, self.codes["screened_out"])

    def _check(self, link):
        check = PlaceCheck(self.store, HASH_KEY, self.clock, self._panel(), sleep=lambda _: None)
        return check.check(self.study, link, None)

    def intrude(self):
        """Have a stranger come with ids of their own making, or another person's; nobody lets them in."""
        self.counts.strangers += 1
        known = self.rng.choice(self.people).place if self.people else None
        id = f"{self.rng.getrandbits(96):024x}"
        link = {"PROLIFIC_PID": id, "STUDY_ID": self.panel_study, "SESSION_ID": known.id if known else id}
        try:
            self._check(link)
        except (NotAllowed, Unavailable, TooMany):
            return
        raise AssertionError("a stranger was let in")

    def _open(self, person, link):
        number = len(self.people)
        session = dataclasses.replace(
            _DRAWN,
            id=f"s{number:03d}",
            evaluator=f"e{number:03d}",
            models=(self.rng.choice(self.study.models),),
            panel=link,
            opened_at=stamp(self.clock()),
        )
        self.store.add_session(session, Cursor(last_at=stamp(self.clock())))
        person.session, person.did = session.id, "opened"

    def go_on(self, person):
        """Have somebody who is at it do something."""
        deeds = ["finish"] * 6 + ["return", "decline", "unfit", "stay away", "withdraw", "nocode"]
        getattr(self, "_" + self.rng.choice(deeds).replace(" ", "_"))(person)

    def _cursor(self, person):
        return self.store.cursor(person.session)

    def _answer(self, person, count, state="active"):
        cursor = self._cursor(person)
        if cursor.state != "active":
            return False
        right = self.rng.randint(0, count)
        after = dataclasses.replace(
            cursor, version=cursor.version + 1, trial_index=count, state=state,
            right={"real": right // 2, "fake": right - right // 2},
            last_at=stamp(self.clock()),
        )  # fmt: skip
        self.store.move(person.session, cursor.version, after)
        person.answered, person.right = count, right
        return True

    def _finish(self, person):
        if self._answer(person, IMAGES, "finished"):
            person.did = "finished"
            if not self.by_server:
                self._submit(person, self.codes["done"])
            if self.rng.random() < 0.25:
                self._withdraw_now(person)
                if self.rng.random() < 0.5:
                    self._give_back(person)
            elif self.rng.random() < 0.1:
                self._give_back(person)
                if person.place.status == "RETURNED":
                    person.did = "finished, then returned"

    def _withdraw(self, person):
        if self._answer(person, self.rng.randint(0, IMAGES - 1)):
            self._withdraw_now(person)
            self.rng.choice([self._give_back, self._nocode, lambda _: None])(person)

    def _withdraw_now(self, person):
        if self._cursor(person).state != "returned":
            withdraw(self.store, self.study, person.session, stamp(self.clock()))
            person.did = f"{'finished' if person.answered == IMAGES else 'began'}, then withdrew"

    def _return(self, person):
        self._answer(person, self.rng.randint(0, IMAGES - 1))
        self._give_back(person)

    def _decline(self, person):
        self._leave(person, "no_consent")

    def _unfit(self, person):
        self._leave(person, "unfit_device")

    def _stay_away(self, person):
        self._answer(person, self.rng.randint(0, IMAGES - 1))

    def _nocode(self, person):
        self._submit(person, "NOCODE")

    def _leave(self, person, outcome):
        if person.did in ("came", "opened"):
            person.did = outcome
        self._submit(person, self.codes[outcome])
        if self.rng.random() < 0.5:
            self._give_back(person)

    def _submit(self, person, code):
        with suppress(Refusal):
            self.books.submit(person.place.id, code)

    def _give_back(self, person):
        with suppress(Refusal):
            self.books.give_back(person.place.id)

    def meddle(self):
        """Have a person at the panel do something by hand."""
        study, rng = self.panel_study, self.rng
        waiting = [p.place.id for p in self.people if p.place.status == "AWAITING REVIEW"]
        actions = ["PAUSE", "START", "PAUSE", "START", "STOP"]
        deeds = [lambda: self.books.transition_study(study, rng.choice(actions))]
        if waiting:
            deeds += [lambda: self.books.approve(rng.choice(waiting))] * 2
            deeds += [lambda: self.books.reject(rng.choice(waiting))]
        with suppress(Refusal):
            rng.choice(deeds)()

    def rotate(self):
        """Delete the token at the panel; the programs have the old one until somebody notices."""
        self.books.rotate_token()

    def notice(self):
        self.token = self.books.token

    # the whole

    def play(self):
        """Live through weeks of a recruitment, and end it well."""
        rng = self.rng
        self.fault_rate = rng.choice([0.0, 0.05, 0.15, 0.3])
        deeds = (
            [self.arrive] * 5
            + [self._somebody_goes_on] * 6
            + [lambda: self.run(self.reconcile)] * 4
            + [lambda: self.run(self.reconcile_one)] * 3
            + [lambda: self.run(self.pay)] * 3
            + [self.intrude, self.meddle, self.rotate, self.notice, self.notice]
            + [lambda: self.run(self.decide), lambda: self.run(self.resume)]
        )
        for _ in range(rng.randint(30, 90)):
            if (recruiting.begun(self.store, self.study) or {}).get("state") in (None, "decided"):
                self.run(self.recruit)
            else:
                rng.choice(deeds)()
            self.clock.advance(minutes=rng.choice([0, 0, 1, 2, 5, 20]))
            if rng.random() < 0.05:
                self.clock.advance(days=rng.choice([1, 3, 8, 22]))
        self.end()

    def _somebody_goes_on(self):
        opened = [person for person in self.people if person.did == "opened"]
        if opened:
            self.go_on(self.rng.choice(opened))

    def end(self):
        """Have the weather clear up, and programs run until nothing is left to do."""
        self.fault_rate, self.token = 0.0, self.books.token
        for _ in range(3):
            self.run(self.recruit, kills=False)
        self._run_for((0, 0, 1, 2, 23, 2))
        assert self.books.total_with_fees(is_by_panel=False) <= self.budget, "the budget was exceeded"
        recruiting.update(self.store, self.study, budget_usd_cents=100 * self.budget)
        self._run_for((0, 2, 23, 2, 2, 0))

    def _run_for(self, days):
        for count in days:
            self.clock.advance(days=count, minutes=3)
            for deed in (self.reconcile, self.pay, self.reconcile, self.pay):
                self.run(deed, kills=False)
                self.clock.advance(minutes=2)

    def close_debts(self):
        """Close what is still owed, as somebody does who wants to be done with the study."""
        for _, account in list(owing.accounts(self.store, "faces").values()):
            if not account.is_paid:
                owing.close(
                    self.store, self.study, account.session or account.evaluator, "over", self.clock()
                )

    def forget(self):
        self.clock.advance(days=31)
        now = self.clock()
        retention.apply(self.store, retention.due(self.store, self.study, now, keep_days=30), now)

    def ids(self):
        """Return the panel's ids of all people and places."""
        return [id for person in self.people for id in (person.place.id, person.place.participant)]

    # what must hold

    def check(self):
        state = recruiting.recruitment(self.store, self.study)
        published = [id for id, study in self.books.studies.items() if study["status"] != "UNPUBLISHED"]
        assert published == [state["panel_study"]], "there is not one study at the panel"
        paid = self._paid()
        for key, amounts in paid.items():
            assert len(amounts) == 1, f"{key} was paid {len(amounts)} times"
        for person in self.people:
            self._check_person(person, paid)
        self._check_books(paid)

    def _paid(self):
        paid = {}
        for line in self.books.account():
            paid.setdefault((line.submission, line.kind), []).append(line.cents)
        return paid

    def _check_person(self, person, paid):
        place = person.place
        got = tuple(sum(paid.get((place.id, kind), ())) for kind in ("reward", "bonus"))
        out = sum(paid.get((place.id, "screen_out"), ()))
        assert out == (SCREEN_OUT if place.status == "SCREENED OUT" else 0)
        if person.did == "screened out":
            by_panel = screened_out.is_paid_by_panel(self.store, self.study)
            assert place.status in (("SCREENED OUT",) if by_panel else ("APPROVED", "REJECTED")), place.status
        owed = self._owed(person)
        assert got == owed, f"{person.did}, {place.status}: paid {got}, not {owed}"
        if person.did == "finished" and place.status != "RETURNED":
            assert self._cursor(person).state == "finished", "finished work was thrown away"

    def _owed(self, person):
        """Return (reward, bonus) that a person must have got in the end."""
        status, earned = person.place.status, person.right * BONUS
        reward = BASE if status == "APPROVED" else 0
        if person.did == "finished":
            return reward, earned if status == "APPROVED" else 0
        if person.did == "finished, then withdrew":
            if status == "RETURNED":
                return 0, BASE + earned
            return reward, earned if status == "APPROVED" else 0
        if person.did == "began, then withdrew":
            share = -(-BASE * person.answered // IMAGES)
            if status in ("RETURNED", "TIMED-OUT"):
                return 0, share + earned
            return reward, earned if status == "APPROVED" else 0
        return reward, 0

    def _check_books(self, paid):
        accounts = [account for _, account in owing.accounts(self.store, "faces").values()]
        paid = {(id, "reward" if kind == "screen_out" else kind) for id, kind in paid}
        confirmed = {
            (account.submission, part)
            for account in accounts
            for part in ("reward", "bonus")
            if getattr(account, part) == "confirmed"
        }
        assert confirmed == set(paid), f"the ledger and the panel differ by {confirmed ^ set(paid)}"
        _, purse = owing.purse(self.store, "faces")
        assert purse.spent_usd_cents(accounts) == self.books.total_with_fees(), "the purse is not the panel's"
        finished = [p for p in self.people if p.did == "finished" and p.place.status == "AWAITING REVIEW"]
        assert not finished, "somebody who finished waits for ever"
