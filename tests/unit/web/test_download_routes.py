"""Files of a study as its researcher downloads them."""

import csv
import io
import os
import threading
import time
import zipfile
from dataclasses import replace

import pytest

from backend.experiment.response_columns import COLUMNS
from backend.foundation.errors import Conflict, Unavailable
from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.jobs.worker import Worker
from backend.stores.datadir import DOWNLOADS_KEPT_S, DataDir
from backend.task.withdrawal import secret_of
from backend.web import download_files
from backend.web.downloads import Downloads

from .. import sample_studies as studies
from .researcher import Researcher

SMALL = {"images": 8, "blocks": 1, "evaluators": 3}


@pytest.fixture
def me(world):
    return Researcher(world)


@pytest.fixture
def here(world):
    """Have files made in this process, which takes less time."""
    world.store.url = None


@pytest.fixture
def study(world):
    study = world.add(studies.study(**SMALL))
    for _ in range(4):
        world.player().play(lambda truth: truth == "real")
    world.player(simulated=True).play()
    return study


def files(world):
    return [path for path in world.data.cache("downloads").glob("*/*") if path.is_file()]


def names(reply):
    return zipfile.ZipFile(io.BytesIO(reply.get_data())).namelist()


def rows(reply):
    return [*csv.DictReader(io.StringIO(reply.get_data().decode("utf-8-sig")))]


@pytest.mark.parametrize("file", ["masks.png", "site.zip"])
def test_pictures_that_this_server_has_not_are_said(world, me, here, file):
    world.add(replace(studies.study(**SMALL), masks=("m0.webp",)))

    refused = me.get(f"studies/faces/{file}", 404)["error"]

    assert refused["code"] == "no_pictures"
    assert "not in this server's data directory" in refused["message"]


def test_answers_are_those_of_real_sessions_or_of_simulated_ones(me, here, study):
    real = me.get("studies/faces/responses.csv")
    simulated = me.get("studies/faces/responses.csv?simulated=true")

    assert (len(rows(real)), len(rows(simulated))) == (32, 8)
    assert {row["simulated"] for row in rows(real)} == {"false"}
    assert {"truth", "response", "stimulus"} <= {*rows(real)[0]} <= {*COLUMNS}
    assert real.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert real.headers["Content-Disposition"] == "attachment; filename=faces-responses.csv"
    assert real.headers["Cache-Control"] == "private, no-cache"


def test_an_export_is_one_folder_without_what_identifies_people(me, here, study):
    reply = me.get("studies/faces/export.zip")

    found = names(reply)
    assert {name.split("/")[0] for name in found} == {"faces-data"}
    assert {"faces-data/dataset_description.json", "faces-data/README.md"} <= {*found}
    assert "faces-data/croissant.json" in found
    assert not any(part in (".", "..") for name in found for part in name.split("/"))
    whole = zipfile.ZipFile(io.BytesIO(reply.get_data()))
    text = b"".join(whole.read(name) for name in found)
    for session, _ in me.world.store.sessions("faces"):
        assert session.panel["PROLIFIC_PID"].encode() not in text


@pytest.mark.slow("draws a whole report")
def test_a_report_is_one_folder_with_its_page(me, here, study):
    reply = me.get("studies/faces/report.zip?title=Tried%20out&level=0.9")

    whole = zipfile.ZipFile(io.BytesIO(reply.get_data()))
    assert "<title>Tried out" in whole.read("faces-report/index.html").decode()
    assert "faces-report/report.json" in names(reply)


def test_a_process_of_its_own_makes_a_file_once_and_tells_why_not(me, study):
    before = me.get("studies/faces/responses.csv")
    (path,) = me.world.data.cache("downloads").glob("*/*")
    made_at = path.stat().st_mtime_ns
    after = me.get("studies/faces/responses.csv")

    assert before.get_data() == after.get_data()
    assert path.stat().st_mtime_ns == made_at
    assert "no masks" in me.get("studies/faces/masks.png", 400)["error"]["message"]


def test_what_has_not_changed_is_not_sent_again(me, here, study):
    first = me.get("studies/faces/responses.csv")
    since = {**me.headers, "If-None-Match": first.headers["ETag"]}

    assert me.world.http.get("/api/studies/faces/responses.csv", headers=since).status_code == 304
    me.world.player().play()
    again = me.world.http.get("/api/studies/faces/responses.csv", headers=since, buffered=True)
    assert (again.status_code, len(rows(again))) == (200, 40)


