"""The console's pages of one study, of people and of submissions: with a real server, worker and browser."""

import dataclasses
import json
import threading
import urllib.request
from contextlib import contextmanager
from datetime import timedelta
from fractions import Fraction

import pytest
from PIL import Image, ImageOps

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.competitions.terms import competition_of
from backend.experiment.panel import PROLIFIC
from backend.foundation.timestamps import stamp, utc_now
from backend.jobs.worker import Worker
from backend.members import audit_log, memberships, tokens
from backend.panels.prolific import ProlificPanel
from backend.payment import accounts
from backend.studies.pausing import is_paused
from backend.uploads.local_uploads import LocalUploads
from backend.web.downloads import Downloads
from tests import prolific
from tests.e2e.conftest import eventually
from tests.e2e.test_accessibility import violations
from tests.unit.payday import FEE, Payday
from tests.unit.people import take_part_all
from tests.unit.sample_studies import recruitment

FILLED = ".researcher > :is(section, .overview, .wide-table, div:not(:empty), .actions)"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHIFTS = """window.shifts = 0; new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifts += entry.value;
}).observe({type: "layout-shift"})"""
NAME_OF_FOCUSED = """(() => {
  const focused = document.activeElement;
  return focused.ariaLabel || focused.labels?.[0]?.textContent || focused.textContent;
})()"""


@pytest.fixture
def desk(player, site):
    site.create("faces", images=10, evaluators=4, base_usd_cents=100)
    return player


@contextmanager
def worker(site):
    """Do the jobs of the site's server while the block runs."""
    until = threading.Event()
    working = Worker(site.store, site.data, uploads=LocalUploads(site.data), url=site.url)
    thread = threading.Thread(target=working.run, args=(until, 0.1), daemon=True)
    thread.start()
    try:
        yield
    finally:
        until.set()
        thread.join(timeout=20)


def sign_in(page, site, path, token=None):
    page.goto(f"{site.url}{path}")
    page.wait_for_selector("#token")
    page.keyboard.type(token or site.data.keys().researcher)
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")
    page.wait_for_selector("main h1")


