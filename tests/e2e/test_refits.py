"""A phone is turned while a picture, or a row of them, is judged: it fits again, with what lies on it."""

import pytest

from .test_mixed_sessions import made as mixed
from .test_tournaments import made as tournament
from .test_window_fit import SEEN

WIDE = {"width": 844, "height": 390}
HIGH = {"width": 390, "height": 844}
MARKED = """(() => {
  const [stage, box] = [".stage canvas", ".marking .box"].map((each) =>
    document.querySelector(each).getBoundingClientRect());
  return ["left", "top", "right", "bottom"].map((side, i) =>
    Math.round((1000 * (box[side] - stage[i % 2 ? "top" : "left"])) / stage[i % 2 ? "height" : "width"]));
})()"""


def begin(player, study):
    player.page.set_viewport_size(HIGH)
    player.begin(study)
    player.wait("question")


def turn(player, size):
    """Turn the phone; return the width of the canvas once it has changed."""
    width = player.page.evaluate("document.querySelector('.stage canvas').width")
    player.page.set_viewport_size(size)
    player.page.wait_for_selector(f".stage canvas:not([width='{width}'])")
    seen = player.page.evaluate(SEEN)
    assert seen["whole"]
    assert seen["seen_px"] == seen["canvas_px"]
    return seen["canvas_px"]


@pytest.mark.parametrize("method", ["pair", "tournament", "mixed"])
def test_rows_of_pictures_fit_a_phone_that_is_turned_and_the_answer_says_so(player, site, tmp_path, method):
    sized = {"images": 6, "feedback_ms": 20, "size_px": 512}
    if method == "pair":
        site.create("faces", "pair", **sized)
    else:
        (tournament if method == "tournament" else mixed)(site, tmp_path, "faces", **sized)
    begin(player, "faces")
    before = player.page.evaluate(SEEN)["canvas_px"]
    turn(player, WIDE)
    player.answer("f")
    player.wait("question")
    again = turn(player, HIGH)
    player.answer("j")
    player.wait("question")

    assert again == before
    _, _, stored = site.stored("faces")
    assert [response.flags for response in stored] == [("resized",), ("resized",)]


def test_a_drawn_box_stays_on_the_same_part_of_the_picture(player, site):
    site.create("faces", images=2, feedback_ms=20, size_px=512, mark="box")
    begin(player, "faces")
    player.page.keyboard.press("f")
    player.page.wait_for_selector(".marking")
    x, y, width, height = player.page.locator(".stage canvas").bounding_box().values()
    player.page.mouse.move(x + 0.2 * width, y + 0.3 * height)
    player.page.mouse.down()
    player.page.mouse.move(x + 0.5 * width, y + 0.7 * height, steps=3)
    player.page.mouse.up()
    drawn = player.page.evaluate(MARKED)
    turn(player, WIDE)

    assert drawn == pytest.approx([200, 300, 500, 700], abs=8)
    assert player.page.evaluate(MARKED) == pytest.approx(drawn, abs=8)
