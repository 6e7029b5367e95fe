"""Confidence, reasons, comments, marks by keyboard, mouse and touch: what is stored is what was done."""

import pytest

from backend.experiment.follow_ups import COLUMNS

from .conftest import eventually
from .test_accessibility import look, violations, violations_in_looks

REASONS = "Hands|Text in the picture|Light and shadow"
STORED = "window.openhype?.lastTrial && 'was_correct' in window.openhype.lastTrial"


@pytest.fixture
def started(player, site):
    """Begin a study of two pictures that asks for more than the judgment."""

    def start(size=None, **settings):
        site.create("faces", images=2, feedback_ms=50, **settings)
        if size:
            player.page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
        player.begin("faces")
        player.wait("question")
        return player

    return start


def shown(player):
    player.page.wait_for_selector("body[data-screen=followup]")
    return player.heading()


def asked_of(response):
    """Return what an evaluator was asked besides the judgment."""
    return {name: fact for name, fact in response.facts.items() if name in COLUMNS}


def facts(player, site, count=1):
    """Return the follow-ups of the answers, once there are so many."""
    eventually(player.page, lambda: player.answers_stored("faces") >= count)
    return [asked_of(response) for response in site.stored("faces")[2]]


def picture_box(player):
    box = player.page.locator(".stage canvas").bounding_box()
    return box["x"], box["y"], box["width"], box["height"]


def at(player, x, y):
    """Return the place (CSS px) that is x and y (0 to 1) of the picture from its upper left."""
    left, top, width, height = picture_box(player)
    return left + x * width, top + y * height


@pytest.mark.core
def test_confidence_is_asked_after_the_answer_and_stored_with_it(started, site):
    player = started(confidence="5")
    before = picture_box(player)
    player.page.keyboard.press("f")

    heading = shown(player)
    assert heading == "How sure are you?"
    assert site.stored("faces")[2] == []
    assert picture_box(player) == before
    assert player.page.inner_text(".verdict") == ""
    player.page.keyboard.press("j")  # the answer is given
    player.page.keyboard.press("6")
    player.page.keyboard.press("0")
    assert player.page.get_attribute("body", "data-screen") == "followup"
    player.page.keyboard.press("4")
    player.wait("question")
    assert player.heading() == "Real or fake?"
    player.page.keyboard.press("r")
    shown(player)
    player.page.click(".points button:text-is('1')")
    player.wait("done")

    first, second = site.stored("faces")[2]
    assert [first.response, second.response] == ["fake", "real"]
    assert [first.facts["confidence"], second.facts["confidence"]] == [4, 1]
    assert 0 < first.facts["confidence_rt"] < 60000


def test_right_or_wrong_is_told_after_the_follow_ups(player, site):
    site.create("faces", images=2, feedback_ms=2000, confidence="2")
    player.begin("faces")
    player.wait("question")
    player.page.keyboard.press("f")
    shown(player)
    player.page.wait_for_timeout(300)
    early = player.page.inner_text(".verdict")
    player.page.keyboard.press("2")
    player.wait("feedback")

    assert early == ""
    assert player.page.inner_text(".verdict")
    assert player.page.locator("button.given").inner_text().lower().startswith("fake")


def test_a_slider_suggests_nothing_and_goes_where_it_is_put(started, site):
    player = started(confidence="slider")
    player.page.keyboard.press("f")
    shown(player)
    player.page.keyboard.press("Enter")
    assert player.page.get_attribute("body", "data-screen") == "followup"
    assert player.page.is_disabled(".follow-up .primary")
    assert player.page.get_attribute("input[type=range]", "aria-valuetext") == "No place chosen yet"
    for key in ("End", "PageDown", "ArrowLeft"):
        player.page.keyboard.press(key)
    value = int(player.page.input_value("input[type=range]"))
    player.page.keyboard.press("Enter")
    player.wait("question")
    player.page.keyboard.press("f")
    shown(player)
    box = player.page.locator("input[type=range]").bounding_box()
    player.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    player.page.click(".follow-up .primary")
    player.wait("done")

    first, second = facts(player, site, 2)
    assert first["confidence"] == value < 95
    assert second["confidence"] == pytest.approx(50, abs=1)


