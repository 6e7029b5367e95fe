"""Studies go on while DynamoDB throttles, fails after a write, loses replies, and is restarted."""

import itertools
import secrets
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from backend.experiment import session as sessions
from backend.handlers import create_app
from backend.responses.export import export
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from backend.web.server import in_background
from tests import dynamodb
from tests.faults import FaultyServer

from .. import sample_studies as studies
from ..people import served, take_part_all


@pytest.fixture
def on_disk(tmp_path):
    """dynalite, on disk."""
    emulator = dynamodb.dynalite(tmp_path / "level")
    yield emulator
    emulator.stop()


@pytest.fixture
def faulty(on_disk):
    server = FaultyServer(on_disk.endpoint)
    yield server
    server.stop()


@pytest.mark.slow("many threads run under faults on every store")
def test_no_answer_is_lost_or_counted_twice_whatever_fails(on_disk, faulty, tmp_path):
    create_table(on_disk.url("faults"))
    url = f"dynamodb://faults?region={dynamodb.REGION}&endpoint="
    store = open_store(url + faulty.endpoint, tmp_path)
    study = studies.study(images=20, evaluators=25)
    store.add_study(study, studies.pool(study))
    restart = threading.Thread(target=restart_amid, args=(on_disk, faulty))
    restart.start()

    try:
        with served(store, tmp_path) as base:
            take_part_all(base, store, study, DataDir(tmp_path), 50, right=0.8, at_once=50)
    finally:
        restart.join()

    fresh = open_store(url + on_disk.endpoint, tmp_path)
    answered = list(fresh.answered("faces"))
    played = [row for row in answered if row[1].state == "finished"]
    assert len(played) == 50 == len({session.evaluator_key for session, _, _ in played})
    # Who waits too long for the reply to an opening comes again, and leaves an unseen session behind.
    unseen = [(cursor.state, responses) for _, cursor, responses in answered if cursor.state != "finished"]
    assert all(row == ("returned", []) for row in unseen)
    for session, cursor, responses in played:
        assert [response.trial_index for response in responses] == list(range(20))
        assert fresh.responses(session.id) == responses
        replayed = sessions.replay(session, study.protocol, cursor, responses)
        assert (cursor.state, cursor.right) == (replayed.state, replayed.right)
    assert sum(fresh.taken("faces", "2026").values()) == 50
    assert all(count > 5 for count in faulty.faults.values())
    for opened in (store, fresh):
        opened.close()


def restart_amid(emulator, faulty):
    until = time.monotonic() + 60
    while faulty.calls < 700 and time.monotonic() < until:
        time.sleep(0.02)
    emulator.stop(signal.SIGKILL)
    time.sleep(0.3)
    emulator.start()


@pytest.mark.slow("plays one study on every store")
@pytest.mark.parametrize("method", ["infinity", "time"])
def test_the_same_dice_give_the_same_export_on_every_store(table, tmp_path, method):
    study = studies.study(method=method, images=20, evaluators=2, blocks={"infinity": 1, "time": 2}[method])
    files = []
    for url in ("sqlite:///played.db", table):
        store = open_store(url, tmp_path)
        store.add_study(study, studies.pool(study))
        data = DataDir(tmp_path)
        app = create_app(store, data, data.keys(), ticking(), Random(7))
        with in_background(app) as base:
            take_part_all(base, store, study, data, 4, seed=3, at_once=1)
        files.append(export(store, study, tmp_path / secrets.token_hex(4)))
        store.close()

    exported = [[path.read_bytes() for path in paths] for paths in files]
    assert exported[0] == exported[1]
    assert exported[0][0].count(b"\n") == 1 + 2 * 2 * study.protocol.stimuli.trials


def ticking():
    """Return a clock that goes on by a quarter of a second whenever it is read."""
    ticks = itertools.count()
    return lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(milliseconds=250 * next(ticks))
