"""One-time links in the browser: signed in by a click, below a path too; what a link says that is over."""

import pytest

from backend.foundation.timestamps import utc_now
from backend.handlers import create_app
from backend.members.sign_in_links import SignInLinks
from backend.web.server import in_background
from tests.e2e.test_accessibility import violations

BASE = "/lab/hype"


@pytest.fixture
def served(site):
    """The site below a path, with the links of its server."""
    site.links = SignInLinks()
    options = {"base_path": BASE, "sign_in_links": site.links}
    with in_background(create_app(site.store, site.data, site.data.keys(), **options)) as host:
        site.url = f"{host}{BASE}"
        yield site


@pytest.mark.core
def test_a_link_opens_the_console_once_and_leaves_the_address(player, served, browser):
    page, link = player.page, served.links.issue(served.url, utc_now())
    served.create("faces", images=10)

    page.goto(link)
    page.wait_for_selector("main a[href$='/console/studies/faces']")
    address, who = page.url, page.inner_text("#bar .who")
    page.goto(link)  # again, as from a terminal: who is signed in stays so
    page.wait_for_selector("main a[href$='/console/studies/faces']")
    with browser.new_context() as context:
        other = context.new_page()
        other.goto(link)
        other.wait_for_selector("text=This link has been used")
        seen = violations(other)
        other.keyboard.type(served.data.keys().researcher)
        other.keyboard.press("Enter")
        other.wait_for_selector("main a[href$='/console/studies/faces']")

    assert (address, who) == (f"{served.url}/console", "owner")
    assert page.evaluate("document.referrer") == ""
    assert seen == []


def test_a_link_that_is_over_says_so_and_offers_the_key(player, served):
    page = player.page

    page.goto(SignInLinks().issue(served.url, utc_now()))
    page.wait_for_selector("text=This link has expired")

    assert page.url == f"{served.url}/console"
    assert page.is_visible("#token")


def test_a_link_pasted_where_the_console_asks_for_a_token_is_followed(player, served):
    page = player.page
    page.goto(f"{served.url}/console")
    page.wait_for_selector("#token")

    page.goto(served.links.issue(served.url, utc_now()))
    page.wait_for_selector("#bar .who")

    assert page.url == f"{served.url}/console"
    assert not page.is_visible("#token")