def test_withdrawn_answers_are_in_no_file_from_then_on(me, here, study):
    me.get("studies/faces/export.zip")
    me.get("studies/faces/responses.csv")
    ((session, _), *_) = me.world.store.sessions("faces")
    me.post(f"studies/faces/sessions/{session.id}/withdraw")

    assert [*me.world.data.cache("downloads").glob("*/*")] == []
    assert session.evaluator not in me.get("studies/faces/responses.csv").get_data(as_text=True)


def test_what_an_evaluator_withdraws_is_in_no_file_from_then_on(me, here, study):
    ((session, _), *_) = me.world.store.sessions("faces")
    me.get("studies/faces/responses.csv")
    headers = {"X-Openhype-Token": secret_of(me.world.data.keys().hashing, session.id)}

    reply = me.world.http.post(f"/api/sessions/{session.id}/withdrawal", headers=headers)

    assert (reply.status_code, [*me.world.data.cache("downloads").glob("*/*")]) == (200, [])


@pytest.mark.parametrize("when", ["begun", "written"])
def test_a_file_that_is_removed_while_it_is_made_is_made_again(me, here, study, monkeypatch, when):
    made = []

    def write(work, study, options, out):
        if when == "written" or made:
            out.write_text(f"answers, {len(made)} of them withdrawn")
        if not made:
            made.append(1)
            work.data.remove_downloads(study.name)
            if when == "begun":
                out.write_text("answers that were withdrawn")

    monkeypatch.setitem(download_files.KINDS, "responses.csv", write)
    reply = me.get("studies/faces/responses.csv")

    assert reply.get_data(as_text=True) == "answers, 1 of them withdrawn"
    assert len(files(me.world)) == 1


def test_a_file_that_is_removed_before_it_is_sent_is_asked_for_again(me, here, study, monkeypatch):
    get = Downloads.get

    def removed(*asked):
        get(*asked).unlink()
        return get(*asked).with_name("gone.csv")

    monkeypatch.setattr(Downloads, "get", removed)

    assert me.get("studies/faces/responses.csv", 503)["error"]["code"] == "being_made"


def test_files_are_removed_after_their_time(world, here, study):
    downloads = Downloads(world.store, world.data, world.clock)
    path = downloads.get(study, "responses.csv", {"simulated": False}, "1", "ana")

    made_at = path.stat().st_mtime - DOWNLOADS_KEPT_S - 1
    os.utime(path, (made_at, made_at))
    downloads.get(study, "responses.csv", {"simulated": True}, "1", "ana")

    assert not path.exists()


def test_why_a_file_cannot_be_made_is_told_for_a_minute_and_then_it_is_tried_again(world, me, here, study):
    world.clock.move(seconds=(utc_now() - world.clock()).total_seconds())  # the worker has the machine's
    tried = []
    for seconds in (0, 30, 31):
        world.clock.move(seconds=seconds)
        me.get("studies/faces/masks.png", 400)
        (job,) = queue.jobs(world.store)
        tried.append(job.created_at)

    assert tried[0] == tried[1] < tried[2]


def test_a_client_that_asks_again_is_told_which_job_makes_the_file_and_gets_it(world, me, study, monkeypatch):
    headers = {**me.headers, "Prefer": "wait=0"}

    def ask():
        return world.http.get("/api/studies/faces/responses.csv", headers=headers, buffered=True)

    first = ask()
    (job,) = first.json["error"]["keys"]
    until = time.monotonic() + 120
    while (reply := ask()).status_code == 503 and time.monotonic() < until:
        time.sleep(0.05)

    assert (first.status_code, first.json["error"]["code"]) == (503, "being_made")
    assert len(rows(reply)) == 32
    shown = me.get(f"jobs/{job}")
    assert (shown["kind"], shown["study"], shown["member"]) == ("download", "faces", "owner")


