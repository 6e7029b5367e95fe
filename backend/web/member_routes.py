"""Routes of signing in, of members and their tokens, and of the audit log.

An owner manages everybody, a researcher submitters only: to a researcher the others are not there. Everybody
may revoke tokens of their own.
"""

from typing import cast

from flask import Flask, request

from backend.foundation.errors import Conflict, NotAllowed, brief
from backend.members import access, audit_log, memberships, tokens
from backend.members.memberships import Membership, no_member
from backend.members.roles import OWNER, RESEARCHER, SUBMITTER, Member
from backend.members.tokens import Token, no_token
from backend.web import login, queries
from backend.web.authorisation import caller, concerns
from backend.web.bodies import NoFields, body
from backend.web.context import Context
from backend.web.member_types import (
    AuditLine,
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
from backend.web.operations import Operation, Operations

OPERATIONS: Operations = {
    "POST /api/sign-in": Operation(
        "Set the cookie that stands for a token, or for the researcher's key, for twelve hours",
        {200: ("Who is signed in", Me)},
        "400 403 409 415 503",
        SignIn,
    ),
    "GET /api/sign-in": Operation(
        "Who is signed in, if anybody; for a page that then asks for a token",
        {200: ("Who it is, or why it is nobody", SignedIn)},
        "",
    ),
    "POST /api/sign-out": Operation(
        "Delete that cookie", {200: ("Nobody is signed in", dict[str, str])}, "400 403 415", NoFields
    ),
    "GET /api/me": Operation("Who I am", {200: ("The caller", Me)}, "", role=SUBMITTER),
    "GET /api/members": Operation(
        "The members with their tokens; for a researcher, the submitters",
        {200: ("Members, in the order of their names, also removed ones", Members)},
        "",
        role=RESEARCHER,
    ),
    "POST /api/members": Operation(
        "Add a member; a researcher adds submitters only",
        {201: ("The member", MemberFacts)},
        "400 409 415 503",
        NewMember,
        role=RESEARCHER,
    ),
    "POST /api/members/{member}/remove": Operation(
        "Remove a member: the member's tokens and sign-ins end at once",
        {200: ("The member, removed", MemberFacts)},
        "400 404 409 415 503",
        NoFields,
        role=RESEARCHER,
    ),
    "POST /api/members/{member}/tokens": Operation(
        "Give a member a token",
        {201: ("The token, with its text", IssuedToken)},
        "400 404 415 503",
        NewToken,
        role=RESEARCHER,
    ),
    "POST /api/tokens/{token}/revoke": Operation(
        "Revoke a token of one's own, or of a member whom one manages: it ends at once, with its sign-ins",
        {200: ("The token, revoked", TokenFacts)},
        "400 404 415 503",
        NoFields,
        role=SUBMITTER,
    ),
    "GET /api/audit": Operation(
        "The audit log: who changed what, the latest first",
        {200: ("A page of it", AuditPage)},
        "400",
        role=OWNER,
        parameters=(
            ("before", "query", {"type": "string"}, "`next` of the page before"),
            (
                "limit",
                "query",
                {"type": "integer", "minimum": 1, "maximum": audit_log.MOST, "default": 100},
                "Entries, at most",
            ),
        ),
    ),
}


def add_routes(app: Flask, context: Context) -> None:
    """Add the routes of `OPERATIONS`."""
    store = context.store

    @app.post("/api/sign-in")
    def sign_in() -> Me:
        found = access.member_of(store, context.keys, body(SignIn).token.strip(), context.clock())
        if context.proxy and (named := context.proxy.member_in(request.headers)):
            raise Conflict(
                f"the sign-in in front of this server names {brief(named)} already; sign out there first",
                code="signed_in_by_proxy",
            )
        return _me(login.log_in(context, found))

    @app.get("/api/sign-in")
    def signed_in() -> SignedIn:
        try:
            return {"me": _me(login.member(context)), "reason": None}
        except NotAllowed as refusal:
            return {"me": None, "reason": refusal.code}

    @app.post("/api/sign-out")
    def sign_out() -> dict[str, str]:
        body(NoFields)
        login.log_out()
        return {}

    @app.get("/api/me")
    def me() -> Me:
        return _me(caller())

    @app.get("/api/members")
    def members() -> Members:
        by_membership: dict[str, list[TokenFacts]] = {}
        for token in tokens.tokens(store):
            by_membership.setdefault(token.membership, []).append(token_facts(token))
        shown = [each for each in memberships.memberships(store) if caller().may_manage(each.role)]
        lines: list[MemberLine] = [
            {**member_facts(each), "tokens": by_membership.get(each.id, [])} for each in shown
        ]
        return {"members": lines}

    @app.post("/api/members")
    def add() -> tuple[MemberFacts, int]:
        asked = body(NewMember)
        concerns(f"{asked.member} as {asked.role}")
        if not caller().may_manage(asked.role):
            raise NotAllowed(
                f"a {caller().role} adds submitters only; ask an owner to add {asked.member}",
                code="not_permitted",
            )
        return member_facts(
            memberships.add(store, asked.member, asked.role, caller().name, context.clock())
        ), 201

    @app.post("/api/members/<member>/remove")
    def remove(member: str) -> MemberFacts:
        body(NoFields)
        found = _managed(context, caller(), member)
        ended = memberships.end(store, found, context.clock())
        tokens.revoke_all(store, ended.id, context.clock())
        return member_facts(ended)

    @app.post("/api/members/<member>/tokens")
    def give_token(member: str) -> tuple[IssuedToken, int]:
        asked = body(NewToken)
        found = _managed(context, caller(), member)
        token, text = tokens.issue(store, found, asked.label, asked.days, caller().name, context.clock())
        concerns(f"{found.member} {token.id}")
        return {**token_facts(token), "secret": text}, 201

    @app.post("/api/tokens/<token>/revoke")
    def revoke(token: str) -> TokenFacts:
        body(NoFields)
        found = tokens.token(store, tokens.id_in(token) or token)
        owner = memberships.past_or_present(store, found.member)
        is_own = found.member == caller().name
        if not is_own and (owner is None or not caller().may_manage(owner.role)):
            raise no_token(token)
        concerns(f"{found.member} {found.id}")
        return token_facts(tokens.revoke(store, found.id, context.clock()))

    @app.get("/api/audit")
    def audit() -> AuditPage:
        limit = queries.whole("limit", 1, audit_log.MOST) or 100
        entries, following = audit_log.page(store, limit, request.args.get("before"))
        return {"entries": [cast(AuditLine, vars(entry)) for entry in entries], "next": following}


def _managed(context: Context, caller: Member, name: str) -> Membership:
    """Return the membership of a member whom the caller manages.

    Raises:
        NotFound: nobody is a member by that name, or the caller does not manage that member.
    """
    found = memberships.membership(context.store, name)
    if not caller.may_manage(found.role):
        raise no_member(name)
    return found


def _me(member: Member) -> Me:
    return {
        "member": member.name,
        "role": member.role,
        "token": member.token_id,
        "expires_at": member.expires_at,
        "by": member.by,
    }


def member_facts(found: Membership) -> MemberFacts:
    """Return a membership as the API shows it."""
    return {
        "member": found.member,
        "role": found.role,
        "created_at": found.created_at,
        "created_by": found.created_by,
        "removed_at": found.removed_at,
    }


def token_facts(found: Token) -> TokenFacts:
    """Return a token as the API shows it."""
    return {
        "token": found.id,
        "label": found.label,
        "created_at": found.created_at,
        "created_by": found.created_by,
        "expires_at": found.expires_at,
        "revoked_at": found.revoked_at,
    }
