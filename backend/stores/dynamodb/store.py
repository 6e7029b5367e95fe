"""The serverless store: one on-demand DynamoDB table, one conditional write per response.

| partition | sort key | content |
| --- | --- | --- |
| `studies` | name | a study, with the upload id of its pool |
| `pool STUDY UPLOAD` | part | the sides of the pool (`pool_codec.py`) |
| `pool STUDY UPLOAD SHARD` | page | 240 names |
| `pool STUDY UPLOAD sources` | part | paths of the researcher's files |
| `claim STUDY KEY` | `-` | the session that holds an evaluator's claim |
| `session ID` | 0 | the immutable session and its initial cursor |
| `session ID` | version | a write: the cursor after it, and the response if it has one |
| `count STUDY N CONDITION` | `-` | sessions that count towards those wanted (`counters.py`) |
| `closed STUDY SHARD` | session | a session of the study; packed once it is closed |
| `simulated count …`, `simulated closed …` | | the same for simulated sessions |
| `book NAME` | key | an entry of a book (`entries.py`) |

Each write creates version `v` of a session's cursor as an item of its own: a put conditional on the item's
absence. A writer with an outdated cursor is therefore refused by a single item, and response and cursor are
stored together, below the kilobyte that one write unit pays for.
"""

import heapq
import logging
import secrets
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Any

from backend.experiment.questionnaire import AFTER, asked
from backend.experiment.records import Response, Session, Stimulus, Study
from backend.experiment.sampling import Pool
from backend.experiment.session import Cursor, has_answered, total_trials
from backend.foundation.errors import Conflict, NotFound, StoreFailed
from backend.stores import json_codec
from backend.stores.dynamodb import counters, keys, record_codec
from backend.stores.dynamodb.client import Calls, Item, Refused, connect, key, parse_url
from backend.stores.dynamodb.counters import Count, Counters
from backend.stores.dynamodb.entries import Books
from backend.stores.dynamodb.pools import EARLIER, UPLOAD, Pools, uploads_of
from backend.stores.dynamodb.session_records import TTL_ATTRIBUTE, Head, Heads, no_session, pictures_of
from backend.stores.store import Capacity, Entry, Stale, check_capacity, no_study, visible_study

_LARGEST_BYTES = 350_000
"""Responses of a session packed into one item; DynamoDB's limit is 400 KB."""
_RESPONSES_PER_PART = 1000
_HEADS_AT_ONCE = 50
_CHECKS, _ITEMS_CHECKED, _CURSORS_READ = 90, 8, 8
"""What one opening checks at most: open sessions, items of counts with such, and sessions that had begun."""

