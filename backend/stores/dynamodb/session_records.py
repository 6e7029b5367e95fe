"""Heads: the immutable part of each session.

A session does not change once stored, so that a process reads it once.
"""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from backend.experiment.records import Session
from backend.experiment.session import Cursor
from backend.foundation.bounded_cache import Recent
from backend.foundation.errors import NotFound
from backend.stores import json_codec
from backend.stores.dynamodb import keys
from backend.stores.dynamodb.client import Calls, Item, Refused, key
from backend.stores.dynamodb.pools import UPLOAD, Pools

TTL_ATTRIBUTE = "x"
"""Seconds of the epoch after which an item may be deleted; only sessions without any write have it."""
_HELD = "w"
"""`Head.held_until`."""
_KEPT_BYTES = 32 << 20


@dataclass(frozen=True)
class Head:
    """A session, and whether it expires if nothing is written."""

    session: Session
    expires: bool
    held_until: float | None = None
    """When (seconds of the epoch) it stops counting towards the wanted sessions, unless it has begun."""

    @cached_property
    def pictures(self) -> Sequence[str]:
        return pictures_of(self.session)


class Heads:
    """The heads of a table. Safe to use from many threads."""

    def __init__(self, calls: Calls, pools: Pools, clock: Callable[[], float]):
        self._calls, self._pools, self._clock = calls, pools, clock
        self._heads = Recent[Head](_KEPT_BYTES, lambda head: head.session.memory_bytes)

    def of(self, session_id: str) -> Head:
        """Return the head of a session.

        Raises:
            NotFound: there is no such session, or it has expired.
        """
        head = self._heads.get(session_id)
        if head is None:
            item = self._calls.get(keys.of_session(session_id), keys.HEAD)
            if item is None or self._is_gone(item):
                raise no_session(session_id)
            head = self.in_item(item)
            self._heads.put(session_id, head)
        return head

    def many(self, session_ids: Iterable[str]) -> dict[str, Head]:
        """Return the heads that exist, by session id."""
        items = self._calls.many((keys.of_session(session_id), keys.HEAD) for session_id in session_ids)
        heads = [self.in_item(item) for item in items if not self._is_gone(item)]
        return {head.session.id: head for head in heads}

    def add(
        self,
        session: Session,
        cursor: Cursor,
        expires_at: float | None = None,
        held_until: float | None = None,
    ) -> Head:
        """Store and return a head, together with the cursor of a session without any write."""
        upload = self._pools.upload_of(session.study)
        head = Head(session, expires_at is not None, held_until)
        item = key(keys.of_session(session.id), keys.HEAD) | keys.cursor_attributes(cursor, head.pictures)
        item |= {"j": {"B": _packed(session)}, "n": {"S": session.study}}
        if expires_at is not None:
            item[TTL_ATTRIBUTE] = {"N": str(int(expires_at))}
        if held_until is not None:
            item[_HELD] = {"N": str(int(held_until))}
        if upload is not None:
            item[UPLOAD] = {"S": upload}
        self._calls.put(item)
        self._heads.put(session.id, head)
        return head

    def redact(self, session_id: str, panel: Mapping[str, str], device: Mapping[str, Any]) -> None:
        """Replace a session's panel parameters and device facts."""
        try:
            session = replace(self.of(session_id).session, panel=dict(panel), device=dict(device))
        except NotFound:
            return
        with suppress(Refused):  # erased in the meantime
            place = (keys.of_session(session_id), keys.HEAD)
            self._calls.update(*place, "SET j = :j", "attribute_exists(p)", {":j": {"B": _packed(session)}})
        self.drop(session_id)

    def drop(self, session_id: str) -> None:
        self._heads.drop(session_id)

    def in_item(self, item: Item) -> Head:
        return Head(
            json_codec.load_session(zlib.decompress(item["j"]["B"]).decode()),
            expires=TTL_ATTRIBUTE in item,
            held_until=float(item[_HELD]["N"]) if _HELD in item else None,
        )

    def is_expired(self, item: Item) -> bool:
        """Return whether an item has expired; DynamoDB may take days to delete it."""
        return TTL_ATTRIBUTE in item and int(item[TTL_ATTRIBUTE]["N"]) <= self._clock()

    def _is_gone(self, item: Item) -> bool:
        """Return whether a session has expired or belongs to an earlier study of the same name."""
        is_of_another = UPLOAD in item and not self._pools.is_of(item["n"]["S"], item[UPLOAD]["S"])
        return is_of_another or self.is_expired(item)


def pictures_of(session: Session) -> list[str]:
    """Return all stimulus names of a session, in the order in which responses index them."""
    return [name for block in (*session.blocks, *session.spares) for name in block.stimuli]


def _packed(session: Session) -> bytes:
    return zlib.compress(json_codec.dump(session).encode(), 9)


def no_session(session_id: str) -> NotFound:
    return NotFound(f"there is no session {session_id!r}", code="unknown_session")
