"""What is SQLite's own: the tables, durability settings, one writer for many threads."""

import os
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace

import pytest

from backend.foundation.errors import Conflict, InvalidInput, OpenhypeError, StoreFailed
from backend.stores.opening import open_store
from backend.stores.sqlite import SqliteStore
from backend.stores.sqlite_schema import FORM

from .. import sample_studies as studies


def test_the_tables_are_made_once(tmp_path):
    for _ in range(2):
        SqliteStore(tmp_path / "a.db").close()

    (version,) = sqlite3.connect(tmp_path / "a.db").execute("PRAGMA user_version").fetchone()
    assert version == FORM


def test_a_study_is_not_parsed_again_at_each_request_until_it_changes(tmp_path):
    store, study = SqliteStore(tmp_path / "a.db"), studies.study(images=10)
    store.add_study(study, [])

    before = store.study("faces")
    again, listed = store.study("faces"), store.studies()[0]
    store.change_study(replace(study, notes=("changed",), version=2))

    assert before is again is listed
    assert (before.notes, store.study("faces").notes) == ((), ("changed",))
    store.close()


@pytest.mark.parametrize("form", [FORM - 1, FORM + 1])
def test_a_file_of_another_openhype_is_left_alone(tmp_path, form):
    db = sqlite3.connect(tmp_path / "a.db")
    db.execute(f"PRAGMA user_version = {form}")

    with pytest.raises(Conflict, match=rf"another openhype \(form {form}, this one reads {FORM}\)"):
        SqliteStore(tmp_path / "a.db")

    assert db.execute("PRAGMA user_version").fetchone() == (form,)
    assert db.execute("SELECT 1 FROM sqlite_master").fetchone() is None
    db.close()


def test_a_write_that_fails_for_a_reason_of_its_own_leaves_the_writer_working(tmp_path):
    store = SqliteStore(tmp_path / "a.db")

    with pytest.raises(ZeroDivisionError, match="by zero"):
        store._write(lambda db: 1 / 0)

    assert store.claim("s", "k", "s1") == "s1"
    store.close()


@pytest.mark.parametrize("checks_first", [False, True])
def test_a_write_that_fails_unforeseen_takes_back_its_own_writes_only(tmp_path, checks_first):
    store = SqliteStore(tmp_path / "a.db")
    gate = threading.Event()

    def fails_late(db):
        db.execute("INSERT INTO claims VALUES ('s', 'half', 's1')")
        "\ud800".encode()

    def claims(key):
        return lambda db: db.execute("INSERT INTO claims VALUES ('s', ?, 's1')", (key,)).rowcount

    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(store._write, lambda db: gate.wait(60))  # the others come into one batch
        good = [pool.submit(store._write, claims(f"k{i}"), checks_first) for i in range(3)]
        bad = pool.submit(store._write, fails_late, checks_first)
        good += [pool.submit(store._write, claims(f"k{i}"), checks_first) for i in range(3, 6)]
        time.sleep(0.1)
        gate.set()
        first.result()

        with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
            bad.result()
        assert [each.result() for each in good] == [1] * 6
    assert store.claimed("s", "half") is None
    assert all(store.claimed("s", f"k{i}") == "s1" for i in range(6))
    store.close()


def exits(db):
    raise SystemExit(1)


def loses_the_connection(db):
    db.execute("INSERT INTO claims VALUES ('s', 'half', 's1')")
    db.close()


@pytest.mark.parametrize("checks_first", [False, True])
@pytest.mark.parametrize("fault", [exits, loses_the_connection])
def test_whatever_a_write_does_others_are_answered_and_the_writer_goes_on(tmp_path, fault, checks_first):
    store = SqliteStore(tmp_path / "a.db")
    gate = threading.Event()
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(store._write, lambda db: gate.wait(60))  # the others come into one batch
        jobs = [pool.submit(store._write, lambda db: 1, checks_first) for _ in range(3)]
        bad = pool.submit(store._write, fault, checks_first)
        time.sleep(0.1)
        gate.set()

        for each in (first, *jobs):
            with suppress(StoreFailed):
                each.result(timeout=60)
        with pytest.raises(StoreFailed, match="could not be written"):
            bad.result(timeout=60)
        assert pool.submit(store.claim, "s", "k", "s1").result(timeout=60) == "s1"
    assert store.claimed("s", "half") is None
    store.close()


def test_a_store_that_is_closed_says_so_and_keeps_nobody_waiting(tmp_path):
    store = SqliteStore(tmp_path / "a.db")
    store.close()

    with ThreadPoolExecutor(1) as pool, pytest.raises(StoreFailed, match="closed"):
        pool.submit(store.claim, "s", "k", "s1").result(timeout=60)


@pytest.mark.slow("waits for SQLite's own limit of seconds")
def test_pages_are_read_and_writers_told_while_another_program_keeps_the_database_locked(world):
    world.add(studies.study())
    player = world.player()
    player.begin()
    session = player.state["session"]
    other = sqlite3.connect(world.data.root / "openhype.db")
    other.execute("BEGIN IMMEDIATE")

    with ThreadPoolExecutor(40) as pool:
        start = time.monotonic()
        writing = [pool.submit(world.store.claim, "faces", f"k{i}", "s1") for i in range(40)]
        refused = [each.exception(timeout=60) for each in writing]
        waited_first, start = time.monotonic() - start, time.monotonic()
        later = [pool.submit(world.store.claim, "faces", f"l{i}", "s1") for i in range(40)]
        refused += [each.exception(timeout=60) for each in later]
        waited = time.monotonic() - start
        reply = player.post("answers", player.body())
        read = world.store.cursor(session)
    other.rollback()

    assert {getattr(error, "code", error) for error in refused} == {"store_locked"}
    assert waited < waited_first / 2  # the first ones waited: nobody waits any more
    assert (reply.status_code, reply.json["error"]["code"]) == (503, "store_locked")
    assert read.trial_index == 0
    assert eventually(lambda: player.answer()["trial_index"] == 0)


