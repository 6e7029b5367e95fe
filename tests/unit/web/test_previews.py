"""Previews: every kind of study is played to its end as by an evaluator, and nothing of it is left."""

import gc
import json
import sqlite3
import tempfile
from types import SimpleNamespace

import pytest

from backend.experiment.judgments import METHODS
from backend.handlers import create_app
from backend.stores.sqlite import SqliteStore
from backend.web import assets

from .. import sample_studies as studies
from .. import similarity_studies, triplet_studies, unscored_studies
from ..conftest import Player
from ..jobs.ordered import Orders
from ..memory import MemoryStore
from .members import as_member

SMALL = {"images": 8, "spare_images": 8}
FLASHES = {**SMALL, "blocks": 2}
STUDIES = {
    "infinity": {**SMALL, "debrief": True, "base_usd_cents": 100, "evaluators": 1},
    "time": {**FLASHES, "practice_images": 4, "debrief": True},
    "exposures": {**SMALL, "exposures_ms": "50, 100"},
    "pair": SMALL,
    "tournament": {**SMALL, "images": 6},
}
"""Methods of single pictures and pairs, with settings that make their sessions short."""


class Below:
    """A browser that plays below the path of a preview."""

    def __init__(self, http, path):
        self._http, self.root = http, path.rpartition("/s/")[0]

    def get(self, path, **options):
        return self._http.get(self.root + path, **options)

    def post(self, path, **options):
        return self._http.post(self.root + path, **options)


class Visitor(Player):
    """An evaluator who knows no truths and gives the study's first answer to everything."""

    def __init__(self, world, opened, answers):
        self.answers = answers
        super().__init__(world, opened)

    def _truths(self):
        return {}

    def truth(self, shown):
        return self.answers[0]


def contents(world):
    """Return all that a world's store and data directory hold."""
    files = {
        str(path.relative_to(world.data.root)): path.read_bytes()
        for path in sorted(world.data.root.rglob("*"))
        if path.is_file() and not path.name.startswith("openhype.db")
    }
    if isinstance(world.store, MemoryStore):
        stored = repr({name: value for name, value in vars(world.store).items() if name != "_lock"})
    elif isinstance(world.store, SqliteStore):
        stored = [*sqlite3.connect(world.data.root / "openhype.db").iterdump()]
    else:
        calls = world.store._calls
        stored = sorted(map(repr, calls.client.scan(TableName=calls.table)["Items"]))
    return stored, files


def preview(world, study="faces", status=201):
    """Open a preview of a study, and return a browser at it."""
    key = as_member(world.data.keys().researcher)
    reply = world.http.post(f"/api/studies/{study}/previews", json={}, headers=key)
    assert reply.status_code == status, reply.json
    return Below(world.http, reply.json["path"])


def entered(browser, study="faces", token=None):
    """Pass admission and consent of a study; return the visitor, or the qualification that comes first."""
    public = browser.get(f"/api/studies/{study}").json
    version = public["consent"]["version"]
    assert browser.post(f"/api/studies/{study}/admission", json={"panel": {}}).json["admitted"]
    body = {"consent_version": version, "panel": {}, "qualification_token": token}
    reply = browser.post(f"/api/studies/{study}/sessions", json=body)
    assert reply.status_code in (200, 201), reply.json
    if reply.json["stage"] == "qualification":
        return reply.json["qualification"]
    return Visitor(SimpleNamespace(http=browser), reply.json, public["answers"])


def added(world, kind):
    """Add a study of a kind to a world."""
    if kind == "jnd":
        study = similarity_studies.study("faces")
        return world.store.add_study(study, similarity_studies.pool(study))
    if kind == "2afc":
        study = triplet_studies.study("faces", images=8, spare_images=4)
        return world.store.add_study(study, triplet_studies.pool(study))
    if kind == "mixed":
        return world.add(studies.study(models=("a", "b", "c"), models_per_session=2, **SMALL))
    if kind == "time":
        return unscored_studies.add(world, studies.study(method=kind, **STUDIES[kind]))
    return world.add(studies.study(method=kind, **STUDIES[kind]))


def test_the_kinds_of_studies_played_here_are_all_there_are():
    assert {*STUDIES, "jnd", "2afc"} == {*METHODS}


