"""A new route takes one place, its function: from it follow the check of requests, reply and document."""

import json
from typing import Annotated, TypedDict

import pytest
from msgspec import Meta, Struct

from backend.experiment.records import Study
from backend.handlers import create_app
from backend.members import audit_log
from backend.web import openapi, study_changes

from .. import sample_studies as studies
from .members import as_member, token


class Greeting(Struct):
    words: Annotated[str, Meta(max_length=9)]


class Times(Struct, frozen=True):
    times: Annotated[int, Meta(ge=1, le=3)] = 1
    """How
    often."""
    loud: bool = False
    to: list[str] = []


class Greeted(TypedDict):
    said: list[str]


def greet(context, study: Study, given: Greeting) -> Greeted:
    """Greet.

    Returns:
        It is greeted.
    """
    return {"said": [f"{given.words} {study.name}"]}


def greetings(context, study: Study, asked: Times) -> Greeted:
    """See all that was said to a study,
    however often.

    Returns:
        Greetings.
    """
    return {"said": ["HELLO" if asked.loud else "hello", *asked.to] * asked.times}


@pytest.fixture
def http(world, monkeypatch):
    """A client of an application with two more routes."""
    world.add(studies.study(images=8))
    route = study_changes.route
    monkeypatch.setattr(route, "_routes", [*route])
    openapi.operations.cache_clear()
    openapi.document.cache_clear()
    route("POST /api/studies/{study}/greet", "409", status=201)(greet)
    route("GET /api/studies/{study}/greetings", is_polled=True)(greetings)
    yield create_app(world.store, world.data, world.data.keys(), world.clock).test_client()
    openapi.operations.cache_clear()
    openapi.document.cache_clear()


def test_it_is_answered_checked_and_audited(http, world):
    me = as_member(token(world, "ada", "researcher"))
    path = "/api/studies/faces/greet"

    reply = http.post(path, json={"words": "hi"}, headers=me)

    assert (reply.status_code, reply.json) == (201, {"said": ["hi faces"]})
    assert http.post("/api/studies/none/greet", json={"words": "hi"}, headers=me).status_code == 404
    wrong = http.post(path, json={"words": "much too long"}, headers=me).json["error"]["message"]
    assert wrong == 'words must be a text of at most 9 characters, not "much too long"'
    assert http.post(path, json={"words": "hi"}).status_code == 403
    bob = as_member(token(world, "bob", "submitter"))
    assert http.post(path, json={"words": "hi"}, headers=bob).status_code == 403
    entries, _ = audit_log.page(world.store, 10)
    assert {entry.action for entry in entries} == {"POST /api/studies/{study}/greet"}
    assert sorted(entry.status for entry in entries) == [201, 400, 403, 404]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("", ["hello"]),
        ("?times=2&loud=true", ["HELLO", "HELLO"]),
        ("?times=2.0&other=1", ["hello", "hello"]),
        ("?to=ada&to=bob", ["hello", "ada", "bob"]),
        ("?times=4", "times must be a whole number from 1 to 3, not 4"),
        ("?times=1.5", "times must be a whole number from 1 to 3, not 1.5"),
        ("?times=nan", 'times must be a whole number from 1 to 3, not "nan"'),
        ("?times=", 'times must be a whole number from 1 to 3, not ""'),
        (f"?times={'1' * 400}", "times must be a whole number from 1 to 3, not"),
        ("?loud=1", 'loud must be true or false, not "1"'),
        ("?loud=True", 'loud must be true or false, not "True"'),
        ("?to=%00", "texts must be of letters, digits, signs and spaces"),
    ],
)
def test_parameters_in_the_address_are_what_they_are_declared_to_be(http, world, query, said):
    me = as_member(token(world, "ada", "researcher"))

    reply = http.get(f"/api/studies/faces/greetings{query}", headers=me)

    if isinstance(said, list):
        assert reply.json == {"said": said}
        again = http.get(
            f"/api/studies/faces/greetings{query}", headers={**me, "If-None-Match": reply.headers["ETag"]}
        )
        assert (again.status_code, again.data) == (304, b"")
    else:
        assert reply.status_code == 400
        assert reply.json["error"]["message"].startswith(said)


def test_it_is_in_the_document(http):
    paths = json.loads(http.get("/api/openapi.json").data)["paths"]

    post, get = paths["/api/studies/{study}/greet"]["post"], paths["/api/studies/{study}/greetings"]["get"]
    assert post["x-role"] == "researcher"
    assert {*post["responses"]} == {"201", "400", "403", "404", "409", "415"}
    assert (post["summary"], post["responses"]["201"]["description"]) == ("Greet", "It is greeted")
    assert get["summary"] == "See all that was said to a study, however often"
    assert post["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/Greeting")
    assert post["responses"]["201"]["content"]["application/json"]["schema"]["$ref"].endswith("/Greeted")
    named = {each["name"]: each for each in get["parameters"]}
    assert [*named] == ["study", "times", "loud", "to", "If-None-Match"]
    assert named["times"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 3, "default": 1}
    assert named["times"]["description"] == "How often"
    assert "ETag" in get["responses"]["200"]["headers"]
    assert {*get["responses"]} == {"200", "304", "400", "403", "404"}
