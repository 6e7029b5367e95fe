"""The application for WSGI servers is made from the environment, when asked for."""

import json
from functools import partial
from pathlib import Path

import pytest
from flask import Flask

from backend.competitions.terms import Terms, set_terms
from backend.foundation.errors import InvalidInput
from backend.foundation.timestamps import utc_now
from backend.jobs import queue
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from deploy import api
from deploy.work_calls import invoke, with_waking

from .. import sample_studies as studies

ROOT = Path(__file__).resolve().parents[3]


def test_an_unset_variable_is_named():
    with pytest.raises(InvalidInput, match="OPENHYPE_STORE is not set"):
        api.from_environment({"OPENHYPE_DATA": "x"})


def test_the_environment_gives_an_application(tmp_path):
    app = api.from_environment({"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)})

    assert app.test_client().get("/api/openapi.json").status_code == 200


@pytest.mark.parametrize(("serves", "status"), [(frozenset({"sessions"}), 404), (api.EVERYTHING, 403)])
def test_behind_cloudfront_whose_name_is_not_known_the_browser_tells_whose_page_sends(
    tmp_path, serves, status
):
    environment = {"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)}
    http = api.from_environment(environment, serves).test_client()

    def posted(**headers):
        path = "/api/studies/nobody/sessions"
        return http.post(path, json={"consent_version": "1"}, headers=headers).status_code

    assert posted(Origin="https://d1.cloudfront.net", **{"Sec-Fetch-Site": "same-origin"}) == 404
    assert posted(Origin="https://d1.cloudfront.net") == status
    assert posted(Origin="https://evil.example", **{"Sec-Fetch-Site": "cross-site"}) == 403


def test_the_environment_names_other_addresses_of_the_pages(tmp_path):
    environment = {"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)}
    environment["OPENHYPE_ORIGINS"] = "https://a.example https://faces.example"
    http = api.from_environment(environment).test_client()

    path, headers = "/api/studies/nobody/sessions", {"Origin": "https://faces.example"}
    assert http.post(path, json={"consent_version": "1"}, headers=headers).status_code == 404


@pytest.mark.parametrize("serves", [frozenset({"scores", "results"}), api.EVERYTHING])
def test_links_name_the_address_of_the_pages_and_not_that_of_the_function(tmp_path, serves):
    environment = {"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)}
    environment["OPENHYPE_URL"] = "https://d1.cloudfront.net"
    store = open_store(environment["OPENHYPE_STORE"], tmp_path)
    made = studies.study(images=8, panel="link")
    store.add_study(made, studies.pool(made))
    set_terms(store, store.study("faces"), Terms("Faces", published=True), utc_now())
    key = {"X-Openhype-Token": DataDir(tmp_path).keys().researcher}
    http = api.from_environment(environment, serves).test_client()

    shown = http.get("/api/studies/faces/record", headers=key).json["links"]["evaluators"]
    private = http.post("/api/studies/faces/links", headers=key, json={"count": 1}).json["links"]
    page = http.get("/competitions/faces").text
    store.close()

    assert shown == "https://d1.cloudfront.net/s/faces"
    assert private[0].startswith("https://d1.cloudfront.net/s/faces?")
    assert "--url https://d1.cloudfront.net<" in page


def test_the_environment_names_the_header_in_which_a_proxy_signs_members_in(tmp_path):
    environment = {"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)}
    environment |= {"OPENHYPE_SIGN_IN_HEADER": "X-User", "OPENHYPE_PROXY_SECRET": "s"}
    headers = {"X-User": "eve", "X-Openhype-Proxy-Secret": "s"}

    http = api.from_environment({**environment, "OPENHYPE_BEHIND_PROXY": "true"}).test_client()

    assert http.get("/api/me", headers=headers).json["error"]["code"] == "unknown_member"
    with pytest.raises(InvalidInput, match="OPENHYPE_BEHIND_PROXY"):
        api.from_environment(environment)


def test_the_environment_limits_sessions_by_address(tmp_path):
    environment = {"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)}

    with pytest.raises(
        InvalidInput, match="OPENHYPE_SESSIONS_PER_HOUR must be a whole number from 0, not '-1'"
    ):
        api.from_environment({**environment, "OPENHYPE_SESSIONS_PER_HOUR": "-1"})
    assert api.from_environment({**environment, "OPENHYPE_SESSIONS_PER_MINUTE": "5"})


@pytest.mark.parametrize("seconds", ["-1", "1.5", "soon", "\u0661"])
def test_a_limit_of_a_request_is_a_whole_number(tmp_path, seconds):
    environment = {"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_DATA": str(tmp_path)}

    with pytest.raises(InvalidInput, match="OPENHYPE_REQUEST_SECONDS must be a whole number from 0"):
        api.from_environment({**environment, "OPENHYPE_REQUEST_SECONDS": seconds})


def test_zappa_names_applications_that_are_there_and_no_debugging():
    stages = json.loads((ROOT / "zappa_settings.json").read_text())

    for stage in ("api", "score"):
        settings = {**stages["base"], **stages[stage]}
        module, _, name = settings["app_function"].rpartition(".")
        assert module == api.__name__
        assert name in api.APPS
        assert (settings["debug"], settings["log_level"]) == (False, "WARNING")
        assert settings["manage_roles"] is False


def test_keys_of_an_unknown_form_are_refused():
    with pytest.raises(InvalidInput, match="OPENHYPE_KEYS must be of the form ssm:"):
        api.from_environment({"OPENHYPE_STORE": "sqlite:///a.db", "OPENHYPE_KEYS": "x"}, frozenset())


@pytest.mark.parametrize(
    ("script_name", "path"),
    [
        ("", "/api/studies/s"),
        ("/api", "/api/studies/s"),  # the stage stood before the path, and was taken off it
        ("/api", "/studies/s"),  # there was none, and the path's own beginning was taken for it
        ("/score", "/api/studies/s"),
    ],
)
def test_a_path_is_whole_whatever_zappa_took_off_it(script_name, path):
    seen = []

    api.WholePaths(lambda environ, start: seen.append(environ))(
        {"SCRIPT_NAME": script_name, "PATH_INFO": path}, None
    )

    assert [(environ["SCRIPT_NAME"], environ["PATH_INFO"]) for environ in seen] == [("", "/api/studies/s")]


@pytest.mark.parametrize(
    ("has_list", "method", "path", "status", "inner"),
    [
        (False, "GET", "/api/studies/a b/sessions", "307 Temporary Redirect", None),
        (False, "POST", "/api/studies/faces/sessions", None, "/api/studies/faces/sessions"),
        (False, "GET", "/api/studies/faces", None, "/api/studies/faces"),
        (True, "GET", "/api/studies/faces/sessions/all", None, "/api/studies/faces/sessions"),
        (True, "GET", "/api/studies/faces/sessions", None, "/api/studies/faces/sessions"),
        (True, "POST", "/api/studies/faces/sessions/all", None, "/api/studies/faces/sessions/all"),
    ],
)
def test_the_list_of_sessions_is_read_at_the_function_that_has_it(has_list, method, path, status, inner):
    seen, started = [], []
    environ = {"REQUEST_METHOD": method, "PATH_INFO": path, "QUERY_STRING": "limit=5"}

    api.SessionLists(lambda environ, _: seen.append(environ["PATH_INFO"]) or [], has_list)(
        environ, lambda *reply: started.append(reply)
    )

    assert seen == ([] if inner is None else [inner])
    if status:
        ((found, headers),) = started
        assert (found, dict(headers)["Location"]) == (
            status, "/api/studies/a%20b/sessions/all?limit=5",
        )  # fmt: skip


class Lambda:
    """Takes invocations."""

    def __init__(self):
        self.invoked = []

    def invoke(self, **arguments):
        self.invoked.append(arguments)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_the_worker_is_woken_by_any_request_that_asks_for_a_job_that_waits(world, monkeypatch, method):
    app, client, now = Flask("enqueuing"), Lambda(), [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    app.wsgi_app = with_waking(app.wsgi_app, partial(invoke, "pilot-work", client))

    def ask():
        queue.enqueue(world.store, "table", "faces", "owner", {}, world.clock(), "key")
        return {}

    app.add_url_rule("/asked", "asked", ask, methods=[method])
    app.add_url_rule("/other", "other", dict, methods=[method])
    woken = []
    for path, seconds in [("/other", 0), ("/asked", 0), ("/asked", 1), ("/asked", 5), ("/other", 5)]:
        now[0] += seconds
        assert app.test_client().open(path, method=method).status_code == 200
        woken.append(len(client.invoked))
    queue.cancel(world.store, queue.open_jobs(world.store)[0].id, world.clock())
    app.test_client().open("/asked", method=method)
    queue.enqueue(world.store, "table", "faces", "owner", {}, world.clock())  # of no request

    assert woken == [0, 1, 1, 2, 2]
    one, _ = client.invoked
    assert (one["FunctionName"], one["InvocationType"]) == ("pilot-work", "Event")
    assert json.loads(one["Payload"]) == {"task": "work"}
