"""Who may change something: our own pages and programs, and no page of another site."""

import re

import pytest

from backend.foundation.errors import InvalidInput
from backend.handlers import create_app
from backend.web import openapi
from backend.web.origins import is_ours, parse_origin
from backend.web.routing import path_of

from .. import sample_studies as studies

HERE = "faces.example:8000"


@pytest.mark.parametrize(
    ("origin", "site", "host"),
    [
        (None, None, HERE),
        (None, "none", HERE),
        ("http://faces.example:8000", None, HERE),
        ("http://FACES.example:8000", "same-origin", HERE),
        ("https://faces.example", None, "faces.example"),
        ("https://faces.example", None, "FACES.EXAMPLE:443"),
        ("https://faces.example:443", None, "faces.example:80"),
        ("http://[::1]:8000", None, "[::1]:8000"),
        # behind a proxy that does not hand on the name by which it was asked
        ("https://faces.example", "same-origin", "127.0.0.1:8000"),
    ],
)
def test_our_own_pages_and_programs_are_let_through(origin, site, host):
    assert is_ours(origin, site, host, ())


@pytest.mark.parametrize("site", [None, "cross-site", "same-site", "none", "", "Cross-Site", "nonsense"])
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://faces.example",
        "http://faces.example:8001",
        "http://faces.example:8000@evil.example",
        "http://evil.example#faces.example:8000",
        "http://faces.example:8000.evil.example",
        "file://",
        "null",
        "",
        "http://[x",
        "http://faces.example:99999999",
        "http://faces.example:x",
        "\u00fc",
        "chrome-extension://faces.example:8000",
    ],
)
def test_pages_of_others_are_not(origin, site):
    assert not is_ours(origin, site, HERE, ("other.example",))


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_comes_from_another_site_needs_no_origin_to_be_refused(site):
    assert not is_ours(None, site, HERE, ())


@pytest.mark.parametrize("site", [None, "cross-site", "same-site"])
def test_an_origin_that_is_allowed_is_let_through(site):
    assert is_ours("https://Pages.example", site, HERE, {parse_origin("https://pages.example/")})


def test_where_our_own_name_is_not_known_the_browser_tells_where_it_comes_from():
    assert is_ours("https://d1.cloudfront.net", "same-origin", None, ())
    assert is_ours("https://d1.cloudfront.net", None, None, ())
    assert not is_ours("https://evil.example", "cross-site", None, ())


@pytest.mark.parametrize("text", ["faces.example", "https://faces.example/s/faces", "null", "", "https://["])
def test_an_origin_that_is_none_is_refused(text):
    with pytest.raises(InvalidInput, match="an origin must be of the form"):
        parse_origin(text)


FROM_SERVERS = "POST /api/panels/prolific/events"
CHANGES = {
    name: operation
    for name, operation in openapi.operations().items()
    if not name.startswith("GET ") and name != FROM_SERVERS
}
WITHOUT_BODY = "POST /api/sessions/{session}/withdrawal"


def change(world, name, **options):
    """Make the request that changes something by the operation `name`; return its reply."""
    verb, _, path = name.partition(" ")
    path = re.sub(r"\{(\w+)\}", lambda found: "faces" if found[1] == "study" else "1", path)
    return world.http.open(path, method=verb, **options)


def test_every_route_that_changes_something_is_among_those_tested(world):
    found = {
        f"{verb} {path_of(rule.rule)}"
        for rule in world.app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for verb in rule.methods - {"GET", "HEAD", "OPTIONS"}
    }

    assert found == {*CHANGES, FROM_SERVERS}


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "",
        "text/plain",
        "text/plain;charset=UTF-8",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/jsonp",
        "application/json-patch+json",
        "application/json, text/plain",
    ],
)
def test_a_body_that_is_not_said_to_be_what_the_route_takes_is_refused(world, kind):
    world.add(studies.study())
    headers = {} if kind is None else {"Content-Type": kind}
    asked = [name for name in CHANGES if kind or name != WITHOUT_BODY]

    replies = {name: change(world, name, data=b'{"consent_version": "1"}', headers=headers) for name in asked}

    for name, reply in replies.items():
        assert (name, reply.status_code, reply.json["error"]["code"]) == (name, 415, "not_json")
        assert f"Content-Type: {CHANGES[name].media}" in reply.json["error"]["message"]
    assert list(world.store.sessions("faces")) == []


def test_a_withdrawal_needs_no_body(world):
    world.add(studies.study())
    _, _, rest = world.player().state["withdrawal_url"].partition("/w/")
    session, _, secret = rest.partition("#")

    reply = world.http.post(
        f"/api/sessions/{session}/withdrawal", headers={"Authorization": f"Bearer {secret}"}
    )

    assert (reply.status_code, reply.json["is_withdrawn"]) == (200, True)


@pytest.mark.parametrize(
    "kind", ["application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8"]
)
def test_json_with_or_without_a_charset_is_taken(world, kind):
    world.add(studies.study(panel="link"))

    reply = world.http.post(
        "/api/studies/faces/sessions", data=b'{"consent_version": "1"}', headers={"Content-Type": kind}
    )

    assert reply.status_code == 201


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[x"},
        {"Origin": "http://localhost:81"},
        {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_a_page_of_another_site_changes_nothing(world, headers):
    world.add(studies.study())
    world.http.post("/api/sign-in", json={"token": world.data.keys().researcher})

    replies = {name: change(world, name, json={"consent_version": "1"}, headers=headers) for name in CHANGES}

    for name, reply in replies.items():
        assert (name, reply.status_code, reply.json["error"]["code"]) == (name, 403, "other_site")
    assert list(world.store.sessions("faces")) == []


@pytest.mark.parametrize("origin", ["http://localhost", "http://LOCALHOST:80", "https://localhost:443"])
def test_our_own_page_opens_sessions(world, origin):
    world.add(studies.study(panel="link"))

    reply = world.http.post(
        "/api/studies/faces/sessions", json={"consent_version": "1"}, headers={"Origin": origin}
    )

    assert reply.status_code == 201


def test_a_page_at_another_name_of_this_server_may_be_allowed(world):
    world.add(studies.study(panel="link"))
    app = create_app(
        world.store,
        world.data,
        world.data.keys(),
        world.clock,
        allowed={parse_origin("https://faces.lab.example")},
    )
    headers = {"Origin": "https://faces.lab.example", "Host": "127.0.0.1:8000"}

    reply = app.test_client().post(
        "/api/studies/faces/sessions", json={"consent_version": "1"}, headers=headers
    )

    assert reply.status_code == 201


def test_who_only_reads_may_come_from_anywhere(world):
    world.add(studies.study())

    reply = world.http.get("/api/studies/faces", headers={"Sec-Fetch-Site": "cross-site"})

    assert reply.status_code == 200


def test_panels_servers_are_held_to_their_signature_alone(world):
    reply = world.http.post("/api/panels/prolific/events", data=b"{}", headers={"Content-Type": "text/plain"})

    assert reply.json["error"]["code"] == "no_webhooks"
