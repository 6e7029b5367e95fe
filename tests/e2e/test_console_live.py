"""The console's list of studies and a study's live view in the browser: signed in once, fit for everyone."""

import re

import pytest

from backend.administration.revise import change_settings
from backend.commands.simulated_evaluators import simulate
from backend.foundation.timestamps import utc_now
from backend.members import memberships, tokens
from backend.responses import study_looks
from backend.studies.pausing import is_paused
from tests.e2e.conftest import eventually
from tests.e2e.test_accessibility import LOOKS, look, violations, violations_in_looks
from tests.e2e.test_console_study import OVERFLOW, sign_in
from tests.unit.people import take_part_all


@pytest.fixture
def desk(player, site):
    site.create("faces", images=10, evaluators=8, base_usd_cents=100)
    return player


def enter(desk, site, path="/console/studies/faces"):
    sign_in(desk.page, site, path)
    desk.page.wait_for_selector(".tiles, .studies li")


def run(site, evaluators):
    take_part_all(site.url, site.store, site.store.study("faces"), site.data, evaluators, at_once=1)


def tile(page, name):
    return page.inner_text(f".tiles > div:has(dt:text-is('{name}')) .value")


@pytest.mark.core
def test_sessions_and_the_score_are_shown_as_they_happen(desk, site):
    enter(desk, site)
    told = desk.page.inner_text("section:has(h2:text-is('Score so far')) p")
    before = tile(desk.page, "Finished"), told

    run(site, 6)

    desk.page.wait_for_selector("svg.narrowing")
    desk.page.wait_for_selector(".tiles > :first-child .value:text-is('6')")
    assert before == ("0", "The first finished session brings the first score.")
    assert "6 of 8 finished" in desk.page.inner_text(".models")
    assert re.search(r"\d+\.\d%", desk.page.inner_text(".scores .value"))
    assert float(tile(desk.page, "Owed so far").strip("$")) >= 6
    assert "6 evaluators" in desk.page.inner_text(".scores")


def test_simulated_sessions_are_a_number_of_their_own(desk, site):
    enter(desk, site)
    hidden = desk.page.is_visible("dt:text-is('Simulated')")

    simulate(site.store, site.data, "faces", {"gan": "0.7"}, evaluators=3, url=site.url)

    desk.page.wait_for_selector("dt:text-is('Simulated')")
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
    desk.page.goto(f"{site.url}/console/studies/faces")
    desk.page.fill("#token", "guess")
    desk.page.keyboard.press("Enter")

    desk.page.wait_for_selector("dialog [role=alert]:not(:empty)")

    assert desk.page.locator(".tiles").count() == 0
    assert "faces" not in desk.page.inner_text("body")


def test_the_button_pauses_and_lets_in_again(desk, site):
    enter(desk, site)

    desk.page.click("text=Pause the study")
    desk.page.wait_for_selector("text=Let evaluators in")
    paused, told = is_paused(site.store, "faces"), desk.page.inner_text(".head")
    desk.page.keyboard.press("Enter")  # the button has kept the focus
    desk.page.wait_for_selector("text=Pause the study")

    assert paused
    assert "Paused: nobody new can begin" in told
    assert not is_paused(site.store, "faces")


def test_a_pause_that_does_not_reach_the_server_is_told_and_can_be_tried_again(desk, site):
    enter(desk, site)
    refused = {"error": {"code": "fault", "message": "something went wrong here", "id": "abcd"}}
    desk.page.route("**/pause", lambda route: route.fulfill(status=400, json=refused), times=1)

    desk.page.click("text=Pause the study")
    desk.page.wait_for_selector(".head [role=alert]")
    told = desk.page.inner_text(".head")
    desk.page.click("text=Pause the study")
    desk.page.wait_for_selector("text=Let evaluators in")

    assert "Something went wrong here. (abcd)" in told
    assert "Open to evaluators." in told
    assert is_paused(site.store, "faces")


def test_a_page_of_another_site_cannot_pause(desk, site):
    enter(desk, site)
    elsewhere = site.url.replace("127.0.0.1", "localhost")
    address = f"{site.url}/api/studies/faces/pause"
    form = f"<form method=post action='{address}'><button>Win</button></form>"
    desk.page.route(f"{elsewhere}/trap", lambda route: route.fulfill(body=form, content_type="text/html"))
    desk.faults = [fault for fault in desk.faults if "another place" not in fault]
    desk.page.goto(f"{elsewhere}/trap")

    desk.page.click("button")
    desk.page.wait_for_url(address)

    assert "other_site" in desk.page.content()
    assert not is_paused(site.store, "faces")
    desk.faults = [fault for fault in desk.faults if elsewhere not in fault]


@pytest.mark.parametrize("path", ["/api/studies/faces/live", "/api/studies"])
def test_what_has_not_changed_is_answered_with_nothing(desk, site, path):
    statuses = []
    desk.page.on("response", lambda reply: reply.url.endswith(path) and statuses.append(reply.status))

    enter(desk, site, "/console" if path == "/api/studies" else "/console/studies/faces")
    eventually(desk.page, lambda: statuses[-2:], [304, 304])

    assert {*statuses} == {200, 304}
    assert statuses == sorted(statuses)  # the first have no tag yet


def test_the_list_leads_to_the_studies(desk, site):
    site.create("gate", kind="qualification", images=10)
    enter(desk, site, "/console")
    desk.page.wait_for_selector(".studies li")
    names = desk.page.locator(".studies h3").all_inner_texts()

    desk.page.click("text=faces")
    desk.page.wait_for_selector(".tiles")

    assert names == ["faces", "gate"]
    assert desk.heading() == "faces"


