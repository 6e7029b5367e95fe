"""While the server runs, places are given back and people reported, whatever way the news takes.

The scenario at the end is that of a real recruitment: a hundred people at once for ninety places, some of
whom return theirs or run out of time, with events that come late, twice and out of order, forged ones among
them.
"""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

import pytest

from backend.commands.simulated_evaluators import Client, Refused
from backend.foundation.timestamps import stamp
from backend.handlers import create_app
from backend.panels.prolific import ProlificPanel
from backend.recruitment import recruit as recruiting
from backend.recruitment.recruit import begin, plan
from backend.recruitment.sync_thread import Watch
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web.progress import progress
from backend.web.server import in_background
from tests import prolific
from tests.prolific import Books, Clock
from tests.prolific.server import Fake

from .. import sample_studies as studies
from ..memory import MemoryStore

RARELY_S = 3600


class Site:
    """A server that recruits at a fake panel, both on loopback."""

    def __init__(self, store, data, fake, every_s, **settings):
        self.store, self.fake, self.books = store, fake, fake.books
        self.panel = ProlificPanel(fake.token, f"{fake.url}/api/v1/", sleep=lambda _: None)
        self.watch = Watch(store, self.panel, fake.webhooks.secret, every_s)
        self.app = create_app(store, data, data.keys(), watch=self.watch)
        values = {"images": 4, "evaluators": 2, "base_usd_cents": 200, "minutes": 10, "panel": "prolific"}
        values |= settings
        self.study = studies.study(**values)
        store.add_study(self.study, studies.pool(self.study, each=20))
        self.truths = {s.name: s.truth for s in store.stimuli("faces")}
        self.url = ""
        self.visitors = []

    def close(self):
        for visitor in self.visitors:
            visitor.http.close()

    def recruit(self, **options):
        self.id = begin(self.store, self.panel, self.study, plan(self.study), self.url, **options)[
            "panel_study"
        ]

    def visit(self, place):
        self.visitors.append(Visitor(self, place))
        return self.visitors[-1]

    def events(self):
        return f"{self.url}/api/panels/prolific/events"

    def states(self):
        return {session.panel["SESSION_ID"]: cursor.state for session, cursor in self.store.sessions("faces")}


class Visitor:
    """Somebody who came with a place."""

    def __init__(self, site, place):
        self.site, self.place, self.http = site, place, Client(site.url)
        site.books.start(place.id)
        self.link = {"PROLIFIC_PID": place.participant, "STUDY_ID": place.study, "SESSION_ID": place.id}

    def open(self):
        opened = self._opened()
        self.path = f"/api/sessions/{opened['state']['session']}"
        self.token = opened["token"]
        self.block = self.http.post(f"{self.path}/blocks", {"lease": 1, "block": 0}, self.token)
        return self

    def _opened(self):
        """Open a session; as on the page, a place that the panel does not know yet is asked for again."""
        body = {"consent_version": "1", "panel": self.link, "device": {}}
        for _ in range(300):
            try:
                return self.http.post("/api/studies/faces/sessions", body)
            except Refused as refusal:
                if refusal.code != "unknown_place":
                    raise
                time.sleep(0.2)
        raise AssertionError("the place stays unknown")

    def answer(self, trials):
        for trial in trials:
            name = self.block["images"][trial].rpartition("/")[2]
            body = {"lease": 1, "trial_index": trial, "stimulus": name, "response": "real", "flags": []}
            reply = self.http.post(f"{self.path}/answers", body, self.token)
        return reply


@pytest.fixture
def make_site(tmp_path):
    with ExitStack() as stack:

        def make(every_s=RARELY_S, **settings) -> Site:
            store = open_store("sqlite:///a.db", tmp_path)
            stack.callback(store.close)
            fake: Fake = stack.enter_context(prolific.running(Books(fee=Fraction(428, 1000))))
            site = Site(store, DataDir(tmp_path), fake, every_s, **settings)
            site.url = stack.enter_context(in_background(site.app))
            site.watch.start()
            stack.callback(site.watch.stop)
            stack.callback(site.close)
            return site

        yield make