@pytest.mark.parametrize("kind", [*STUDIES, "jnd", "2afc", "mixed"])
def test_a_preview_is_played_to_its_end_and_leaves_store_and_files_as_they_were(each_world, kind):
    added(each_world, kind)
    before = contents(each_world)

    browser = preview(each_world)
    visitor = entered(browser)
    done = visitor.play()
    told = visitor.world.http.get(
        f"/api/sessions/{visitor.state['session']}/debrief", headers=as_member(visitor.token)
    )

    assert done["complete"]
    assert told.status_code == (200 if STUDIES.get(kind, {}).get("debrief") else 403)
    assert contents(each_world) == before


def test_a_qualification_comes_first_in_a_preview_too_and_is_forgotten_with_it(world):
    world.add(studies.study("test", kind="qualification", images=8, pass_share=0))
    world.add(studies.study(qualification="test", **SMALL))
    before = contents(world)

    browser = preview(world)
    first = entered(browser)
    tested = entered(browser, first["study"])
    result = tested.play()["qualification"]
    done = entered(browser, token=tested.token).play()

    assert (first["study"], result["passed"], done["complete"]) == ("test", True, True)
    assert entered(preview(world))["study"] == "test"
    assert contents(world) == before


def test_a_preview_shows_what_an_evaluator_is_shown_but_for_the_panel(world):
    world.add(studies.study(**STUDIES["infinity"]))

    shown = preview(world).get("/api/studies/faces").json
    real = world.http.get("/api/studies/faces").json

    of_panel = {"panel_parameters", "person_parameters", "panel_home", "signature_parameter", "preview"}
    assert {name for name in real if shown[name] != real[name]} <= of_panel
    assert shown["panel_home"] is None


def test_an_evaluator_of_a_preview_is_told_no_more_than_any_other(world):
    world.add(studies.study(**SMALL, feedback=False))

    visitor = entered(preview(world))
    block = visitor.begin()
    replies = [visitor.state, block, *(visitor.answer() for _ in range(7))]

    text = json.dumps(replies)
    assert not [word for word in ("gan", "vae", "truth", 'was_correct": true') if word in text]
    assert not [each.name for each in world.pools["faces"] if each.name in text]


def test_a_paused_and_a_full_study_can_be_previewed(world):
    world.add(studies.study(**SMALL, evaluators=1, models=("gan",)))
    world.player().play()
    world.http.post("/api/studies/faces/pause", json={}, headers=as_member(world.data.keys().researcher))

    assert entered(preview(world)).play()["complete"]


def test_a_preview_takes_part_as_often_as_it_likes_and_each_preview_is_apart(world):
    world.add(studies.study(**SMALL, evaluators=1, models=("gan", "vae")))
    one, other = preview(world), preview(world)

    first, second = entered(one), entered(one)

    assert one.root != other.root
    resumed = f"/api/sessions/{first.state['session']}/resume"
    assert one.post(resumed, json={}, headers=as_member(first.token)).status_code == 200
    assert other.post(resumed, json={}, headers=as_member(first.token)).status_code == 404
    assert second.play()["complete"]


def test_withdrawing_in_a_preview_leaves_the_files_made_for_downloading(world):
    world.add(studies.study(**SMALL))
    made = world.data.downloads("faces")
    made.mkdir(parents=True)
    (made / "report.zip").write_bytes(b"made")
    before = contents(world)

    browser = preview(world)
    address = entered(browser).state["withdrawal_url"]
    path, _, secret = address.partition("#")
    session = path.rpartition("/")[2]
    withdrawn = browser.post(f"/api/sessions/{session}/withdrawal", json={}, headers=as_member(secret))

    assert address.startswith(f"{browser.root}/w/")
    assert withdrawn.status_code == 200
    assert contents(world) == before


def test_pictures_of_a_preview_are_those_of_the_study_by_names_of_the_session(world):
    study = world.add(studies.study(**SMALL))
    folder = world.data.images(study.name)
    folder.mkdir(parents=True)
    for stimulus in world.pools["faces"]:
        (folder / stimulus.name).write_bytes(b"x" * 100)

    browser = preview(world)
    visitor = entered(browser)
    url = visitor.begin()["images"][0]

    assert url.startswith(f"{browser.root}/i/faces/{visitor.state['session']}/")
    assert world.http.get(url).status_code == 200
    assert world.http.get(url.removeprefix(browser.root)).status_code == 404


