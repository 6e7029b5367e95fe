"""The serverless store: one on-demand DynamoDB table, one conditional write per response.

| partition | sort key | content |
| --- | --- | --- |
| `studies` | name | a study, with the upload id of its pool |
| `pool STUDY UPLOAD` | chunk | stimuli, packed |
| `claim STUDY KEY` | `-` | the session that holds an evaluator's claim |
| `session ID` | 0 | the immutable session and its initial cursor |
| `session ID` | first version | the next few writes: responses, and the cursor after the last |
| `tally STUDY SHARD` | `-` | open sessions, and counts of finished ones (`counters.py`) |
| `closed STUDY SHARD` | session | a closed session's cursor and responses, packed |
| `simulated tally …`, `simulated closed …` | | the same for simulated sessions |
| `book NAME` | key | an entry of a book (`entries.py`) |

Each write creates version `v` of a session's cursor, and `v` alone determines the item it is written to.
Within an item a write is an update conditional on the previous version; the first version of an item is
a put conditional on the item's absence. A writer with an outdated cursor is therefore refused by a
single item, and response and cursor are stored together. An item takes few writes, so that it stays
below the kilobyte that one write unit pays for.
"""

import heapq
import logging
import secrets
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from backend.experiment.records import Response, Session, Stimulus, Study
from backend.experiment.session import Cursor, has_answered, total_trials
from backend.foundation.errors import Conflict, NotFound, StoreFailed
from backend.stores import json_codec
from backend.stores.dynamodb import keys, pool_codec, response_codec
from backend.stores.dynamodb.client import Calls, Item, Refused, connect, key, parse_url
from backend.stores.dynamodb.counters import OpenSession, Tally
from backend.stores.dynamodb.entries import Books
from backend.stores.dynamodb.session_records import TTL_ATTRIBUTE, UPLOAD, Head, Heads, no_session
from backend.stores.store import Capacity, Entry, Stale, check_capacity, found_study, no_study

_LARGEST_BYTES = 350_000
"""Responses of a session packed into one item; DynamoDB's limit is 400 KB."""
_RESPONSES_PER_PART = 2000
_HEADS_AT_ONCE = 50
_LOOK_AGAIN_S = 600
_LOOKS_AT_ONCE = 16
_TRIES_FOR_ROOM = 5

_BARRED = "gone"

log = logging.getLogger("openhype")


