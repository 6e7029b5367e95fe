"""The waiting room in the browser: from the qualification to the call."""

from backend.studies.pausing import set_paused
from tests.e2e.test_accessibility import violations


def test_a_qualified_evaluator_waits_is_paid_and_called(player, site):
    site.create("gate", kind="qualification", images=2, feedback_ms=50, pass_share=0)
    site.create("faces", images=2, qualification="gate", retainer_usd_cents=10)
    set_paused(site.store, "faces", True, "2026-01-01T00:00:00.000Z")
    player.visit("gate")
    player.press("consent")
    player.press("instructions")
    for key in "fr":
        player.answer(key)
    player.wait("done")

    player.page.goto(f"{site.url}/wait/faces")
    player.wait("consent")
    asked = violations(player.page)
    player.press("consent")
    player.wait("wait")
    waiting = violations(player.page)
    player.page.wait_for_selector("text=$0.10 for 1 minute")
    set_paused(site.store, "faces", False, "2026-01-01T00:00:00.000Z")

    player.page.wait_for_url(f"{site.url}/s/faces")
    player.press("consent")
    player.press("done")  # “You passed”, which leads on
    player.wait("instructions")
    assert (asked, waiting) == ([], [])


def test_who_has_not_passed_the_test_is_told(player, site):
    site.create("gate", kind="qualification", images=2)
    site.create("faces", images=2, qualification="gate", retainer_usd_cents=10)
    set_paused(site.store, "faces", True, "2026-01-01T00:00:00.000Z")

    player.page.goto(f"{site.url}/wait/faces")
    player.press("consent")
    player.wait("error")

    assert player.heading() == "The test comes first"
