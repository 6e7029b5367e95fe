"""The whole task in each engine that people come with: Chromium, Firefox, and WebKit.

Keys and clicks are the browser's, so that it takes them for acts of a person.
"""

import pytest
from PIL import Image
from playwright.sync_api import TimeoutError

from backend.experiment.session import is_mistimed, is_scored, picture_of
from backend.handlers import create_app
from backend.responses.study_data import study_rows
from backend.web.progress import progress
from tests.engines import missing_packages

from .conftest import FLASHES_GO_WRONG, SIZE, Player
from .servers import Between, Machine

ENGINES = ("Chromium", "Firefox", "WebKit")
OTHER_ENGINE = pytest.mark.slow("starts another engine than Chromium")
WINDOW_PX = (1100, 800)
COUNTDOWN = 3
"""Numbers before a picture: how long they stood is of no account."""
RESPONSES = {"f": "fake", "j": "real", "r": "real"}


@pytest.fixture(scope="session")
def firefox():
    skip_without("Firefox")
    from tests.engines.firefox import firefox

    with firefox(*WINDOW_PX) as browser:
        yield browser


@pytest.fixture(scope="session")
def webkit():
    skip_without("WebKit")
    from tests.engines.webkit import webkit

    with webkit(*WINDOW_PX) as browser:
        yield browser


def skip_without(engine):
    if packages := missing_packages(engine):
        pytest.skip(f"{engine} is not here: apt-get install {' '.join(packages)}")


@pytest.fixture(params=["Chromium", *(pytest.param(each, marks=OTHER_ENGINE) for each in ENGINES[1:])])
def engine(request):
    return request.param


@pytest.fixture
def open_page(engine, request):
    """Opens pages of a browser that was never here."""
    if engine == "Chromium":
        yield request.getfixturevalue("context").new_page
        return
    with request.getfixturevalue(engine.lower()).fresh() as open_page:
        yield open_page


@pytest.fixture
def player(open_page, site):
    player = Player(open_page(), site)
    yield player
    assert player.faults == []


@pytest.fixture
def network(site):
    """The site behind a network that can be cut."""
    site.between = Between(create_app(site.store, site.data, site.data.keys()))
    site.machine = Machine(site.between)
    site.url = f"http://127.0.0.1:{site.machine.port}"
    yield site
    site.machine.stop()


def assert_stored_as_given(player, study):
    """Each answer once, in order, as the key was."""
    _, _, responses = player.site.stored(study)
    assert [response.response for response in responses] == [RESPONSES[key.lower()] for key in player.given]
    told = [(response.trial_index, response.attempt) for response in responses]
    assert told == sorted(set(told))


SHOWN = """(() => {
  const { width } = document.querySelector("canvas");
  const pen = document.querySelector("canvas").getContext("2d");
  const { data } = pen.getImageData(0, 0, width, width);
  const times = width / %d;
  const shown = [];
  for (let y = times >> 1; y < width; y += times) {
    for (let x = times >> 1; x < width; x += times) {
      const at = 4 * (y * width + x);
      shown.push(...data.slice(at, at + 3));
    }
  }
  return shown;
})()"""
"""The pixels of the picture, each of which is shown as a square of some whole number of pixels."""


@pytest.mark.parametrize("image_format", ["webp", "png"])
def test_pictures_of_lossless_formats_are_decoded_to_the_pixels_that_were_encoded(player, site, image_format):
    study = site.create("faces", images=4, image_format=image_format)
    folder = site.data.images("faces")
    stored = {}
    for stimulus in site.store.stimuli("faces"):
        with Image.open(folder / stimulus.name) as picture:
            assert picture.format == image_format.upper()
            stored[picture.convert("RGB").tobytes()] = stimulus.name

    player.begin("faces")
    player.wait("question")

    assert study.protocol.stimuli.image_format == image_format
    assert bytes(player.page.evaluate(SHOWN % SIZE)) in stored