def test_many_who_ask_at_once_get_one_file(world, study):
    downloads, found = Downloads(world.store, world.data, world.clock), []
    asked = (study, "responses.csv", {"simulated": False}, "1")
    threads = [threading.Thread(target=lambda: found.append(downloads.get(*asked, "ana"))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    assert (len(found), {*found}) == (4, {*files(world)})
    assert [job.tries for job in queue.jobs(world.store)] == [1]


def test_only_a_few_requests_wait_for_files(world, study, monkeypatch):
    downloads = Downloads(world.store, world.data, world.clock)
    monkeypatch.setattr(downloads, "start_worker", lambda: None)
    asked = (study, "responses.csv", {"simulated": False}, "1", "ana")
    refused = []

    def wait():
        try:
            downloads.get(*asked, wait_s=120)
        except (Unavailable, Conflict) as error:
            refused.append(error.code)

    threads = [threading.Thread(target=wait) for _ in range(5)]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 60
    while not refused and time.monotonic() < until:
        time.sleep(0.02)
    at_once = len(refused)
    (job,) = queue.jobs(world.store)
    queue.cancel(world.store, job.id, world.clock())
    for thread in threads:
        thread.join()

    assert (at_once, sorted(refused)) == (1, ["being_made", *["cancelled"] * 4])


@pytest.mark.parametrize("when", ["queued", "running"])
def test_a_cancelled_download_leaves_nothing_and_is_made_when_asked_for_again(
    me, here, study, monkeypatch, when
):
    world = me.world

    def write(work, study, options, out):
        out.write_text("half made")
        (job,) = queue.open_jobs(world.store)
        queue.cancel(world.store, job.id, world.clock())
        for number in work.progress(range(2000), 2000, "answers"):
            time.sleep(0.01)
            assert number < 1999

    with monkeypatch.context() as changed:
        if when == "running":
            changed.setitem(download_files.KINDS, "responses.csv", write)
        else:
            changed.setattr(Downloads, "start_worker", lambda self: cancel_all(world))
        refused = me.get("studies/faces/responses.csv", 409)["error"]
    left = [*world.data.cache("downloads").glob("*/*")]
    again = me.get("studies/faces/responses.csv")

    assert (refused["code"], left, len(rows(again))) == ("cancelled", [], 32)


def cancel_all(world):
    for job in queue.open_jobs(world.store):
        queue.cancel(world.store, job.id, world.clock())


def test_a_fault_of_the_worker_is_told_and_not_waited_for(me, here, study, monkeypatch):
    monkeypatch.setitem(download_files.KINDS, "responses.csv", lambda *_: {}["missing"])

    error = me.get("studies/faces/responses.csv", 409)["error"]

    assert (error["code"], "something went wrong here (fault " in error["message"]) == ("not_made", True)


def test_a_worker_elsewhere_leaves_downloads_and_those_of_a_server_that_ended_are_cancelled(
    world, study, tmp_path, monkeypatch
):
    downloads = Downloads(world.store, world.data, world.clock)
    monkeypatch.setattr(downloads, "start_worker", lambda: None)
    with pytest.raises(Unavailable, match="is being made"):
        downloads.get(study, "responses.csv", {"simulated": False}, "1", "ana", wait_s=0)
    elsewhere = Worker(world.store, DataDir(tmp_path / "elsewhere"), clock=world.clock)

    done, states = elsewhere.run_once(), []
    for _ in range(2):
        world.clock.move(hours=2)
        queue.forget(world.store, world.clock())
        states.append([job.state for job in queue.jobs(world.store)])

    assert (done, states) == (None, [["cancelled"], []])


def test_before_a_session_is_finished_the_reason_is_told(world, here, me):
    world.add(studies.study(**SMALL))

    for name in ("report.zip", "responses.csv"):
        error = me.get(f"studies/faces/{name}", 400)["error"]
        assert "no finished session yet" in error["message"]
    assert "has no masks" in me.get("studies/faces/masks.png", 400)["error"]["message"]
    assert names(me.get("studies/faces/export.zip"))


@pytest.mark.parametrize(
    "query",
    [
        "report.zip?simulated=maybe", "report.zip?level=1", "report.zip?level=nan", "report.zip?margin=0",
        "report.zip?margin=50", "report.zip?threshold_at=1e400", "report.zip?seed=-1",
        "report.zip?iterations=0.5", "report.zip?exposures=x", "report.zip?title=a%0Ab",
        "export.zip?bapps=1", "masks.png?count=0",
        "site.zip?each=x", "export.zip?bapps=true", "export.zip?license=none", "export.zip?release=1",
    ],
)  # fmt: skip
def test_a_wrong_option_is_refused(me, here, study, query):
    assert me.get(f"studies/faces/{query}", 400)["error"]["code"] == "invalid"
