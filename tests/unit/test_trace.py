"""What is read from a browser's trace; the events are those of Chromium, cut to what is read."""

import pytest

from tests.e2e.trace import (
    Drawn,
    Stall,
    frames_drawn,
    frames_shown,
    marks,
    sequences,
    stalls,
    stalls_during,
)

FRAME_MS = 16
PAGE, WORKER, DISPLAY = (1, 1), (1, 2), (9, 9)
BIG = 2433554263774632235  # a 64-bit name; as a JavaScript number it is the same as BIG + 1


def event(name, at_ms, thread, ph="I", **args):
    return {"name": name, "ph": ph, "ts": at_ms * 1000, "pid": thread[0], "tid": thread[1], "args": args}


def mark(name, at_ms, thread):
    return event(name, at_ms, thread, data={"startTime": at_ms - 5.0})


def page_frame(name, from_ms, to_ms, told_ms=None, sequence_number=7):
    id2 = {"local": name}
    events = [
        event("AnimationFrame", from_ms, PAGE, "b", id=name) | {"id2": id2},
        event("AnimationFrame", to_ms, PAGE, "e") | {"id2": id2},
    ]
    if told_ms is not None:
        frame = {"sequence_number": sequence_number, "source_id": 1}
        events.append(
            event("AnimationFrame::Presentation", told_ms, PAGE, "n", id=name, begin_frame_id=frame)
        )
    return events


def step(name, at_ms, thread=DISPLAY, **told):
    return event("Graphics.Pipeline", at_ms, thread, "X", chrome_graphics_pipeline={"step": name, **told})


def received(frame, at_ms):
    return step("STEP_RECEIVE_COMPOSITOR_FRAME", at_ms, surface_frame_trace_id=frame)


def displayed(at_ms, frames, name):
    return [
        step(
            "STEP_SURFACE_AGGREGATION",
            at_ms - 0.5,
            aggregated_surface_frame_trace_ids=frames,
            display_trace_id=name,
        ),
        step("STEP_FINISH_BUFFER_SWAP", at_ms - 0.1, display_trace_id=name),
        event("Display::FrameDisplayed", at_ms, DISPLAY),
    ]


def asked(frame, at_ms):
    return [
        step("STEP_ISSUE_BEGIN_FRAME", at_ms, surface_frame_trace_id=frame),
        step("STEP_RECEIVE_BEGIN_FRAME", at_ms + 0.1, PAGE, surface_frame_trace_id=frame),
    ]


def test_a_mark_of_the_page_is_presented_with_the_frame_it_was_made_in():
    events = [
        *page_frame("a", 0, 10, told_ms=12),
        mark("openhype:1:0", 9, PAGE),
        *page_frame("b", 11, 26, told_ms=28),
        *(event("Display::FrameDisplayed", at, DISPLAY) for at in (12, 28)),
    ]

    (found,) = marks(events)

    assert (found.drawn_ms, found.presented_ms, found.in_worker, found.page_ms) == (9, 12, False, 4)


def test_a_mark_between_frames_belongs_to_the_next_one():
    events = [
        *page_frame("a", 0, 10, told_ms=12),
        mark("openhype:1:0", 10.5, PAGE),
        *page_frame("b", 11, 26, told_ms=28),
        *(event("Display::FrameDisplayed", at, DISPLAY) for at in (12, 28)),
    ]

    assert marks(events)[0].presented_ms == 28


def test_a_frame_with_sequence_number_0_shows_nothing():
    events = [
        *page_frame("a", 0, 10, told_ms=10.1, sequence_number=0),
        mark("openhype:1:0", 9, PAGE),
        *page_frame("b", 11, 26, told_ms=28),
        *(event("Display::FrameDisplayed", at, DISPLAY) for at in (10, 28)),
    ]

    assert marks(events)[0].presented_ms == 28


def test_a_presentation_that_is_told_late_still_was_when_its_frame_was_displayed():
    events = [
        *page_frame("a", 0, 10, told_ms=19),
        mark("openhype:1:0", 9, PAGE),
        event("Display::FrameDisplayed", 12, DISPLAY),
    ]

    assert marks(events)[0].presented_ms == 12


def test_a_frame_of_which_no_presentation_is_told_was_not_seen():
    events = [*page_frame("a", 0, 10), mark("openhype:1:0", 9, PAGE)]

    assert marks(events)[0].presented_ms is None


