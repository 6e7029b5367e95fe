"""The schema versions of the SQLite file, as migrations from each to the next."""

import sqlite3


def _create_tables(db: sqlite3.Connection) -> None:
    """Studies with their stimuli, sessions with their cursors and responses, and claims."""
    db.execute("CREATE TABLE studies (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID")
    db.execute(
        """
        CREATE TABLE stimuli (
            study TEXT NOT NULL, name TEXT NOT NULL, truth TEXT NOT NULL, model TEXT,
            class TEXT NOT NULL, source TEXT NOT NULL, PRIMARY KEY (study, name)
        ) WITHOUT ROWID
        """
    )
    db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, study TEXT NOT NULL, record TEXT NOT NULL)")
    db.execute("CREATE INDEX sessions_of_study ON sessions (study, id)")
    db.execute(
        """
        CREATE TABLE cursors (
            session TEXT PRIMARY KEY, study TEXT NOT NULL, model TEXT, state TEXT NOT NULL,
            last_at TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX cursors_of_study ON cursors (study)")
    db.execute(
        """
        CREATE TABLE responses (
            session TEXT NOT NULL, trial_index INTEGER NOT NULL, record TEXT NOT NULL,
            PRIMARY KEY (session, trial_index)
        ) WITHOUT ROWID
        """
    )
    db.execute(
        """
        CREATE TABLE claims (
            study TEXT NOT NULL, evaluator_key TEXT NOT NULL, session TEXT NOT NULL,
            PRIMARY KEY (study, evaluator_key)
        ) WITHOUT ROWID
        """
    )


def _number_attempts(db: sqlite3.Connection) -> None:
    """Allow several responses per trial, for mistimed flashes."""
    db.execute(
        """
        CREATE TABLE attempts (
            session TEXT NOT NULL, trial_index INTEGER NOT NULL, attempt INTEGER NOT NULL,
            record TEXT NOT NULL, PRIMARY KEY (session, trial_index, attempt)
        ) WITHOUT ROWID
        """
    )
    db.execute("INSERT INTO attempts SELECT session, trial_index, 0, record FROM responses")
    db.execute("DROP TABLE responses")
    db.execute("ALTER TABLE attempts RENAME TO responses")


def _add_entries(db: sqlite3.Connection) -> None:
    """Add books of small JSON data, such as what evaluators are owed."""
    db.execute(
        """
        CREATE TABLE entries (
            book TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (book, key)
        ) WITHOUT ROWID
        """
    )


def _set_simulated_apart(db: sqlite3.Connection) -> None:
    """Index simulated sessions separately."""
    db.execute("ALTER TABLE cursors ADD COLUMN is_simulated INTEGER NOT NULL DEFAULT 0")
    db.execute(
        """
        UPDATE cursors SET is_simulated = 1 WHERE session IN (
            SELECT id FROM sessions WHERE json_type(record, '$.device.simulated') = 'true'
        )
        """
    )


def _add_roles(db: sqlite3.Connection) -> None:
    """Give stimuli a role, for those of practice and of attention checks."""
    db.execute("ALTER TABLE stimuli ADD COLUMN role TEXT NOT NULL DEFAULT ''")


MIGRATIONS = (_create_tables, _number_attempts, _add_entries, _set_simulated_apart, _add_roles)
"""Numbered from 1 by their order; the file stores the number as its `user_version`. Append only."""