def until(is_so, what, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def test_who_is_done_is_reported_at_once_and_not_by_the_reply(make_site):
    site = make_site()
    site.recruit()
    visitor = site.visit(site.books.take(site.id)).open()

    done = visitor.answer(range(4))["done"]

    until(lambda: visitor.place.status == "AWAITING REVIEW", "nobody told the panel")
    codes = recruiting.recruitment(site.store, site.study)["codes"]
    assert visitor.place.entered_code == codes["done_by_server"]
    assert not any(code in json.dumps(done) for code in codes.values())


def test_a_test_participant_walks_the_whole_way_and_counts_for_nothing(make_site):
    site = make_site()
    site.books.workspace.features = frozenset({"test_participants"})
    recruiting.prepare(site.store, site.panel, site.study, plan(site.study), site.url)
    rehearsal = recruiting.rehearse(site.store, site.panel, site.study, "test@lab.example")["rehearsal"]
    (participant,) = site.books.test_participants
    tester = site.visit(site.books.take(rehearsal["panel_study"], participant)).open()

    done = tester.answer(range(4))["done"]

    until(lambda: tester.place.status == "AWAITING REVIEW", "nobody told the panel")
    assert done["redirect_url"] == "https://app.prolific.com/submissions"
    assert list(site.store.sessions("faces")) == []
    assert [cursor.state for _, cursor in site.store.sessions("faces", simulated=True)] == ["finished"]
    assert progress(site.store, site.study)["owed_usd_cents"] == 0
    site.recruit()
    evaluator = site.visit(site.books.take(site.id)).open()
    assert site.states() == {evaluator.place.id: "active"}


def test_nobody_names_a_rehearsal_whose_place_is_in_the_study_itself(make_site):
    site = make_site()
    site.books.workspace.features = frozenset({"test_participants"})
    recruiting.prepare(site.store, site.panel, site.study, plan(site.study), site.url)
    rehearsal = recruiting.rehearse(site.store, site.panel, site.study, "test@lab.example")["rehearsal"]
    site.recruit()
    visitor = site.visit(site.books.take(site.id))
    visitor.link["STUDY_ID"] = rehearsal["panel_study"]

    with pytest.raises(Refused, match="another person's") as refused:
        visitor.open()

    assert refused.value.code == "wrong_place"


def test_a_signed_event_has_its_place_read(make_site):
    site = make_site()
    site.recruit()
    visitor = site.visit(site.books.take(site.id)).open()
    site.books.give_back(visitor.place.id)

    statuses = site.fake.webhooks.deliver(site.events(), site.fake.webhooks.events[-1:])

    assert statuses == [200]
    until(lambda: site.states()[visitor.place.id] == "returned", "the event had no effect")


def test_events_that_lie_repeat_or_are_forged_change_nothing(make_site):
    site = make_site()
    site.recruit()
    site.recruit()
    visitor = site.visit(site.books.take(site.id)).open()
    outbox = site.fake.webhooks
    outbox._happened("submission.status.change", visitor.place.id, "RETURNED", visitor.place)  # a lie, signed
    lie = outbox.events[-1]
    read = len(site.fake.calls)

    forged = outbox.deliver(site.events(), [lie], secret="guessed")
    told = outbox.deliver(site.events(), [lie] * 3)
    until(lambda: len(site.fake.calls) > read, "no place was read")
    visitor.answer(range(4))

    assert (forged, told) == ([403], [200, 200, 200])
    until(lambda: visitor.place.status == "AWAITING REVIEW", "the session was lost")
    assert site.states() == {visitor.place.id: "finished"}
    reads = [call for call in site.fake.calls[read:] if call.startswith("GET")]
    assert len(reads) == 2  # one for the event, one for the session that closed


def test_names_of_events_are_forgotten_when_they_can_no_longer_come_again():
    store, books, clock = MemoryStore(), Books(), Clock(datetime(2026, 1, 1, tzinfo=UTC))
    watch = Watch(store, Fake(books).panel(), "secret", clock=clock, has_thread=False)
    for hours in (0, 23, 25):
        store.write_entry(
            "events prolific", f"event{hours}", 0, {"at": stamp(clock() - timedelta(hours=hours))}
        )

    watch.reconcile_all()

    assert [entry.key for entry in store.entries("events prolific")] == ["event0", "event23"]


def test_the_next_owner_of_a_place_is_admitted_before_anybody_told_of_its_return(make_site):
    site = make_site()
    site.recruit()
    visitors = [site.visit(site.books.take(site.id)).open() for _ in range(4)]
    site.books.give_back(visitors[2].place.id)

    site.visit(site.books.take(site.id)).open()

    assert site.states()[visitors[2].place.id] == "returned"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"SESSION_ID": "f" * 24}, "unknown_place"),
        pytest.param(
            {"SESSION_ID": "../../studies/1"},
            "unknown_place",
            marks=pytest.mark.slow("waits for a place that may not be known yet, as the one before"),
        ),
        ({"PROLIFIC_PID": "f" * 24}, "wrong_place"),
        ({"STUDY_ID": "f" * 24}, "wrong_place"),
        ({"SESSION_ID": ""}, "no_place"),
        ({"PROLIFIC_PID": ""}, "no_place"),
    ],
)
def test_a_stranger_with_ids_of_their_own_making_does_not_come_in(make_site, changes, code):
    site = make_site()
    site.recruit()
    visitor = site.visit(site.books.take(site.id))
    link = {**visitor.link, **changes}

    for path, body in (("sessions", {"consent_version": "1"}), ("admission", {})):
        with pytest.raises(Refused, match=r"this submission|have a submission") as refused:
            visitor.http.post(f"/api/studies/faces/{path}", {**body, "panel": link})
        assert refused.value.code == code
    assert site.states() == {}