_BARRED = "gone"
"""Marks what bars the place of a version of an erased session, so that no late write can create it."""
_BARRED_S = 86400
"""How long the places of an erased session's versions are barred; that of the next one is for ever."""
_NONCE_BYTES = 4

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
        self.url: str | None = None
        self._books = Books(calls)
        self._pools = Pools(calls)
        self._heads = Heads(calls, self._pools, clock)
        self._studies: dict[str, Study] = {}
        """Studies by name as last read, for what never changes or only before anybody has begun."""

    @classmethod
    def open(cls, url: str) -> "DynamoStore":
        """Return the store at a `dynamodb://` URL."""
        table, options = parse_url(url)
        expire_days = options.get("expire_days")
        store = cls(Calls(connect(options), table), None if expire_days is None else float(expire_days))
        store.url = url
        return store

    def add_study(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        taken = Conflict(f"a study {study.name} exists already; choose another name")
        if self._calls.get("studies", study.name):
            raise taken
        upload = self._pools.add(study.name, stimuli)
        record = zlib.compress(json_codec.dump(study).encode(), 9)
        try:
            self._calls.put(
                {
                    **key("studies", study.name),
                    UPLOAD: {"S": upload},
                    "j": {"B": record},
                    "v": {"N": str(study.version)},
                },
                "attribute_not_exists(p) OR u = :u",
                {":u": {"S": upload}},
            )
        except Refused:
            self._pools.remove(study.name, upload)
            raise taken from None
        self._pools.know_upload(study.name, upload)

    def study(self, name: str, even_deleted: bool = False) -> Study:
        self._studies[name] = study = _study(self._study_item(name))
        return visible_study(study, even_deleted)

    def studies(self, even_deleted: bool = False) -> list[Study]:
        stored = map(_study, self._calls.each("studies"))
        return [study for study in stored if even_deleted or not study.deleted_at]

    def change_study(self, study: Study) -> None:
        self._replace_record(study)

    def add_stimuli(self, study: Study, stimuli: Iterable[Stimulus]) -> None:
        item = self._study_item(study.name)
        upload = self._pools.add(study.name, [*self._pools.stimuli(study.name), *stimuli])
        values: Item = {
            ":u": {"S": upload},
            ":now": item[UPLOAD],
            ":us": {"L": [{"S": earlier} for earlier in uploads_of(item)]},
        }
        try:
            self._replace_record(study, f", {UPLOAD} = :u, {EARLIER} = :us", f" AND {UPLOAD} = :now", values)
        except Stale:
            self._pools.remove(study.name, upload)
            raise
        self._pools.know_upload(study.name, upload, uploads_of(item))

    def _replace_record(
        self, study: Study, change: str = "", condition: str = "", values: Item | None = None
    ) -> None:
        """Replace a study's record by its next version, with what `change` sets besides.

        Raises:
            Stale: the version before is not the stored one, or `condition` does not hold.
        """
        record = {"B": zlib.compress(json_codec.dump(study).encode(), 9)}
        used: Item = {":j": record, ":v": {"N": str(study.version)}, ":old": {"N": str(study.version - 1)}}
        used |= values or {}
        try:
            sets, holds = f"SET j = :j, v = :v{change}", f"v = :old{condition}"
            self._calls.update("studies", study.name, sets, holds, used)
        except Refused as refused:
            # If the reply to an earlier try was lost, only the stored item shows whether it took effect.
            stored = self._calls.get("studies", study.name) if refused.may_be_ours else None
            is_ours = stored and stored["j"] == record and stored[UPLOAD] == used.get(":u", stored[UPLOAD])
            if not is_ours:
                raise Stale(f"study {study.name} is no longer at version {study.version - 1}") from None

    def remove_study(self, name: str) -> None:
        item = self._calls.get("studies", name)
        if item is None:
            return
        for upload in uploads_of(item):
            self._pools.remove(name, upload)
        for partition in (*keys.all_listed(name, False), *keys.all_listed(name, True)):
            for listed in list(self._calls.each(partition, ("s",))):
                self._calls.delete(partition, listed["s"]["S"])
        study = _study(item)
        for simulated in (False, True):
            self._counters(study, simulated).remove(_counted_conditions(study))
        self._calls.delete("studies", name)

    def stimuli(self, study: str) -> Iterator[Stimulus]:
        try:
            self._study_item(study)  # read again: the name may belong to another study by now
        except NotFound:
            return
        yield from self._pools.stimuli(study)

    def pool(self, study: str) -> Pool:
        self._study_item(study)  # read again: the name may belong to another study by now
        return self._pools.of(study).pool()

    def claim(self, study: str, evaluator_key: str, session_id: str, instead_of: str | None = None) -> str:
        values = {":h": {"S": session_id}, ":o": {"S": instead_of or session_id}}
        place = f"claim {study} {evaluator_key}"
        try:
            self._calls.update(
                place, "-", "SET h = :h", "attribute_not_exists(h) OR h = :h OR h = :o", values
            )
        except Refused:
            item = self._calls.get(place, "-")
            return str(item["h"]["S"]) if item else self.claim(study, evaluator_key, session_id, instead_of)
        return session_id

    def claimed(self, study: str, evaluator_key: str) -> str | None:
        item = self._calls.get(f"claim {study} {evaluator_key}", "-")
        return str(item["h"]["S"]) if item else None

    def add_session(self, session: Session, cursor: Cursor, capacity: Capacity | None = None) -> None:
        expires_at = None
        if self._expire_days is not None and cursor.state == "active":
            expires_at = self._clock() + 86400 * self._expire_days
        if cursor.state != "active":
            self._pack(self._heads.add(session, cursor, expires_at), cursor)
            return
        place = (keys.of_listed(session.study, session.id, session.is_simulated), session.id)
        index = self._admit(session, cursor, capacity)
        self._calls.put({**key(*place), **_listed_attributes(index, expires_at)})
        held_s = None if capacity is None else _seconds_between(capacity.unanswered_since, cursor.last_at)
        held_until = None if held_s is None else self._clock() + held_s
        self._heads.add(session, cursor, expires_at, held_until)

    def session(self, session_id: str) -> Session:
        return self._heads.of(session_id).session

    def cursor(self, session_id: str) -> Cursor:
        item = self._calls.newest(keys.of_session(session_id))
        if item is None or "v" not in item or self._heads.is_expired(item):
            raise no_session(session_id)
        return keys.cursor_in(item, self._heads.of(session_id).pictures)

    def sessions(self, study: str, simulated: bool = False) -> Iterator[tuple[Session, Cursor]]:
        for head, item in self._listed(study, simulated, ("p", "s", "v", "c")):
            try:
                cursor = self._closed_cursor(head, item) if item else self.cursor(head.session.id)
            except NotFound:  # erased in the meantime
                continue
            yield head.session, cursor

    def cursors(self, study: str) -> Iterator[tuple[str, Cursor]]:
        return ((session.id, cursor) for session, cursor in self.sessions(study))

    def answered(
        self, study: str, simulated: bool = False
    ) -> Iterator[tuple[Session, Cursor, list[Response]]]:
        for head, item in self._listed(study, simulated):
            if item is not None and "b" in item:
                responses = keys.responses_in(item, head.pictures)
                yield head.session, self._closed_cursor(head, item), responses
                continue
            try:
                cursor, responses = self._whole(head)
            except NotFound:  # erased in the meantime
                continue
            yield head.session, cursor, responses

    def taken(
        self, study: str, active_since: str, simulated: bool = False, unanswered_since: str = ""
    ) -> dict[str, int]:
        try:
            known = self._known(study)
        except NotFound:
            return {}
        counts = self._counters(known, simulated).read(_conditions(known))
        taken: dict[str, int] = {}
        for count in counts:
            taken[count.condition] = taken.get(count.condition, 0) + count.counted
        inactive = [
            (count, entry)
            for count in counts
            for entry in count.entries
            if entry.alive_at < _needed(entry.known == "+", active_since, unanswered_since)
        ]
        for count, entries in self._check(known, simulated, inactive, active_since, unanswered_since):
            taken[count.condition] -= len(entries)
        return {condition: number for condition, number in taken.items() if number > 0}

    def finished(self, study: str, simulated: bool = False) -> tuple[int, str]:
        try:
            known = self._known(study)
        except NotFound:
            return 0, ""
        counts = self._counters(known, simulated).read(_counted_conditions(known))
        number = sum(count.finished for count in counts)
        return number, max(count.newest for count in counts) if number else ""

    def move(self, session_id: str, expected_version: int, cursor: Cursor) -> None:
        self._write(session_id, expected_version, cursor, None)

    def hold_again(self, session: Session, expected_version: int, cursor: Cursor, capacity: Capacity) -> bool:
        head, condition = self._heads.of(session.id), session.condition or ""
        index, entry = self._index(head), counters.Entry(session.id, cursor.last_at, _known_of(cursor))
        if index is None or not self._counters_of(head).refresh(condition, index, entry):
            try:
                index = self._admit(session, cursor, capacity)
            except Stale:
                return False
            if index is not None:
                self._set_index(head, index)
        self.move(session.id, expected_version, cursor)
        return True

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
        continued = Stale(f"session {session.id} was continued in the meantime")
        # without a version: what a restoration that was cut short left
        stored = cursor.version if newest is None else int(newest.get("v", {"N": "0"})["N"])
        if stored > cursor.version:
            raise continued
        pictures = pictures_of(session)
        for k, start in enumerate(range(0, len(responses), _RESPONSES_PER_PART)):
            part = record_codec.pack(responses[start : start + _RESPONSES_PER_PART], pictures)
            self._calls.put({**key(keys.of_session(session.id), f"{keys.HEAD}-{k:04d}"), "b": {"B": part}})
        attributes = keys.cursor_attributes(cursor, pictures)
        places = [
            key(keys.of_session(session.id), keys.of_version(version))
            for version in range(stored + 1, cursor.version)  # so that nobody goes on from before
        ]
        try:
            for place in places:
                self._calls.put({**place, **attributes}, "attribute_not_exists(p)")
            if cursor.version:
                item = {**key(keys.of_session(session.id), keys.of_version(cursor.version)), **attributes}
                self._calls.put(item, "attribute_not_exists(p) OR v <= :v", {":v": attributes["v"]})
        except Refused:
            raise continued from None
        head = self._heads.add(session, cursor)
        if cursor.state == "active":
            self._list_again(head, cursor)
        else:
            self._pack(head, cursor)

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
        self._uncount(head, was_finished)
        self._calls.delete(_list_of(head), session_id)
        until = {"N": str(int(self._clock()) + _BARRED_S)}
        for item in reversed(stored):  # the head last: it is what a repeated erasure finds the rest by
            place = item["s"]["S"]
            if "v" in item and place != keys.HEAD:
                self._calls.put({**key(partition, place), _BARRED: {"BOOL": True}, TTL_ATTRIBUTE: until})
            elif _BARRED not in item:
                self._calls.delete(partition, place)
        self._heads.drop(session_id)

    def redact_session(self, session_id: str, panel: Mapping[str, str], device: Mapping[str, Any]) -> None:
        self._heads.redact(session_id, panel, device)

    def _bar(self, partition: str, version: int) -> bool:
        """Put an item where a session's next one would go, so that no late response can create it."""
        try:
            barred = {**key(partition, keys.of_version(version + 1)), _BARRED: {"BOOL": True}}
            self._calls.put(barred, f"attribute_not_exists(p) OR attribute_exists({_BARRED})")
        except Refused:
            return False
        return True

    def entry(self, book: str, key: str) -> Entry | None:
        return self._books.entry(book, key)

    def entries(self, book: str) -> Iterator[Entry]:
        return self._books.entries(book)

    def latest_entries(self, book: str, limit: int, before: str | None = None) -> list[Entry]:
        return self._books.latest(book, limit, before)

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
        if expected_version == 0:
            self._begin(head, cursor)
        place = keys.of_session(session_id), keys.of_version(cursor.version)
        nonce = {"B": secrets.token_bytes(_NONCE_BYTES)}
        item = {**key(*place), **keys.cursor_attributes(cursor, head.pictures), "o": nonce}
        if response is not None:
            item["b"] = {"B": record_codec.pack([response], head.pictures)}
        try:
            self._calls.put(item, "attribute_not_exists(p)")
        except Refused as refused:
            # If the reply to an earlier try was lost, only the stored item shows whether it took effect.
            stored = self._calls.get(*place) if refused.may_be_ours else None
            if stored is None or stored.get("o") != nonce:
                if cursor.state == "returned":
                    self._see_returned(session_id)
                raise Stale(f"session {session_id} is no longer at version {expected_version}") from None
        if cursor.state != "active":
            has_news = response is not None or AFTER in cursor.questions
            self._close(head, cursor, has_news)

    def _begin(self, head: Head, cursor: Cursor) -> None:
        """Cancel a session's expiry, now that it is being used, and count it again if it begins late."""
        session = head.session
        if head.held_until is not None and self._clock() >= head.held_until and cursor.state == "active":
            index, condition = self._index(head), session.condition
            if index is not None and condition is not None:
                entry = counters.Entry(session.id, cursor.last_at, _known_of(cursor))
                self._counters_of(head).count_again(condition, index, entry)
        if not head.expires:
            return
        with suppress(Refused):
            self._calls.update(
                _list_of(head), session.id, f"REMOVE {TTL_ATTRIBUTE}", "attribute_exists(p)", {}
            )
        try:
            self._calls.update(
                keys.of_session(session.id), keys.HEAD, f"REMOVE {TTL_ATTRIBUTE}", "attribute_exists(p)", {}
            )
        except Refused:
            raise no_session(session.id) from None

    def _closed_cursor(self, head: Head, item: Item) -> Cursor:
        """Return the cursor of a packed session, which may lack answers that came after it was packed."""
        cursor = keys.cursor_in(item, head.pictures)
        questions = self._known(head.session.study).questions
        if cursor.state == "returned" or AFTER in cursor.questions or not asked(questions, AFTER):
            return cursor
        try:
            return self.cursor(head.session.id)
        except NotFound:  # erased in the meantime
            return cursor

    def _close(self, head: Head, cursor: Cursor, has_news: bool) -> None:
        """Pack a closed session for scoring; a failure loses nothing, since the next check packs it.

        A closed session that is resumed is packed already; one that was returned has another state, and one
        whose evaluator answered questions after the task has more to pack.
        """
        try:
            if has_news or cursor.state == "returned" or not self._is_packed(head):
                self._pack(head, cursor)
        except StoreFailed as error:
            log.warning("session %s is stored, but not packed yet: %s", head.session.id, error)

    def _pack(self, head: Head, cursor: Cursor) -> int | None:
        """Store a closed session among those listed, count it, and return the index of its count."""
        session = head.session
        was_finished = cursor.trial_index == total_trials(session)
        if cursor.state == "returned" and was_finished:
            self._uncount(head, was_finished)  # counted already, or about to be
        attributes = keys.cursor_attributes(cursor, head.pictures)
        packed = record_codec.pack(self.responses(session.id), head.pictures)
        change = "SET " + ", ".join(f"{name} = :{name}" for name in attributes)
        values = {f":{name}": value for name, value in attributes.items()}
        if len(packed) <= _LARGEST_BYTES:
            change, values = change + ", b = :b", {**values, ":b": {"B": packed}}
        try:
            before = self._calls.update(
                _list_of(head),
                session.id,
                change,
                "attribute_not_exists(v) OR v <= :v",
                values,
                returns_before=True,
            )
        except Refused:  # returned in the meantime
            return None
        return self._count_closed(head, cursor, before or {})

    def _count_closed(self, head: Head, cursor: Cursor, before: Item) -> int | None:
        """Count a closed session, listed as `before` until now; one that was counted already stays so."""
        session, counts = head.session, self._counters_of(head)
        condition = session.condition or ""
        index = int(before["k"]["N"]) if "k" in before else None
        finished_at = cursor.last_at if cursor.state == "finished" else None
        is_closed = index is not None and counts.close(condition, index, session.id, finished_at)
        if not is_closed and "v" not in before and finished_at is not None:
            index = counts.add(condition, None, finished_at)
            if "k" not in before or int(before["k"]["N"]) != index:
                self._set_index(head, index)
        return index

    def _see_returned(self, session_id: str) -> None:
        """Pack a returned session whose process died before packing it."""
        with suppress(NotFound):
            head, cursor = self._heads.of(session_id), self.cursor(session_id)
            if cursor.state == "returned":
                self._close(head, cursor, has_news=False)

    def _is_packed(self, head: Head) -> bool:
        listed = self._calls.get(_list_of(head), head.session.id)
        return listed is not None and "v" in listed

    def _index(self, head: Head) -> int | None:
        """Return the index of the item in which a session is counted, or None."""
        listed = self._calls.get(_list_of(head), head.session.id)
        return int(listed["k"]["N"]) if listed and "k" in listed else None

    def _set_index(self, head: Head, index: int) -> None:
        place = (_list_of(head), head.session.id)
        with suppress(Refused):
            self._calls.update(*place, "SET k = :k", "attribute_exists(p)", {":k": {"N": str(index)}})

    def _uncount(self, head: Head, was_finished: bool) -> None:
        index, condition = self._index(head), head.session.condition or ""
        if index is not None:
            self._counters_of(head).erase(condition, index, head.session.id, was_finished)
        elif was_finished and self._is_packed(head):
            self._counters_of(head).erase_finished(condition, head.session.id)

    def _known(self, study: str) -> Study:
        """Return a study as last read; its conditions never change."""
        return self._studies.get(study) or self.study(study, even_deleted=True)

    def _counters(self, study: Study, simulated: bool) -> Counters:
        wanted = None if simulated else study.most_a_condition
        return Counters(self._calls, study.name, wanted, simulated)

    def _counters_of(self, head: Head) -> Counters:
        return self._counters(self._known(head.session.study), head.session.is_simulated)

    def _admit(self, session: Session, cursor: Cursor, capacity: Capacity | None) -> int | None:
        """Count an open session, before it is stored, and return the index of the item; None if uncounted.

        If the process dies here, the session is counted until it has been inactive for too long.

        Raises:
            Stale: the limit of its condition is reached.
        """
        if session.condition is None:
            return None
        study = self._known(session.study)
        entry = counters.Entry(session.id, cursor.last_at, _known_of(cursor))
        if capacity is None:
            return self._counters(study, session.is_simulated).add(session.condition, entry)
        replaced = capacity.replaced
        counts = Counters(self._calls, study.name, capacity.wanted, session.is_simulated, replaced)
        index = counts.admit(session.condition, entry)
        if index is None:
            since, unanswered_since = capacity.active_since, capacity.unanswered_since
            self.taken(study.name, since, session.is_simulated, unanswered_since)  # silent ones count no more
            index = counts.admit(session.condition, entry)
        if index is None:
            check_capacity(session, capacity.limit, capacity)
        return index

    def _list_again(self, head: Head, cursor: Cursor) -> None:
        """List and count an open session that was restored, unless it was closed here."""
        session = head.session
        listed = self._calls.get(_list_of(head), session.id)
        if listed is not None and "v" in listed:
            return
        index = int(listed["k"]["N"]) if listed and "k" in listed else None
        entry = counters.Entry(session.id, cursor.last_at, _known_of(cursor))
        if session.condition is not None:
            counts = self._counters_of(head)
            if index is None:
                index = counts.add(session.condition, entry)
            else:
                counts.count_again(session.condition, index, entry)
        with suppress(Refused):
            item = {**key(_list_of(head), session.id), **_listed_attributes(index, None)}
            self._calls.put(item, "attribute_not_exists(v)")

    def _check(
        self,
        study: Study,
        simulated: bool,
        inactive: Sequence[tuple[Count, counters.Entry]],
        active_since: str,
        unanswered_since: str,
    ) -> Iterator[tuple[Count, list[counters.Entry]]]:
        """Check sessions that seem inactive, the longest first, and yield those that count no longer.

        How many are checked is bounded, so that an opening takes no longer the more sessions are silent;
        the others count until the next opening.
        """
        chosen: dict[tuple[str, int], tuple[Count, list[counters.Entry]]] = {}
        for count, entry in sorted(inactive, key=lambda pair: pair[1].alive_at)[:_CHECKS]:
            place = (count.condition, count.index)
            if place in chosen or len(chosen) < _ITEMS_CHECKED:
                chosen.setdefault(place, (count, []))[1].append(entry)
        unknown = [entry.session for _, entries in chosen.values() for entry in entries if not entry.known]
        begun = self._begun(unknown)
        reads = 0
        for count, entries in chosen.values():
            gone: list[counters.Entry] = []
            closed: list[counters.Entry] = []
            active: dict[str, counters.Entry] = {}
            for entry in entries:
                if not entry.known and entry.session not in begun:
                    gone.append(entry)
                elif reads < _CURSORS_READ:
                    reads += 1
                    cursor = self._counted_cursor(entry.session, count.index)
                    if cursor is None:
                        gone.append(entry)
                    elif cursor.state != "active":
                        closed += [] if cursor.state == "finished" else [entry]
                    elif cursor.last_at < _needed(has_answered(cursor), active_since, unanswered_since):
                        gone.append(entry)
                    else:
                        checked = counters.Entry(entry.session, cursor.last_at, _known_of(cursor))
                        active[entry.session] = checked
            if gone or active:
                self._counters(study, simulated).check(count, gone, active)
            yield count, gone + closed

    def _begun(self, session_ids: Sequence[str]) -> set[str]:
        """Return those sessions that have any write; in the others nothing was ever begun."""
        first = keys.of_version(1)
        items = self._calls.many((keys.of_session(session_id), first) for session_id in session_ids)
        return {item["p"]["S"].removeprefix(keys.of_session("")) for item in items}

    def _counted_cursor(self, session_id: str, index: int) -> Cursor | None:
        """Return the cursor of a session with an entry; None if it is gone, or is counted elsewhere.

        If the process that closed it died before packing it, it is packed and counted now.
        """
        try:
            cursor, head = self.cursor(session_id), self._heads.of(session_id)
        except NotFound:
            return None
        if cursor.state == "active":
            return cursor
        return cursor if self._pack(head, cursor) == index else None

    def _listed(
        self, study: str, simulated: bool, attributes: Sequence[str] = ()
    ) -> Iterator[tuple[Head, Item | None]]:
        """Yield a study's sessions in the order of their ids, with the packed items of the closed ones."""
        lists = [self._calls.each(place, attributes) for place in keys.all_listed(study, simulated)]
        items = heapq.merge(*lists, key=lambda item: str(item["s"]["S"]))
        while some := list(islice(items, _HEADS_AT_ONCE)):
            heads = self._heads.many(item["s"]["S"] for item in some)
            for item in some:
                if head := heads.get(item["s"]["S"]):
                    yield head, item if "v" in item else None

    def _whole(self, head: Head) -> tuple[Cursor, list[Response]]:
        """Return the cursor and all responses of a session, from one read."""
        responses: dict[tuple[int, int], Response] = {}
        newest = None
        for item in self._calls.each(keys.of_session(head.session.id)):
            if _BARRED in item:
                raise no_session(head.session.id)
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
        self._pools.know_item(name, item)
        return item


def _study(item: Item) -> Study:
    return json_codec.load_study(zlib.decompress(item["j"]["B"]).decode())


def _list_of(head: Head) -> str:
    return keys.of_listed(head.session.study, head.session.id, head.session.is_simulated)


def _listed_attributes(index: int | None, expires_at: float | None) -> Item:
    """Return the attributes of an open session's item in the list: where it is counted, when it expires."""
    item: Item = {} if index is None else {"k": {"N": str(index)}}
    return item if expires_at is None else {**item, TTL_ATTRIBUTE: {"N": str(int(expires_at))}}


def _counted_conditions(study: Study) -> list[str]:
    """Return the conditions by which finished sessions are counted: '' in a qualification."""
    return [*_conditions(study), *(condition.name for condition in study.past_conditions), ""]


def _conditions(study: Study) -> list[str]:
    return [condition.name for condition in study.conditions]


def _known_of(cursor: Cursor) -> str:
    """Return what an entry says of a session: whether it had begun, and whether it had a response."""
    return "+" if has_answered(cursor) else "*" if cursor.version else ""


def _seconds_between(before: str, after: str) -> float | None:
    """Return the seconds between two times (UTC, ISO 8601); None if there is no earlier one."""
    if not before:
        return None
    return (datetime.fromisoformat(after) - datetime.fromisoformat(before)).total_seconds()


def _needed(is_answered: bool, active_since: str, unanswered_since: str) -> str:
    """Return the time since which a session must be active to be counted."""
    return active_since if is_answered else max(active_since, unanswered_since)
