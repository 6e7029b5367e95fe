"""One contract for every store: what a writing call returned from is there, once, in order."""

import dataclasses
import secrets
import threading
from contextlib import suppress

import pytest

from backend.experiment import session as sessions
from backend.experiment.records import Response, Stimulus, Timing
from backend.foundation.errors import Conflict, NotFound
from backend.stores.dynamodb.store import create_table
from backend.stores.opening import open_store
from backend.stores.store import Capacity, Stale
from tests.dynamodb import moto
from tests.switches import number

from .. import sample_studies as studies
from ..memory import MemoryStore

AT = "2026-01-01T00:00:01.000Z"
ROUNDS = number("SUITE_RACES", 200)
"""Rounds of a race; `SUITE_RACES=1000` for many."""


_BESIDE_DYNALITE = pytest.mark.slow("further DynamoDBs beside dynalite, which keeps the races")


@pytest.fixture(
    params=[
        "sqlite",
        "memory",
        "dynalite",
        *(pytest.param(name, marks=_BESIDE_DYNALITE) for name in ("moto", "dynamodb_local")),
    ]
)
def url(request):
    """The URL of an empty store of each kind."""
    if request.param in ("sqlite", "memory"):
        yield {"sqlite": "sqlite:///contract.db", "memory": "memory"}[request.param]
    elif request.param == "moto":
        with moto("contract") as made:
            yield made
    else:
        made = request.getfixturevalue(request.param).url(f"t{secrets.token_hex(6)}")
        create_table(made)
        yield made


@pytest.fixture
def opened(url, tmp_path):
    """Return a function that opens the same store, as another process would."""
    stores = []
    in_memory = MemoryStore()

    def open_again():
        if url == "memory":
            return in_memory
        stores.append(open_store(url, tmp_path))
        return stores[-1]

    yield open_again
    for store in stores:
        store.close()


@pytest.fixture
def raced(store, url):
    """A store whose conditional writes are atomic under threads, which moto's are not."""
    if "endpoint" not in url and not url.startswith(("sqlite", "memory")):
        pytest.skip("moto does not keep conditions under threads")
    return store


@pytest.fixture
def store(opened):
    return opened()


def response(trial_index, answer="real"):
    return Response(trial_index, 0, "a.png", answer, 500, 516.7, 31, 16.7, (33.3, 33.3), 420.5, ("late",), AT)


def with_session(store, session_id="s1", model="gan", state="active", last_at=AT, **facts):
    study = studies.study(images=10)
    session = dataclasses.replace(studies.session(study, model=model, session_id=session_id), **facts)
    cursor = dataclasses.replace(sessions.opening(study.protocol, AT), state=state, last_at=last_at)
    with_study(store)
    store.add_session(session, cursor)
    return session, cursor


def with_study(store):
    """Store the study of `with_session`, unless one of that name exists."""
    study = studies.study(images=10)
    with suppress(Conflict):
        store.add_study(study, studies.pool(study, each=10))
    return study


def test_a_study_comes_back_as_it_was_stored_with_last_years_numbers(store):
    study = studies.study(method="time", classes=("cat", "dog"), staircase="weighted-75")
    stimuli = studies.pool(study, each=3)

    store.add_study(study, stimuli)

    assert store.study("faces") == study
    assert store.studies() == [study]
    assert list(store.stimuli("faces")) == sorted(stimuli, key=lambda s: s.name)


def test_a_pool_has_its_sides_in_the_order_of_names(store):
    study = studies.study(classes=("cat", "dog"))
    stimuli = sorted(studies.pool(study, each=300), key=lambda s: s.name)
    store.add_study(study, stimuli)

    pool = store.pool("faces")

    for class_ in study.classes:
        reals = [s.name for s in stimuli if (s.model, s.class_) == (None, class_)]
        fakes = [s.name for s in stimuli if (s.model, s.class_) == ("gan", class_)]
        assert (len(pool.reals[class_]), [*pool.fakes["gan"][class_]]) == (300, fakes)
        assert pool.reals[class_].several([299, 0, 240]) == [reals[299], reals[0], reals[240]]


