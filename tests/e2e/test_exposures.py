"""What the eye gets, by the browser's own trace: every flash exact to the refresh, or known not to be.

How many flashes a machine spoils is its own affair and is printed (`pytest -rP`); a flash that was
wrong and not flagged, or planned wrongly, is a fault of the page.
"""

import itertools
import subprocess
import sys

import pytest

from backend.experiment.session import is_scored

from .test_task import busy, without_frame
from .trace import frames_drawn, frames_shown, traced

pytestmark = pytest.mark.alone

TRIALS = 10
COUNTDOWN_MS = 60
MASK_MS = 30
PICTURE = 3
"""Its place among the phases, after a countdown of three."""
BUSY_FOR_TWO_FLASHES = """(() => {
  let left = 2;
  new MutationObserver(() => {
    if (document.body.dataset.screen !== "stimulus" || left-- <= 0) return;
    const until = performance.now() + 150;
    setTimeout(() => { while (performance.now() < until); }, 5);
  }).observe(document.body, {attributes: true});
})()"""
"""Script that holds the page up while a picture and its masks are shown."""
TELLS_NO_TIMES = """(() => {
  const post = MessagePort.prototype.postMessage;
  MessagePort.prototype.postMessage = function (data) {
    if (!("shown" in data)) post.call(this, data);
  };
})()"""
"""Script for the frame: it shows flashes, and what was shown it does not tell."""
WITHOUT_ELEMENT_TIMING = "Object.defineProperty(PerformanceObserver, 'supportedEntryTypes', {get: () => []})"


@pytest.fixture
def hogs():
    """Give every core more than it can do."""
    running = []

    def start():
        running.extend(subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(3))

    yield start
    for process in running:
        process.kill()
        process.wait()


def play(player, site, name="glimpse", before_flashes=lambda: None):
    """Play a block from 17 ms on; return its answers as the page told them, and the traced flashes."""
    page, told, keys = player.page, [], itertools.cycle("fj")
    player.visit(name)
    player.press("consent")
    player.press("instructions")
    page.wait_for_selector("h1:text-is('Ready?')")
    before_flashes()
    with traced(page) as trace:
        player.press("instructions")
        while player.wait("question", "done") == "question":
            player.answer(next(keys))
            told.append(page.evaluate("window.openhype.lastTrial"))
    return told, seen(trace)


def seen(trace):
    """Return the sequences of a trace that reached their picture.

    What a stall swallowed before its picture, nobody saw: the page shows it again, and tells once.
    """
    sequences = trace.sequences().items()
    return {n: phases for n, phases in sequences if any(each.phase == PICTURE for each in phases)}


def created(site, **settings):
    return site.create(
        "glimpse", "time", images=TRIALS, blocks=1, spare_images=60,
        countdown_ms=COUNTDOWN_MS, feedback_ms=20,
        min_exposure_ms=17, start_exposure_ms=100, exposure_steps="ms", **settings,
    )  # fmt: skip


def planned(exposure_ms, frame_ms):
    """Return the refreshes of countdown, picture and masks, at the edges nearest to their times."""

    def edges(*durations_ms):
        ends = [0]
        for i in range(len(durations_ms)):
            nearest = int(sum(durations_ms[: i + 1]) / frame_ms + 0.5 - 1e-9)
            ends.append(max(ends[-1] + 1, nearest))
        return [after - before for before, after in itertools.pairwise(ends)]

    return edges(*[COUNTDOWN_MS] * 3) + edges(exposure_ms, *[MASK_MS] * 4)


def checked(told, sequences, what):
    """Check every flash against the trace; print the shares and return the evidence of each."""
    assert len(sequences) == len(told)
    unflagged, stalls, flagged, false_alarms = [], 0, 0, 0
    for trial, phases in zip(told, (sequences[number] for number in sorted(sequences)), strict=True):
        timing, frame_ms = trial["timing"], trial["frame_ms"]
        assert timing["planned_frames"] == planned(trial["exposure_ms"], frame_ms)
        is_flagged = "mistimed" in trial["flags"]
        assert ("unverified" in trial["flags"]) == (timing["evidence"] in ("worker", "callback"))
        judged = timing["planned_frames"][PICTURE:]
        assert is_flagged or judged == timing["achieved_frames"][PICTURE:]
        shown = by_phase(phases, frames_shown, frame_ms)
        is_wrong = shown[PICTURE:] != judged
        was_drawn_right = by_phase(phases, frames_drawn, frame_ms)[PICTURE:] == judged
        flagged += is_flagged
        false_alarms += is_flagged and not is_wrong
        in_worker = timing["evidence"] in ("worker", "worker_element")
        if is_wrong and not is_flagged and in_worker and was_drawn_right:
            # The worker's frame, handed over in time, was shown late: mostly where the display waits for a
            # busy page, and of that nothing tells a page (most such flashes are `unverified`).
            stalls += 1
        elif is_wrong and not is_flagged:
            unflagged.append(
                {
                    "evidence": timing["evidence"],
                    "planned": timing["planned_frames"],
                    "page": timing["achieved_frames"],
                    "trace": shown,
                    "drawn_ms": [round(phase.drawn_ms - phases[0].drawn_ms, 1) for phase in phases],
                    "delay_ms": [round(phase.presented_ms - phase.drawn_ms, 1) for phase in phases],
                    "lateness_ms": timing["lateness_ms"],
                }
            )
    on_page = sum(trial["timing"]["evidence"] == "element" for trial in told)
    print(  # noqa: T201
        f"{what}: {len(told)} flashes ({on_page} told by Element Timing), {flagged} flagged, "
        f"{false_alarms} of them falsely, {stalls} stalls"
    )
    assert unflagged == []
    return [trial["timing"]["evidence"] for trial in told]


