"""Who may call a route of members: decided from its declaration, before the route runs.

A route names the least role that may call it.
"""

import logging
from datetime import datetime
from typing import Any

from flask import Flask, Response, g, request

from backend.foundation.errors import NotAllowed, OpenhypeError, brief
from backend.members import audit_log
from backend.members.roles import Member
from backend.stores.store import Store
from backend.web import headers, login, origins
from backend.web.context import Context
from backend.web.routing import MEMBER, Route, Routes, path_of

log = logging.getLogger("openhype")


def caller() -> Member:
    """Return the member who made the current request, whose route names a role."""
    return g.member


def token() -> str:
    """Return the token in X-Openhype-Token, or else that in Authorization, which CloudFront replaces.

    Raises:
        NotAllowed: `no_token`.
    """
    credential = login.header_token()
    if credential is None:
        raise NotAllowed(f"the header '{headers.TOKEN}: <token>' is missing", code="no_token")
    return credential


def require(context: Context, role: str) -> Member:
    """Have the current request be that of a member with `role`, and return the member.

    Raises:
        NotAllowed: it carries no valid token, or one of a member without the role; `other_member`.
    """
    member = login.member(context)
    _check_page(member)
    g.member = member
    request.environ[MEMBER] = member.name
    if not member.may(role):
        raise NotAllowed(
            f"this needs the role {role}, and {member.name} is a {member.role}", code="not_permitted"
        )
    return member


def _check_page(member: Member) -> None:
    """Refuse a request of a page that was loaded for another member, and a signed-in change without its page.

    A sign-in is the whole browser's: one in another tab would turn what this tab sends into another's act.
    """
    named = request.headers.get(headers.MEMBER)
    is_needed = member.by == "cookie" and request.method in origins.CHANGING
    if member.by == "token" or named == member.name or (named is None and not is_needed):
        return
    page = f"was loaded for {brief(named)}" if named else f"sends no header {headers.MEMBER}"
    raise NotAllowed(
        f"this page {page}, and {member.name} is signed in here now: nothing was done; load the page again",
        code="other_member",
    )


def concerns(target: str) -> None:
    """Have the audit log name `target` as what the current request changes; by default the path's names."""
    g.change.concerns(target)


class Authorisation:
    """The routes of an application, and the check of each request against them."""

    def __init__(self, app: Flask, context: Context):
        self._app, self._context = app, context
        self._routes: dict[str, Route] = {}

    def add(self, routes: Routes, works_with: Any) -> None:
        """Have the application answer routes, and check their requests."""
        self._routes |= {route.endpoint: route for route in routes}
        routes.add_to(self._app, works_with)

    def route(self) -> Route | None:
        """Return the route of the current request, None if it is none of the API."""
        return None if request.method == "OPTIONS" else self._routes.get(request.endpoint or "")

    def check(self) -> None:
        """Check the current request against its route, and begin its entry in the audit log.

        Raises:
            NotAllowed: it carries no valid token, or one of a member without the role.
            StoreFailed: the audit log cannot be written, so that nothing may be changed.
        """
        route = self.route()
        if route is None:
            return
        if route.role is not None:
            self.require(route.role)
            if self._is_audited(route):
                g.change = audit_log.begin(*self._asked(g.member))
        elif route.who and not route.is_open_to_all:
            token()

    def require(self, role: str) -> None:
        """Have the current request be that of a member with `role`; raises as `check` does."""
        require(self._context, role)

    def record(self, reply: Response) -> Response:
        """Complete the entry of the current request, or write that of a member refused for the role."""
        route, change, member = self.route(), g.get("change"), g.get("member")
        if change is not None:
            change.end(reply.status_code, audit_log.outcome_of(reply.status_code))
        elif member is not None and route is not None and self._is_audited(route):
            self._record_refusal(member, reply.status_code)
        return reply

    def _record_refusal(self, member: Member, status: int) -> None:
        try:
            audit_log.write(*self._asked(member), status)
        except OpenhypeError as error:
            log.error("the audit log lacks a refusal (%s) of %s: %s", status, member.name, error)

    def _is_audited(self, route: Route) -> bool:
        is_of_members = route.role is not None and route.is_audited
        return is_of_members and request.method in origins.CHANGING

    def _asked(self, member: Member) -> tuple[Store, datetime, str, str | None, str, str]:
        """Return the beginning of an entry: who asks for what, and when."""
        assert request.url_rule is not None  # who is asked for is asked by a route
        action = f"{request.method} {path_of(request.url_rule.rule)}"
        target = " ".join(map(str, (request.view_args or {}).values()))
        return self._context.store, self._context.clock(), member.name, member.token_id, action, target
