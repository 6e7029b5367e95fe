"""Files to download that the function `work` leaves in the bucket, and the function `score` links to."""

import csv
import io
import json
import urllib.request
import zipfile
from datetime import timedelta
from functools import partial

import pytest
from PIL import Image

from backend.foundation.timestamps import stamp, utc_now
from backend.handlers import create_app
from backend.jobs import queue
from backend.jobs.work import runner
from backend.jobs.worker import Worker
from backend.stores.datadir import DataDir
from backend.studies import lifecycle
from deploy import api
from deploy.bucket_downloads import BucketDownloads, NoDownloads, deliver, remove_made
from deploy.bucket_jobs import with_pictures
from deploy.bucket_pictures import fetch_pictures
from deploy.s3_upload import Place, upload_pictures
from deploy.work_calls import with_waking

from .. import sample_studies as studies

PICTURES, DOWNLOADS = Place("pictures", "public/"), Place("pictures", "downloads/")
SMALL = {"images": 8, "blocks": 1, "evaluators": 3}


class Deployment:
    """The functions `score` and `work` over a world's store, each with a disk of its own."""

    def __init__(self, world, folder):
        self.world, self.folder = world, folder
        self.calls, self.is_working = 0, True
        self.data = DataDir(folder / "score")
        made = partial(BucketDownloads, place=DOWNLOADS)
        self.http = self.app(made).test_client()

    def app(self, make_downloads):
        world = self.world
        serves = frozenset({"scores", "results"})
        keys = world.data.keys()
        app = create_app(
            world.store, self.data, keys, world.clock, serves=serves, make_downloads=make_downloads
        )
        app.wsgi_app = with_waking(app.wsgi_app, self.wake)
        return app

    def wake(self):
        self.calls += 1
        if self.is_working:
            while self.worker().run_once():
                continue

    def worker(self):
        find = lambda kind: with_pictures(kind, runner(kind), PICTURES, downloads=DOWNLOADS)  # noqa: E731
        place = str(DOWNLOADS)
        return Worker(self.world.store, DataDir(self.folder / "work"), find=find, leaves_files_at=place)

    def get(self, path, status=200):
        token = {"X-Openhype-Token": self.world.data.keys().researcher}
        reply = self.http.get(path, headers={**token, "Prefer": "wait=0"}, buffered=True)
        assert reply.status_code == status, reply.get_data(as_text=True)
        return reply

    def file(self, name):
        with urllib.request.urlopen(self.get(f"/api/studies/faces/{name}", 303).headers["Location"]) as reply:
            return reply.headers, reply.read()


@pytest.fixture
def deployment(world, bucket, tmp_path):
    study = world.add(studies.study(**SMALL))
    for _ in range(4):
        world.player().play(lambda truth: truth == "real")
    folder = world.data.images(study.name)
    folder.mkdir(parents=True)
    for each in world.store.stimuli(study.name):
        Image.new("RGB", (32, 32)).save(folder / each.name, "WEBP")
    upload_pictures(PICTURES, study.name, folder)
    return Deployment(world, tmp_path)


def kept(bucket):
    found = bucket.list_objects_v2(Bucket="pictures", Prefix="downloads/")
    return [each["Key"] for each in found.get("Contents", [])]


def test_answers_are_fetched_from_the_bucket_by_a_link(deployment, bucket):
    headers, body = deployment.file("responses.csv")
    again = deployment.file("responses.csv")[1]

    assert len([*csv.DictReader(io.StringIO(body.decode()))]) == 32
    assert headers["Content-Type"] == "text/csv; charset=utf-8"
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''faces-responses.csv"
    assert (again, deployment.calls, len(kept(bucket))) == (body, 1, 1)
    for function in ("score", "work"):
        assert not any((deployment.folder / function).rglob("*-responses.csv"))


@pytest.mark.parametrize(
    ("file", "part"),
    [("site.zip", "faces-demo/index.html"), ("export.zip", "faces-data/README.md")],
)
def test_archives_are_made_where_the_pictures_are_fetched(deployment, file, part):
    _, body = deployment.file(file)

    assert part in zipfile.ZipFile(io.BytesIO(body)).namelist()


def test_a_link_is_valid_for_a_minute_and_names_no_token(deployment):
    link = deployment.get("/api/studies/faces/responses.csv", 303).headers["Location"]

    assert "X-Amz-Expires=60&" in link
    assert deployment.world.data.keys().researcher not in link