def test_one_press_gives_answer_and_confidence(started, site):
    player = started(confidence="4", confidence_when="with")
    labels = player.page.evaluate("[...document.querySelectorAll('.points button')].map((b) => b.ariaLabel)")
    assert labels[:4] == [f"Fake: {level} of 4" for level in (4, 3, 2, 1)]
    assert labels[4:] == [f"Real: {level} of 4" for level in (1, 2, 3, 4)]
    player.page.click("button[aria-label='Real: 3 of 4']")
    player.wait_past("question")
    player.wait("question")
    player.page.keyboard.press("2")  # of no side yet
    player.page.keyboard.press("f")
    player.page.keyboard.press("4")
    player.wait("done")

    first, second = site.stored("faces")[2]
    assert [(first.response, asked_of(first)), (second.response, asked_of(second))] == [
        ("real", {"confidence": 3}),
        ("fake", {"confidence": 4}),
    ]


def test_reasons_and_a_comment_by_keyboard_and_by_pointer(started, site):
    player = started(reasons=REASONS, comment="optional")
    player.page.keyboard.press("f")
    assert shown(player) == "Why do you think so?"
    player.page.keyboard.press("1")
    player.page.keyboard.press("3")
    player.page.keyboard.press("1")
    player.page.keyboard.press("Tab")
    player.page.keyboard.press("Tab")
    player.page.keyboard.press("Space")
    player.page.keyboard.press("Tab")
    player.page.keyboard.press("Tab")
    player.page.keyboard.insert_text(" <b>3</b> thumbs\u0007 1 ")
    player.page.keyboard.press("1")  # a digit of the comment, no reason
    player.page.keyboard.press("Enter")
    player.wait("question")
    player.page.keyboard.press("f")
    shown(player)
    player.page.click("label:has-text('Light and shadow')")
    player.page.click(".follow-up .primary")
    player.wait("done")

    assert facts(player, site, 2) == [
        {"reasons": [2, 3], "comment": "<b>3</b> thumbs  1 1"},
        {"reasons": [3]},
    ]


def test_reasons_are_asked_after_the_answers_that_they_are_for(started, site):
    player = started(reasons=REASONS, reasons_for="real", mark="click")
    player.page.keyboard.press("r")
    assert shown(player) == "Why do you think so?"
    player.page.keyboard.press("Enter")
    player.wait("question")
    player.page.keyboard.press("f")
    assert shown(player) == "Where does it look fake?"
    player.page.keyboard.press("Enter")  # no particular place
    player.wait("done")

    assert facts(player, site, 2) == [{"reasons": []}, {}]


def test_a_required_comment_is_waited_for(started, site):
    player = started(comment="required")
    player.page.keyboard.press("f")
    shown(player)
    player.page.keyboard.press("Enter")
    player.page.fill(".comment input", "   ")
    assert player.page.is_disabled(".follow-up .primary")
    player.page.fill(".comment input", "é" * 400)
    player.page.keyboard.press("Enter")

    assert facts(player, site) == [{"comment": "é" * 300}]


def test_a_place_is_marked_by_pointer_and_by_keyboard(started, site):
    player = started(mark="click")
    player.page.keyboard.press("f")
    shown(player)
    player.page.mouse.click(*at(player, 0.1, 0.9))
    player.page.mouse.click(*at(player, 0.25, 0.8))
    assert "25% from the left, 80% from the top" in player.page.inner_text(".hint")
    player.page.click(".follow-up .primary")
    player.wait("question")
    player.page.keyboard.press("f")
    shown(player)
    for key in ("Shift+ArrowRight", "ArrowRight", "Shift+ArrowUp", "ArrowUp", "ArrowUp"):
        player.page.keyboard.press(key)
    player.page.keyboard.press("Enter")
    assert player.page.get_attribute("body", "data-screen") == "followup"
    player.page.keyboard.press("Enter")
    player.wait("done")

    first, second = facts(player, site, 2)
    assert first["mark"] == pytest.approx([250, 800], abs=5)
    assert second["mark"] == [560, 430]


