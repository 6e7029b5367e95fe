"""When the server fails, or what lies between: the page says what it is, ends trying, and loses nothing."""

import pytest

from backend.foundation.errors import StoreFailed
from backend.handlers import create_app

from .conftest import Player
from .servers import Between, Machine
from .test_accessibility import violations

CONTACT = "faces@lab.example"


class Faulty:
    """A store that fails as it is told to, and else is the one behind it."""

    def __init__(self, store):
        self._store, self.fails = store, {}

    def __getattr__(self, name):
        if name in self.fails:
            raise self.fails[name]
        return getattr(self._store, name)


@pytest.fixture
def faulty(site):
    """The site over a store that can fail, behind something that can break replies off."""
    site.faults = Faulty(site.store)
    site.between = Between(create_app(site.faults, site.data, site.data.keys()))
    site.machine = Machine(site.between)
    site.url = f"http://127.0.0.1:{site.machine.port}"
    yield site
    site.machine.stop()


@pytest.fixture
def visitor(page, faulty):
    visitor = Player(page, faulty)
    yield visitor
    assert visitor.faults == []


def stuck(page):
    return page.wait_for_selector("dialog[open]", timeout=60000)  # more than it is tried


def try_again(page):
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog", state="detached")


def quoted(dialog):
    """Return what the page asks to be quoted."""
    lines = dialog.inner_text().split("\n")
    return {name: lines[lines.index(name) + 1] for name in ("Error", "Session") if name in lines}


def test_a_picture_that_the_server_cannot_give_ends_in_words_with_an_id_that_is_in_the_log(
    visitor, faulty, caplog
):
    faulty.create("faces", images=4, feedback_ms=50, contact=CONTACT)
    folder = faulty.data.images("faces")
    elsewhere = folder.rename(folder.with_name("elsewhere"))
    visitor.begin("faces")

    dialog = stuck(visitor.page)
    session, _, _ = faulty.stored("faces")
    shown = quoted(dialog)
    text = dialog.inner_text()
    found = violations(visitor.page)
    elsewhere.rename(folder)
    try_again(visitor.page)
    for _ in range(4):
        visitor.answer("r")
    visitor.wait("done")

    assert "Something went wrong on our side" in text
    assert "connection" not in text
    assert visitor.page.get_attribute("a[href^=mailto]", "href") == f"mailto:{CONTACT}"
    assert shown["Session"] == session.id
    (line,) = [line for line in caplog.messages if shown["Error"] in line]
    assert line.startswith(f"refused {shown['Error']}: GET /i/faces/")
    assert found == []
    assert visitor.answers_stored("faces") == 4


def test_pictures_that_fail_ahead_of_time_disturb_nobody_until_they_are_needed(visitor, faulty):
    faulty.create("faces", images=4, feedback_ms=50)
    visitor.begin("faces")
    visitor.wait("question")
    visitor.page.route("**/i/**", lambda route: route.fulfill(status=500))
    visitor.page.reload()
    visitor.page.unroute("**/i/**")
    first = []

    def all_but_the_first(route):
        first.append(route.request.url)
        route.continue_() if route.request.url == first[0] else route.fulfill(status=500)

    visitor.page.route("**/i/**", all_but_the_first)
    visitor.press("instructions")
    visitor.wait("question")
    visitor.page.wait_for_timeout(6000)  # longer than it is tried
    undisturbed = (visitor.page.locator("dialog").count(), visitor.page.inner_text("#notice"))
    visitor.page.keyboard.press("r")
    stuck(visitor.page)
    visitor.page.unroute("**/i/**")
    try_again(visitor.page)
    for _ in range(3):
        visitor.answer("r")
    visitor.wait("done")

    assert undisturbed == (0, "")
    assert visitor.answers_stored("faces") == 4


@pytest.mark.core
def test_an_answer_that_fails_is_kept_and_sent_again(visitor, faulty, caplog):
    faulty.create("faces", images=4, feedback_ms=50)
    visitor.begin("faces")
    visitor.wait("question")
    faulty.faults.fails = {"append": RuntimeError("the disk is on fire")}
    visitor.page.keyboard.press("j")

    dialog = stuck(visitor.page)
    shown, text = quoted(dialog), dialog.inner_text()
    visitor.page.keyboard.press("f")  # goes nowhere: the answer was given
    try_again(visitor.page)
    stuck(visitor.page)
    faulty.faults.fails = {}
    visitor.act_and_move_on(lambda: try_again(visitor.page))
    for _ in range(3):
        visitor.answer("j")
    visitor.wait("done")

    _, _, responses = faulty.stored("faces")
    assert "Your last answer is kept on this page" in text
    assert [response.response for response in responses] == ["real"] * 4
    assert any(line.startswith(f"fault {shown['Error']}: POST /api/sessions/") for line in caplog.messages)


