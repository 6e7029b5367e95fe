"""Counts of sessions by condition: bounded checks of silent ones, no growth, and upgrades of earlier ones."""

import dataclasses
import random
import zlib
from collections import Counter

import pytest

from backend.experiment import session as sessions
from backend.experiment.session import mark_returned, total_trials
from backend.stores import json_codec
from backend.stores.dynamodb import counters, keys
from backend.stores.dynamodb.client import Calls, connect, key, parse_url
from backend.stores.dynamodb.counters import quotas
from backend.stores.dynamodb.store import DynamoStore
from backend.stores.dynamodb.upgrade import read_tally, tally_partitions
from backend.stores.store import Capacity, Stale

from ... import sample_studies as studies
from ..test_contract import AT, closed, race, response

EARLIER, LATER = "2025-12-31T00:00:00.000Z", "2026-01-01T12:00:00.000Z"


class Counting:
    """A store on a table, and the number of its calls by operation."""

    def __init__(self, table):
        name, options = parse_url(table)
        self.calls = Counter()
        self.store = DynamoStore(
            Calls(connect(options), name, meter=lambda what, _: self.calls.update([what]))
        )


def made(store, evaluators=30, models=("gan",), **settings):
    study = studies.study(images=10, models=models, evaluators=evaluators, **settings)
    store.add_study(study, studies.pool(study, each=10))
    return study


def opened(store, study, name, capacity=None, at=AT, model=None):
    session = studies.session(study, model=model or study.models[0], session_id=name)
    cursor = dataclasses.replace(sessions.opening(study.protocol, at), last_at=at)
    store.add_session(session, cursor, capacity)
    return cursor


@pytest.mark.parametrize("wanted", [1, 63, 64, 65, 200, 4096, 4097, 100_000])
def test_the_items_of_a_condition_take_exactly_those_wanted(wanted):
    assert sum(quotas(wanted)) == wanted
    assert len(quotas(wanted)) <= 64


@pytest.mark.parametrize("known", ["", "*", "+"])
@pytest.mark.slow("thousands of sessions, or whole ones, in DynamoDB")
def test_an_opening_with_three_thousand_silent_sessions_makes_at_most_forty_calls(table, known):
    counting = Counting(table)
    study = made(counting.store, evaluators=3000)
    fill(counting.store, study, 3000, known)
    capacity = Capacity(3000, LATER, LATER)
    with pytest.raises(Stale, match="has its 3000 sessions by now"):
        opened(counting.store, study, "early", Capacity(3000, EARLIER, EARLIER))
    counting.calls.clear()

    counting.store.taken("faces", LATER, unanswered_since=LATER)
    opened(counting.store, study, "new", capacity)

    assert sum(counting.calls.values()) <= 40
    assert "new" in [session.id for session, _ in counting.store.sessions("faces")]


def fill(store, study, number, known=""):
    """Store what `number` silent sessions leave in the counts, without opening each."""
    sizes = quotas(study.protocol.admission.evaluators)
    names = [f"{i:024x}" for i in range(number)]
    for index, size in enumerate(sizes):
        names, here = names[size:], names[:size]
        entries = tuple(counters.Entry(name, AT, known) for name in here)
        store._counters(study, False).store([counters.Count("gan", index, len(here), 0, "", entries)])


def test_silent_sessions_are_dropped_by_the_openings_and_leave_no_trace_in_the_counts(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=300)
    fill(store, study, 300)

    taken = [store.taken("faces", LATER, unanswered_since=LATER).get("gan", 0) for _ in range(6)]

    assert taken == sorted(taken, reverse=True)
    assert (taken[0] < 300, taken[-1]) == (True, 0)
    assert [count.entries for count in store._counters(study, False).read(["gan"])] == [[]] * 5


def test_an_item_of_counts_does_not_grow_with_the_sessions_that_were_never_begun(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=2)
    sizes = []
    for i in range(40):
        at = f"2026-01-{1 + i // 24:02}T{i % 24:02}:00:00.000Z"
        store.taken("faces", at, unanswered_since=at)
        opened(store, study, f"{i:024x}", Capacity(2, at, at), at)
        sizes += [len(count.entries) for count in store._counters(study, False).read(["gan"])]

    assert max(sizes) <= 2
    assert len(list(store.sessions("faces"))) == 40


