"""Which turn of the rounds of items (`experiment/items.py`) each session of a study takes.

A turn is an entry of the store with the session that holds it, written on condition that nobody else did: two
servers never give the same one. Those of sessions that were abandoned, withdrawn or given back are taken
again first, the earliest before others, so that items with the fewest judgments come first. Which they are
is read from the sessions' states, without a response, and only when fewer sessions count than hold turns, or
when the turns of all wanted sessions are given.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from backend.experiment.records import Study
from backend.experiment.session import Cursor, holds_place_minutes
from backend.foundation.timestamps import stamp
from backend.stores.store import Stale, Store

_READ_AGAIN_AFTER = timedelta(minutes=1)
_OPENED_WITHIN = timedelta(minutes=2)
"""A turn whose session is not stored yet may belong to one that is being opened."""

_TRIES = 3
"""Turns that others took in the meantime, after which a process looks again."""


@dataclass
class _Known:
    """What a process knows of the turns of a study."""

    read_at: datetime
    next: int
    """The first turn that nobody held."""
    free: list[tuple[int, int]]
    """Turn, and version of its entry, of those to take again; the earliest last."""


class Turns:
    """The turns of the studies of a store. Safe to use from many threads."""

    def __init__(self, store: Store):
        self._store = store
        self._known: dict[str, _Known] = {}
        # Each known turn is tried once here; other servers are held off by `write_entry`.
        self._lock = threading.Lock()

    def take(self, study: Study, session: str, simulated: bool, counted: int, now: datetime) -> int:
        """Return the turn of a session that is about to be stored, which then holds it.

        Args:
            counted: number of sessions that are finished or active.
        """
        book = _turns_of(study, simulated)
        data = {"session": session, "at": stamp(now)}
        with self._lock:
            known = self._known.get(book)
            if known is None or _is_outdated(known, study, counted, now):
                known = self._known[book] = self._read(study, simulated, now)
            tries = 0
            while True:
                turn, version = known.free.pop() if known.free else (known.next, 0)
                known.next = max(known.next, turn + 1)
                try:
                    self._store.write_entry(book, f"{turn:08d}", version, data)
                except Stale:  # another server was first
                    tries += 1
                    if tries % _TRIES == 0:
                        known = self._known[book] = self._read(study, simulated, now)
                    continue
                return turn

    def _read(self, study: Study, simulated: bool, now: datetime) -> _Known:
        """Read which turns are held, and which of them nobody is going to use."""
        held = {int(entry.key): entry for entry in self._store.entries(_turns_of(study, simulated))}
        states = dict(self._cursors(study, simulated)) if held else {}
        since = stamp(now - _OPENED_WITHIN)
        free = []
        for turn, entry in held.items():
            cursor = states.get(entry.data["session"])
            is_unused = entry.data["at"] < since if cursor is None else not _counts(study, cursor, now)
            if is_unused:
                free.append((turn, entry.version))
        return _Known(now, max(held, default=-1) + 1, sorted(free, reverse=True))

    def _cursors(self, study: Study, simulated: bool) -> Iterator[tuple[str, Cursor]]:
        if not simulated:
            return self._store.cursors(study.name)
        return ((session.id, cursor) for session, cursor in self._store.sessions(study.name, simulated=True))


def copy(source: Store, target: Store, study: Study) -> None:
    """Copy the turns that real sessions hold to another store; those that are there already stay."""
    book = _turns_of(study, False)
    there = {entry.key for entry in target.entries(book)}
    for entry in source.entries(book):
        if entry.key not in there:
            target.write_entry(book, entry.key, 0, entry.data)


def erase(store: Store, study: Study, simulated: bool) -> None:
    """Erase the turns that sessions of a study hold under its settings."""
    book = _turns_of(study, simulated)
    for entry in list(store.entries(book)):
        store.erase_entry(book, entry.key)


def _is_outdated(known: _Known, study: Study, counted: int, now: datetime) -> bool:
    """Return whether turns may be free that a process does not know of, so that it should look again."""
    if known.free or counted >= known.next:
        return False
    is_all = known.next >= study.evaluators_wanted
    return is_all or now - known.read_at >= _READ_AGAIN_AFTER


def _counts(study: Study, cursor: Cursor, now: datetime) -> bool:
    """Return whether a session is finished, or was active so recently that it may be finished."""
    if cursor.state != "active":
        return cursor.state == "finished"
    minutes = holds_place_minutes(study.protocol, cursor)
    return cursor.last_at >= stamp(now - timedelta(minutes=minutes))


def _turns_of(study: Study, simulated: bool) -> str:
    """Return the book of a study's turns; other settings may give the turns other items."""
    return f"turns {study.name} {study.settings_id}{' simulated' if simulated else ''}"
