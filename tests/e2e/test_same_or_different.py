"""Same or different (JND) in a browser: every interval exact to the refresh or flagged, by its own trace."""

import itertools
import re
from collections import Counter
from datetime import UTC, datetime

import numpy as np
import pytest
from PIL import Image

from backend.administration.create import create
from backend.administration.study_spec import StudySpec
from backend.experiment.records import CHECK, PRACTICE, TEST
from backend.experiment.session import is_scored, picture_of

from .test_accessibility import violations
from .trace import frames_drawn, frames_shown, traced

SIZE = 64
MARK_MS, PICTURE_MS, GAP_MS = 100, 1000, 250
FIRST, GAP, SECOND, END = 1, 2, 3, 4
"""Phases after the mark that shows where to look."""
TIMES = {"countdown_ms": MARK_MS, "feedback_ms": 20}
SHORT = {
    "shortest_answer_ms": 0,
    "images": 8,
    "picture_checks": 4,
    "practice_images": 2,
    "spare_images": 40,
    **TIMES,
}
QUICK = {"exposures_ms": "100", "gap_ms": 50, **SHORT}
LEAVES_DURING = """(() => {
  let left = 1;
  new MutationObserver(() => {
    if (document.body.dataset.screen !== "%s" || left-- <= 0) return;
    Object.defineProperty(document, "hidden", { value: true, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
    delete document.hidden;
  }).observe(document.body, { attributes: true });
})()"""
"""Script that hides the tab for a moment, once, when a phase begins."""


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    """Pairs of noise of one colour, whose second picture is of another or nearly the same one."""
    root = tmp_path_factory.mktemp("pairs")
    rng = np.random.default_rng(1)
    for part in ("p0", "p1"):
        (root / part).mkdir()
    for i in range(60):
        tint = rng.integers(40, 160, 3)
        noise = rng.integers(0, 90, (SIZE, SIZE, 3))
        for part, change in (("p0", 0), ("p1", 60 if i % 2 else 4)):
            pixels = (noise + tint + np.array([change, 0, -change])).clip(0, 255).astype("uint8")
            Image.fromarray(pixels).save(root / part / f"{i:03}.png")
    return root


def created(site, pairs, **settings):
    settings = {"panel": site.record, "base_usd_cents": 300, **SHORT, **settings}
    spec = StudySpec("pairs", "study", "jnd", items=(("patches", pairs),), settings=settings)
    return create(site.store, site.data, spec, datetime.now(UTC))


def begin(player):
    player.begin("pairs")
    player.page.wait_for_selector("h1:text-is('Ready to practise?')")


def play(player, keys="fj"):
    """Play a session from its training to its end; return its trials as the page told them."""
    page, told, keys = player.page, [], itertools.cycle(keys)
    while (screen := coming(player)) != "done":
        if screen == "question":
            player.answer(next(keys))
            told.append(page.evaluate("window.openhype.lastTrial"))
        else:
            go_on(player)
    return told


def coming(player):
    """Wait for what can be answered or passed, or the end; return the screen's name."""
    return player.wait("question", "instructions", "break", "done")


def go_on(player, by_pointer=False):
    """Press the primary button of a screen, and wait for the next heading."""
    heading = player.heading()
    if by_pointer:
        player.page.click("main .primary")
    else:
        player.page.keyboard.press("Enter")
    player.page.wait_for_selector(f"h1:not(:text-is({heading!r}))")


@pytest.mark.alone
def test_every_interval_of_a_session_is_what_the_browser_s_trace_says(player, site, pairs):
    created(site, pairs, images=4, picture_checks=2)
    begin(player)

    with traced(player.page) as trace:
        told = play(player)

    session, cursor, stored = site.stored("pairs")
    assert cursor.state == "finished"
    assert Counter(
        picture_of(session, each.stimulus).kind for each in stored if is_scored(session, cursor, each)
    ) == {
        TEST: 4,
        CHECK: 2,
        PRACTICE: 2,
    }
    sequences = [phases for _, phases in sorted(trace.sequences().items())]
    assert len(sequences) == len(told) == len(stored)
    flagged, wrong = 0, []
    for trial, phases in zip(told, sequences, strict=True):
        frame_ms, timing = trial["frame_ms"], trial["timing"]
        planned = [round(ms / frame_ms) for ms in (MARK_MS, PICTURE_MS, GAP_MS, PICTURE_MS)]
        assert len(timing["planned_frames"]) == END
        # the edges are at the refreshes nearest to the times since the first picture began
        edges = np.cumsum([0, *timing["planned_frames"][FIRST:]]) * frame_ms
        assert np.abs(edges - np.cumsum([0, PICTURE_MS, GAP_MS, PICTURE_MS])).max() <= frame_ms / 2 + 1e-6
        assert np.abs(np.array(timing["planned_frames"]) - planned).max() <= 1
        if "mistimed" in trial["flags"]:
            flagged += 1
            continue
        in_worker = timing["evidence"] in ("worker", "worker_element")
        count = frames_drawn if in_worker else frames_shown
        if count(phases, frame_ms)[FIRST:END] != timing["planned_frames"][FIRST:]:
            wrong.append((trial, count(phases, frame_ms)))
        assert trial["frames"] == timing["planned_frames"][FIRST]
        assert abs(trial["shown_ms"] - PICTURE_MS) < frame_ms
        assert trial["mask_ms"] == []
        assert abs(timing["phase_ms"][GAP] - GAP_MS) < frame_ms
        assert abs(timing["phase_ms"][SECOND] - PICTURE_MS) < frame_ms
    assert wrong == []
    print(f"{flagged} of {len(told)} flagged")  # noqa: T201