def test_there_is_no_pool_without_a_study(store):
    with pytest.raises(NotFound, match="there is no study 'faces'"):
        store.pool("faces")


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


def test_of_many_answers_at_once_exactly_one_is_stored(raced):
    _, cursor = with_session(raced)
    for trial in range(ROUNDS):
        kept = race(8, lambda i, t=trial: append_once(raced, cursor, t, "real" if i % 2 else "fake"))

        assert sum(kept) == 1
    assert [stored.trial_index for stored in raced.responses("s1")] == list(range(ROUNDS))


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


def test_an_evaluators_place_is_taken_once_however_many_try(raced):
    holders = race(8, lambda i: raced.claim("faces", "key", f"s{i}"))

    assert len(set(holders)) == 1
    assert raced.claimed("faces", "key") == holders[0]
    assert raced.claimed("faces", "other") is None


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


def test_a_silent_session_holds_a_place_again_only_if_there_is_room(store):
    since = Capacity(1, "2026-01-01T08:00:00.000Z", "2026-01-01T08:30:00.000Z")
    silent, cursor = with_session(store, "s1", "gan", "active", "2026-01-01T00:00:00.000Z")
    again = dataclasses.replace(cursor, version=1, last_at="2026-01-01T09:00:00.000Z")
    store.taken("faces", since.active_since, unanswered_since=since.unanswered_since)
    _, opening = with_session(store, "s2", "gan", "active", "2026-01-01T09:00:00.000Z")

    refused = store.hold_again(silent, 0, again, since)
    store.move("s2", 0, dataclasses.replace(opening, version=1, state="returned"))
    held = store.hold_again(silent, 0, again, since)

    assert (refused, held) == (False, True)
    assert store.cursor("s1") == again
    assert store.taken("faces", since.active_since, unanswered_since=since.unanswered_since) == {"gan": 1}
    with pytest.raises(Stale, match="no longer at version 0"):
        store.hold_again(silent, 0, again, Capacity(2, since.active_since, since.unanswered_since))


def test_sessions_without_an_answer_give_their_place_back_sooner(opened):
    at = {"eight": "2026-01-01T08:00:00.000Z", "nine": "2026-01-01T09:00:00.000Z"}
    store = opened()
    with_session(store, "s1", "gan", "active", at["eight"])
    with_session(store, "s2", "gan", "active", at["nine"])
    _, third = with_session(store, "s3", "vae", "active", at["eight"])
    answered = dataclasses.replace(third, version=1, blocks_begun=1)
    store.move("s3", 0, answered)
    answered = dataclasses.replace(answered, version=2, trial_index=1, last_at=at["eight"])
    store.append("s3", 1, answered, response(0))
    with_session(store, "s4", "vae", "finished", at["eight"])
    _, fifth = with_session(store, "s5", "vae", "active", at["eight"])
    store.move("s5", 0, dataclasses.replace(fifth, version=1, voided_answers=1, last_at=at["eight"]))

    # asked again and again, by several processes, the reply is the same
    for asked in (store, opened(), opened()):
        sooner = asked.taken("faces", "2026-01-01T07", unanswered_since="2026-01-01T08:30")
        assert sooner == {"gan": 1, "vae": 3}
    assert opened().taken("faces", "2026-01-01T08:30", unanswered_since="2026-01-01T07") == {
        "gan": 1,
        "vae": 1,
    }
    assert opened().taken("faces", "2026-01-01T08:30", unanswered_since="2026-01-01T09:30") == {"vae": 1}


def test_who_answers_late_holds_a_place_again(opened):
    _, cursor = with_session(opened(), "s1", "gan", "active", "2026-01-01T08:00:00.000Z")
    late = dataclasses.replace(cursor, version=1, trial_index=1, last_at="2026-01-01T09:00:00.000Z")

    opened().append("s1", 0, late, response(0))

    assert opened().taken("faces", "2026-01-01T07", unanswered_since="2026-01-01T08:30") == {"gan": 1}


