"""The researcher's door: who is let in, and what is computed once only."""

import json
import re
import threading

import pytest

from backend.handlers import create_app
from backend.metrics import study_metrics
from backend.web.results_cache import results_cache

from .. import sample_studies as studies
from ..metrics.test_study_metrics import NOW, SETS, SOME, kept_run

KEY = "secret-key"
TO_CONSOLE = re.compile(r'<nav[^>]* aria-label="Console">.*?</a><a href="([^"]+)">([^<]+)</a></nav>')


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENHYPE_KEY", KEY)


@pytest.fixture
def played(world):
    world.add(studies.study(images=8))
    for _ in range(4):
        world.player().play(right=lambda truth: truth == "real")
    return world


def enter(world):
    reply = world.http.post("/api/sign-in", json={"token": KEY})
    assert reply.status_code == 200
    return reply


def scores(world, tag=None, query=""):
    headers = {"Authorization": f"Bearer {KEY}", **({"If-None-Match": tag} if tag else {})}
    return world.http.get(f"/api/studies/faces/scores{query}", headers=headers)


def test_scores_are_not_sent_again_until_another_session_is_finished(played):
    first = scores(played)
    again = scores(played, first.headers["ETag"])
    played.player().play()
    after = scores(played, first.headers["ETag"])

    assert (first.status_code, again.status_code, after.status_code) == (200, 304, 200)
    assert again.data == b""
    assert again.headers["ETag"] == first.headers["ETag"] != after.headers["ETag"]
    assert sum(row["evaluators"] for row in after.json["models"]) == 5


def test_an_answer_of_an_unfinished_session_changes_nothing(played):
    tag = scores(played).headers["ETag"]
    player = played.player()
    player.begin()
    player.answer()

    assert scores(played, tag).status_code == 304


def test_full_scores_are_those_of_the_page(played):
    plain, full = scores(played).json, scores(played, query="?full=true").json

    assert set(full) - set(plain) == {"findings"}
    assert {name: full[name] for name in plain} == plain


@pytest.mark.slow("draws every figure")
def test_metrics_that_are_kept_with_the_study_are_in_full_scores_and_page_at_once(played):
    enter(played)
    before = scores(played, query="?full=true"), played.http.get("/results/faces")
    study_metrics.keep(played.data, SOME, [kept_run()], SETS, NOW)

    after = scores(played, before[0].headers["ETag"], "?full=true"), played.http.get("/results/faces")

    names = [row["metric"] for row in after[0].json["findings"]["metrics"]]
    assert "recall (layout-1)" in names
    assert before[0].json["findings"]["metrics"] == []
    assert ["Automatic metrics of the pictures" in page.text for page in (before[1], after[1])] == [
        False,
        True,
    ]
    assert before[1].headers["ETag"] != after[1].headers["ETag"]


def test_without_the_key_the_page_tells_nothing_of_the_study(played):
    closed = played.http.get("/results/faces")
    other = played.http.get("/results/no-such-study")
    listed = played.http.get("/results")

    assert [reply.status_code for reply in (closed, other, listed)] == [403] * 3
    assert closed.data == other.data == listed.data == played.http.get("/console").data
    assert b"faces" not in closed.data
    assert closed.headers["Cache-Control"] == "no-store"
    policy = played.http.get("/console").headers["Content-Security-Policy"]
    assert closed.headers["Content-Security-Policy"] == policy


def test_the_consoles_sign_in_opens_the_page_which_has_no_script_and_the_cookie_has_no_key(played):
    cookie = enter(played).headers["Set-Cookie"]
    page = played.http.get("/results/faces")

    assert {"HttpOnly", "SameSite=Strict", "Path=/results"} <= set(cookie.split("; "))
    assert KEY not in cookie
    assert page.status_code == 200
    assert "Results of faces" in page.text
    assert TO_CONSOLE.findall(page.text) == [("/console/studies/faces", "Back to the study in the console")]
    assert re.findall(r"<(?:script|form)", page.text) == []
    assert "default-src 'none'; style-src 'unsafe-inline'" in page.headers["Content-Security-Policy"]
    assert page.headers["Cache-Control"] == "private, no-cache"


def test_the_page_has_the_scores_of_the_api(played):
    enter(played)
    found = scores(played, query="?full=true").json

    text = played.http.get("/results/faces").text
    for row in found["models"]:
        assert row["score"] == 50
        assert f"<strong>{row['model']}</strong>: 50.0%" in text


