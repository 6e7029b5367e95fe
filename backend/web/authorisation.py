"""Who may call a route of members: decided from its declaration, before the route runs.

A route's operation names the least role that may call it. Every rule of a module of routes must have an
operation; a module with another rule is refused when the application is made.
"""

import logging
from datetime import datetime
from typing import Protocol

from flask import Flask, Response, g, request

from backend.foundation.errors import NotAllowed, OpenhypeError
from backend.members import audit_log
from backend.members.roles import Member
from backend.stores.store import Store
from backend.web import headers, login, origins
from backend.web.context import Context
from backend.web.operations import MEMBER, Operation, Operations, path_of

log = logging.getLogger("openhype")


class Routes(Protocol):
    """A module of routes."""

    OPERATIONS: Operations

    def add_routes(self, app: Flask, context: Context) -> None: ...


def caller() -> Member:
    """Return the member who made the current request, whose operation names a role."""
    return g.member


def token() -> str:
    """Return the token in X-Openhype-Token, or else that in Authorization, which CloudFront replaces.

    Raises:
        NotAllowed: `no_token`.
    """
    found = login.header_token()
    if found is None:
        raise NotAllowed(f"the header '{headers.TOKEN}: <token>' is missing", code="no_token")
    return found


def require(context: Context, role: str) -> Member:
    """Have the current request be that of a member with `role`, and return the member.

    Raises:
        NotAllowed: it carries no valid token, or one of a member without the role.
    """
    g.member = member = login.member(context)
    request.environ[MEMBER] = member.name
    if not member.may(role):
        raise NotAllowed(
            f"this needs the role {role}, and {member.name} is a {member.role}", code="not_permitted"
        )
    return member


def concerns(target: str) -> None:
    """Have the audit log name `target` as what the current request changes; by default the path's names."""
    g.change.concerns(target)


class Authorisation:
    """The operations of an application, and the check of each request against them."""

    def __init__(self, app: Flask, context: Context):
        self._app, self._context = app, context
        self._operations: dict[str, Operation] = {}

    def declare(self, operations: Operations) -> None:
        """Have requests checked against these operations."""
        self._operations |= operations

    def add(self, module: Routes) -> None:
        """Add the routes of a module.

        Raises:
            RuntimeError: a route of the API has no operation.
        """
        known = {rule.rule for rule in self._app.url_map.iter_rules()}
        self.declare(module.OPERATIONS)
        module.add_routes(self._app, self._context)
        for rule in self._app.url_map.iter_rules():
            if rule.rule in known or not rule.rule.startswith("/api/"):
                continue
            for verb in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                if f"{verb} {path_of(rule.rule)}" not in module.OPERATIONS:
                    raise RuntimeError(f"{verb} {rule.rule} has no operation")

    def operation(self) -> Operation | None:
        """Return the operation of the current request, None if none was declared here."""
        rule = request.url_rule
        if rule is None:
            return None
        verb = "GET" if request.method == "HEAD" else request.method
        return self._operations.get(f"{verb} {path_of(rule.rule)}")

    def check(self) -> None:
        """Check the current request against its operation, and begin its entry in the audit log.

        Raises:
            NotAllowed: it carries no valid token, or one of a member without the role.
            StoreFailed: the audit log cannot be written, so that nothing may be changed.
        """
        operation = self.operation()
        if operation is not None and operation.role is not None:
            self.require(operation.role)
            if self._is_audited(operation):
                g.change = audit_log.begin(*self._asked(g.member))

    def require(self, role: str) -> None:
        """Have the current request be that of a member with `role`; raises as `check` does."""
        require(self._context, role)

    def record(self, reply: Response) -> Response:
        """Complete the entry of the current request, or write that of a member refused for the role."""
        operation, change, member = self.operation(), g.get("change"), g.get("member")
        if change is not None:
            change.end(reply.status_code, audit_log.outcome_of(reply.status_code))
        elif member is not None and operation is not None and self._is_audited(operation):
            self._record_refusal(member, reply.status_code)
        return reply

    def _record_refusal(self, member: Member, status: int) -> None:
        try:
            audit_log.write(*self._asked(member), status)
        except OpenhypeError as error:
            log.error("the audit log lacks a refusal (%s) of %s: %s", status, member.name, error)

    def _is_audited(self, operation: Operation) -> bool:
        is_of_members = operation.role is not None and operation.is_audited
        return is_of_members and request.method in origins.CHANGING

    def _asked(self, member: Member) -> tuple[Store, datetime, str, str | None, str, str]:
        """Return the beginning of an entry: who asks for what, and when."""
        assert request.url_rule is not None  # a request without a route has no operation
        action = f"{request.method} {path_of(request.url_rule.rule)}"
        target = " ".join(map(str, (request.view_args or {}).values()))
        return self._context.store, self._context.clock(), member.name, member.token_id, action, target
