"""Six instances of the packaged function, killed at random, on a failing table: nothing lost or doubled.

Then payers that are killed, too, pay everybody over the same table. What is exported is what was answered.
`SUITE_FIRST_SEED` has others be killed, at other times.
"""

import csv
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from datetime import timedelta
from random import Random

import pytest

from backend.commands.simulated_evaluators import Client, Refused
from backend.experiment import session as sessions
from backend.foundation.errors import Unavailable
from backend.payment import accounts as owing
from backend.payment.payer import Payer
from backend.responses.export import export, table_path
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from tests import dynamodb, function
from tests.cloudfront import Cloudfront, serving
from tests.faults import FaultyServer
from tests.prolific import Books, Fake
from tests.switches import number
from tests.unit.whole_sessions import take_part

from .. import sample_studies as studies
from ..payday import FEE, order
from ..payment.test_payer_faults import PANEL_CALLS, STORE_CALLS, Fate, Fated, Killed

INSTANCES, EACH_DOUBLED = 6, 15
KILL_EACH_S, MOST_KILLS, KILLED_PAYERS = 0.7, 120, 14
SEED = number("SUITE_FIRST_SEED", 5)
BASE, BONUS = 100, 2
STUDIES = [
    ("infinity", 24, {"images": 20}),
    ("time", 12, {"images": 16, "blocks": 2}),
]
TIMEOUT_S = 15
BEGIN_WITHIN_MINUTES = 1
SPARE = 3
"""Places of each model beyond those of the people: an opening that dies holds its place for a minute."""


class Instance:
    """A function that is replaced when it dies; CloudFront now and then sends it a request twice."""

    def __init__(self, environment, counts):
        self.environment, self.counts = environment, counts
        self.running = function.Function("api", environment)
        self.lock = threading.Lock()

    def invoke(self, event):
        self.counts["requests"] += 1
        began = time.monotonic()
        reply = self._once(event)
        if self.counts["requests"] % EACH_DOUBLED == 0:
            self.counts["doubled"] += 1
            reply = self._once(event)
        self.counts["longest_ms"] = max(self.counts["longest_ms"], int(1000 * (time.monotonic() - began)))
        return reply

    def _once(self, event):
        try:
            return self.running.invoke(event)
        except (AssertionError, OSError, ValueError):
            with self.lock:
                if self.running.is_dead():
                    self.running.close()
                    self.running = function.Function("api", self.environment)
            body = json.dumps({"error": {"code": "bad_gateway", "message": "the function died"}})
            return {"statusCode": 502, "headers": {"Content-Type": "application/json"}, "body": body}

    def kill(self):
        self.counts["kills"] += 1
        self.running.kill()


@pytest.fixture
def emulator(tmp_path):
    running = dynamodb.dynalite(tmp_path / "level")
    yield running
    running.stop()


class Noting(Client):
    """A client that notes which answers the server acknowledged."""

    def __init__(self, url):
        super().__init__(url)
        self.acknowledged = []

    def post(self, path, body, token=None):
        reply = super().post(path, body, token)
        if path.endswith("/answers"):
            session = path.split("/")[3]
            self.acknowledged.append((session, str(body["trial_index"]), body["response"]))
        return reply


@pytest.mark.slow("instances of the packaged functions run under faults")
@pytest.mark.parametrize(("method", "people", "settings"), STUDIES, ids=[name for name, *_ in STUDIES])
def test_everybody_finishes_and_is_paid_once_and_nothing_is_lost_or_doubled(
    emulator, tmp_path, method, people, settings
):
    create_table(emulator.url("faults"))
    store = open_store(emulator.url("faults"), tmp_path)
    study = studies.study(
        method=method, evaluators=people // 2 + SPARE, begin_within_minutes=BEGIN_WITHIN_MINUTES,
        base_usd_cents=BASE, bonus_usd_cents=BONUS, **settings,
    )  # fmt: skip
    store.add_study(study, studies.pool(study))
    DataDir(tmp_path).keys()
    counts, done = Counter(), threading.Event()
    books = Books(fee=FEE, pay_delay=timedelta(minutes=15), ids=Random(SEED))
    panel = Fake(books).panel()
    panel_study = panel.create(order("faces"))
    panel.change(panel_study, "publish")
    with ExitStack() as stack:
        stack.callback(store.close)
        faulty = FaultyServer(emulator.endpoint)
        stack.callback(faulty.stop)
        on_faults = f"dynamodb://faults?region={dynamodb.REGION}&endpoint={faulty.endpoint}"
        environment = {
            "OPENHYPE_STORE": on_faults,
            "OPENHYPE_DATA": str(tmp_path),
            "OPENHYPE_REQUEST_SECONDS": "13",
            "AWS_ACCESS_KEY_ID": "emulator",
            "AWS_SECRET_ACCESS_KEY": "emulator",
        }
        instances = [Instance(environment, counts) for _ in range(INSTANCES)]
        stack.callback(lambda: [instance.running.close() for instance in instances])
        url = stack.enter_context(serving(Cloudfront("no-bucket", {"api": instances})))
        killer = threading.Thread(target=kill_some, args=(instances, done))
        killer.start()
        stack.callback(killer.join)
        stack.callback(done.set)
        with ThreadPoolExecutor(people) as pool:
            played = list(pool.map(lambda i: play(url, study, store, books, panel_study, i), range(people)))
        done.set()
        failing = open_store(on_faults, tmp_path)
        stack.callback(failing.close)
        counts["killed payers"] = pay_all(failing, study, panel, panel_study, books, people)

        fresh = stack.enter_context(closing(open_store(emulator.url("faults"), tmp_path)))
        expected = finished_once(fresh, study, people)
        fresh.taken("faces", "2999")  # counts those whose instance was killed before it did
        assert sum(fresh.taken("faces", "2026").values()) == people
        assert fresh.finished("faces")[0] == people
        check_paid_once(books, expected)
        paid = [
            account for _, account in owing.accounts(fresh, "faces").values() if account.reward == "confirmed"
        ]
        assert len(paid) == people
        assert exported(fresh, study, tmp_path) == sorted(answer for each in played for answer in each)
    print(method, dict(counts), faulty.faults, "answers", sum(map(len, played)))  # noqa: T201
    assert all(count > 3 for count in faulty.faults.values())
    assert (counts["kills"] > 3, counts["doubled"] > 10, counts["killed payers"] > 10) == (True, True, True)
    assert counts["longest_ms"] < 2 * 1000 * TIMEOUT_S  # a doubled request is two


