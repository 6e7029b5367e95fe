"""Open sessions of a study and counts of finished ones by condition, without a hot key.

Simulated sessions have items of their own.

A study's sessions are spread over `SHARDS` items by their ids. An item holds an entry for each open
session and a count of the finished ones for each condition. Opening a session adds an entry; closing it
removes the entry and counts it, in one conditional write, so that nothing is counted twice. One request
reads all items of a study, at a cost that does not grow with the number of finished sessions.

An entry records when its session was last known to be active: at its opening, or when it was last
checked.
"""

import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from backend.stores.dynamodb.client import Calls, Item, Refused

SHARDS = 64
"""A thousand open sessions are then 16 per item, which is about a kilobyte."""
_OPEN, _FINISHED, _ERASED, _NEWEST = "a", "f", "e", "n"
_DIGITS = 10
_ANSWERED = "+"
"""Appended to the time at which a session was last active, which older versions compare as text."""


@dataclass(frozen=True)
class OpenSession:
    """An open session."""

    session: str
    condition: str | None
    """The condition that its evaluator judges; None in a qualification."""
    alive_at: str
    looked_at: int
    """When the session was last found inactive, in seconds of the epoch; 0 for never."""
    has_answered: bool = False
    """Whether it had any response at the last check."""


class Tally:
    """The open and finished sessions of one study: either the real or the simulated ones."""

    def __init__(self, calls: Calls, study: str, simulated: bool = False):
        self._calls = calls
        self._name = f"simulated tally {study}" if simulated else f"tally {study}"

    def read(self) -> tuple[list[OpenSession], dict[str, int]]:
        """Return the open sessions in the order of their ids, and the count of finished ones by condition."""
        entries: list[OpenSession] = []
        finished: dict[str, int] = {}
        for item in self._calls.many((self._place(shard), "-") for shard in range(SHARDS)):
            entries += _entries(item)
            for name, value in item.items():
                if name.startswith(_FINISHED):
                    condition = name.removeprefix(_FINISHED)
                    finished[condition] = finished.get(condition, 0) + int(value["N"])
        counts = {condition: count for condition, count in finished.items() if count}
        return sorted(entries, key=lambda entry: entry.session), counts

    def finished(self) -> tuple[int, str]:
        """Return how many sessions are finished, and when the latest was (UTC, ISO 8601; '' for none)."""
        count, newest = 0, ""
        for item in self._calls.many((self._place(shard), "-") for shard in range(SHARDS)):
            count += sum(int(value["N"]) for name, value in item.items() if name.startswith(_FINISHED))
            newest = max(newest, item[_NEWEST]["S"] if _NEWEST in item else "")
        return count, newest if count else ""

    def open(self, entry: OpenSession) -> None:
        """Add a session; one that exists is left unchanged."""
        self._set(entry, "attribute_not_exists(#a)")

    def look(self, entry: OpenSession) -> None:
        """Store the result of checking an open session; one that was closed in the meantime stays closed."""
        self._set(entry, "attribute_exists(#a)")

    def close(self, session: str, counted: str | None, at: str = "") -> None:
        """Remove a session and count it for the condition `counted`; repeating the call changes nothing.

        Args:
            at: when it was finished.
        """
        change, names, values = "REMOVE #a", {"#a": _OPEN + session}, {}
        if counted is not None:
            change += " SET #n = :at ADD #f :one"
            names |= {"#f": _FINISHED + counted, "#n": _NEWEST}
            values = {":one": {"N": "1"}, ":at": {"S": at}}
        self._update(session, change, "attribute_exists(#a)", values, names)

    def erase(self, session: str, counted: str | None) -> None:
        """Remove a session permanently, and uncount it for `counted` if it is no longer open.

        A marker is left, so that repeating the call changes nothing.
        """
        names, values = {"#a": _OPEN + session, "#e": _ERASED + session}, {":one": {"N": "1"}}
        self._update(session, "SET #e = :one REMOVE #a", "attribute_exists(#a)", values, names)
        if counted is not None:
            names = {"#e": _ERASED + session, "#f": _FINISHED + counted}
            values[":less"] = {"N": "-1"}
            change = "SET #e = :one ADD #f :less"
            self._update(session, change, "attribute_not_exists(#e)", values, names)

    def remove(self) -> None:
        """Delete all items of the study."""
        for shard in range(SHARDS):
            self._calls.delete(self._place(shard), "-")

    def _set(self, entry: OpenSession, condition: str) -> None:
        answered = _ANSWERED if entry.has_answered else ""
        text = f"{entry.looked_at:0{_DIGITS}}{entry.alive_at}{answered}|{entry.condition or ''}"
        names, values = {"#a": _OPEN + entry.session}, {":e": {"S": text}}
        self._update(entry.session, "SET #a = :e", condition, values, names)

    def _update(self, session: str, change: str, condition: str, values: Item, names: dict[str, Any]) -> None:
        # A refusal means that the change was made already, by an earlier try or by another process.
        with suppress(Refused):
            self._calls.update(self._place(shard_of(session, SHARDS)), "-", change, condition, values, names)

    def _place(self, shard: int) -> str:
        return f"{self._name} {shard}"


def shard_of(session: str, shards: int) -> int:
    """Return the shard of a session, which is the same in every process."""
    return zlib.crc32(session.encode()) % shards


def _entries(item: Item) -> Iterator[OpenSession]:
    for name, value in item.items():
        if name.startswith(_OPEN):
            text, _, condition = value["S"].partition("|")
            alive_at = text[_DIGITS:]
            yield OpenSession(
                name.removeprefix(_OPEN),
                condition or None,
                alive_at.removesuffix(_ANSWERED),
                looked_at=int(text[:_DIGITS]),
                has_answered=alive_at.endswith(_ANSWERED),
            )