@pytest.mark.core
def test_an_infinity_session_is_played_with_keys_and_every_answer_is_stored(player, site, engine):
    site.create("faces", images=10, feedback_ms=50)
    player.visit("faces")
    player.press("consent")
    player.press("instructions", "Space")

    for _ in range(10):
        player.wait("question")
        player.answer(player.see()[0])

    player.wait("done")
    session, cursor, responses = site.stored("faces")
    assert player.page.inner_text("#code") == session.completion_code
    assert "10 of 10" in player.page.inner_text("main")
    assert "$0.20" in player.page.inner_text("main")
    assert [response.trial_index for response in responses] == list(range(10))
    assert all(response.rt > 0 for response in responses)
    assert cursor.right == {"real": 5, "fake": 5}
    assert {row["browser"] for row in study_rows(site.store, site.store.study("faces"))} == {engine}


def test_each_key_of_an_answer_is_taken(player, site):
    site.create("faces", images=6, feedback_ms=50)
    player.begin("faces")

    for key in "fFjJrR":
        player.answer(key)

    player.wait("done")
    assert_stored_as_given(player, "faces")


@pytest.mark.core
def test_a_session_is_played_with_the_pointer_alone(player, site):
    site.create("faces", images=4, feedback_ms=50)
    player.visit("faces")
    player.page.click("button:has-text('I agree')")
    player.page.click("button:has-text('Start')")

    for i in range(4):
        player.wait("question")
        label = "Fake" if i % 2 else "Real"
        player.act_and_move_on(lambda label=label: player.page.click(f"button:has-text('{label}')"))

    player.wait("done")
    _, _, responses = site.stored("faces")
    assert [response.response for response in responses] == ["real", "fake", "real", "fake"]


@pytest.mark.core
def test_a_reload_goes_on_where_it_stood(player, site):
    site.create("faces", images=6, feedback_ms=50)
    player.begin("faces")
    for key in "rfr":
        player.answer(key)

    player.page.reload()
    player.wait("instructions")
    assert player.heading() == "Welcome back"
    player.press("instructions")
    for key in "frf":
        player.answer(key)

    player.wait("done")
    assert_stored_as_given(player, "faces")


def test_a_server_that_is_started_again_in_the_middle_of_an_answer_costs_nothing(player, network):
    network.create("faces", images=4, feedback_ms=50)
    player.begin("faces")
    player.answer("r")
    player.wait("question")
    network.machine.stop()
    player.page.keyboard.press("f")
    player.given.append("f")
    notice = player.page.inner_text("#notice:not(:empty)")
    player.act_and_move_on(network.machine.start)
    player.answer("r")
    player.answer("f")
    player.wait("done")

    assert notice == "The server cannot be reached. Your answers are safe. We are trying again…"
    assert player.page.evaluate("document.querySelector('#notice').innerText") == ""
    assert_stored_as_given(player, "faces")


def test_a_reply_that_breaks_off_is_asked_for_again_and_counts_once(player, network):
    network.create("faces", images=4, feedback_ms=50)
    player.begin("faces")
    network.between.cuts = 3
    for key in "rfrf":
        player.answer(key)
    player.wait("done")

    assert network.between.cuts == 0
    assert_stored_as_given(player, "faces")


def test_a_second_tab_is_told_and_can_take_over(player, site, open_page):
    site.create("faces", images=4, feedback_ms=50)
    player.begin("faces")
    player.answer("r")

    second = Player(open_page(), site)
    second.visit("faces")
    second.wait("error")
    assert second.heading() == "This task is open in another tab"
    second.press("error")
    second.wait("instructions")
    assert second.heading() == "Welcome back"
    player.wait("error")
    assert player.heading() == "The task goes on in another tab"
    second.press("instructions")
    for key in "frf":
        second.answer(key)
    second.wait("done")

    second.given = player.given + second.given
    assert_stored_as_given(second, "faces")


