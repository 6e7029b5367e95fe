"""Files of a study as its researcher downloads them."""

import csv
import io
import os
import threading
import time
import zipfile
from contextlib import ExitStack
from dataclasses import replace
from subprocess import TimeoutExpired

import pytest

from backend.experiment.response_columns import COLUMNS
from backend.foundation.errors import InvalidInput, Unavailable
from backend.task.withdrawal import secret_of
from backend.web import download_files
from backend.web.downloads import KEPT_S, Downloads

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


def names(reply):
    return zipfile.ZipFile(io.BytesIO(reply.get_data())).namelist()


def rows(reply):
    return [*csv.DictReader(io.StringIO(reply.get_data(as_text=True)))]


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
def test_a_file_that_is_removed_while_it_is_made_is_asked_for_again(me, here, study, monkeypatch, when):
    def write(store, data, study, options, out):
        if when == "written":
            out.write_text("answers that were withdrawn")
        data.remove_downloads(study.name)
        out.write_text("answers that were withdrawn")

    with monkeypatch.context() as changed:
        changed.setitem(download_files.KINDS, "responses.csv", write)
        reply = me.get("studies/faces/responses.csv", 503)
    made = me.get("studies/faces/responses.csv")

    assert (reply["error"]["code"], len(rows(made))) == ("being_made", 32)


def test_a_file_that_is_removed_before_it_is_sent_is_asked_for_again(me, here, study, monkeypatch):
    get = Downloads.get

    def removed(*asked):
        get(*asked).unlink()
        return get(*asked).with_name("gone.csv")

    monkeypatch.setattr(Downloads, "get", removed)

    assert me.get("studies/faces/responses.csv", 503)["error"]["code"] == "being_made"


def test_files_are_removed_after_their_time(world, here, study):
    kept = Downloads(world.store, world.data)
    path = kept.get(study, "responses.csv", {"simulated": False}, "1")

    made_at = path.stat().st_mtime - KEPT_S - 1
    os.utime(path, (made_at, made_at))
    kept.get(study, "responses.csv", {"simulated": True}, "1")

    assert not path.exists()


def test_what_ends_as_a_request_gives_up_is_told_to_the_next_one(world, study, monkeypatch):
    class Ended:
        is_over, asked = True, 0

        def wait(self, timeout_s):
            self.asked += 1
            raise InvalidInput("it cannot be made") if self.asked > 1 else TimeoutExpired("", timeout_s)

    begun = []
    monkeypatch.setattr(Downloads, "_begin", lambda *_: begun.append(Ended()) or begun[-1])
    downloads = Downloads(world.store, world.data)
    asked = (study, "responses.csv", {"simulated": False}, "1")

    with pytest.raises(Unavailable, match="is being made; ask again"):
        downloads.get(*asked)
    with pytest.raises(InvalidInput, match="it cannot be made"):
        downloads.get(*asked)

    assert len(begun) == 1


def test_a_file_that_takes_long_is_asked_for_again(world, study):
    hasty = Downloads(world.store, world.data, wait_s=0.05)
    asked = (study, "responses.csv", {"simulated": False}, "1")
    with pytest.raises(Unavailable, match="is being made; ask again"):
        hasty.get(*asked)

    until = time.monotonic() + 120
    while time.monotonic() < until:
        try:
            found = hasty.get(*asked)
        except Unavailable:
            continue
        break
    else:
        pytest.fail("it was not made within 120 s")
    assert found.read_text().count("\n") == 33


def test_only_a_few_requests_wait_for_files(world, here, study, monkeypatch):
    asked = (study, "responses.csv", {"simulated": False}, "1")
    kept, waiting, go_on = Downloads(world.store, world.data), threading.Semaphore(0), threading.Event()

    def write(store, data, study, options, out):
        waiting.release()
        assert go_on.wait(10)
        out.write_text("made")

    monkeypatch.setitem(download_files.KINDS, "responses.csv", write)
    threads = [threading.Thread(target=kept.get, args=asked, daemon=True) for _ in range(4)]
    with ExitStack() as stack:
        stack.callback(go_on.set)
        for thread in threads:
            thread.start()
            assert waiting.acquire(timeout=10)
        with pytest.raises(Unavailable, match="is being made; ask again") as busy:
            kept.get(*asked)
    for thread in threads:
        thread.join(10)

    assert (busy.value.code, kept.get(*asked).read_text()) == ("being_made", "made")


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