def returned(store, was):
    """Store a session that came to the state `was`, and then had its place given back; return its cursor."""
    session, opening = with_session(store)
    count = sessions.total_trials(session) if was == "finished" else 1
    for i in range(count):
        state = was if i == count - 1 else "active"
        after = dataclasses.replace(opening, version=i + 1, trial_index=i + 1, state=state)
        store.append("s1", i, after, response(i))
    after = sessions.mark_returned(after, AT)
    store.move("s1", count, after)
    return after


@pytest.mark.parametrize("was", ["active", "ended", "finished"])
def test_a_session_whose_place_was_given_back_takes_up_none_and_is_told_so(opened, was):
    with_session(opened(), "s2", state="finished")

    cursor = returned(opened(), was)

    for store in (opened(), opened()):
        assert store.taken("faces", "") == {"gan": 1}
        assert store.finished("faces")[0] == 1
        assert [c.state for _, c in store.sessions("faces")] == ["returned", "finished"]
        assert next((c.state, len(r)) for _, c, r in store.answered("faces")) == (
            "returned",
            cursor.trial_index,
        )
        assert store.cursor("s1") == cursor


@pytest.mark.parametrize("was", ["active", "ended", "finished"])
def test_a_session_that_was_given_back_and_erased_is_taken_off_the_counts_once(opened, was):
    with_session(opened(), "s2", state="finished")
    returned(opened(), was)

    opened().erase_session("s1")

    assert opened().taken("faces", "") == {"gan": 1}
    assert [session.id for session, _ in opened().sessions("faces")] == ["s2"]


def test_what_is_written_between_the_rows_of_a_read_is_seen(store):
    for name in ("s1", "s2"):
        with_session(store, name)
        store.write_entry("book", name, 0, {})

    seen = []
    for (session, cursor), entry in zip(store.sessions("faces"), store.entries("book"), strict=True):
        store.move(session.id, cursor.version, dataclasses.replace(cursor, version=1, lease=2))
        store.write_entry("book", entry.key, entry.version, {"n": 1})
        seen.append((store.cursor(session.id).lease, store.entry("book", entry.key).data))

    assert seen == [(2, {"n": 1})] * 2


def test_many_sessions_and_entries_come_once_each(store):
    names = [f"s{i:04}" for i in range(300)]
    for name in names:
        store.write_entry("book", name, 0, {})

    assert [entry.key for entry in store.entries("book")] == names


def test_another_process_sees_what_was_acknowledged(opened):
    first = opened()
    _, cursor = with_session(first)
    first.append("s1", 0, dataclasses.replace(cursor, version=1), response(0))

    second = opened()

    assert second.responses("s1") == [response(0)]
    assert second.cursor("s1").version == 1


def closed(cursor, version, state):
    return dataclasses.replace(cursor, version=version, trial_index=version, state=state)


def test_open_and_closed_sessions_come_in_the_order_of_their_ids_with_their_responses(store):
    expected = []
    for session_id, state in (("s3", "finished"), ("s1", "active"), ("s4", "ended"), ("s2", "finished")):
        session, cursor = with_session(store, session_id)
        after = closed(cursor, 1, state)
        store.append(session_id, 0, after, response(0))
        expected.append((session, after, [response(0)]))
    with_session(store, "other", model="vae")

    listed = list(store.answered("faces"))

    expected.sort(key=lambda row: row[0].id)
    assert listed[1:] == expected
    assert [session.id for session, _ in store.sessions("faces")] == ["other", "s1", "s2", "s3", "s4"]
    assert list(store.sessions("elsewhere")) == []