def tab_to(page, words):
    """Press Tab until the focus is on what has these words, from where it is."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if page.evaluate(NAME_OF_FOCUSED) == words:
            return
    raise AssertionError(f"Tab does not reach {words!r}")


def press(page, words, key="Enter"):
    tab_to(page, words)
    page.keyboard.press(key)


def run(site, evaluators, seed=0):
    take_part_all(
        site.url, site.store, site.store.study("faces"), site.data, evaluators, seed=seed, at_once=1
    )


def test_a_study_is_simulated_scored_printed_paused_and_deleted_by_keyboard(desk, site):
    page = desk.page
    with worker(site):
        sign_in(page, site, "/console/studies/faces")
        page.wait_for_selector(".tiles")
        tab_to(page, "How many")
        page.keyboard.type("3")
        page.keyboard.press("Enter")
        page.wait_for_selector(".jobs li:has-text('done')")
        page.wait_for_selector(
            "text=Done: 3 simulated evaluators took part. Their score stands on this page."
        )
        page.wait_for_selector("dt:text-is('Simulated')")
        page.wait_for_selector(
            "section:has(h2:text-is('Score of simulated evaluators')) .value:has-text('%')"
        )
        on_overview = page.inner_text("section:has(h2:text-is('Score of simulated evaluators'))")
        press(page, "Their scores, with tests")
        page.wait_for_selector(".score-table")
        told = page.inner_text(".score-table")
        page.evaluate("window.print = () => (window.printed = true)")
        press(page, "Print")
        printed = page.evaluate("window.printed")
        page.emulate_media(media="print")
        on_paper = [
            page.is_visible(each) for each in (".score-table", ".console-bar", ".parts", ".downloads")
        ]
        page.emulate_media(media="screen")
        press(page, "Overview")
        press(page, "Pause the study")
        page.wait_for_selector(":focus:text-is('Let evaluators in')")
        paused = is_paused(site.store, "faces")
        press(page, "Settings")
        press(page, "Delete this study")
        page.wait_for_selector("dialog input")
        page.keyboard.type("face")
        page.keyboard.press("Enter")
        refused = page.inner_text("dialog .error")
        page.keyboard.type("s")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.url}/console")

    assert "Simulated. No person gave these answers." in on_overview
    assert on_overview.count("3 simulated evaluators") == 1
    assert "Simulated. 3 simulated evaluators, 30 answers" in told
    assert "95% INTERVAL" in told.upper()
    assert (printed, on_paper) == (True, [True, False, False, False])
    assert paused
    assert refused == "That is not faces."
    assert [study.name for study in site.store.studies()] == []


def test_recruiting_and_paying_name_the_cost_twice_before_anything_is_done(desk, site, monkeypatch):
    page = desk.page
    site.create("paid", images=4, evaluators=3, base_usd_cents=200, minutes=10, panel=PROLIFIC)
    run(site, 2)
    with prolific.running(fee=Fraction(428, 1000)) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        sign_in(page, site, "/console/studies/paid/recruit")
        told = []
        for answer in ("Cancel", "Recruit 3 people for at most"):
            made = len(fake.books.studies)
            page.click("button:text-is('Show the cost')")
            page.click("dialog button:text-is('Continue')")
            page.wait_for_selector("dialog:has-text('Recruit now?')")
            told.append(page.inner_text("dialog"))
            page.click(f"dialog button:has-text('{answer}')")
        page.wait_for_selector("dd:text-is('open at the panel')")
        page.click("text=Pause recruiting")
        page.wait_for_selector("text=Resume recruiting")

    # $2.00 and 8 cents of bonus a person: 286 and 11.424, rounded up to 12, with the fee of 42.8%
    assert told[0].startswith("Recruit now?")
    assert "3 people" in told[0]
    assert "$8.94 (USD)" in told[0]
    assert (made, told[1], len(fake.books.studies)) == (0, told[0], 1)


def test_whom_a_list_names_is_marked_as_paid_and_who_came_since_is_not(desk, site):
    page = desk.page
    run(site, 2)
    sign_in(page, site, "/console/studies/faces/pay")
    with page.expect_download() as download:
        page.click("button:text-is('Download the list')")
    run(site, 1, seed=1)
    page.set_input_files("input[type=file]", download.value.path())
    page.click("button:text-is('Mark as paid')")
    page.click("dialog button:has-text('was paid to 2 people')")
    page.wait_for_selector("text=to 2 people is marked as paid.")

    assert page.inner_text("dt:text-is('To') + dd") == "1 person"


def test_a_download_shows_how_far_it_is_can_be_cancelled_and_outlives_a_lost_connection(
    desk, site, monkeypatch
):
    page, lost = desk.page, []
    run(site, 2)
    sign_in(page, site, "/console/studies/faces/scores")
    page.route("**/responses.csv", lambda route: lost.append(1) or route.abort(), times=1)
    with monkeypatch.context() as busy:
        busy.setattr(Downloads, "start_worker", lambda self: None)
        page.click("button:text-is('Answers')")
        page.wait_for_selector(".making:has-text('Waiting for its turn…')")
        shown = violations(page)
        press(page, "Cancel: Answers")
        page.wait_for_selector(".downloads .error:has-text('The download was cancelled')")
    left = page.inner_text(".making >> nth=0"), [*site.data.cache("downloads").glob("*/*")]
    with page.expect_download() as download:
        page.click("button:text-is('Answers')")

    assert (lost, shown, left) == ([1], [], ("", []))
    assert len(download.value.path().read_text().splitlines()) == 21


def test_every_file_is_downloaded_by_a_click_with_the_options_as_they_are(desk, site):
    page = desk.page
    run(site, 2)
    sign_in(page, site, "/console/studies/faces/scores")
    page.wait_for_selector(".downloads")

    names = []
    for button in page.query_selector_all(".downloads > li > button:not(:text-is('Demo'))"):
        with page.expect_download() as download:
            button.click()
        names.append(download.value.suggested_filename)

    assert names == ["faces-report.zip", "faces-export.zip", "faces-responses.csv"]
    assert not page.is_visible(".downloads .error")


def test_a_download_goes_on_after_the_sign_in_has_ended(desk, site):
    page = desk.page
    run(site, 2)
    sign_in(page, site, "/console/studies/faces/scores")
    page.wait_for_selector(".downloads")

    page.context.clear_cookies()
    page.click("button:text-is('Answers')")
    page.wait_for_selector("#token")
    page.keyboard.type(site.data.keys().researcher)
    with page.expect_download() as download:
        page.keyboard.press("Enter")

    assert len(download.value.path().read_text().splitlines()) == 21


def test_while_people_answer_nothing_moves_and_the_focus_stays(desk, site):
    run(site, 2)
    page = desk.page
    page.set_viewport_size({"width": 1280, "height": 900})
    sign_in(page, site, "/console/studies/faces")
    page.wait_for_selector("svg.narrowing, .scores .value")
    page.wait_for_timeout(600)
    page.evaluate(SHIFTS)
    tab_to(page, "How many")
    page.keyboard.type("7")

    run(site, 1, seed=1)
    page.wait_for_selector(".tiles > :first-child .value:text-is('3')")
    page.wait_for_timeout(300)

    assert page.evaluate("document.activeElement.value") == "7"
    assert page.evaluate("window.shifts") == 0


def mirrored(folder, out):
    """Write the pictures of a folder mirrored: a study refuses those that it has."""
    out.mkdir()
    for path in folder.iterdir():
        ImageOps.mirror(Image.open(path)).save(out / path.name)
    return out


def test_people_get_tokens_and_a_submitter_sees_its_own_submissions_only(desk, site, browser, tmp_path):
    page = desk.page
    site.create("arena", images=10, evaluators=4)
    sign_in(page, site, "/console/people")
    page.fill("input[pattern]", "ada")
    page.keyboard.press("Enter")
    page.wait_for_selector("h3:text-is('ada')")
    page.click("[aria-label='New token for ada']")
    page.fill("li:has(h3:text-is('ada')) input[type=text]", "laptop")
    page.keyboard.press("Enter")
    secret = page.inner_text(".secret")
    page.wait_for_selector(":focus:text-is('Copy')")
    page.goto(f"{site.url}/console/studies/arena/submissions")
    page.click("text=Make it a leaderboard study")
    page.click("text=Let models join")
    page.wait_for_selector("text=Saved.")
    bob = other_submitter(site)

    with worker(site):
        hers = browser.new_page()
        sign_in(hers, site, "/console", secret)
        hers.wait_for_url(f"{site.url}/console/submissions")
        hers.set_input_files(
            ".submit input[webkitdirectory]", mirrored(site.folders / "gan", tmp_path / "own")
        )
        hers.fill(".submit input[type=text]", "gan@4000")
        hers.click("button:text-is('Submit')")
        hers.wait_for_selector(".submissions .state:has-text('evaluators judge it')")
        his = browser.new_page()
        sign_in(his, site, "/console/submissions", bob)
        his.wait_for_selector("text=You have submitted nothing yet.")
        his.goto(f"{site.url}/console/studies/faces")
        his.wait_for_selector(".error")
        page.wait_for_selector(".submissions li:has-text('gan@4000 of ada')")

    page.goto(f"{site.url}/console/people")
    page.click("[aria-label='Revoke the token laptop']")
    page.wait_for_selector("text=revoked")
    page.goto(f"{site.url}/console/audit")
    page.wait_for_selector("tbody tr")
    hers.reload()
    hers.wait_for_selector("text=Your token was revoked")

    assert secret.startswith("oh_")
    assert secret not in page.content()
    assert "gan" not in his.inner_text("main")
    assert "ada" in page.inner_text("tbody")


def test_a_researcher_adds_a_model_and_sees_its_metrics(desk, site, tmp_path):
    page, folder = desk.page, tmp_path / "pictures"
    folder.mkdir()
    for i in range(12):
        Image.effect_noise((64, 64), 50 + i).convert("RGB").save(folder / f"{i}.png")
    with worker(site):
        sign_in(page, site, "/console/studies/faces/submissions")
        watching = page.context.new_page()
        watching.goto(f"{site.url}/console/studies/faces")
        watching.wait_for_selector(".models li:has-text('gan')")
        page.bring_to_front()
        page.click("text=Add a model")
        page.set_input_files(".submit input[webkitdirectory]", folder)
        page.fill(".submit input[type=text]", "dit")
        page.click("button:text-is('Add the model')")
        page.wait_for_selector(".names li:text-is('dit')")
        watching.bring_to_front()
        watching.wait_for_selector(".models li:has-text('dit')")
        page.bring_to_front()
        page.click(".parts a:text-is('Scores')")
        page.click("text=Compute the metrics")
        page.wait_for_selector(".metrics tbody tr:has-text('dit')")

    assert site.store.study("faces").models == ("gan", "dit")
    assert watching.inner_text(".tiles > :first-child").split() == ["Finished", "0", "of", "8", "wanted"]


def other_submitter(site):
    """Make another submitter, and return a token of theirs."""
    now = utc_now()
    bob = memberships.add(site.store, "bob", "submitter", "owner", now)
    return tokens.issue(site.store, bob, "", 30, "owner", now)[1]


@pytest.mark.core
def test_every_page_is_accessible_and_fits_light_and_dark_wide_and_narrow(desk, site):
    run(site, 4)
    page = desk.page
    sign_in(page, site, "/console/people")
    parts = ("", "/scores", "/recruit", "/pay", "/sessions", "/runs", "/settings")
    study = [f"studies/faces{each}" for each in parts]
    found = {}

    for path in ["people", "audit", "submissions", "opinion-scores", *study, "studies/faces/submissions"]:
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto(f"{site.url}/console/{path}")
        page.wait_for_selector(
            ".researcher > :is(section, .overview, .wide-table, div:not(:empty), .actions)"
        )
        for width, scheme in ((1280, "light"), (390, "dark")):
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            found[path, width] = (violations(page), page.evaluate(OVERFLOW))

    assert {path: broken for path, broken in found.items() if broken != ([], 0)} == {}


@pytest.fixture
def payday(site, monkeypatch):
    """People at the panel to whom the study `paid` owes money."""
    with prolific.running(fee=FEE) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        panel = ProlificPanel(fake.token, fake.environment()["OPENHYPE_PROLIFIC_URL"])
        made = Payday(site.store, "paid", panel, fake.books)
        terms = recruitment(panel_study=made.panel_study)
        site.store.write_entry("recruitment paid", "prolific", 0, terms)
        made.everyone()
        yield made


@pytest.mark.core
def test_what_the_panel_paid_leaves_the_list_and_what_is_typed_stays(desk, site, payday):
    page = desk.page
    with worker(site):
        sign_in(page, site, "/console/studies/paid/pay")
        page.click("summary:text-is('A session that broke off')")
        page.fill("details[open] input >> nth=0", "e010")
        page.click("button:text-is('Pay 6 people')")
        page.wait_for_selector("dialog:has-text('Pay the evaluators of paid?')")
        page.wait_for_selector(":focus:text-is('Cancel')")  # a held Enter pays nobody
        page.click("dialog button:text-is('Continue')")
        page.click("dialog button:has-text('for 6 people')")
        page.wait_for_selector(".jobs li:has-text('done')")
        page.wait_for_selector("dd:text-is('0 people')")

    assert page.input_value("details[open] input >> nth=0") == "e010"
    payday.check()


def test_the_page_of_payments_says_why_somebody_is_owed_what(desk, site, payday):
    page = desk.page
    sign_in(page, site, "/console/studies/paid/pay")
    page.click("summary:text-is('Why is somebody owed this?')")
    page.fill("details[open] input", "e0012")
    page.keyboard.press("Enter")
    page.wait_for_selector("details[open] .error:has-text('nobody called')")
    page.fill("details[open] input", "e009")
    page.keyboard.press("Enter")
    page.wait_for_selector("details[open] dd:text-is('nothing: the submission was rejected')")

    said = page.inner_text("details[open] dl")
    assert "$1.00 of base + $0.18 of bonus (9 right × $0.02) = $1.18" in said
    assert page.inner_text("details[open] .error") == ""
    for width, scheme in ((1280, "light"), (390, "dark")):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 800})
        assert (violations(page), page.evaluate(OVERFLOW)) == ([], 0)


def test_payments_are_made_automatic_and_taken_over_from_a_lost_store(desk, site, payday):
    page = desk.page
    sign_in(page, site, "/console/studies/paid/pay")
    page.click("summary:text-is('Automatic payment')")
    page.click("button:text-is('Pay automatically')")
    page.click("dialog button:text-is('Pay each hour')")
    page.wait_for_selector(".error:has-text('budget')")
    page.click("summary:text-is('Budget and fee')")
    page.fill("details[open] input[type=number]", "50")
    page.click("text=Set the budget")
    page.wait_for_selector("text=It is set.")
    page.click("summary:text-is('Automatic payment')")
    page.click("button:text-is('Pay automatically')")
    page.click("dialog button:text-is('Pay each hour')")
    page.wait_for_selector("dd:has-text('approved')")
    automatic = page.inner_text("dd:has-text('approved')")
    accounts.change_funds(site.store, "paid", lambda now: dataclasses.replace(now, paid_from="sqlite:///old"))
    page.reload()
    page.click("summary:text-is('The store that pays is lost')")
    page.click("button:text-is('Pay from here')")
    page.fill("dialog input", "sqlite:///old")
    page.keyboard.press("Enter")
    page.wait_for_selector("text=This store pays from now on.")

    assert "no run yet" in automatic
    assert accounts.funds(site.store, "paid")[1].paid_from == ""


def test_the_panel_is_asked_to_report_places_at_an_https_address(desk, site, monkeypatch):
    page = desk.page
    site.create("hired", images=4, evaluators=3, base_usd_cents=200, minutes=10, panel=PROLIFIC)
    with prolific.running(fee=FEE) as fake:
        for name, value in fake.environment().items():
            monkeypatch.setenv(name, value)
        sign_in(page, site, "/console/studies/hired/recruit")
        page.click("text=Show the cost")
        page.click("dialog button:text-is('Continue')")
        page.click("dialog button:has-text('Recruit 3 people')")
        page.click("summary:text-is('Updates from Prolific at once')")
        page.fill("details[open] input[type=url]", "http://lab.example")
        page.click("text=Have Prolific tell it")
        page.wait_for_selector("details[open] .error:has-text('https')")
        page.fill("details[open] input[type=url]", "https://lab.example")
        page.click("text=Have Prolific tell it")
        page.wait_for_selector("text=once the server has been started again")


def similarity(site, folder, name, method):
    """Make a study of similarity from pictures of noise."""
    parts = [("ref", 5), ("p0", 20), ("p1", 60)]
    for part, sigma in parts if method == "2afc" else parts[1:]:
        (folder / name / part).mkdir(parents=True)
        for i in range(8):
            picture = Image.effect_noise((64, 64), sigma + i).convert("RGB")
            picture.save(folder / name / part / f"{i}.png")
    settings = {"size_px": 64, "images": 6, "picture_checks": 2}
    spec = StudySpec(name, "study", method, items=(("sets", folder / name),), settings=settings)
    create(site.store, site.data, spec, utc_now())


def test_votes_of_simulated_evaluators_stand_apart_from_those_of_people(desk, site, tmp_path):
    page = desk.page
    similarity(site, tmp_path, "sim", "2afc")
    similarity(site, tmp_path, "pairs", "jnd")
    with worker(site):
        sign_in(page, site, "/console/studies/pairs")
        for study in ("pairs", "sim"):
            page.goto(f"{site.url}/console/studies/{study}")
            page.fill("label:text-is('How many') ~ input >> nth=-1", "2")
            page.click("button:text-is('Simulate')")
            page.wait_for_selector(".jobs li:has-text('done')")
        page.goto(f"{site.url}/console/studies/sim/scores?simulated")
        page.click("text=Score them against the votes")
        page.wait_for_selector("table:has-text('Distances against votes')")
        page.click("text=Correlate the scores")
        page.wait_for_selector("table:has-text('Correlation of 2AFC and JND scores')")
        page.reload()
        page.wait_for_selector("table:has-text('Distances against votes')")
        page.wait_for_selector("table:has-text('Correlation of 2AFC and JND scores')")
        correlated = page.inner_text("section:has(> h2:text-is('2AFC with JND'))")
        chart = page.get_attribute(".scatter svg", "aria-label")
        page.set_viewport_size({"width": 390, "height": 800})
        narrow = (violations(page), page.evaluate(OVERFLOW))
        page.emulate_media(color_scheme="dark")
        dark = violations(page)
        page.click("a:text-is('Scores of people')")
        page.wait_for_selector(".jobs li:has-text('done')")
        page.wait_for_timeout(500)

    assert page.locator("table:has-text('Distances against votes'), .scatter").count() == 0
    assert "Simulated. No person gave these answers." in correlated
    assert "sim (2AFC, 8 items, 2 evaluators) and pairs (JND, 8 items, 2 evaluators)." in correlated
    assert "An interval takes 4 metrics" in correlated
    assert chart == "JND area against 2AFC score of l2, psnr, ssim"
    assert (narrow, dark) == (([], 0), [])


def test_a_reply_that_comes_late_is_not_seen_on_another_screen(desk, site):
    page = desk.page
    sign_in(page, site, "/console/new")
    page.fill("#name", "late")
    page.click("text=Continue to the pictures")
    page.wait_for_selector(".drop-zone")
    (draft,) = site.store.entries("drafts")
    page.goto(f"{site.url}/console/audit")
    page.wait_for_selector("tbody tr")
    late = []
    page.route("**/api/drafts/*", lambda route: late.append(route))
    page.evaluate("path => history.pushState(null, '', path)", f"/console/new/{draft.key}/pictures")
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    page.wait_for_selector("h1:text-is('Pictures')")
    page.go_back()
    page.wait_for_selector("h1:text-is('Audit log')")
    for route in late:
        route.continue_()
    page.wait_for_timeout(500)

    assert late
    assert page.locator(".drop-zone").count() == 0


def test_a_dialog_leaves_with_its_screen_and_the_sign_in_stays(desk, site):
    page = desk.page
    page.goto(f"{site.url}/console/studies/faces")
    page.wait_for_selector("#token")
    for _ in range(3):
        page.keyboard.press("Escape")
    page.fill("#token", site.data.keys().researcher)
    page.keyboard.press("Enter")
    page.click(".parts a:text-is('Settings')")
    page.click("button:text-is('Delete this study')")
    page.wait_for_selector("dialog input")
    page.go_back()
    page.wait_for_selector("h1:text-is('faces')")

    assert page.locator("dialog").count() == 0
    assert site.store.study("faces")


@pytest.mark.core
def test_a_tab_of_whom_another_has_signed_in_beside_does_nothing_and_starts_afresh(desk, site):
    """Two tabs of one browser, whose cookie is that of who signed in last."""
    page = desk.page
    sign_in(page, site, "/console/people")
    beside = page.context.new_page()
    sign_in_again = {"token": other_submitter(site)}
    assert beside.request.post(f"{site.url}/api/sign-in", data=sign_in_again).ok
    page.fill("input[maxlength='64']", "eve")
    page.click("button:text-is('Add')")
    page.wait_for_url(f"{site.url}/console/submissions")
    line = page.inner_text(".warning")
    page.wait_for_selector(".submissions", state="attached")
    wide = (violations(page), page.evaluate(OVERFLOW))
    page.set_viewport_size({"width": 375, "height": 800})
    narrow = (violations(page), page.evaluate(OVERFLOW))

    assert line.startswith("This browser is now signed in as bob. This tab was that of owner")
    assert (wide, narrow) == (([], 0), ([], 0))
    assert memberships.past_or_present(site.store, "eve") is None


def multiplied(site, number):
    """Have the one session of `faces` be one of so many more, opened a second apart."""
    ((session, cursor),) = site.store.sessions("faces")
    for i in range(number):
        at = stamp(utc_now() + timedelta(seconds=i))
        more = dataclasses.replace(session, id=f"{i:024}", evaluator=f"e{i:07}", opened_at=at)
        site.store.restore(more, dataclasses.replace(cursor, last_at=at), [])


def evaluated(page, expression, value):
    """Wait for the value of an expression."""
    eventually(page, lambda: page.evaluate(expression), value)


@pytest.mark.core
def test_back_brings_back_the_page_the_filter_and_the_place_of_a_long_list(desk, site):
    run(site, 1)
    multiplied(site, 250)
    page = desk.page
    sign_in(page, site, "/console/studies/faces/sessions")
    page.wait_for_selector("tbody tr >> nth=99")
    told = page.inner_text(".researcher > .quiet:has-text('Sessions:')")
    page.click("text=Earlier sessions")
    page.wait_for_selector("tbody tr:has-text('e0000149')")
    page.evaluate("scrollTo(0, 2000)")
    evaluated(page, "history.state?.scroll", 2000)
    page.evaluate("document.querySelector('.parts a').click()")  # a press would scroll up to it
    page.wait_for_selector(".tiles")
    at_top = page.evaluate("scrollY")
    page.go_back()
    page.wait_for_selector("tbody tr:has-text('e0000149')")
    evaluated(page, "scrollY", 2000)
    page.reload()
    evaluated(page, "scrollY", 2000)
    page.fill("input[type=search]", "E0000007")
    page.wait_for_selector("tbody:not(:has(tr + tr)) tr:has-text('e0000007')")
    page.click(".parts a:text-is('Overview')")
    page.wait_for_selector(".tiles")
    page.go_back()
    page.wait_for_selector("tbody:not(:has(tr + tr)) tr:has-text('e0000007')")
    filtered = page.input_value("input[type=search]")
    looks = [(violations(page), page.evaluate(OVERFLOW))]
    page.goto(f"{site.url}/console/studies/faces/sessions")
    page.wait_for_selector("tbody tr >> nth=99")
    page.set_viewport_size({"width": 375, "height": 800})
    looks.append((violations(page), page.evaluate(OVERFLOW)))

    assert told == "Sessions: 251; 100 are on this page"
    assert (at_top, filtered) == (0, "E0000007")
    assert looks == [([], 0)] * 2


def test_a_reload_before_a_long_list_has_come_back_does_not_lose_its_place(desk, site):
    run(site, 1)
    multiplied(site, 100)
    page = desk.page
    sign_in(page, site, "/console/studies/faces/sessions")
    page.wait_for_selector("tbody tr >> nth=99")
    page.evaluate("scrollTo(0, 2000)")
    evaluated(page, "history.state?.scroll", 2000)
    held = []
    page.route("**/api/studies/faces/sessions*", lambda route: held.append(route))

    # Back as soon as the next screen has scrolled up, which is noted a little later
    page.evaluate("addEventListener('scroll', () => history.back(), {once: true})")
    page.evaluate("document.querySelector('.parts a').click()")
    evaluated(page, "location.pathname", "/console/studies/faces/sessions")
    eventually(page, lambda: len(held), 1)
    page.wait_for_timeout(500)
    noted = page.evaluate("history.state.scroll")
    page.unroute("**/api/studies/faces/sessions*")
    page.reload()

    evaluated(page, "scrollY", 2000)
    assert noted == 2000


def test_back_brings_back_what_was_looked_for_among_studies_and_settings_and_the_audit_log(desk, site):
    page = desk.page
    for i in range(250):
        audit_log.write(site.store, utc_now(), "ada", None, "POST /api/studies/{study}/pause", f"s{i}", 404)
    sign_in(page, site, "/console/studies/faces/settings")
    page.fill("input[type=search]", "consent")
    page.click("text=Audit log")
    page.wait_for_selector("tbody tr >> nth=99")
    page.click("text=Show older entries")
    page.wait_for_selector("tbody tr >> nth=199")
    page.click(".console-bar >> text=Studies")
    page.wait_for_selector(".studies li")
    page.go_back()
    page.wait_for_selector("tbody tr >> nth=199")
    page.go_back()
    page.wait_for_selector(".setting-list")

    assert page.input_value("input[type=search]") == "consent"
    assert page.locator("dt code:text-is('images'):visible").count() == 0


@pytest.mark.core
def test_a_token_that_was_not_copied_is_asked_about_before_it_goes(desk, site):
    page = desk.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    sign_in(page, site, "/console")
    page.click(".console-bar >> text=People")
    page.click("summary[aria-label='New token for owner']")
    page.click("button:text-is('Make the token')")
    page.wait_for_selector(".once")
    asked = []

    def answer(label):
        page.wait_for_selector("dialog h2:text-is('Go on without copying?')")
        asked.append(page.inner_text("dialog p"))
        page.click(f"dialog button:text-is('{label}')")
        page.wait_for_selector("dialog", state="detached")

    page.click(".console-bar >> text=Studies")
    answer("Cancel")
    page.go_back()
    answer("Cancel")
    page.click("summary[aria-label='New token for owner']")
    page.click("button:text-is('Make the token')")
    answer("Cancel")
    page.once("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    page.evaluate("location.reload()")
    stays = (page.url, page.locator(".once").count(), len(site_tokens(site)))
    page.go_back()
    answer("Go on without it")
    page.wait_for_url(f"{site.url}/console")
    page.go_forward()
    page.click("summary[aria-label='New token for owner']")
    page.click("button:text-is('Make the token')")
    page.click(".once button:text-is('Copy')")
    page.wait_for_selector(".once .told:text-is('Copied.')")
    page.click(".console-bar >> text=Studies")
    page.wait_for_url(f"{site.url}/console")

    words = "The new token for owner was not copied, and cannot be shown again."
    assert asked == [words] * 3 + ["beforeunload"] + [words]
    assert stays == (f"{site.url}/console/people", 1, 1)


def site_tokens(site):
    return list(tokens.tokens(site.store))


DISPUTE = "dialog:has(h2:text-is('Which one is to stay?'))"


def as_colleague(site, path, body):
    request = urllib.request.Request(
        f"{site.url}/api/studies/faces/{path}",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "X-Openhype-Token": site.data.keys().researcher},
    )
    urllib.request.urlopen(request, timeout=20).close()


@pytest.mark.core
def test_a_colleagues_edit_of_a_setting_is_shown_beside_ones_own_and_one_stays(desk, site):
    page = desk.page
    page.set_viewport_size({"width": 375, "height": 800})
    sign_in(page, site, "/console/studies/faces/settings")
    page.click("button[aria-label='Change: Evaluators for each model']")
    as_colleague(site, "set", {"settings": {"evaluators": 6}})
    page.fill("dialog input", "8")
    page.click("dialog button:text-is('Save')")
    page.wait_for_selector(DISPUTE)
    values = page.locator(f"{DISPUTE} dd").all_inner_texts()
    looks = (violations(page), page.evaluate(OVERFLOW))
    page.keyboard.press("Escape")
    page.wait_for_selector(DISPUTE, state="detached")
    typed = page.input_value("dialog input")
    page.click("dialog button:text-is('Save')")
    page.click("button:text-is('Keep what is stored')")
    page.wait_for_selector("dialog", state="detached")
    theirs = site.store.study("faces").evaluators_wanted
    row = page.locator("div:has(> dd > button[aria-label='Change: Evaluators for each model'])")
    shown = row.locator(".setting-value").inner_text()
    as_colleague(site, "set", {"settings": {"evaluators": 10}})
    page.click("button[aria-label='Change: Evaluators for each model']")
    page.fill("dialog input", "12")
    page.click("dialog button:text-is('Save')")
    page.click("button:text-is('Replace it with mine')")
    page.wait_for_selector("dialog", state="detached")

    assert (values, looks, typed, shown) == (["6", "8"], ([], 0), "8", "6")
    assert (theirs, site.store.study("faces").evaluators_wanted) == (6, 12)


def test_a_colleagues_edit_of_budget_and_terms_is_shown_beside_ones_own(desk, site):
    page = desk.page
    sign_in(page, site, "/console/studies/faces/pay")
    page.click("summary:text-is('Budget')")
    as_colleague(site, "payments/budget", {"budget_usd_cents": 5000})
    page.fill("details[open] input[type=number]", "70")
    page.click("text=Set the budget")
    page.wait_for_selector(DISPUTE)
    amounts = page.locator(f"{DISPUTE} dd").all_inner_texts()
    page.click("button:text-is('Replace it with mine')")
    page.wait_for_selector("text=It is set.")
    budget = accounts.funds(site.store, "faces")[1].budget_usd_cents
    as_colleague(site, "competition", {"title": "One"})
    page.goto(f"{site.url}/console/studies/faces/submissions")
    page.click("summary:text-is('Change it')")
    as_colleague(site, "competition", {"title": "Two", "about": "Theirs alone."})
    page.fill(".competition input >> nth=0", "Three")
    page.click("button:text-is('Save')")
    page.wait_for_selector(DISPUTE)
    titles = page.locator(f"{DISPUTE} dd").all_inner_texts()
    page.click("button:text-is('Replace it with mine')")
    page.wait_for_selector("text=Saved.")
    terms = competition_of(site.store, site.store.study("faces")).terms

    assert (amounts, budget) == (["$50.00 (USD)", "$70.00 (USD)"], 7000)
    assert titles == ["Two", "Three"]
    assert (terms.title, terms.about) == ("Three", "Theirs alone.")


def test_another_member_who_signs_in_starts_afresh(desk, site, browser):
    page = desk.page
    bob = other_submitter(site)
    sign_in(page, site, "/console/studies/faces/pay")
    page.wait_for_selector("summary:text-is('Budget')")
    page.context.clear_cookies()
    page.click("summary:text-is('Budget')")
    page.fill("details[open] input[type=number]", "50")
    page.click("text=Set the budget")
    page.fill("dialog #token", bob)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site.url}/console/submissions")

    assert "bob" in page.inner_text(".who")
