"""The embedded store: one SQLite file, in WAL mode, synced to the disk at every commit.

Writes go through one thread that commits everything queued during the previous sync (group commit): a
disk syncs some hundred times a second, and sixteen evaluators who answer at once share one sync. A write
is acknowledged only after its commit.
"""

import json
import os
import queue
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from backend.experiment.records import Response, Session, Stimulus, Study
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor
from backend.foundation.errors import Conflict, NotFound, StoreFailed, reason
from backend.foundation.file_permissions import make_folder, private
from backend.stores import json_codec
from backend.stores.name_pages import held_pool
from backend.stores.sqlite_schema import FORM, create_tables
from backend.stores.store import Capacity, Entry, Stale, check_capacity, visible_study

_BATCH = 256
_BUSY_SECONDS = 30
_WRITER_BUSY_SECONDS = 2
"""How long another program may hold the write lock before writers fail; own writes take milliseconds."""
_LOOK_SECONDS = 0.25
"""Interval at which the lock is then tried again."""
_PAGE_ROWS, _POOL_ROWS = 256, 4096
_HOLDS_A_PLACE = """(state = 'finished' OR (state = 'active' AND last_at >= ? AND (last_at >= ?
    OR json_extract(record, '$.trial_index') > 0
    OR json_extract(record, '$.voided_answers') > 0)))"""
_TAKEN_OF_CONDITION = f"""SELECT count(*) FROM cursors
    WHERE study = ? AND is_simulated = ? AND model IS ? AND {_HOLDS_A_PLACE}"""
_ADD_STIMULUS = "INSERT INTO stimuli VALUES (?, ?, ?, ?, ?, ?, ?)"
# A thread that closes the file it made would drop the locks of another connection.
_CREATING = threading.Lock()


class _Job:
    """A write for the writer thread, and its outcome, for which a lock costs a tenth of a `Future`.

    Args:
        checks_first: whether it checks before it writes anything.
    """

    def __init__(self, work: Callable[[sqlite3.Connection], Any], checks_first: bool):
        self.work, self.checks_first = work, checks_first
        self._outcome: tuple[Any, Exception | None] | None = None
        self._running = threading.Lock()
        self._running.acquire()

    def finish(self, result: Any, problem: Exception | None) -> None:
        """Wake the caller with what the work returned or raised, unless that was done before."""
        if self._outcome is None:
            self._outcome = result, problem
            self._running.release()

    def wait(self) -> Any:
        """Return or raise the outcome once there is one; for the one thread that asked for the write."""
        self._running.acquire()
        assert self._outcome is not None  # the lock is released after it is set
        result, problem = self._outcome
        if problem is not None:
            raise problem
        return result


class _Reader:
    """A thread's connection for reading, which is closed when the thread ends."""

    def __init__(self, db: sqlite3.Connection):
        self.db = db

    def __del__(self) -> None:
        self.db.close()