def test_an_answer_that_fails_is_asked_for_again_after_a_reload(visitor, faulty):
    faulty.create("faces", images=4, feedback_ms=50)
    visitor.begin("faces")
    visitor.wait("question")
    faulty.faults.fails = {"append": RuntimeError("the disk is on fire")}
    visitor.page.keyboard.press("r")
    stuck(visitor.page)
    faulty.faults.fails = {}
    visitor.page.reload()
    visitor.press("instructions")
    for _ in range(4):
        visitor.answer("r")
    visitor.wait("done")

    assert visitor.answers_stored("faces") == 4


def test_a_store_that_is_full_for_now_is_waited_for_in_words_of_its_own(visitor, faulty):
    faulty.create("faces", images=2, feedback_ms=50)
    visitor.begin("faces")
    visitor.wait("question")
    faulty.faults.fails = {"append": StoreFailed("the disk is full")}
    visitor.page.keyboard.press("r")

    notice = visitor.page.wait_for_selector("#notice:not(:empty)").inner_text()
    faulty.faults.fails = {}
    visitor.act_and_move_on(lambda: None)

    assert "Many people are here just now" in notice
    assert "trying again in 5 seconds" in notice or "trying again in 6 seconds" in notice
    assert visitor.answers_stored("faces") == 1


def test_a_slow_server_is_said_to_be_slow(visitor, faulty):
    faulty.create("faces", images=2, feedback_ms=50)
    visitor.begin("faces")
    visitor.wait("question")
    faulty.between.delay_s = 6
    visitor.page.keyboard.press("r")
    notice = visitor.page.wait_for_selector("#notice:not(:empty)").inner_text()
    faulty.between.delay_s = 0
    visitor.act_and_move_on(lambda: None)

    assert notice == "The server is slow just now. Please wait a moment…"


def test_the_sign_in_page_of_a_network_is_told_from_a_fault_of_the_study(visitor, faulty):
    faulty.create("faces", images=2, feedback_ms=50, contact=CONTACT)
    visitor.begin("faces")
    visitor.wait("question")
    visitor.page.route(
        "**/answers", lambda route: route.fulfill(body="<h1>Hotel</h1>", content_type="text/html")
    )
    visitor.page.keyboard.press("r")

    dialog = stuck(visitor.page)
    text, found = dialog.inner_text(), violations(visitor.page)
    visitor.page.unroute("**/answers")
    visitor.act_and_move_on(lambda: try_again(visitor.page))

    assert "Your network asks for something first" in text
    assert CONTACT not in text
    assert found == []
    assert visitor.answers_stored("faces") == 1


def test_who_cannot_go_on_is_told_whom_to_write_to_and_what_to_quote(visitor, faulty):
    faulty.create("faces", images=4, feedback_ms=50, contact=CONTACT)
    visitor.begin("faces")
    visitor.answer("r")
    faulty.faults.fails = {"append": RuntimeError("the disk is on fire")}
    visitor.wait("question")
    visitor.page.keyboard.press("r")
    stuck(visitor.page)
    visitor.page.click("text=I cannot go on")
    visitor.page.wait_for_selector("h1:text-is('You can stop here')")

    session, _, responses = faulty.stored("faces")
    text = visitor.page.inner_text("main")
    assert session.id in text
    assert CONTACT in text
    assert "Every answer that you gave is stored" in text
    assert "pay you for what you did" in text
    assert len(responses) == 1
    assert violations(visitor.page) == []


def test_a_fault_before_anything_was_begun_says_that_nothing_was_recorded(visitor, faulty):
    faulty.create("faces", images=4)
    faulty.faults.fails = {"taken": RuntimeError("the disk is on fire")}
    visitor.visit("faces")
    stuck(visitor.page)
    visitor.page.click("text=I cannot go on")
    visitor.page.wait_for_selector("h1:text-is('You can stop here')")

    assert "Nothing was recorded" in visitor.page.inner_text("main")


@pytest.mark.parametrize("awaited", [False, True], ids=["colleague", "panel"])
def test_a_result_that_cannot_be_had_keeps_nobody_from_the_completion_code(visitor, faulty, awaited):
    panel = {} if awaited else {"panel": "link", "bonus_usd_cents": 0}
    faulty.create("faces", images=2, spare_images=0, feedback_ms=50, debrief="true", **panel)
    visitor.page.route("**/debrief", lambda route: route.fulfill(status=500))
    visitor.begin("faces")
    for _ in range(2):
        visitor.answer("r")
    visitor.wait("done")
    visitor.page.wait_for_timeout(6000 if awaited else 0)  # longer than it is tried

    session, _, _ = faulty.stored("faces")
    told = session.completion_code if awaited else "You need no code"
    assert told in visitor.page.inner_text("main")
    assert visitor.heading() == "All done. Thank you!"
    assert visitor.page.locator("dialog").count() == 0
    assert visitor.page.inner_text("#notice") == ""


def test_a_page_that_comes_back_from_the_browsers_memory_asks_anew_where_it_stands(player, site):
    site.create("faces", images=4, feedback_ms=50)
    player.begin("faces")
    player.answer("r")
    player.wait("question")

    player.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    player.press("instructions")

    assert player.wait("question")
    assert player.answers_stored("faces") == 1