def test_a_closed_session_counts_once_however_often_it_is_resumed(store):
    _, cursor = with_session(store)
    store.append("s1", 0, closed(cursor, 1, "finished"), response(0))

    store.move("s1", 1, dataclasses.replace(closed(cursor, 2, "finished"), trial_index=1, lease=2))

    assert store.taken("faces", active_since="2027") == {"gan": 1}
    assert store.cursor("s1").lease == 2
    assert [len(responses) for _, _, responses in store.answered("faces")] == [1]


def test_a_session_that_answers_again_takes_its_place_up_again(store):
    _, cursor = with_session(store)

    before = store.taken("faces", active_since="2026-01-02")
    store.move("s1", 0, dataclasses.replace(cursor, version=1, last_at="2026-01-03T00:00:00.000Z"))
    store.append("s1", 1, closed(cursor, 2, "finished"), response(0))

    assert before == {}
    assert store.taken("faces", active_since="2026-01-02") == {"gan": 1}


@pytest.mark.parametrize("state", ["active", "finished"])
def test_a_session_is_restored_as_it_stood_and_again_when_it_went_on(store, state):
    study = with_study(store)
    session = studies.session(study)
    opened = sessions.opening(study.protocol, AT)
    early = closed(opened, 3, "active")
    late = closed(opened, 8, state)

    store.restore(session, early, [response(i) for i in range(3)])
    for _ in range(2):
        store.restore(session, late, [response(i) for i in range(8)])

    stored = (session, late, [response(i) for i in range(8)])
    assert (store.session("s1"), store.cursor("s1"), store.responses("s1")) == stored
    assert list(store.answered("faces")) == [stored]
    assert store.taken("faces", active_since="2025") == {"gan": 1}


def test_a_session_that_was_played_here_is_brought_up_to_another_store(store):
    session, cursor = with_session(store)
    for i in range(9):
        store.append("s1", i, closed(cursor, i + 1, "active"), response(i))
    late = closed(cursor, 11, "active")

    store.restore(session, late, [response(i) for i in range(11)])
    store.append("s1", 11, closed(cursor, 12, "active"), response(11))

    assert store.responses("s1") == [response(i) for i in range(12)]


def test_a_restored_session_goes_on_and_is_not_set_back(store):
    study = with_study(store)
    session = studies.session(study)
    standing = closed(sessions.opening(study.protocol, AT), 3, "active")
    store.restore(session, standing, [response(i) for i in range(3)])

    store.append("s1", 3, closed(standing, 4, "active"), response(3))
    with pytest.raises(Stale, match="session s1 was continued in the meantime"):
        store.restore(session, standing, [response(i) for i in range(3)])

    assert store.responses("s1") == [response(i) for i in range(4)]
    assert store.cursor("s1").version == 4


def test_an_entry_comes_back_and_changes_at_its_version(opened):
    store = opened()

    first = store.write_entry("ledger faces", "s1", 0, {"owed": 12, "ids": ["a"]})
    second = store.write_entry("ledger faces", "s1", first.version, {"owed": 14})

    assert (first.version, second.version) == (1, 2)
    assert opened().entry("ledger faces", "s1") == second
    assert second.data == {"owed": 14}


def test_a_long_entry_comes_back(opened):
    """A thousand submissions of one member, for instance; an item of a table has 400 KB."""
    data = {
        "submissions": [
            {"id": f"{i * 7919:024x}", "note": "JPEG of quality 90 \u00e9" * 20} for i in range(1000)
        ]
    }
    opened().write_entry("long", "ann", 0, data)

    assert opened().entry("long", "ann").data == data
    assert [entry.data for entry in opened().entries("long")] == [data]


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


def test_the_latest_entries_come_in_pages_from_the_last_key_down(store):
    for key in ("b", "d", "a", "c"):
        store.write_entry("book", key, 0, {"key": key})
    store.write_entry("book 2", "e", 0, {})

    first = store.latest_entries("book", 3)
    rest = store.latest_entries("book", 3, before=first[-1].key)

    assert [(entry.key, entry.data) for entry in first] == [(key, {"key": key}) for key in "dcb"]
    assert [entry.key for entry in rest] == ["a"]
    assert store.latest_entries("book", 3, before="a") == []
    assert store.latest_entries("no such book", 3) == []