def eventually(done, seconds=60):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        with suppress(AssertionError):
            return done()
        time.sleep(0.05)
    return False


def test_an_answer_on_a_full_disk_is_not_confirmed_and_can_be_given_again(world):
    world.add(studies.study())
    player = world.player()
    player.begin()
    (pages,) = world.store._write(lambda db: db.execute("PRAGMA page_count").fetchone())
    limit = "PRAGMA max_page_count = {}"

    world.store._write(lambda db: db.execute(limit.format(pages)).fetchone())
    statuses = set()
    for _ in range(40):
        reply = player.post("answers", player.body(flags=["x" * 30] * 8))
        statuses.add(reply.status_code)
        if reply.status_code != 200:
            break
        player.next = reply.json["next"]
    trial = player.next["trial_index"]
    stored = len(world.store.responses(player.state["session"]))
    world.store._write(lambda db: db.execute(limit.format(10**6)).fetchone())

    assert (statuses, reply.json["error"]["code"], stored) == ({200, 503}, "store_failed", trial)
    assert player.answer()["trial_index"] == trial


def test_commits_are_synced_and_in_wal_mode(tmp_path):
    store = SqliteStore(tmp_path / "a.db")

    pragmas = [
        store._db().execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")
    ]

    assert pragmas == ["wal", 2]
    store.close()


@pytest.mark.parametrize("url", ["", "openhype.db", "sqlite:///", "postgres://x"])
def test_a_url_that_names_no_store_is_refused(tmp_path, url):
    with pytest.raises(InvalidInput, match=r"must be of the form sqlite:///openhype\.db"):
        open_store(url, tmp_path)


def own_database(path):
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE recipes (name TEXT)")
    db.close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.mkdir(), "the database .*a.db cannot be opened: it is a folder"),
        (lambda path: path.write_bytes(b"garbage" * 900), "cannot be opened: file is not a database"),
        (own_database, "a.db is the database of another program; choose another file with --store"),
    ],
)
def test_what_is_no_database_of_ours_is_refused_and_left_as_it_is(tmp_path, make, message):
    make(tmp_path / "a.db")
    before = None if (tmp_path / "a.db").is_dir() else (tmp_path / "a.db").read_bytes()

    with pytest.raises(OpenhypeError, match=message):
        SqliteStore(tmp_path / "a.db")

    assert before is None or (tmp_path / "a.db").read_bytes() == before


def test_a_database_that_cannot_be_written_is_said(tmp_path):
    SqliteStore(tmp_path / "a.db").close()
    unlocked = os.stat(tmp_path).st_mode
    os.chmod(tmp_path / "a.db", 0o400)
    os.chmod(tmp_path, 0o500)

    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write everywhere")
        with pytest.raises(StoreFailed, match="a database must be writable, and so must its folder"):
            SqliteStore(tmp_path / "a.db")
    finally:
        os.chmod(tmp_path, unlocked)


def in_another_process(program, path):
    """Run a program over `store`, the database at `path`, and return what it prints."""
    head = "import sys; from pathlib import Path; from backend.stores.sqlite import SqliteStore\n"
    code = f"{head}store = SqliteStore(Path(sys.argv[1]))\n{program}\nstore.close()"
    return subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    ).stdout


def test_a_second_store_on_one_file_leaves_the_locks_of_the_first(tmp_path):
    path = tmp_path / "a.db"
    with closing(SqliteStore(path)) as first, closing(SqliteStore(path)):
        in_another_process(
            "store.claim('s', 'theirs', '1')", path
        )  # it ends as the last user, if no lock is held

        first.claim("s", "ours", "2")
        seen = in_another_process("print(store.claimed('s', 'ours'), store.claimed('s', 'theirs'))", path)

    assert seen == "2 1\n"


def test_a_thread_that_ends_leaves_no_open_file(tmp_path):
    def open_after(threads):
        for _ in range(threads):
            thread = threading.Thread(target=store.entry, args=("book", "key"))
            thread.start()
            thread.join()
        return len(os.listdir("/proc/self/fd"))

    with closing(SqliteStore(tmp_path / "a.db")) as store:
        store.entry("book", "key")

        assert open_after(1) == open_after(30)  # SQLite keeps one for the next connection


READS = [
    lambda store: store.study("faces"),
    lambda store: store.studies(),
    lambda store: [*store.stimuli("faces")],
    lambda store: store.pool("faces"),
    lambda store: store.claimed("faces", "k"),
    lambda store: store.session("s1"),
    lambda store: store.cursor("s1"),
    lambda store: [*store.sessions("faces")],
    lambda store: [*store.cursors("faces")],
    lambda store: store.taken("faces", ""),
    lambda store: store.finished("faces"),
    lambda store: store.responses("s1"),
    lambda store: store.entry("book", "key"),
    lambda store: [*store.entries("book")],
    lambda store: store.latest_entries("book", 1),
]


@pytest.mark.parametrize("read", READS)
def test_a_read_that_fails_says_so_as_the_store(tmp_path, monkeypatch, read):
    with closing(SqliteStore(tmp_path / "a.db")) as store:
        monkeypatch.setattr("backend.stores.sqlite._connect", failing_connection)

        with pytest.raises(StoreFailed, match=r"a\.db could not be read \(disk I/O error\); try again"):
            read(store)


def failing_connection(path):
    raise sqlite3.OperationalError("disk I/O error")