def test_the_list_is_renewed_as_people_answer(desk, site):
    enter(desk, site, "/console")
    before = desk.page.inner_text(".studies li")

    run(site, 1)

    desk.page.wait_for_selector(".studies li:has-text('1 of 8 finished')")
    assert "0 of 8 finished" in before


def test_a_qualification_is_shown_without_scores_and_results(desk, site):
    site.create("gate", kind="qualification", images=10)

    enter(desk, site, "/console/studies/gate")

    assert desk.page.locator("h2:text-is('Sessions')").count() == 1
    assert desk.page.locator("h2:text-is('Score so far')").count() == 0
    assert desk.page.locator(".parts a:text-is('Results')").count() == 0


def test_a_study_that_is_not_there_is_told_to_who_has_signed_in(desk, site):
    sign_in(desk.page, site, "/console/studies/nobody")

    desk.page.wait_for_selector(".error:has-text('nobody')")

    assert desk.page.locator(".tiles").count() == 0


def test_on_a_phone_the_numbers_come_before_what_can_be_done(desk, site):
    look(desk.page, 390, "light")
    enter(desk, site)
    desk.page.wait_for_selector(".tiles")

    tops = [
        desk.page.locator(selector).bounding_box()["y"]
        for selector in (".head", ".tiles", ".address >> nth=0")
    ]

    assert tops == sorted(tops)


def test_when_the_visit_is_over_the_key_is_asked_for_again(desk, site):
    enter(desk, site)
    desk.page.wait_for_selector(".tiles")

    desk.page.context.clear_cookies()

    desk.page.wait_for_selector("#token")


def test_a_studys_page_leads_to_its_results_and_back(desk, site):
    run(site, 3)
    sign_in(desk.page, site, "/console/studies/faces")
    desk.page.wait_for_selector(".tiles")
    addresses = [desk.page.url]

    desk.page.click(".parts a:text-is('Results')")
    desk.page.wait_for_selector("h1:text-is('Results of faces')")
    addresses.append(desk.page.url)
    desk.page.click("text=Back to the study in the console")
    desk.page.wait_for_selector(".tiles")
    addresses.append(desk.page.url)
    desk.page.goto(f"{site.url}/console")
    desk.page.wait_for_selector(".studies li")
    addresses.append(desk.page.url)

    paths = ["/console/studies/faces", "/results/faces", "/console/studies/faces", "/console"]
    assert addresses == [f"{site.url}{path}" for path in paths]


def test_who_opens_results_signs_in_at_the_console_comes_back_to_them_and_signs_out_of_both(desk, site):
    page = desk.page
    sign_in(page, site, "/results/faces?simulated=true#models")
    page.wait_for_selector("text=has no finished simulated session")
    shown = page.url, violations(page)
    page.goto(f"{site.url}/results")
    listed = violations(page)
    page.go_back()

    page.click("text=Back to the study in the console")
    page.wait_for_selector(".tiles")
    page.click("text=Sign out")
    page.wait_for_selector("#token")
    page.goto(f"{site.url}/results/faces")
    page.wait_for_selector("#token")

    assert (shown, listed) == ((f"{site.url}/results/faces?simulated=true#models", []), [])
    assert page.context.cookies() == []


def test_results_come_back_after_a_sign_in_that_has_ended(desk, site):
    page = desk.page
    run(site, 3)
    enter(desk, site)
    page.goto(f"{site.url}/results/faces")
    page.wait_for_selector("h1:text-is('Results of faces')")

    page.context.clear_cookies()
    page.reload()
    page.wait_for_selector("#token")
    page.keyboard.type(site.data.keys().researcher)
    page.keyboard.press("Enter")

    page.wait_for_selector("h1:text-is('Results of faces')")
    assert page.url == f"{site.url}/results/faces"


def test_who_has_signed_in_elsewhere_meanwhile_is_led_to_the_results(desk, site):
    page = desk.page
    run(site, 3)
    page.route("**/api/sign-in", lambda route: enter_beside(page, site) or route.fallback(), times=1)

    page.goto(f"{site.url}/results/faces")
    page.click("text=Show the results")

    page.wait_for_selector("h1:text-is('Results of faces')")


def enter_beside(page, site):
    """Sign the browser in, as another tab does."""
    page.context.request.post(f"{site.url}/api/sign-in", data={"token": site.data.keys().researcher})


def test_a_submitter_is_told_that_results_are_for_researchers(desk, site):
    ada = memberships.add(site.store, "ada", "submitter", "owner", utc_now())
    _, token = tokens.issue(site.store, ada, "laptop", 1, "owner", utc_now())

    sign_in(desk.page, site, "/results/faces", token)

    desk.page.wait_for_selector("text=ada is a submitter")


@pytest.mark.core
def test_the_list_and_a_study_are_accessible_and_fit(desk, site):
    found, wider = {}, set()

    def check(screen):
        found[screen] = violations_in_looks(desk.page)
        for each in LOOKS:
            look(desk.page, *each)
            wider.add(desk.page.evaluate(OVERFLOW))

    change_settings(site.store, site.data, "faces", {"looks": "5,8", "aim": "half-width=1"})
    run(site, 5)
    study_looks.decide(site.store, site.store.study("faces"), "2026-01-01T00:00:00+00:00")
    run(site, 1)
    enter(desk, site)
    desk.page.wait_for_selector(".scores svg.narrowing")
    course = desk.page.inner_text("section:has(h2:text-is('Planned looks'))")
    check("study")
    desk.page.click(".console-bar a:text-is('Studies')")
    desk.page.wait_for_selector(".studies li")
    check("list")

    assert found == {"study": {}, "list": {}}
    assert wider == {0}
    assert "Look 1, at 5 evaluators of each model: go on; the aim half-width=1 is not reached." in course
    assert desk.page.locator("h1:focus").inner_text() == "Studies"
