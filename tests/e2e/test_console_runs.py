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
        page.wait_for_selector("text=It is not run again by itself.")
        page.fill("input[type=number]", "30")
        page.click("button:text-is('Set the schedule')")
        page.wait_for_selector("text=It is run again every 30 days, next on ")
        page.fill("input[type=number]", "")
        page.click("button:text-is('Set the schedule')")
        page.wait_for_selector("text=There is no schedule.")
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


@pytest.mark.core
def test_files_of_opinion_scores_are_correlated_with_metrics(desk, site, tmp_path):  # noqa: F811
    page, names = desk.page, [f"I{i % 6:02}_01_{i // 6}" for i in range(30)]
    tables = {
        "scores.csv": ("stimulus,score,sd,votes", [f"{name}.bmp,{i},1,20" for i, name in enumerate(names)]),
        "near.csv": ("item,d", [f"{name},{-i - i % 4}" for i, name in enumerate(names)]),
        "far.csv": ("item,d", [f"{name},{i * 7 % 30}" for i, name in enumerate(names)]),
    }
    for name, (header, lines) in tables.items():
        (tmp_path / name).write_text("\n".join([header, *lines, ""]))
    with worker(site):
        sign_in(page, site, "/console")
        page.click("text=Metrics against opinion scores of others")
        page.set_input_files("input[type=file]", [tmp_path / name for name in ("near.csv", "far.csv")])
        page.click("button:text-is('Correlate them')")
        page.wait_for_selector(".jobs .error:has-text('none has')")
        page.set_input_files("input[type=file]", [tmp_path / name for name in tables])
        page.click("button:text-is('Correlate them')")
        page.wait_for_selector("h2:text-is('scores.csv')")
        page.reload()
        page.wait_for_selector("h2:text-is('scores.csv')")

    rows = page.eval_on_selector_all("tbody tr", "all => all.map((one) => one.innerText.split('\\t'))")
    charts = page.eval_on_selector_all(".run-charts svg", "all => all.map((one) => one.ariaLabel)")
    page.set_viewport_size({"width": 390, "height": 800})
    assert (violations(page), page.evaluate(OVERFLOW)) == ([], 0)
    assert [row[0] for row in rows] == ["far", "near"]
    assert rows[1][1].startswith("−0.992")
    assert [words.partition(":")[0] for words in charts] == [
        f"Opinion score against {row[0]}" for row in rows
    ]
    assert page.get_attribute(".run-charts .points >> nth=0", "d").count("M") == 30