def test_a_worker_s_frame_is_the_one_the_display_drew_and_not_merely_the_next():
    events = [
        mark("openhype:1:0", 1, WORKER),
        received(BIG, 2),
        *displayed(3, [BIG + 1], 100),  # what was there before
        *displayed(18, [BIG, BIG + 1], 101),
    ]

    (found,) = marks(events)

    assert (found.presented_ms, found.in_worker) == (18, True)


def test_a_frame_that_a_page_handed_over_is_not_the_worker_s():
    events = [
        mark("openhype:1:0", 1, WORKER),
        step("STEP_SUBMIT_COMPOSITOR_FRAME", 1.5, PAGE, surface_frame_trace_id=BIG),
        received(BIG, 2),
        *displayed(3, [BIG], 100),
        received(BIG + 4, 4),
        *displayed(18, [BIG + 4], 101),
    ]

    assert marks(events)[0].presented_ms == 18


def test_a_worker_s_frame_that_another_replaced_was_seen_with_that_one():
    events = [
        mark("openhype:1:0", 1, WORKER),
        received(BIG, 2),
        mark("openhype:1:1", 16, WORKER),
        received(BIG + 4, 17),
        *displayed(18, [BIG + 4], 101),
    ]

    phases = sequences(events)[1]

    assert [phase.presented_ms for phase in phases] == [18, 18]
    assert frames_shown(phases, FRAME_MS) == [0]
    assert frames_drawn(phases, FRAME_MS) == [1]


def test_sequences_are_told_apart_by_their_numbers_and_other_marks_left_aside():
    events = [
        mark(name, at, WORKER)
        for at, name in enumerate(["openhype:1:0", "elsewhere", "openhype:1:1", "openhype:2:0"])
    ]

    found = sequences(events)

    assert {number: [phase.phase for phase in phases] for number, phases in found.items()} == {
        1: [0, 1],
        2: [0],
    }


def test_a_phase_stands_until_the_next_one_that_was_seen():
    phases = [Drawn(0, 0, 1, True), Drawn(1, 16, None, True), Drawn(2, 32, 33, True)]

    assert frames_shown(phases, FRAME_MS) == [2, 0]


@pytest.mark.parametrize(("gap_ms", "count"), [(23, 0), (25, 1)])
def test_the_display_stood_still_where_it_began_no_refresh(gap_ms, count):
    begun = [step("STEP_ISSUE_BEGIN_FRAME", at) for at in (0, 16, 16 + gap_ms, 32 + gap_ms)]

    found = stalls(begun, FRAME_MS)

    assert found == [Stall(16, 16 + gap_ms, "no refresh")] * count


def test_a_worker_s_frame_that_the_display_had_and_did_not_show_is_the_machine_s_doing():
    events = [mark("openhype:1:0", 1, WORKER), received(BIG, 2), *displayed(12, [BIG], 100)]

    assert stalls(events, FRAME_MS) == [Stall(1, 12, "late display")]


def test_a_worker_s_frame_that_waited_for_the_page_is_not_the_machine_s_doing():
    events = [
        *asked(BIG + 8, 0.5),
        mark("openhype:1:0", 1, WORKER),
        received(BIG, 2),
        received(BIG + 8, 11),
        *displayed(12, [BIG], 100),
    ]

    assert marks(events)[0].waited_ms == 9
    assert stalls(events, FRAME_MS) == []


def test_a_page_that_had_answered_before_held_nothing_up():
    events = [
        *asked(BIG + 8, 0.5),
        mark("openhype:1:0", 1, WORKER),
        step("STEP_DID_NOT_PRODUCE_FRAME", 1.5, surface_frame_trace_id=BIG + 8),
        received(BIG, 2),
        *displayed(3, [BIG], 100),
    ]

    assert marks(events)[0].waited_ms == 0


def test_stalls_are_those_of_a_sequence_where_they_touch_it():
    phases = [Drawn(0, 100, 101, True), Drawn(1, 116, 140, True)]
    before, within, after = (
        Stall(40, 99, "no refresh"),
        Stall(90, 110, "no refresh"),
        Stall(141, 200, "no refresh"),
    )

    assert stalls_during(phases, [before, within, after]) == [within]
