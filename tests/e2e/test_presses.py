"""One press, one answer: of a picture that was seen, at the time of the press, and never the browser's."""

import time

import pytest

from .conftest import Player

BUSY = (
    """setTimeout(() => { const until = performance.now() + 2e3; while (performance.now() < until); }, 100)"""
)
PREVENTED = """(() => {
  window.prevented = {};
  addEventListener("keydown", ({ key, ctrlKey, defaultPrevented }) => {
    window.prevented[(ctrlKey ? "Control " : "") + key] = defaultPrevented;
  });
})()"""


def moved_to(player):
    return player.page.evaluate("window.openhype?.lastTrial?.trial_index ?? null")


@pytest.fixture
def at_first(player, site):
    """A study's first picture, on the screen for a while."""

    def begin(**settings):
        site.create("faces", **{"images": 4, "feedback": False, **settings})
        player.begin("faces")
        player.wait("question")
        return player

    return begin


@pytest.mark.core
@pytest.mark.parametrize("feedback", [True, False])
def test_a_press_sooner_than_a_picture_can_be_seen_is_ignored_and_the_next_counts(at_first, site, feedback):
    player = at_first(shortest_answer_ms=3000, feedback=feedback, feedback_ms=10)

    player.page.keyboard.press("f")
    player.page.click(".choices button >> nth=1")
    player.page.wait_for_timeout(200)
    early = moved_to(player)
    player.page.wait_for_timeout(3000)
    player.answer("j")

    _, cursor, (response,) = site.stored("faces")
    assert early is None
    assert cursor.trial_index == 1
    assert (response.response, response.flags) == ("real", ("early_press",))
    assert 3000 <= response.rt < 60000


def test_a_key_held_down_answers_once(at_first, site):
    player = at_first()

    player.act_and_move_on(lambda: player.page.keyboard.down("f"))
    for _ in range(5):
        player.page.keyboard.down("f")  # as an operating system repeats it
        player.page.wait_for_timeout(100)
    held = player.answers_stored("faces")
    player.page.keyboard.up("f")
    player.answer("f")

    assert held == 1
    assert player.answers_stored("faces") == 2


def test_a_click_that_began_on_another_picture_answers_none(at_first):
    player = at_first()
    box = player.page.locator(".choices button >> nth=0").bounding_box()
    player.page.mouse.move(box["x"] + 5, box["y"] + 5)
    player.page.mouse.down()
    player.answer("j")
    player.wait("question")

    player.page.mouse.up()
    player.page.wait_for_timeout(300)

    assert player.answers_stored("faces") == 1


def test_a_response_time_ends_with_the_press_however_late_a_busy_page_handles_it(at_first, site):
    player = at_first()
    player.page.wait_for_timeout(500)

    player.page.evaluate(BUSY)
    time.sleep(0.2)
    player.page.keyboard.press("f")
    player.page.wait_for_selector("body[data-screen=question]:has(.choices button:enabled)")

    response = site.stored("faces")[2][0]
    assert response.facts["handler_delay_ms"] >= 200
    assert response.rt + response.facts["handler_delay_ms"] >= 1000
    assert response.rt >= 500


def test_keys_of_a_trial_are_not_the_browsers_and_others_are(at_first):
    player = at_first()
    player.page.evaluate(PREVENTED)

    for key in ("d", "7", "'", "/", " ", "Control+d", "ArrowDown", "Tab"):
        player.page.keyboard.press(key)
    pressed = player.page.evaluate("window.prevented")

    assert pressed == {
        "d": True, "7": True, "'": True, "/": True, " ": True, "Control Control": False,
        "Control d": False, "ArrowDown": False, "Tab": False,
    }  # fmt: skip


def test_enter_held_from_the_screen_before_presses_nothing_on_the_next(player, site):
    site.create("faces", images=2)
    player.visit("faces")
    player.wait("consent")

    player.page.keyboard.down("Enter")
    player.wait("instructions")
    for _ in range(3):
        player.page.keyboard.down("Enter")
        player.page.wait_for_timeout(100)

    assert player.page.get_attribute("body", "data-screen") == "instructions"
    player.page.keyboard.up("Enter")
    player.press("instructions")
    player.wait("question")


def test_nothing_is_answered_once_the_picture_is_gone(page, site):
    site.create("faces", images=4)
    page.goto(f"{site.url}/timing.html")
    with page.expect_popup() as opened:  # a tab of its own, with nothing to go back to
        page.evaluate("open('/s/faces')")
    player = Player(opened.value, site)
    player.begin("faces")
    player.wait("question")
    player.page.go_back()
    player.page.click("button:text-is('Leave')")
    player.page.wait_for_selector("h1:text-is('See you later')")

    for key in ("f", "j", "1"):
        player.page.keyboard.press(key)
    player.page.wait_for_timeout(300)

    assert player.answers_stored("faces") == 0
    assert player.faults == []
    assert player.page.locator("#bar").is_hidden()


def test_who_tabs_to_a_button_finds_it_again_and_a_pointer_leaves_no_button_focused(at_first):
    player = at_first()
    focus = "document.activeElement.textContent"
    player.page.focus(".choices button >> nth=1")
    button = player.page.evaluate(focus)
    player.act_and_move_on(lambda: player.page.keyboard.press("Enter"))
    player.wait("question")
    by_keys = player.page.evaluate(focus)
    player.act_and_move_on(lambda: player.page.click(".choices button >> nth=0"))
    player.wait("question")

    assert by_keys == button
    assert player.page.evaluate("document.activeElement.tagName") == "H1"


@pytest.mark.parametrize("confidence", ["none", "3"])
def test_buttons_stand_as_the_keys_do_in_a_language_written_from_right_to_left(at_first, confidence):
    settings = {} if confidence == "none" else {"confidence": "3", "confidence_when": "with"}
    player = at_first(language="ar", **settings)

    fake, real = (
        player.page.evaluate(
            f"document.querySelectorAll('.choices.levels > .side, .choices > button')[{i}]"
            ".getBoundingClientRect().left"
        )
        for i in (0, 1)
    )

    assert fake < real
