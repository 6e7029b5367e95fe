"""What is DynamoDB's own: what an answer costs, faults of the service, expiry, and its URL."""

import dataclasses
import subprocess
import sys
from collections import Counter
from random import Random

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from backend.experiment.session import mark_returned, total_trials
from backend.foundation.errors import Conflict, InvalidInput, NotFound, StoreFailed
from backend.foundation.request_deadline import deadline
from backend.stores.datadir import DataDir
from backend.stores.dynamodb.client import LONGEST_TRY_S, Calls, connect, parse_url
from backend.stores.dynamodb.store import DynamoStore
from backend.stores.opening import open_store
from backend.stores.store import Stale

from ... import sample_studies as studies
from ...conftest import World
from ...stores.test_contract import AT, race, response, with_session

DISPLAY = {
    "frame_ms": 16.666666507720947,
    "refresh_hz": 60.00000057220461,
    "jitter_ms": 0.012300000000000001,
    "dropped_frames": 0,
    "is_variable": False,
    "full_screen": True,
    "width_px": 1536,
    "height_px": 864,
    "pixel_ratio": 1.25,
    "shown_css_px": 409.6,
    "shown_px": 512,
}
PANEL = {"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "6a" * 12, "SESSION_ID": "7b" * 12}


class Meter:
    """Counts calls and the capacity units that they took."""

    def __init__(self):
        self.calls, self.units = Counter(), Counter()

    def __call__(self, operation, units):
        self.calls[operation] += 1
        self.units[operation] += units

    @property
    def write_units(self):
        return sum(self.units[name] for name in ("put_item", "update_item", "delete_item"))


def metered(url, meter, **options):
    table, named = parse_url(url)
    return DynamoStore(Calls(connect(named), table, meter=meter), **options)


def play(table, tmp_path, method):
    """Play one session as a page does, and return the store's meter and the number of API requests."""
    meter, rng = Meter(), Random(1)
    world = World(metered(table, meter), DataDir(tmp_path))
    world.add(studies.study(method=method), each=300)
    world.open()  # by the first one the study is begun, and its pool is read
    meter.calls.clear()
    meter.units.clear()

    requests = 3
    world.http.post("/api/studies/faces/admission", json={"panel": PANEL})
    player = world.player(panel=PANEL)
    while player.done is None:
        player.begin(**DISPLAY)
        requests += 1
        finished = False
        while not finished:
            exposure_ms = player.next["exposure_ms"]
            facts = {"rt": rng.lognormvariate(6, 0.4), "frame_ms": DISPLAY["frame_ms"]}
            if exposure_ms is not None:
                facts |= studies.flash(rng, exposure_ms)
            world.clock.move(milliseconds=rng.randrange(3000, 9000))
            finished = player.answer(rng.random() < 0.8, **facts)["block_finished"]
            requests += 1
    return meter, requests


@pytest.mark.parametrize(("method", "most_units", "most_calls"), [("time", 490, 479), ("infinity", 112, 127)])
@pytest.mark.slow("thousands of sessions, or whole ones, in DynamoDB")
def test_a_session_costs_about_a_write_unit_an_answer(table, tmp_path, method, most_units, most_calls):
    meter, _ = play(table, tmp_path, method)

    assert meter.write_units <= most_units
    assert sum(meter.calls.values()) <= most_calls


class Losing:
    """A client whose replies to some operations are lost after they were carried out."""

    def __init__(self, client, *operations):
        self.client, self.lost = client, list(operations)

    def __getattr__(self, name):
        call = getattr(self.client, name)
        if name not in self.lost:
            return call

        def lose(**arguments):
            self.lost.remove(name)
            call(**arguments)
            raise ReadTimeoutError(endpoint_url="nowhere")

        return lose


@pytest.mark.parametrize("version", [0, 1])
def test_a_write_whose_reply_was_lost_is_known_as_ours(table, version):
    name, options = parse_url(table)
    plain = DynamoStore.open(table)
    _, cursor = with_session(plain)
    if version:
        plain.move("s1", 0, dataclasses.replace(cursor, version=1))
    losing = Losing(connect(options), "put_item")
    store = DynamoStore(Calls(losing, name, sleep=lambda s: None))

    store.append("s1", version, dataclasses.replace(cursor, version=version + 1), response(0))

    assert losing.lost == []
    assert plain.responses("s1") == [response(0)]


def test_the_same_answer_stored_by_another_is_not_taken_for_ours(table):
    name, options = parse_url(table)
    plain = DynamoStore.open(table)
    _, cursor = with_session(plain)
    after = dataclasses.replace(cursor, version=1)
    plain.append("s1", 0, after, response(0))
    store = DynamoStore(Calls(FailingFirst(connect(options)), name, sleep=lambda s: None))

    with pytest.raises(Stale, match="no longer at version 0"):
        store.append("s1", 0, after, response(0))


class FailingFirst:
    """A client whose first put never arrives, which the caller cannot know."""

    def __init__(self, client):
        self.client, self.failed = client, False

    def __getattr__(self, name):
        if name == "put_item" and not self.failed:
            self.failed = True
            return self.time_out
        return getattr(self.client, name)

    def time_out(self, **arguments):
        raise ReadTimeoutError(endpoint_url="nowhere")


def test_a_restoration_that_was_cut_short_can_be_repeated(table):
    name, options = parse_url(table)
    plain = DynamoStore.open(table)
    session, cursor = with_session(plain, "s1")
    session = dataclasses.replace(session, id="s2")
    after = dataclasses.replace(cursor, version=2, trial_index=1)
    for puts in range(1, 4):
        cut = DynamoStore(Calls(Puts(connect(options), puts), name))
        with pytest.raises(InterruptedError):
            cut.restore(session, after, [response(0)])

    plain.restore(session, after, [response(0)])

    assert (plain.cursor("s2"), plain.responses("s2")) == (after, [response(0)])


class Puts:
    """A client whose process ends before one of its puts."""

    def __init__(self, client, count):
        self.client, self.left = client, count

    def __getattr__(self, name):
        return getattr(self.client, name)

    def put_item(self, **arguments):
        self.left -= 1
        if not self.left:
            raise InterruptedError
        return self.client.put_item(**arguments)


def test_pauses_between_tries_are_drawn_from_a_bound_that_doubles(table):
    name, _ = parse_url(table)
    pauses = []
    calls = Calls(Throttling(), name, sleep=pauses.append, rng=Highest())

    with pytest.raises(StoreFailed, match=r"did not answer 10 times \(ThrottlingException\)"):
        calls.get("studies", "faces")

    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 2, 2, 2, 2])


