"""The README as a stranger follows it: an empty folder, defaults everywhere, and a look at every picture.

Commands are taken out of the README as they stand there, and run in their order. Nothing here knows the
names of the sample studies.
"""

import io
import json
import re
import shlex
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from backend.stores.opening import open_store

from .stranger import PATIENCE_S, README, Stranger, documented_commands, install_wheel, recipe

pytestmark = pytest.mark.slow("plays the README whole, and builds a wheel")

SEEN = (Path(__file__).parent / "seen.js").read_text("utf-8")
PATIENCE_MS = 1000 * PATIENCE_S
SCREEN = {"width": 1280, "height": 800}
DATA = "openhype-data"
FLATTEST = 4
"""Levels (0 to 255) between the darkest and the lightest place, at most, of a picture that shows nothing."""
LARGEST_DIFFERENCE = 8
"""Mean difference (0 to 255) between a smoothed picture's thumbnail and that of its file."""
SESSIONS = 2
"""Of flashes, at most, until one is finished."""
BUSY = 0.2
"""Share of mistimed flashes above which a machine is too busy for a session of flashes."""
HURRY = re.compile(r"(READING_MS = |\"feedback_ms\": ?)\d+")
"""For how long people are told something between pictures, in the page and in what it gets of the study."""
SHOTS = 3
"""Screenshots of a session without a time limit; the canvas itself is looked at in every trial."""


class Pictures:
    """What picture files show."""

    def __init__(self, files: Iterable[Path]):
        files = {file.name: Image.open(file).convert("RGBA") for file in files}
        self.sizes = {picture.size for picture in files.values()}
        assert [name for name, picture in files.items() if _contrast(picture) <= FLATTEST] == []
        self._digests = {_digest(picture): name for name, picture in files.items()}
        self._thumbnails = {name: _thumbnail(picture) for name, picture in files.items()}

    def file_of(self, seen: dict) -> str:
        """Return the file whose pixels were seen; to the pixel, unless the page had to smooth them."""
        if "digest" in seen:
            assert seen["digest"] in self._digests, f"no file has the pixels seen: {seen}"
            return self._digests[seen["digest"]]
        shown = np.asarray(seen["thumbnail"], float)
        far = {name: np.abs(shown - thumbnail).mean() for name, thumbnail in self._thumbnails.items()}
        nearest, second = sorted(far, key=far.get)[:2]
        assert far[nearest] < min(LARGEST_DIFFERENCE, far[second] / 2), f"no file is like {seen}"
        return nearest


class Pool(Pictures):
    """The pictures of a study as its files have them."""

    def __init__(self, data: Path, name: str):
        super().__init__((data / "images" / name).iterdir())
        with closing(open_store("sqlite:///openhype.db", data)) as store:
            study = store.study(name)
            self._stimuli = {stimulus.name for stimulus in store.stimuli(name)}
        self.study, self.px = name, study.protocol.stimuli.size_px
        self.is_timed = study.protocol.method == "time"
        self.has_debrief = study.protocol.page.debrief
        assert self.sizes == {(self.px, self.px)}

    def has_stimulus(self, name: str) -> bool:
        """Tell a stimulus from a mask."""
        return name in self._stimuli


def _contrast(picture: Image.Image) -> int:
    darkest, lightest = picture.convert("L").getextrema()
    return lightest - darkest


def _digest(picture: Image.Image) -> int:
    """Return the digest of a picture, as seen.js computes it."""
    pixels = np.frombuffer(picture.tobytes(), "<u4")
    weights = (np.arange(1, pixels.size + 1, dtype="<u4") * np.uint32(2654435761)) | np.uint32(1)
    return int((pixels * weights).sum(dtype=np.uint32))


def _thumbnail(picture: Image.Image) -> np.ndarray:
    small = picture.convert("RGB").resize((32, 32), Image.Resampling.BOX)
    return np.asarray(small, float).ravel()


