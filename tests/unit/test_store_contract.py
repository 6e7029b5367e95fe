"""One contract for every store: what a writing call returned from is there, once, in order."""

import dataclasses
import threading

import pytest

from backend import session as sessions
from backend.errors import Conflict, NotFound
from backend.records import Response, Timing
from backend.stores import Stale, open_store

from . import studies
from .memory import MemoryStore

AT = "2026-01-01T00:00:01.000Z"


@pytest.fixture(params=["sqlite", "memory"])
def opened(request, tmp_path):
    """Return a function that opens the same store, as another process would."""
    stores = []
    in_memory = MemoryStore()

    def open_again():
        if request.param == "memory":
            return in_memory
        stores.append(open_store("sqlite:///contract.db", tmp_path))
        return stores[-1]

    yield open_again
    for store in stores:
        store.close()


@pytest.fixture
def store(opened):
    return opened()


def response(trial_index, answer="real"):
    return Response(trial_index, 0, "a.png", answer, 500, 516.7, 31, 16.7, (33.3, 33.3), 420.5, ("late",), AT)


def with_session(store, session_id="s1", model="gan", state="active", last_at=AT):
    study = studies.study(images=10)
    session = studies.session(study, model=model, session_id=session_id)
    cursor = dataclasses.replace(sessions.opening(study.protocol, AT), state=state, last_at=last_at)
    store.add_session(session, cursor)
    return session, cursor


def test_a_study_comes_back_as_it_was_stored_with_last_years_numbers(store):
    study = studies.study(method="time", classes=("cat", "dog"), staircase="weighted-75")
    stimuli = studies.pool(study, each=3)

    store.add_study(study, stimuli)

    assert store.study("faces") == study
    assert store.studies() == [study]
    assert list(store.stimuli("faces")) == sorted(stimuli, key=lambda s: s.name)


def test_a_name_that_is_taken_is_refused_and_the_first_study_stays(store):
    first, second = studies.study(images=10), studies.study(images=20)
    store.add_study(first, studies.pool(first, each=2))

    with pytest.raises(Conflict, match="a study faces exists already"):
        store.add_study(second, studies.pool(second, each=3, seed=2))

    assert store.study("faces") == first
    assert len(list(store.stimuli("faces"))) == 6


@pytest.mark.parametrize("read", ["study", "session", "cursor"])
def test_what_is_not_there_is_said_by_name(store, read):
    with pytest.raises(NotFound, match=f"there is no {read if read != 'cursor' else 'session'} 'nobody'"):
        getattr(store, read)("nobody")


def test_a_session_and_its_cursor_come_back_as_stored(store):
    session, cursor = with_session(store)
    voided = dataclasses.replace(cursor, version=1, voids=((0, "b.png"),), displays=({"refresh_hz": 60},))

    store.move("s1", 0, voided)

    assert store.session("s1") == session
    assert store.cursor("s1") == voided
    assert list(store.sessions("faces")) == [(session, voided)]


def test_responses_come_back_in_the_order_of_their_trials(store):
    _, cursor = with_session(store)
    for i in range(12):
        store.append("s1", i, dataclasses.replace(cursor, version=i + 1, trial_index=i + 1), response(i))

    assert store.responses("s1") == [response(i) for i in range(12)]


def test_several_attempts_at_a_trial_are_kept_apart(store):
    _, cursor = with_session(store)
    timing = Timing("element", 0.5, (30, 6), (30, 7), (500.0, 116.7))
    first = dataclasses.replace(response(0), timing=timing)
    second = dataclasses.replace(response(0, "fake"), attempt=1)
    for i, attempt in enumerate((first, second)):
        store.append("s1", i, dataclasses.replace(cursor, version=i + 1), attempt)

    assert store.responses("s1") == [first, second]


def test_a_write_at_an_old_version_changes_nothing(store):
    _, cursor = with_session(store)
    after = dataclasses.replace(cursor, version=1, trial_index=1)
    store.append("s1", 0, after, response(0, "real"))

    with pytest.raises(Stale, match="no longer at version 0"):
        store.append("s1", 0, after, response(0, "fake"))
    with pytest.raises(Stale, match="no longer at version 0"):
        store.move("s1", 0, dataclasses.replace(cursor, version=1, lease=9))

    assert store.responses("s1") == [response(0, "real")]
    assert store.cursor("s1") == after


def test_of_many_answers_at_once_exactly_one_is_stored(store):
    _, cursor = with_session(store)
    for trial in range(30):
        kept = race(8, lambda i, t=trial: append_once(store, cursor, t, "real" if i % 2 else "fake"))

        assert sum(kept) == 1
        assert len(store.responses("s1")) == trial + 1


