"""Below a path: every address in every reply stays below it, whether or not the proxy takes the path off."""

import json
import re

import pytest

from backend.foundation.errors import InvalidInput
from backend.handlers import create_app
from backend.web.proxies import parse_base_path

from .. import sample_studies as studies

BASE = "/lab/hype"
ATTRIBUTE = re.compile(r"""\b(?:href|src|action)=["'](/[^"']*)["']""")
IMPORT = re.compile(r'(?:from|import\() ?"\./([a-z_0-9]+\.js)"')
PAGES = ["/", "/s/faces", "/wait/faces", "/w/none", "/timing.html", "/console", "/competitions", "/results"]
KEY = {"X-Openhype-Token": "secret-key"}


class Proxy:
    """A browser behind a proxy at `https://lab.example/lab/hype/`."""

    def __init__(self, world, strips, is_named_by_header):
        base = "" if is_named_by_header else BASE
        app = create_app(world.store, world.data, world.data.keys(), behind_proxy=True, base_path=base)
        self._http, self._strips = app.test_client(), strips
        self._headers = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": "lab.example"}
        if is_named_by_header:
            self._headers["X-Forwarded-Prefix"] = f"{BASE}/"

    def ask(self, path, method="GET", headers=(), **options):
        assert f"{path}/".startswith(f"{BASE}/"), f"{path} leaves the proxy's path"
        inner = path[len(BASE) :] or "/" if self._strips else path
        return self._http.open(inner, method=method, headers={**self._headers, **dict(headers)}, **options)


@pytest.fixture(
    params=[(strips, named) for strips in (True, False) for named in (True, False)],
    ids=["strips, header", "strips, option", "leaves, header", "leaves, option"],
)
def proxy(request, world, monkeypatch):
    monkeypatch.setenv("OPENHYPE_KEY", "secret-key")
    world.add(studies.study(images=4, panel="link"))
    return Proxy(world, *request.param)


def paths_in(value):
    """Return the texts of JSON data that are paths."""
    if isinstance(value, str):
        return [value] if value.startswith("/") else []
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [path for item in items for path in paths_in(item)]


def test_every_link_of_every_page_leads_to_a_page_below_the_path(proxy):
    to_visit, visited = [f"{BASE}{path}" for path in PAGES], set()
    while to_visit:
        path = to_visit.pop()
        if path in visited:
            continue
        visited.add(path)
        with proxy.ask(path, headers=KEY) as reply:
            assert reply.status_code in (200, 301, 400), path  # 400: results of nobody
            text = reply.get_data(as_text=True) if reply.mimetype.startswith("text/") else ""
            to_visit += [reply.headers["Location"]] if "Location" in reply.headers else []
        if reply.mimetype == "text/html":
            to_visit += [link.partition("?")[0].partition("#")[0] for link in ATTRIBUTE.findall(text)]
        if path.endswith(".js"):
            to_visit += [f"{path.rpartition('/')[0]}/{name}" for name in IMPORT.findall(text)]

    assert f"{BASE}/results/faces" in visited
    assert sum(path.endswith(".js") for path in visited) > 100


def test_a_session_gets_pictures_and_its_withdrawal_below_the_path(proxy, world):
    opened = proxy.ask(
        f"{BASE}/api/studies/faces/sessions",
        "POST",
        json={"consent_version": "1", "panel": {}, "qualification_token": None},
    ).json
    state, token = opened["state"], {"X-Openhype-Token": opened["token"]}
    session = f"{BASE}/api/sessions/{state['session']}"
    again = proxy.ask(f"{session}/resume", "POST", token, json={}).json["state"]
    begun = {"lease": again["lease"], "block": 0, "display": {}}
    block = proxy.ask(f"{session}/blocks", "POST", token, json=begun).json

    assert state["withdrawal_url"] == again["withdrawal_url"]
    assert state["withdrawal_url"].startswith(f"{BASE}/w/")
    assert len(block["images"]) == 4
    for data in (opened, block):
        assert all(path.startswith(f"{BASE}/") for path in paths_in(data))


def test_the_cookie_of_a_sign_in_is_sent_below_the_path_only_and_signing_out_deletes_it(proxy):
    into = proxy.ask(f"{BASE}/api/sign-in", "POST", json={"token": "secret-key"})
    out = proxy.ask(f"{BASE}/api/sign-out", "POST", json={})

    for reply in (into, out):
        paths = {re.search("Path=([^;]*)", cookie)[1] for cookie in reply.headers.getlist("Set-Cookie")}
        assert paths == {f"{BASE}/results", f"{BASE}/api"}


def test_the_link_of_a_study_is_told_below_the_path(proxy):
    record = proxy.ask(f"{BASE}/api/studies/faces/record", headers=KEY).json

    assert f"https://lab.example{BASE}/s/faces" in json.dumps(record)


def test_addresses_of_an_uploads_parts_stand_below_the_path(proxy):
    begin = {"format": "files", "bytes": 3, "parts": ["0" * 8]}
    upload = proxy.ask(f"{BASE}/api/uploads", "POST", KEY, json=begin).json["upload"]
    urls = proxy.ask(f"{BASE}/api/uploads/{upload}/urls", "POST", KEY, json={"parts": [0]}).json["urls"]

    assert [each["url"] for each in urls] == [f"{BASE}/api/uploads/{upload}/parts/0"]


@pytest.mark.parametrize(
    "sent", ["", "/", "//evil.example", "https://evil.example", "/a b", "/a/../b", '/"x']
)
def test_a_prefix_that_is_no_path_is_ignored(world, sent):
    app = create_app(world.store, world.data, world.data.keys(), behind_proxy=True)

    page = app.test_client().get("/", headers={"X-Forwarded-Prefix": sent}).get_data(as_text=True)

    assert 'href="/assets/' in page


def test_a_prefix_is_ignored_without_a_proxy(world):
    page = world.http.get("/", headers={"X-Forwarded-Prefix": "/hype"}).get_data(as_text=True)

    assert 'href="/assets/' in page


@pytest.mark.parametrize(
    ("text", "path"),
    [("", ""), ("/", ""), ("/hype", "/hype"), ("/lab/hype/", "/lab/hype"), ("/~anna", "/~anna")],
)
def test_a_base_path_ends_without_a_slash(text, path):
    assert parse_base_path(text) == path


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hype", "as in /hype"),
        ("https://lab.example/hype", "as in /hype"),
        ("//hype", "as in /hype"),
        ("/a//b", "as in /hype"),
        ("/../b", "as in /hype"),
        ("/a b", "as in /hype"),
        ("/hype?x=1", "as in /hype"),
        ("/%68ype", "as in /hype"),
        ("/api", "cannot begin with /api"),
        ("/s/hype", "cannot begin with /s"),
    ],
)
def test_a_base_path_that_is_none_is_refused_in_words(text, why):
    with pytest.raises(InvalidInput, match=why):
        parse_base_path(text)