def test_who_begins_after_losing_the_place_counts_again(table):
    now = [1_767_225_600.0]
    plain = DynamoStore.open(table)
    store = DynamoStore(plain._calls, clock=lambda: now[0])
    study = made(store, evaluators=2)
    at = "2026-01-01T00:20:00.000Z"
    cursor = opened(store, study, "s1", Capacity(2, EARLIER, "2026-01-01T00:00:00.000Z"), at)
    assert store.taken("faces", LATER, unanswered_since=LATER) == {}

    now[0] += 3600
    store.move("s1", 0, dataclasses.replace(cursor, version=1, blocks_begun=1, last_at=LATER))

    assert plain.taken("faces", LATER, unanswered_since=LATER) == {"gan": 1}


def test_a_session_that_lost_its_place_and_finishes_is_counted_once(table):
    store = DynamoStore.open(table)
    study = made(store)
    cursor = opened(store, study, "s1")
    store.append("s1", 0, closed(cursor, 1, "active"), response(0))
    dropped = store.taken("faces", LATER)

    for version in (2, 3):
        store.append("s1", version - 1, closed(cursor, version, "finished"), response(version - 1))

    assert dropped == {}
    assert (store.taken("faces", LATER), store.finished("faces")) == ({"gan": 1}, (1, AT))
    store.erase_session("s1")
    store.erase_session("s1")
    assert (store.taken("faces", LATER), store.finished("faces")) == ({}, (0, ""))


def test_sessions_of_a_qualification_are_counted_without_entries(table):
    store = DynamoStore.open(table)
    study = studies.study(kind="qualification", models=("gan",), images=10)
    store.add_study(study, studies.pool(study, each=10))
    session = studies.session(study, model=None, session_id="s1")
    cursor = sessions.opening(study.protocol, AT)
    store.add_session(session, cursor)

    store.append(
        "s1", 0, dataclasses.replace(cursor, version=1, trial_index=1, state="finished"), response(0)
    )

    name, _ = parse_url(table)
    items = store._calls.client.scan(TableName=name)["Items"]
    counted = [item for item in items if item["p"]["S"].startswith("count ")]
    assert store.finished("faces") == (1, AT)
    assert [sorted(item) for item in counted] == [["f", "n", "p", "s", "t", "z"]]