def test_a_box_is_dragged_or_given_by_two_corners(started, site):
    player = started(mark="box", mark_needed="required")
    player.page.keyboard.press("f")
    shown(player)
    assert player.page.locator("text=No particular place").count() == 0
    player.page.keyboard.press("Enter")
    player.page.mouse.move(*at(player, 0.7, 0.6))
    player.page.mouse.down()
    player.page.mouse.move(*at(player, 0.5, 0.5), steps=3)
    player.page.mouse.move(*at(player, 0.2, -0.3), steps=3)  # beyond the picture
    player.page.mouse.up()
    player.page.click(".follow-up .primary")
    player.wait("question")
    player.page.keyboard.press("f")
    shown(player)
    player.page.mouse.click(*at(player, 0.1, 0.2))
    assert player.page.inner_text(".hint") == "Now the opposite corner."
    player.page.mouse.click(*at(player, 0.4, 0.8))
    player.page.click(".follow-up .primary")
    player.wait("done")

    first, second = facts(player, site, 2)
    assert first["mark"] == pytest.approx([200, 0, 500, 600], abs=5)
    assert second["mark"] == pytest.approx([100, 200, 300, 600], abs=5)


def test_a_box_by_keyboard(started, site):
    player = started(mark="box")
    player.page.keyboard.press("f")
    shown(player)
    for key in ("ArrowLeft", "Enter", "Shift+ArrowRight", "Enter", "Shift+ArrowDown", "Enter", "Enter"):
        player.page.keyboard.press(key)

    assert facts(player, site) == [{"mark": [490, 500, 50, 50]}]


def test_everything_in_turn_on_a_phone_by_touch(browser, site):
    site.create(
        "faces", images=2, feedback_ms=50, confidence="7", confidence_when="with", reasons=REASONS,
        comment="optional", mark="box",
    )  # fmt: skip
    with browser.new_context(has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}) as phone:
        page = phone.new_page()
        page.goto(f"{site.url}/s/faces")
        for screen in ("consent", "instructions"):
            page.wait_for_selector(f"body[data-screen={screen}] main .primary")
            page.tap("main .primary")
        page.wait_for_selector("body[data-screen=question] .choices button:enabled")
        small = [too_small(page)]
        page.tap("button[aria-label='Fake: 7 of 7']")
        page.wait_for_selector("text=Where does it look fake?")
        small.append(too_small(page))
        left, top, width, height = page.locator(".stage canvas").bounding_box().values()
        page.touchscreen.tap(left + 0.3 * width, top + 0.3 * height)
        page.touchscreen.tap(left + 0.6 * width, top + 0.7 * height)
        page.tap(".follow-up .primary")
        page.wait_for_selector("text=Why do you think so?")
        small.append(too_small(page))
        page.tap("label:has-text('Hands')")
        page.tap(".follow-up .primary")
        page.wait_for_selector("body[data-screen=question] .choices button:enabled")
        page.tap("button[aria-label='Real: 1 of 7']")
        page.wait_for_selector("body[data-screen=done]")

    first, second = (asked_of(response) for response in site.stored("faces")[2])
    assert small == [[], [], []]
    assert first["mark"] == pytest.approx([300, 300, 300, 400], abs=10)
    assert {name: first[name] for name in ("confidence", "reasons")} == {"confidence": 7, "reasons": [1]}
    assert second == {"confidence": 1}


def too_small(page):
    """Return what is smaller than 24 px, or sticks out at a side, on the present screen."""
    return page.evaluate(
        """[...document.querySelectorAll('main :is(button, label, input:not([type=checkbox]))')]
          .map((each) => ({name: each.innerText || each.ariaLabel, at: each.getBoundingClientRect()}))
          .filter(({at}) => Math.min(at.width, at.height) < 24 || at.left < 0 || at.right > innerWidth)
          .map(({name}) => name)"""
    )


