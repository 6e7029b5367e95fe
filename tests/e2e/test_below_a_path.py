"""Below a path of another site: a session with its pictures, the withdrawal link, and the console."""

from urllib.parse import urlsplit

import pytest

from backend.handlers import create_app
from backend.web.server import in_background

BASE = "/lab/hype"


@pytest.fixture
def below(site):
    """The site, served below a path alone: no other address of the host leads to it."""
    app = create_app(site.store, site.data, site.data.keys(), behind_proxy=True, base_path=BASE)

    def only_below(environ, start_response):
        if environ["PATH_INFO"].startswith(f"{BASE}/"):
            return app(environ, start_response)
        start_response("404 Not Found", [("Content-Type", "text/plain")])
        return [b"of another site"]

    with in_background(only_below) as host:
        site.url = f"{host}{BASE}"
        yield site


def test_a_session_its_withdrawal_and_the_console_stay_below_the_path(player, below):
    page, asked = player.page, []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    below.create("faces", images=2, feedback_ms=50)

    player.begin("faces")
    for _ in range(2):
        player.wait("question")
        player.answer(player.see()[0])
    player.wait("done")
    page.click("summary")
    page.goto(page.locator(".withdrawal a").inner_text())
    player.wait("withdraw")
    page.click("text=Delete my answers")
    player.wait("done")
    assert list(below.store.sessions("faces")) == []

    page.goto(f"{below.url}/console")
    page.fill("#token", below.data.keys().researcher)
    page.keyboard.press("Enter")
    page.wait_for_selector("main a[href$='/console/studies/faces']")
    pictures = [path for path in asked if path.startswith(f"{BASE}/i/faces/")]
    assert len(pictures) == 2
    assert [path for path in asked if path.startswith("/") and not path.startswith(f"{BASE}/")] == []
