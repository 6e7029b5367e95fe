"""The audit log: which member changed what, when, and with which outcome.

Entries are only ever added. Their keys begin with the time, so that pages are read from the latest entry
down, at a cost that does not depend on the length of the log.
"""

import re
import secrets
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from backend.foundation.errors import InvalidInput, brief
from backend.foundation.printable import escaped
from backend.foundation.timestamps import stamp
from backend.stores.store import Store
from backend.stores.updates import retried

BOOK = "audit"
MOST = 500
"""Limit on the entries of a page."""
_KEY = re.compile(r"[0-9TZ:.\-]{24} [0-9a-f]{12}")
_LONGEST_TARGET = 300


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
    """The HTTP status of the reply; None for a command."""


def write(
    store: Store, now: datetime, member: str, token: str | None, action: str, target: str, status: int | None
) -> None:
    """Add an entry."""
    entry = AuditEntry(stamp(now), member, token, action, escaped(target)[:_LONGEST_TARGET], status)

    def add() -> None:
        store.write_entry(BOOK, f"{entry.at} {secrets.token_hex(6)}", 0, asdict(entry))

    retried(add, "the audit log is being written from too many places at once")


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
    found = store.latest_entries(BOOK, limit + 1, before)
    entries = [AuditEntry(**entry.data) for entry in found[:limit]]
    return entries, found[limit - 1].key if len(found) > limit else None
