"""The OpenAPI document of the API, generated from the declarations of requests and replies."""

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from backend.task.reply_types import Refused
from backend.web import evaluator_routes, headers, login, panel_routes, results_routes
from backend.web.field_meanings import meanings_by_record
from backend.web.route_modules import OF_MEMBERS
from backend.web.routing import JSON, Route

_ABOUT = (
    "Sessions, answers and scores of HYPE studies. Times are in milliseconds, money in cents of the study's "
    "currency. No reply contains the truth of a picture before its answer is stored."
)
_SCHEMES = {
    "session": "The token that opening a session gave",
    "member": "A member's token, or the researcher's key (keys.json of the data directory, or OPENHYPE_KEY)",
    "withdrawal": "The part of the withdrawal link after the #",
    "wait": "The token received when the wait began",
}
_COOKIE = {
    "type": "apiKey",
    "in": "cookie",
    "name": login.COOKIE,
    "description": "What `POST /api/sign-in` set in place of a member's token",
}
_REF = "#/components/schemas/{name}"


@cache
def operations() -> dict[str, Route]:
    """Return all routes of the API by their names: those of evaluators, and those of members."""
    groups = (
        panel_routes.described,
        evaluator_routes.route,
        panel_routes.route,
        results_routes.status,
        results_routes.scores,
        *OF_MEMBERS,
    )
    return {route.name: route for group in groups for route in group}


@cache
def document() -> bytes:
    routes = operations().values()
    declared = [each for route in routes for each in _types(route)]
    (*schemas, refused), components = _schemas([*declared, Refused])
    schema_of = dict(zip(map(id, declared), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.verb.lower()] = _described(route, schema_of)
    document = {
        "openapi": "3.1.0",
        "info": {"title": "openhype", "version": "1", "description": _ABOUT},
        "paths": paths,
        "components": {
            "securitySchemes": {
                name: {"type": "apiKey", "in": "header", "name": headers.TOKEN, "description": text}
                for name, text in _SCHEMES.items()
            }
            | {"signed_in": _COOKIE},
            "responses": {
                "Refused": {
                    **_content("Refused, and why", refused),
                    "headers": {
                        "Retry-After": {
                            "description": "With 429 and 503: seconds after which it is worth trying again",
                            "schema": {"type": "integer"},
                        }
                    },
                }
            },
            "schemas": components,
        },
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode() + b"\n"


def _schemas(declared: list[Any]) -> tuple[tuple[dict[str, Any], ...], dict[str, Any]]:
    """Return the schemas of types, and of the records in them by their names, with what their fields mean."""
    schemas, components = msgspec.json.schema_components(declared, ref_template=_REF)
    for kind, meanings in meanings_by_record(declared).items():
        full_name = f"{kind.__module__}.{kind.__qualname__}"  # of two with the same name
        properties = components[kind.__name__ if kind.__name__ in components else full_name]["properties"]
        for field, meaning in meanings.items():
            properties[field]["description"] = meaning
    return schemas, components


def _types(route: Route) -> list[Any]:
    given = [declared for _, declared in route.replies.values()]
    return [each for each in (route.takes, *given) if each is not None]


def _described(route: Route, schema_of: dict[int, Any]) -> dict[str, Any]:
    places = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    others = [
        {"name": name, "in": place, "schema": schema, "description": text}
        for name, place, schema, text in (*_parameters(route.query), *route.parameters)
    ]
    responses = {
        str(status): _content(text, None if declared is None else schema_of[id(declared)], route)
        for status, (text, declared) in route.replies.items()
    }
    for name in route.headers:
        responses["200"].setdefault("headers", {})[name] = {"schema": {"type": "string"}}
    responses |= {status: {"$ref": "#/components/responses/Refused"} for status in sorted(route.refusals)}
    who = ("member", "signed_in") if route.role else route.who
    security: list[dict[str, list]] = [{name: []} for name in who]
    operation = {
        "summary": route.summary,
        "parameters": places + others,
        "responses": responses,
        "security": [{}, *security] if route.is_open_to_all else security,
    }
    if route.role:
        operation["x-role"] = route.role
    if route.takes is not None or route.media != JSON:
        schema = {} if route.takes is None else schema_of[id(route.takes)]
        operation["requestBody"] = {"required": True, "content": {route.media: {"schema": schema}}}
    return operation


def _parameters(query: Any) -> Iterator[tuple[str, str, dict[str, Any], str]]:
    """Generate name, place, schema and meaning of the parameters that a struct declares."""
    if query is None:
        return
    _, components = _schemas([query])
    for name, schema in components[query.__name__]["properties"].items():
        meaning = schema.pop("description", "")
        if schema.get("default", "") is None:  # in an address nothing stands for null: it is left out
            schema = schema["anyOf"][0]
        yield name, "query", schema, meaning


def _content(description: str, schema: Any, route: Route | None = None) -> dict[str, Any]:
    if schema is None:
        if route is None or route.reply_media == JSON:
            return {"description": description}
        return {"description": description, "content": {route.reply_media: {}}}
    return {"description": description, "content": {"application/json": {"schema": schema}}}
