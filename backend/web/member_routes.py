"""Routes of signing in, of members and their tokens, and of the audit log.

An owner manages everybody, a researcher submitters only: to a researcher the others are not there. Everybody
may revoke tokens of their own.
"""

from typing import Annotated

from flask import request
from msgspec import Meta, Struct

from backend.foundation.errors import Conflict, NotAllowed, brief
from backend.members import access, audit_log, memberships, tokens
from backend.members.memberships import Membership, no_member
from backend.members.roles import OWNER, RESEARCHER, SUBMITTER, Member
from backend.members.tokens import Token, no_token
from backend.web import login
from backend.web.authorisation import caller, concerns
from backend.web.context import Context
from backend.web.member_types import (
    AuditPage,
    IssuedToken,
    Me,
    MemberFacts,
    MemberLine,
    Members,
    NewMember,
    NewToken,
    SignedIn,
    SignIn,
    TokenFacts,
)
from backend.web.routing import Routes, as_declared

route = Routes(RESEARCHER)


class AuditQuery(Struct, frozen=True):
    """Which page of the audit log is asked for."""

    before: str | None = None
    """`next` of the page before."""
    limit: Annotated[int, Meta(ge=1, le=audit_log.MOST)] = 100
    """Entries, at most."""


@route("POST /api/sign-in", "403 409 503", role=None)
def sign_in(context: Context, given: SignIn) -> Me:
    """Sign in: set the cookie that stands for a token, or for the researcher's key, for twelve hours.

    The code of a one-time link is taken as well, and stands for the key.

    Returns:
        Who is signed in.
    """
    if context.proxy and (named := context.proxy.member_in(request.headers)):
        raise Conflict(
            f"the sign-in in front of this server names {brief(named)} already; sign out there first",
            code="signed_in_by_proxy",
        )
    text, now = given.token.strip(), context.clock()
    member = context.sign_in_links.member(text, now)
    return _me(login.log_in(context, member or access.member_of(context.store, context.keys, text, now)))


@route("GET /api/sign-in", role=None)
def signed_in(context: Context) -> SignedIn:
    """Who is signed in, if anybody; for a page that then asks for a token.

    Returns:
        Who it is, or why it is nobody.
    """
    try:
        return {"me": _me(login.member(context)), "reason": None}
    except NotAllowed as refusal:
        return {"me": None, "reason": refusal.code}


@route("POST /api/sign-out", "403", role=None)
def sign_out(context: Context) -> dict[str, str]:
    """Delete that cookie.

    Returns:
        Nobody is signed in.
    """
    login.log_out()
    return {}


@route("GET /api/me", role=SUBMITTER)
def me(context: Context) -> Me:
    """Who I am.

    Returns:
        The caller.
    """
    return _me(caller())


@route("GET /api/members")
def list_members(context: Context) -> Members:
    """The members with their tokens; for a researcher, the submitters.

    Returns:
        Members, in the order of their names, also removed ones.
    """
    by_membership: dict[str, list[TokenFacts]] = {}
    for token in tokens.tokens(context.store):
        by_membership.setdefault(token.membership, []).append(token_facts(token))
    shown = [each for each in memberships.memberships(context.store) if caller().may_manage(each.role)]
    lines: list[MemberLine] = [
        {**member_facts(each), "tokens": by_membership.get(each.id, [])} for each in shown
    ]
    return {"members": lines}


@route("POST /api/members", "409 503", status=201)
def add_member(context: Context, asked: NewMember) -> MemberFacts:
    """Add a member; a researcher adds submitters only.

    Returns:
        The member.
    """
    concerns(f"{asked.member} as {asked.role}")
    if not caller().may_manage(asked.role):
        raise NotAllowed(
            f"a {caller().role} adds submitters only; ask an owner to add {asked.member}",
            code="not_permitted",
        )
    added = memberships.add(context.store, asked.member, asked.role, caller().name, context.clock())
    return member_facts(added)


@route("POST /api/members/{member}/remove", "409 503")
def remove_member(context: Context, member: str) -> MemberFacts:
    """Remove a member: the member's tokens and sign-ins end at once.

    Returns:
        The member, removed.
    """
    membership = _managed(context, caller(), member)
    ended = memberships.end(context.store, membership, context.clock())
    tokens.revoke_all(context.store, ended.id, context.clock())
    return member_facts(ended)


@route("POST /api/members/{member}/tokens", "503", status=201)
def give_token(context: Context, member: str, asked: NewToken) -> IssuedToken:
    """Give a member a token.

    Returns:
        The token, with its text.
    """
    membership, by = _managed(context, caller(), member), caller().name
    token, text = tokens.issue(context.store, membership, asked.label, asked.days, by, context.clock())
    concerns(f"{membership.member} {token.id}")
    return {**token_facts(token), "secret": text}


@route("POST /api/tokens/{token}/revoke", "503", role=SUBMITTER)
def revoke_token(context: Context, token: str) -> TokenFacts:
    """Revoke a token of one's own, or of a member whom one manages: it ends at once, with its sign-ins.

    Returns:
        The token, revoked.
    """
    stored = tokens.token(context.store, tokens.id_in(token) or token)
    owner = memberships.past_or_present(context.store, stored.member)
    is_own = stored.member == caller().name
    if not is_own and (owner is None or not caller().may_manage(owner.role)):
        raise no_token(token)
    concerns(f"{stored.member} {stored.id}")
    return token_facts(tokens.revoke(context.store, stored.id, context.clock()))


@route("GET /api/audit", role=OWNER)
def show_audit(context: Context, query: AuditQuery) -> AuditPage:
    """The audit log: who changed what, the latest first.

    Returns:
        A page of it.
    """
    entries, following = audit_log.page(context.store, query.limit, query.before)
    return {"entries": [*entries], "next": following}


def _managed(context: Context, caller: Member, name: str) -> Membership:
    """Return the membership of a member whom the caller manages.

    Raises:
        NotFound: nobody is a member by that name, or the caller does not manage that member.
    """
    membership = memberships.membership(context.store, name)
    if not caller.may_manage(membership.role):
        raise no_member(name)
    return membership


def _me(member: Member) -> Me:
    return as_declared(Me, member, member=member.name, token=member.token_id)


def member_facts(membership: Membership) -> MemberFacts:
    return as_declared(MemberFacts, membership)


def token_facts(token: Token) -> TokenFacts:
    return as_declared(TokenFacts, token, token=token.id)
