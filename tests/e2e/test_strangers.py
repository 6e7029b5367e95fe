"""Strangers in a real browser: a page of another site, and people for whom there are too many sessions."""

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from backend.handlers import create_app
from backend.web.server import in_background
from backend.web.session_rate_limit import Openings

from .test_accessibility import violations_in_looks

TRAP = b"<!doctype html><title>Trap</title><p>Nothing to see here."
OPENS = """async ([url, type]) => {
  const body = JSON.stringify({ consent_version: "1", panel: {}, device: {} });
  const path = `${url}/api/studies/faces/sessions`;
  const told = (reply) => `${reply.type} ${reply.status}`;
  if (type === "beacon") return navigator.sendBeacon(path, new Blob([body], { type: "text/plain" }));
  if (type === "form") {
    const form = document.createElement("form");
    form.method = "post";
    form.enctype = "text/plain";
    form.action = path;
    const input = document.createElement("input");
    input.name = body.slice(0, -1) + ',"x":"';
    input.value = '"}';
    form.append(input);
    document.body.append(form);
    form.submit();
    return "sent";
  }
  const headers = { "Content-Type": type };
  const mode = type === "text/plain" ? "no-cors" : "cors";
  return fetch(path, { method: "POST", body, headers, mode, keepalive: true }).then(told, () => "refused");
}"""


class Trap(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(TRAP)))
        self.end_headers()
        self.wfile.write(TRAP)

    def log_message(self, *_):
        pass


@pytest.fixture
def elsewhere():
    """The address of another site."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_page_of_another_site_opens_no_session_from_its_visitors_browser(page, site, elsewhere):
    site.create("faces", images=2, panel="link")
    for type in ("text/plain", "application/json", "beacon", "form"):
        page.goto(elsewhere)

        page.evaluate(OPENS, [site.url, type])

        page.wait_for_timeout(500)
        assert list(site.store.sessions("faces")) == [], type
    page.goto(f"{site.url}/s/faces")
    assert page.evaluate(OPENS, ["", "application/json"]) == "basic 201"


@contextmanager
def limited(site, **limits):
    """Give the address of a server on the same store that limits new sessions."""
    app = create_app(site.store, site.data, site.data.keys(), openings=Openings(**limits))
    with in_background(app) as url:
        yield url


def test_who_comes_as_one_too_many_in_a_minute_is_asked_to_wait_and_then_let_in(page, site):
    site.create("faces", images=2, panel="link")
    seconds = [0.0]
    app = create_app(site.store, site.data, site.data.keys(), openings=Openings(1, 0, lambda: seconds[0]))
    with in_background(app) as url:
        page.goto(f"{url}/s/faces")
        page.wait_for_selector("body[data-screen=consent]")
        assert page.evaluate(OPENS, ["", "application/json"]) == "basic 201"
        seconds[0] = 57.0
        page.keyboard.press("Enter")
        notice = page.wait_for_selector("[role=status]:has-text('Many people are here')").inner_text()
        seconds[0] = 61.0
        page.wait_for_selector("body[data-screen=instructions]", timeout=60000)

    assert "Your answers are safe" not in notice  # there are none
    assert len(list(site.store.sessions("faces"))) == 2


def test_an_address_from_which_too_many_came_is_told_kindly_when_to_come_back(page, site):
    site.create("faces", images=2, panel="link", contact="lab@example.org")
    with limited(site, per_minute=0, per_hour=1) as url:
        page.goto(f"{url}/s/faces")
        page.wait_for_selector("body[data-screen=consent]")
        assert page.evaluate(OPENS, ["", "application/json"]) == "basic 201"
        page.reload()
        page.wait_for_selector("body[data-screen=error]")

        assert page.inner_text("h1") == "Please come back in an hour"
        assert "You have done nothing wrong" in page.inner_text("main")
        assert violations_in_looks(page, [(1100, "light"), (1100, "dark")]) == {}


def test_who_opened_a_session_very_often_is_told_so_before_consent(page, site):
    site.create("faces", images=2, panel="prolific")
    query = "?PROLIFIC_PID=ann&STUDY_ID=s&SESSION_ID=x"
    for _ in range(10):
        page.goto(f"{site.url}/s/faces{query}")
        page.wait_for_selector("body[data-screen=consent]")
        page.keyboard.press("Enter")
        page.wait_for_selector("body[data-screen=instructions]")
        page.evaluate("localStorage.clear()")

    page.goto(f"{site.url}/s/faces{query}")

    page.wait_for_selector("body[data-screen=error]")
    assert page.inner_text("h1") == "Please come back in an hour"
    assert "opened this study many times" in page.inner_text("main")
