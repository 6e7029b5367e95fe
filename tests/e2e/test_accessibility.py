"""axe-core on every screen, light and dark, wide and narrow: WCAG 2.2 AA."""

import itertools
from pathlib import Path

import pytest

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
LOOKS = tuple(itertools.product((360, 1280), ("light", "dark")))
"""Widths of the window (CSS px) and colour schemes in which each screen is looked at."""
HEIGHT = 740
HOLDS_FEEDBACK = """(() => {
  const next = window.requestAnimationFrame.bind(window);
  const held = [];
  let isHeld = true;
  const isFeedback = () => document.body?.dataset.screen === "feedback";
  window.requestAnimationFrame = (callback) => isFeedback() && isHeld ? held.push(callback) : next(callback);
  window.frame = next;
  window.endFeedback = () => {
    isHeld = false;
    held.splice(0).forEach((callback) => next(callback));
  };
  addEventListener("DOMContentLoaded", () => {
    const watch = new MutationObserver(() => { isHeld ||= !isFeedback(); });
    watch.observe(document.body, {attributes: true});
  });
})()"""
"""Script with which the feedback stays, however long it is looked at, until `endFeedback` is called."""
DRAWN = """new Promise((drawn) => {
  const next = window.frame ?? window.requestAnimationFrame;
  next(() => next(drawn));
})"""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page):
    """Return what axe-core finds wrong with a page as it is now."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found["violations"]]


def look(page, width, scheme, height=HEIGHT):
    """Give a page a window of this size and this colour scheme, and wait until it is drawn so."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate(DRAWN)


def violations_in_looks(page, looks=LOOKS):
    """Return what axe-core finds wrong with a page in each look, without those in which all is well."""
    found = {}
    for each in looks:
        look(page, *each)
        found[each] = violations(page)
    return {each: broken for each, broken in found.items() if broken}


@pytest.mark.core
def test_every_screen_of_a_session_is_accessible(player, site):
    site.create("faces", images=4, feedback_ms=20)
    page, found = player.page, []
    page.add_init_script(HOLDS_FEEDBACK)

    def check(screen, looks=LOOKS):
        player.wait(screen)
        found.append((screen, violations_in_looks(page, looks)))
        assert page.get_attribute("body", "data-screen") == screen

    player.visit("faces")
    check("consent")
    player.press("consent")
    check("instructions")
    for i in range(4):
        look(page, *LOOKS[i])  # a picture is fitted to the window when it is shown
        if i == 0:
            player.press("instructions")
        else:
            page.evaluate("endFeedback()")
            player.wait_past("feedback")
        check("question", LOOKS[i : i + 1])
        page.keyboard.press("r")
        check("feedback")
    page.evaluate("endFeedback()")
    check("done")

    between = ["question", "feedback"] * 4
    assert found == [(screen, {}) for screen in ("consent", "instructions", *between, "done")]


@pytest.mark.core
def test_the_warning_of_flashes_and_the_errors_are_accessible(player, site):
    site.create("glimpse", "time", images=4, blocks=1, spare_images=2)
    player.visit("glimpse")
    player.wait("consent")
    consent = violations(player.page)
    player.visit("nothing")
    player.wait("error")

    assert (consent, violations(player.page)) == ([], [])