ANSWERED = """(() => {
  const trial = window.openhype?.lastTrial;
  return trial ? [`${trial.trial_index} ${trial.attempt}`] : [];
})()"""
"""Which trial was answered last, in a list of at most one."""
PRESS = """(screen) => document.body.dataset.screen === screen
  && document.querySelector("main .primary:not([disabled])")?.click()"""
"""Go on, but only from this screen: the button of the end would begin anew."""


class Visitor:
    """Someone who plays a study, one step at a time; what was seen is noted."""

    def __init__(self, browser, url: str, pool: Pool):
        self.pool = pool
        self._answered: set[str] = set()
        self._shots: list[str] = []
        self._seen: list[dict] = []
        self.page, self.faults = open_page(browser, url, f"window.pictures_px = {pool.px};")

    @property
    def answers(self) -> int:
        return len(self._answered)

    def play(self) -> None:
        """Play a session to its end."""
        until = time.monotonic() + PATIENCE_S
        while self.step():
            assert time.monotonic() < until, self.page.inner_text("body")
            time.sleep(0.1)

    def step(self) -> bool:
        """Do what the page asks for, if anything; return whether the session goes on."""
        screen = self.page.evaluate("document.body.dataset.screen")
        self._answered |= set(self.page.evaluate(ANSWERED))
        assert screen != "error", self.page.inner_text("main")
        assert self.faults == []
        if screen == "question":
            self._answer()
        elif screen not in ("countdown", "stimulus", "mask", "feedback", "done"):
            self.page.evaluate(PRESS, screen)
        return screen != "done"

    def _answer(self) -> None:
        self._look()
        if self.page.evaluate("document.querySelector('main button:not([disabled])') === null"):
            return  # the answer is on its way
        if not self.pool.is_timed and len(self._shots) < SHOTS:
            shot = self._shot()
            self._shots += [shot] if self._shots[-1:] != [shot] else []
        self.page.keyboard.press("f")  # and again where it came too soon after the picture

    def _look(self) -> None:
        """Note what was drawn since the last look, on the page and in frames in it."""
        for frame in self.page.frames:
            seen = frame.evaluate("window.look()")
            if seen and frame.parent_frame:
                element = frame.frame_element()
                place, is_seen = element.bounding_box(), element.is_visible()
                for one in seen:
                    one["box"] |= {edge: one["box"][edge] + place[edge] for edge in "xy"}
                    one["is_seen"] &= is_seen
            self._seen += seen

    def _shot(self) -> str:
        """Return the file that is seen on the screen itself."""
        box = self._seen[-1]["box"]
        shot = Image.open(io.BytesIO(self.page.screenshot(clip=box))).convert("RGBA")
        each = shot.width // self.pool.px
        if shot.width != each * self.pool.px:
            return self.pool.file_of({"thumbnail": _thumbnail(shot)})
        pixels = np.ascontiguousarray(np.asarray(shot)[::each, ::each])
        return self.pool.file_of({"digest": _digest(Image.fromarray(pixels))})

    def check(self) -> None:
        """Check what was seen in a whole session: the pool's pictures, each once, whole and in full."""
        names = [self.pool.file_of(one) for one in self._seen]
        pictures = [name for name in names if self.pool.has_stimulus(name)]
        assert len(set(pictures)) == self.answers > 0, f"{len(pictures)} drawn"
        assert (len(names) > len(pictures)) == self.pool.is_timed  # masks
        assert self.pool.is_timed or pictures[:SHOTS] == self._shots
        for one in self._seen:
            assert one["is_seen"], one
            box = one["box"]
            assert self.pool.px <= one["width_px"] == one["height_px"] == box["width"] == box["height"]
            assert min(box["x"], box["y"]) >= 0
            assert box["x"] + box["width"] <= SCREEN["width"]
            assert box["y"] + box["height"] <= SCREEN["height"]

    def check_debrief(self) -> None:
        """Check the pictures that the end of a finished session shows: those that were judged, each once."""
        shown = [self.pool.file_of(one) for one in self.page.evaluate("window.images()")]
        assert len(set(shown)) == len(shown) > 0
        assert set(shown) <= {self.pool.file_of(one) for one in self._seen}
        assert self.pool.is_timed or len(shown) == self.answers  # answers to mistimed flashes do not count