def test_a_page_of_latest_entries_may_be_larger_than_one_reply_of_the_store(store):
    text = "x" * 200_000  # six exceed the megabyte that one query of DynamoDB returns
    for key in "abcdef":
        store.write_entry("book", key, 0, {"text": text})

    assert [entry.key for entry in store.latest_entries("book", 6)] == list("fedcba")


def test_of_writers_who_make_one_entry_at_once_one_succeeds(opened, raced):
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


def test_cursors_come_without_their_sessions_in_the_order_of_the_ids(store):
    _, second = with_session(store, "s2", state="finished")
    _, first = with_session(store, "s1")
    store.move("s1", 0, dataclasses.replace(first, version=1, trial_index=3))

    assert list(store.cursors("faces")) == [
        ("s1", dataclasses.replace(first, version=1, trial_index=3)), ("s2", second),
    ]  # fmt: skip
    assert list(store.cursors("other")) == []


def test_a_redacted_session_loses_panel_and_device_and_nothing_else(store):
    study = with_study(store)
    personal = {"panel": {"PROLIFIC_PID": "p"}, "device": {"user_agent": "Firefox", "simulated": True}}
    session = dataclasses.replace(studies.session(study, seed=2**53 - 1), **personal)
    cursor = sessions.opening(study.protocol, AT)
    store.add_session(session, cursor)
    store.append("s1", 0, dataclasses.replace(cursor, version=1, trial_index=1), response(0))

    for _ in range(2):
        store.redact_session("s1", {}, {"simulated": True})
    store.redact_session("nobody", {}, {})

    assert store.session("s1") == dataclasses.replace(session, panel={}, device={"simulated": True})
    assert store.responses("s1") == [response(0)]
    assert store.cursor("s1").version == 1


def test_nobody_goes_on_from_before_a_restored_version(opened):
    store, other = opened(), opened()
    session, cursor = with_session(store)
    other.append("s1", 0, closed(cursor, 1, "active"), response(0))
    restored = closed(cursor, 5, "active")
    responses = [response(i) for i in range(5)]

    for _ in range(2):
        store.restore(session, restored, responses)

    for version in range(5):
        with pytest.raises(Stale, match=f"no longer at version {version}"):
            other.append("s1", version, closed(cursor, version + 1, "active"), response(version))
    with pytest.raises(Stale, match="was continued in the meantime"):
        store.restore(session, closed(cursor, 4, "active"), responses[:4])
    assert (other.cursor("s1"), other.responses("s1")) == (restored, responses)
    other.append("s1", 5, closed(cursor, 6, "active"), response(5))
    assert len(store.responses("s1")) == 6


def test_an_erased_session_is_gone_with_its_answers_and_its_claim_stays(store):
    session, cursor = with_session(store)
    store.claim("faces", "key", session.id)
    store.append(session.id, 0, dataclasses.replace(cursor, version=1, trial_index=1), response(0))

    store.erase_session(session.id)
    store.erase_session(session.id)

    with pytest.raises(NotFound, match="there is no session 's1'"):
        store.session(session.id)
    with pytest.raises(NotFound, match="there is no session 's1'"):
        store.cursor(session.id)
    assert store.responses(session.id) == []
    assert list(store.sessions("faces")) == []
    assert store.taken("faces", "2020") == {}
    assert store.claimed("faces", "key") == session.id