def play(url, study, store, books, panel_study, i):
    """Take part; where the study is full, come back: openings that died hold their places for a while.

    Return the answers that were acknowledged, as they are exported.
    """
    pictures = {each.name: each for each in store.stimuli(study.name)}
    rng, client, until = Random(i), Noting(url), time.monotonic() + 240 * BEGIN_WITHIN_MINUTES
    place = books.take(panel_study)
    books.start(place.id)
    panel = {"PROLIFIC_PID": place.participant, "STUDY_ID": panel_study, "SESSION_ID": place.id}
    wrong = {"real": "fake", "fake": "fake", "left": "right", "right": "right"}
    try:
        while True:
            try:
                take_part(
                    client,
                    study,
                    pictures,
                    lambda truth, *_: truth if rng.random() < 0.8 else wrong[truth],
                    panel,
                )
                books.submit(place.id, "DONE7")
                return client.acknowledged
            except Refused as error:
                if error.code != "study_full" or time.monotonic() > until:
                    raise
                time.sleep(2)
    finally:
        client.close()


def pay_all(store, study, panel, panel_study, books, people):
    """Pay by payers that are killed at random steps, then by others; return how many were killed.

    The last one comes when everybody has a reward and a bonus.
    """
    rng, killed = Random(SEED), 0
    for _ in range(KILLED_PAYERS):
        fate = Fate({rng.randrange(120): "kill"})
        fated = (
            Fated(store, fate, STORE_CALLS),
            study,
            Fated(panel, fate, PANEL_CALLS),
            panel_study,
            books.clock,
        )
        try:
            Payer(*fated, batch=5).run()
        except Killed:
            killed += 1
        except Unavailable:  # the table failed more often than it is asked again
            pass
        books.clock.advance(minutes=rng.choice([1, 20, 400]))
    for _ in range(8):
        is_paid = len(books.account()) >= 2 * people
        Payer(store, study, panel, panel_study, books.clock, batch=5).run()
        books.clock.advance(hours=13)
        if is_paid:
            break
    return killed


def finished_once(store, study, people):
    """Check that each finished session has each answer once; return what is owed for each submission."""
    played = [row for row in store.answered("faces") if row[1].state == "finished"]
    assert people == len(played) == len({session.evaluator_key for session, _, _ in played})
    owed = {}
    for session, cursor, responses in played:
        assert [response.trial_index for response in responses] == list(range(cursor.trial_index))
        replayed = sessions.replay(session, study.protocol, cursor, responses)
        assert (cursor.state, cursor.right) == (replayed.state, replayed.right)
        owed[session.panel["SESSION_ID"], "reward"] = [BASE]
        owed[session.panel["SESSION_ID"], "bonus"] = [BONUS * sum(cursor.right.values())]
    return owed


def check_paid_once(books, owed):
    paid = {}
    for line in books.account():
        paid.setdefault((line.submission, line.kind), []).append(line.cents)
    assert paid == owed


def exported(store, study, folder):
    """Return session, index and response of each exported answer."""
    export(store, study, folder / "exported")
    with table_path(study, folder / "exported", "").open(encoding="utf-8-sig", newline="") as file:
        return sorted((row["session"], row["trial_index"], row["response"]) for row in csv.DictReader(file))


def kill_some(instances, done):
    rng = Random(SEED)
    for _ in range(MOST_KILLS):
        if done.wait(KILL_EACH_S):
            return
        rng.choice(instances).kill()
