"""People from panels in the browser: they come by the panel's link, and go back the way it expects."""

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from backend.experiment import panel as records
from backend.handlers import create_app
from backend.panels.prolific import ProlificPanel
from backend.recruitment import recruit as recruiting
from backend.recruitment.recruit import begin, plan
from backend.recruitment.sync_thread import Watch
from backend.web.server import in_background
from tests import prolific
from tests.prolific import Books

from .conftest import Player, eventually

SUBMIT = "https://app.prolific.com/submissions"
PAID = {"base_usd_cents": 200, "minutes": 10, "evaluators": 2}


@pytest.fixture
def at_prolific(site):
    """The site with a watch over a fake Prolific; `site.fake` is the panel."""
    with prolific.running(Books(fee=Fraction(428, 1000))) as fake:
        panel = ProlificPanel(fake.token, f"{fake.url}/api/v1/", sleep=lambda _: None)
        watch = Watch(site.store, panel, fake.webhooks.secret, every_s=0.2)
        app = create_app(site.store, site.data, site.data.keys(), watch=watch)
        watch.start()
        with in_background(app) as url:
            site.url, site.fake, site.panel, site.record = url, fake, panel, "prolific"
            yield site
        watch.stop()


@pytest.fixture
def guest(page, at_prolific):
    """Someone with a place at Prolific."""
    page.route(f"{SUBMIT}**", lambda route: route.fulfill(body="<h1>Back at the panel</h1>"))
    guest = Guest(page, at_prolific)
    yield guest
    assert guest.faults == []


class Guest(Player):
    def _check_origin(self, request):
        if not request.url.startswith(SUBMIT):
            super()._check_origin(request)

    def recruit(self, study, **options):
        return begin(self.site.store, self.site.panel, study, plan(study, **options), self.site.url)

    def come(self, recruited):
        self.place = self.site.fake.books.take(recruited["panel_study"])
        self.site.fake.books.start(self.place.id)
        self.page.goto(self.site.fake.books.link(self.place.id))

    def until_status(self, status):
        eventually(self.page, lambda: self.place.status, status)

    def go_back(self):
        with self.page.expect_navigation(url=f"{SUBMIT}**"):
            self.page.click("main .primary")
        return self.page.url

    def play(self, trials, answer=None):
        self.press("instructions")
        for _ in range(trials):
            self.wait("question")
            self.answer(answer or self.see()[0])


@pytest.mark.core
def test_from_the_panels_link_to_its_page_of_completion(guest, at_prolific):
    recruited = guest.recruit(at_prolific.create("faces", images=4, feedback_ms=50, **PAID))
    guest.come(recruited)
    guest.press("consent")
    guest.play(4)
    guest.wait("done")
    shown = guest.page.content()

    address = guest.go_back()

    guest.until_status("AWAITING REVIEW")
    session, cursor, _ = at_prolific.stored("faces")
    assert address == SUBMIT
    assert "you need no code" in shown
    assert guest.place.entered_code == recruited["codes"]["done_by_server"]
    assert session.panel == {
        "PROLIFIC_PID": guest.place.participant, "SESSION_ID": guest.place.id, "STUDY_ID": guest.place.study,
    }  # fmt: skip
    assert cursor.state == "finished"
    assert not any(code in shown for code in recruited["codes"].values())


def test_where_people_bring_a_code_the_address_carries_it(guest, at_prolific):
    study = at_prolific.create("faces", images=2, feedback_ms=50, **PAID)
    recruited = begin(
        at_prolific.store, at_prolific.panel, study, plan(study), at_prolific.url, by_server=False
    )
    guest.come(recruited)
    guest.press("consent")
    guest.play(2)
    guest.wait("done")

    assert guest.page.inner_text("#code") == recruited["codes"]["done"]
    assert guest.go_back() == f"{SUBMIT}/complete?cc={recruited['codes']['done']}"


def test_who_refuses_consent_goes_back_with_the_code_for_it(guest, at_prolific):
    recruited = guest.recruit(at_prolific.create("faces", images=2, **PAID))
    guest.come(recruited)
    guest.wait("consent")
    guest.page.click("text=No, thank you")
    guest.wait("done")

    assert guest.go_back() == f"{SUBMIT}/complete?cc={recruited['codes']['no_consent']}"
    assert list(at_prolific.store.sessions("faces")) == []


def test_whose_device_is_unfit_can_go_back(guest, at_prolific):
    recruited = guest.recruit(
        at_prolific.create("glimpse", "time", images=4, blocks=1, spare_images=2, **PAID)
    )
    guest.page.set_viewport_size({"width": 360, "height": 640})
    guest.come(recruited)
    guest.page.wait_for_selector("text=This device cannot show the task")
    guest.page.click("text=I cannot take part")
    guest.wait("done")

    assert guest.go_back() == f"{SUBMIT}/complete?cc={recruited['codes']['unfit_device']}"


