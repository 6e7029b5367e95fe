"""Six instances of the packaged function, killed at random, on a failing table: nothing lost or doubled."""

import json
import secrets
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from random import Random

import pytest

from backend.commands.simulated_evaluators import Client, Refused, take_part
from backend.experiment import session as sessions
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from tests import dynamodb, function
from tests.cloudfront import Cloudfront, serving
from tests.faults import FaultyServer

from .. import sample_studies as studies

INSTANCES, PEOPLE, EACH_DOUBLED = 6, 36, 15
TIMEOUT_S = 15
BEGIN_WITHIN_MINUTES = 1


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


@pytest.mark.slow("instances of the packaged functions run under faults")
def test_everybody_finishes_once_and_nothing_is_lost_or_doubled(emulator, tmp_path):
    create_table(emulator.url("faults"))
    store = open_store(emulator.url("faults"), tmp_path)
    study = studies.study(images=20, evaluators=PEOPLE // 2, begin_within_minutes=BEGIN_WITHIN_MINUTES)
    store.add_study(study, studies.pool(study))
    DataDir(tmp_path).keys()
    counts, done = Counter(), threading.Event()
    with ExitStack() as stack:
        faulty = FaultyServer(emulator.endpoint)
        stack.callback(faulty.stop)
        environment = {
            "OPENHYPE_STORE": f"dynamodb://faults?region={dynamodb.REGION}&endpoint={faulty.endpoint}",
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
        with ThreadPoolExecutor(PEOPLE) as pool:
            finished = list(pool.map(lambda i: play(url, study, store, i), range(PEOPLE)))

    played = [row for row in store.answered("faces") if row[1].state == "finished"]
    assert len(finished) == PEOPLE == len(played) == len({session.evaluator_key for session, _, _ in played})
    for session, cursor, responses in played:
        assert [response.trial_index for response in responses] == list(range(20))
        replayed = sessions.replay(session, study.protocol, cursor, responses)
        assert (cursor.state, cursor.right) == (replayed.state, replayed.right)
    fresh = open_store(emulator.url("faults"), tmp_path)
    assert fresh.taken("faces", "2026") == {"gan": PEOPLE // 2, "vae": PEOPLE // 2}
    assert fresh.finished("faces")[0] == PEOPLE
    assert all(count > 5 for count in faulty.faults.values())
    assert (counts["kills"] > 3, counts["doubled"] > 10) == (True, True)
    assert counts["longest_ms"] < 2 * 1000 * TIMEOUT_S  # a doubled request is two
    for opened in (store, fresh):
        opened.close()


def play(url, study, store, i):
    """Take part; where the study is full, come back, for an opening that died holds a place for a while."""
    pictures = {each.name: each for each in store.stimuli(study.name)}
    rng, client, until = Random(i), Client(url), time.monotonic() + 120 * BEGIN_WITHIN_MINUTES
    panel = {"PROLIFIC_PID": secrets.token_hex(12)}
    try:
        while True:
            try:
                return take_part(
                    client,
                    study,
                    pictures,
                    lambda truth, *_: truth if rng.random() < 0.8 else "fake",
                    panel,
                )
            except Refused as error:
                if error.code != "study_full" or time.monotonic() > until:
                    raise
                time.sleep(2)
    finally:
        client.close()


def kill_some(instances, done):
    rng = Random(5)
    for _ in range(8):
        if done.wait(1.0):
            return
        rng.choice(instances).kill()
