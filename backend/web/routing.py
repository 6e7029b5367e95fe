"""Routes of the API, each declared at its function: path, request, replies, and who may call it.

A function is called with what its routes work with, such as a `Context`, and by name with what its other
parameters ask for: a name in the path, as a text or as the `Study` of that name; a struct, the body of the
request, or of a GET the parameters in its address. What it returns is the reply, of the type that it
declares. Its docstring says what it does, and what it returns. So the document of the API is made from the
functions.
"""

import hashlib
import inspect
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY
from functools import cache, cached_property
from typing import Any, TypeVar, cast, get_args, get_origin

import msgspec
from flask import Flask, Response, request

from backend.experiment.records import Study
from backend.foundation.frozen import dataclass
from backend.task import requests
from backend.web import queries

JSON = "application/json"
BYTES = "application/octet-stream"
MEMBER = "openhype.member"
"""The entry of a request's WSGI environment that names the member who was found to have sent it."""
_SINCE = ("If-None-Match", "header", {"type": "string"}, "the ETag of an earlier reply")
_UNCHANGED = {304: ("Nothing has changed since that reply", None)}
_RULED = re.compile(r"<(?:[^:<>]+:)?(\w+)>")
_NAMED = re.compile(r"\{(\w+)\}")
F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


class NoFields(msgspec.Struct, frozen=True):
    """The body of a request that says all by its path: `{}`."""


