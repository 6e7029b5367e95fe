"""The OpenAPI document of the API, generated from the declarations of requests and replies."""

import json
import re
from functools import cache
from typing import Any

import msgspec

from backend.task import reply_types, requests
from backend.web import headers, login, results_routes
from backend.web.operations import JSON, Operation, Operations
from backend.web.route_modules import MODULES

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
_ANY = dict[str, Any]


_OF_EVALUATORS: Operations = {
    "GET /api/openapi.json": Operation("This document", {200: ("OpenAPI document", _ANY)}, ""),
    "GET /api/studies/{study}": Operation(
        "What a visitor may know of a study", {200: ("The study", reply_types.PublicStudy)}, "404"
    ),
    "POST /api/studies/{study}/admission": Operation(
        "Learn before consent whether a person may take part; nothing is recorded",
        {200: ("The person may; false for a preview, which only looks", reply_types.Admitted)},
        "400 403 404 409 415 429 503",
        requests.Admission,
    ),
    "POST /api/studies/{study}/sessions": Operation(
        "Open a session after consent, or learn which qualification comes first",
        {
            200: ("A qualification comes first", reply_types.QualificationFirst),
            201: ("A session was opened", reply_types.Opened),
        },
        "400 403 404 409 415 429 503",
        requests.Opening,
        ("member",),
        is_open_to_all=True,
    ),
    "POST /api/studies/{study}/exit": Operation(
        "The link back to the panel for a person who does not take part",
        {200: ("Where to, or null", reply_types.ReturnLink)},
        "400 403 404 409 415 429",
        requests.Exit,
    ),
    "POST /api/studies/{study}/waits": Operation(
        "Begin a paid wait until a paused study is resumed",
        {201: ("Waiting", reply_types.BegunWait)},
        "400 403 404 409 415 429 503",
        requests.WaitBegin,
    ),
    "POST /api/studies/{study}/waits/{wait}/signs": Operation(
        "A heartbeat of a person who waits",
        {200: ("What is owed by now, and whether the study has started", reply_types.Wait)},
        "400 403 404 415 503",
        requests.Sign,
        ("wait",),
    ),
    "POST /api/sessions/{session}/resume": Operation(
        "Take a session over, after a reload or in another tab",
        {200: ("Its state", reply_types.Resumed)},
        "400 403 404 409 415 503",
        requests.Resume,
        ("session",),
    ),
    "POST /api/sessions/{session}/blocks": Operation(
        "Begin the current block, or what is left of it",
        {200: ("Its pictures", reply_types.Block)},
        "400 403 404 409 415 503",
        requests.BlockBegin,
        ("session",),
    ),
    "POST /api/sessions/{session}/answers": Operation(
        "Store an answer once; the same answer again gets the same reply",
        {200: ("It is stored", reply_types.Confirmation)},
        "400 403 404 409 413 415 503",
        requests.Answer,
        ("session",),
    ),
    "POST /api/sessions/{session}/questions": Operation(
        "Store the answers to the researcher's questions before or after the task; the first ones count",
        {200: ("They are stored", reply_types.SessionProgress)},
        "400 403 404 409 413 415 503",
        requests.QuestionAnswers,
        ("session",),
    ),
    "POST /api/sessions/{session}/end": Operation(
        "End a session whose flashes keep failing, on request of its evaluator; idempotent",
        {200: ("It is closed, and paid for what was done", reply_types.SessionProgress)},
        "400 403 404 409 415 503",
        requests.End,
        ("session",),
    ),
    "GET /api/sessions/{session}/debrief": Operation(
        "The own result beside others', and what each picture was, in a study with `debrief`",
        {200: ("The result", reply_types.Debrief)},
        "403 404 409",
        who=("session",),
    ),
    "GET /api/sessions/{session}/withdrawal": Operation(
        "What an evaluator would delete by withdrawing",
        {200: ("What is there, or that it is deleted", reply_types.Withdrawal)},
        "403 404 409",
        who=("withdrawal",),
    ),
    "POST /api/sessions/{session}/withdrawal": Operation(
        "Withdraw: delete the session with its answers for good; again, it changes nothing",
        {200: ("It is deleted", reply_types.Withdrawal)},
        "403 404 409 415 503",
        who=("withdrawal",),
    ),
    "POST /api/panels/prolific/events": Operation(
        "An event of the panel, signed by it; it only has the place read anew",
        {200: ("Taken, now or before", _ANY)},
        "400 403",
        requests.PanelEvent,
        parameters=tuple(
            (name, "header", {"type": "string"}, "As Prolific sends it")
            for name in ("X-Event-ID", "X-Prolific-Request-Timestamp", "X-Prolific-Request-Signature")
        ),
    ),
}


@cache
def operations() -> Operations:
    """Return all operations: those of evaluators, and those of members."""
    found = {**_OF_EVALUATORS, **results_routes.OPERATIONS}
    for module in MODULES:
        found.update(module.OPERATIONS)
    return found


@cache
def document() -> bytes:
    """Return the document as JSON."""
    declared = [each for operation in operations().values() for each in _types(operation)]
    (*found, refused), components = msgspec.json.schema_components(
        [*declared, reply_types.Refused], ref_template=_REF
    )
    schema_of = dict(zip(map(id, declared), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for name, operation in operations().items():
        verb, path = name.split()
        paths.setdefault(path, {})[verb.lower()] = _described(path, operation, schema_of)
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


def reply_type(verb: str, rule: str, status: int) -> Any:
    """Return the declared type of a reply with `status`, None if the route has none.

    Args:
        rule: path with parameters in braces.
    """
    return operations()[f"{verb} {rule}"].replies.get(status, ("", None))[1]


def _types(operation: Operation) -> list[Any]:
    given = [declared for _, declared in operation.replies.values()]
    return [each for each in (operation.takes, *given) if each is not None]


def _described(path: str, operation: Operation, schema_of: dict[int, Any]) -> dict[str, Any]:
    places = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    others = [
        {"name": name, "in": place, "schema": schema, "description": text}
        for name, place, schema, text in operation.parameters
    ]
    responses = {
        str(status): _content(text, None if declared is None else schema_of[id(declared)], operation)
        for status, (text, declared) in operation.replies.items()
    }
    for name in operation.headers:
        responses["200"]["headers"] = {name: {"schema": {"type": "string"}}}
    refusals = {*operation.refusals.split(), *(["403"] if operation.role else [])}
    responses |= {status: {"$ref": "#/components/responses/Refused"} for status in sorted(refusals)}
    who = ("member", "signed_in") if operation.role else operation.who
    security: list[dict[str, list]] = [{name: []} for name in who]
    found = {
        "summary": operation.summary,
        "parameters": places + others,
        "responses": responses,
        "security": [{}, *security] if operation.is_open_to_all else security,
    }
    if operation.role:
        found["x-role"] = operation.role
    if operation.takes is not None or operation.media != JSON:
        schema = {} if operation.takes is None else schema_of[id(operation.takes)]
        found["requestBody"] = {"required": True, "content": {operation.media: {"schema": schema}}}
    return found


def _content(description: str, schema: Any, operation: Operation | None = None) -> dict[str, Any]:
    if schema is None:
        if operation is None or operation.reply_media == JSON:
            return {"description": description}
        return {"description": description, "content": {operation.reply_media: {}}}
    return {"description": description, "content": {"application/json": {"schema": schema}}}
