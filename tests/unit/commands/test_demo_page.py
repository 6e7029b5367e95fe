"""The start page: only the demo has it, and nothing leads to a study that is not made yet."""

import pytest

from backend.commands import demo_studies as demo
from backend.commands.demo_making import Making
from backend.commands.demo_page import FRONT, add_pages
from backend.handlers import create_app

from .. import sample_studies as studies


def got(http, path):
    with http.get(path) as reply:
        assert reply.data is not None
        return reply


@pytest.fixture
def http(world):
    study = studies.study("photos")
    world.store.add_study(study, studies.pool(study))
    app = create_app(world.store, world.data, world.data.keys(), front=FRONT)
    add_pages(app, world.data, Making(world.store, "sqlite:///openhype.db", world.data, lambda *_: None))
    return app.test_client()


def test_the_demo_starts_with_its_start_page(http):
    page = got(http, "/")

    assert b"Can you tell a photograph" in page.data
    assert page.headers["Content-Security-Policy"].startswith("default-src 'self'")


def test_a_server_of_studies_lists_nothing_and_knows_nothing_of_the_demo(world):
    assert b"Can you tell" not in got(world.http, "/").data
    assert world.http.get("/api/demo").status_code == 404


def test_a_study_that_is_not_made_yet_leads_to_the_start_page(http):
    waiting, ready = got(http, "/s/flashes"), got(http, "/s/photos")

    assert (waiting.status_code, waiting.headers["Location"]) == (302, "/#flashes")
    assert ready.status_code == 200


def test_it_is_told_how_far_the_studies_are_and_what_they_ask_for(http):
    reply = http.get("/api/demo")

    photos, flashes, clips = reply.json["studies"]
    assert reply.headers["Cache-Control"] == "no-store"
    assert photos == {
        "study": "photos",
        "method": "infinity",
        "medium": "picture",
        "images": 40,
        "minutes": 3,
        "share": 1.0,
        "is_ready": True,
    }
    assert (flashes["method"], flashes["is_ready"]) == ("time", False)
    assert (clips["method"], clips["medium"], clips["images"]) == ("infinity", "clip", 16)


def test_examples_are_there_once_they_are_made(http, world):
    before = http.get("/demo/0.png").status_code
    path = demo.example(world.data, 0)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"a picture")

    after = http.get("/demo/0.png")

    assert before == 404
    assert (after.data, after.content_type) == (b"a picture", "image/png")
    assert http.get("/api/demo").json["examples"] == [
        {"url": "/demo/0.png", "shows": "tissue", "is_real": True}
    ]
