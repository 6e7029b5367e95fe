"""What a route is declared to be: its request and replies, and who may call it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

JSON = "application/json"
BYTES = "application/octet-stream"
MEMBER = "openhype.member"
"""The entry of a request's WSGI environment that names the member who was found to have sent it."""
TRUE_OR_FALSE = {"type": "string", "enum": ["true", "false"]}
"""Of a parameter that `queries.truth_value` reads."""
SINCE = ("If-None-Match", "header", {"type": "string"}, "the ETag of an earlier reply")
"""The parameter of routes whose replies have an ETag."""
UNCHANGED: dict[int, tuple[str, Any]] = {304: ("Nothing has changed since that reply", None)}
"""Their reply to who has the latest one already."""
_PARAMETER = re.compile(r"<(?:[^:<>]+:)?(\w+)>")


@dataclass(frozen=True)
class Operation:
    """A route: its request and replies; `who` names the tokens that permit a call, if one is needed."""

    summary: str
    replies: dict[int, tuple[str, Any]]
    refusals: str
    takes: Any = None
    who: tuple[str, ...] = ()
    is_open_to_all: bool = False
    parameters: tuple[tuple[str, str, dict[str, Any], str], ...] = ()
    headers: tuple[str, ...] = ()
    role: str | None = None
    """The least role of the members who may call it; None if members are not asked for."""
    is_audited: bool = True
    """Whether the audit log names calls that change something; each part of an upload would fill it."""
    media: str = JSON
    """The media type of the request's body."""
    reply_media: str = JSON
    """The media type of a successful reply without a declared type."""


Operations = Mapping[str, Operation]
"""By verb and path with parameters in braces, such as `POST /api/studies/{study}/pause`."""


@cache
def path_of(rule: str) -> str:
    """Return a URL rule of Flask with its parameters in braces."""
    return _PARAMETER.sub(r"{\1}", rule)
