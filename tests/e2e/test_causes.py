"""Why flashes cannot be shown, in real browsers: the words are those of the cause."""

import pytest

from .conftest import FLASHES_GO_WRONG, Player
from .test_engines import WINDOW_PX, skip_without

UNFIT = "h1:text-is('This device cannot show the task')"
EVERY_OTHER_FRAME = """{
  const raf = requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (tick) => (window.isSlow ? raf(() => raf(tick)) : raf(tick));
}"""


@pytest.mark.alone
def test_a_display_that_becomes_slow_within_a_block_is_told_and_the_block_goes_on_once_it_is_fit(
    player, site
):
    site.create("glimpse", "time", images=4, blocks=1, spare_images=100, countdown_ms=500, feedback_ms=50)
    page = player.page
    page.add_init_script(EVERY_OTHER_FRAME)
    player.begin("glimpse")
    player.start_flashes()
    player.answer("f")
    for frame in page.frames:
        frame.evaluate("window.isSlow = true")
    while player.wait("question", "check") == "question":  # a busy machine does not notice it at once
        player.answer("j")
    if player.heading() == FLASHES_GO_WRONG:
        page.keyboard.press("Enter")
    page.wait_for_selector(UNFIT)
    told = page.inner_text("main")
    for frame in page.frames:
        frame.evaluate("window.isSlow = false")
    page.keyboard.press("Enter")

    assert player.play_flashes("done") == "done"
    assert "pictures a second, evenly" in told or "too busy" in told  # the machine may be, too
    assert "Every answer so far is stored" in told


def test_firefox_that_resists_fingerprinting_is_told_of_its_clock(site):
    skip_without("Firefox")
    from tests.engines.firefox import firefox

    site.create("glimpse", "time", images=4, blocks=1, spare_images=2)
    settings = {"privacy.resistFingerprinting": True}
    with firefox(*WINDOW_PX, settings=settings) as browser, browser.fresh() as open_page:
        player = Player(open_page(), site)
        player.visit("glimpse")
        player.page.wait_for_selector(UNFIT)
        told = player.page.inner_text("main")

    assert "Your browser rounds its clock too coarsely" in told
