"""Code that does not arrive: the connection is at fault, it is asked for again, and nothing is lost."""

import pytest

from backend.handlers import create_app

from .conftest import Player
from .servers import Machine
from .test_engines import OTHER_ENGINE, firefox  # noqa: F401

PORTAL = ("200 OK", "text/html", b"<h1>Please sign in</h1>")
ABSENT = ("503 Service Unavailable", "text/plain", b"")


class Flaky:
    """An application of which some files fail a few times."""

    def __init__(self, app):
        self.app, self.failing, self.asked = app, {}, []

    def __call__(self, environ, start_response):
        name = environ["PATH_INFO"].rpartition("/")[2]
        times, (status, kind, body) = self.failing.get(name, (0, ABSENT))
        if times == 0:
            return self.app(environ, start_response)
        self.failing[name] = times - 1, (status, kind, body)
        self.asked.append(name)
        start_response(status, [("Content-Type", kind), ("Content-Length", str(len(body)))])
        return [body]


@pytest.fixture(params=["Chromium", pytest.param("Firefox", marks=OTHER_ENGINE)])
def open_page(request):
    if request.param == "Chromium":
        yield request.getfixturevalue("context").new_page
        return
    with request.getfixturevalue("firefox").fresh() as opened:
        yield opened


@pytest.fixture
def flaky(site):
    flaky = Flaky(create_app(site.store, site.data, site.data.keys()))
    machine = Machine(flaky)
    site.url = f"http://127.0.0.1:{machine.port}"
    yield flaky
    machine.stop()


@pytest.mark.parametrize("how", [PORTAL, ABSENT], ids=["portal", "absent"])
def test_modules_that_fail_a_few_times_are_loaded_in_the_end(open_page, site, flaky, how):
    site.create("faces", images=2, feedback_ms=10, language="de", confidence="3")
    names = ("playing", "trials", "judgment_real_or_fake", "medium_picture", "text_de", "follow_ups", "mark")
    flaky.failing = {f"{name}.js": (2, how) for name in names}
    player = Player(open_page(), site)

    player.begin("faces")
    for key in "fj":
        player.wait("question")
        player.page.keyboard.press(key)
        player.page.wait_for_selector("body[data-screen=followup]")
        player.page.keyboard.press("2")
    player.wait("done")

    assert player.page.get_attribute("html", "lang") == "de"
    assert set(flaky.asked) == set(flaky.failing)


def test_a_language_that_fails_once_is_chosen_by_one_press(open_page, site, flaky):
    site.create("faces", images=2, language="choose")
    player = Player(open_page(), site)
    player.visit("faces")
    player.wait("consent")
    flaky.failing = {"text_fr.js": (1, ABSENT)}

    player.page.evaluate("[...document.querySelectorAll('nav button')].find(b => b.lang === 'fr').click()")
    player.page.wait_for_selector("html[lang=fr]")

    assert flaky.asked == ["text_fr.js"]
