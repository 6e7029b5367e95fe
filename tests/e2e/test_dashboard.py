"""The dashboard in the browser: behind the key, live, and fit for everyone."""

import re

import pytest

from backend.commands.simulated_evaluators import simulate
from backend.studies.pausing import is_paused
from tests.e2e.test_accessibility import LOOKS, look, violations_in_looks
from tests.unit.people import take_part_all


@pytest.fixture
def desk(player, site):
    site.create("faces", images=10, evaluators=8, base_usd_cents=100)
    return player


def enter(desk, site, path="/dashboard/faces"):
    desk.page.goto(f"{site.url}{path}")
    desk.page.fill("#key", site.data.keys().researcher)
    desk.page.keyboard.press("Enter")
    desk.page.wait_for_selector("body[data-screen=dashboard] h1")


def run(site, evaluators):
    take_part_all(site.url, site.store, site.store.study("faces"), site.data, evaluators, at_once=1)


def tile(page, name):
    return page.inner_text(f".tiles > div:has(dt:text-is('{name}')) .value")


@pytest.mark.core
def test_sessions_and_the_score_are_shown_as_they_happen(desk, site):
    enter(desk, site)
    before = tile(desk.page, "Finished"), desk.page.inner_text("section:last-of-type p")

    run(site, 6)

    desk.page.wait_for_selector("svg.narrowing", timeout=20000)
    desk.page.wait_for_function("document.querySelector('.tiles .value').textContent === '6'")
    assert before == ("0", "The first finished session brings the first score.")
    assert "6 of 8 finished" in desk.page.inner_text(".models")
    assert re.search(r"\d+\.\d%", desk.page.inner_text(".scores .value"))
    assert float(tile(desk.page, "Owed so far").strip("$")) >= 6
    assert "6 evaluators" in desk.page.inner_text(".scores")


def test_simulated_sessions_are_a_number_of_their_own(desk, site):
    enter(desk, site)
    hidden = desk.page.is_visible("dt:text-is('Simulated')")

    simulate(site.store, site.data, "faces", {"gan": "0.7"}, evaluators=3, url=site.url)

    desk.page.wait_for_selector("dt:text-is('Simulated')", timeout=20000)
    assert (hidden, tile(desk.page, "Simulated"), tile(desk.page, "Finished")) == (False, "3", "0")
    assert "0 of 8 finished" in desk.page.inner_text(".models")


def test_the_key_stands_in_no_address_and_no_script_can_read_the_cookie(desk, site):
    key, urls = site.data.keys().researcher, []
    desk.page.on("request", lambda request: urls.append(request.url))

    enter(desk, site)

    assert len(urls) > 3
    assert not any(key in url for url in urls)
    assert desk.page.evaluate("document.cookie") == ""
    assert desk.page.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0


def test_a_wrong_key_shows_nothing(desk, site):
    desk.page.goto(f"{site.url}/dashboard/faces")
    desk.page.fill("#key", "guess")
    desk.page.keyboard.press("Enter")

    desk.page.wait_for_selector("[role=alert]")

    assert desk.page.locator(".tiles").count() == 0


def test_the_button_pauses_and_lets_in_again(desk, site):
    enter(desk, site)

    desk.page.click("text=Pause the study")
    desk.page.wait_for_selector("text=Let evaluators in")
    paused, told = is_paused(site.store, "faces"), desk.page.inner_text(".head")
    desk.page.keyboard.press("Enter")  # the button has kept the focus
    desk.page.wait_for_selector("text=Pause the study")

    assert paused
    assert "paused: nobody new can begin" in told
    assert not is_paused(site.store, "faces")


def test_a_page_of_another_site_cannot_pause(desk, site):
    enter(desk, site)
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    form = f"<form method=post action='{site.url}/dashboard/faces/pause'><button>Win</button></form>"
    desk.page.route(f"{elsewhere}/trap", lambda route: route.fulfill(body=form, content_type="text/html"))
    desk.faults = [fault for fault in desk.faults if "another place" not in fault]
    desk.page.goto(f"{elsewhere}/trap")

    desk.page.click("button")
    desk.page.wait_for_url(f"{site.url}/dashboard/faces/pause")

    assert not is_paused(site.store, "faces")
    desk.faults = [fault for fault in desk.faults if elsewhere not in fault]


def test_what_has_not_changed_is_answered_with_nothing(desk, site):
    enter(desk, site)
    statuses = []
    desk.page.on("response", lambda reply: statuses.append(reply.status) if "as=json" in reply.url else None)

    desk.page.wait_for_timeout(6500)

    assert len(statuses) >= 2
    assert set(statuses) == {304}


def test_the_list_leads_to_the_studies(desk, site):
    site.create("gate", kind="qualification", images=10)
    enter(desk, site, "/dashboard")
    desk.page.wait_for_selector(".studies li")
    names = desk.page.locator(".studies h2").all_inner_texts()

    desk.page.click("text=faces")
    desk.page.wait_for_selector(".tiles")

    assert names == ["faces", "gate"]
    assert desk.heading() == "faces"


def test_when_the_visit_is_over_the_key_is_asked_for_again(desk, site):
    enter(desk, site)
    desk.page.wait_for_selector(".tiles")

    desk.page.context.clear_cookies()

    desk.page.wait_for_selector("#key", timeout=20000)


@pytest.mark.core
def test_the_dashboard_is_accessible_and_fits(desk, site):
    overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    found, wider = {}, set()

    def check(screen):
        found[screen] = violations_in_looks(desk.page)
        for each in LOOKS:
            look(desk.page, *each)
            wider.add(desk.page.evaluate(overflow))

    run(site, 6)
    enter(desk, site)
    desk.page.wait_for_selector("svg.narrowing")
    check("study")
    desk.page.click("text=All studies")
    desk.page.wait_for_selector(".studies li")
    check("list")

    assert found == {"study": {}, "list": {}}
    assert wider == {0}