@pytest.mark.parametrize("leave", ["give_back", "time_out"])
def test_whose_place_is_gone_is_told_kindly(guest, at_prolific, leave):
    recruited = guest.recruit(at_prolific.create("faces", images=6, feedback_ms=50, **PAID))
    guest.come(recruited)
    guest.press("consent")
    guest.play(2)
    guest.wait("question")
    getattr(at_prolific.fake.books, leave)(guest.place.id)
    eventually(guest.page, lambda: at_prolific.stored("faces")[1].state, "returned")

    guest.page.keyboard.press("r")
    guest.wait("error")

    assert guest.heading() == "Your place was given back"
    assert guest.place.entered_code is None
    assert at_prolific.store.taken("faces", "2020") == {}


def test_who_fails_the_qualification_is_paid_for_being_screened_out(guest, at_prolific):
    at_prolific.create("test", kind="qualification", images=4, feedback_ms=50)
    recruited = guest.recruit(at_prolific.create("faces", images=4, qualification="test", **PAID))
    guest.come(recruited)
    guest.press("consent")
    guest.page.wait_for_selector("text=there is a short test")
    guest.press("consent")
    guest.play(4, "r")
    guest.wait("done")

    assert guest.heading() == "Thank you"
    assert guest.go_back() == f"{SUBMIT}/complete?cc={recruited['codes']['screened_out']}"


def test_who_took_part_in_another_study_is_told_before_consent(guest, at_prolific):
    at_prolific.create("pilot", images=2, feedback_ms=50)
    recruited = guest.recruit(at_prolific.create("faces", images=2, **PAID))
    place = at_prolific.fake.books.take(recruited["panel_study"])
    guest.visit("pilot", f"?PROLIFIC_PID={place.participant}")
    guest.press("consent")
    guest.play(2)
    guest.wait("done")

    guest.page.goto(at_prolific.fake.books.link(place.id))
    guest.wait("error")

    assert guest.heading() == "Thank you for coming back"
    assert guest.go_back() == f"{SUBMIT}/complete?cc={recruited['codes']['no_consent']}"


def test_nothing_of_the_panel_is_in_logs_addresses_or_pages(guest, at_prolific, caplog, tmp_path, capfd):
    from backend.responses.export import export

    caplog.set_level("DEBUG")
    requests = []
    guest.page.on("request", lambda request: requests.append(request))
    study = at_prolific.create("faces", images=4, feedback_ms=50, **PAID)
    recruited = guest.recruit(study)
    guest.come(recruited)
    page_itself = guest.page.url
    pages = []
    guest.press("consent")
    guest.press("instructions")
    for _ in range(4):
        guest.wait("question")
        pages.append(guest.page.content())
        guest.answer(guest.see()[0])
    guest.wait("done")
    pages.append(guest.page.content())
    guest.until_status("AWAITING REVIEW")
    files = export(at_prolific.store, study, tmp_path / "export")

    fake, key = at_prolific.fake, at_prolific.data.keys().researcher
    secrets = [guest.place.participant, guest.place.id, fake.token, fake.webhooks.secret, key]
    secrets += recruited["codes"].values()
    (session, _, _) = at_prolific.stored("faces")
    kept_here = [*secrets, session.evaluator_key]
    out, err = capfd.readouterr()
    addresses = [request.url for request in requests if request.url != page_itself]
    referrers = [request.headers.get("referer", "") for request in requests]
    for name, text in {
        "logs": caplog.text + out + err,
        "exports": "".join(path.read_text("utf-8") for path in files),
        "addresses": "\n".join(addresses + referrers),
        "pages": "".join(pages),
    }.items():
        assert [secret for secret in kept_here if secret in text] == [], name
    assert len(addresses) > 8


class Panels(BaseHTTPRequestHandler):
    """A panel of MTurk's shape: a page with the task in a frame, and an address for its form."""

    def do_GET(self):
        self._send(f'<iframe src="{self.server.task}" width="1000" height="700"></iframe>'.encode())

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.posted.append((self.path, parse_qs(body)))
        self._send(b"<h1>Received</h1>")

    def _send(self, body):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def mturk_shaped():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Panels)
    server.posted, server.task = [], ""
    server.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def play_in_a_frame(page, site):
    """Play a session of two pictures in a panel's frame; return its code, and what the panel was sent."""
    with mturk_shaped() as panel:
        entries = {"like": "mturk", "form_origins": [panel.url], "frame_origins": [panel.url]}
        site.create("faces", images=2, feedback_ms=50, panel=records.from_json(entries))
        link = f"{site.url}/s/faces?assignmentId=a1&hitId=h1&workerId=w1&turkSubmitTo={panel.url}"
        panel.task = link.replace("&", "&amp;")
        page.goto(panel.url)
        frame = page.frame_locator("iframe")
        frame.locator("text=I agree").click()
        frame.locator("text=Start").click()
        for number in (1, 2):
            frame.locator(f"#progress:text-is('Picture {number} of 2')").wait_for()
            frame.locator("body[data-screen=question] button:has-text('Real')").click()
        code = frame.locator("#code").inner_text()
        frame.locator("button:has-text('Finish and go back')").click()
        frame.locator("text=Received").wait_for()
    return code, panel.posted


