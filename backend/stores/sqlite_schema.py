"""The tables of the SQLite file."""

import sqlite3

FORM = 6
"""Stored in the file as its `user_version`; a change of the tables, or of the records in them, changes it."""


def create_tables(db: sqlite3.Connection) -> None:
    """Create studies with their stimuli, sessions with their cursors and responses, claims, and books."""
    db.execute("CREATE TABLE studies (name TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID")
    db.execute(
        """
        CREATE TABLE stimuli (
            study TEXT NOT NULL, name TEXT NOT NULL, truth TEXT NOT NULL, model TEXT,
            class TEXT NOT NULL, source TEXT NOT NULL, role TEXT NOT NULL, PRIMARY KEY (study, name)
        ) WITHOUT ROWID
        """
    )
    db.execute("CREATE TABLE sessions (id TEXT PRIMARY KEY, study TEXT NOT NULL, record TEXT NOT NULL)")
    db.execute("CREATE INDEX sessions_of_study ON sessions (study, id)")
    db.execute(
        """
        CREATE TABLE cursors (
            session TEXT PRIMARY KEY, study TEXT NOT NULL, model TEXT, state TEXT NOT NULL,
            last_at TEXT NOT NULL, version INTEGER NOT NULL, record TEXT NOT NULL,
            is_simulated INTEGER NOT NULL
        )
        """
    )
    db.execute("CREATE INDEX cursors_of_study ON cursors (study)")
    db.execute(
        """
        CREATE TABLE responses (
            session TEXT NOT NULL, trial_index INTEGER NOT NULL, attempt INTEGER NOT NULL,
            record TEXT NOT NULL, PRIMARY KEY (session, trial_index, attempt)
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
    db.execute(
        """
        CREATE TABLE entries (
            book TEXT NOT NULL, key TEXT NOT NULL, version INTEGER NOT NULL, data TEXT NOT NULL,
            PRIMARY KEY (book, key)
        ) WITHOUT ROWID
        """
    )
