"""What a visit loads of the page: what its study has, before the first trial, though the network may fail."""

import pytest

FLASHES = {"flash.js", "presenter.js", "staircase.js", "fitness.js"}
FLASH = ("countdown", "stimulus", "mask", "question")
"""Screens of which one is seen, however late a busy machine looks."""
WORKER = "presenter_worker.js"
FOLLOW_UPS = {"follow_ups.js", "confidence.js", "mark.js"}


@pytest.fixture
def loaded(page):
    """The names of the page's own files requested so far, in order."""
    names = []
    page.on("request", lambda request: "/assets/" in request.url and names.append(request.url.split("/")[-1]))
    return names


@pytest.fixture
def cut(page):
    """Cut a file off; returns a function that brings it back."""

    def cut_off(name):
        attempts = []

        def lose(route):
            attempts.append(name)
            route.abort("connectionreset")

        page.route(f"**/{name}", lose)
        return attempts, lambda: page.unroute(f"**/{name}")

    return cut_off


def test_a_visit_without_flashes_and_questions_loads_nothing_of_these(player, site, loaded):
    site.create("faces", images=4, blocks=1, feedback_ms=20)
    player.begin("faces")
    for key in "fjfj":
        player.answer(key)
    player.wait("done")

    assert {"playing.js", "trials.js", "endings.js"} <= {*loaded}
    assert {*loaded} & (FLASHES | FOLLOW_UPS | {WORKER, "debrief.js", "questions.js"}) == set()


def test_what_timed_trials_need_is_there_before_the_first(player, site, loaded):
    site.create(
        "glimpse", "time", images=6, blocks=1, spare_images=60, countdown_ms=500, feedback_ms=50,
        confidence="5", debrief="true", bonus_usd_cents=0,
    )  # fmt: skip
    player.begin("glimpse")
    player.page.wait_for_selector("h1:text-is('Ready?')", timeout=60000)
    ready = {*loaded}
    player.start_flashes()
    player.wait(*FLASH)
    begun = len(loaded)
    player.wait("question")
    player.page.keyboard.press("f")
    player.wait("followup")
    player.page.keyboard.press("3")
    player.wait(*FLASH)

    assert ready >= FLASHES | FOLLOW_UPS | {"debrief.js"}
    assert WORKER in loaded
    assert loaded[begun:] == []


@pytest.mark.parametrize(
    ("name", "settings"),
    [("flash.js", {"method": "time", "spare_images": 60, "countdown_ms": 100}),
     ("planner.js", {"method": "time", "spare_images": 60, "countdown_ms": 100}),
     ("follow_ups.js", {"confidence": "5"}), ("mark.js", {"confidence": "5"}), ("trials.js", {})],
)  # fmt: skip
def test_what_the_network_lost_is_loaded_again_before_the_instructions(player, site, cut, name, settings):
    site.create("faces", images=4, blocks=1, feedback_ms=20, **settings)
    attempts, restore = cut(name)
    player.visit("faces")
    player.press("consent")
    player.page.wait_for_selector("#notice:not(:empty)")
    told = player.page.inner_text("#notice")
    restore()
    player.press("instructions")

    assert "The server cannot be reached" in told
    assert len(attempts) > 1
    player.wait("question", "instructions")