def test_an_hour_later_the_link_leads_to_no_study_and_its_files_are_gone(world):
    world.add(studies.study(**SMALL))
    browser = preview(world)
    visitor = entered(browser)

    world.clock.move(minutes=59)
    within = browser.get("/s/faces")
    world.clock.move(minutes=1)
    page, public = browser.get("/s/faces"), browser.get("/api/studies/faces")
    resumed = visitor.post("resume", {})

    assert (within.status_code, page.status_code, public.status_code) == (200, 404, 404)
    assert "This preview has ended" in page.text
    assert "<script" not in page.text, "the page of the study would take part in the study itself"
    assert resumed.json["error"]["code"] == public.json["error"]["code"] == "unknown_study"


def test_the_folder_of_a_preview_goes_with_it(world, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    world.add(studies.study(**SMALL))
    folders = (tmp_path / "temporary").glob

    browser = preview(world)
    entered(browser)
    (open_,) = folders("*")
    assert open_.stat().st_mode & 0o77 == 0
    world.clock.move(hours=1)
    browser.get("/s/faces")
    gc.collect()

    assert [*folders("*")] == []


def test_only_the_latest_previews_stay_open(world):
    world.add(studies.study(**SMALL))

    browsers = [preview(world) for _ in range(17)]

    assert [browser.get("/s/faces").status_code for browser in browsers] == [404] + [200] * 16


def test_a_preview_below_a_path_stays_below_it(world):
    world.add(studies.study(**SMALL))
    app = create_app(world.store, world.data, world.data.keys(), world.clock, base_path="/lab/hype")
    world.http = app.test_client()

    browser = preview(world)
    page = browser.get("/s/faces").text

    assert browser.root.startswith("/lab/hype/preview/")
    assert f'src="{browser.root}/assets/{assets.version()}/task/main.js"' in page
    assert entered(browser).state["withdrawal_url"].startswith(f"{browser.root}/w/")


def test_where_several_processes_answer_the_refusal_names_the_command(world):
    world.add(studies.study(**SMALL))
    serves = frozenset({"sessions", "scores", "results"})
    app = create_app(world.store, world.data, world.data.keys(), world.clock, serves=serves)

    key = as_member(world.data.keys().researcher)
    reply = app.test_client().post("/api/studies/faces/previews", json={}, headers=key)

    assert (reply.status_code, reply.json["error"]["code"]) == (409, "no_previews")
    assert "`openhype preview NAME`" in reply.json["error"]["message"]


@pytest.fixture
def orders(world):
    return Orders(world)


@pytest.mark.parametrize(
    "changes", [{}, {"method": "time", "settings": {"images": 4, "blocks": 2, "size_px": 16}}]
)
def test_a_draft_is_played_before_its_study_is_made_and_leaves_nothing(orders, world, changes):
    order = orders.faces(**changes)
    before = contents(world)

    reply = orders.call("POST", "/previews", order)
    done = entered(Below(world.http, reply.json["path"])).play()

    assert (reply.status_code, done["complete"]) == (201, True)
    assert contents(world) == before


def test_a_draft_without_a_name_and_with_a_panel_and_a_qualification_is_previewed_from_a_plain_link(
    orders, world
):
    world.add(studies.study("test", kind="qualification", images=8, pass_share=0))
    settings = {"images": 20, "size_px": 16, "panel": "prolific", "qualification": "test"}

    path = orders.call("POST", "/previews", orders.faces(name=None, settings=settings)).json["path"]
    browser = Below(world.http, path)

    assert browser.get("/api/studies/audit").json["panel_parameters"] == ["link"]
    assert browser.get("/api/studies/audit").json["pay"]["bonus_usd_cents"] > 0, "as of people at Prolific"
    assert entered(browser, "audit")["study"] == "test"


def test_what_making_the_study_would_refuse_is_refused_at_its_setting(orders):
    reply = orders.call("POST", "/previews", orders.faces(settings={"images": 200, "size_px": 16}))

    error = reply.json["error"]
    assert (reply.status_code, error["code"]) == (400, "invalid")
    assert "--" not in error["message"]