def by_phase(phases, count, frame_ms):
    """Return the refreshes of each of the 8 phases, 0 for one that was never drawn."""
    assert all(phase.presented_ms is not None for phase in phases)
    frames = [0] * 8
    for phase, number in zip(phases, count(phases, frame_ms), strict=False):
        frames[phase.phase] = number
    return frames


def test_flashes_on_an_idle_page_are_what_the_trace_says(player, site):
    created(site)

    told, sequences = play(player, site)

    assert "element" in checked(told, sequences, "idle, on the page")


def test_flashes_in_the_worker_are_what_the_trace_says(player, site):
    created(site)
    player.page.add_init_script(WITHOUT_ELEMENT_TIMING)

    told, sequences = play(player, site)

    assert set(checked(told, sequences, "idle, in the worker")) == {"worker"}


def test_the_browser_tells_of_the_flashes_of_a_busy_page(player, site):
    created(site)

    told, sequences = play(player, site, before_flashes=lambda: busy(player.page))

    assert set(checked(told, sequences, "busy page")) == {"element"}


def test_flashes_of_a_busy_page_without_a_frame_are_known_and_then_exact(player, site):
    created(site)
    without_frame(player.page)

    told, sequences = play(player, site, before_flashes=lambda: busy(player.page))

    assert checked(told, sequences, "busy page, no frame")[-1] in ("worker", "worker_element")


def test_a_page_that_was_busy_for_a_while_bears_witness_for_the_worker(player, site):
    created(site)
    without_frame(player.page)

    told, sequences = play(player, site, before_flashes=lambda: player.page.evaluate(BUSY_FOR_TWO_FLASHES))

    evidence = checked(told, sequences, "busy for two flashes")
    assert evidence[:2] == ["element"] * 2
    assert "worker_element" in evidence[2:]
    assert evidence[2] != "element"
    for i in range(3, len(evidence)):
        if evidence[i] == "element" != evidence[i - 1]:
            # Back on the page: after five mistimed ones in a row, and the question.
            assert i >= 5
            assert all("mistimed" in trial["flags"] for trial in told[i - 5 : i])


def test_one_flash_that_the_page_was_late_for_leaves_the_best_evidence_there_is(player, site):
    created(site)
    without_frame(player.page)
    once = BUSY_FOR_TWO_FLASHES.replace("left = 2", "left = 1")

    told, sequences = play(player, site, before_flashes=lambda: player.page.evaluate(once))

    assert "mistimed" in told[0]["flags"]
    # this machine may make the page late once more
    assert checked(told, sequences, "busy for one flash").count("element") >= 2


def test_flashes_on_a_busy_machine_are_known(player, site, hogs):
    created(site)

    told, sequences = play(player, site, before_flashes=hogs)

    checked(told, sequences, "busy machine")


def test_flashes_of_large_photographs_are_known(player, site):
    created(site, size_px=1024)

    told, sequences = play(player, site)

    checked(told, sequences, "1024 px")
    session, cursor, stored = site.stored("glimpse")
    assert sum(is_scored(session, cursor, response) for response in stored) == TRIALS


@pytest.mark.parametrize("when", ["question", "stimulus", "settled"])
def test_when_the_frame_no_longer_answers_the_page_goes_on(player, site, when):
    site.create("glimpse", "time", images=4, blocks=1, spare_images=100, countdown_ms=100, feedback_ms=50)
    page, keys = player.page, itertools.cycle("fj")
    player.visit("glimpse")
    player.press("consent")
    player.press("instructions")
    player.start_flashes()
    player.wait("question")
    (frame,) = (frame for frame in page.frames if frame.parent_frame)
    if when == "stimulus":
        player.answer(next(keys))
        page.wait_for_selector("body[data-screen=stimulus]")

    dies = TELLS_NO_TIMES if when == "settled" else "setTimeout(() => { for (;;); })"
    frame.evaluate(dies)  # as if its process had died
    while player.wait("question", "done") == "question":
        player.answer(next(keys))

    session, cursor, stored = site.stored("glimpse")
    assert cursor.state == "finished"
    assert sum(is_scored(session, cursor, response) for response in stored) == 4
    if when != "question":
        assert stored[1].timing.evidence == "callback"
        assert not is_scored(session, cursor, stored[1])