def test_the_cookie_opens_the_api_as_well(played):
    enter(played)

    assert played.http.get("/api/studies/faces/scores").status_code == 200


@pytest.mark.parametrize(
    "cookie",
    ["", "x", "99999999999", "99999999999.key", f"99999999999.key.{'0' * 64}", "é.é.é", "99999999999.key.é"],
)
def test_a_made_up_cookie_opens_nothing(played, cookie):
    played.http.set_cookie("openhype_login", cookie, path="/results")

    assert played.http.get("/results/faces").status_code == 403


def test_another_key_ends_every_visit(played, monkeypatch):
    cookie = enter(played).headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    monkeypatch.setenv("OPENHYPE_KEY", "another-key")
    http = create_app(played.store, played.data, played.data.keys(), played.clock).test_client()
    http.set_cookie("openhype_login", cookie, path="/results")

    assert http.get("/results/faces").status_code == 403


def test_a_visit_ends_after_hours(played):
    enter(played)
    assert played.http.get("/results/faces").status_code == 200
    played.clock.move(hours=13)

    assert played.http.get("/results/faces").status_code == 403


@pytest.mark.parametrize("path", ["/results", "/results/faces", "/results/faces/leave"])
def test_the_pages_take_no_forms(played, path):
    reply = played.http.post(path, data={"key": KEY})

    assert reply.status_code in (404, 405)
    assert "Set-Cookie" not in reply.headers


def test_the_list_and_errors_are_pages(world):
    world.add(studies.study(images=8))
    enter(world)

    listed = world.http.get("/results")
    empty, missing = world.http.get("/results/faces"), world.http.get("/results/none")
    assert 'href="/results/faces"' in listed.text
    assert (empty.status_code, missing.status_code) == (400, 404)
    assert "no finished session yet" in empty.text
    assert missing.mimetype == "text/html"
    assert [TO_CONSOLE.findall(page.text) for page in (listed, empty, missing)] == [
        [("/console", "All studies in the console")],
        [("/console/studies/faces", "Back to the study in the console")],
        [("/console", "All studies in the console")],
    ]


@pytest.mark.slow("draws every figure twice")
def test_a_page_is_drawn_once_for_all_who_ask_and_again_when_sessions_finished(played):
    enter(played)
    first = played.http.get("/results/faces")
    again = played.http.get("/results/faces")
    unchanged = played.http.get("/results/faces", headers={"If-None-Match": first.headers["ETag"]})
    played.player().play()
    after = played.http.get("/results/faces")

    assert again.data == first.data
    assert unchanged.status_code == 304
    assert after.data != first.data


def test_what_is_asked_for_by_many_at_once_is_made_once():
    get, made, gate = results_cache(8), [], threading.Event()

    def make():
        made.append(1)
        gate.wait(5)
        return "value"

    found = []
    threads = [threading.Thread(target=lambda: found.append(get(("faces", "1"), make))) for _ in range(4)]
    for thread in threads:
        thread.start()
    gate.set()
    for thread in threads:
        thread.join()

    assert (found, len(made)) == (["value"] * 4, 1)


def test_results_weigh_no_more_together_than_they_may_and_the_least_used_go_first():
    get = results_cache(10, len)
    for key in ("a", "b", "a", "c"):
        get((key, "1"), lambda: "1234")

    assert get(("a", "1"), lambda: "again") == "1234"
    assert get(("c", "1"), lambda: "again") == "1234"
    assert get(("b", "1"), lambda: "again") == "again"
    assert get(("a", "2"), lambda: "newer") == "newer"


def test_a_result_that_weighs_more_than_all_may_is_given_and_not_kept():
    get = results_cache(10, len)

    assert get(("a", "1"), lambda: "x" * 11) == "x" * 11
    assert get(("a", "1"), lambda: "again") == "again"


def test_whoever_waited_for_a_result_that_failed_computes_it():
    get = results_cache(8)
    with pytest.raises(KeyError, match="no answers"):
        get(("a", "1"), lambda: {}["no answers"])

    assert get(("a", "1"), lambda: "value") == "value"


def test_scores_are_json_without_nan(played):
    json.loads(scores(played, query="?full=true").data, parse_constant=pytest.fail)