def test_a_withdrawn_session_is_in_no_file_that_is_linked_to(deployment):
    before = deployment.file("responses.csv")[1]
    ((session, _), *_) = deployment.world.store.sessions("faces")
    withdraw = f"/api/studies/faces/sessions/{session.id}/withdraw"
    token = {"X-Openhype-Token": deployment.world.data.keys().researcher}
    assert deployment.http.post(withdraw, json={}, headers=token).status_code == 200

    after = deployment.file("responses.csv")[1]

    assert (session.evaluator.encode() in before, session.evaluator.encode() in after) == (True, False)


@pytest.mark.parametrize("act", ["retention", "withdrawal"])
def test_files_with_what_was_erased_are_removed_at_once(deployment, bucket, act):
    deployment.file("export.zip")
    ((session, _), *_) = deployment.world.store.sessions("faces")
    path = {"retention": "retention", "withdrawal": f"sessions/{session.id}/withdraw"}[act]
    token = {"X-Openhype-Token": deployment.world.data.keys().researcher}

    reply = deployment.http.post(f"/api/studies/faces/{path}", json={}, headers=token)

    assert (reply.status_code, kept(bucket)) == (200, [])


def test_the_worker_removes_files_within_two_hours(deployment, bucket):
    deployment.file("responses.csv")
    bucket.put_object(Bucket="pictures", Key="downloads/other/file", Body=b"")
    store, counts = deployment.world.store, []
    for minutes in (50, 115):
        now = utc_now() + timedelta(minutes=minutes)
        queue.forget(store, now, partial(remove_made, DOWNLOADS))
        counts.append(len(kept(bucket)))

    assert counts == [2, 1]
    assert kept(bucket) == ["downloads/other/file"]


def test_nothing_of_a_deleted_study_is_left_in_the_bucket(deployment, bucket):
    deployment.file("responses.csv")
    bucket.put_object(Bucket="pictures", Key="downloads/faces2/file", Body=b"")
    bucket.put_object(Bucket="pictures", Key="public/i/faces2/file", Body=b"")
    world = deployment.world
    marked = lifecycle.begin_deletion(world.store, world.store.study("faces"), stamp(world.clock()))
    lifecycle.decide(world.store, marked, stamp(world.clock()))
    queue.enqueue(world.store, "delete", "faces", "owner", {"created_at": marked.created_at}, world.clock())

    done = deployment.worker().run_once()

    left = [each["Key"] for each in bucket.list_objects_v2(Bucket="pictures")["Contents"]]
    assert (done.state, left) == ("done", ["downloads/faces2/file", "public/i/faces2/file"])

    assert [*world.store.sessions("faces")] == []


def test_a_file_that_was_made_while_its_study_was_deleted_is_not_left(deployment, bucket, monkeypatch):
    deployment.is_working = False
    deployment.get("/api/studies/faces/responses.csv", 503)
    world = deployment.world

    def delivered(*arguments):
        deliver(*arguments)
        lifecycle.begin_deletion(world.store, world.store.study("faces"), stamp(world.clock()))

    monkeypatch.setattr("deploy.bucket_jobs.deliver", delivered)

    done = deployment.worker().run_once()

    assert (done.state, kept(bucket)) == ("failed", [])


def test_masks_alone_are_fetched_for_a_sheet_of_masks(deployment, world, bucket, monkeypatch):
    study = world.add(studies.study("flashes", "time"))
    content = io.BytesIO()
    Image.new("RGB", (32, 32), (90, 120, 160)).save(content, "PNG")
    for name in (*study.masks, *(each.name for each in world.store.stimuli("flashes"))):
        bucket.put_object(Bucket="pictures", Key=f"public/i/flashes/{name}", Body=content.getvalue())
    fetched = []

    def fetch(*arguments, names):
        fetched.append(fetch_pictures(*arguments, names=names))

    monkeypatch.setattr("deploy.bucket_jobs.fetch_pictures", fetch)
    link = deployment.get("/api/studies/flashes/masks.png?count=3", 303).headers["Location"]

    with urllib.request.urlopen(link) as reply:
        assert Image.open(io.BytesIO(reply.read())).size == (68, 68)
    assert fetched == [len(study.masks)]


