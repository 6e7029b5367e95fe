"""Pairs of a real and a fake in a browser: by keyboard and pointer, on a phone, in Arabic, and flashed."""

import pytest

from backend.experiment.session import stimulus_at

from .test_accessibility import HOLDS_FEEDBACK, look, violations

WARMTHS = """() => {
  const canvas = document.querySelector(".stage canvas");
  const pen = canvas.getContext("2d");
  const [width, height] = [canvas.width, canvas.height];
  return [height / 2, width - height / 2].map((x) => {
    const [r, , b] = pen.getImageData(Math.floor(x), Math.floor(height / 2), 1, 1).data;
    return r - b;
  });
}"""
BOXES = """() => {
  const box = (each) => each.getBoundingClientRect().toJSON();
  const { scrollHeight, scrollWidth } = document.documentElement;
  return {
    stage: box(document.querySelector(".stage canvas")),
    buttons: [...document.querySelectorAll(".choices button")].map(box),
    window: { scrolls: scrollHeight > innerHeight, overflows: scrollWidth > innerWidth },
  };
}"""

WINDOWS_PX = [(1280, 800), (390, 844), (320, 568), (844, 390), (667, 375), (1024, 600)]


def warm_side(page):
    """Return on which side the real picture is, which is warm where fakes are cold."""
    left, right = page.evaluate(WARMTHS)
    assert (left > 0) != (right > 0)
    return "left" if left > 0 else "right"


def planned_sides(site, study):
    session, _, _ = site.stored(study)
    return [truth for block in session.blocks for truth in block.truths]


@pytest.mark.core
def test_a_session_by_keyboard(player, site):
    site.create("pairs", "pair", images=4, feedback_ms=50)
    player.visit("pairs")
    player.wait("consent")
    assert "4 pairs" in player.page.inner_text("main")
    assert "pairs of pictures, side by side" in player.page.inner_text("main")
    player.press("consent")
    player.wait("instructions")
    assert "press F if the left one is real or J if the right one is real" in player.page.inner_text("main")
    player.press("instructions")

    sides = []
    for i in range(4):
        player.wait("question")
        if i == 0:
            assert player.heading() == "Which one is real?"
            assert player.page.inner_text(".choices").split() == ["Left", "F", "Right", "J"]
            assert player.page.inner_text("#progress") == "Pair 1 of 4"
            assert player.page.title() == "Which one is real?"
        sides.append(warm_side(player.page))
        keys = {"left": ("f", "ArrowLeft"), "right": ("j", "ArrowRight")}[sides[-1]]
        player.answer(keys[i % 2])
    player.wait("done")

    assert "4 of 4" in player.page.inner_text("main")
    assert sides == planned_sides(site, "pairs")
    assert [response.response for response in site.stored("pairs")[2]] == sides


@pytest.mark.parametrize("size", [64, 256])
def test_both_pictures_and_both_buttons_are_in_view(player, site, size):
    site.create("pairs", "pair", images=2, feedback_ms=50, size_px=size)
    player.visit("pairs")
    player.press("consent")
    player.wait("instructions")

    for width, height in WINDOWS_PX:
        look(player.page, width, "light", height)
        player.page.reload()  # pictures are fitted to the window when a block begins
        player.press("instructions")
        player.wait("question")
        found = player.page.evaluate(BOXES)

        stage, (left, right), window = found["stage"], found["buttons"], found["window"]
        assert (window["scrolls"], window["overflows"]) == (False, False), (width, height)
        assert min(stage["left"], stage["top"]) >= 0
        assert stage["right"] <= width
        assert max(left["bottom"], right["bottom"]) <= height
        middle = (stage["left"] + stage["right"]) / 2
        assert left["right"] <= middle <= right["left"]
        assert stage["bottom"] <= left["top"]


@pytest.mark.core
def test_a_session_by_pointer_on_a_phone_with_feedback_is_accessible(player, site):
    site.create("pairs", "pair", images=2, feedback_ms=20)
    player.page.set_viewport_size({"width": 390, "height": 844})
    player.page.add_init_script(HOLDS_FEEDBACK)
    found = {}
    player.visit("pairs")
    player.wait("consent")
    found["consent"] = violations(player.page)
    player.page.click("main .primary")
    player.wait("instructions")
    found["instructions"] = violations(player.page)
    player.page.click("main .primary")
    for i in range(2):
        player.wait("question")
        found["question"] = violations(player.page)
        side = warm_side(player.page)
        other = {"left": "right", "right": "left"}[side]
        player.page.click(f".choices button:has-text('{(side if i else other).title()}')")
        player.wait("feedback")
        found["feedback"] = violations(player.page)
        told = f"✓ Right: the {side} one is real" if i else f"✗ Not this time: the {side} one is real"
        assert player.page.inner_text(".verdict") == told
        player.page.evaluate("endFeedback()")
        player.wait_past("feedback")
    player.wait("done")

    assert {screen: broken for screen, broken in found.items() if broken} == {}
    assert "1 of 2" in player.page.inner_text("main")


@pytest.mark.parametrize("confidence", ["after", "with"])
def test_left_is_left_in_arabic_too(player, site, confidence):
    site.create("pairs", "pair", images=3, language="ar", confidence="4", confidence_when=confidence)
    player.begin("pairs")
    given = []
    for _ in range(3):
        player.wait("question") if confidence == "after" else player.page.wait_for_selector(
            "body[data-screen=question] .levels button:enabled"
        )
        assert player.page.get_attribute("html", "dir") == "rtl"
        assert violations(player.page) == []
        side = warm_side(player.page)
        given.append(side)
        boxes = [each.bounding_box()["x"] for each in player.page.locator(".choices > *").all()]
        assert boxes == sorted(boxes), "the first answer, left, stands left"
        if confidence == "after":
            player.page.locator(".choices button").nth(int(side == "right")).click()
            player.page.click("body[data-screen=followup] .points button >> nth=1")
        else:
            player.page.keyboard.press("f" if side == "left" else "j")
            player.page.keyboard.press("2")
        player.page.wait_for_function("n => window.openhype?.lastTrial?.trial_index >= n - 1", arg=len(given))
    player.wait("done")

    responses = site.stored("pairs")[2]
    assert [response.response for response in responses] == given == planned_sides(site, "pairs")
    assert [response.facts["confidence"] for response in responses] == [2, 2, 2]


@pytest.mark.alone
def test_a_timed_pair_flashes_both_pictures_and_masks_both_as_planned(player, site):
    site.create("pairs", "pair", images=4, feedback_ms=50, spare_images=56, exposures_ms="200", masks="phase")
    player.visit("pairs")
    player.wait("consent")
    assert "This task flashes pictures" in player.page.inner_text("main")
    player.press("consent")
    player.press("instructions")
    player.page.wait_for_selector("h1:text-is('Ready?')", timeout=60000)
    assert "The pictures are shown once, at the same time" in player.page.inner_text("main")
    player.press("instructions")

    player.play_flashes("done")

    session, cursor, responses = site.stored("pairs")
    shown = [
        each for each in responses if each.stimulus == stimulus_at(session, cursor, each.trial_index).stimulus
    ]
    assert [each.trial_index for each in shown] == [0, 1, 2, 3]
    for each in shown:
        assert each.timing.evidence == "element"
        assert each.timing.planned_frames[3:] == each.timing.achieved_frames[3:]
        assert len(each.timing.planned_frames) == 3 + 1 + 4
        assert abs(each.shown_ms - 200) <= each.frame_ms
