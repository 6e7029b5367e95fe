"""The page on which anyone measures a display."""

import pytest

from .test_accessibility import violations


@pytest.mark.alone
def test_a_display_is_measured_and_faint_flashes_are_tried(player, site):
    page = player.page
    page.goto(f"{site.url}/timing.html")
    page.get_by_role("button", name="Measure").click()
    page.wait_for_selector("h1:text-is('Your display')", timeout=60000)

    assert "Hz" in page.inner_text("dl")
    assert page.locator(".histogram rect").count() >= 1
    counted = page.evaluate(
        "[...document.querySelectorAll('tbody td:last-child')].map(cell => +cell.textContent)"
    )
    assert sum(counted) == 600
    assert "tells when each picture was really shown" in page.inner_text("main")
    assert violations(page) == []

    page.get_by_role("button", name="Try faint flashes").click()
    page.wait_for_selector("tbody tr:nth-child(2)", timeout=60000)

    rows = page.evaluate("[...document.querySelectorAll('tbody tr')].map(row => row.textContent)")
    assert rows[0].startswith("in a frametold by the browser")
    assert rows[1].startswith("in a workerclock of the worker")
    assert "told by the browser" in rows[1]
    assert all("of 30" in row for row in rows)
    assert violations(page) == []