def test_a_job_is_asked_for_once_and_its_id_told_while_it_waits(deployment):
    deployment.is_working = False

    refused = [deployment.get("/api/studies/faces/responses.csv", 503).json["error"] for _ in range(3)]

    (job,) = queue.jobs(deployment.world.store)
    assert [(each["code"], each["keys"]) for each in refused] == [("being_made", [job.id])] * 3
    assert deployment.calls == 1


ASKING = {
    "GET responses.csv": None,
    "GET masks.png": None,
    "GET scores": None,
    "GET live": None,
    "POST simulate": {"evaluators": 1},
    "POST metrics": {},
}


@pytest.mark.parametrize("asked", ASKING)
def test_each_request_that_enqueues_a_job_wakes_the_worker(deployment, asked):
    deployment.is_working = False
    method, name = asked.split()
    token = {"X-Openhype-Token": deployment.world.data.keys().researcher, "Prefer": "wait=0"}

    reply = deployment.http.open(
        f"/api/studies/faces/{name}", method=method, json=ASKING[asked], headers=token
    )

    assert reply.status_code in (200, 202, 503), reply.json
    assert len(queue.open_jobs(deployment.world.store)) == deployment.calls == 1


@pytest.mark.parametrize("query", ["", "?full=true"])
def test_scores_are_computed_once_by_the_worker(deployment, query):
    scores = deployment.get(f"/api/studies/faces/scores{query}").json
    here = create_app(deployment.world.store, deployment.world.data, deployment.world.data.keys())
    token = {"X-Openhype-Token": deployment.world.data.keys().researcher}
    local = here.test_client().get(f"/api/studies/faces/scores{query}", headers=token).json

    again = deployment.get(f"/api/studies/faces/scores{query}").json

    assert scores == again == local
    assert [job.tries for job in queue.jobs(deployment.world.store)] == [1]


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_scores_that_are_too_long_for_a_reply_are_fetched_by_a_link(deployment, monkeypatch, coding):
    path = "/api/studies/faces/scores?full=true"
    whole = deployment.get(path).json
    monkeypatch.setattr(BucketDownloads, "most_bytes", 1000)
    token = {"X-Openhype-Token": deployment.world.data.keys().researcher, "Accept-Encoding": coding}

    reply = deployment.http.get(path, headers=token)

    assert reply.status_code == 303
    with urllib.request.urlopen(reply.headers["Location"]) as found:
        assert json.loads(found.read()) == whole


def test_a_page_of_results_loads_itself_again_until_it_is_there(deployment):
    deployment.is_working = False
    soon = deployment.get("/results/faces", 503)
    deployment.worker().run_once()
    page = deployment.get("/results/faces")

    assert soon.headers["Refresh"] == "3"
    assert "are being computed" in soon.get_data(as_text=True)
    assert "<h1>Results of faces" in page.get_data(as_text=True)


def test_current_scores_are_those_that_the_worker_computed_last(deployment):
    deployment.is_working = False
    first = deployment.get("/api/studies/faces/live").json
    deployment.worker().run_once()
    second = deployment.get("/api/studies/faces/live").json
    deployment.world.player().play()
    deployment.world.clock.move(seconds=60)
    third = deployment.get("/api/studies/faces/live").json

    assert first["scores"] is None
    assert second["scores"]["models"][0]["evaluators"] == 2
    assert third["scores"] == second["scores"]  # until the worker has computed new ones
    assert len(queue.jobs(deployment.world.store)) == 1


def test_a_function_that_nobody_makes_files_for_offers_none(deployment):
    deployment.http = deployment.app(NoDownloads).test_client()

    offered = deployment.get("/api/studies/faces/record").json["downloads"]
    refused = deployment.get("/api/studies/faces/responses.csv", 409).json["error"]

    assert (offered, refused["code"]) == ([], "not_offered")
    assert "openhype export" in refused["message"]


def test_files_are_offered_where_there_is_a_bucket_and_a_worker(world, cloud):
    both = {"OPENHYPE_DOWNLOADS": "s3://pictures/downloads", "OPENHYPE_WORK_FUNCTION": "w"}
    surroundings = world.store, world.data, world.clock

    assert type(api._downloads(both)(*surroundings)) is BucketDownloads
    for name in both:
        assert type(api._downloads({name: both[name]})(*surroundings)) is NoDownloads