@pytest.mark.parametrize("failure", ["throttled", "silent"])
def test_within_a_request_nothing_is_tried_that_could_end_after_its_deadline(table, failure):
    name, _ = parse_url(table)
    clock = [0.0]

    def sleep(seconds):
        clock[0] += seconds

    calls = Calls(Throttling() if failure == "throttled" else Silent(sleep), name, sleep=sleep, rng=Highest())

    with deadline(10, lambda: clock[0]):
        for _ in range(3):  # whoever goes on after the first failure gets no second chance
            with pytest.raises(StoreFailed, match=r"table .* did not answer in time"):
                calls.get("studies", "faces")

    assert 4 < clock[0] <= 10


def test_a_call_is_not_begun_after_the_deadline(table):
    name, options = parse_url(table)
    clock = [0.0]
    calls = Calls(connect(options), name)

    with deadline(10, lambda: clock[0]):
        assert calls.get("studies", "faces") is None
        clock[0] = 10 - LONGEST_TRY_S + 0.1
        with pytest.raises(StoreFailed, match="did not answer in time"):
            calls.get("studies", "faces")


class Silent:
    """A client whose calls time out."""

    def __init__(self, sleep):
        self.sleep = sleep

    def get_item(self, **arguments):
        self.sleep(LONGEST_TRY_S)
        raise ReadTimeoutError(endpoint_url="nowhere")


