"""The same study again in the console: another run is made, and compared with the first."""

import pytest

from tests.e2e.test_accessibility import violations
from tests.e2e.test_console_study import OVERFLOW, desk, sign_in, worker  # noqa: F401
from tests.unit.people import take_part_all


def run(site, name, seed):
    take_part_all(site.url, site.store, site.store.study(name), site.data, 4, seed=seed, at_once=1)


@pytest.mark.core
def test_a_study_is_run_again_and_its_runs_are_compared(desk, site):  # noqa: F811
    page = desk.page
    run(site, "faces", 1)
    with worker(site):
        sign_in(page, site, "/console/studies/faces/runs")
        page.wait_for_selector("text=There is no other study of this method yet.")
        page.click("button:text-is('Run again')")
        page.wait_for_selector("text=faces-2 is made.")
        run(site, "faces-2", 2)
        page.reload()
        page.check("label:has-text('faces-2') input")
        page.click("button:text-is('Compare the runs')")
        page.wait_for_selector("caption:text-is('Changes between runs')")

        charts = page.eval_on_selector_all(".run-charts svg", "all => all.map((one) => one.ariaLabel)")
        rows = page.eval_on_selector_all("tbody tr", "all => all.map((one) => one.innerText.split('\\t'))")
        page.reload()
        page.wait_for_selector("caption:text-is('Changes between runs')")

    page.set_viewport_size({"width": 390, "height": 800})
    assert (violations(page), page.evaluate(OVERFLOW)) == ([], 0)
    models = site.store.study("faces").models
    assert [row[:3] for row in rows] == [[model, "faces", "faces-2"] for model in models]
    assert all(words.startswith("Scores of ") and "faces-2 " in words for words in charts)
    assert not page.is_visible("text=No person gave these answers.")
