"""axe-core on every screen, light and dark, wide and narrow: WCAG 2.2 AA."""

from pathlib import Path

import pytest

AXE = Path(__file__).resolve().parents[2] / "node_modules" / "axe-core" / "axe.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def violations(page):
    page.evaluate(AXE.read_text("utf-8"))
    found = page.evaluate("rules => axe.run(document, {runOnly: rules})", RULES)
    return [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_every_screen_of_a_session_is_accessible(player, site, scheme, width):
    site.create("faces", images=2, feedback_ms=3000)
    player.page.emulate_media(color_scheme=scheme)
    player.page.set_viewport_size({"width": width, "height": 740})
    found = {}

    player.visit("faces")
    player.wait("consent")
    found["consent"] = violations(player.page)
    player.press("consent")
    player.wait("instructions")
    found["instructions"] = violations(player.page)
    player.press("instructions")
    for _ in range(2):
        player.wait("question")
        found["question"] = violations(player.page)
        player.page.keyboard.press("r")
        player.wait("feedback")
        found["feedback"] = violations(player.page)
        player.wait_past("feedback")
    player.wait("done")
    found["done"] = violations(player.page)

    assert {screen: broken for screen, broken in found.items() if broken} == {}


def test_the_warning_of_flashes_and_the_errors_are_accessible(player, site):
    site.create("glimpse", "time", images=4, blocks=1, spare_images=2)
    player.visit("glimpse")
    player.wait("consent")
    consent = violations(player.page)
    player.visit("nothing")
    player.wait("error")

    assert (consent, violations(player.page)) == ([], [])
