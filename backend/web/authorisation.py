"""Who may call a route of members: decided from its declaration, before the route runs.

A route's operation names the least role that may call it. Every rule of a module of routes must have an
operation; a module with another rule is refused when the application is made.
"""

import logging
from typing import Protocol

from flask import Flask, Response, g, request

from backend.foundation.errors import NotAllowed, OpenhypeError
from backend.members import audit_log
from backend.members.roles import Member
from backend.web import headers, login, origins
from backend.web.context import Context
from backend.web.operations import Operation, Operations, path_of

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
    if not member.may(role):
        raise NotAllowed(
            f"this needs the role {role}, and {member.name} is a {member.role}", code="not_permitted"
        )
    return member


def concerns(target: str) -> None:
    """Have the audit log name `target` as what the current request changes; by default the path's names."""
    g.target = target


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
        """Check the current request against its operation.

        Raises:
            NotAllowed: it carries no valid token, or one of a member without the role.
        """
        operation = self.operation()
        if operation is not None and operation.role is not None:
            self.require(operation.role)

    def require(self, role: str) -> None:
        """Have the current request be that of a member with `role`; raises as `check` does."""
        require(self._context, role)

    def record(self, reply: Response) -> Response:
        """Write the current request to the audit log, if a member made it and it changes something.

        The change is made by now: if the log cannot be written, that is logged as an error.
        """
        operation, member = self.operation(), g.get("member")
        if member is None or operation is None or not operation.role or not operation.is_audited:
            return reply
        if request.method not in origins.CHANGING:
            return reply
        target = g.get("target") or " ".join(map(str, (request.view_args or {}).values()))
        action = f"{request.method} {path_of(request.url_rule.rule)}"
        now = self._context.clock()
        try:
            audit_log.write(
                self._context.store, now, member.name, member.token_id, action, target, reply.status_code
            )
        except OpenhypeError as error:
            log.error("the audit log lacks %s of %s %s: %s", action, member.name, reply.status_code, error)
        return reply
