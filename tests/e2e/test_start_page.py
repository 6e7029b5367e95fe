"""The demo's start page in a real browser, while the studies are being made and once they are there."""

import numpy as np
import pytest
from PIL import Image

from backend.commands import demo_studies as studies
from backend.commands.demo_making import Making
from backend.commands.demo_page import FRONT, add_pages
from backend.handlers import create_app
from backend.web.server import in_background

from .test_accessibility import LOOKS, look, violations


@pytest.fixture
def making(site):
    """Serve a demo with both studies, which say that they are not made yet."""
    for sample in studies.SAMPLES:
        site.create(sample.name, sample.method, images=4, blocks=1, spare_images=2)
    made = Making(site.store, "sqlite:///openhype.db", site.data, lambda *_: None)
    made._shares = {sample.name: 0.0 for sample in studies.SAMPLES}
    app = create_app(site.store, site.data, site.data.keys(), front=FRONT)
    add_pages(app, site.data, made)
    with in_background(app) as url:
        site.url = url
        yield made


def make_examples(site):
    for number in range(len(studies.EXAMPLES)):
        path = studies.example(site.data, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = np.random.default_rng(number).integers(0, 256, (64, 64, 3))
        Image.fromarray(noise.astype("uint8")).save(path)


@pytest.mark.core
def test_the_studies_open_as_they_are_made(player, site, making):
    page = player.page
    for width, scheme in LOOKS:
        look(page, width, scheme)
        page.goto(site.url)
        page.wait_for_selector("#play-photos progress")
        before = page.inner_text("#plays")
        assert violations(page) == []
        assert before.count("The pictures are made next") == (3 if width > 480 else 2)
        assert before.count("Needs a computer with a larger screen") == (0 if width > 480 else 1)
    making._shares["photos"] = 0.4
    page.wait_for_selector("text=The pictures are being made: 40%")

    assert page.locator("a.play").count() == 0

    make_examples(site)
    making._shares = dict.fromkeys(making._shares, 1.0)
    page.wait_for_selector("#play-photos[href='/s/photos#demo']")
    page.wait_for_selector("#examples li:last-child img")
    for width, scheme in LOOKS:
        look(page, width, scheme)
        flashes = page.locator("#play-flashes[href]")
        flashes.wait_for(state="attached" if width > 480 else "detached")
        assert violations(page) == []
        assert page.locator("#plays progress").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert flashes.count() == (1 if width > 480 else 0)
    page.click("#play-photos")
    assert player.wait("consent") == "consent"


def test_flashes_are_offered_again_in_a_window_that_is_made_larger(player, site, making):
    making._shares = dict.fromkeys(making._shares, 1.0)
    player.page.set_viewport_size({"width": 400, "height": 800})
    player.page.goto(site.url)
    player.page.wait_for_selector("#play-flashes >> text=Needs a computer with a larger screen")

    player.page.set_viewport_size({"width": 1280, "height": 800})

    player.page.wait_for_selector("#play-flashes[href='/s/flashes#demo']")


def test_the_answer_is_shown_when_it_is_asked_for(player, site, making):
    make_examples(site)
    player.page.goto(site.url)
    player.page.wait_for_selector("#reveal:not([disabled])")
    hidden = player.page.locator("#examples figcaption").first.is_visible()

    player.page.click("#reveal")

    told = player.page.locator("#examples figcaption").all_inner_texts()
    assert not hidden
    assert told == ["photograph" if model is None else "computer" for _, model in studies.EXAMPLES]
    assert violations(player.page) == []


def test_who_came_too_early_is_let_in_once_the_study_is_there(player, site, making):
    player.visit("photos")
    player.page.wait_for_selector("text=The study that you asked for opens by itself")

    making._shares["photos"] = 1.0

    assert player.wait("consent") == "consent"
    assert player.page.url.endswith("/s/photos#demo")


def test_the_links_for_researchers_lead_somewhere(player, site, making):
    player.page.goto(site.url)
    links = [link.get_attribute("href") for link in player.page.locator(".researchers a").all()]

    statuses = {link: player.page.request.get(f"{site.url}{link}").status for link in links}

    assert links == ["/console", "/results", "/timing.html"]
    assert {status for status in statuses.values() if status not in (200, 403)} == set()
    assert statuses["/timing.html"] == 200


def test_what_went_wrong_is_told(player, site, making):
    making._problem = "no space left on device"
    player.page.goto(site.url)

    player.page.wait_for_selector("text=The pictures could not be made: no space left on device")


def test_the_end_leads_back_to_the_start_page(player, site, making):
    make_examples(site)
    making._shares["photos"] = 1.0
    site.create("short", images=2, spare_images=0, feedback_ms=20, debrief="true", bonus_usd_cents=0)
    player.page.goto(f"{site.url}/s/short#demo")
    player.press("consent")
    player.press("instructions")
    for _ in range(2):
        player.answer("r")
    player.wait("done")

    player.page.click("text=Back to the start page")

    player.page.wait_for_selector("#play-photos")
    assert player.page.url == f"{site.url}/"
