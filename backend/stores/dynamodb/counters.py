"""Counts of a study's sessions by condition, which admit no more sessions than are wanted.

Each condition has a few items, `SESSIONS_PER_ITEM` wanted sessions in each. An item holds the number of
sessions that count towards the wanted ones (open or finished), the number of finished ones, and an entry
for each open session that counts. A session is admitted by one conditional write, which needs no reading
and no transaction; it is closed by another, so that nothing is counted twice. Neither the size of an item
nor the cost of an admission grows with the number of sessions that were ever opened: the entry of a
session that was found inactive is removed.

Simulated sessions have items of their own, without a limit. Sessions of a qualification have no condition,
and no entries: only the finished ones are counted.
"""

import random
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import ceil

from backend.stores.dynamodb.client import Calls, Item, Refused

SESSIONS_PER_ITEM = 64
"""Entries take about 55 bytes: an item with all its sessions open is four write units large."""
_MOST_ITEMS = 64
_COUNTED, _FINISHED, _NEWEST, _OPEN, _ERASED = "t", "f", "n", "a", "e"
_LAST_ADDED = "z"
"""A nonce of the last session that was added as finished: by it, a try whose reply was lost is recognized."""
_ONE, _LESS = {"N": "1"}, {"N": "-1"}


@dataclass(frozen=True)
class Entry:
    """An open session that counts.

    Args:
        alive_at: when it was last known to be active (UTC, ISO 8601): at its opening or its last check.
        known: `*` if it had begun at its last check, `+` if it had a response, else nothing.
    """

    session: str
    alive_at: str
    known: str = ""

    @property
    def text(self) -> str:
        return self.alive_at + self.known


@dataclass(frozen=True)
class Count:
    """What one item holds."""

    condition: str
    index: int
    counted: int
    finished: int
    newest: str
    """When the latest session finished (UTC, ISO 8601), or ''."""
    entries: Sequence[Entry]


