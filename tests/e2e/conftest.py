"""A real server with real pictures, and a real Chromium."""

import dataclasses
import itertools
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import TimeoutError

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.experiment import panel as records
from backend.handlers import create_app
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store
from backend.web import assets
from backend.web.server import in_background
from tests.browser import launch_options

from .study_copies import StudyCopies

SIZE = 64
PAID_BY_LINK = dataclasses.replace(records.LINK, pays=True)
"""A panel that pays, and names nobody."""
STORED_TRIAL = """(() => {
  const trial = window.openhype?.lastTrial;
  return trial && "was_correct" in trial ? trial.trial_index + trial.attempt / 1000 : null;
})()"""
IS_ASKED = "document.querySelector('.choices button:enabled') !== null"
AGAIN_S = 0.5
PATIENCE_S = 60
"""More than a busy machine takes for anything that is waited for."""
FLASHES_GO_WRONG = "The pictures do not flash as they should"
ASKS_WHETHER_TO_GO_ON = f"h1:text-is('{FLASHES_GO_WRONG}')"
MAY_ASK_WHETHER_TO_GO_ON = "body[data-screen=check]:has(main .primary)"
STANDS = """`${document.body.dataset.screen}: ${document.body.innerText.slice(0, 300)}
${JSON.stringify(window.openhype?.lastTrial)}`"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark as slow the browser tests that are not marked `core`: `make test` has one of each kind."""
    for item in items:
        if Path(__file__).parent not in item.path.parents:
            continue
        if not any(item.iter_markers("core")) and not any(item.iter_markers("slow")):
            item.add_marker(pytest.mark.slow("one of many browser tests, which take seconds each"))


SHORTER = {
    "task/trials.js": (b"READING_MS = 3000", b"READING_MS = 100"),
    "shared/api.js": (b"SHORTEST_PAUSE_MS = 300", b"SHORTEST_PAUSE_MS = 50"),
}
"""What pages wait for in real time: people, who read that another picture replaces one, as on a busy machine
most do; and a server that fails, until the page says so."""


@pytest.fixture(scope="package", autouse=True)
def shorter_waits():
    """Have pages wait less."""
    served = assets._served

    def quickly(path, *stamp):
        text = served(path, *stamp)
        long, short = SHORTER.get(assets.name(path), (b"", b""))
        assert long in text
        return text.replace(long, short) if long else text

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assets, "_served", quickly)
        yield


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    return {**browser_type_launch_args, **launch_options()}


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Real pictures are warm, fakes are cold: a robot can tell them apart as a person would."""
    root = tmp_path_factory.mktemp("pictures")
    rng = np.random.default_rng(1)
    for name, tint in {"real": (160, 90, 40), "gan": (40, 90, 160)}.items():
        (root / name).mkdir()
        for i in range(60):
            noise = rng.integers(0, 90, (SIZE, SIZE, 3))
            Image.fromarray((noise + tint).clip(0, 255).astype("uint8")).save(root / name / f"{i}.png")
    return root


@pytest.fixture(scope="session")
def copies(tmp_path_factory):
    return StudyCopies(tmp_path_factory.mktemp("studies"))


def eventually(page, found, wanted=True):
    """Wait until `found()` is what is wanted; the page's policy permits no way to wait in itself."""
    until = time.monotonic() + PATIENCE_S
    while (now := found()) != wanted:
        assert time.monotonic() < until, f"stays {now}, not {wanted}"
        page.wait_for_timeout(50)


class Site:
    """A store with studies, served on loopback."""

    publish = None
    elsewhere = ()
    """Other addresses that pages may ask, such as a bucket's."""

    def __init__(self, store, data: DataDir, folders: Path, copies: StudyCopies, record=PAID_BY_LINK):
        self.store, self.data, self.folders, self.copies, self.record = store, data, folders, copies, record
        self.url = ""

    def create(self, name, method="infinity", kind="study", **settings):
        models = (("gan", self.folders / "gan"),)
        quick = {"size_px": SIZE, "masks": "phase", "panel": self.record, "shortest_answer_ms": 0}
        settings = {**quick, **settings}
        order = StudySpec(name, kind, method, self.folders / "real", models, settings)
        if self.publish or "qualification" in settings:
            return create(self.store, self.data, order, datetime.now(UTC), publish=self.publish)
        return self.copies.put(order, self.store, self.data)

    def truths(self, study):
        return {s.name: s.truth for s in self.store.stimuli(study)}

    def stored(self, study):
        ((session, cursor),) = self.store.sessions(study)
        return session, cursor, self.store.responses(session.id)


@pytest.fixture
def site(tmp_path, folders, copies):
    store = open_store("sqlite:///openhype.db", tmp_path)
    data = DataDir(tmp_path)
    made = Site(store, data, folders, copies)
    with in_background(create_app(store, data, data.keys())) as url:
        made.url = url
        yield made
    store.close()


@pytest.fixture
def browser_context_args(browser_context_args):
    return {**browser_context_args, "viewport": {"width": 1100, "height": 800}}


