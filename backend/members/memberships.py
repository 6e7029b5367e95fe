"""Who is a member: a book of names with their roles.

A name is one person however its letters are written: `Ada` and `ada` are the same member. A membership has
an id of its own, and tokens belong to that id: the tokens of a removed member stay without effect when the
name is added again.

The member `owner` is not in the book. It is whoever holds the researcher's key, and cannot be removed: a
server always has an owner.
"""

import re
import secrets
from dataclasses import asdict, replace
from datetime import datetime

from backend.foundation.errors import Conflict, InvalidInput, NotFound, brief
from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import stamp
from backend.members.roles import OWNER
from backend.stores.store import Store
from backend.stores.updates import retried

BOOK = "members"
KEY_HOLDER = "owner"
"""The name of whoever holds the researcher's key."""
NAME = r"[A-Za-z0-9][A-Za-z0-9._@+\-]{0,63}"
"""Pattern of member names; an e-mail address is one."""


@dataclass(frozen=True)
class Membership:
    """A person's membership, also one that has ended."""

    id: str
    member: str
    role: str
    created_at: str | None
    """None, like the next, for whoever holds the researcher's key."""
    created_by: str | None
    removed_at: str | None = None


_OF_THE_KEY = Membership(id="key", member=KEY_HOLDER, role=OWNER, created_at=None, created_by=None)
"""The membership of whoever holds the researcher's key."""


def check_name(name: str) -> str:
    """Return a member's name.

    Raises:
        InvalidInput: it is not one.
    """
    if not re.fullmatch(NAME, name):
        raise InvalidInput(
            "a member's name must be 1 to 64 letters (a-z), digits or . _ @ + -, first a letter or digit, "
            f"such as ada@lab.example, not {brief(name)}"
        )
    return name


def membership(store: Store, name: str) -> Membership:
    """Return the membership of the member `name`.

    Raises:
        NotFound: nobody is a member by that name, or no longer.
    """
    member = past_or_present(store, name)
    if member is None or member.removed_at:
        raise no_member(name)
    return member


def past_or_present(store: Store, name: str) -> Membership | None:
    """Return the latest membership by a name, also one that has ended, or None."""
    if not re.fullmatch(NAME, name):
        return None
    if name.lower() == KEY_HOLDER:
        return _OF_THE_KEY
    entry = store.entry(BOOK, name.lower())
    return Membership(**entry.data) if entry else None


def memberships(store: Store) -> list[Membership]:
    """Return all memberships, with those that have ended: the key's, then others by name."""
    return [_OF_THE_KEY, *(Membership(**entry.data) for entry in store.entries(BOOK))]


def add(store: Store, name: str, role: str, by: str, now: datetime) -> Membership:
    """Add a member; of two who add one name at once, one succeeds.

    A name that was removed keeps its letters as they were, by which uploads and submissions are found.

    Raises:
        InvalidInput: the name is not one.
        Conflict: `member_taken`: somebody is a member by that name.
    """
    fresh = Membership(secrets.token_hex(8), check_name(name), role, stamp(now), by)

    def change() -> Membership:
        entry = store.entry(BOOK, name.lower())
        before = past_or_present(store, name)
        if before is not None and not before.removed_at:
            raise Conflict(
                f"{before.member} is a member already; choose another name, or remove that member first",
                code="member_taken",
            )
        added = fresh if before is None else replace(fresh, member=before.member)
        store.write_entry(BOOK, name.lower(), entry.version if entry else 0, asdict(added))
        return added

    return retried(change, f"the member {name} is being changed from several programs at once")


def end(store: Store, membership: Membership, now: datetime) -> Membership:
    """End a membership, and with it at once whatever its tokens and cookies open; return it as it is then.

    Raises:
        NotFound: it has ended before.
        Conflict: `last_owner`: it is that of whoever holds the researcher's key.
    """
    if membership == _OF_THE_KEY:
        raise Conflict(
            "the member 'owner' is whoever holds the researcher's key, and cannot be removed; to shut that "
            "person out, replace the key by `openhype members new-key` (or change OPENHYPE_KEY), restart the "
            "server, and revoke the tokens of 'owner'",
            code="last_owner",
        )
    ended = replace(membership, removed_at=stamp(now))

    def change() -> Membership:
        entry = store.entry(BOOK, membership.member.lower())
        if entry is None or entry.data != asdict(membership):
            raise no_member(membership.member)
        store.write_entry(BOOK, entry.key, entry.version, asdict(ended))
        return ended

    return retried(change, f"the member {membership.member} is being changed from several programs at once")


def no_member(name: str) -> NotFound:
    """Return the error of a name by which nobody is a member."""
    return NotFound(f"there is no member {brief(name)}", code="unknown_member")
