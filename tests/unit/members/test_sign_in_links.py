"""Links that sign in once."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import pytest

from backend.commands.browser import has_screen, shown
from backend.foundation.errors import NotAllowed
from backend.handlers import create_app
from backend.members import audit_log
from backend.members.access import KEY_HOLDER
from backend.members.sign_in_links import SignInLinks
from backend.web.proxies import SECRET, SignInHeader

BASE = "https://lab.example/hype"


@pytest.fixture
def links():
    return SignInLinks()


@pytest.fixture
def browser(world, links):
    app = create_app(world.store, world.data, world.data.keys(), world.clock, sign_in_links=links)
    return app.test_client()


def code(link):
    return link.partition("#sign-in=")[2]


def sign_in(browser, link):
    return browser.post("/api/sign-in", json={"token": code(link)})


def test_a_link_leads_to_the_console_with_its_code_in_the_fragment(world, links):
    link, other = (links.issue(BASE, world.clock()) for _ in range(2))

    assert link.startswith("https://lab.example/hype/console#sign-in=once_")
    assert len(code(link)) == len("once_") + 43  # 256 bits in base64
    assert link != other


def test_a_link_signs_in_as_the_key_does(world, browser, links):
    key = world.app.test_client()
    key.post("/api/sign-in", json={"token": world.data.keys().researcher})

    reply = sign_in(browser, links.issue(BASE, world.clock()))

    assert reply.json == browser.get("/api/me").json == key.get("/api/me").json
    assert (reply.json["member"], reply.json["role"], reply.json["by"]) == ("owner", "owner", "cookie")
    assert [entry.action for entry in audit_log.page(world.store, 10)[0]] == ["POST /api/sign-in"] * 2


def test_a_link_works_once(world, browser, links):
    link = links.issue(BASE, world.clock())
    sign_in(browser, link)

    again = sign_in(browser.application.test_client(), link)

    assert (again.status_code, again.json["error"]["code"]) == (403, "used_link")
    assert "Set-Cookie" not in again.headers


def test_a_link_works_for_ten_minutes(world, browser, links):
    first, second = (links.issue(BASE, world.clock()) for _ in range(2))

    world.clock.move(minutes=10, milliseconds=-1)
    in_time = sign_in(browser, first).status_code
    world.clock.move(milliseconds=1)
    late = sign_in(browser, second)

    assert (in_time, late.json["error"]["code"]) == (200, "expired_link")


def test_a_link_opens_no_other_server_and_none_that_was_started_again(world, browser):
    link = SignInLinks().issue(BASE, world.clock())

    assert sign_in(browser, link).json["error"]["code"] == "expired_link"


def test_of_many_who_use_a_link_at_once_one_is_signed_in(world, links):
    text = code(links.issue(BASE, world.clock()))

    def member(_):
        try:
            return links.member(text, world.clock())
        except NotAllowed as refusal:
            return refusal.code

    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(member, range(64)))

    assert (replies.count(KEY_HOLDER), replies.count("used_link")) == (1, 63)


def test_a_code_is_no_token_for_requests(world, browser, links):
    text = code(links.issue(BASE, world.clock()))

    asked = browser.get("/api/me", headers={"X-Openhype-Token": text})

    assert asked.json["error"]["code"] == "wrong_token"
    assert links.member(text, world.clock()) is KEY_HOLDER  # not used up by that


def test_looking_at_a_link_does_not_use_it_up(world, browser, links):
    link = links.issue("", world.clock())

    for method in ("GET", "HEAD", "OPTIONS"):
        browser.open(link.partition("#")[0], method=method)  # all that a browser sends of it

    assert sign_in(browser, link).status_code == 200


def test_a_link_is_not_used_up_by_whom_a_proxy_has_signed_in(world, links):
    proxy = SignInHeader("X-Forwarded-User", "secret")
    options = {"behind_proxy": True, "proxy": proxy, "sign_in_links": links}
    app = create_app(world.store, world.data, world.data.keys(), world.clock, **options)
    text = code(links.issue(BASE, world.clock()))
    named = {"X-Forwarded-User": "ada", SECRET: "secret"}

    refused = app.test_client().post("/api/sign-in", json={"token": text}, headers=named)

    assert refused.json["error"]["code"] == "signed_in_by_proxy"
    assert links.member(text, world.clock()) is KEY_HOLDER


def test_no_code_is_logged(world, browser, links, caplog):
    caplog.set_level(0)
    link = links.issue(BASE, world.clock())
    for _ in range(2):
        sign_in(browser, link)

    assert "used_link" in caplog.text or "signed somebody in" in caplog.text
    assert code(link)[:20] not in caplog.text


# In the browser of the person at the terminal


@pytest.mark.parametrize(
    ("environment", "is_terminal", "expected"),
    [
        ({"DISPLAY": ":0"}, True, True),
        ({"WAYLAND_DISPLAY": "wayland-0"}, True, True),
        ({}, True, False),
        ({"DISPLAY": ":0"}, False, False),
        ({"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "192.0.2.1 22"}, True, False),
    ],
)
def test_a_browser_is_opened_at_a_terminal_with_a_screen_only(
    environment, is_terminal, expected, monkeypatch
):
    monkeypatch.setattr("sys.stdout.isatty", lambda: is_terminal, raising=False)

    assert has_screen(environment) == expected


def test_the_browser_gets_a_file_that_others_cannot_read_and_not_the_link(world, links, monkeypatch):
    opened = Queue()
    monkeypatch.setattr("webbrowser.open", opened.put)
    link = links.issue(BASE, world.clock())

    with shown(link, world.data):
        page = world.data.root / "sign-in.html"
        text, mode = page.read_text(), stat.S_IMODE(page.stat().st_mode)

    assert (opened.get(timeout=30), mode) == (page.as_uri(), 0o600)
    assert f"url={link}" in text
    assert not os.path.exists(page)