def open_page(browser, url: str, script: str = "") -> tuple:
    """Return a page at a URL, and the list of what will go wrong on it."""
    page, faults = browser.new_context(viewport=SCREEN).new_page(), []
    page.add_init_script(f"{script}\n{SEEN}")
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("response", lambda reply: reply.status >= 400 and faults.append(reply.url))
    page.route(re.compile(r"/(trials\.js|sessions)$"), hurried)
    page.goto(url)
    return page, faults


def hurried(route) -> None:
    """Have the page go on at once where it waits for people to read."""
    reply = route.fetch()
    route.fulfill(response=reply, body=HURRY.sub(r"\g<1>50", reply.text()))


@pytest.fixture
def stranger(tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "empty").mkdir()
    someone = Stranger(tmp_path / "empty", tmp_path / "home")
    yield someone
    someone.leave()


@pytest.fixture
def owner_of_wheel(tmp_path):
    for name in ("home", "empty", "wheel"):
        (tmp_path / name).mkdir()
    someone = Stranger(tmp_path / "empty", tmp_path / "home", install_wheel(tmp_path / "wheel"))
    yield someone
    someone.leave()


def ways(stranger: Stranger, browser) -> dict[str, Callable[[str], Any]]:
    """Return how commands are followed that take more than to run them, by name."""

    def demo(command: str) -> None:
        if "--folders" in command:
            stranger.run(command)
            return
        url = stranger.serve(command)
        links = links_of_start_page(stranger, browser, url)
        methods = {one["study"]: one["method"] for one in status(stranger)}
        assert sorted(methods.values()) == ["infinity", "infinity", "time"]
        for link in links:
            name = re.search(r"/s/([a-z0-9-]+)#", link)[1]
            assert f"study {name}: {url}/s/{name}" in stranger.served()
            if any((stranger.folder / DATA / "images" / name).glob("*.clip")):
                play_clips(stranger, browser, link, name)
            else:
                play_to_the_end(stranger, browser, link, Pool(stranger.folder / DATA, name))
        assert sorted(methods) == sorted(re.findall(r"/s/([a-z0-9-]+)#", " ".join(links)))
        stranger.stop()

    def serve(command: str) -> None:
        url = stranger.serve(command)
        newest = re.findall(rf"^study ([a-z0-9-]+): {url}/s/\1$", stranger.served(), re.M)[-1]
        visitor = Visitor(browser, f"{url}/s/{newest}", Pool(stranger.folder / DATA, newest))
        while visitor.answers < SHOTS:
            visitor.step()
        stranger.stop()

    def create(command: str) -> None:
        arguments = shlex.split(command)
        for option, value in pairwise(arguments):
            folder = stranger.folder / value.rpartition("=")[2]
            if option in ("--real", "--model") and not folder.exists():
                write_pictures(folder)
        stranger.run(command)

    def score(command: str) -> None:
        shown = re.search(rf"^{re.escape(command)}\n```\n\n```\n(.*?)```", README, re.M | re.S)
        printed = stranger.run(command)
        assert shown is None or alike(printed) == alike(shown[1])

    return {"demo": demo, "serve": serve, "create": create, "score": score}


def links_of_start_page(stranger: Stranger, browser, url: str) -> list[str]:
    """Look at the pictures of the demo's start page; return its links to the studies once all are made."""
    page, faults = open_page(browser, url)
    page.wait_for_selector("#plays .play")
    page.wait_for_selector("#plays:not(:has(.play:not(a)))", timeout=PATIENCE_MS)
    assert faults == []
    examples = Pictures((stranger.folder / DATA).rglob("examples/*"))
    seen = [examples.file_of(one) for one in page.evaluate("window.images()")]
    assert len(set(seen)) == len(seen) > 0
    links = page.eval_on_selector_all("a.play", "links => links.map((link) => link.href)")
    page.context.close()
    return links