def table_definition(name: str) -> dict[str, Any]:
    """Return the arguments of CreateTable for a store's table."""
    return {
        "TableName": name,
        "KeySchema": [
            {"AttributeName": "p", "KeyType": "HASH"},
            {"AttributeName": "s", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "p", "AttributeType": "S"},
            {"AttributeName": "s", "AttributeType": "S"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
    }


def create_table(url: str) -> None:
    """Create the table named by a URL and wait until it exists; an existing one is left unchanged."""
    table, options = parse_url(url)
    client = connect(options)
    with suppress(client.exceptions.ResourceInUseException):
        client.create_table(**table_definition(table))
    while client.describe_table(TableName=table)["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.1)


class DynamoStore:
    """`Store` on one table. Safe to use from many threads and processes.

    Args:
        expire_days: delete sessions in which nothing was ever begun after so many days; None for never.
    """

    def __init__(
        self, calls: Calls, expire_days: float | None = None, clock: Callable[[], float] = time.time
    ):
        self._calls, self._expire_days, self._clock = calls, expire_days, clock
        self._books = Books(calls)
        self._heads = Heads(calls, clock)

    @classmethod
    def open(cls, url: str) -> "DynamoStore":
        """Return the store at a `dynamodb://` URL."""
        table, options = parse_url(url)
        expire_days = options.get("expire_days")
        return cls(Calls(connect(options), table), None if expire_days is None else float(expire_days))

    def add_study(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        taken = Conflict(f"a study {study.name} exists already; choose another name")
        if self._calls.get("studies", study.name):
            raise taken
        upload = secrets.token_hex(8)
        pool = keys.of_pool(study.name, upload)
        chunks = 0
        for chunks, data in enumerate(pool_codec.pack_stimuli(stimuli), start=1):
            self._calls.put({**key(pool, f"{chunks:08d}"), "b": {"B": data}})
        record = zlib.compress(json_codec.dump(study).encode(), 9)
        try:
            self._calls.put(
                {**key("studies", study.name), UPLOAD: {"S": upload}, "j": {"B": record}},
                "attribute_not_exists(p) OR u = :u",
                {":u": {"S": upload}},
            )
        except Refused:
            for chunk in range(1, chunks + 1):
                self._calls.delete(pool, f"{chunk:08d}")
            raise taken from None
        self._heads.know_upload(study.name, upload)

    def study(self, name: str, even_deleted: bool = False) -> Study:
        return found_study(_study(self._study_item(name)), even_deleted)

    def studies(self, even_deleted: bool = False) -> list[Study]:
        found = map(_study, self._calls.each("studies"))
        return [study for study in found if even_deleted or not study.deleted_at]

    def change_study(self, study: Study) -> None:
        record = {"B": zlib.compress(json_codec.dump(study).encode(), 9)}
        before = {"N": str(study.version - 1)}
        is_there = "attribute_not_exists(v) OR v = :old" if study.version == 2 else "v = :old"
        values = {":j": record, ":v": {"N": str(study.version)}, ":old": before}
        try:
            self._calls.update(
                "studies", study.name, "SET j = :j, v = :v", f"attribute_exists(p) AND ({is_there})", values
            )
        except Refused as refused:
            # If the reply to an earlier try was lost, only the stored item shows whether it took effect.
            stored = self._calls.get("studies", study.name) if refused.may_be_ours else None
            if stored is None or stored["j"] != record:
                raise Stale(f"study {study.name} is no longer at version {study.version - 1}") from None

    def remove_study(self, name: str) -> None:
        item = self._calls.get("studies", name)
        if item is None:
            return
        pool = keys.of_pool(name, item[UPLOAD]["S"])
        partitions = [pool, *keys.all_closed(name, False), *keys.all_closed(name, True)]
        for partition in partitions:
            for found in list(self._calls.each(partition, ("s",))):
                self._calls.delete(partition, found["s"]["S"])
        for simulated in (False, True):
            Tally(self._calls, name, simulated).remove()
        self._calls.delete("studies", name)

    def stimuli(self, study: str) -> Iterator[Stimulus]:
        try:
            self._study_item(study)  # read again: the name may belong to another study by now
        except NotFound:
            return
        yield from self._heads.pool(study).stimuli

    def claim(self, study: str, evaluator_key: str, session_id: str, instead_of: str | None = None) -> str:
        values = {":h": {"S": session_id}, ":o": {"S": instead_of or session_id}}
        place = f"claim {study} {evaluator_key}"
        try:
            self._calls.update(
                place, "-", "SET h = :h", "attribute_not_exists(h) OR h = :h OR h = :o", values
            )
        except Refused:
            return self._calls.get(place, "-")["h"]["S"]
        return session_id

    def claimed(self, study: str, evaluator_key: str) -> str | None:
        item = self._calls.get(f"claim {study} {evaluator_key}", "-")
        return item["h"]["S"] if item else None

    def add_session(self, session: Session, cursor: Cursor, capacity: Capacity | None = None) -> None:
        if capacity is not None:
            self._hold(session, cursor, capacity)
        expires_at = None
        if self._expire_days is not None and cursor.state == "active":
            expires_at = self._clock() + 86400 * self._expire_days
        head = self._heads.add(session, cursor, expires_at)
        if capacity is None or cursor.state != "active":
            self._list(head, cursor)

    def session(self, session_id: str) -> Session:
        return self._heads.of(session_id).session

    def cursor(self, session_id: str) -> Cursor:
        item = self._calls.newest(keys.of_session(session_id))
        if item is None or "v" not in item or self._heads.is_expired(item):
            raise no_session(session_id)
        return keys.cursor_in(item, self._heads.of(session_id).pictures)

    def sessions(self, study: str, simulated: bool = False) -> Iterator[tuple[Session, Cursor]]:
        for head, item in self._listed(study, simulated, ("p", "s", "v", "c", "d")):
            session = head.session
            yield session, keys.cursor_in(item, head.pictures) if item else self.cursor(session.id)

    def cursors(self, study: str) -> Iterator[tuple[str, Cursor]]:
        return ((session.id, cursor) for session, cursor in self.sessions(study))

    def answered(
        self, study: str, simulated: bool = False
    ) -> Iterator[tuple[Session, Cursor, list[Response]]]:
        for head, item in self._listed(study, simulated):
            if item is not None and "b" in item:
                responses = response_codec.unpack_responses(item["b"]["B"], head.pictures)
                yield head.session, keys.cursor_in(item, head.pictures), responses
            else:
                yield head.session, *self._whole(head)

    def taken(
        self, study: str, active_since: str, simulated: bool = False, unanswered_since: str = ""
    ) -> dict[str, int]:
        tally = Tally(self._calls, study, simulated)
        entries, counts = tally.read()
        now = int(self._clock())
        doubtful = []
        for entry in entries:
            if entry.alive_at >= _needed(entry.has_answered, active_since, unanswered_since):
                _count(counts, entry.condition)
            elif entry.looked_at + _LOOK_AGAIN_S < now:
                doubtful.append(entry)
        if doubtful:
            look = partial(self._look, tally, now)
            with ThreadPoolExecutor(min(_LOOKS_AT_ONCE, len(doubtful))) as threads:
                for entry, cursor in zip(doubtful, threads.map(look, doubtful), strict=True):
                    if cursor is not None and _holds_a_place(cursor, active_since, unanswered_since):
                        _count(counts, entry.condition)
        return counts

    def finished(self, study: str, simulated: bool = False) -> tuple[int, str]:
        return Tally(self._calls, study, simulated).finished()

    def move(self, session_id: str, expected_version: int, cursor: Cursor) -> None:
        self._write(session_id, expected_version, cursor, None)

    def append(self, session_id: str, expected_version: int, cursor: Cursor, response: Response) -> None:
        self._write(session_id, expected_version, cursor, response)

    def responses(self, session_id: str) -> list[Response]:
        try:
            return self._whole(self._heads.of(session_id))[1]
        except NotFound:
            return []

    def restore(self, session: Session, cursor: Cursor, responses: Sequence[Response]) -> None:
        newest = self._calls.newest(keys.of_session(session.id))
        if newest and _BARRED in newest:
            raise Conflict(f"session {session.id} was erased here; erase it at its source as well")
        pictures = pool_codec.pictures(session)
        for k, start in enumerate(range(0, len(responses), _RESPONSES_PER_PART)):
            part = response_codec.pack_responses(responses[start : start + _RESPONSES_PER_PART], pictures)
            self._calls.put({**key(keys.of_session(session.id), f"{keys.HEAD}-{k:04d}"), "b": {"B": part}})
        if cursor.version:
            first, _ = keys.place_of(cursor.version)
            attributes = {
                **key(keys.of_session(session.id), first),
                **keys.cursor_attributes(cursor, pictures),
            }
            try:
                self._calls.put(attributes, "attribute_not_exists(p) OR v <= :v", {":v": attributes["v"]})
            except Refused:
                raise Stale(f"session {session.id} was continued in the meantime") from None
        self._list(self._heads.add(session, cursor), cursor)

    def erase_session(self, session_id: str) -> None:
        partition = keys.of_session(session_id)
        stored = list(self._calls.each(partition))
        if not stored or "j" not in stored[0]:
            return
        head = self._heads.in_item(stored[0])
        newest = [item for item in stored if "v" in item][-1]
        if not self._bar(partition, int(newest["v"]["N"])):
            return self.erase_session(session_id)  # a response arrived in the meantime
        was_finished = keys.cursor_in(newest, head.pictures).state == "finished"
        self._tally(head).erase(session_id, head.session.condition if was_finished else None)
        self._calls.delete(_closed(head), session_id)
        for item in reversed(stored):  # the head last: it is what a repeated erasure finds the rest by
            if _BARRED not in item:
                self._calls.delete(partition, item["s"]["S"])
        self._heads.drop(session_id)

    def redact_session(self, session_id: str, panel: Mapping[str, str], device: Mapping[str, Any]) -> None:
        self._heads.redact(session_id, panel, device)

    def _bar(self, partition: str, version: int) -> bool:
        """Put an item where a session's next one would go, so that no late response can create it."""
        following, _ = keys.place_of(version - (version - 1) % keys.WRITES_PER_ITEM + keys.WRITES_PER_ITEM)
        try:
            barred = {**key(partition, following), _BARRED: {"BOOL": True}}
            self._calls.put(barred, f"attribute_not_exists(p) OR attribute_exists({_BARRED})")
        except Refused:
            return False
        return True

    def entry(self, book: str, key: str) -> Entry | None:
        return self._books.entry(book, key)

    def entries(self, book: str) -> Iterator[Entry]:
        return self._books.entries(book)

    def erase_entry(self, book: str, key: str) -> None:
        self._books.erase(book, key)

    def write_entry(self, book: str, key: str, expected_version: int, data: Mapping[str, Any]) -> Entry:
        return self._books.write(book, key, expected_version, data)

    def close(self) -> None:
        self._calls.client.close()

    def _write(
        self, session_id: str, expected_version: int, cursor: Cursor, response: Response | None
    ) -> None:
        """Store a cursor, and its response if any, provided that the previous cursor is the stored one."""
        head = self._heads.of(session_id)
        if head.expires and expected_version == 0:
            self._keep(session_id)
        first, entry = keys.place_of(cursor.version)
        facts = response_codec.pack_response(response, head.pictures) if response else b""
        ours = {"B": secrets.token_bytes(keys.NONCE_BYTES) + facts}
        try:
            if entry == 0:
                item = {
                    **key(keys.of_session(session_id), first),
                    **keys.cursor_attributes(cursor, head.pictures),
                    "0": ours,
                }
                self._calls.put(item, "attribute_not_exists(p)")
            else:
                self._update(session_id, first, expected_version, cursor, head, str(entry), ours)
        except Refused as refused:
            # If the reply to an earlier try was lost, only the stored item shows whether it took effect.
            stored = self._calls.get(keys.of_session(session_id), first) if refused.may_be_ours else None
            if stored is None or stored.get(str(entry)) != ours:
                if cursor.state == "returned":
                    self._see_returned(session_id)
                raise Stale(f"session {session_id} is no longer at version {expected_version}") from None
        if cursor.state != "active":
            self._close(head, cursor, is_last_answer=response is not None)

    def _update(
        self,
        session_id: str,
        first: str,
        expected_version: int,
        cursor: Cursor,
        head: Head,
        entry: str,
        ours: dict[str, bytes],
    ) -> None:
        attributes = keys.cursor_attributes(cursor, head.pictures)
        changes = {f":{name}": value for name, value in attributes.items()}
        self._calls.update(
            keys.of_session(session_id),
            first,
            "SET #e = :e, " + ", ".join(f"{name} = :{name}" for name in attributes),
            "v = :old",
            {**changes, ":e": ours, ":old": {"N": str(expected_version)}},
            {"#e": entry},
        )

    def _keep(self, session_id: str) -> None:
        """Cancel a session's expiry, now that it is being used."""
        try:
            self._calls.update(
                keys.of_session(session_id), keys.HEAD, f"REMOVE {TTL_ATTRIBUTE}", "attribute_exists(p)", {}
            )
        except Refused:
            raise no_session(session_id) from None

    def _close(self, head: Head, cursor: Cursor, is_last_answer: bool) -> None:
        """Pack a closed session for scoring; a failure loses nothing, since the next check packs it.

        A closed session that is resumed is packed already; one that was returned has another state.
        """
        try:
            if is_last_answer or cursor.state == "returned" or not self._is_packed(head):
                self._pack(head, cursor)
        except StoreFailed as error:
            log.warning("session %s is stored, but not packed yet: %s", head.session.id, error)

    def _pack(self, head: Head, cursor: Cursor) -> None:
        session = head.session
        packed = response_codec.pack_responses(self.responses(session.id), head.pictures)
        item = {**key(_closed(head), session.id), **keys.cursor_attributes(cursor, head.pictures)}
        if len(packed) <= _LARGEST_BYTES:
            item["b"] = {"B": packed}
        tally = self._tally(head)
        was_finished = cursor.trial_index == total_trials(session)
        if cursor.state == "returned" and was_finished:
            tally.erase(session.id, session.condition)  # counted already, or about to be
        with suppress(Refused):  # returned in the meantime
            self._calls.put(item, "attribute_not_exists(p) OR v <= :v", {":v": item["v"]})
        finished = session.condition if cursor.state == "finished" else None
        tally.close(session.id, finished, cursor.last_at)

    def _see_returned(self, session_id: str) -> None:
        """Pack a returned session whose process died before packing it."""
        with suppress(NotFound):
            head, cursor = self._heads.of(session_id), self.cursor(session_id)
            if cursor.state == "returned":
                self._close(head, cursor, is_last_answer=False)

    def _is_packed(self, head: Head) -> bool:
        return self._calls.get(_closed(head), head.session.id) is not None

    def _tally(self, head: Head) -> Tally:
        return Tally(self._calls, head.session.study, head.is_listed_apart)

    def _hold(self, session: Session, cursor: Cursor, capacity: Capacity) -> None:
        """Count a session before it is stored, unless the limit of its condition would be exceeded.

        No single conditional write counts all sessions of a condition. But of two sessions admitted at
        once, the one counted later finds both. It, or both, withdraw their count and retry after random
        pauses. If the process dies here, the session is counted until it has been inactive for too long.

        Raises:
            Stale: the limit is reached.
        """
        tally = Tally(self._calls, session.study, session.is_simulated)
        for tries in range(1, _TRIES_FOR_ROOM + 1):
            tally.open(OpenSession(session.id, session.condition, cursor.last_at, 0))
            if self._taken(session, capacity) <= capacity.wanted:
                return
            tally.close(session.id, None)
            self._calls.pause(tries, "others are let in at once")
            check_capacity(session, self._taken(session, capacity), capacity)
        raise Stale(f"many are let into study {session.study} at once; try again")

    def _taken(self, session: Session, capacity: Capacity) -> int:
        counts = self.taken(
            session.study, capacity.active_since, session.is_simulated, capacity.unanswered_since
        )
        return counts.get(session.condition or "", 0)

    def _list(self, head: Head, cursor: Cursor) -> None:
        """List a session under its study: as open, or as closed and packed."""
        if cursor.state == "active" or not self._is_packed(head):
            self._tally(head).open(OpenSession(head.session.id, head.session.condition, cursor.last_at, 0))
        if cursor.state != "active":
            self._pack(head, cursor)

    def _look(self, tally: Tally, now: int, entry: OpenSession) -> Cursor | None:
        """Return the cursor of an open session and record the check in the tally; None if it is gone."""
        try:
            cursor = self.cursor(entry.session)
        except NotFound:
            tally.close(entry.session, None)
            return None
        if cursor.state != "active":  # the process that closed it died before packing it
            self._pack(self._heads.of(entry.session), cursor)
        else:
            tally.look(OpenSession(entry.session, entry.condition, cursor.last_at, now, has_answered(cursor)))
        return cursor

    def _listed(
        self, study: str, simulated: bool, attributes: Sequence[str] = ()
    ) -> Iterator[tuple[Head, Item | None]]:
        """Yield a study's sessions in the order of their ids, with the packed items of the closed ones.

        Open ones are read first: one closed in the meantime is found twice rather than not at all.
        Simulated sessions of versions that did not separate them are among the real ones.
        """
        places = (False, True) if simulated else (False,)
        entries = sorted(
            (entry for apart in places for entry in Tally(self._calls, study, apart).read()[0]),
            key=lambda entry: entry.session,
        )
        shards = [
            self._calls.each(place, attributes) for apart in places for place in keys.all_closed(study, apart)
        ]
        closed = heapq.merge(*shards, key=lambda item: item["s"]["S"])
        found = heapq.merge(
            ((item["s"]["S"], 0, item) for item in closed),
            ((entry.session, 1, None) for entry in entries),
            key=lambda row: row[:2],
        )
        once = _first_of_each(found)
        while some := list(islice(once, _HEADS_AT_ONCE)):
            heads = self._heads.many(session_id for session_id, _, _ in some)
            for session_id, _, item in some:
                if session_id in heads and heads[session_id].session.is_simulated == simulated:
                    yield heads[session_id], item

    def _whole(self, head: Head) -> tuple[Cursor, list[Response]]:
        """Return the cursor and all responses of a session, from one read."""
        responses: dict[tuple[int, int], Response] = {}
        newest = None
        for item in self._calls.each(keys.of_session(head.session.id)):
            if "v" in item:
                newest = item
            for response in keys.responses_in(item, head.pictures):
                responses[response.trial_index, response.attempt] = response
        if newest is None:
            raise no_session(head.session.id)
        return keys.cursor_in(newest, head.pictures), [responses[place] for place in sorted(responses)]

    def _study_item(self, name: str) -> Item:
        item = self._calls.get("studies", name)
        if item is None:
            raise no_study(name)
        self._heads.know_upload(name, item[UPLOAD]["S"])
        return item


def _study(item: Item) -> Study:
    return json_codec.load_study(zlib.decompress(item["j"]["B"]).decode())


def _closed(head: Head) -> str:
    return keys.of_closed(head.session.study, head.session.id, head.is_listed_apart)


def _first_of_each(rows: Iterable[tuple]) -> Iterator[tuple]:
    last = None
    for row in rows:
        if row[0] != last:
            yield row
        last = row[0]


def _holds_a_place(cursor: Cursor, active_since: str, unanswered_since: str) -> bool:
    since = _needed(has_answered(cursor), active_since, unanswered_since)
    return cursor.state == "finished" or (cursor.state == "active" and cursor.last_at >= since)


def _needed(is_answered: bool, active_since: str, unanswered_since: str) -> str:
    """Return the time since which a session must be active to be counted."""
    return active_since if is_answered else max(active_since, unanswered_since)


def _count(counts: dict[str, int], condition: str | None) -> None:
    if condition is not None:
        counts[condition] = counts.get(condition, 0) + 1