@pytest.mark.core
def test_a_panel_of_mturks_shape_frames_the_page_and_gets_its_form(page, site):
    code, posted = play_in_a_frame(page, site)

    assert posted == [("/mturk/externalSubmit", {"assignmentId": ["a1"], "completion_code": [code]})]


def test_a_preview_shows_the_task_and_records_nothing(page, site):
    preview(page, site)


def preview(page, site):
    site.create("faces", images=2, panel=records.MTURK)
    page.goto(f"{site.url}/s/faces?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h1")
    page.wait_for_selector("text=This is a preview")

    assert "How it works" in page.inner_text("main")
    assert page.query_selector("main button") is None
    assert list(site.store.sessions("faces")) == []


def test_the_page_hands_over_the_panels_signature_and_tells_kindly_where_it_is_none(page, site):
    key = ec.generate_private_key(ec.SECP256R1())
    published = jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": "k"}
    claims = {"exp": datetime.now(UTC).timestamp() + 300, "person": "p1"}
    proof = jwt.encode(claims, key, "ES256", headers={"kid": "k"})
    signature = {
        "parameter": "proof",
        "keys": json.dumps({"keys": [published]}),
        "claims": {"PROLIFIC_PID": "person"},
    }
    site.create("faces", images=2, panel=records.from_json({"like": "prolific", "signature": signature}))

    page.goto(f"{site.url}/s/faces?PROLIFIC_PID=p2&proof={proof}")
    page.wait_for_selector("text=Please come in from the panel again")
    page.goto(f"{site.url}/s/faces?PROLIFIC_PID=p1&proof={proof}")
    page.click("text=I agree")
    page.wait_for_selector("body[data-screen=instructions]")

    ((session, _),) = site.store.sessions("faces")
    assert session.panel == {"PROLIFIC_PID": "p1"}


def test_no_other_site_may_frame_a_page_or_take_its_form(page, site):
    site.create("faces", images=2)
    entries = {"like": "mturk", "form_origins": ["https://f.example"], "frame_origins": ["https://p.example"]}
    site.create("framed", images=2, panel=records.from_json(entries))

    policies = {}
    for name in ("faces", "framed"):
        headers = page.request.get(f"{site.url}/s/{name}").headers
        policies[name] = headers["content-security-policy"], headers["cross-origin-resource-policy"]

    assert "frame-ancestors 'none'" in policies["faces"][0]
    assert policies["faces"][1] == "same-origin"
    assert "frame-ancestors https://p.example" in policies["framed"][0]
    assert "form-action 'self' https://f.example;" in policies["framed"][0]


def test_a_private_link_opens_the_study_once(page, site, context):
    from backend.task.eligibility import issue_links

    site.create("faces", images=2, feedback_ms=50, panel=records.PRIVATE)
    (token,) = issue_links(site.store, site.data.keys().hashing, "faces", 1)
    player = Player(page, site)
    player.visit("faces")
    player.wait("error")
    assert player.heading() == "This link does not open the study"

    player.visit("faces", f"?link={token}")
    player.press("consent")
    player.press("instructions")
    player.answer("r")
    player.answer("r")
    player.wait("done")

    other = context.browser.new_context()
    second = other.new_page()
    second.goto(f"{site.url}/s/faces?link={token}")
    second.wait_for_selector("body[data-screen=done]")
    other.close()
    assert len(list(site.store.sessions("faces"))) == 1
    assert json.dumps(player.faults) == "[]"


def test_the_stored_recruitment_is_never_told_to_a_page(guest, at_prolific):
    recruited = guest.recruit(at_prolific.create("faces", images=2, **PAID))

    told = guest.page.request.get(f"{at_prolific.url}/api/studies/faces").text()

    stored = recruiting.recruitment(at_prolific.store, at_prolific.store.study("faces"))
    known = {name: value for name, value in recruited.items() if name != "at_panel"}
    assert stored | known == stored  # of the panel, the watch may have heard more since
    assert not any(str(value) in told for value in recruited["codes"].values())
