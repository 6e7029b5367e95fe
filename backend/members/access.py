"""Which member a request is of: by a token, by the id of a token in a cookie, or by a trusted proxy's word.

Nothing is cached: a token that is revoked, or whose member is removed, opens nothing from then on.
"""

import hmac
from datetime import datetime

from backend.foundation.errors import NotAllowed, NotFound, brief
from backend.foundation.timestamps import readable, stamp
from backend.members import memberships, tokens
from backend.members.roles import OWNER, Member
from backend.members.tokens import Token
from backend.stores.datadir import Keys
from backend.stores.store import Store

KEY_HOLDER = Member(memberships.KEY_HOLDER, OWNER)
"""Whoever holds the researcher's key."""


def is_key(keys: Keys, text: str) -> bool:
    """Return whether this is the researcher's key, compared in constant time."""
    return hmac.compare_digest(_bytes(text), _bytes(keys.researcher))


def member_of(store: Store, keys: Keys, text: str, now: datetime) -> Member:
    """Return the member to whom a token's text, or the researcher's key, belongs.

    Raises:
        NotAllowed: `wrong_token`, `expired_token` or `revoked_token`. Which of the last two is said only
            to who has the token's whole text.
    """
    if is_key(keys, text):
        return KEY_HOLDER
    token_id = tokens.id_in(text)
    token = None if token_id is None else _token(store, token_id)
    if token is None or not token.is_of(text):
        raise NotAllowed(
            "this is neither a valid token nor the researcher's key; an owner makes a token with `openhype "
            "members token NAME`, and `openhype serve` prints where the key is",
            code="wrong_token",
        )
    return _holder(store, token, now)


def member_by_token_id(store: Store, token_id: str, now: datetime) -> Member:
    """Return the member whose token has an id, which only a sealed cookie vouches for.

    Raises:
        NotAllowed: as `member_of`.
    """
    token = _token(store, token_id)
    if token is None:
        raise NotAllowed("the token of this sign-in does not exist; sign in again", code="wrong_token")
    return _holder(store, token, now)


def member_named(store: Store, name: str) -> Member:
    """Return the member by a name that a trusted proxy has authenticated.

    The member `owner` is whoever holds the researcher's key, not who has chosen that name at the proxy.

    Raises:
        NotAllowed: `unknown_member`: nobody was added by that name.
    """
    membership = memberships.past_or_present(store, name)
    if membership is None or membership.removed_at or membership.member == memberships.KEY_HOLDER:
        raise NotAllowed(
            f"the sign-in in front of this server names {brief(name)}, who is not a member here; an owner "
            "adds members with `openhype members add NAME`",
            code="unknown_member",
        )
    return Member(membership.member, membership.role, by="proxy")


def _token(store: Store, token_id: str) -> Token | None:
    try:
        return tokens.token(store, token_id)
    except NotFound:
        return None


def _holder(store: Store, token: Token, now: datetime) -> Member:
    """Return the member who holds a token whose text was compared, or whose id was sealed.

    Raises:
        NotAllowed: `expired_token` or `revoked_token`.
    """
    owner = memberships.past_or_present(store, token.member)
    which = f"the token {token.id} of {token.member}"
    if token.revoked_at or owner is None or owner.id != token.membership or owner.removed_at:
        raise NotAllowed(f"{which} was revoked; ask an owner for another", code="revoked_token")
    if stamp(now) >= token.expires_at:
        expired = f"{which} expired at {readable(token.expires_at)}; ask an owner for another"
        raise NotAllowed(expired, code="expired_token")
    return Member(owner.member, owner.role, token.id, token.expires_at)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
