"""Windows that change while pictures are judged, and systems and extensions that paint over them."""

import pytest

from backend.experiment.session import is_mistimed

from .conftest import Player
from .test_engines import skip_without

SEEN = """(() => {
  const { left, top, right, bottom } = document.querySelector(".stage canvas").getBoundingClientRect();
  const { offsetLeft: x, offsetTop: y, width, height, scale } = visualViewport;
  return {
    whole: left >= x - 1 && top >= y - 1 && right <= x + width + 1 && bottom <= y + height + 1,
    seen_px: Math.round((right - left) * scale * devicePixelRatio),
    canvas_px: document.querySelector(".stage canvas").width,
    surround: getComputedStyle(document.body).backgroundColor,
  };
})()"""
GRAY = (128, 128, 128)


def pinch(page, scale):
    page.context.new_cdp_session(page).send("Emulation.setPageScaleFactor", {"pageScaleFactor": scale})


def wait_fitted(page, px):
    page.wait_for_selector(f".stage canvas[width='{px}']")


@pytest.mark.core
def test_a_picture_fits_again_whatever_happens_to_the_window_and_its_size_is_stored(player, site):
    page = player.page
    site.create("faces", images=6, feedback_ms=20, size_px=512)
    player.begin("faces")
    player.wait("question")
    assert page.evaluate(SEEN) == {
        "whole": True, "seen_px": 512, "canvas_px": 512, "surround": "rgb(128, 128, 128)",
    }  # fmt: skip
    player.answer("f")

    player.wait("question")
    page.set_viewport_size({"width": 700, "height": 480})
    wait_fitted(page, 300)  # 480 px less the 180 above and below
    assert page.evaluate(SEEN)["whole"]
    drawn = "document.querySelector('canvas').getContext('2d').getImageData(150, 150, 1, 1).data.slice(0, 3)"
    assert tuple(page.evaluate(f"[...{drawn}]")) != GRAY  # the picture itself, not an empty stage
    player.answer("j")
    player.answer("f")

    player.wait("question")
    page.set_viewport_size({"width": 1100, "height": 800})
    wait_fitted(page, 512)
    pinch(page, 2)
    page.wait_for_selector(".page.trial.pinned")
    assert page.evaluate(SEEN)["whole"]
    assert page.evaluate(SEEN)["seen_px"] == 512
    player.answer("j")
    player.answer("f")
    pinch(page, 1)
    page.wait_for_selector(".page.trial:not(.pinned)")
    player.answer("j")

    player.wait("done")
    _, _, stored = site.stored("faces")
    facts = [response.facts for response in stored]
    assert [each["shown_px"] for each in facts] == [512, 300, 300, 512, 512, 512]
    assert [each["page_scale"] for each in facts] == [1, 1, 1, 2, 2, 1]
    assert [each["pixel_ratio"] for each in facts] == [1] * 6
    assert [response.flags for response in stored] == [
        (), ("resized",), (), ("resized",), (), (),
    ]  # fmt: skip


@pytest.mark.parametrize("change", ["resize", "pinch"])
def test_a_flash_during_which_the_window_changed_is_replaced_and_not_the_browsers_fault(player, site, change):
    page = player.page
    site.create("flash", "exposures", images=2, spare_images=8, exposures_ms="1500", mask_count=0,
                countdown_ms=300, feedback_ms=20, full_screen=False)  # fmt: skip
    player.begin("flash")
    player.start_flashes()
    player.wait("stimulus")
    if change == "resize":
        page.set_viewport_size({"width": 1000, "height": 760})
    else:
        pinch(page, 1.5)
    player.answer("f")
    player.play_flashes("done")

    _, _, stored = site.stored("flash")
    study = site.store.study("flash")
    assert "resized" in stored[0].flags
    assert is_mistimed(study.protocol, stored[0])
    assert "resized" not in stored[1].flags
    assert stored[1].facts["page_scale"] == (1 if change == "resize" else 1.5)
    assert stored[1].attempt == 1


@pytest.mark.slow("starts Firefox, and flashes in real time")
def test_in_firefox_flashes_and_standing_pictures_fit_a_display_with_other_pixels(site):
    skip_without("Firefox")
    from tests.engines.firefox import firefox

    site.create("flash", "exposures", images=4, spare_images=100, exposures_ms="500,unlimited", mask_count=1,
                countdown_ms=300, feedback_ms=20, full_screen=False, size_px=512)  # fmt: skip
    with firefox(1100, 800) as browser, browser.fresh() as open_page:
        player = Player(open_page(), site)
        resize(player.page, 1000, 760, 1)
        player.begin("flash")
        player.start_flashes()
        player.wait("question")
        player.answer("f")
        player.wait("question")
        resize(player.page, 900, 700, 2)
        player.play_flashes("done")

        assert player.faults == []
    _, _, stored = site.stored("flash")
    assert [(each.facts["shown_px"], each.facts["pixel_ratio"]) for each in (stored[0], stored[-1])] == [
        (512, 1), (1024, 2),
    ]  # fmt: skip
    assert all(each.facts.get("surround", "") == "" for each in stored)


def resize(page, width, height, pixel_ratio):
    size = {"width": width, "height": height}
    page._call("browsingContext.setViewport", viewport=size, devicePixelRatio=pixel_ratio)


def test_the_surround_is_ours_and_what_is_altered_all_the_same_is_stored(player, site):
    page = player.page
    site.create("faces", images=6, feedback_ms=20)
    player.begin("faces")
    answers = []

    def alter(script, expected):
        player.wait("question")
        if script:
            page.evaluate(script)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(128, 128, 128)"
        player.answer("fj"[len(answers) % 2])
        answers.append(expected)

    alter("", "")
    page.emulate_media(forced_colors="active")
    alter("", "forced_colors")
    page.emulate_media(forced_colors="none")
    sheet = "html, canvas { filter: invert(1) !important } body { background: #111 !important }"
    adopted = "document.adoptedStyleSheets"
    alter(f"{adopted} = [new CSSStyleSheet()]; {adopted}[0].replaceSync(`{sheet}`)", "")
    alter("document.documentElement.style.setProperty('filter', 'invert(1)', 'important')", "filter")
    alter("document.documentElement.style.filter = ''; document.querySelector('canvas').style.setProperty("
          "'opacity', '0.5', 'important')", "opacity")  # fmt: skip
    cover = "position: fixed; inset: 0; background: rgba(255, 160, 0, 0.2); pointer-events: none"
    alter("document.querySelector('canvas').style.removeProperty('opacity');"
          "document.documentElement.append(Object.assign(document.createElement('div'),"
          f"{{style: '{cover}'}}))", "overlay")  # fmt: skip

    player.wait("done")
    _, _, stored = site.stored("faces")
    assert [response.facts.get("surround", "") for response in stored] == answers