@pytest.mark.parametrize("wanted", [5, 70])
def test_of_many_openings_at_once_exactly_those_wanted_are_admitted(table, wanted):
    stores = [DynamoStore.open(table) for _ in range(4)]
    study = made(stores[0], evaluators=wanted)
    capacity = Capacity(wanted, EARLIER)

    def admit(thread):
        admitted = 0
        for i in range(wanted // 2):
            try:
                opened(stores[thread], study, f"s{thread}-{i}", capacity)
                admitted += 1
            except Stale:
                pass
        return admitted

    assert sum(race(4, admit)) == wanted
    assert stores[0].taken("faces", EARLIER) == {"gan": wanted}


@pytest.mark.slow("upgrades a table of an earlier version")
def test_a_study_that_version_0_1_stored_is_upgraded_at_its_next_opening_and_loses_no_session(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=4, models=("gan", "vae"))
    cursors = {name: opened(store, study, name, model=model) for name, model in
               (("open", "gan"), ("silent", "gan"), ("done", "gan"), ("other", "vae"))}  # fmt: skip
    store.append("done", 0, closed(cursors["done"], 1, "finished"), response(0))
    as_version_0_1(store, study, {"open": "gan", "silent": "gan", "other": "vae"}, finished={"gan": 1})
    before = DynamoStore.open(table)
    listed = [(session.id, cursor.state) for session, cursor in before.sessions("faces")]
    assert before.finished("faces") == (1, AT)

    later = DynamoStore.open(table)
    later.append("open", 0, closed(cursors["open"], 1, "finished"), response(0))
    opened(later, study, "new", Capacity(4, EARLIER))

    assert sorted(listed) == [
        ("done", "finished"),
        ("open", "active"),
        ("other", "active"),
        ("silent", "active"),
    ]
    for fresh in (later, before, DynamoStore.open(table)):
        assert fresh.taken("faces", EARLIER) == {"gan": 4, "vae": 1}
        assert fresh.finished("faces") == (2, AT)
        assert [session.id for session, _ in fresh.sessions("faces")] == [
            "done",
            "new",
            "open",
            "other",
            "silent",
        ]
    with pytest.raises(Stale, match="has its 4 sessions by now"):
        opened(later, study, "one more", Capacity(4, EARLIER))


def test_a_session_that_version_0_1_finished_is_uncounted_once_when_it_is_erased_or_returned(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=200)
    for name in ("withdrawn", "returned", "stays"):
        opened(store, study, name)
        finished = closed(sessions.opening(study.protocol, AT), total_trials(store.session(name)), "finished")
        for version in range(1, finished.version):
            store.move(name, version - 1, closed(finished, version, "active"))
        store.append(name, finished.version - 1, finished, response(0))
    as_version_0_1(store, study, {}, finished={"gan": 3})

    later = DynamoStore.open(table)
    for _ in range(2):
        later.erase_session("withdrawn")
    later.move("returned", finished.version, mark_returned(finished, AT))

    for fresh in (later, DynamoStore.open(table)):
        assert (fresh.taken("faces", EARLIER), fresh.finished("faces")[0]) == ({"gan": 1}, 1)


def as_version_0_1(store, study, still_open, finished):
    """Rewrite the counts and the list of a study as version 0.1 stored them."""
    calls = store._calls
    for model in study.models:
        for index in range(len(quotas(study.protocol.admission.evaluators))):
            calls.delete(f"count faces {index} {model}", "-")
    for name, model in still_open.items():
        calls.delete(keys.of_listed("faces", name, False), name)
        shard = tally_partitions("faces", False)[keys.shard_of(name, 64)]
        entry = {"S": f"{0:010}{AT}|{model}"}
        calls.update(shard, "-", "SET #a = :e", "attribute_not_exists(#a)", {":e": entry}, {"#a": "a" + name})
    shard = tally_partitions("faces", False)[0]
    for model, number in finished.items():
        change, values = "SET n = :at ADD #f :n", {":at": {"S": AT}, ":n": {"N": str(number)}}
        calls.update(shard, "-", change, "attribute_not_exists(#f)", values, {"#f": "f" + model})
    for place in keys.all_listed("faces", False):
        for item in list(calls.each(place)):
            calls.put({name: value for name, value in item.items() if name != "k"})
    item = calls.get("studies", "faces")
    calls.put({name: value for name, value in item.items() if name != "l"})
    assert read_tally(calls, "faces", False)[1] == finished
    assert json_codec.load_study(zlib.decompress(item["j"]["B"]).decode()) == study
    assert calls.get(*key_of("studies", "faces"))["u"] == item["u"]


def test_version_0_1_admits_nobody_to_a_study_that_was_upgraded(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=4)
    opened(store, study, "open")
    as_version_0_1(store, study, {"open": "gan"}, finished={"gan": 1})

    opened(DynamoStore.open(table), study, "new", Capacity(4, EARLIER))

    for simulated in (False, True):
        with pytest.raises(KeyError, match="N"):
            finished_in_version_0_1(store._calls, simulated)
        assert read_tally(store._calls, "faces", simulated)[1] == ({} if simulated else {"gan": 1})


def finished_in_version_0_1(calls, simulated):
    """Count finished sessions as version 0.1 does at each opening."""
    items = calls.many((partition, "-") for partition in tally_partitions("faces", simulated))
    return sum(int(value["N"]) for item in items for name, value in item.items() if name.startswith("f"))


def key_of(p, s):
    return tuple(part["S"] for part in key(p, s).values())


@pytest.mark.slow("upgrades a table of an earlier version")
def test_two_that_upgrade_a_study_at_once_do_it_once(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=100)
    names = [f"{random.Random(i).randrange(16**24):024x}" for i in range(20)]
    for name in names:
        opened(store, study, name)
    as_version_0_1(store, study, dict.fromkeys(names, "gan"), finished={"gan": 30})

    race(4, lambda i: opened(DynamoStore.open(table), study, f"new{i}", Capacity(100, EARLIER)))

    after = DynamoStore.open(table)
    assert after.taken("faces", EARLIER) == {"gan": 54}
    for name in names:
        after.append(name, 0, closed(sessions.opening(study.protocol, AT), 1, "finished"), response(0))
    assert (after.taken("faces", EARLIER), after.finished("faces")) == ({"gan": 54}, (50, AT))