@pytest.mark.parametrize("read", ["sessions", "cursors", "answered"])
def test_a_session_erased_while_they_are_read_is_left_out_or_whole(opened, read):
    store, other = opened(), opened()
    names = [f"s{i}" for i in range(6)]
    for i, name in enumerate(names):
        _, cursor = with_session(store, name)
        for k in range(2):
            store.append(
                name, k, closed(cursor, k + 1, "finished" if i % 3 == 0 and k else "active"), response(k)
            )

    found = []
    for row in getattr(store, read)("faces"):
        found.append(row)
        other.erase_session(names[2 * len(found)] if 2 * len(found) < len(names) else "gone")

    ids = [row[0] if read == "cursors" else row[0].id for row in found]
    assert [name for name in ids if name not in {"s2", "s4"}] == ["s0", "s1", "s3", "s5"]
    assert {row[1].version for row in found} == {2}
    assert read != "answered" or {len(row[2]) for row in found} == {2}
    assert [session.id for session, _ in store.sessions("faces")] == ["s0", "s1", "s3", "s5"]


@pytest.mark.parametrize("state", ["active", "finished"])
def test_an_erased_session_takes_no_more_answers_and_no_place(opened, state):
    store, other = opened(), opened()
    with_session(store, "s2")
    _, cursor = with_session(store)
    for i in range(6):
        store.append("s1", i, closed(cursor, i + 1, state if i == 5 else "active"), response(i))
    other.session("s1")

    store.erase_session("s1")
    for version in range(7):  # a write may have been sent at any of them
        with pytest.raises(Stale, match=f"no longer at version {version}"):
            other.append("s1", version, closed(cursor, version + 1, "active"), response(version))
    store.erase_session("s1")

    with pytest.raises(NotFound, match="there is no session 's1'"):
        other.cursor("s1")
    assert other.responses("s1") == []
    assert [session.id for session, _, _ in store.answered("faces")] == ["s2"]
    assert store.taken("faces", "2020") == {"gan": 1}


def test_finished_sessions_are_counted_with_the_newest(store):
    later = "2026-01-02T00:00:00.000Z"
    none = store.finished("faces")
    with_session(store, "s1", state="finished")
    with_session(store, "s2", state="finished", last_at=later)
    with_session(store, "s3", state="active", last_at="2026-01-03T00:00:00.000Z")
    with_session(store, "s4", state="ended", last_at="2026-01-03T00:00:00.000Z")

    assert none == (0, "")
    assert store.finished("faces") == (2, later)
    assert store.finished("others") == (0, "")


def test_simulated_sessions_are_in_no_reading_but_their_own(opened):
    real = with_session(opened(), "s1", state="finished")
    simulated = with_session(
        opened(), "s2", state="finished", last_at="2027-01-01T00:00:00.000Z", is_simulated=True
    )
    with_session(opened(), "s3", "vae", is_simulated=True)

    for store in (opened(), opened()):
        assert list(store.sessions("faces")) == [real]
        assert list(store.answered("faces")) == [(*real, [])]
        assert list(store.cursors("faces")) == [("s1", real[1])]
        assert (store.taken("faces", ""), store.finished("faces")) == ({"gan": 1}, (1, AT))
        found = list(store.sessions("faces", simulated=True))
        assert (found[0], len(found)) == (simulated, 2)
        assert [session.id for session, *_ in store.answered("faces", simulated=True)] == ["s2", "s3"]
        assert store.taken("faces", "", simulated=True) == {"gan": 1, "vae": 1}
        assert store.finished("faces", simulated=True) == (1, "2027-01-01T00:00:00.000Z")


def test_a_simulated_session_is_played_returned_and_erased_apart_from_the_real_ones(opened):
    with_session(opened(), "s1", state="finished")
    session, cursor = with_session(opened(), "s2", is_simulated=True)
    opened().append("s2", 0, closed(cursor, 1, "finished"), response(0))

    (found,) = opened().answered("faces", simulated=True)
    counted = opened().taken("faces", "", simulated=True)
    opened().erase_session("s2")

    assert found == (session, closed(cursor, 1, "finished"), [response(0)])
    assert (counted, opened().taken("faces", "", simulated=True)) == ({"gan": 1}, {})
    assert list(opened().sessions("faces", simulated=True)) == []
    assert opened().taken("faces", "") == {"gan": 1}


