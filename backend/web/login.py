"""Signing in: one for the console, the results pages and the API.

A token, or the researcher's key, is typed into a form once, then a cookie replaces it. It never appears in a
URL or a cookie. The cookie holds a time, the token's id, and their HMAC under the researcher's key, so that
the server stores nothing, and changing that key ends every sign-in. The token is looked up at each request:
once it is revoked or has expired, its cookies open nothing.

The cookie is HttpOnly (any script could read a token that a script stores), SameSite=Strict, and sent to the
paths of researchers and to the API only. There it stands behind a token in the request's header, and behind
the member whom a trusted proxy names: evaluators' requests are authorised by their session's token alone.
"""

import hmac
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from flask import Response, after_this_request, request

from backend.foundation.errors import NotAllowed
from backend.foundation.timestamps import stamp
from backend.members import access, audit_log
from backend.members.access import KEY_HOLDER
from backend.members.roles import Member
from backend.stores.datadir import Keys
from backend.web import headers
from backend.web.context import Context
from backend.web.proxies import address_of
from backend.web.routing import path_of
from backend.web.vary_header import varies_with_member

PATH = "/results"
_PATHS = (PATH, "/api")
COOKIE = "openhype_login"
SIGN_IN_CODES = frozenset({"no_token", "wrong_token", "expired_token", "revoked_token"})
"""Codes of refusals for which pages ask for a token."""
_LASTS = timedelta(hours=12)
_SKEW = timedelta(minutes=5)
"""Most by which the clocks of two servers may differ."""
_OF_THE_KEY = "key"
"""Stands in the cookie for the id of a token."""


def header_token() -> str | None:
    """Return the token in X-Openhype-Token, or else that in Authorization, which CloudFront replaces."""
    if credential := request.headers.get(headers.TOKEN, "").strip():
        return credential
    scheme, _, credential = request.headers.get("Authorization", "").partition(" ")
    return credential.strip() or None if scheme.lower() == "bearer" else None


def member(context: Context) -> Member:
    """Return the member who made the current request.

    Raises:
        NotAllowed: `no_token`; `wrong_token`, `expired_token` or `revoked_token`; `unknown_member`.
    """
    varies_with_member()
    named = context.proxy.member_in(request.headers) if context.proxy else None
    if named is not None and headers.TOKEN not in request.headers:
        return access.member_named(context.store, named)
    text = header_token()
    if text is not None:
        return access.member_of(context.store, context.keys, text, context.clock())
    signed_in = _signed_in(context)
    if signed_in is None:
        raise NotAllowed(
            f"the header '{headers.TOKEN}: <token>' is missing, and nobody is signed in; sign in again",
            code="no_token",
        )
    return signed_in


def log_in(context: Context, member: Member) -> Member:
    """Have the reply to the current request set the cookie that stands for a member's token.

    Returns:
        The member as the cookie's requests are of.
    """
    now = context.clock()
    until = now + _LASTS
    if member.expires_at is not None:
        until = min(until, datetime.fromisoformat(member.expires_at))
    at, key = str(int(until.timestamp())), member.token_id or _OF_THE_KEY
    value, seconds = f"{at}.{key}.{_seal(context.keys, at, key)}", int((until - now).total_seconds())
    assert request.url_rule is not None  # only the handler of a route signs in
    is_secure, action = request.is_secure, f"{request.method} {path_of(request.url_rule.rule)}"
    audit_log.write(context.store, now, member.name, member.token_id, action, "", 200)

    @after_this_request
    def set_cookie(reply: Response) -> Response:
        for path in map(address_of, _PATHS):
            reply.set_cookie(
                COOKIE, value, seconds, path=path, secure=is_secure, httponly=True, samesite="Strict"
            )
        return reply

    return _until(member, at)


def log_out() -> None:
    """Have the reply to the current request delete the cookie."""

    @after_this_request
    def delete_cookie(reply: Response) -> Response:
        for path in map(address_of, _PATHS):
            reply.delete_cookie(COOKIE, path=path, httponly=True, samesite="Strict")
        return reply


def _signed_in(context: Context) -> Member | None:
    """Return the member of the request's cookie, or None if it has none that is valid.

    Raises:
        NotAllowed: the token that it stands for was revoked, or has expired.
    """
    at, _, rest = request.cookies.get(COOKIE, "").partition(".")
    key, _, seal = rest.partition(".")
    if not hmac.compare_digest(seal.encode(), _seal(context.keys, at, key).encode()):
        return None
    now = context.clock()
    left = timedelta(seconds=int(at) - now.timestamp())
    if not timedelta(0) < left <= _LASTS + _SKEW:  # more is left if the clock was put back
        return None
    member = KEY_HOLDER if key == _OF_THE_KEY else access.member_by_token_id(context.store, key, now)
    return _until(member, at)


def _until(member: Member, at: str) -> Member:
    until = stamp(datetime.fromtimestamp(int(at), UTC))
    return Member(member.name, member.role, member.token_id, until, "cookie")


def _seal(keys: Keys, at: str, key: str) -> str:
    return hmac.new(keys.researcher.encode(), f"openhype login {at} {key}".encode(), sha256).hexdigest()
