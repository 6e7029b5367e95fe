"""Counts of sessions by condition: bounded checks of silent ones, and no growth."""

import dataclasses
from collections import Counter

import pytest

from backend.experiment import session as sessions
from backend.experiment.session import mark_returned, total_trials
from backend.stores.dynamodb import keys
from backend.stores.dynamodb.client import Calls, connect, key, parse_url
from backend.stores.dynamodb.counters import quotas
from backend.stores.dynamodb.store import DynamoStore
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
        entries = {f"a{name}": {"S": f"{AT}{known}"} for name in here}
        store._calls.put({**key(f"count faces {index} gan", "-"), "t": {"N": str(len(here))}, **entries})


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


@pytest.mark.parametrize("wanted", [5, pytest.param(70, marks=pytest.mark.slow("as with 5, with more"))])
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


def test_a_session_whose_index_was_never_stored_is_uncounted_once_when_it_is_erased_or_returned(table):
    store = DynamoStore.open(table)
    study = made(store, evaluators=200)
    for name in ("withdrawn", "returned", "stays"):
        opened(store, study, name)
        finished = closed(sessions.opening(study.protocol, AT), total_trials(store.session(name)), "finished")
        for version in range(1, finished.version):
            store.move(name, version - 1, closed(finished, version, "active"))
        store.append(name, finished.version - 1, finished, response(0))
    for place in keys.all_listed("faces", False):  # as if the process had ended before it stored the index
        for item in list(store._calls.each(place)):
            store._calls.put({name: value for name, value in item.items() if name != "k"})

    later = DynamoStore.open(table)
    for _ in range(2):
        later.erase_session("withdrawn")
    later.move("returned", finished.version, mark_returned(finished, AT))

    for fresh in (later, DynamoStore.open(table)):
        assert (fresh.taken("faces", EARLIER), fresh.finished("faces")[0]) == ({"gan": 1}, 1)