@pytest.mark.parametrize(
    ("how", "code"),
    [("give_back", "returned"), ("time_out", "returned"), ("reject", "already_finished")],
)
def test_a_place_that_is_over_lets_nobody_in(make_site, how, code):
    site = make_site()
    site.recruit()
    visitor = site.visit(site.books.take(site.id))
    if how == "reject":
        site.books.submit(visitor.place.id, "NOCODE")
    getattr(site.books, how)(visitor.place.id)

    with pytest.raises(Refused, match="this submission") as refused:
        visitor.open()

    assert refused.value.code == code


def test_a_pass_stands_for_the_place_and_for_no_other(make_site):
    site = make_site()
    site.recruit()
    visitor, other = (site.visit(site.books.take(site.id)) for _ in "12")
    admission = visitor.http.post("/api/studies/faces/admission", {"panel": visitor.link})
    asked = len(site.fake.calls)

    body = {"consent_version": "1", "panel": visitor.link, "signature": admission["pass"]}
    assert visitor.http.post("/api/studies/faces/sessions", body)["stage"] == "session"

    assert len(site.fake.calls) == asked
    stolen = {**body, "panel": {**other.link, "SESSION_ID": "f" * 24}}
    with pytest.raises(Refused, match="does not know this submission"):
        other.http.post("/api/studies/faces/sessions", stolen)


def test_a_panel_that_cannot_be_asked_lets_nobody_in_and_says_so(make_site, caplog):
    site = make_site()
    site.recruit()
    inside, visitor = (site.visit(site.books.take(site.id)) for _ in "12")
    inside.open()
    site.books.rotate_token()
    reply = site.app.test_client().post("/api/studies/faces/admission", json={"panel": visitor.link})
    inside.answer(range(4))

    assert (reply.status_code, reply.json["error"]["code"]) == (503, "unavailable")
    assert site.states() == {inside.place.id: "finished"}
    (warning,) = progress(site.store, site.study)["warnings"]
    assert "Prolific refuses the token since" in warning
    assert [record.levelname for record in caplog.records if "refuses the token" in record.message] == [
        "ERROR"
    ]


def test_without_a_panel_no_event_is_taken(world):
    reply = world.http.post("/api/panels/prolific/events", data=b"{}")

    assert (reply.status_code, reply.json["error"]["code"]) == (403, "no_webhooks")


def test_a_panel_that_fails_is_asked_again(make_site, caplog):
    site = make_site(every_s=0.1)
    site.recruit()
    visitor = site.visit(site.books.take(site.id)).open()
    site.fake.fail("GET", "/submissions/", 500, times=30)
    site.books.give_back(visitor.place.id)

    until(lambda: site.states()[visitor.place.id] == "returned", "the watch gave up")

    assert visitor.place.id not in caplog.text
    assert visitor.place.participant not in caplog.text


PLACES = 90