def test_a_restored_simulated_session_stays_one(store):
    study = with_study(store)
    session = dataclasses.replace(studies.session(study), is_simulated=True)
    cursor = closed(sessions.opening(study.protocol, AT), 1, "finished")

    for _ in range(2):
        store.restore(session, cursor, [response(0)])

    assert list(store.answered("faces", simulated=True)) == [(session, cursor, [response(0)])]
    assert (list(store.sessions("faces")), store.finished("faces")) == ([], (0, ""))


def test_what_the_browser_says_of_itself_makes_no_session_a_simulated_one(opened):
    session, _ = with_session(opened(), device={"simulated": True})

    assert opened().session("s1") == session
    assert [found.id for found, _ in opened().sessions("faces")] == ["s1"]
    assert list(opened().sessions("faces", simulated=True)) == []


def changed(study, **changes):
    return dataclasses.replace(study, version=study.version + 1, **changes)


def test_a_study_changes_at_its_version_and_every_process_sees_it(opened):
    study = studies.study(images=10)
    opened().add_study(study, studies.pool(study, each=3))
    reader = opened()
    reader.study("faces")

    for count, settings_id in ((20, "b"), (30, "c")):
        numbers = study.protocol.changed(images=count)
        study = changed(study, protocol=numbers, settings_id=settings_id)
        opened().change_study(study)

        assert reader.study("faces") == study
        assert reader.studies() == [study]
    assert len(list(reader.stimuli("faces"))) == 9


def test_a_change_of_a_study_that_has_moved_on_is_refused(store):
    study = studies.study(images=10)
    store.add_study(study, studies.pool(study, each=3))
    begun = changed(study, begun_at=AT)
    store.change_study(begun)

    with pytest.raises(Stale, match="study faces is no longer at version 1"):
        store.change_study(changed(study, settings_id="late"))
    with pytest.raises(Stale, match="study nobody is no longer at version 1"):
        store.change_study(changed(dataclasses.replace(study, name="nobody")))

    assert store.study("faces") == begun


def test_of_many_changes_of_a_study_at_once_one_is_made(raced):
    study = studies.study(images=10)
    raced.add_study(study, studies.pool(study, each=3))
    for _ in range(20):
        study = raced.study("faces")

        made = race(4, lambda i, s=study: change_once(raced, changed(s, settings_id=f"{i}")))

        assert sum(made) == 1
        assert raced.study("faces") == changed(study, settings_id=f"{made.index(True)}")


def change_once(store, study):
    try:
        store.change_study(study)
    except Stale:
        return False
    return True


def test_a_study_that_is_being_deleted_is_not_there_but_for_who_asks(store):
    study = studies.study(images=10)
    store.add_study(study, studies.pool(study, each=3))
    leaving = changed(study, deleted_at=AT)

    store.change_study(leaving)

    with pytest.raises(NotFound, match="there is no study 'faces'"):
        store.study("faces")
    assert (store.studies(), store.studies(even_deleted=True)) == ([], [leaving])
    assert store.study("faces", even_deleted=True) == leaving
    with pytest.raises(Conflict, match="a study faces exists already"):
        store.add_study(study, [])


def test_a_removed_study_leaves_its_name_to_another(opened):
    first = studies.study(images=10)
    opened().add_study(first, studies.pool(first, each=3))
    reader = opened()
    before = list(reader.stimuli("faces"))
    _, cursor = with_session(opened(), is_simulated=True)
    opened().erase_session("s1")

    for _ in range(2):
        opened().remove_study("faces")
    second = dataclasses.replace(first, created_at="2027-01-01T00:00:00.000Z")
    gone = list(opened().stimuli("faces"))
    pool = studies.pool(second, each=20, seed=2)
    opened().add_study(second, pool)
    drawn = studies.session(second, pool, session_id="s2")
    writer = opened()
    writer.study("faces")
    writer.add_session(drawn, cursor)

    assert (len(before), gone) == (9, [])
    assert (reader.study("faces"), len(list(reader.stimuli("faces")))) == (second, 60)
    assert list(reader.sessions("faces")) == [(drawn, cursor)]
    assert list(reader.sessions("faces", simulated=True)) == []


