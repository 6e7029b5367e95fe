"""Reports in a browser: nothing is loaded, everyone can read them, and the server's ask for the key."""

import pytest

from backend.commands.simulated_evaluators import simulate
from backend.report import page as pages
from backend.report.compose import compose
from backend.report.context import SourceInfo
from tests.e2e.test_accessibility import LOOKS, look, violations, violations_in_looks
from tests.unit import answered, follow_ups
from tests.unit.people import take_part_all

METRICS = {"fid": {"stylegan": 5.0, "progan": 8.0, "began": 40.0}}


@pytest.fixture(scope="module", params=["infinity", "time", "follow_ups"])
def report(request, tmp_path_factory):
    if request.param == "infinity":
        models = {**answered.INFINITY, "net@4000": 0.2, "a_long_name_without_any_space_in_it@9000": 0.45}
        found = answered.found(answered.infinity(models, 12), metrics=METRICS)
    elif request.param == "follow_ups":
        found = answered.found(follow_ups.rows(evaluators=6))
    else:
        found = answered.found(answered.time(evaluators=4, blocks=1, images=80), "time")
    path = tmp_path_factory.mktemp("report") / "index.html"
    report = compose(found, SourceInfo("Faces", "responses.csv", "2026-03-01", "0.1.0", metrics=METRICS))
    path.write_text(pages.html(report, files=True), "utf-8")
    return path


@pytest.fixture
def watched(page):
    """A page, and what it asked for or complained of."""
    seen = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    return page, seen


def test_a_report_is_accessible_and_fits_its_window(watched, report):
    page, seen = watched
    page.goto(report.as_uri())
    for summary in page.query_selector_all("summary"):
        summary.click()

    assert violations_in_looks(page) == {}
    for width, scheme in LOOKS:
        look(page, width, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    assert [url for url in seen if not url.startswith("data:")] == [report.as_uri()]


def test_a_report_prints_without_its_links_and_scroll_boxes(watched, report):
    page, _ = watched
    page.goto(report.as_uri())
    page.emulate_media(media="print")

    assert not page.is_visible(".files")
    assert not page.is_visible("nav")
    assert page.is_visible(".drawing .wide svg")
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == "visible"


def test_figures_follow_light_and_dark(watched, report):
    page, _ = watched
    page.goto(report.as_uri())
    colour = "getComputedStyle(document.querySelector('.drawing .wide svg text')).fill"

    page.emulate_media(color_scheme="light")
    light = page.evaluate(colour)
    page.emulate_media(color_scheme="dark")

    assert (light, page.evaluate(colour)) == ("rgb(29, 35, 41)", "rgb(233, 231, 227)")


def test_the_servers_results_ask_for_the_key_and_then_show_the_pictures(watched, site):
    page, seen = watched
    site.create("faces", images=20, evaluators=3, repeat_visits=True)
    simulate(site.store, site.data, "faces", {"gan": "0.7"}, evaluators=3, url=site.url)
    take_part_all(site.url, site.store, site.store.study("faces"), site.data, 3)

    page.goto(f"{site.url}/results/faces")
    page.get_by_label("Your token").fill("wrong")
    form = violations(page)
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog .error:not(:empty)")
    wrong = violations(page)
    page.get_by_label("Your token").fill(site.data.keys().researcher)
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text-is('Results of faces')")

    assert (form, wrong, violations(page), page.url) == ([], [], [], f"{site.url}/results/faces")
    seen.clear()
    page.get_by_role("link", name="Results of simulated sessions").click()
    page.wait_for_selector("h1:text-is('Results of faces (simulated)')")
    assert violations(page) == []
    assert "nobody looked at these pictures" in page.inner_text(".banner")
    page.get_by_role("link", name="Results of real sessions").click()
    page.wait_for_selector("h1:text-is('Results of faces')")
    assert site.data.keys().researcher not in "".join(seen)
    shown = f"{site.url}/results/faces"
    asked = {url.rstrip("?") for url in seen if url.startswith("http")}
    assert asked == {shown, f"{shown}?simulated=true"}
    assert [text for text in seen if "Content Security Policy" in text] == []
    page.get_by_role("link", name="Sign out").click()
    page.get_by_role("main").get_by_role("button", name="Sign out").click()
    page.wait_for_selector("#token")
