"""What the researcher's programs do: each may be killed at any step, and run beside others."""

import copy as copying
import dataclasses
from contextlib import suppress
from datetime import timedelta

from backend.administration import copy, delete, retention
from backend.foundation.errors import Conflict, InvalidInput, NotFound
from backend.foundation.timestamps import stamp
from backend.panels.api import PanelRefused, PanelUnreached, PanelUnsure
from backend.payment import accounts as owing
from backend.payment import payer as paying
from backend.recruitment import recruit as recruiting
from backend.recruitment import study_recruitment, sync
from backend.recruitment.study_recruitment import Wish
from backend.stores.store import RESTORES
from backend.studies.pausing import is_paused, set_paused
from backend.task.withdrawal import withdraw
from tests.unit.panel_reconciliation import reconcile

from ..memory import MemoryStore
from .people import IMAGES, Person
from .processes import Fate, Killed, Mortal

URLS = ("https://study.example", "http://127.0.0.1:8000", "https://later.example")
PANEL_ERRORS = (PanelRefused, PanelUnreached, PanelUnsure)
OF_A_SESSION = ("session", "token", "state", "answered", "right", "has_withdrawn", "excused", "test_right",
                "test", "wait", "did", "is_closed", "is_late")  # fmt: skip
"""What a person did that a restore takes back."""
_NEW = Person(did="lost")


