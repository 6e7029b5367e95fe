"""axe-core on every screen, light and dark, wide and narrow: WCAG 2.2 AA."""

import itertools
import re
from pathlib import Path

import pytest

from backend.report import page as report_pages
from backend.web import assets

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
OF_COLOUR = ["color-contrast", "link-in-text-block"]
"""The rules among them whose outcome depends on colours, and so on the colour scheme."""
VIOLATIONS = """async (rules) => {
  const found = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  return found.violations.map(({id, nodes}) => [id, nodes.map(({target}) => target)]);
}"""


def violations(page, rules=RULES):
    """Return what axe-core finds wrong with a page as it is now, by tags or names of rules."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.read_text("utf-8"))
    return [(rule, targets) for rule, targets in page.evaluate(VIOLATIONS, rules)]


def look(page, width, scheme, height=HEIGHT):
    """Give a page a window of this size and this colour scheme, and wait until it is drawn so."""
    page.set_viewport_size({"width": width, "height": height})
    page.emulate_media(color_scheme=scheme)
    page.wait_for_function("width => innerWidth === width", arg=width)
    page.evaluate(DRAWN)


def violations_in_looks(page, looks=LOOKS):
    """Return what axe-core finds wrong with a page in each look, without those in which all is well.

    A width that was looked at in one colour scheme is looked at in the other for the rules of colour alone:
    a scheme changes nothing else (`test_a_colour_scheme_changes_colours_alone`).
    """
    found, widths = {}, set()
    for width, scheme in looks:
        look(page, width, scheme)
        found[width, scheme] = violations(page, OF_COLOUR if width in widths else RULES)
        widths.add(width)
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


@pytest.mark.core
def test_a_colour_scheme_changes_colours_alone():
    """And does so by variables whose values are colours, so that they can be nothing else."""
    files = [path for path in assets.FRONTEND.rglob("*") if path.suffix in (".css", ".html", ".js")]
    texts = [report_pages.style(), *(path.read_text("utf-8") for path in files)]

    blocks = [
        block
        for text in texts
        for block in re.findall(r"\(prefers-color-scheme: dark\) \{\s*:root \{([^{}]*)\}\s*\}", text)
    ]
    values = [value.strip() for block in blocks for value in block.split(";") if value.strip()]

    assert len(blocks) == sum(text.count("prefers-color-scheme") for text in texts) > 1
    assert [value for value in values if not re.fullmatch(r"--[\w-]+: #[0-9a-f]{6}", value)] == []
    assert not any("light-dark(" in text for text in texts)