class SqliteStore:
    """`Store` on one file, created if missing. Safe to use from many threads and processes."""

    def __init__(self, path: Path):
        make_folder(path.parent, is_first=True)
        self._path = path
        self.url: str | None = f"sqlite:///{path.absolute()}"
        self._local = threading.local()
        self._readers: weakref.WeakSet[_Reader] = weakref.WeakSet()
        self._readers_lock = threading.Lock()  # `close` iterates over the set while threads add to it
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        try:
            with _CREATING:
                _make_private(path)
            _check_ours(path)
            writer = _connect(path)
            _prepare(writer, path)
        except sqlite3.Error as error:
            raise StoreFailed(f"the database {path} cannot be opened: {_why_not(path, error)}") from None
        writer.execute(f"PRAGMA busy_timeout = {1000 * _WRITER_BUSY_SECONDS}")
        self._is_locked_out = self._is_closed = False
        self._closing = threading.Lock()  # no job is queued behind the end, where it would wait for ever
        self._thread = threading.Thread(target=self._write_on, args=(writer,), name="openhype-writer")
        self._thread.daemon = True
        self._thread.start()

    def add_study(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        rows = _stimulus_rows(study, stimuli)

        def write(db: sqlite3.Connection) -> None:
            try:
                db.execute("INSERT INTO studies VALUES (?, ?)", (study.name, json_codec.dump(study)))
            except sqlite3.IntegrityError:
                raise Conflict(f"a study {study.name} exists already; choose another name") from None
            db.executemany(_ADD_STIMULUS, rows)

        self._write(write)

    def study(self, name: str, even_deleted: bool = False) -> Study:
        record = self._one("SELECT record FROM studies WHERE name = ?", name, "study")
        return visible_study(json_codec.load_study(record), even_deleted)

    def studies(self, even_deleted: bool = False) -> list[Study]:
        rows = self._rows("SELECT record FROM studies ORDER BY name")
        stored = [json_codec.load_study(record) for (record,) in rows]
        return [study for study in stored if even_deleted or not study.deleted_at]

    def change_study(self, study: Study) -> None:
        self.add_stimuli(study, ())

    def add_stimuli(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        record, before = json_codec.dump(study), study.version - 1
        rows = _stimulus_rows(study, stimuli)
        sql = "UPDATE studies SET record = ? WHERE name = ? AND json_extract(record, '$.version') = ?"

        def write(db: sqlite3.Connection) -> None:
            if db.execute(sql, (record, study.name, before)).rowcount != 1:
                raise Stale(f"study {study.name} is no longer at version {before}")
            db.executemany(_ADD_STIMULUS, rows)

        self._write(write, checks_first=True)

    def remove_study(self, name: str) -> None:
        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM stimuli WHERE study = ?", (name,))
            db.execute("DELETE FROM studies WHERE name = ?", (name,))

        self._write(write)

    def stimuli(self, study: str) -> Iterator[Stimulus]:
        sql = """SELECT name, truth, model, class, source, role FROM stimuli
                 WHERE study = ? AND name > ? ORDER BY name LIMIT ?"""
        for row in self._paged(sql, study):
            yield Stimulus(*row)

    def pool(self, study: str) -> Pool:
        self.study(study, even_deleted=True)
        sql = """SELECT name, truth, model, class, role FROM stimuli
                 WHERE study = ? AND name > ? ORDER BY name LIMIT ?"""
        return held_pool(self._paged(sql, study, rows_at_once=_POOL_ROWS))

    def claim(self, study: str, evaluator_key: str, session_id: str, instead_of: str | None = None) -> str:
        def write(db: sqlite3.Connection) -> str:
            db.execute("INSERT OR IGNORE INTO claims VALUES (?, ?, ?)", (study, evaluator_key, session_id))
            db.execute(
                "UPDATE claims SET session = ? WHERE study = ? AND evaluator_key = ? AND session = ?",
                (session_id, study, evaluator_key, instead_of),
            )
            sql = "SELECT session FROM claims WHERE study = ? AND evaluator_key = ?"
            return str(db.execute(sql, (study, evaluator_key)).fetchone()[0])

        session: str = self._write(write)
        return session

    def claimed(self, study: str, evaluator_key: str) -> str | None:
        sql = "SELECT session FROM claims WHERE study = ? AND evaluator_key = ?"
        rows = self._rows(sql, study, evaluator_key)
        return str(rows[0][0]) if rows else None

    def add_session(self, session: Session, cursor: Cursor, capacity: Capacity | None = None) -> None:
        record, row = json_codec.dump(session), _cursor_row(session, cursor)

        def write(db: sqlite3.Connection) -> None:
            if capacity is not None:
                check_capacity(session, _taken(db, session, capacity), capacity)
            db.execute("INSERT INTO sessions VALUES (?, ?, ?)", (session.id, session.study, record))
            db.execute("INSERT INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)

        self._write(write)

    def session(self, session_id: str) -> Session:
        return json_codec.load_session(
            self._one("SELECT record FROM sessions WHERE id = ?", session_id, "session")
        )

    def cursor(self, session_id: str) -> Cursor:
        return json_codec.load_cursor(
            self._one("SELECT record FROM cursors WHERE session = ?", session_id, "session")
        )

    def sessions(self, study: str, simulated: bool = False) -> Iterator[tuple[Session, Cursor]]:
        sql = """SELECT s.id, s.record, c.record FROM sessions s JOIN cursors c ON c.session = s.id
                 WHERE s.study = ? AND c.is_simulated = ? AND s.id > ? ORDER BY s.id LIMIT ?"""
        for _, session, cursor in self._paged(sql, study, simulated):
            yield json_codec.load_session(session), json_codec.load_cursor(cursor)

    def answered(
        self, study: str, simulated: bool = False
    ) -> Iterator[tuple[Session, Cursor, list[Response]]]:
        for session, cursor in self.sessions(study, simulated):
            responses = self.responses(session.id)
            if responses or self._exists(session.id):  # or else it was erased in the meantime
                yield session, cursor, responses

    def cursors(self, study: str) -> Iterator[tuple[str, Cursor]]:
        sql = """SELECT s.id, c.record FROM sessions s JOIN cursors c ON c.session = s.id
                 WHERE s.study = ? AND c.is_simulated = 0 AND s.id > ? ORDER BY s.id LIMIT ?"""
        for session_id, cursor in self._paged(sql, study):
            yield session_id, json_codec.load_cursor(cursor)

    def taken(
        self, study: str, active_since: str, simulated: bool = False, unanswered_since: str = ""
    ) -> dict[str, int]:
        sql = f"""SELECT model, count(*) FROM cursors
                  WHERE study = ? AND is_simulated = ? AND model IS NOT NULL AND {_HOLDS_A_PLACE}
                  GROUP BY model"""
        return dict(self._rows(sql, study, simulated, active_since, unanswered_since))

    def finished(self, study: str, simulated: bool = False) -> tuple[int, str]:
        sql = """SELECT count(*), coalesce(max(last_at), '') FROM cursors
                 WHERE study = ? AND is_simulated = ? AND state = 'finished'"""
        ((count, latest),) = self._rows(sql, study, simulated)
        return count, latest

    def move(self, session_id: str, expected_version: int, cursor: Cursor) -> None:
        record = json_codec.dump(cursor)
        self._write(lambda db: _move(db, session_id, expected_version, cursor, record), checks_first=True)

    def hold_again(self, session: Session, expected_version: int, cursor: Cursor, capacity: Capacity) -> bool:
        record = json_codec.dump(cursor)

        def write(db: sqlite3.Connection) -> bool:
            if _taken(db, session, capacity) >= capacity.limit:
                return False
            _move(db, session.id, expected_version, cursor, record)
            return True

        return bool(self._write(write, checks_first=True))

    def append(self, session_id: str, expected_version: int, cursor: Cursor, response: Response) -> None:
        where, record = json_codec.dump(cursor), json_codec.dump(response)

        def write(db: sqlite3.Connection) -> None:
            _move(db, session_id, expected_version, cursor, where)
            place = (session_id, response.trial_index, response.attempt)
            db.execute("INSERT INTO responses VALUES (?, ?, ?, ?)", (*place, record))

        self._write(write, checks_first=True)

    def responses(self, session_id: str) -> list[Response]:
        sql = "SELECT record FROM responses WHERE session = ? ORDER BY trial_index, attempt"
        return [json_codec.load_response(record) for (record,) in self._rows(sql, session_id)]

    def restore(self, session: Session, cursor: Cursor, responses: Sequence[Response]) -> None:
        row = _cursor_row(session, cursor)
        rows = [(session.id, r.trial_index, r.attempt, json_codec.dump(r)) for r in responses]

        def write(db: sqlite3.Connection) -> None:
            later = "SELECT 1 FROM cursors WHERE session = ? AND version > ?"
            if db.execute(later, (session.id, cursor.version)).fetchone():
                raise Stale(f"session {session.id} was continued in the meantime")
            db.execute(
                "INSERT OR REPLACE INTO sessions VALUES (?, ?, ?)",
                (session.id, session.study, json_codec.dump(session)),
            )
            db.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
            db.executemany("INSERT OR REPLACE INTO responses VALUES (?, ?, ?, ?)", rows)

        self._write(write)

    def erase_session(self, session_id: str) -> None:
        def write(db: sqlite3.Connection) -> None:
            db.execute("DELETE FROM responses WHERE session = ?", (session_id,))
            db.execute("DELETE FROM cursors WHERE session = ?", (session_id,))
            db.execute("DELETE FROM sessions WHERE id = ?", (session_id,))

        self._write(write)

    def redact_session(self, session_id: str, panel: Mapping[str, str], device: Mapping[str, Any]) -> None:
        sql = """UPDATE sessions SET record = json_set(record, '$.panel', json(?), '$.device', json(?))
                 WHERE id = ?"""
        values = (json.dumps(panel), json.dumps(device), session_id)
        self._write(lambda db: db.execute(sql, values), checks_first=True)

    def entry(self, book: str, key: str) -> Entry | None:
        sql = "SELECT key, version, data FROM entries WHERE book = ? AND key = ?"
        rows = self._rows(sql, book, key)
        return _entry(rows[0]) if rows else None

    def entries(self, book: str) -> Iterator[Entry]:
        sql = "SELECT key, version, data FROM entries WHERE book = ? AND key > ? ORDER BY key LIMIT ?"
        return map(_entry, self._paged(sql, book))

    def latest_entries(self, book: str, limit: int, before: str | None = None) -> list[Entry]:
        bound, values = ("", ()) if before is None else ("AND key < ?", (before,))
        sql = f"SELECT key, version, data FROM entries WHERE book = ? {bound} ORDER BY key DESC LIMIT ?"
        return list(map(_entry, self._rows(sql, book, *values, limit)))

    def erase_entry(self, book: str, key: str) -> None:
        sql = "DELETE FROM entries WHERE book = ? AND key = ?"
        self._write(lambda db: db.execute(sql, (book, key)))

    def write_entry(self, book: str, key: str, expected_version: int, data: Mapping[str, Any]) -> Entry:
        text = json.dumps(data, separators=(",", ":"), allow_nan=False)

        def write(db: sqlite3.Connection) -> None:
            values: tuple[Any, ...]
            if expected_version:
                sql = "UPDATE entries SET version = ?, data = ? WHERE book = ? AND key = ? AND version = ?"
                values = (expected_version + 1, text, book, key, expected_version)
            else:
                sql = "INSERT OR IGNORE INTO entries VALUES (?, ?, ?, ?)"
                values = (book, key, 1, text)
            if db.execute(sql, values).rowcount != 1:
                raise Stale(f"entry {key} of {book} is no longer at version {expected_version}")

        self._write(write, checks_first=True)
        return Entry(key, expected_version + 1, json.loads(text))

    def close(self) -> None:
        with self._closing:
            self._is_closed = True
            self._queue.put(None)
        self._thread.join()
        with self._readers_lock:
            for reader in self._readers:
                reader.db.close()

    def _paged(self, sql: str, *within: Any, rows_at_once: int = _PAGE_ROWS) -> Iterator[tuple[Any, ...]]:
        """Yield rows in the order of their first column, a page at a time.

        A read that stays open pins its thread's connection to the snapshot at which it began: a caller
        that writes between two rows would not see its own writes.
        """
        last = ""
        while rows := self._rows(sql, *within, last, rows_at_once):
            yield from rows
            last = rows[-1][0]

    def _exists(self, session_id: str) -> bool:
        return bool(self._rows("SELECT 1 FROM sessions WHERE id = ?", session_id))

    def _one(self, sql: str, key: str, what: str) -> str:
        rows = self._rows(sql, key)
        if not rows:
            raise NotFound(f"there is no {what} {key!r}", code=f"unknown_{what}")
        return str(rows[0][0])

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds.

        Raises:
            StoreFailed: the database cannot be read, for example since the disk is full.
        """
        try:
            return self._db().execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise StoreFailed(f"{self._path} could not be read ({error}); try again") from None

    def _db(self) -> sqlite3.Connection:
        """Return this thread's connection for reading."""
        reader: _Reader | None = getattr(self._local, "reader", None)
        if reader is None:
            reader = self._local.reader = _Reader(_connect(self._path))
            with self._readers_lock:
                self._readers.add(reader)
        return reader.db

    def _write(self, work: Callable[[sqlite3.Connection], Any], checks_first: bool = False) -> Any:
        """Run `work` in the writer thread, commit it, and return or raise its outcome.

        Args:
            checks_first: `work` raises, if at all, before it has written anything, and so needs no
                savepoint. Each statement costs the writer one acquisition of the interpreter lock.

        Raises:
            StoreFailed: another program keeps the database locked, the disk is full, or the store is
                closed.
        """
        if self._is_locked_out:
            raise _locked_out(self._path)
        job = _Job(work, checks_first)
        with self._closing:
            if self._is_closed:
                raise StoreFailed(f"{self._path} is closed, so nothing of this is stored")
            self._queue.put(job)
        return job.wait()

    def _write_on(self, db: sqlite3.Connection) -> None:
        """Commit what is queued, until the store is closed.

        While another program holds the write lock, writers fail at once: a server has few threads, and
        if all waited here, none would be left for requests that only read.
        """
        running = True
        while running:
            try:
                batch = [self._queue.get(timeout=_LOOK_SECONDS if self._is_locked_out else None)]
            except queue.Empty:
                self._is_locked_out = not _can_write(db)
                continue
            while len(batch) < _BATCH:
                try:
                    batch.append(self._queue.get_nowait())
                except queue.Empty:
                    break
            running = None not in batch
            jobs = [job for job in batch if job is not None]
            try:
                self._is_locked_out = bool(jobs) and not _commit_together(db, self._path, jobs)
            except BaseException as error:  # noqa: BLE001 - a writer that ends would keep all waiting for ever
                _fail_all(jobs, _not_written(self._path, error))
                db = _sound(db, self._path)
        db.close()


def snapshot(path: Path, target: Path) -> dict[str, int]:
    """Write a snapshot of the database at `path` to the new file `target`, and check it.

    Readers and writers of `path` are not blocked. Returns how many studies, sessions, responses and
    entries the copy holds.

    Raises:
        StoreFailed: the database cannot be read, there is no space for the copy, or the copy is damaged.
    """
    try:
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise StoreFailed(f"{path} could not be copied to {target}: {reason(error)}") from None
    try:
        with closing(_reading(path)) as source, closing(sqlite3.connect(target)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            (verdict,) = copy.execute("PRAGMA integrity_check").fetchone()
            counts = {
                table: int(copy.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
                for table in ("studies", "sessions", "responses", "entries")
            }
    except sqlite3.Error as error:
        target.unlink(missing_ok=True)
        raise StoreFailed(f"{path} could not be copied to {target}: {error}") from None
    if verdict != "ok":
        target.unlink(missing_ok=True)
        raise StoreFailed(f"{path} is damaged, so it was not backed up: {verdict}; keep your older backups")
    return counts


def pictures(path: Path) -> list[tuple[str, list[str]]]:
    """Return each study of a database, except those being deleted, with its stimulus and mask file names."""
    with closing(_reading(path)) as db:
        records = db.execute("SELECT record FROM studies")
        studies = [study for (record,) in records if not (study := json_codec.load_study(record)).deleted_at]
        sql = "SELECT name FROM stimuli WHERE study = ? ORDER BY name"
        return [
            (
                study.name,
                [
                    *(file for (name,) in db.execute(sql, (study.name,)) for file in name.split(" ")),
                    *study.masks,
                ],
            )
            for study in studies
        ]


def _commit_together(db: sqlite3.Connection, path: Path, jobs: list[_Job]) -> bool:
    """Run all jobs in one transaction; a job that fails rolls back its own writes only.

    Returns False, with nothing done, if another program holds the write lock. If it raises, the jobs
    that are not done were not committed, and the connection may be unusable.
    """
    try:
        # At once, since a transaction that has read before it writes fails without waiting if another wrote.
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        _fail_all(jobs, _locked_out(path))
        return False
    try:
        outcomes = [(_try_checked if job.checks_first else _try)(db, job.work) for job in jobs]
        db.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 - the writer outlives whatever a job does
        if db.in_transaction:
            db.execute("ROLLBACK")
        if len(jobs) == 1 or not any(job.checks_first for job in jobs):
            failed = _not_written(path, error) if isinstance(error, sqlite3.Error) else error
            _fail_all(jobs, failed)
            return True
        is_free = True
        for job in jobs:
            is_free = _commit_together(db, path, [job]) and is_free
        return is_free
    for job, (result, problem) in zip(jobs, outcomes, strict=True):
        job.finish(result, _not_written(path, problem) if isinstance(problem, sqlite3.Error) else problem)
    return True


def _fail_all(jobs: list[_Job], error: Exception) -> None:
    for job in jobs:
        job.finish(None, error)


def _not_written(path: Path, error: BaseException) -> StoreFailed:
    return StoreFailed(f"{path.name} could not be written ({error}), so nothing of this is stored; try again")


def _locked_out(path: Path) -> StoreFailed:
    return StoreFailed(
        f"{path.name} is locked by another program, so nothing was stored; try again when it is done",
        code="store_locked",
    )


def _can_write(db: sqlite3.Connection) -> bool:
    """Return whether no other program holds the write lock."""
    try:
        db.execute("BEGIN IMMEDIATE")
        db.execute("ROLLBACK")
    except sqlite3.Error:
        return False
    return True


def _try(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]) -> tuple[Any, Exception | None]:
    db.execute("SAVEPOINT job")
    try:
        result = work(db)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the caller's, and the writer lives on
        db.execute("ROLLBACK TO job")
        return None, error
    finally:
        db.execute("RELEASE job")
    return result, None


def _try_checked(
    db: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]
) -> tuple[Any, Exception | None]:
    """Run a job that checks before it writes; an unexpected error rolls back the whole batch."""
    try:
        return work(db), None
    except Stale as error:
        return None, error


def _taken(db: sqlite3.Connection, session: Session, capacity: Capacity) -> int:
    """Return how many sessions of a session's condition count."""
    whose = (session.study, session.is_simulated, session.condition)
    since = (capacity.active_since, capacity.unanswered_since)
    return int(db.execute(_TAKEN_OF_CONDITION, (*whose, *since)).fetchone()[0])


def _move(db: sqlite3.Connection, session_id: str, version: int, cursor: Cursor, record: str) -> None:
    changed = db.execute(
        """UPDATE cursors SET state = ?, last_at = ?, version = ?, record = ?
           WHERE session = ? AND version = ?""",
        (*_hot(cursor), record, session_id, version),
    )
    if changed.rowcount != 1:
        raise Stale(f"session {session_id} is no longer at version {version}")


def _cursor_row(session: Session, cursor: Cursor) -> tuple[Any, ...]:
    return (
        session.id,
        session.study,
        session.condition,
        *_hot(cursor),
        json_codec.dump(cursor),
        session.is_simulated,
    )


def _entry(row: tuple[str, int, str]) -> Entry:
    key, version, data = row
    return Entry(key, version, json.loads(data))


def _hot(cursor: Cursor) -> tuple[str, str, int]:
    return cursor.state, cursor.last_at, cursor.version


def _sound(db: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Return a connection that can write: the same one, outside any transaction, or a new one."""
    try:
        if db.in_transaction:
            db.execute("ROLLBACK")
        db.execute("SELECT 1")
        return db
    except sqlite3.Error:
        pass
    try:
        made = _connect(path, _WRITER_BUSY_SECONDS)
    except sqlite3.Error:  # retried after the next write
        return db
    with suppress(sqlite3.Error):
        db.close()
    return made


def _connect(path: Path, busy_seconds: float = _BUSY_SECONDS) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    return db


def _make_private(path: Path) -> None:
    """Create an empty database that others cannot read; SQLite gives its side files the same mode.

    One that exists is not opened: to close a file drops all locks that this process holds on it (POSIX),
    those of other connections too, after which another process may remove the log into which they write.
    """
    with suppress(OSError):  # it exists, or SQLite reports what is wrong
        os.close(private(str(path), os.O_RDWR | os.O_CREAT | os.O_EXCL))


def _check_ours(path: Path) -> None:
    """Refuse the database of another program before anything in it is changed."""
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version == 0 and db.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise Conflict(f"{path} is the database of another program; choose another file with --store")


def _why_not(path: Path, error: sqlite3.Error) -> str:
    if path.is_dir():
        return "it is a folder"
    if not os.access(path if path.exists() else path.parent, os.W_OK) or not os.access(path.parent, os.W_OK):
        return "a database must be writable, and so must its folder; copy them to where they are"
    return str(error)


def _reading(path: Path) -> sqlite3.Connection:
    """Return a read-only connection to an existing database."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", timeout=_BUSY_SECONDS, uri=True)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Create the tables in a new file; if two processes try at once, one does it."""
    db.execute("BEGIN IMMEDIATE")
    (form,) = db.execute("PRAGMA user_version").fetchone()
    if form == 0:
        create_tables(db)
        db.execute(f"PRAGMA user_version = {FORM}")
    db.execute("COMMIT")
    if form not in (0, FORM):
        raise Conflict(
            f"{path} was written by another openhype (form {form}, this one reads {FORM}); open it with that "
            "one, or choose another file with --store"
        )


def _stimulus_rows(study: Study, stimuli: Iterable[Stimulus]) -> list[tuple[Any, ...]]:
    return [(study.name, s.name, s.truth, s.model, s.class_, s.source, s.role) for s in stimuli]