class Programs:
    """The researcher's programs, part of `FieldStudy`."""

    def run(self, deed, branch, *arguments, kills=True, within=120):
        """Run a process that may meet faults, or end within some steps; return whether it was done."""
        rng = self.rng
        steps = [rng.randrange(within) if kills and rng.random() < 0.3 else None for _ in "12"]
        fate = Fate(*steps, self._something_else)
        ahead = timedelta(minutes=rng.choice([0, 0, 0, -3, 3]))
        self.counts.deeds[deed.__name__] += 1
        try:
            world = Mortal(self.store, fate), Mortal(self.panel(), fate)
            deed(*world, branch, lambda: self.clock() + ahead, *arguments)
        except Killed:
            self.counts.kills += 1
        except (*PANEL_ERRORS, Conflict, InvalidInput, NotFound) as error:
            self.counts.refusals[getattr(error, "code", "")] += 1
        else:
            return True
        return False

    def _something_else(self):
        """Have another process run beside one, or something happen at the panel."""
        branch = self.rng.choice(self.recruiting)
        if self.is_published(branch):
            deed = self.rng.choice([self.reconcile, self.pay, self.pay, self.pay, None])
        else:
            deed = self.recruit
        if deed is None:
            self.rng.choice([self.come_late, self.meddle])()
        else:
            self.run(deed, branch, kills=self.rng.random() < 0.3)

    # recruiting

    def recruit(self, store, panel, branch, clock):
        """Recruit, every time from an address of its own, as somebody does who corrects it."""
        url = self.rng.choice(URLS)
        branch.running.append(len(branch.urls))
        branch.urls.append(url)
        by = "server" if branch.by_server else "code"
        out = branch.screen_out
        wish = Wish(url, branch.places, budget_usd_cents=branch.budget, completion=by, vat_percent=self.vat)
        if out:
            wish = dataclasses.replace(wish, screen_out_usd_cents=out.reward_cents, slots=out.slots)
        try:
            study_recruitment.publish(store, panel, store.study(branch.study.name), wish)
        finally:
            branch.running.pop()

    def resume(self, store, panel, branch, clock):
        recruiting.change(store, panel, branch.study, "start")

    def allow_more(self):
        """Resume a study that has paused itself as too many sessions were closed early."""
        for branch in self.branches:
            name = branch.study.name
            if branch is not self.test and self.kind != "waiting" and is_paused(self.store, name):
                set_paused(self.store, name, False, stamp(self.clock()))
                branch.ends_allowed = sum(person.ended_early for person in self.of_branch(branch))

    def reconcile(self, store, panel, branch, clock):
        reconcile(store, panel, branch.study, stamp(clock()))

    def reconcile_one(self, store, panel, branch, clock):
        """Read one place, as the server does when somebody is done or an event tells of a place."""
        sessions = [session for session, _ in sync.of_panel(store, branch.study)]
        if sessions:
            sync.reconcile_one(store, panel, branch.study, self.rng.choice(sessions), stamp(clock()))

    # paying

    def payer(self, store, panel, branch, clock, **options):
        made = recruiting.begun(store, branch.study) or {}
        place = made.get("panel_study", "")
        return paying.Payer(store, branch.study, panel, place, clock, new_id=self.books.new_id, **options)

    def pay(self, store, panel, branch, clock):
        batch = self.rng.choice([1, 2, 100])
        obstacles = self.payer(store, panel, branch, clock, batch=batch).run()
        is_recent = self.clock() - self.restored_at < timedelta(hours=25)
        assert is_recent or not any("restored" in text for text in obstacles), "a restore stops payments"

    def release(self, store, panel, branch, clock):
        self.payer(store, panel, branch, clock, releases_sent=True).run()

    def decide(self, store, panel, branch, clock):
        undecided = [one for one in self.accounts(branch) if one.reward == "undecided"]
        if undecided:
            who = self.rng.choice(undecided).evaluator
            self.payer(store, panel, branch, clock).decide(who, self.rng.random() < 0.5)

    def accounts(self, branch):
        return [account for _, account in owing.accounts(self.store, branch.study.name).values()]

    def excuse(self):
        """Say that a session broke off through no fault of its person."""
        people = [p for p in self.people if p.state and not p.has_withdrawn]
        if people:
            self._excuse(self.rng.choice(people))

    def _excuse(self, person):
        if self.run(self.broke_off, person.branch, person, kills=False) and person.excused is None:
            person.excused = (person.answered, person.right)

    def pay_a_part(self):
        """Pay somebody whose session broke off once their time has run out; then they may go on."""
        people = [person for person in self.people if person.did == "opened" and person.answered]
        if people:
            person = self.rng.choice(people)
            self._excuse(person)
            self.clock.advance(minutes=40)
            self.run(self.pay, person.branch)
            self.clock.advance(minutes=self.rng.choice([0, 20, 300]))
            self.rng.choice([self.finish, self.finish, self.withdraw_early])(person)

    def broke_off(self, store, panel, branch, clock, person):
        owing.broke_off(store, branch.study, person.session, "the server was down")

    def close_somebodys(self):
        """Close what is open for somebody, long before the end."""
        people = [person for person in self.people if person.session]
        if people:
            person = self.rng.choice(people)
            person.is_closed |= self.run(self.close, person.branch, person.session, kills=False)

    def close(self, store, panel, branch, clock, who):
        owing.close(store, branch.study, who, "not to be paid", clock())

    # the server's part that may be killed

    def withdrawal(self, store, panel, branch, clock, person):
        withdraw(store, branch.study, person.session, stamp(clock()))

    def call(self):
        """Pause the study for which people wait, or call them."""
        name, is_to_pause = self.branch.study.name, not is_paused(self.store, self.branch.study.name)
        set_paused(self.store, name, is_to_pause, stamp(self.clock()))
        if not is_to_pause:
            ends = sum(person.ended_early for person in self.of_branch(self.branch))
            self.branch.ends_allowed = ends

    # other stores

    def back_up(self):
        people = [(p, {name: copying.copy(getattr(p, name)) for name in OF_A_SESSION}) for p in self.people]
        self.backup = self.store.backup(), people

    def restore(self):
        """Go back to the backup, or to a copy that takes over."""
        if self.backup is None:
            return
        store, people = self.backup
        paid = self.asked()
        before = {id(person): facts for person, facts in people}
        for person in self.people:
            _go_back(person, before.get(id(person)), paid)
        self.store, self.backup = store, None
        self.clock.advance(seconds=1)
        self.before_restore = paid
        self.counts.deeds["restore"] += 1
        self.restored_at = self.clock()
        if self.rng.random() < 0.5:
            store.write_entry(RESTORES, stamp(self.clock()), 0, {"taken_at": ""})
            return
        for branch in self.branches:
            self.clock.advance(seconds=1)
            owing.change_funds(
                store, branch.study.name, lambda now: dataclasses.replace(now, paid_from="lost")
            )
            owing.take_over(store, branch.study.name, stamp(self.clock()))

    def go_back_at_once(self):
        """Restore what has just been backed up: nothing is lost, and bonuses wait all the same."""
        self.back_up()
        self.restore()

    def answer_again(self):
        """Restore a backup after somebody finished and was paid, who then gives the same answers again."""
        opened = [person for person in self.people if person.did == "opened"]
        if not opened:
            return
        person = self.rng.choice(opened)
        self.back_up()
        self.finish(person)
        right = person.right
        for days in (0, 0, 1):
            self.clock.advance(days=days, minutes=20)
            self.run(self.reconcile, person.branch, kills=False)
            self.run(self.pay, person.branch, kills=False)
        self.restore()
        if person.did == "opened" and self._answer(person, IMAGES, "finished", right):
            person.did = "finished"

    def take_another_over(self):
        """Have the store take over the ledger of a study that has nothing to do with these."""
        owing.note_restore(self.store, "another", stamp(self.clock()), "elsewhere")

    def move(self):
        """Move everything to another store, and try again whenever that is killed."""
        target = MemoryStore()
        for branch in reversed(self.branches):
            while not self.run(self.move_one, branch, target):
                self.run(self.pay, branch)
        self.store = target

    def move_one(self, store, panel, branch, clock, target):
        copy.copy(store, target, branch.study.name, names=("one", "other"), moves=True)

    # the end

    def close_all(self):
        """Close what is still open, as somebody does who wants to be done with the studies."""
        for branch in self.branches:
            owing.enter_all(self.store, branch.study, self.clock())
            if any(account.reward == "intended" for account in self.accounts(branch)):
                self.run(self.release, branch, kills=False)
            for account in self.accounts(branch):
                if not account.is_paid:
                    who = account.session or account.evaluator
                    owing.close(self.store, branch.study, who, "over", self.clock())

    def forget(self):
        self.clock.advance(days=31)
        now = self.clock()
        self.watch().reconcile_all()
        for branch in self.recruiting:
            with suppress(PanelRefused):  # over already
                recruiting.change(self.store, self.panel(), branch.study, "stop")
        for branch in self.branches:
            retention.apply(self.store, retention.due(self.store, branch.study, now, keep_days=30), now)

    def delete_all(self):
        for branch in self.branches:
            delete.mark(self.store, branch.study, self.clock())


def _go_back(person, facts, paid):
    """Give a person the facts of a backup, None if they came later.

    Where nothing was owed by then, all that is owed later is paid besides what the restore took back.

    Args:
        paid: how often each (submission, kind, cents) was paid.
    """
    facts = facts or {name: getattr(_NEW, name) for name in OF_A_SESSION}
    own = [(kind, n * cents) for (id, kind, cents), n in paid.items() if id == person.place.id]
    if any(getattr(person, name) != value for name, value in facts.items()):
        person.lost = sum(cents for _, cents in own)
    for name, value in facts.items():
        setattr(person, name, value)
    is_owed = person.state not in ("", "active") or person.has_withdrawn or person.excused or person.wait
    bonuses = sum(cents for kind, cents in own if kind == "bonus")
    person.lost_surely = 0 if is_owed or person.test_right is not None else bonuses