@dataclass(frozen=True)
class Route:
    """A route: its request and replies, and who may call it."""

    function: Callable[..., Any]
    name: str
    """Verb and path with parameters in braces, such as `POST /api/studies/{study}/pause`."""
    more_refusals: str = ""
    """The statuses of refusals besides those that follow from the request (`refusals`)."""
    _: KW_ONLY
    without: str = ""
    """The statuses that would follow from the request, and that this route never gives."""
    status: int = 200
    also: Mapping[int, tuple[str, Any]] | None = None
    """Replies with other statuses, and their types; the function then returns the status as well."""
    gives: Any = None
    """The type of the reply, if the function declares another one."""
    role: str | None = None
    """The least role of the members who may call it; None if members are not asked for."""
    who: tuple[str, ...] = ()
    """The tokens that permit a call of others, if one is needed."""
    is_open_to_all: bool = False
    """Whether the call is open without these tokens as well."""
    is_audited: bool = True
    """Whether the audit log names calls that change something; each part of an upload would fill it."""
    is_polled: bool = False
    """Whether clients ask again and again, so that a reply that they have is not sent twice."""
    is_bare: bool = False
    """Whether the request may have no body; then it needs a header that another site cannot have sent."""
    is_of_servers: bool = False
    """Whether a panel's server calls it, known by its signature, which the function checks."""
    media: str = JSON
    """The media type of the request's body."""
    reply_media: str = JSON
    """The media type of a successful reply without a declared type."""
    most_bytes: int = requests.MAX_BODY_BYTES
    """Length above which a body is refused unread, with 413."""
    parameters: tuple[tuple[str, str, dict[str, Any], str], ...] = ()
    """Name, place, schema and meaning of parameters that the function reads itself."""
    headers: tuple[str, ...] = ()
    """Headers of the reply, besides those of all replies."""
    takes: Any = None
    """The type of the body, if the function reads it itself."""

    def __post_init__(self) -> None:
        if self.is_polled:
            object.__setattr__(self, "parameters", (*self.parameters, _SINCE))
            object.__setattr__(self, "headers", ("ETag", *self.headers))
        if self.verb == "POST" and self.takes is None and not self.is_bare:
            object.__setattr__(self, "takes", self._struct or NoFields)

    @property
    def verb(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def endpoint(self) -> str:
        """What Flask calls it, also for a HEAD of a GET."""
        return self.name.replace(".", "_")

    @property
    def path(self) -> str:
        return self.name.partition(" ")[2]

    @property
    def query(self) -> Any:
        """The type of the parameters in the address; None if there are none."""
        return self._struct if self.verb == "GET" else None

    @property
    def summary(self) -> str:
        """What it does: the first paragraph of the function's docstring."""
        return _unwrapped(inspect.getdoc(self.function) or "")

    @property
    def refusals(self) -> set[str]:
        """The statuses of refusals, most of which follow from what the request has to be."""
        implied = {
            "400": self.takes is not None or self.query is not None,
            "403": self.role is not None,
            "404": "{" in self.path,
            "415": self.takes is not None and not self.is_of_servers,
        }
        follow = {status for status, is_implied in implied.items() if is_implied}
        return follow - {*self.without.split()} | {*self.more_refusals.split()}

    @cached_property
    def replies(self) -> dict[int, tuple[str, Any]]:
        """What is said of a reply, and its type, by status."""
        kind = self.function.__annotations__["return"]
        kind = get_args(kind)[0] if get_origin(kind) is tuple else kind
        declared = self.gives or (None if kind is Response else kind)
        said = _unwrapped((inspect.getdoc(self.function) or "").partition("Returns:\n")[2])
        return {
            self.status: (said, declared), **(self.also or {}), **(_UNCHANGED if self.is_polled else {})
        }  # fmt: skip

    @cached_property
    def _asked(self) -> list[tuple[str, Any]]:
        """The parameters of the function but the first, with their types."""
        _, *asked = inspect.signature(self.function).parameters.values()
        return [(each.name, each.annotation) for each in asked]

    @property
    def _struct(self) -> Any:
        return next((kind for _, kind in self._asked if _is_struct(kind)), None)

    def call(self, works_with: Any, names: Mapping[str, str]) -> Any:
        """Return the reply to the current request, whose path has these names."""
        given: dict[str, Any] = {}
        for name, kind in self._asked:
            if kind is Study:
                given[name] = works_with.store.study(names[name])
            elif not _is_struct(kind):
                given[name] = names[name]
            else:
                given[name] = queries.parse(kind) if self.query else self.body()
        if self.takes is NoFields:
            self.body()
        reply = self.function(works_with, **given)
        if self.is_polled and not isinstance(reply, Response):
            return _polled(reply)
        return reply if self.status == 200 or isinstance(reply, tuple) else (reply, self.status)

    def body(self) -> Any:
        """Return the body of the current request, of the type `takes`."""
        request.max_content_length = self.most_bytes
        return requests.parse(request.get_data(cache=False), self.takes)


class Routes:
    """The routes of a module; calling it declares the function below as one.

    Args:
        role: the role of routes that declare none.
    """

    def __init__(self, role: str | None = None):
        self._role = role
        self._routes: list[Route] = []

    def __iter__(self) -> Iterator[Route]:
        return iter(self._routes)

    def __call__(self, name: str, more_refusals: str = "", **declared: Any) -> Callable[[F], F]:
        """Declare a route; `declared` are fields of `Route`."""

        def at(function: F) -> F:
            facts = {"role": self._role, **declared}
            self._routes.append(Route(function, name, more_refusals, **facts))
            return function

        return at

    def add_to(self, app: Flask, works_with: Any) -> None:
        """Have an application answer these routes; their functions are called with `works_with`."""
        for route in self:

            def view(route: Route = route, **names: str) -> Any:
                return route.call(works_with, names)

            rule = _NAMED.sub(r"<\1>", route.path)
            app.add_url_rule(rule, route.endpoint, view, methods=[route.verb])


def as_declared(reply: type[T], record: object, **others: Any) -> T:
    """Return what a typed dictionary declares of a record, and the fields that the record has not."""
    return cast(
        T, {name: others[name] if name in others else getattr(record, name) for name in reply.__annotations__}
    )


@cache
def path_of(rule: str) -> str:
    """Return a URL rule of Flask with its parameters in braces."""
    return _RULED.sub(r"{\1}", rule)


def _unwrapped(text: str) -> str:
    """Return the first paragraph of a text as one line without its full stop."""
    return " ".join(text.partition("\n\n")[0].split()).removesuffix(".")


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _polled(data: Any) -> Response:
    """Return data as JSON, or 304 for a client that has it already."""
    body = json.dumps(data, allow_nan=False).encode()
    tag = hashlib.sha256(body).hexdigest()[:24]
    is_known = request.if_none_match.contains(tag)
    reply = Response(status=304) if is_known else Response(body, mimetype=JSON)
    reply.set_etag(tag)
    reply.headers["Cache-Control"] = "private, no-cache"
    return reply