@pytest.mark.alone
@pytest.mark.parametrize("engine", ["Firefox"])
def test_a_time_session_is_shown_as_planned_in_firefox(player, site, engine):
    site.create(
        "glimpse", "time", images=4, blocks=2, spare_images=100, countdown_ms=100, feedback_ms=50,
        start_exposure_ms=200,
    )  # fmt: skip
    player.begin("glimpse")
    for ends_with in ("break", "done"):
        player.start_flashes()
        screen = player.play_flashes()
        assert screen == ends_with
        if screen == "break":
            player.press("break")

    session, cursor, responses = site.stored("glimpse")
    scored = [response for response in responses if is_scored(session, cursor, response)]
    assert (cursor.state, len(scored)) == ("finished", 8)
    assert "worker_video" in {response.timing.evidence for response in responses}
    assert all(r.timing.achieved_frames[COUNTDOWN:] == r.timing.planned_frames[COUNTDOWN:] for r in scored)
    assert all(display["full_screen"] for display in cursor.displays)
    assert_stored_as_given(player, "glimpse")
    (row,) = progress(site.store, site.store.study("glimpse"))["mistimed"]["by_browser"]
    assert (row["browser"], row["responses"]) == (engine, 8)


@pytest.mark.alone
@pytest.mark.parametrize("engine", ["Firefox"])
def test_the_compositor_bears_witness_after_another_screen_came_in_between(player, site, engine):
    site.create(
        "glimpse", "time", images=6, blocks=1, spare_images=100, countdown_ms=100, feedback_ms=50,
        start_exposure_ms=200, same_answer_notice=2,
    )  # fmt: skip
    player.begin("glimpse")
    player.start_flashes()
    for _ in range(2):
        player.answer("f")
    player.press("break")
    player.wait_past("break")
    player.play_flashes()

    _, cursor, responses = site.stored("glimpse")
    after = responses[2:]
    good = [r for r in after if r.timing.evidence == "worker_video" and "mistimed" not in r.flags]
    assert cursor.state == "finished"
    assert good, [
        (r.timing.evidence, r.flags) for r in after
    ]  # how many a busy machine spoils is its own doing


def check_again(player, heading):
    """Ask for the check of the display until `heading` comes: on a busy computer it may fail at first."""
    for _ in range(9):
        try:
            return player.page.wait_for_selector(f"h1:text-is('{heading}')", timeout=8000)
        except TimeoutError:
            player.page.evaluate("document.querySelector('body[data-screen=check] main .primary')?.click()")
    return player.page.wait_for_selector(f"h1:text-is('{heading}')")


@pytest.mark.parametrize("engine", ["WebKit"])
def test_a_time_session_in_webkit_goes_as_far_as_the_browser_can_and_ends_in_words(player, site, engine):
    # Without a graphics card no flash is exact: the page says so, or what replaces pictures runs out.
    # In full screen the browser would keep the key F to itself.
    site.create(
        "glimpse", "time", images=2, blocks=1, spare_images=6, countdown_ms=100, feedback_ms=50,
        start_exposure_ms=200,
    )  # fmt: skip
    player.visit("glimpse")
    check_again(player, "Real or fake?")
    player.press("consent")
    player.press("instructions")
    check_again(player, "Ready?")
    player.start_flashes()
    while player.play_flashes("check", "done") == "check":
        if player.heading() == FLASHES_GO_WRONG:
            player.page.click("button:has-text('Stop')")
        else:
            player.press("check")  # the display, which a busy computer may have changed

    session, cursor, responses = site.stored("glimpse")
    right = sum(picture_of(session, r.stimulus).truth == r.response for r in responses)
    protocol = site.store.study("glimpse").protocol
    text = player.page.inner_text("main")
    assert cursor.state in ("finished", "ended")
    assert cursor.trial_index + cursor.voided_answers == len(responses) >= 2
    for response in responses:
        is_flagged = is_mistimed(protocol, response)
        assert is_flagged != is_scored(session, cursor, response)
        timing = response.timing
        assert is_flagged or timing.achieved_frames[COUNTDOWN:] == timing.planned_frames[COUNTDOWN:]
    assert not any(display["full_screen"] for display in cursor.displays)
    assert_stored_as_given(player, "glimpse")
    assert session.completion_code in text
    assert f"${protocol.pay.base_usd_cents / 100 + protocol.pay.bonus_usd_cents * right / 100:.2f}" in text
    (row,) = progress(site.store, site.store.study("glimpse"))["mistimed"]["by_browser"]
    assert row["browser"] == engine
