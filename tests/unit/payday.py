"""A payday to test with: people at a fake panel, what each did, and who must be paid what in the end."""

import dataclasses
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

from backend.experiment.panel import PROLIFIC
from backend.experiment.session import Cursor
from backend.foundation.timestamps import stamp
from backend.panels.api import Recruitment
from backend.payment import accounts as owing
from backend.payment import payer as paying
from backend.payment.ledger import StudyFunds
from tests.prolific import Books, Clock, Fake

from . import sample_studies as studies

BASE, BONUS = 100, 2
FEE = Fraction(428, 1000)
SETTINGS = {"images": 10, "base_usd_cents": BASE, "bonus_usd_cents": BONUS}
_DRAWN = studies.session(studies.study(**SETTINGS))
FAULT = "the server was down"


def order(name):
    return Recruitment(
        name=name, title="Real or not?", description="Look.", url=f"http://127.0.0.1/s/{name}", places=50,
        minutes=5, reward_cents=BASE, codes={"done": "DONE7", "no_consent": "NO7"},
    )  # fmt: skip


class Payday:
    """A study in a store, its people at a fake panel, and payers for it."""

    def __init__(self, store, name="faces", panel=None, books=None, panel_record=PROLIFIC):
        self.books = books or Books(clock=Clock(datetime(2026, 1, 5, tzinfo=UTC)), fee=FEE, ids=Random(1))
        self.clock, self.store = self.books.clock, store
        self.fake = Fake(self.books)
        self.panel = panel or self.fake.panel()
        study = studies.study(name=name, currency=self.books.currency, **SETTINGS)
        protocol = study.protocol.changed(panel=panel_record)
        self.study = dataclasses.replace(study, protocol=protocol)
        store.add_study(self.study, [])
        self.panel_study = self.panel.create(order(name))
        self.panel.change(self.panel_study, "publish")
        self.expected = {}
        self.left_to_panel = set()
        """Rewards of people to whom nothing is owed: the panel pays them by itself where nobody reviews."""
        self.count = 0

    def person(self, state="finished", right=5, answered=10, at_panel="done", pid=None):
        """Have someone take part; return (pseudonym, place)."""
        self.count += 1
        place = self.books.take(self.panel_study)
        self.books.start(place.id)
        self.books.fresh[place.id] = 0  # by the time of paying the panel knows it
        session = dataclasses.replace(
            _DRAWN,
            id=f"{self.study.name}-{self.count:03d}",
            study=self.study.name,
            evaluator=f"e{self.count:03d}",
            completion_code=f"CODE{self.count:03d}",
            panel={
                "PROLIFIC_PID": pid or place.participant,
                "STUDY_ID": self.panel_study,
                "SESSION_ID": place.id,
            },
        )
        at = stamp(datetime(2026, 1, 4, tzinfo=UTC) + timedelta(minutes=self.count))
        cursor = Cursor(
            version=answered, trial_index=answered, state=state, last_at=at,
            right={"real": right // 2, "fake": right - right // 2},
        )  # fmt: skip
        self.store.add_session(session, cursor)
        if at_panel in ("done", "rejected"):
            self.books.submit(place.id, "DONE7")
        if at_panel == "rejected":
            self.books.reject(place.id)
        if at_panel == "returned":
            self.books.give_back(place.id)
        if at_panel == "timed_out":
            self.books.time_out(place.id)
        return session.evaluator, place

    def owes(self, place, reward=BASE, bonus=0):
        """Say what a person must have been paid in the end, each part once."""
        parts = {"reward": reward, "bonus": bonus}
        self.expected.update({(place.id, kind): cents for kind, cents in parts.items() if cents})

    def everyone(self):
        """Have people of every kind take part."""
        for right in (7, 7, 0, 10):
            self.owes(self.person(right=right)[1], bonus=right * BONUS)
        self.owes(self.person("ended", right=3, answered=6)[1], bonus=3 * BONUS)
        evaluator, place = self.person("active", right=2, answered=5, at_panel="timed_out")
        owing.broke_off(self.store, self.study, evaluator, FAULT)
        self.owes(place, reward=0, bonus=BASE // 2 + 2 * BONUS)
        self.person(right=9, at_panel="returned")
        self.person(right=9, at_panel="timed_out")
        self.person(right=9, at_panel="rejected")
        self.person("active", answered=4, at_panel="active")
        forged = self.person(right=9, at_panel="done", pid="another")[1]
        self.left_to_panel.add((forged.id, "reward"))

    def payer(self, store=None, panel=None, **options):
        place = (store or self.store, self.study, panel or self.panel, self.panel_study, self.clock)
        return paying.Payer(*place, new_id=self.books.new_id, **options)

    def accounts(self):
        return {
            account.submission: account for _, account in owing.accounts(self.store, self.study.name).values()
        }

    def counts(self):
        """Return what the panel paid to whom, amounts by (submission, kind)."""
        times = {}
        for line in self.books.account():
            key = (line.submission, line.kind)
            times.setdefault(key, []).append(line.cents)
        return times

    def is_paid(self):
        """Return whether the ledger takes everybody who can be paid for paid."""
        found = self.accounts()
        return all(
            getattr(found[submission], part) == "confirmed"
            for (submission, part) in self.expected
            if submission in found
        ) and {submission for submission, _ in self.expected} <= set(found)

    def funds(self):
        return owing.funds(self.store, self.study.name)[1]

    def check(self, complete=True):
        """Check that nobody was paid twice or wrongly, that both books agree, and that the budget holds."""
        counts = self.counts()
        for key, amounts in counts.items():
            assert len(amounts) == 1, f"{key} was paid {len(amounts)} times"
            if key in self.left_to_panel:
                continue
            assert key in self.expected, f"{key} was not to be paid"
            assert amounts == [self.expected[key]], f"{key} was paid {amounts}, not {self.expected[key]}"
        accounts = self.accounts()
        confirmed = {
            (submission, part)
            for submission, account in accounts.items()
            for part in ("reward", "bonus")
            if getattr(account, part) == "confirmed"
        }
        assert confirmed <= set(counts), "the ledger takes for paid what was not"
        if complete:
            assert set(counts) - self.left_to_panel == set(self.expected), "somebody was not paid"
        if complete is not None:
            assert confirmed == set(counts), "the ledger does not know of a payment"
            spent = self.funds().spent_usd_cents(accounts.values())
            assert spent == self.books.total_with_fees()
        budget = self.funds().budget_usd_cents
        if budget is not None:
            assert self.books.total_with_fees(is_by_panel=False) <= budget


def full_cost():
    """Return what `everyone` costs, with fees, and with the reward that the panel may pay by itself."""
    funds = StudyFunds()
    parts = [BASE] * 5 + [14, 14, 20, 6, 54] + [BASE]
    return sum(funds.cost_usd_cents(cents) for cents in parts)
