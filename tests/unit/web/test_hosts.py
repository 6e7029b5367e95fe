"""Which address replies name, what they depend on, and that browsers stay with https."""

import logging
import re
import socket
from collections import Counter, defaultdict

import pytest

from backend.handlers import create_app
from backend.web import openapi
from backend.web.server import in_background
from tests.api_page import example

from .. import sample_studies as studies
from .members import as_member, signed_in, tokens_of_all

EVIL = "evil.example"
HOSTS = [EVIL, f"{EVIL}:8000", f'x"><script>{EVIL}', f"localhost@{EVIL}", f"{EVIL}\\.lab.example"]
CLAIMS = {
    "X-Forwarded-Host": EVIL,
    "X-Forwarded-Server": EVIL,
    "X-Original-Host": EVIL,
    "Forwarded": f"host={EVIL};proto=http",
    "X-Forwarded-Prefix": f"/{EVIL}",
}
HSTS = "Strict-Transport-Security"


def server(world, **options):
    app = create_app(world.store, world.data, world.data.keys(), world.clock, **options)
    app.testing = True
    return app


def paths(app, verbs):
    """Return verb and path of every route, of the study faces."""
    return sorted(
        (verb, re.sub(r"<(?:\w+:)?\w+>", "nobody", rule.rule.replace("<study>", "faces")))
        for rule in app.url_map.iter_rules()
        for verb in rule.methods & verbs
    )


def replies(app, headers, verbs=frozenset({"GET"})):
    """Yield name and reply of every route, and of paths that are none."""
    http = app.test_client()
    for verb, path in [*paths(app, verbs), ("GET", "/nowhere"), ("GET", "/console/"), ("GET", "//s/faces")]:
        body = {} if verb == "GET" else {"data": b"{}", "content_type": "application/json"}
        yield f"{verb} {path}", http.open(path, method=verb, headers=headers, buffered=True, **body)


def text_of(reply):
    return f"{reply.headers}{reply.get_data().decode(errors='replace')}"


@pytest.fixture
def researcher(world):
    world.add(studies.study("faces"))
    return as_member(tokens_of_all(world)["researcher"])


@pytest.mark.parametrize("host", HOSTS)
def test_no_route_names_the_host_of_a_request_where_the_address_is_known(world, researcher, host, caplog):
    caplog.set_level(logging.DEBUG)
    app = server(world, base_url="https://study.lab.example/", base_path="")

    named = [
        name
        for name, reply in replies(app, {**researcher, **CLAIMS, "Host": host}, {"GET", "POST", "PUT"})
        if EVIL in text_of(reply)
    ]

    assert named == []
    assert EVIL not in caplog.text
    assert EVIL.encode() not in (world.data.root / "openhype.db").read_bytes()


def test_no_route_about_what_is_there_names_the_host_of_a_request(world, there, caplog, tmp_path):
    """As above, of a study with answers, a submission and its job, with bodies that each route takes."""
    caplog.set_level(logging.DEBUG)
    held, names = there
    app = server(world, base_url="https://study.lab.example/", base_path="")
    http, statuses, named = app.test_client(), Counter(), []
    operations = sorted(openapi.operations().items(), key=lambda item: not item[0].startswith("GET"))
    for name, operation in operations:
        verb, path = name.format_map(defaultdict(lambda: "x", names)).split(" ")
        token = held["session" if "session" in operation.who else "owner"]
        body = None if operation.takes is None else {**example(operation.takes), **meant(name, names)}
        headers = {**as_member(token), **CLAIMS, "X-Forwarded-Proto": f"{EVIL}", "Host": EVIL}
        reply = http.open(path, method=verb, headers=headers, json=body, buffered=True)
        statuses[reply.status_code // 100] += 1
        assert reply.status_code < 500, (name, reply.get_data())
        if EVIL in text_of(reply):
            named.append(name)

    assert named == []
    assert statuses[2] > 50, statuses
    assert EVIL not in caplog.text
    kept = [
        path for path in world.data.root.rglob("*") if path.is_file() and EVIL.encode() in path.read_bytes()
    ]
    assert kept == []


def meant(name, names):
    """Return the fields of a body that name what is there."""
    if "/drafts" in name:
        return {}
    return {key: names[key] for key in ("upload",) if key in name}


def test_a_reply_that_names_the_host_of_its_request_is_for_no_shared_cache(world, researcher):
    named = {
        name: reply
        for name, reply in replies(server(world), {**researcher, **CLAIMS, "Host": EVIL})
        if EVIL in text_of(reply)
    }

    assert "GET /api/studies/faces/record" in named
    for name, reply in named.items():
        assert "Host" in reply.vary, name
        assert reply.cache_control.no_store or reply.cache_control.private, name


def test_every_reply_says_on_what_it_depends(world, researcher):
    app = server(world)
    cookie = signed_in(world, researcher["X-Openhype-Token"]).get_cookie("openhype_login", path="/api")
    by_cookie = {"Cookie": f"openhype_login={cookie.value}"}
    plain = dict(replies(app, {}))
    for variant, header in [
        ({"Accept-Encoding": "gzip"}, "Accept-Encoding"),
        (by_cookie, "Cookie"),
        (researcher, "X-Openhype-Token"),
        ({"Accept-Language": "de"}, "Accept-Language"),
        ({"Host": EVIL}, "Host"),
    ]:
        for name, reply in replies(app, variant):
            before = plain[name]
            same = [(each.status_code, each.content_encoding) for each in (reply, before)]
            if same[0] != same[1]:
                assert [header in each.vary for each in (reply, before)] == [True, True], (name, header)


@pytest.mark.parametrize(("url", "is_sent"), [("https://a.example", True), ("http://a.example", False)])
def test_every_reply_keeps_browsers_to_https_where_that_is_the_address(world, researcher, url, is_sent):
    app = server(world, base_url=url)

    sent = {
        name: HSTS in reply.headers
        for headers in ({}, researcher)
        for name, reply in replies(app, headers, {"GET", "POST", "PUT"})
    }

    assert set(sent.values()) == {is_sent}, sent
    ended = app.test_client().get("/preview/nobody/s/faces")
    assert (HSTS in ended.headers) is is_sent
    with in_background(app) as running, socket.create_connection(("127.0.0.1", port(running)), 5) as line:
        line.sendall(b"GET / HTTP/1.1\r\nbroken header\r\n\r\n")
        assert (HSTS.encode() in line.recv(4096)) is is_sent


def port(url):
    return int(url.rpartition(":")[2])