class Counters:
    """The counts of one study: either of its real or of its simulated sessions.

    Args:
        wanted: how many sessions of each condition are wanted; None for no limit.
        replaced: how many more may count in each.
    """

    def __init__(
        self, calls: Calls, study: str, wanted: int | None, simulated: bool = False, replaced: int = 0
    ):
        self._calls = calls
        self._name = f"simulated count {study}" if simulated else f"count {study}"
        self._quotas = quotas(wanted)
        if replaced and self._quotas[-1] is not None:
            self._quotas[-1] += replaced  # in the same items, which others read

    def read(self, conditions: Iterable[str]) -> list[Count]:
        """Return the counts of conditions, by one call a hundred items."""
        keys = {
            self._partition(condition, index): (condition, index)
            for condition in conditions
            for index in range(len(self._quotas))
        }
        items = self._calls.many((partition, "-") for partition in keys)
        return [_count(*keys[item["p"]["S"]], item) for item in items]

    def admit(self, condition: str, entry: Entry) -> int | None:
        """Count an open session and return the index of its item; None if the limit is reached."""
        change = f"SET #a = :e ADD {_COUNTED} :one"
        names, values = {"#a": _OPEN + entry.session}, {":e": {"S": entry.text}, ":one": _ONE}
        return self._add(condition, change, "attribute_not_exists(#a)", values, names)

    def add(self, condition: str, entry: Entry | None, finished_at: str = "") -> int:
        """Count a session whatever the limit, open (`entry`) or finished, and return the index of its item.

        It is counted where the limit is not reached, if there is such an item, so that the sum stays right.
        """
        change = f"SET #a = :e, #n = :n ADD {_COUNTED} :one, {_FINISHED} :one"
        holds = "(attribute_not_exists(#a) OR #a <> :e)"
        names = {"#a": _LAST_ADDED, "#n": _NEWEST}
        values = {":e": {"S": secrets.token_hex(4)}, ":n": {"S": finished_at}, ":one": _ONE}
        if entry:
            change, holds = f"SET #a = :e ADD {_COUNTED} :one", "attribute_not_exists(#a)"
            names, values = {"#a": _OPEN + entry.session}, {":e": {"S": entry.text}, ":one": _ONE}
        index = self._add(condition, change, holds, values, names)
        if index is None:
            index = 0
            with suppress(Refused):
                self._update(condition, index, change, holds, values, names)
        return index

    def refresh(self, condition: str, index: int, entry: Entry) -> bool:
        """Update the entry of an open session; return False if its entry was removed."""
        names, values = {"#a": _OPEN + entry.session}, {":e": {"S": entry.text}}
        try:
            self._update(condition, index, "SET #a = :e", "attribute_exists(#a)", values, names)
        except Refused:
            return False
        return True

    def count_again(self, condition: str, index: int, entry: Entry) -> None:
        """Count an open session again whose entry was removed; update the entry of one that still counts."""
        if self.refresh(condition, index, entry):
            return
        names, values = {"#a": _OPEN + entry.session}, {":e": {"S": entry.text}, ":one": _ONE}
        change = f"SET #a = :e ADD {_COUNTED} :one"
        with suppress(Refused):
            self._update(condition, index, change, "attribute_not_exists(#a)", values, names)

    def check(self, count: Count, inactive: Iterable[Entry], active: Mapping[str, Entry]) -> None:
        """Remove entries of inactive sessions, and replace those of active ones, in one write.

        Args:
            active: new entries by session.

        Nothing changes if any of these entries has changed in the meantime; the next check finds them.
        """
        before = {entry.session: entry for entry in count.entries}
        gone = [entry.session for entry in inactive]
        names = {f"#a{i}": _OPEN + session for i, session in enumerate([*gone, *active])}
        values = {f":o{i}": {"S": before[session].text} for i, session in enumerate([*gone, *active])}
        conditions = " AND ".join(f"#a{i} = :o{i}" for i in range(len(names)))
        values |= {f":a{i}": {"S": entry.text} for i, entry in enumerate(active.values(), start=len(gone))}
        parts = []
        if active:
            parts.append("SET " + ", ".join(f"#a{i} = :a{i}" for i in range(len(gone), len(names))))
        if gone:
            parts.append("REMOVE " + ", ".join(f"#a{i}" for i in range(len(gone))))
            parts.append(f"ADD {_COUNTED} :less")
            values[":less"] = {"N": str(-len(gone))}
        with suppress(Refused):
            self._update(count.condition, count.index, " ".join(parts), conditions, values, names)

    def close(self, condition: str, index: int, session: str, finished_at: str | None) -> bool:
        """Close an open session: it counts on if it is finished, and no longer otherwise.

        Returns:
            Whether it was open, and is closed by now; False if it has no entry.
        """
        names, values = {"#a": _OPEN + session}, {":n": _LESS}
        change = f"REMOVE #a ADD {_COUNTED} :n"
        if finished_at is not None:
            names["#n"], values = _NEWEST, {":one": _ONE, ":n": {"S": finished_at}}
            change = f"REMOVE #a SET #n = :n ADD {_FINISHED} :one"
        try:
            self._update(condition, index, change, "attribute_exists(#a)", values, names)
        except Refused as refused:
            return refused.may_be_ours
        return True

    def erase(self, condition: str, index: int, session: str, was_finished: bool) -> None:
        """Remove a session permanently, also if it is counted as finished; repeating it changes nothing.

        A marker is left for a session that was finished.
        """
        names = {"#a": _OPEN + session, "#e": _ERASED + session}
        values = {":one": _ONE, ":less": _LESS}
        change = f"SET #e = :one REMOVE #a ADD {_COUNTED} :less"
        try:
            self._update(condition, index, change, "attribute_exists(#a)", values, names)
        except Refused:
            if was_finished:
                change = f"SET #e = :one ADD {_COUNTED} :less, {_FINISHED} :less"
                del names["#a"]
                with suppress(Refused):
                    self._update(condition, index, change, "attribute_not_exists(#e)", values, names)

    def erase_finished(self, condition: str, session: str) -> None:
        """Remove a finished session of which it is unknown where it is counted; repeating it changes nothing.

        So it is if the process that counted it ended before it stored the index.
        """
        name = _ERASED + session
        partitions = [self._partition(condition, index) for index in range(len(self._quotas))]
        items = self._calls.many((partition, "-") for partition in partitions)
        counted = [item for item in items if _FINISHED in item and int(item[_FINISHED]["N"]) > 0]
        if not counted or any(name in item for item in items):
            return
        fullest = max(counted, key=lambda item: (int(item[_FINISHED]["N"]), item["p"]["S"]))
        change = f"SET #e = :one ADD {_COUNTED} :less, {_FINISHED} :less"
        with suppress(Refused):
            self._calls.update(
                fullest["p"]["S"],
                "-",
                change,
                "attribute_not_exists(#e)",
                {":one": _ONE, ":less": _LESS},
                {"#e": name},
            )

    def remove(self, conditions: Iterable[str]) -> None:
        for condition in conditions:
            for index in range(len(self._quotas)):
                self._calls.delete(self._partition(condition, index), "-")

    def _add(
        self, condition: str, change: str, holds: str, values: Item, names: Mapping[str, str]
    ) -> int | None:
        """Apply a change that counts a session to the first item with capacity, and return its index."""
        for index in random.sample(range(len(self._quotas)), len(self._quotas)):
            quota = self._quotas[index]
            given, all_hold = values, holds
            if quota is not None:
                given = values | {":quota": {"N": str(quota)}}
                all_hold = f"{holds} AND (attribute_not_exists({_COUNTED}) OR {_COUNTED} < :quota)"
            try:
                self._update(condition, index, change, all_hold, given, names)
            except Refused as refused:
                if refused.may_be_ours and self._has(condition, index, names, values):
                    return index
                continue
            return index
        return None

    def _has(self, condition: str, index: int, names: Mapping[str, str], values: Item) -> bool:
        """Return whether an item has what a try without a reply may have stored."""
        item = self._calls.get(self._partition(condition, index), "-") or {}
        return item.get(names["#a"]) == values[":e"]

    def _update(
        self,
        condition: str,
        index: int,
        change: str,
        holds: str,
        values: Item,
        names: Mapping[str, str],
    ) -> None:
        self._calls.update(self._partition(condition, index), "-", change, holds, values, dict(names))

    def _partition(self, condition: str, index: int) -> str:
        return f"{self._name} {index} {condition}"


def quotas(wanted: int | None) -> list[int | None]:
    """Return how many sessions each item of a condition takes; [None] for one without a limit.

    `wanted` never falls once a session is counted, and grows only at planned looks, by further items.
    """
    if wanted is None:
        return [None]
    size = max(SESSIONS_PER_ITEM, ceil(wanted / _MOST_ITEMS))
    return [min(size, wanted - start) for start in range(0, max(wanted, 1), size)]


def _count(condition: str, index: int, item: Item) -> Count:
    return Count(
        condition,
        index,
        counted=max(int(item[_COUNTED]["N"]), 0) if _COUNTED in item else 0,
        finished=max(int(item[_FINISHED]["N"]), 0) if _FINISHED in item else 0,
        newest=item[_NEWEST]["S"] if _NEWEST in item else "",
        entries=sorted(_entries(item), key=lambda entry: entry.session),
    )


def _entries(item: Item) -> Iterator[Entry]:
    for name, value in item.items():
        if name.startswith(_OPEN):
            text = value["S"]
            alive_at = text.rstrip("*+")
            yield Entry(name.removeprefix(_OPEN), alive_at, text[len(alive_at) :])