def play_to_the_end(stranger: Stranger, browser, url: str, pool: Pool) -> None:
    """Play a study to its end, where the machine lets it.

    On a machine too busy for flashes sessions end early, as they should; another one is played then, and at
    last what was seen until then is enough.
    """
    for _ in range(SESSIONS):
        visitor = Visitor(browser, url, pool)
        visitor.play()
        visitor.check()
        if sum(row["finished"] for row in status(stranger, pool.study)["models"]):
            if pool.has_debrief:
                visitor.check_debrief()
            visitor.page.context.close()
            return
        visitor.page.context.close()
        assert pool.is_timed
    assert status(stranger, pool.study)["mistimed"]["share"] > BUSY


def play_clips(stranger: Stranger, browser, url: str, name: str) -> None:
    """Play a study of clips to its end; what they show is looked at in `test_clips.py`."""
    page, faults = open_page(browser, url)
    until = time.monotonic() + PATIENCE_S
    while (screen := page.evaluate("document.body.dataset.screen")) != "done":
        assert time.monotonic() < until, page.inner_text("body")
        assert screen != "error", page.inner_text("main")
        assert faults == []
        if screen == "question":
            page.keyboard.press("f")
        else:
            page.evaluate(PRESS, screen)
        time.sleep(0.1)
    page.context.close()
    assert sum(row["finished"] for row in status(stranger, name)["models"]) == 1


def status(stranger: Stranger, *name: str):
    return json.loads(stranger.run(shlex.join(["openhype", "status", *name, "--json"])))


def write_pictures(folder: Path) -> None:
    folder.mkdir(parents=True)
    rng = np.random.default_rng(len(str(folder)))
    for i in range(60):
        coarse = Image.fromarray(rng.integers(0, 256, (16, 16, 3), "uint8"))
        coarse.resize((128, 128), Image.Resampling.BICUBIC).save(folder / f"{i}.png")


def alike(table: str) -> list[str]:
    """Return the lines of a printed score without what differs between two simulations.

    Those are the numbers, and what is said only if they ask for it: why a percentile interval is too narrow,
    and the test that decides beside Tukey's, where spreads differ or pictures are shared.
    """
    lines = [re.sub(r"(< )?(?<!\d)\.\d+", "p", line) for line in table.strip().splitlines()]
    lines = [re.sub(r"\s+", " ", re.sub(r"[-−]?\d+(\.\d+)?", "0", line)) for line in lines]
    for what, instead in (
        (r"^The percentile interval of .* too narrow: .*", ""),
        (r" interval \((Games–Howell|over pictures too)\) p \(\1\)", ""),
        (r"(\[0, 0\] p)( \[0, 0\] p)+", r"\1"),
        (r"(; over evaluators alone): all but “over pictures too”", r"\1"),
    ):
        lines = [re.sub(what, instead, line) for line in lines]
    return sorted(filter(None, lines))


WANTED = ["demo", "create", "serve", "simulate", "score", "report", "export"]


def follow_readme(stranger: Stranger, browser, *names: str) -> list[str]:
    """Follow the documented commands, or those of some names only; return their names."""
    followed, special = [], ways(stranger, browser)
    for command in documented_commands():
        if command.startswith("make "):
            if command != "make demo":
                continue
            command = recipe("demo")[-1]
        name = shlex.split(command)[1]
        if not names or name in names:
            special.get(name, stranger.run)(command)
            followed.append(name)
    return followed


def test_a_stranger_follows_the_readme(stranger, browser):
    followed = follow_readme(stranger, browser)

    assert [name for name in dict.fromkeys(followed) if name in WANTED] == WANTED
    assert (stranger.folder / "report" / "index.html").stat().st_size > 10_000
    assert stranger.run("openhype score out") == stranger.run("openhype score faces --simulated")


def test_a_wheel_is_enough_to_follow_the_readme(owner_of_wheel, browser):
    where = owner_of_wheel.run("python -c 'import backend; print(backend.__file__)'")

    followed = follow_readme(owner_of_wheel, browser, *WANTED[1:])

    assert "/wheel/environment/" in where
    assert list(dict.fromkeys(followed)) == WANTED[1:]
    assert (owner_of_wheel.folder / "report" / "index.html").stat().st_size > 10_000