def test_an_erased_entry_is_gone_and_may_be_written_anew(store):
    store.write_entry("book", "k", 0, {"n": 1})
    store.write_entry("book", "other", 0, {})

    for _ in range(2):
        store.erase_entry("book", "k")

    assert store.entry("book", "k") is None
    assert [entry.key for entry in store.entries("book")] == ["other"]
    assert store.write_entry("book", "k", 0, {"n": 2}).version == 1


def sessions_of(store, model="gan"):
    return [session.id for session, _ in store.sessions("faces") if session.model == model]


def seat(store, session_id, capacity, model="gan"):
    study = with_study(store)
    session = studies.session(study, model=model, session_id=session_id)
    store.add_session(session, sessions.opening(study.protocol, AT), capacity)


def test_a_model_that_has_all_its_sessions_takes_no_other_one(store):
    with_session(store, "s1", state="finished")
    with_session(store, "s2", last_at="2026-01-01T00:00:00.000Z")  # silent for too long
    with_session(store, "s3", state="ended")
    with_session(store, "s4", model="vae")
    capacity = Capacity(wanted=2, active_since=AT)

    seat(store, "s5", capacity)
    with pytest.raises(Stale, match="gan of study faces has its 2 sessions by now"):
        seat(store, "s6", capacity)
    seat(store, "s7", capacity, model="vae")

    assert sessions_of(store) == ["s1", "s2", "s3", "s5"]
    with pytest.raises(NotFound, match="there is no session 's6'"):
        store.cursor("s6")


def test_of_many_who_are_let_in_at_once_no_more_stay_than_are_wanted(opened, raced):
    stores = [opened() for _ in range(4)]
    start, capacity = threading.Barrier(len(stores)), Capacity(wanted=3, active_since=AT)
    stayed = []

    def let_in(n, store):
        start.wait()
        for round_ in range(5):
            try:
                seat(store, f"s{n}-{round_}", capacity)
                stayed.append(f"s{n}-{round_}")
            except Stale:
                pass

    threads = [threading.Thread(target=let_in, args=each) for each in enumerate(stores)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sessions_of(raced) == sorted(stayed)
    assert len(stayed) <= 3


def test_a_pool_grows_at_once_with_its_study_and_sessions_of_before_stay(opened):
    store, other = opened(), opened()
    session, _ = with_session(store)
    study = store.study(session.study)
    before = [*store.stimuli(study.name)]
    assert {*other.pool(study.name).fakes} == {"gan", "vae"}  # read, and cached
    new = [Stimulus(f"{i:032x}.png", "fake", "ada", "", f"{i}.png") for i in range(3)]
    grown = dataclasses.replace(
        study, models=(*study.models, "ada"), joined=(len(study.models),), version=study.version + 1
    )

    store.add_stimuli(grown, new)

    for each in (store, other, opened()):
        assert each.study(study.name) == grown
        assert [*each.pool(study.name).fakes["ada"][""]] == [stimulus.name for stimulus in new]
        assert len(each.pool(study.name).fakes["gan"][""]) == 10
        assert each.session(session.id) == session
        assert [*each.stimuli(study.name)] == sorted([*before, *new], key=lambda stimulus: stimulus.name)
    with pytest.raises(Stale, match="version"):
        store.add_stimuli(grown, new)
    later = dataclasses.replace(session, id="s2")
    store.add_session(later, sessions.opening(study.protocol, AT))
    assert opened().session("s2") == later
    assert len([*store.stimuli(study.name)]) == len(before) + len(new)
    for session_id in ("s1", "s2"):
        store.erase_session(session_id)
    store.remove_study(study.name)
    assert [*store.stimuli(study.name)] == []