def append_once(store, cursor, trial, answer):
    after = dataclasses.replace(cursor, version=trial + 1, trial_index=trial + 1)
    try:
        store.append("s1", trial, after, response(trial, answer))
    except Stale:
        return False
    return True


def race(count, run):
    """Run `run(i)` in `count` threads let go together; return the results."""
    gate, results = threading.Barrier(count), [None] * count

    def runner(i):
        gate.wait()
        results[i] = run(i)

    threads = [threading.Thread(target=runner, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_an_evaluators_place_is_taken_once_however_many_try(store):
    holders = race(8, lambda i: store.claim("faces", "key", f"s{i}"))

    assert len(set(holders)) == 1
    assert store.claimed("faces", "key") == holders[0]
    assert store.claimed("faces", "other") is None


def test_a_place_changes_hands_only_from_the_session_that_holds_it(store):
    store.claim("faces", "key", "s1")

    assert store.claim("faces", "key", "s2", instead_of="s9") == "s1"
    assert store.claim("faces", "key", "s2", instead_of="s1") == "s2"


def test_finished_and_living_sessions_take_up_places_and_silent_ones_do_not(store):
    with_session(store, "s1", "gan", "finished", "2026-01-01T00:00:00.000Z")
    with_session(store, "s2", "gan", "active", "2026-01-01T09:00:00.000Z")
    with_session(store, "s3", "gan", "active", "2026-01-01T00:00:00.000Z")
    with_session(store, "s4", "vae", "ended", "2026-01-01T09:00:00.000Z")

    taken = store.taken("faces", active_since="2026-01-01T08:00:00.000Z")

    assert taken == {"gan": 2}


def test_another_process_sees_what_was_acknowledged(opened):
    first = opened()
    _, cursor = with_session(first)
    first.append("s1", 0, dataclasses.replace(cursor, version=1), response(0))

    second = opened()

    assert second.responses("s1") == [response(0)]
    assert second.cursor("s1").version == 1


def test_an_entry_comes_back_and_changes_at_its_version(opened):
    store = opened()

    first = store.write_entry("ledger faces", "s1", 0, {"owed": 12, "ids": ["a"]})
    second = store.write_entry("ledger faces", "s1", first.version, {"owed": 14})

    assert (first.version, second.version) == (1, 2)
    assert opened().entry("ledger faces", "s1") == second
    assert second.data == {"owed": 14}


def test_an_entry_that_is_not_there_is_none(store):
    store.write_entry("ledger faces", "s1", 0, {})

    assert store.entry("ledger faces", "s2") is None
    assert store.entry("ledger", "s1") is None


@pytest.mark.parametrize("version", [0, 2])
def test_an_entry_that_has_moved_on_is_not_overwritten(store, version):
    store.write_entry("book", "k", 0, {"n": 1})

    with pytest.raises(Stale, match=f"entry k of book is no longer at version {version}"):
        store.write_entry("book", "k", version, {"n": 2})

    assert store.entry("book", "k").data == {"n": 1}


def test_a_new_entry_at_a_version_it_never_had_is_refused(store):
    with pytest.raises(Stale, match="no longer at version 3"):
        store.write_entry("book", "k", 3, {})

    assert store.entry("book", "k") is None


def test_entries_come_in_the_order_of_their_keys_book_by_book(store):
    for key in ("b", "c", "a"):
        store.write_entry("book", key, 0, {"key": key})
    store.write_entry("book 2", "d", 0, {})

    assert [(entry.key, entry.data) for entry in store.entries("book")] == [
        ("a", {"key": "a"}), ("b", {"key": "b"}), ("c", {"key": "c"}),
    ]  # fmt: skip


def test_of_writers_who_make_one_entry_at_once_one_succeeds(opened):
    stores = [opened() for _ in range(4)]
    outcomes = []
    start = threading.Barrier(len(stores))

    def write(store, n):
        start.wait()
        for round_ in range(20):
            try:
                store.write_entry("book", f"k{round_}", 0, {"by": n})
                outcomes.append(round_)
            except Stale:
                pass

    threads = [threading.Thread(target=write, args=(store, n)) for n, store in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(outcomes) == list(range(20))


def test_an_erased_session_is_gone_with_its_answers_and_its_claim_stays(store):
    session, cursor = with_session(store)
    store.claim("faces", "key", session.id)
    store.append(session.id, 0, dataclasses.replace(cursor, version=1, trial_index=1), response(0))

    store.erase_session(session.id)
    store.erase_session(session.id)

    with pytest.raises(NotFound):
        store.session(session.id)
    with pytest.raises(NotFound):
        store.cursor(session.id)
    assert store.responses(session.id) == []
    assert list(store.sessions("faces")) == []
    assert store.taken("faces", "2020") == {}
    assert store.claimed("faces", "key") == session.id