def test_a_session_is_played_by_pointer_and_nothing_but_training_is_judged(player, site, pairs):
    created(site, pairs, **QUICK)
    page, verdicts, bars = player.page, [], []
    player.visit("pairs")
    player.wait("consent")
    assert "12 pairs" in page.inner_text("main")
    assert violations(page) == []
    page.click("main .primary")
    player.wait("instructions")
    told = page.inner_text("main")
    assert violations(page) == []
    page.click("main .primary")
    page.wait_for_selector("h1:text-is('Ready to practise?')")
    assert violations(page) == []
    choices = itertools.cycle(("Same", "Different"))
    while (screen := coming(player)) != "done":
        if screen == "question":
            bars.append((page.inner_text("#progress"), page.inner_text("#earned")))
            if len(bars) in (1, 4):
                assert page.inner_text("h1") == "Same or different?"
                assert violations(page) == []
            player.act_and_move_on(lambda: page.click(f".choices button:has-text('{next(choices)}')"))
            verdicts.append(page.evaluate("window.openhype.lastTrial.was_correct"))
        else:
            assert page.inner_text("h1") in ("Ready to practise?", "Now it counts", "Ready?")
            go_on(player, by_pointer=True)
    assert violations(page) == []

    assert "one picture for a moment, then nothing, then another picture" in told
    assert "press F for same or J for different" in told
    assert {type(each) for each in verdicts[:2]} == {bool}
    assert {*verdicts[2:]} == {None}
    assert {earned for _, earned in bars} == {""}
    assert bars[0][0] == "Practice: 1 of 2"
    assert bars[2][0] == "Pair 1 of 12"
    assert "Right answers" not in page.inner_text("main")
    assert "$3.00" in page.inner_text("main")


@pytest.mark.parametrize("phase", ["stimulus", "gap"])
def test_a_tab_left_during_a_pair_has_another_one_in_its_place(player, site, pairs, phase):
    created(site, pairs, practice_images=0)
    page = player.page
    player.begin("pairs")
    page.wait_for_selector("h1:text-is('Ready?')")
    page.evaluate(LEAVES_DURING % phase)
    player.press("instructions")

    player.answer("f")

    session, cursor, (first, *_) = site.stored("pairs")
    assert "hidden" in first.flags
    assert not is_scored(session, cursor, first)
    before, after = picture_of(session, first.stimulus), picture_of(session, cursor.voids[0][1])
    assert (before.kind, before.truth) == (after.kind, after.truth)


def test_a_pair_that_a_reload_interrupts_is_replaced_and_training_is_not(player, site, pairs):
    created(site, pairs, **QUICK | {"images": 4, "picture_checks": 2})
    page = player.page
    begin(player)
    player.press("instructions")
    player.wait("question")
    page.reload()
    player.press("instructions")
    page.wait_for_selector("h1:text-is('Ready to practise?')")
    assert site.stored("pairs")[1].voids == ()
    player.press("instructions")
    kinds = Counter()
    while (screen := coming(player)) != "done":
        if screen == "instructions":
            go_on(player)
            continue
        session, cursor, _ = site.stored("pairs")
        if cursor.trial_index >= 2 and not any(index == cursor.trial_index for index, _ in cursor.voids):
            before = len(cursor.voids)
            page.reload()
            player.press("instructions")
            page.wait_for_selector("h1:text-is('Ready?')")
            session, cursor, _ = site.stored("pairs")
            assert len(cursor.voids) == before + 1
            kinds[picture_of(session, cursor.voids[-1][1]).kind] += 1
            player.press("instructions")
            player.wait("question")
        player.answer("fj"[cursor.trial_index % 2])

    assert kinds == {TEST: 4, CHECK: 2}


@pytest.mark.core
def test_what_the_page_gets_of_sentinels_is_what_it_gets_of_test_pairs(player, site, pairs):
    created(site, pairs, **QUICK | {"images": 4, "picture_checks": 2})
    page, sizes = player.page, {}
    page.on(
        "response",
        lambda reply: (
            sizes.update({reply.url.rpartition("/")[2]: len(reply.body())})
            if re.search(r"\.(webp|png|jpg)", reply.url)
            else None
        ),
    )
    begin(player)
    play(player)

    assert len(set(sizes.values())) == 1
    assert len(sizes) >= 2 * 8  # each picture of an identical pair has a name of its own
