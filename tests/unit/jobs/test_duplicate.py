"""Drafts of studies like others: the same settings, pages, questions and pictures, under a free name."""

import pytest

from backend.administration import intake_facts
from backend.jobs.duplicate import draft_of
from backend.jobs.queue import MAKING

from .. import sample_studies as studies
from .ordered import Orders

QUESTION = {
    "name": "age",
    "when": "after",
    "kind": "number",
    "text": "How old?",
    "required": False,
    "min": 18,
}
IF = {"question": "fun", "is": ["yes"]}
FUN = {"name": "fun", "when": "before", "kind": "choice", "text": "Fun?", "choices": ["yes", "no"]}
WHY = {"name": "why", "when": "before", "kind": "text", "text": "Why?", "if": IF}


@pytest.fixture
def orders(world):
    return Orders(world)


def duplicate(orders, study="faces"):
    reply = orders.call("POST", f"/studies/{study}/duplicate", {})
    assert reply.status_code == 200, reply.json
    return orders.call("GET", f"/drafts/{reply.json['draft']}").json["body"], reply.json["lacks"]


def test_a_duplicate_of_an_ordered_study_makes_the_same_study(orders, world):
    body = orders.faces(
        settings={
            "images": 20, "size_px": 16, "evaluators": 3, "language": "de", "exclude_faster_ms": 250,
            "reasons": "hands|eyes",
        },
        texts={"answer.fake": "Falsch"},
        panel={"name": "campus", "evaluator": "person"},
        pages=[{"title": "Hello", "text": "Look", "before_block": 1}],
        questions=[FUN, WHY, QUESTION],
        preprocess=["jpeg:90"],
    )  # fmt: skip
    assert orders.done(body)["state"] == "done"
    orders.call("POST", "/studies/faces/set", {"settings": {"evaluators": 5}})

    draft, lacks = duplicate(orders)

    assert (draft["name"], lacks) == ("faces-2", [])
    assert (draft["real"], draft["models"]) == (body["real"], body["models"])
    assert draft["settings"]["language"] == "de"
    assert "consent_text" not in draft["settings"]  # it is that of the language again
    assert draft["panel"] == body["panel"]
    assert orders.done(draft)["state"] == "done"
    first, second = world.store.study("faces"), world.store.study("faces-2")
    assert (second.protocol, second.pages, second.questions) == (first.protocol, first.pages, first.questions)
    assert second.protocol.admission.evaluators == 5


def test_a_duplicate_lacks_pictures_that_are_gone_or_that_another_member_sent(orders, world):
    body = orders.faces()
    orders.done(body)
    orders.uploads.delete(body["real"])

    draft, lacks = duplicate(orders)

    assert lacks == ["real"]
    assert "real" not in draft
    assert draft["models"] == body["models"]
    assert draft_of(world.store, world.store.study("faces"), lambda _: False)[1] == ["real", "models/gan"]


def test_a_study_that_was_made_otherwise_is_duplicated_without_pictures(orders, world):
    study = studies.study(images=8)
    world.add(study)
    intake_facts.write(world.store, study, (), [])
    of_a_former_one = {"at": "2020-01-01T00:00:00.000Z", "args": {"uploads": {"real": "some"}, "entries": {}}}
    world.store.write_entry(MAKING, study.name, 0, of_a_former_one)

    draft, lacks = duplicate(orders, study.name)

    assert draft["settings"]["images"] == "8"
    assert lacks == ["real", *(f"models/{model}" for model in study.models)]
    assert "real" not in draft