class Throttling:
    def get_item(self, **arguments):
        error = {"Error": {"Code": "ThrottlingException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
        raise ClientError(error, "GetItem")


class Highest:
    def uniform(self, low, high):
        return high


def test_only_sessions_in_which_nothing_was_begun_expire(table):
    now = [1_800_000_000.0]
    store = DynamoStore(DynamoStore.open(table)._calls, expire_days=1, clock=lambda: now[0])
    _, cursor = with_session(store, "idle")
    with_session(store, "begun")
    store.move("begun", 0, dataclasses.replace(cursor, version=1, blocks_begun=1))

    now[0] += 2 * 86400
    later = DynamoStore(store._calls, clock=lambda: now[0])

    with pytest.raises(NotFound, match="there is no session 'idle'"):
        later.session("idle")
    with pytest.raises(NotFound, match="there is no session 'idle'"):
        later.cursor("idle")
    assert later.taken("faces", "2030") == {}
    assert [session.id for session, _ in later.sessions("faces")] == ["begun"]


def test_by_itself_nothing_expires(table):
    store = DynamoStore.open(table)
    with_session(store)

    assert "x" not in store._calls.get("session s1", f"{0:08d}")


def test_a_session_that_could_not_be_packed_is_when_somebody_looks(table):
    name, options = parse_url(table)
    store = DynamoStore(Calls(Unpacking(connect(options)), name))
    _, cursor = with_session(store)
    finished = dataclasses.replace(cursor, version=1, trial_index=1, state="finished")
    store.append("s1", 0, finished, response(0))

    other = DynamoStore.open(table)
    before = list(other.answered("faces"))
    taken = [other.taken("faces", "2030") for _ in range(2)]

    assert taken == [{"gan": 1}, {"gan": 1}]
    assert before == list(other.answered("faces"))
    assert other._is_packed(other._heads.of("s1"))


def test_a_session_that_was_returned_and_could_not_be_packed_is_when_it_is_returned_again(table):
    name, options = parse_url(table)
    plain = DynamoStore.open(table)
    session, cursor = with_session(plain)
    trials = total_trials(session)
    finished = dataclasses.replace(cursor, version=1, trial_index=trials, state="finished")
    plain.append("s1", 0, finished, response(0))
    broken = DynamoStore(Calls(Unpacking(connect(options)), name))
    broken.move("s1", 1, mark_returned(finished, AT))
    ((_, listed),) = plain.sessions("faces")
    assert listed.state == "finished"

    with pytest.raises(Stale, match="no longer at version 1"):
        plain.move("s1", listed.version, mark_returned(listed, AT))

    ((_, listed),) = plain.sessions("faces")
    assert (listed.state, plain.taken("faces", ""), plain.finished("faces")) == ("returned", {}, (0, ""))


class Unpacking:
    """A client that may not store packed sessions."""

    def __init__(self, client):
        self.client = client

    def __getattr__(self, name):
        return getattr(self.client, name)

    def update_item(self, **arguments):
        if arguments["Key"]["p"]["S"].startswith("closed"):
            error = {"Error": {"Code": "AccessDeniedException"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
            raise ClientError(error, "UpdateItem")
        return self.client.update_item(**arguments)


@pytest.mark.slow("stores 10,000 stimuli")
def test_a_session_start_reads_a_pool_of_ten_thousand_once(table, tmp_path):
    meter = Meter()
    world = World(metered(table, meter), DataDir(tmp_path))
    world.add(studies.study(models=("a", "b", "c", "d"), panel="link"), each=2000)
    world.open()
    meter.units.clear()

    for _ in range(5):
        world.open()

    assert meter.units["query"] == 0
    assert meter.units["put_item"] == 5 * 5  # the session with its 120 pictures, and its place in the list


def test_two_who_make_a_study_at_once_get_one_pool(table):
    first, second = studies.study(), studies.study(images=10)
    outcomes = race(2, lambda i: outcome(DynamoStore.open(table), (first, second)[i], seed=i))

    store = DynamoStore.open(table)
    winner = outcomes.index("made")
    assert sorted(outcomes) == ["made", "refused"]
    assert store.study("faces") == (first, second)[winner]
    expected = studies.pool(first, each=3, seed=winner)
    assert list(store.stimuli("faces")) == sorted(expected, key=lambda s: s.name)


def outcome(store, study, seed):
    try:
        store.add_study(study, studies.pool(study, each=3, seed=seed))
    except Conflict:
        return "refused"
    return "made"


def test_a_missing_table_is_said_by_name(dynalite, tmp_path):
    store = open_store(dynalite.url("nowhere"), tmp_path)

    with pytest.raises(NotFound, match="there is no table nowhere in this account and region"):
        store.studies()


@pytest.mark.parametrize(
    "url",
    [
        "dynamodb://",
        "dynamodb://t/x",
        "dynamodb://t?colour=red",
        "dynamodb://[",
        "dynamodb://t?expire_days=x",
    ],
)
def test_a_url_that_names_no_table_is_refused(url, tmp_path):
    with pytest.raises(InvalidInput, match="must be of the form dynamodb://TABLE"):
        open_store(url, tmp_path)


def test_without_the_library_it_is_said_how_to_install_it():
    program = (
        "import sys; from pathlib import Path; sys.modules['botocore'] = None\n"
        "from backend.stores.opening import open_store\n"
        "open_store('dynamodb://t?region=us-east-1', Path('.'))"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)

    assert f"run: {sys.executable} -m pip install 'boto3>=" in found.stderr.splitlines()[-1]
