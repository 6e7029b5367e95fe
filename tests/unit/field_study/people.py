"""People who take part, in every way that people do; each remembers what they did, and so what is due."""

import base64
import dataclasses
import hashlib
import hmac
import json
from contextlib import suppress
from dataclasses import dataclass, field

from backend.experiment import session as sessions
from backend.experiment.panel import PROLIFIC_STUDY
from backend.foundation.errors import Conflict, NotAllowed, NotFound, TooMany, Unavailable
from backend.foundation.timestamps import stamp
from backend.panels import prolific_events
from backend.payment import screened_out
from backend.recruitment import recruit as recruiting
from backend.recruitment.sync_thread import Watch
from backend.studies.pausing import is_paused
from backend.studies.withdrawals import BOOK as WITHDRAWN
from backend.task.access import SessionAccess
from backend.task.opening import Opening
from backend.task.place_check import PlaceCheck
from backend.task.requests import Opening as Request
from backend.task.visitors import Visitors
from backend.task.waiting import Waiting
from backend.task.withdrawal import withdraw
from tests.prolific import Refusal

BASE, BONUS, IMAGES = 200, 2, 10
TEST_BASE, TEST_BONUS, TEST_IMAGES = 60, 2, 8
MINUTE, MINUTES_EACH, MINUTES = 8, 4, 9
"""Pay for a minute of waiting, of which two pay as much as the bonus of a test; the most minutes of one, and
of all."""
HASH_KEY, SECRET = b"k" * 32, "hook-secret"
_REFUSALS = (NotAllowed, Unavailable, TooMany, Conflict)


@dataclass
class Person:
    """Somebody who took a place, and what they did."""

    branch: object = field(default=None, repr=False)
    place: object = None
    did: str = "came"
    session: str = ""
    token: str = ""
    state: str = ""
    """Of the session, by what its person did: `active`, `finished`, `ended`, `broken_off`, ''."""
    answered: int = 0
    right: int = 0
    has_withdrawn: bool = False
    excused: tuple | None = None
    """(answered, right) when the researcher said that the session broke off through no fault of theirs."""
    test_right: int | None = None
    """Right answers in a test that was taken on the way; None without one."""
    test: str = ""
    """Token of the test's session."""
    wait: dict | None = None
    """The wait that the person's page holds: its token, and what this person reckons to be owed."""
    is_closed: bool = False
    """Whether the researcher closed what was open."""
    lost: int = 0
    """What was paid for what a restore took back."""
    lost_surely: int = 0
    """Of that, what must not be taken for what was owed since."""
    is_late: bool = False
    """Whether the time at the panel had run out when the session was finished."""

    @property
    def earned(self):
        """What the session has earned by the table of docs/paying.md."""
        branch = self.branch
        if self.state in ("finished", "ended"):
            return branch.base + branch.bonus * self.right
        is_part = self.state == "broken_off" or self.has_withdrawn
        return branch.part(self.answered, self.right) if is_part else 0

    @property
    def ended_early(self):
        """Whether the session is paid and leaves its place to another."""
        return self.state in ("ended", "broken_off") or (self.has_withdrawn and self.earned > 0)

    @property
    def link(self):
        place = self.place
        return {
            "PROLIFIC_PID": place.participant,
            PROLIFIC_STUDY: place.study,
            "SESSION_ID": place.id,
        }


