"""A preview in a browser: opened from the console, played to its end, and left for the console again."""

import sqlite3
from types import SimpleNamespace

import pytest

from backend.foundation.timestamps import utc_now
from tests.e2e.test_accessibility import violations
from tests.e2e.test_console_study import OVERFLOW, sign_in
from tests.unit.jobs.ordered import Orders


def stored(site):
    return [*sqlite3.connect(site.data.root / "openhype.db").iterdump()]


def choose(page, words):
    page.get_by_role("button", name=words, exact=True).click()


@pytest.mark.core
def test_a_paid_study_is_previewed_from_the_console_without_a_trace(player, site):
    site.create("faces", images=4, spare_images=0, base_usd_cents=100, bonus_usd_cents=5)
    page, found = player.page, {}
    sign_in(page, site, "/console/studies/faces")
    before = stored(site)

    choose(page, "Preview")
    page.wait_for_selector("aside.preview-line")
    page.wait_for_selector("body[data-screen=consent]")
    for width, scheme in ((1280, "light"), (375, "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        found[width] = (violations(page), page.evaluate(OVERFLOW))
    said = page.inner_text("aside.preview-line")
    page.reload()
    page.wait_for_selector("body[data-screen=consent]")
    choose(page, "I agree and want to take part")
    page.wait_for_selector("body:not([data-screen=consent]) button.primary")
    page.keyboard.press("Enter")
    for n in range(1, 5):
        page.wait_for_selector("body[data-screen=question]:has(.choices button:enabled)")
        page.wait_for_selector(f"#progress:has-text('Picture {n} of 4')")
        assert page.is_hidden("aside.preview-line")
        assert page.inner_text("#bar").startswith("Preview")
        page.keyboard.press("f")
    page.wait_for_selector("body[data-screen=done]")
    page.click("aside.preview-line a")
    page.wait_for_selector(".study-line")

    assert said == "Preview: nothing is recorded. Back to the console"
    assert found == {1280: ([], 0), 375: ([], 0)}
    assert page.url == f"{site.url}/console/studies/faces"
    assert stored(site) == before


def test_a_draft_is_previewed_from_its_settings_and_waits_there_unchanged(player, site):
    orders = Orders(SimpleNamespace(store=site.store, data=site.data, clock=utc_now))
    body = {**orders.faces(), "method": "infinity"}
    key = {"X-Openhype-Token": site.data.keys().researcher}
    page = player.page
    assert page.request.post(f"{site.url}/api/drafts/d1", data=body, headers=key).ok
    sign_in(page, site, "/console/new/d1/settings")
    found = {}
    for width, scheme in ((1280, "light"), (375, "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        found[width] = (violations(page), page.evaluate(OVERFLOW))
    before = stored(site)

    choose(page, "Preview")
    page.wait_for_selector("body[data-screen=consent]")
    page.click("aside.preview-line a")
    page.wait_for_selector(".settings-and-plan")
    images = page.locator("#setting-images")
    assert stored(site) == before
    images.fill("200")
    choose(page, "Preview")
    page.wait_for_selector("#setting-images-error:not(:empty)")

    assert found == {1280: ([], 0), 375: ([], 0)}
    assert page.url == f"{site.url}/console/new/d1/settings"
    assert [study.name for study in site.store.studies()] == []
