"""Every end in the browser leads on: to the session elsewhere, to its code, to the panel, or to words."""

import pytest

from backend.experiment import panel as records
from backend.task.eligibility import issue_links
from tests.e2e.test_accessibility import violations

from .conftest import Player
from .test_panels import PAID, at_prolific, guest  # noqa: F401

REFUSES_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("refused", "SecurityError"); } });"""
TYPED = "?PROLIFIC_PID=5f0c9d8e7b6a5f0c9d8e7b6a&SESSION_ID=6a0c9d8e7b6a5f0c9d8e7b6a"
HOME = "https://app.prolific.com/submissions"


@pytest.fixture
def another(browser, site):
    """Return a function that opens another browser, which knows nothing of this one."""
    contexts = []

    def opened(script=""):
        contexts.append(browser.new_context(viewport={"width": 390, "height": 780}))
        contexts[-1].add_init_script(script)
        return Player(contexts[-1].new_page(), site)

    yield opened
    for context in contexts:
        context.close()


def answer(player, count):
    for _ in range(count):
        player.wait("question")
        player.answer(player.see()[0])


def test_a_checked_place_goes_on_in_another_browser_and_its_code_is_shown_again(
    guest,  # noqa: F811
    at_prolific,  # noqa: F811
    another,
):
    recruited = guest.recruit(at_prolific.create("faces", images=4, feedback_ms=50, **PAID))
    guest.come(recruited)
    guest.press("consent")
    guest.play(2)
    guest.wait("question")

    phone = another()
    phone.page.goto(at_prolific.fake.books.link(guest.place.id))
    phone.press("instructions")
    answer(phone, 2)
    phone.wait("done")
    code = phone.page.inner_text("#code")
    guest.page.keyboard.press("f" if guest.see()[0] != "f" else "r")  # another answer than on the phone
    guest.wait("error")
    third = another()
    third.page.goto(at_prolific.fake.books.link(guest.place.id))
    third.wait("done")

    assert guest.heading() == "The task goes on in another tab"
    assert third.page.inner_text("#code") == code
    _, cursor, responses = at_prolific.stored("faces")
    assert (cursor.state, len(responses)) == ("finished", 4)


def test_a_private_link_goes_on_elsewhere(player, site, another):
    site.create("faces", images=4, feedback_ms=50, panel=records.PRIVATE)
    (link,) = issue_links(site.store, site.data.keys().hashing, "faces", 1)
    player.visit("faces", f"?link={link}")
    player.press("consent")
    player.press("instructions")
    answer(player, 1)

    phone = another()
    phone.visit("faces", f"?link={link}")
    phone.press("instructions")
    answer(phone, 3)
    phone.wait("done")

    assert len(site.stored("faces")[2]) == 4


def test_ids_that_were_typed_open_nobodys_session_and_lead_back(player, site, another):
    site.create("faces", images=4, panel=records.PROLIFIC, contact="lab@example.org")
    player.visit("faces", TYPED)
    player.press("consent")
    player.wait("instructions")
    player.press("instructions")
    player.wait("question")

    other = another()
    other.visit("faces", TYPED)
    other.wait("error")

    assert other.heading() == "You have started already"
    assert "lab@example.org" in other.page.inner_text("main")
    assert other.page.get_attribute("main a.primary", "href") == HOME
    assert other.page.evaluate("localStorage.length") == 0
    assert violations(other.page) == []


def test_a_link_that_the_panel_did_not_fill_in_is_told(another, site):
    site.create("faces", images=4, panel=records.PROLIFIC)
    other = another()
    other.visit("faces", f"?{records.LINK_QUERIES['prolific']}")
    other.wait("error")

    assert other.heading() == "This link is incomplete"
    assert other.page.get_attribute("main a.primary", "href") == HOME
    assert violations(other.page) == []


def test_a_browser_that_refuses_storage_goes_on_after_a_reload(another, site):
    site.create("faces", images=4, feedback_ms=50, panel=records.PROLIFIC)
    other = another(REFUSES_STORAGE)
    other.visit("faces", TYPED)
    other.press("consent")
    other.press("instructions")
    answer(other, 1)
    other.wait("question")
    other.page.on("dialog", lambda dialog: dialog.accept())
    other.page.reload()
    other.press("instructions")
    answer(other, 3)
    other.wait("done")
    code = other.page.inner_text("#code")
    other.page.reload()
    other.wait("done")

    assert other.page.inner_text("#code") == code
    assert len(site.stored("faces")[2]) == 4