def test_a_page_that_is_closed_before_the_follow_up_asks_the_trial_again(started, site):
    player = started(confidence="5")
    player.page.keyboard.press("f")
    shown(player)
    player.page.reload()
    player.press("instructions")
    player.wait("question")
    assert site.stored("faces")[2] == []
    player.page.keyboard.press("r")
    shown(player)
    player.page.keyboard.press("5")

    assert facts(player, site)[0]["confidence"] == 5
    assert site.stored("faces")[2][0].response == "real"


def test_a_flash_is_followed_by_questions_without_the_picture(player, site):
    site.create(
        "glimpse", "time", images=2, blocks=1, spare_images=100, countdown_ms=100, feedback_ms=50,
        confidence="3", reasons=REASONS,
    )  # fmt: skip
    player.begin("glimpse")
    player.start_flashes()
    while player.wait("question", "done") == "question":
        player.page.keyboard.press("f")
        shown(player)
        player.page.keyboard.press("3")
        player.page.wait_for_selector("text=Why do you think so?")
        player.page.keyboard.press("2")
        player.act_and_move_on(lambda: player.page.keyboard.press("Enter"))

    _, cursor, responses = site.stored("glimpse")
    assert cursor.state == "finished"
    assert {response.facts["confidence"] for response in responses} == {3}
    assert all(response.facts["reasons"] == [2] for response in responses)


@pytest.mark.core
@pytest.mark.parametrize(
    "confidence", ["7", pytest.param("slider", marks=pytest.mark.slow("asks everything once more"))]
)
def test_every_question_is_accessible_and_no_wider_than_the_window(started, confidence):
    player = started((360, 740), confidence=confidence, reasons=REASONS, comment="optional", mark="box")
    page, found = player.page, {}

    def check(heading, width):
        page.wait_for_selector(f"h1:text-is({heading!r})")
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        looks = [(width, scheme) for scheme in ("light", "dark")]
        found[heading, width] = (violations_in_looks(page, looks), overflow)

    for width in (360, 1280):
        page.keyboard.press("f")
        shown(player)
        check("How sure are you?", width)
        if confidence == "slider":
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter" if confidence == "slider" else "3")
        page.wait_for_selector("text=Where does it look fake?")
        for key in ("ArrowRight", "Enter", "Shift+ArrowRight", "Shift+ArrowDown", "Enter"):
            page.keyboard.press(key)
        check("Where does it look fake?", width)
        page.keyboard.press("Enter")
        page.wait_for_selector("text=Why do you think so?")
        page.keyboard.press("1")
        check("Why do you think so?", width)
        look(page, 1280, "light", 800)  # the second picture is fitted to it
        player.act_and_move_on(lambda: page.keyboard.press("Enter"))
        player.wait("question", "done")

    assert len(found) == 6
    assert {screen: bad for screen, bad in found.items() if bad != ({}, 0)} == {}


def test_answers_with_confidence_are_accessible(started):
    player = started((360, 740), confidence="7", confidence_when="with")
    narrow = violations(player.page)
    player.page.keyboard.press("f")
    chosen = violations(player.page)

    assert (narrow, chosen) == ([], [])


@pytest.mark.parametrize("stray", ["tap", "cancel"])
def test_a_stray_touch_does_not_spoil_the_box_that_is_dragged_next(started, site, stray):
    player = started(mark="box")
    player.page.keyboard.press("f")
    player.page.wait_for_selector(".marking")
    place = player.page.locator(".marking").bounding_box()
    at = lambda x, y: (place["x"] + place["width"] * x, place["y"] + place["height"] * y)  # noqa: E731
    player.page.mouse.move(*at(0.9, 0.9))
    player.page.mouse.down()
    if stray == "cancel":
        player.page.evaluate("document.querySelector('.marking').dispatchEvent(new Event('pointercancel'))")
    player.page.mouse.up()

    player.page.mouse.move(*at(0.2, 0.3))
    player.page.mouse.down()
    player.page.mouse.move(*at(0.4, 0.5))
    player.page.mouse.move(*at(0.5, 0.7))
    player.page.mouse.up()
    player.page.keyboard.press("Enter")

    assert facts(player, site)[0]["mark"] == pytest.approx([200, 300, 300, 400], abs=10)