@pytest.fixture
def player(page, site):
    player = Player(page, site)
    yield player
    assert player.faults == []


class Player:
    """Someone at the keyboard; `page` is Playwright's, or one of `tests.engines`."""

    def __init__(self, page, site):
        self.page, self.site = page, site
        self.faults = []
        self.given = []
        """The keys of the answers, in order."""
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.on("request", self._check_origin)
        page.on("console", self._check_console)

    def _check_origin(self, request):
        if not request.url.startswith((self.site.url, *self.site.elsewhere, "blob:", "data:")):
            self.faults.append(f"a request to another place: {request.url}")

    def _check_console(self, message):
        if message.type == "error" and (
            "Content Security Policy" in message.text or "staircase" in message.text
        ):
            self.faults.append(message.text)

    def visit(self, study, query=""):
        self.page.goto(f"{self.site.url}/s/{study}{query}")

    def begin(self, study):
        """Go from the link to the first picture, or what comes before a block of flashes."""
        self.visit(study)
        self.press("consent")
        self.press("instructions")

    def wait(self, *screens):
        """Wait for one of these screens, that can be answered or passed; return which came.

        Flashes that keep going wrong are tried on, where nobody waits for that question.
        """
        passed = ":has(main .primary)"
        open_ = {"question": ":has(.choices button:enabled)", "instructions": passed, "break": passed}
        open_["check"] = passed  # while the display is measured, nothing is asked
        wanted = ", ".join(f"body[data-screen={screen}]{open_.get(screen, '')}" for screen in screens)
        until = time.monotonic() + PATIENCE_S
        try:
            while True:
                left_ms = max(1, 1000 * (until - time.monotonic()))
                self.page.wait_for_selector(f"{wanted}, {MAY_ASK_WHETHER_TO_GO_ON}", timeout=left_ms)
                screen = self.page.get_attribute("body", "data-screen")
                if screen in screens:
                    return screen
                if self.heading() == FLASHES_GO_WRONG:
                    self.page.click("main .primary")
                    until = time.monotonic() + PATIENCE_S
                elif time.monotonic() > until:
                    raise TimeoutError(f"no {wanted} within {PATIENCE_S} s")
                self.page.wait_for_timeout(50)
        except TimeoutError as error:
            wanted = " or ".join(screens)
            raise AssertionError(f"expected the screen {wanted}; there is {self.stands()}") from error

    def stands(self):
        """Return what the page shows, and the last trial, for messages."""
        return self.page.evaluate(STANDS)

    def wait_past(self, screen):
        self.page.wait_for_selector(f"body:not([data-screen={screen}])", timeout=60000)

    def press(self, screen, key="Enter"):
        self.wait(screen)
        self.page.wait_for_selector("main .primary")
        self.page.keyboard.press(key)

    def see(self):
        """Tell real from fake by the colour on the canvas."""
        return self.page.evaluate(
            """(() => {
              const canvas = document.querySelector("canvas");
              const [r, , b] = canvas.getContext("2d").getImageData(canvas.width / 2, 9, 1, 1).data;
              return r > b ? "real" : "fake";
            })()"""
        )

    def heading(self):
        return self.page.inner_text("h1")

    def answers_stored(self, study):
        return len(self.site.stored(study)[2])

    def answer(self, key):
        """Answer one trial by key and wait until the page has moved on."""
        self.wait("question")
        self.given.append(key)
        self.act_and_move_on(lambda: self.page.keyboard.press(key))

    def act_and_move_on(self, act):
        before = self.page.evaluate(STORED_TRIAL)
        act()
        until, again = time.monotonic() + PATIENCE_S, time.monotonic() + AGAIN_S
        while self.page.evaluate(STORED_TRIAL) in (None, before):
            assert time.monotonic() < until, f"the page did not move on from {self.stands()}"
            if time.monotonic() > again and self.page.evaluate(IS_ASKED):
                act()  # the first one came too soon after the picture
                again = time.monotonic() + AGAIN_S
            self.page.wait_for_timeout(20)
        self.wait_past("feedback")

    def play_flashes(self, *ends):
        """Answer flashes, and those that replace others, until a screen of `ends` comes; return its name.

        With both keys in turn: to many equal answers in a row the page has a word to say.
        """
        keys = itertools.cycle("fj")
        while (screen := self.wait("question", *(ends or ("break", "done")))) == "question":
            self.answer(next(keys))
        return screen

    def start_flashes(self):
        """Go from the instructions, or a break, to the first flash of a block."""
        self.page.wait_for_selector("h1:text-is('Ready?')", timeout=60000)
        self.press("instructions")

    def play_two_blocks(self):
        """Play a HYPE-time session of two blocks, from the consent to its end."""
        self.press("consent")
        self.press("instructions")
        self.start_flashes()
        self.play_flashes()
        self.press("break")
        self.start_flashes()
        self.play_flashes()
        self.wait("done")
