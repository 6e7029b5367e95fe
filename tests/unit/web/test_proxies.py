"""A proxy in front of the server: whose headers are believed, and what they change."""

import http.client
import json
from contextlib import closing, contextmanager
from threading import Thread

import pytest
from flask import Flask, request

from backend.foundation.errors import InvalidInput
from backend.handlers import create_app
from backend.web.proxies import asks_for_proxy, behind_one_proxy
from backend.web.server import listen, make_server
from deploy.api import from_environment

KEY = "secret-key"
SENT = {
    "X-Forwarded-For": "203.0.113.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "study.example:8443",
}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("OPENHYPE_KEY", KEY)


@contextmanager
def served(app, behind_proxy):
    server = make_server(app, listen("127.0.0.1", 0), 100, behind_proxy)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield int(server.effective_port)
    finally:
        for channel in list(server.active_channels.values()):
            channel.will_close = True
        server.close()
        thread.join(timeout=60)
        server.task_dispatcher.shutdown()


def ask(port, method="GET", path="/", body=None, headers=()):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)) as connection:
        connection.request(method, path, body, dict(headers))
        reply = connection.getresponse()
        return reply, reply.read()


def seen_by(behind_proxy, headers):
    """Return (address, scheme, host) of a request as a route sees it."""
    app = Flask(__name__)
    app.add_url_rule("/", "page", lambda: json.dumps([request.remote_addr, request.scheme, request.host]))
    if behind_proxy:
        app.wsgi_app = behind_one_proxy(app.wsgi_app)
    with served(app, behind_proxy) as port:
        address, scheme, host = json.loads(ask(port, headers=headers)[1])
    return address, scheme, host.replace(f":{port}", "")


def test_what_visitors_claim_is_ignored_unless_there_is_a_proxy():
    assert seen_by(False, SENT) == ("127.0.0.1", "http", "127.0.0.1")


def test_a_proxy_tells_the_visitors_address_scheme_and_host():
    assert seen_by(True, SENT) == ("203.0.113.9", "https", "study.example:8443")


def test_only_what_the_last_proxy_adds_is_believed():
    headers = {**SENT, "X-Forwarded-For": "198.51.100.1, 203.0.113.9", "X-Forwarded-Proto": "ftp, https"}

    assert seen_by(True, headers)[:2] == ("203.0.113.9", "https")


@pytest.mark.parametrize(
    ("told", "address"),
    [
        ("203.0.113.9:5678", "203.0.113.9"),
        ("[2001:db8::9]:5678", "2001:db8::9"),
        ("2001:DB8::9", "2001:db8::9"),
        ("unknown", "127.0.0.1"),
        ("203.0.113.9\tx", "127.0.0.1"),
        ("", "127.0.0.1"),
    ],
)
def test_an_address_is_that_of_a_visitor_or_of_the_proxy(told, address):
    assert seen_by(True, {**SENT, "X-Forwarded-For": told})[0] == address


@pytest.mark.parametrize("scheme", ["", "javascript", "ftp"])
def test_another_scheme_than_those_of_the_web_is_not_taken(scheme):
    assert seen_by(True, {**SENT, "X-Forwarded-Proto": scheme})[1] == "http"


def enter(world, behind_proxy, headers):
    app = create_app(world.store, world.data, world.data.keys(), world.clock, behind_proxy=behind_proxy)
    sent = {**headers, "Content-Type": "application/json"}
    with served(app, behind_proxy) as port:
        reply, _ = ask(port, "POST", "/api/sign-in", json.dumps({"token": KEY}), sent)
    assert reply.status == 200
    return reply.headers.get_all("Set-Cookie")


@pytest.mark.parametrize(
    ("behind_proxy", "headers", "is_secure"),
    [(True, SENT, True), (True, {}, False), (False, SENT, False)],
    ids=["behind TLS", "behind a proxy without TLS", "no proxy"],
)
def test_the_researchers_cookie_is_secure_where_a_proxy_ends_tls(world, behind_proxy, headers, is_secure):
    cookies = enter(world, behind_proxy, headers)

    assert cookies
    assert all(("Secure" in cookie.split("; ")) == is_secure for cookie in cookies)


def test_a_sign_in_of_the_proxys_own_site_is_taken_and_another_sites_is_not(world):
    app = create_app(world.store, world.data, world.data.keys(), world.clock, behind_proxy=True)
    http_ = app.test_client()

    def post(origin):
        return http_.post("/api/sign-in", json={"token": KEY}, headers={**SENT, "Origin": origin}).status_code

    assert (post("https://study.example:8443"), post("https://evil.example")) == (200, 403)


@pytest.mark.parametrize(("value", "asks"), [("", False), ("0", False), ("1", True), ("true", True)])
def test_the_environment_says_whether_there_is_a_proxy(tmp_path, value, asks):
    environment = {"OPENHYPE_STORE": "sqlite:///o.db", "OPENHYPE_DATA": str(tmp_path)}

    app = from_environment({**environment, "OPENHYPE_BEHIND_PROXY": value})

    reply = app.test_client().post("/api/sign-in", json={"token": KEY}, headers=SENT)
    assert ("Secure" in reply.headers["Set-Cookie"]) == asks


def test_another_value_is_refused():
    with pytest.raises(InvalidInput, match="OPENHYPE_BEHIND_PROXY must be true or false, not 'nginx'"):
        asks_for_proxy({"OPENHYPE_BEHIND_PROXY": "nginx"})


def test_connections_of_a_proxy_are_those_of_many_and_kept():
    app = Flask(__name__)
    app.add_url_rule("/", "page", lambda: "page")
    with served(app, behind_proxy=True) as port:
        many = [http.client.HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(40)]
        for _ in range(2):
            for connection in many:
                connection.request("GET", "/")
                assert connection.getresponse().read() == b"page"
            assert all(connection.sock is not None for connection in many)
        socks = [connection.sock for connection in many]
        for connection in many:
            connection.auto_open = 0  # a closed one is not opened again
            connection.request("GET", "/")
            assert connection.getresponse().read() == b"page"
        assert [connection.sock for connection in many] == socks
        for connection in many:
            connection.close()
