"""The audit log: which member changed what, when, and with which outcome.

An entry is written before its change, and completed afterwards: a process that ends in between leaves an
entry whose outcome is unknown, rather than a change without an entry. Complete entries stay as they are.
Keys begin with the time, so that pages are read from the latest entry down, at a cost that does not depend
on the length of the log.
"""

import logging
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from typing import Literal

from backend.foundation.errors import Conflict, InvalidInput, NotAllowed, NotFound, OpenhypeError, brief
from backend.foundation.frozen import dataclass
from backend.foundation.printable import escaped
from backend.foundation.timestamps import stamp
from backend.members.tokens import without_secrets
from backend.stores.store import Store

log = logging.getLogger("openhype")

BOOK = "audit"
MOST = 500
"""Limit on the entries of a page."""
_KEY = re.compile(r"[0-9TZ:.\-]{24} [0-9a-f]{12}")
_LONGEST_TARGET = 300
Outcome = Literal["done", "refused", "failed", "unknown"]
_REFUSALS = (InvalidInput, NotAllowed, NotFound, Conflict)
"""Errors of a change that was not made."""


@dataclass(frozen=True)
class AuditEntry:
    """One change."""

    at: str
    member: str
    token: str | None
    """Id of the token; None for the researcher's key, a member that a proxy names, and the command line."""
    action: str
    """The route, such as `POST /api/members/{member}/remove`, or the command."""
    target: str
    """What was changed: a name or id, or several."""
    status: int | None
    """The HTTP status of the reply; None for a command, and while the outcome is unknown."""
    outcome: Outcome
    """`failed`: perhaps made in part; `unknown`: under way, or the process ended before it was known."""


class Change:
    """A change whose entry is written, and is to be completed."""

    def __init__(self, store: Store, entry: AuditEntry):
        self._store, self._entry = store, entry
        self._stored = store.write_entry(BOOK, f"{entry.at} {secrets.token_hex(6)}", 0, asdict(entry))

    def concerns(self, target: str) -> None:
        """State what is changed, where that was not known at the beginning."""
        self._replace(replace(self._entry, target=_shown(target)))

    def end(self, status: int | None, outcome: Outcome) -> None:
        self._replace(replace(self._entry, status=status, outcome=outcome))

    def _replace(self, entry: AuditEntry) -> None:
        """Write the entry again; a failure is logged only, since the change may have been made by then."""
        self._entry, before = entry, self._stored
        try:
            self._stored = self._store.write_entry(BOOK, before.key, before.version, asdict(entry))
        except OpenhypeError as error:
            log.error(
                "the audit log lacks the outcome of %s by %s at %s (%s %s): %s",
                entry.action, entry.member, entry.at, entry.outcome, entry.status, error,
            )  # fmt: skip


def begin(store: Store, now: datetime, member: str, token: str | None, action: str, target: str) -> Change:
    """Add an entry for a change that is about to be made.

    Raises:
        StoreFailed: it cannot be written; the change must not be made then.
    """
    return Change(store, AuditEntry(stamp(now), member, token, action, _shown(target), None, "unknown"))


def write(
    store: Store, now: datetime, member: str, token: str | None, action: str, target: str, status: int
) -> None:
    """Add the complete entry of a request that changed nothing."""
    entry = AuditEntry(stamp(now), member, token, action, _shown(target), status, outcome_of(status))
    Change(store, entry)


@contextmanager
def recorded(
    store: Store, now: datetime, member: str, token: str | None, action: str, target: str
) -> Iterator[Change]:
    """Record the change that a command makes within the context."""
    change = begin(store, now, member, token, action, target)
    try:
        yield change
    except _REFUSALS:
        change.end(None, "refused")
        raise
    change.end(None, "done")


def outcome_of(status: int) -> Outcome:
    """Return what a reply's HTTP status says of a change."""
    return "done" if status < 400 else "refused" if status < 500 else "failed"


def page(
    store: Store, limit: int = 100, before: str | None = None
) -> tuple[Sequence[AuditEntry], str | None]:
    """Return entries from the latest down, and where the next page begins (None if there is none).

    Args:
        limit: number of entries, at most `MOST`.
        before: where the page begins, as an earlier page returned it.

    Raises:
        InvalidInput: `limit` or `before` is not of this form.
    """
    if not 1 <= limit <= MOST:
        raise InvalidInput(f"limit must be from 1 to {MOST}, not {brief(limit)}")
    if before is not None and not _KEY.fullmatch(before):
        raise InvalidInput(f"before must be the `next` of an earlier page, not {brief(before)}")
    latest = store.latest_entries(BOOK, limit + 1, before)
    entries = [AuditEntry(**entry.data) for entry in latest[:limit]]
    return entries, latest[limit - 1].key if len(latest) > limit else None


def _shown(target: str) -> str:
    return escaped(without_secrets(target))[:_LONGEST_TARGET]
