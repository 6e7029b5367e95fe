"""The demo as plain files, from a file server that knows nothing, in a folder below its top."""

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from backend.web.static_demo import write_site

from .test_accessibility import violations


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        raise AssertionError(f"a demo sent something to {self.path}")


@pytest.fixture
def demo(site, tmp_path):
    """Write a study's demo and open its page."""
    folder = tmp_path / "www"
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    site.url = f"http://127.0.0.1:{server.server_address[1]}"

    def write(name, method="infinity", **settings):
        study = site.create(name, method, **settings)
        write_site(site.store, study, site.data.images(name), folder / "demos" / name, each=20)
        return f"{site.url}/demos/{name}/index.html"

    yield write
    server.shutdown()
    server.server_close()


def test_a_demo_asks_what_its_study_asks(player, demo):
    player.page.goto(demo("faces", images=2, feedback_ms=50, confidence="5", reasons="Hands|Light"))
    player.press("consent")
    player.press("instructions")
    for _ in range(2):
        player.wait("question")
        player.page.keyboard.press("f")
        player.page.wait_for_selector("text=How sure are you?")
        player.page.keyboard.press("3")
        player.page.wait_for_selector("text=Why do you think so?")
        player.act_and_move_on(lambda: player.page.keyboard.press("Enter"))
    player.wait("done")

    assert "1 of 2" in player.page.inner_text("main")


@pytest.mark.core
def test_an_infinity_demo_is_played_without_a_server(player, demo, site):
    url = demo("faces", images=6, feedback_ms=50)
    errors = []
    player.page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    player.page.goto(url)
    player.wait("consent")
    found = {"consent": violations(player.page)}
    assert "This is a demo" in player.page.inner_text("main")
    assert "the answers can be found in this page's files" in player.page.inner_text("main")
    player.press("consent")
    player.press("instructions")
    for i in range(6):
        player.wait("question")
        truth = player.see()[0]
        player.answer(truth if i else {"r": "f", "f": "r"}[truth])
    player.wait("done")
    found["done"] = violations(player.page)

    text = player.page.inner_text("main")
    assert "5 of 6" in text
    assert "16.7%" in text
    rows = player.page.locator("tbody tr").all_inner_texts()
    assert [row.splitlines()[0] for row in rows].index("You, just now") == 4
    assert len(rows) == 7
    assert player.heading() in ("33% of the fakes fooled you", "No fake fooled you")
    assert "What you got wrong" in text
    assert player.page.locator(".gallery > ul img").count() == 1
    assert found == {"consent": [], "done": []}
    assert errors == []
    assert player.page.evaluate("localStorage.length") == 0
    assert list(site.store.sessions("faces")) == []

    player.press("done")
    player.wait("consent")


def test_a_time_demo_flashes_and_tells_a_threshold(player, demo):
    url = demo(
        "glimpse", "time", images=4, blocks=2, countdown_ms=100, feedback_ms=50, start_exposure_ms=200,
        spare_images=0,
    )  # fmt: skip
    player.page.goto(url)
    player.play_two_blocks()

    assert "ms" in player.page.inner_text("tr.yours")
    assert player.heading().startswith("Your threshold: ")
    assert "of 8" in player.page.inner_text("dl")
    assert "That was the demo" in player.page.inner_text("main")