class Crowd:
    """People who keep coming, a hundred at a time: of ten, two return their place and one goes silent."""

    def __init__(self, site, seed):
        self.site, self.seed = site, seed
        self.over = threading.Event()
        self.turned_away, self.came, self.lock = [], 0, threading.Lock()

    def come(self, number):
        rng = Random(f"{self.seed} {number}")
        while not self.over.is_set():
            try:
                place = self.site.books.take(self.site.id)
            except prolific.Refusal:
                time.sleep(0.02)
                continue
            with self.lock:
                self.came += 1
            self._take_part(place, rng)

    def _take_part(self, place, rng):
        visitor = self.site.visit(place)
        fate = rng.choices(["finishes", "returns", "times out"], [7, 2, 1])[0]
        answers = 4 if fate == "finishes" else rng.randrange(5)
        try:
            visitor.open()
            for trial in range(min(answers, 4)):
                visitor.answer([trial])
        except Refused as refusal:
            self.turned_away.append((fate, refusal.code))
        finally:
            visitor.http.close()
        if fate == "returns":
            self._leave(self.site.books.give_back, place)
        elif fate == "times out" and answers < 4:
            self._leave(self.site.books.time_out, place)

    def _leave(self, how, place):
        with suppress(prolific.Refusal):  # too late: the panel counts it as done
            how(place.id)


def tell_badly(site, rng, over):
    """Deliver events late, twice and out of order, forged ones among them; some never."""
    sent = 0
    while not over.is_set():
        time.sleep(0.3)
        events = site.fake.webhooks.events[sent:]
        sent += len(events)
        some = [event for event in events if rng.random() < 0.8]
        some += rng.sample(some, len(some) // 4)
        rng.shuffle(some)
        site.fake.webhooks.deliver(site.events(), some[:40])
        site.fake.webhooks.deliver(site.events(), some[:3], secret="guessed")


@pytest.mark.slow("a hundred people play at once")
def test_a_hundred_people_at_once_for_ninety_places_end_with_thirty_for_each_model(make_site):
    site = make_site(every_s=1, models=("gan", "vae", "flow"), evaluators=30)
    cost = plan(site.study).total_cents
    site.recruit(budget_cents=2 * cost)
    crowd, most_open = Crowd(site, 7), {"panel": 0, "here": 0, "model": 0}

    def look():
        while not crowd.over.is_set():
            taken = site.store.taken("faces", "2020")
            study = site.books.study(site.id)
            most_open["panel"] = max(most_open["panel"], study["places_taken"])
            most_open["here"] = max(most_open["here"], sum(taken.values()))
            most_open["model"] = max(most_open["model"], *taken.values(), 0)
            time.sleep(0.05)

    with ThreadPoolExecutor(103) as pool:
        runs = [pool.submit(crowd.come, i) for i in range(100)]
        runs += [pool.submit(look), pool.submit(tell_badly, site, Random(1), crowd.over)]
        try:
            until(lambda: is_over(site) or crowd.turned_away, "the study did not end", 240)
        finally:
            crowd.over.set()
        for run in runs:
            run.result()
    assert crowd.turned_away == []
    site.watch.read_places(site.study)

    finished = {}
    for session, cursor in site.store.sessions("faces"):
        if cursor.state == "finished":
            finished.setdefault(session.model, []).append(session.panel["SESSION_ID"])
    statuses = {place.id: place.status for place in site.books.places_of(site.id)}
    gone = {id for id, status in statuses.items() if status in ("RETURNED", "TIMED-OUT")}
    allowed = site.books.study(site.id)["total_available_places"]
    assert {model: len(ids) for model, ids in finished.items()} == {"gan": 30, "vae": 30, "flow": 30}
    assert {statuses[id] for ids in finished.values() for id in ids} == {"AWAITING REVIEW"}
    assert not gone & {id for ids in finished.values() for id in ids}
    assert len(gone) > 10
    assert most_open["model"] <= 30
    assert most_open["here"] <= PLACES
    assert most_open["panel"] <= allowed
    assert allowed * cost / PLACES <= 2 * cost
    assert site.books.total_with_fees() == 0


def is_over(site):
    state = recruiting.recruitment(site.store, site.study)["state"]
    waiting = {"RESERVED", "ACTIVE"} & {place.status for place in site.books.places_of(site.id)}
    return state == "full" and not waiting
