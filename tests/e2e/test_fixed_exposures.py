"""Constant stimuli in a browser: every picture for its planned exposure, by the browser's own trace."""

import itertools
from collections import Counter

import pytest

from backend.experiment.session import is_scored

from .test_exposures import COUNTDOWN_MS, MASK_MS, PICTURE, by_phase, planned, seen
from .trace import frames_drawn, frames_shown, traced

EXPOSURES = [50, 100, 500, None]
TRIALS = 8
FRAMES_PATIENCE_MS = 10000
"""As in frontend/task/frames.js."""


def created(site, exposures="50,100,500,unlimited", **settings):
    settings = {
        "images": TRIALS,
        "spare_images": 100,
        "countdown_ms": COUNTDOWN_MS,
        "feedback_ms": 20,
    } | settings
    return site.create("fixed", "exposures", exposures_ms=exposures, mask_ms=MASK_MS, **settings)


def play(player, *, ready="Ready?"):
    """Play a session to its end; return its answers as the page told them, and the traced sequences."""
    page, told, keys = player.page, [], itertools.cycle("fj")
    player.begin("fixed")
    if ready:
        page.wait_for_selector(f"h1:text-is('{ready}')")
    with traced(page) as trace:
        if ready:
            player.press("instructions")
        while player.wait("question", "done") == "question":
            player.answer(next(keys))
            told.append(page.evaluate("window.openhype.lastTrial"))
    return told, seen(trace)


def checked(told, sequences, masks):
    """Check each flash against the trace: as planned, or flagged; return how many were flagged."""
    flashes = [phases for _, phases in sorted(sequences.items()) if phases[-1].phase > PICTURE]
    timed = [trial for trial in told if trial["exposure_ms"] is not None]
    assert len(flashes) == len(timed)
    unflagged, flagged = [], 0
    for trial, phases in zip(timed, flashes, strict=True):
        frame_ms, timing = trial["frame_ms"], trial["timing"]
        assert timing["planned_frames"] == planned(trial["exposure_ms"], frame_ms)[: PICTURE + 1 + masks]
        judged = timing["planned_frames"][PICTURE:]
        flagged += "mistimed" in trial["flags"]
        if "mistimed" in trial["flags"]:
            continue
        assert trial["frames"] == judged[0]
        assert abs(trial["shown_ms"] - trial["exposure_ms"]) < frame_ms
        in_worker = timing["evidence"] in ("worker", "worker_element")
        count = frames_drawn if in_worker else frames_shown
        shown = by_phase(phases, count, frame_ms)
        if shown[PICTURE : PICTURE + 1 + masks] != judged:
            unflagged.append((trial, shown))
    assert unflagged == []
    return flagged


@pytest.mark.core
@pytest.mark.alone
@pytest.mark.parametrize(
    "masks", [0, pytest.param(4, marks=pytest.mark.slow("flashes in real time once more"))]
)
def test_timed_and_unlimited_pictures_are_shown_as_planned(player, site, masks):
    created(site, mask_count=masks)

    told, sequences = play(player)

    session, cursor, stored = site.stored("fixed")
    scored = [response for response in stored if is_scored(session, cursor, response)]
    assert cursor.state == "finished"
    assert Counter(response.exposure_ms for response in scored) == dict.fromkeys(EXPOSURES, TRIALS // 4)
    assert tuple(response.exposure_ms for response in scored) == session.blocks[0].exposures_ms
    unlimited = [response for response in stored if response.exposure_ms is None]
    assert all(response.shown_ms is None and response.timing is None for response in unlimited)
    assert all(len(response.mask_ms) == masks for response in stored if response.exposure_ms)
    # a countdown, which is no flash, comes before each picture that stays
    assert sum(phases[-1].phase == PICTURE for phases in sequences.values()) == len(unlimited)
    print(f"{checked(told, sequences, masks)} of {len(told)} flagged")  # noqa: T201


def test_the_frame_still_draws_after_somebody_took_time_over_an_unlimited_picture(player, site):
    # It drew the countdown and is hidden behind the picture: the browser gives it no frames to end anything.
    created(site, exposures="500,unlimited", mask_count=0, images=4)
    page = player.page
    player.begin("fixed")
    page.wait_for_selector("h1:text-is('Ready?')")
    player.press("instructions")
    is_hidden, exposures = [], []
    while player.wait("question", "done") == "question":
        is_hidden.append(page.evaluate("document.querySelector('iframe').style.visibility === 'hidden'"))
        if is_hidden[-1] and is_hidden.count(True) == 1:  # others follow, at least one unlimited
            page.wait_for_timeout(FRAMES_PATIENCE_MS + 2000)
        player.answer("f")
        exposures.append(page.evaluate("window.openhype.lastTrial.exposure_ms"))

    assert is_hidden == [exposure_ms is None for exposure_ms in exposures]
    assert set(exposures) == {500, None}


def test_who_sees_only_unlimited_pictures_sees_no_flash(player, site):
    created(site, exposures="unlimited", mask_count=4)

    told, sequences = play(player, ready=None)

    assert sequences == {}
    assert [trial["exposure_ms"] for trial in told] == [None] * TRIALS


def test_a_flash_that_a_reload_interrupts_is_replaced_and_an_unlimited_picture_comes_again(player, site):
    created(site, exposures="1000,unlimited", mask_count=0, images=8)
    page, interrupted = player.page, set()
    player.begin("fixed")
    while len(interrupted) < 2:
        page.wait_for_selector("h1:text-is('Ready?')")
        player.press("instructions")
        player.wait("question")
        _, cursor, _ = site.stored("fixed")
        before = (cursor.exposure_ms, len(cursor.voids))
        page.reload()
        player.press("instructions")
        page.wait_for_selector("h1:text-is('Ready?')")
        _, cursor, _ = site.stored("fixed")
        assert cursor.exposure_ms == before[0]
        assert len(cursor.voids) - before[1] == (before[0] is not None)
        interrupted.add(before[0])
        player.press("instructions")
        player.wait("question")
        player.answer("f")
        page.reload()
        player.press("instructions")

    assert interrupted == {1000, None}


def test_a_display_that_is_too_slow_for_an_exposure_is_refused_in_words(player, site):
    created(site, exposures="8,100")

    player.visit("fixed")

    player.page.wait_for_selector("h1:text-is('This device cannot show the task')")

    assert "119" in player.page.inner_text("main")
