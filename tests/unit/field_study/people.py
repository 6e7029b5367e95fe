"""People who take part, in every way that people do; each remembers what they did, and so what is due."""

import base64
import dataclasses
import hashlib
import hmac
import json
from contextlib import suppress
from dataclasses import dataclass, field

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
    """Of the session, by what its person did: `active`, `finished` or `ended`; '' without one."""
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

    def watch(self):
        return Watch(self.store, self.panel(), SECRET, clock=self.clock, has_thread=False)

    def server(self):
        """Return (opening, waiting) of the service, as it is for one request."""
        access = SessionAccess(self.store, HASH_KEY, self.clock, self.watch())
        visitors = Visitors(access)
        panel = access.watch.panel
        visitors.places = PlaceCheck(self.store, HASH_KEY, self.clock, panel, sleep=lambda _: None)
        return Opening(access, visitors, self.rng), Waiting(access, visitors)

    def hear(self):
        """Have the panel tell the server of a place, perhaps twice."""
        if not self.people:
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
            try:
                opened = self.server()[0].open(name, request)
            except _REFUSALS as error:
                self.counts.refusals[error.code] += 1
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
            deeds = [self.finish] * 6 + [self._end_early, self._return, self._stay_away, self._stay_away,
                     self.withdraw_early, self._nocode, self._decline]  # fmt: skip
            self.rng.choice(deeds)(self.rng.choice(opened))

    def begin_again(self):
        """Have somebody begin again in another browser, where visits may be repeated."""
        people = [p for p in self.people if p.did == "opened" and p.answered and not p.excused]
        people = [person for person in people if person.branch.study.protocol.admission.repeat_visits]
        if people:
            before = self.counts.refusals["already_started"]
            self._open(self.rng.choice(people), self.branch.study.name)
            assert self.counts.refusals["already_started"] == before, "an abandoned session bars its person"

    def _move(self, session, answered, right, state):
        """Have the server store answers; return whether the session was still open."""
        try:
            cursor = self.store.cursor(session)
        except NotFound:
            return False
        if cursor.state != "active":
            return False
        after = dataclasses.replace(
            cursor, version=cursor.version + 1, trial_index=answered, blocks_begun=1, state=state,
            right={"real": right // 2, "fake": right - right // 2}, last_at=stamp(self.clock()),
        )  # fmt: skip
        self.store.move(session, cursor.version, after)
        return True

    def _answer(self, person, upto, state="active"):
        upto = min(upto, person.branch.images - (state != "finished"))
        answered = upto if state == "finished" else self.rng.randint(person.answered, upto)
        more = answered - person.answered
        right = person.right + (more if person.branch is self.test else self.rng.randint(0, more))
        if not self._move(person.session, answered, right, state):
            return False
        person.answered, person.right, person.state = answered, right, state
        return True

    def finish(self, person):
        if not self._answer(person, IMAGES, "finished"):
            return
        person.did = "finished"
        if not person.branch.by_server:
            self.submit(person, self.codes(person.branch)["done"])
        elif self.rng.random() < 0.5:
            session = self.store.session(person.session)
            self.watch().closed(person.branch.study, session)
        if self.rng.random() < 0.25:
            self.withdraw(person)
            if self.rng.random() < 0.5:
                self.give_back(person)
        elif self.rng.random() < 0.1:
            self.give_back(person)

    def _end_early(self, person):
        """The browser cannot show the flashes on time."""
        if self._answer(person, IMAGES - 1, "ended"):
            person.did = "ended"
            if not person.branch.by_server:
                self.submit(person, self.codes(person.branch)["done"])

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
        is_begun = self.store.entry(WITHDRAWN, person.session) is not None
        person.has_withdrawn = is_begun or self.store.cursor(person.session).state != "returned"
        withdraw(self.store, person.branch.study, person.session, stamp(self.clock()))
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
            for _ in range(self.rng.randint(1, 6)):
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
