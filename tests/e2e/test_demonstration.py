"""A demo in a browser that shows few flashes or none: it ends with a result, advice and a way on."""

import re

import pytest

from backend.commands import demo_studies as studies
from backend.commands.demo_making import Making
from backend.commands.demo_page import add_pages
from backend.experiment.session import MISTIMED_BEFORE_ASKING
from backend.handlers import create_app
from backend.web.server import in_background

from .test_accessibility import LOOKS, look, violations
from .test_site import demo  # noqa: F401
from .test_task import DOUBTS, HIDDEN_DURING_FLASHES

FLASHES = {
    "images": 6, "blocks": 1, "spare_images": 20, "countdown_ms": 60, "feedback_ms": 20,
    "full_screen": "false", "bonus_usd_cents": 0, "debrief": "true", "repeat_visits": "true", "panel": "link",
}  # fmt: skip


@pytest.fixture
def served(site):
    """Serve small sample studies as `openhype demo` does."""
    for sample in studies.SAMPLES:
        of_time = FLASHES if sample.method == "time" else {**FLASHES, "images": 2, "spare_images": 0}
        site.create(sample.name, sample.method, **of_time)
    making = Making(site.store, "sqlite:///openhype.db", site.data, lambda *_: None)
    app = create_app(site.store, site.data, site.data.keys())
    add_pages(app, site.data, making)
    with in_background(app) as url:
        site.url = url
        yield f"{url}/s/flashes"


def fail_every_flash(page):
    def broken(route):
        reply = route.fetch()
        route.fulfill(response=reply, body=DOUBTS.sub(r"\1 = -1", reply.text()))

    page.route(re.compile("planner.js"), broken)


def stop(player, shown=0):
    """Answer flashes, so many of which are shown, until the page asks whether to go on; then stop."""
    player.press("consent")
    player.press("instructions")
    player.start_flashes()
    judged = in_a_row = 0
    while judged < shown or in_a_row < MISTIMED_BEFORE_ASKING:
        if in_a_row == MISTIMED_BEFORE_ASKING:  # of its own a busy machine
            player.page.click("button:text-is('Try again')")
            in_a_row = 0
        player.page.evaluate(f"window.fails = {str(judged >= shown).lower()}")
        player.page.wait_for_selector("body[data-screen=question] .choices button:enabled")
        assert player.page.inner_text("#progress") == f"Picture {judged + 1} of 6"
        player.answer("f")
        was_replaced = player.page.evaluate("openhype.lastTrial.was_replaced")
        judged += not was_replaced
        in_a_row = in_a_row + 1 if was_replaced else 0
    player.page.click("button:text-is('Stop here')")
    player.wait("done")
    player.page.wait_for_selector("main .primary")


def play_without_flashes(player, pictures):
    player.page.click("button:text-is('Play without flashes')")
    player.press("consent")
    player.press("instructions")
    for _ in range(pictures):
        player.answer("f")
    player.wait("done")
    player.page.wait_for_selector("tr.yours")


@pytest.mark.core
def test_a_demo_without_a_single_flash_offers_to_play_without_them(player, served):
    fail_every_flash(player.page)
    player.page.goto(served)
    stop(player)
    found = []
    for width, scheme in LOOKS:
        look(player.page, width, scheme)
        found += violations(player.page)
        assert player.page.evaluate("document.documentElement.scrollWidth") == width

    assert player.heading() == "No result this time"
    assert "any of its 6 pictures" in player.page.inner_text("main")
    assert player.page.locator("#code").count() == 0
    assert found == []
    assert player.page.locator("text=Back to the start page").count() == 1

    play_without_flashes(player, pictures=2)
    assert player.page.url.endswith("/s/photos#demo")


@pytest.mark.alone
def test_a_demo_that_ends_early_gives_the_result_of_what_was_shown(player, served):
    hidden = HIDDEN_DURING_FLASHES.replace('!== "stimulus"', '!== "stimulus" || !window.fails')
    player.page.add_init_script(hidden)
    player.page.goto(served)
    stop(player, shown=2)

    text = player.page.inner_text("main")
    wrong = player.page.locator(".gallery > ul > li").count()
    shown = player.page.locator(".gallery li").count()
    assert player.heading() == f"You got {2 - wrong} of 2 right: {50 * (2 - wrong)}%"
    assert (shown, "2 of 6 pictures" in text) == (2, True)
    assert "the window was hidden" in text
    assert "Too many pictures could not be shown" not in text
    assert violations(player.page) == []
    player.page.click("button:text-is('Take part again')")
    player.wait("consent")


def test_a_demo_of_plain_files_does_so_too(player, demo):  # noqa: F811
    fail_every_flash(player.page)
    player.page.goto(demo("glimpse", "time", **{**FLASHES, "panel": player.site.record}))
    stop(player)

    assert player.heading() == "No result this time"
    assert "Nothing was recorded or sent" in player.page.inner_text("main")
    play_without_flashes(player, pictures=6)
    assert "of 6" in player.page.inner_text("dl")


def test_a_phone_is_offered_the_demo_without_flashes_and_a_smaller_window_the_result(player, served):
    player.page.goto(served)
    player.press("consent")
    player.wait("instructions")
    look(player.page, 390, "light")
    player.page.click("main .primary")
    player.page.click("button:text-is('Stop here')")
    player.wait("done")
    player.page.wait_for_selector("text=No result this time")
    player.page.goto(f"{player.site.url}/s/photos")  # nothing asks whether to leave
    player.wait("consent")
    player.page.evaluate("localStorage.clear()")

    player.page.goto(served)
    player.page.wait_for_selector("text=The task needs a computer")
    assert violations(player.page) == []
    play_without_flashes(player, pictures=2)
