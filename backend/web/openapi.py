"""The OpenAPI document of the API, generated from the declarations of requests and replies."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec

from backend.task import reply_types, requests
from backend.web import headers

_ABOUT = (
    "Sessions, answers and scores of HYPE studies. Times are in milliseconds, money in cents of the study's "
    "currency. No reply contains the truth of a picture before its answer is stored."
)
_SCHEMES = {
    "session": "The token that opening a session gave",
    "researcher": "The researcher's key (keys.json of the data directory, or OPENHYPE_KEY)",
    "withdrawal": "The part of the withdrawal link after the #",
    "wait": "The token received when the wait began",
}
_REF = "#/components/schemas/{name}"
_ANY = dict[str, Any]


@dataclass(frozen=True)
class _Operation:
    """A route: its request and replies; `who` names the tokens that permit a call, if one is needed."""

    summary: str
    replies: dict[int, tuple[str, Any]]
    refusals: str
    takes: Any = None
    who: tuple[str, ...] = ()
    is_open_to_all: bool = False
    parameters: tuple[tuple[str, str, dict[str, Any], str], ...] = ()
    headers: tuple[str, ...] = ()


_TRUE_OR_FALSE = {"type": "string", "enum": ["true", "false"]}
_OPERATIONS = {
    "GET /api/openapi.json": _Operation("This document", {200: ("OpenAPI document", _ANY)}, ""),
    "GET /api/studies/{study}": _Operation(
        "What a visitor may know of a study", {200: ("The study", reply_types.PublicStudy)}, "404"
    ),
    "POST /api/studies/{study}/admission": _Operation(
        "Learn before consent whether a person may take part; nothing is recorded",
        {200: ("The person may; false for a preview, which only looks", reply_types.Admitted)},
        "400 403 404 409 415 429 503",
        requests.Admission,
    ),
    "POST /api/studies/{study}/sessions": _Operation(
        "Open a session after consent, or learn which qualification comes first",
        {
            200: ("A qualification comes first", reply_types.QualificationFirst),
            201: ("A session was opened", reply_types.Opened),
        },
        "400 403 404 409 415 429 503",
        requests.Opening,
        ("researcher",),
        is_open_to_all=True,
    ),
    "POST /api/studies/{study}/exit": _Operation(
        "The link back to the panel for a person who does not take part",
        {200: ("Where to, or null", reply_types.ReturnLink)},
        "400 403 404 409 415 429",
        requests.Exit,
    ),
    "POST /api/studies/{study}/waits": _Operation(
        "Begin a paid wait until a paused study is resumed",
        {201: ("Waiting", reply_types.BegunWait)},
        "400 403 404 409 415 429 503",
        requests.WaitBegin,
    ),
    "POST /api/studies/{study}/waits/{wait}/signs": _Operation(
        "A heartbeat of a person who waits",
        {200: ("What is owed by now, and whether the study has started", reply_types.Wait)},
        "400 403 404 415 503",
        requests.Sign,
        ("wait",),
    ),
    "POST /api/sessions/{session}/resume": _Operation(
        "Take a session over, after a reload or in another tab",
        {200: ("Its state", reply_types.Resumed)},
        "400 403 404 409 415 503",
        requests.Resume,
        ("session",),
    ),
    "POST /api/sessions/{session}/blocks": _Operation(
        "Begin the current block, or what is left of it",
        {200: ("Its pictures", reply_types.Block)},
        "400 403 404 409 415 503",
        requests.BlockBegin,
        ("session",),
    ),
    "POST /api/sessions/{session}/answers": _Operation(
        "Store an answer once; the same answer again gets the same reply",
        {200: ("It is stored", reply_types.Confirmation)},
        "400 403 404 409 413 415 503",
        requests.Answer,
        ("session",),
    ),
    "POST /api/sessions/{session}/questions": _Operation(
        "Store the answers to the researcher's questions before or after the task; the first ones count",
        {200: ("They are stored", reply_types.SessionProgress)},
        "400 403 404 409 413 415 503",
        requests.QuestionAnswers,
        ("session",),
    ),
    "POST /api/sessions/{session}/end": _Operation(
        "End a session whose flashes keep failing, on request of its evaluator; idempotent",
        {200: ("It is closed, and paid for what was done", reply_types.SessionProgress)},
        "400 403 404 409 415 503",
        requests.End,
        ("session",),
    ),
    "GET /api/sessions/{session}/debrief": _Operation(
        "The own result beside others', and what each picture was, in a study with `debrief`",
        {200: ("The result", reply_types.Debrief)},
        "403 404 409",
        who=("session",),
    ),
    "GET /api/sessions/{session}/withdrawal": _Operation(
        "What an evaluator would delete by withdrawing",
        {200: ("What is there, or that it is deleted", reply_types.Withdrawal)},
        "403 404 409",
        who=("withdrawal",),
    ),
    "POST /api/sessions/{session}/withdrawal": _Operation(
        "Withdraw: delete the session with its answers for good; again, it changes nothing",
        {200: ("It is deleted", reply_types.Withdrawal)},
        "403 404 409 415 503",
        who=("withdrawal",),
    ),
    "GET /api/studies/{study}/status": _Operation(
        "How far a study is",
        {
            200: (
                "Sessions by model and state, pay, wage; finished simulated sessions apart (`simulated`)",
                _ANY,
            )
        },
        "403 404",
        who=("researcher",),
    ),
    "GET /api/studies/{study}/scores": _Operation(
        "The scores of a study, computed now",
        {
            200: ("Scores, intervals, tests", _ANY),
            304: ("No session was finished since that reply", None),
        },
        "400 403 404",
        who=("researcher",),
        parameters=(
            ("full", "query", _TRUE_OR_FALSE, "`true`: with all findings of a report (`findings`)"),
            (
                "simulated",
                "query",
                _TRUE_OR_FALSE,
                "`true`: of simulated sessions, rather than real ones; `simulated` in the reply says which",
            ),
            ("If-None-Match", "header", {"type": "string"}, "the ETag of an earlier reply"),
        ),
        headers=("ETag",),
    ),
    "POST /api/panels/prolific/events": _Operation(
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
def document() -> bytes:
    """Return the document as JSON."""
    declared = [each for operation in _OPERATIONS.values() for each in _types(operation)]
    (*found, refused), components = msgspec.json.schema_components(
        [*declared, reply_types.Refused], ref_template=_REF
    )
    schema_of = dict(zip(map(id, declared), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for name, operation in _OPERATIONS.items():
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
            },
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
    return _OPERATIONS[f"{verb} {rule}"].replies.get(status, ("", None))[1]


def schemas(declared: Iterable[Any]) -> dict[str, Any]:
    """Return the schemas of types by name, as the document has them."""
    return msgspec.json.schema_components(declared, ref_template=_REF)[1]


def _types(operation: _Operation) -> list[Any]:
    given = [declared for _, declared in operation.replies.values()]
    return [each for each in (operation.takes, *given) if each is not None]


def _described(path: str, operation: _Operation, schema_of: dict[int, Any]) -> dict[str, Any]:
    places = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", path)
    ]
    others = [
        {"name": name, "in": place, "schema": schema, "description": text}
        for name, place, schema, text in operation.parameters
    ]
    responses = {
        str(status): _content(text, None if declared is None else schema_of[id(declared)])
        for status, (text, declared) in operation.replies.items()
    }
    for name in operation.headers:
        responses["200"]["headers"] = {name: {"schema": {"type": "string"}}}
    responses |= {status: {"$ref": "#/components/responses/Refused"} for status in operation.refusals.split()}
    security: list[dict[str, list]] = [{name: []} for name in operation.who]
    found = {
        "summary": operation.summary,
        "parameters": places + others,
        "responses": responses,
        "security": [{}, *security] if operation.is_open_to_all else security,
    }
    if operation.takes is not None:
        schema = schema_of[id(operation.takes)]
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return found


def _content(description: str, schema: Any) -> dict[str, Any]:
    if schema is None:
        return {"description": description}
    return {"description": description, "content": {"application/json": {"schema": schema}}}