class People:
    """What people do, part of `FieldStudy`."""

    # the server that they come to

    def watch(self, has_thread=False):
        """Return what watches the panel; a thread that is wanted is never started, and so does nothing."""
        return Watch(self.store, self.panel(), SECRET, clock=self.clock, has_thread=has_thread)

    def access(self):
        """Return the server's access to sessions; it may end before it has told the panel of what closed."""
        watch = self.watch(has_thread=self.rng.random() < 0.5) if self.asks_panel else None
        return SessionAccess(self.store, HASH_KEY, self.clock, watch)

    def server(self):
        """Return (opening, waiting) of the service, as it is for one request."""
        watch = self.watch() if self.asks_panel else None
        access = SessionAccess(self.store, HASH_KEY, self.clock, watch)
        visitors = Visitors(access)
        if watch:
            visitors.places = PlaceCheck(self.store, HASH_KEY, self.clock, watch.panel, sleep=lambda _: None)
        return Opening(access, visitors, self.rng), Waiting(access, visitors)

    def hear(self):
        """Have the panel tell the server of a place, perhaps twice."""
        if not (self.people and self.asks_panel):
            return
        place = self.rng.choice(self.people).place
        data = {"event_type": "submission.status.change", "resource_id": place.id}
        body, at = json.dumps(data).encode(), str(int(self.clock().timestamp()))
        signed = hmac.new(SECRET.encode(), at.encode() + body, hashlib.sha256).digest()
        self.events.append(f"event{self.rng.randrange(10**6)}")
        headers = {
            prolific_events._ID: self.events[-1],
            prolific_events._TIMESTAMP: at,
            prolific_events._SIGNATURE: base64.b64encode(signed).decode(),
        }
        for _ in range(self.rng.choice([1, 2])):
            self.watch().heard(headers, body)

    # coming

    def arrive(self):
        """Have somebody take a place and open a session, if they are let in."""
        branch = self.rng.choice(self.recruiting)
        called = self.waiters if branch is self.branch and self.rng.random() < 0.7 else []
        try:
            who = self.rng.choice(called).place.participant if called else None
            place = self.books.take(self.panel_study(branch), who)
        except Refusal:
            return
        self.counts.people += 1
        person = Person(branch, place)
        self.people.append(person)
        if self.rng.random() < 0.1:
            return  # never came
        self.books.start(place.id)
        if self.rng.random() < 0.1:
            person.did = "nocode"
            self.submit(person, "NOCODE")
            return
        self.enter(person)

    @property
    def waiters(self):
        return [person for person in self.people if person.wait]

    def enter(self, person):
        """Have somebody who holds a place come to the page, and take the test first if they are asked to."""
        if self.test is None and self.rng.random() < 0.1:
            self._screen_out(person)
            return
        stage = self._open(person, person.branch.study.name)
        if stage == "qualification":
            stage = self._take_test(person)
        if stage == "":
            self.leave(person, self.rng.choice(["no_consent", "unfit_device", ""]))

    def _open(self, person, name):
        """Return what comes first, a session or a test; '' if the person is not let in."""
        for _ in range(4):  # as the page does
            request = Request(panel=person.link, consent_version="1", qualification_token=person.test or None)
            faults = self.counts.faults.total()
            try:
                opened = self.server()[0].open(name, request)
            except _REFUSALS as error:
                self.counts.refusals[error.code] += 1
                if error.code == "study_full" and faults == self.counts.faults.total():
                    self.check_full(person)
                continue
            if opened["stage"] == "session":
                self._hold(person, name, opened["token"])
            return opened["stage"]
        return ""

    def _hold(self, person, name, token):
        if name != person.branch.study.name:
            person.test = token
            return
        person.session, person.token = token.partition(".")[0], token
        person.state, person.did, person.answered, person.right = "active", "opened", 0, 0

    def _take_test(self, person):
        """Have somebody take the test on the way to the study; return as `_open`, "out" if they failed it."""
        if self._open(person, self.test.study.name) != "session":
            return ""
        right = self.rng.choice([TEST_IMAGES, TEST_IMAGES, TEST_IMAGES, 0])
        self._move(person.test.partition(".")[0], TEST_IMAGES, right, "finished")
        person.test_right = right
        if right:
            return self._open(person, person.branch.study.name)
        person.did = "left"
        for _ in range(4):  # as the page does
            with suppress(*_REFUSALS):
                self.server()[0].leave(person.branch.study.name, "screened_out", person.link, person.test)
                person.did = "screened out"
                break
        if not screened_out.is_paid_by_panel(self.store, person.branch.study):
            self.submit(person, self.codes(person.branch)["screened_out"])
        return "out"

    def _screen_out(self, person):
        """Have somebody screened out by the panel's own question, or by the server."""
        person.did = "screened out"
        if screened_out.is_paid_by_panel(self.store, person.branch.study):
            screened_out.note(self.store, person.branch.study, person.link, stamp(self.clock()))
        else:
            self.submit(person, self.codes(person.branch)["screened_out"])

    def intrude(self):
        """Have a stranger come with ids of their own making, or another person's; nobody lets them in."""
        self.counts.strangers += 1
        known = self.rng.choice(self.people).place if self.people else None
        id = f"{self.rng.getrandbits(96):024x}"
        study = self.panel_study(self.branch)
        link = {"PROLIFIC_PID": id, PROLIFIC_STUDY: study, "SESSION_ID": known.id if known else id}
        check = PlaceCheck(self.store, HASH_KEY, self.clock, self.panel(), sleep=lambda _: None)
        with suppress(*_REFUSALS):
            check.check(self.branch.study, link, None)
            raise AssertionError("a stranger was let in")

    # taking part

    def somebody_goes_on(self):
        """Have somebody who is at it do something."""
        opened = [person for person in self.people if person.did == "opened"]
        lost = [p for p in self.people if p.did == "lost" and p.place.status == "ACTIVE"]
        if lost and self.rng.random() < 0.3:
            self.enter(self.rng.choice(lost))
        elif opened:
            deeds = [self.finish] * 6 + [self._end_early] * self.early_rate + [self._stay_away] * 2
            deeds += [self.withdraw_early, self._return, self._nocode, self._decline]
            self.rng.choice(deeds)(self.rng.choice(opened))

    def others_come(self):
        """Have somebody fall silent, or be rejected; others come meanwhile, and then the first goes on."""
        if not self.people:
            return
        waiting = [p for p in self.people if p.place.status == "AWAITING REVIEW" and p.state == "finished"]
        opened = [person for person in self.people if person.did == "opened"]
        first = self.rng.choice(opened) if opened else None
        if first:
            self.clock.advance(minutes=self.rng.choice([20, 70, 200]))
        if waiting and self.rng.random() < 0.3:
            with suppress(Refusal):
                self.books.reject(self.rng.choice(waiting).place.id)
        for _ in range(self.rng.randint(1, 5)):
            self.arrive()
            if self.people[-1].did == "opened" and self.people[-1] is not first:
                (self.finish if self.early_rate == 1 else self._end_early)(self.people[-1])
        if first and first.did == "opened":
            self.finish(first)

    def begin_again(self):
        """Have somebody begin again in another browser, where visits may be repeated."""
        people = [p for p in self.people if p.did == "opened" and p.answered and not p.excused]
        people = [person for person in people if person.branch.study.protocol.admission.repeat_visits]
        people = [person for person in people if person.place.status == "ACTIVE"]
        if people:
            before = self.counts.refusals["already_started"]
            self._open(self.rng.choice(people), self.branch.study.name)
            assert self.counts.refusals["already_started"] == before, "an abandoned session bars its person"

    def _move(self, session, answered, right, state, **changes):
        """Have the server store answers; return whether the session was still open."""
        access = self.access()

        def rule(now):
            if now.state != "active":
                return now
            after = dataclasses.replace(
                now, trial_index=answered, blocks_begun=1, last_at=access.now(),
                right={"real": right // 2, "fake": right - right // 2}, **changes,
            )  # fmt: skip
            if state == "ended early":
                return sessions.end(after, now.lease, access.now())
            return dataclasses.replace(after, version=now.version + 1, state=state)

        with suppress(NotFound, Conflict):
            stored = access.session(session)
            before = access.cursor(session)
            return access.change(access.study_of(stored), stored, rule).version != before.version
        return False

    def _answer(self, person, upto, state="active", right=None):
        upto = min(upto, person.branch.images - (state != "finished"))
        answered = upto if state == "finished" else self.rng.randint(person.answered, upto)
        more = answered - person.answered
        if right is None:
            right = person.right + (more if person.branch is self.test else self.rng.randint(0, more))
        is_late = person.place.status not in ("RESERVED", "ACTIVE")
        if not self._move(person.session, answered, right, state):
            return self._has_lapsed(person)
        person.answered, person.right, person.state, person.is_late = answered, right, state, is_late
        return True

    def _has_lapsed(self, person):
        """Note whether a session that could not go on has lapsed; return False."""
        with suppress(NotFound):
            if self.store.cursor(person.session).state == sessions.LAPSED:
                assert not self.asks_panel, "a session lapsed whose place the panel can be asked for"
                person.did = "lapsed"
                self.counts.deeds["lapse"] += 1
        return False

    def finish(self, person):
        if not self._answer(person, IMAGES, "finished"):
            return
        person.did = "finished"
        if not person.branch.by_server:
            self.submit(person, self.codes(person.branch)["done"])
        if self.rng.random() < 0.25:
            self.withdraw(person)
            if self.rng.random() < 0.5:
                self.give_back(person)
        elif self.rng.random() < 0.1:
            self.give_back(person)

    def _end_early(self, person):
        """Have somebody end after five flashes in a row that were not seen as planned.

        Of some the person was the cause, as by another tab; more may have failed before.
        """
        upto = min(person.answered + 3, person.branch.images - 1)
        answered, tried = self.rng.randint(person.answered, upto), self.rng.choice([0, 3, 4, 5, 7])
        voids = ((answered, "spare"),) * sessions.MISTIMED_BEFORE_ASKING
        changes = {"voids": voids, "voided_answers": len(voids), "failed_flashes": tried}
        if not self._move(person.session, answered, person.right, "ended early", **changes):
            self._has_lapsed(person)
            return
        person.answered = min(answered + len(voids), person.branch.images)
        person.did = person.state = "ended" if tried >= 5 else "broken_off"
        self.counts.deeds[person.did] += 1
        if person.state == "broken_off":
            self.rng.choice([self._give_fault, self._give_fault, self._nocode, self.give_back])(person)
        elif not person.branch.by_server:
            self.submit(person, self.codes(person.branch)["done"])

    def _give_fault(self, person):
        """Go back with the code for technical problems, by which the panel asks for the place."""
        self.leave(person, "fault")

    def withdraw_early(self, person):
        if self._answer(person, IMAGES - 1):
            self.withdraw(person)
            self.rng.choice([self.give_back, self._nocode, lambda _: None])(person)

    def withdraw(self, person):
        """Have a session withdrawn; the server may be killed over it, and goes on with it later."""
        if self.store.cursor(person.session).state == "returned":
            return
        is_done = self.run(self.withdrawal, person.branch, person, within=20)
        if not is_done and self.rng.random() < 0.5:
            self.give_back(person)
            self.run(self.reconcile, person.branch, kills=False)
        withdraw(self.store, person.branch.study, person.session, stamp(self.clock()))
        person.has_withdrawn = self.store.entry(WITHDRAWN, person.session).data["state"] != "returned"
        person.did = "withdrew"

    def _return(self, person):
        self._answer(person, IMAGES - 1)
        self.give_back(person)

    def _decline(self, person):
        self.leave(person, self.rng.choice(["no_consent", "unfit_device"]))

    def _stay_away(self, person):
        self._answer(person, IMAGES - 1)

    def _nocode(self, person):
        self.submit(person, "NOCODE")

    def leave(self, person, outcome):
        if person.did == "came":
            person.did = outcome or "left"
        if outcome:
            self.submit(person, self.codes(person.branch)[outcome])
        if self.rng.random() < 0.5:
            self.give_back(person)

    def submit(self, person, code):
        with suppress(Refusal):
            self.books.submit(person.place.id, code)

    def give_back(self, person):
        with suppress(Refusal):
            self.books.give_back(person.place.id)

    def come_late(self):
        """Have somebody hand in a place whose time has run out."""
        late = [p for p in self.people if p.place.status == "TIMED-OUT" and p.did != "screened out"]
        if late:
            self.submit(self.rng.choice(late), "NOCODE")

    # waiting to be called

    def wait(self):
        """Have somebody who passed the test wait for the call, for some beats of the page."""
        tested = [p for p in self.people if p.branch is self.test and p.state == "finished"]
        if not tested:
            return
        person = self.rng.choice(tested)
        with suppress(*_REFUSALS):
            token = self.server()[1].wait(self.branch.study.name, person.link, person.token)["token"]
            before = person.wait or {"seconds": 0, "minutes": 0}
            person.wait = {**before, "token": token, "in_vain": self._is_in_vain()}
            for _ in range(self.rng.choice([1, 3, 6, 6])):
                self._beat(person)

    def _is_in_vain(self):
        study = self.branch.study
        return not is_paused(self.store, study.name) or self.finished(self.branch) >= study.evaluators_wanted

    def _beat(self, person):
        self.clock.advance(seconds=20)
        wait, study = person.wait, self.branch.study.name
        self.server()[1].sign(study, wait["token"].partition(".")[0], wait["token"], True, True)
        wait["seconds"] += 0 if wait["in_vain"] else 20
        wait["in_vain"] = self._is_in_vain()
        left = MINUTES - sum(other.wait["minutes"] for other in self.waiters)
        due = min(-(-wait["seconds"] // 60), MINUTES_EACH) - wait["minutes"]
        wait["minutes"] += max(min(due, left), 0)

    def finished(self, branch):
        """Return how many finished, and did not withdraw or lose their place since, as the store has it."""
        return self.store.finished(branch.study.name)[0]

    def codes(self, branch):
        return recruiting.recruitment(self.store, branch.study)["codes"]
