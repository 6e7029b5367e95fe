"""The dashboard's routes: behind the key, safe against other sites, silent while nothing changes."""

import pytest

from backend.studies.pausing import is_paused

from .. import sample_studies as studies


@pytest.fixture
def study(world):
    return world.add(studies.study(images=8))


@pytest.fixture
def visitor(world):
    http = world.app.test_client()
    reply = http.post("/dashboard", data={"key": world.data.keys().researcher})
    assert reply.status_code == 303
    return http


@pytest.mark.parametrize("path", ["/dashboard", "/dashboard/faces"])
def test_without_the_key_there_is_a_form_and_no_data(world, study, path):
    page, data = world.http.get(path), world.http.get(f"{path}?as=json")

    assert (page.status_code, data.status_code) == (403, 403)
    assert 'type="password"' in page.text
    assert data.json["error"]["code"] == "no_token"


def test_a_wrong_key_lets_nobody_in(world, study):
    reply = world.http.post("/dashboard", data={"key": "guess"})

    assert reply.status_code == 403
    assert "Set-Cookie" not in reply.headers


def test_the_cookie_is_the_results_pages_own_and_reaches_no_script_and_no_page_of_evaluators(world, study):
    reply = world.http.post("/dashboard", data={"key": world.data.keys().researcher})

    cookies = reply.headers.getlist("Set-Cookie")
    assert all("HttpOnly" in cookie and "SameSite=Strict" in cookie for cookie in cookies)
    assert {part for cookie in cookies for part in cookie.split("; ") if part.startswith("Path=")} == {
        "Path=/results", "Path=/dashboard", "Path=/api",
    }  # fmt: skip
    assert world.http.get("/results").status_code == 200


def test_the_list_and_the_study_tell_how_far_they_are(world, study, visitor):
    world.player().play()

    listed = visitor.get("/dashboard?as=json").json["studies"]
    shown = visitor.get("/dashboard/faces?as=json").json

    assert [(row["study"], sum(m["finished"] for m in row["models"])) for row in listed] == [("faces", 1)]
    assert (shown["responses"], shown["owed_usd_cents"]) == (8, 16)
    assert len(shown["scores"]["models"]) == 1


@pytest.mark.parametrize("evaluators", [1, 2, 6])
@pytest.mark.parametrize("method", ["infinity", "time"])
def test_scores_are_as_declared_from_the_first_evaluator_on(world, visitor, method, evaluators):
    world.add(studies.study(method=method, images=8, blocks=1, models=("gan",)))
    for i in range(evaluators):
        world.player().play(right=lambda truth, i=i: (truth == "real") == (i % 2 == 0))
        world.clock.move(minutes=3)

    shown = visitor.get("/dashboard/faces?as=json").json  # held against its declaration by the world

    (row,) = shown["scores"]["models"]
    assert (row["evaluators"], row["interval"] is None) == (evaluators, evaluators == 1)
    assert len(row["narrowing"]) == (2 if evaluators == 6 else 0)


def test_what_has_not_changed_is_not_sent_again(world, study, visitor):
    first = visitor.get("/dashboard/faces?as=json")

    same = visitor.get("/dashboard/faces?as=json", headers={"If-None-Match": first.headers["ETag"]})
    visitor.post("/dashboard/faces/pause")
    other = visitor.get("/dashboard/faces?as=json", headers={"If-None-Match": first.headers["ETag"]})

    assert (same.status_code, same.data) == (304, b"")
    assert (other.status_code, other.json["paused"]) == (200, True)


def test_buttons_pause_and_resume(world, study, visitor):
    paused = visitor.post("/dashboard/faces/pause").json
    was = is_paused(world.store, "faces")
    resumed = visitor.post("/dashboard/faces/resume").json

    assert (paused, was, resumed) == ({"paused": True}, True, {"paused": False})
    assert not is_paused(world.store, "faces")


@pytest.mark.parametrize(
    "headers",
    [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}],
)
@pytest.mark.parametrize("path", ["/dashboard/faces/pause", "/dashboard/faces/leave", "/dashboard"])
def test_another_sites_form_does_nothing(world, study, visitor, headers, path):
    reply = visitor.post(path, headers=headers)

    assert reply.status_code == 403
    assert not is_paused(world.store, "faces")
    assert visitor.get("/dashboard", buffered=True).status_code == 200


def test_without_the_key_nobody_pauses(world, study):
    assert world.http.post("/dashboard/faces/pause").status_code == 403
    assert not is_paused(world.store, "faces")


def test_who_leaves_is_out(world, study, visitor):
    visitor.post("/dashboard/faces/leave")

    assert visitor.get("/dashboard", buffered=True).status_code == 403
    assert visitor.get("/results").status_code == 403


def test_the_page_runs_only_scripts_of_this_server(world, study, visitor):
    policy = visitor.get("/dashboard", buffered=True).headers["Content-Security-Policy"]

    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy


def test_a_study_that_is_not_there_is_404(world, visitor):
    assert visitor.get("/dashboard/nobody").status_code == 404
    assert visitor.get("/dashboard/nobody?as=json").json["error"]["code"] == "unknown_study"
    assert visitor.post("/dashboard/nobody/pause").status_code == 404


def test_a_qualification_has_a_dashboard_without_scores(world, visitor):
    world.add(studies.study("gate", kind="qualification", images=8))
    world.player("gate").play()

    assert visitor.get("/dashboard/gate?as=json").json["scores"] is None
