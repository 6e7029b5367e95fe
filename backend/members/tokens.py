"""Members' tokens: named, with an expiry, revocable; only a hash of each is stored.

A token's text is `oh_<id>_<secret>`. The secret has 256 random bits, so that one round of SHA-256 suffices:
nobody can try them all. Its prefix makes a leaked token findable by programs that look for secrets.
"""

import hashlib
import hmac
import re
import secrets
from dataclasses import asdict
from datetime import datetime, timedelta

from backend.foundation.errors import InvalidInput, NotFound, brief
from backend.foundation.frozen import dataclass
from backend.foundation.timestamps import stamp
from backend.members.memberships import Membership
from backend.stores.store import Store
from backend.stores.updates import update

BOOK = "tokens"
LONGEST_DAYS = 3650
LONGEST_LABEL = 64
_TEXT = re.compile(r"oh_(?P<id>[0-9a-f]{12})_[A-Za-z0-9_-]{43}")
_SHOWN = r"oh_\g<id>_…"


@dataclass(frozen=True)
class Token:
    """A token as stored: without its secret."""

    id: str
    member: str
    membership: str
    label: str
    hash: str
    """SHA-256 (hex) of the token's text."""
    created_at: str
    created_by: str
    expires_at: str
    revoked_at: str | None = None

    def is_of(self, text: str) -> bool:
        """Return whether `text` is this token, compared in constant time."""
        return hmac.compare_digest(self.hash, _hash(text))


def id_in(text: str) -> str | None:
    """Return the id in a token's text, or None if the text is not of a token's form."""
    match = _TEXT.fullmatch(text)
    return match["id"] if match else None


def without_secrets(text: str) -> str:
    """Return a text for a log, with the secrets of tokens in it left out."""
    return _TEXT.sub(_SHOWN, text)


def issue(
    store: Store, owner: Membership, label: str, days: int, by: str, now: datetime
) -> tuple[Token, str]:
    """Give a member a new token; return it and its text, which is not stored and cannot be shown again.

    Args:
        days: after which it expires.

    Raises:
        InvalidInput: the label cannot be printed or is too long, or the number of days is out of range.
    """
    if len(label) > LONGEST_LABEL or not label.isprintable():
        raise InvalidInput(
            f"a token's label must be at most {LONGEST_LABEL} printable characters, not {brief(label)}"
        )
    if not 1 <= days <= LONGEST_DAYS:
        raise InvalidInput(f"a token must expire after 1 to {LONGEST_DAYS} days, not after {brief(days)}")
    key = secrets.token_hex(6)
    text = f"oh_{key}_{secrets.token_urlsafe(32)}"
    token = Token(
        id=key,
        member=owner.member,
        membership=owner.id,
        label=label.strip(),
        hash=_hash(text),
        created_at=stamp(now),
        created_by=by,
        expires_at=stamp(now + timedelta(days=days)),
    )
    store.write_entry(BOOK, key, 0, asdict(token))
    return token, text


def token(store: Store, token_id: str) -> Token:
    """Return a token by its id.

    Raises:
        NotFound: there is none.
    """
    entry = store.entry(BOOK, token_id) if re.fullmatch(r"[0-9a-f]{12}", token_id) else None
    if entry is None:
        raise no_token(token_id)
    return Token(**entry.data)


def tokens(store: Store) -> list[Token]:
    """Return all tokens, also expired and revoked ones, in the order in which they were issued."""
    stored = [Token(**entry.data) for entry in store.entries(BOOK)]
    return sorted(stored, key=lambda each: (each.created_at, each.id))


def revoke(store: Store, token_id: str, now: datetime) -> Token:
    """Revoke a token, which ends its cookies too; a token that was revoked before stays as it is.

    Raises:
        NotFound: there is none.
    """
    token(store, token_id)
    changed = update(
        store, BOOK, token_id, lambda data: data and {**data, "revoked_at": data["revoked_at"] or stamp(now)}
    )
    if changed is None:
        raise no_token(token_id)
    return Token(**changed.data)


def revoke_all(store: Store, membership_id: str, now: datetime) -> None:
    for each in tokens(store):
        if each.membership == membership_id and not each.revoked_at:
            revoke(store, each.id, now)


def no_token(token_id: str) -> NotFound:
    """Return the error of a token that does not exist."""
    return NotFound(f"there is no token {brief(token_id)}", code="unknown_token")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
