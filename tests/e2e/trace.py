"""When the browser really presented what the page drew: its own trace, read from outside the page.

The page marks each phase of a flash in the callback that draws it (`openhype:<sequence>:<phase>`), and
the mark stands in the trace (`blink.user_timing`) with the thread that made it, in a worker as well.
From there two ways lead to `Display::FrameDisplayed`, when a frame was on the screen; docs/timing.md
tells what each event means and what was measured of it.

- On the page the mark belongs to the `AnimationFrame` of its thread that ends next, and the
  `AnimationFrame::Presentation` of the same id tells that this frame was presented. One with sequence
  number 0 changed nothing, and what it drew is seen with the next that did.
- A worker hands its frame straight to the display. The frame is named where the display receives it
  (`graphics.pipeline`), where it is first drawn, and through that drawing where it is displayed.

Frames carry names of 64 bits, which JavaScript's numbers would round until they collide: so the trace
is taken as text and parsed here. Times are microseconds of one clock for all processes.
"""

import itertools
import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

CATEGORIES = [
    "devtools.timeline",
    "disabled-by-default-display.framedisplayed",
    "blink.user_timing",
    "graphics.pipeline",
]
_MARK = re.compile(r"openhype:(\d+):(\d+)")
_WAIT_MS = 50
_READ_BYTES = 1 << 20
_LAST_ASKED = 4  # of one refresh: the page, the worker, the window
_TOLD_EARLY_US = 100  # a presentation told this much before its frame is still that frame's

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Mark:
    """A mark and the first frame on the screen that has what was drawn before it (ms of the trace)."""

    name: str
    drawn_ms: float
    presented_ms: float | None
    in_worker: bool
    page_ms: float = 0.0
    """The mark on the clock of the page, or of the worker that made it (`performance.now()`)."""
    waited_ms: float = 0.0
    """How long the display held a worker's frame back for one that it had asked the page for."""


@dataclass(frozen=True)
class Drawn:
    """One phase as it was drawn and presented (ms of the trace's clock)."""

    phase: int
    drawn_ms: float
    presented_ms: float | None
    in_worker: bool
    waited_ms: float = 0.0


@dataclass(frozen=True)
class Stall:
    """A spell in which the machine did not let the browser work (ms of the trace's clock)."""

    from_ms: float
    to_ms: float
    cause: Literal["no refresh", "late display"]


@dataclass
class Trace:
    """What a browser told while it was traced."""

    events: list[Event] = field(default_factory=list)

    def marks(self, prefix: str = "openhype:") -> list[Mark]:
        """Return the marks whose names begin with `prefix`, in order."""
        return marks(self.events, prefix)

    def sequences(self) -> dict[int, list[Drawn]]:
        """Return the phases of each sequence, in order, the end of the last one being a phase too."""
        return sequences(self.events)

    def stalls(self, frame_ms: float) -> list[Stall]:
        """Return the machine's stalls, in order."""
        return stalls(self.events, frame_ms)


@contextmanager
def traced(page) -> Iterator[Trace]:
    """Trace the browser of `page`; the events are there once the block is left.

    Playwright's `wait_for_function` keeps the page animating, and the display then waits for the page:
    while flashes run, ask by `page.evaluate` now and then instead (`wait_for_selector` does no harm).
    """
    session = page.context.browser.new_browser_cdp_session()
    trace, ended = Trace(), []
    session.on("Tracing.tracingComplete", lambda end: ended.append(end))
    config = {"recordMode": "recordAsMuchAsPossible", "includedCategories": CATEGORIES}
    how = {"transferMode": "ReturnAsStream", "streamFormat": "json"}
    session.send("Tracing.start", {**how, "traceConfig": {**config, "excludedCategories": ["*"]}})
    try:
        yield trace
    finally:
        session.send("Tracing.end")
        while not ended:
            page.wait_for_timeout(_WAIT_MS)
        assert not ended[0]["dataLossOccurred"], "the browser's trace has gaps"
        trace.events.extend(json.loads(_read(session, ended[0]["stream"]))["traceEvents"])
        session.detach()


def _read(session, stream: str) -> str:
    parts, is_over = [], False
    while not is_over:
        part = session.send("IO.read", {"handle": stream, "size": _READ_BYTES})
        parts.append(part["data"])
        is_over = part["eof"]
    session.send("IO.close", {"handle": stream})
    return "".join(parts)


def sequences(events: Sequence[Event]) -> dict[int, list[Drawn]]:
    """Return the phases of each sequence that the events tell of, by its number."""
    found: dict[int, list[Drawn]] = {}
    for mark in marks(events):
        if name := _MARK.fullmatch(mark.name):
            sequence, phase = map(int, name.groups())
            drawn = Drawn(phase, mark.drawn_ms, mark.presented_ms, mark.in_worker, mark.waited_ms)
            found.setdefault(sequence, []).append(drawn)
    return found


def marks(events: Sequence[Event], prefix: str = "openhype:") -> list[Mark]:
    """Return the marks whose names begin with `prefix`, each with when it was seen, in order."""
    page, display = _Page(events), _Display(events)
    found = []
    for event in _in_order(events):
        if event["ph"] not in "IR" or not event["name"].startswith(prefix):
            continue
        in_worker = not page.has(event)
        if in_worker:
            at, waited = display.shows_worker_frame_after(event["ts"])
        else:
            at, waited = display.shown_before(page.presentation_told(event)), 0.0
        page_ms = event["args"].get("data", {}).get("startTime", 0.0)
        found.append(Mark(event["name"], event["ts"] / 1000, _ms(at), in_worker, page_ms, waited / 1000))
    return found


def frames_shown(phases: Sequence[Drawn], frame_ms: float) -> list[int]:
    """Return for how many refreshes each phase was up, 0 if never; the end is no phase.

    A phase stood until the next one that was seen.
    """
    times = [phase.presented_ms for phase in phases]
    afters = (next((at for at in times[i + 1 :] if at is not None), None) for i in range(len(times) - 1))
    return [
        0 if at is None or after is None else round((after - at) / frame_ms)
        for at, after in zip(times, afters, strict=False)
    ]


def frames_drawn(phases: Sequence[Drawn], frame_ms: float) -> list[int]:
    """Return the refreshes between the callbacks that drew the phases."""
    times = [phase.drawn_ms for phase in phases]
    return [round((after - at) / frame_ms) for at, after in itertools.pairwise(times)]


def stalls(events: Sequence[Event], frame_ms: float) -> list[Stall]:
    """Return the spells in which the machine, and not the page, kept a picture from the screen.

    - "no refresh": the display began none for half a refresh more than one. It begins none either
      while nobody asks for any, so such a spell says something only during a flash, which asks for all.
    - "late display": a worker's frame took more than half a refresh from its callback to the screen,
      or never came there; the time that the display waited for the page is not counted, which is the
      page's own doing. A worker cannot know of either.
    """
    begun = sorted(event["ts"] / 1000 for event in events if _step(event) == "STEP_ISSUE_BEGIN_FRAME")
    found = [
        Stall(at, after, "no refresh")
        for at, after in itertools.pairwise(begun)
        if after - at > 1.5 * frame_ms
    ]
    drawn = [mark for mark in marks(events) if mark.in_worker]
    for mark, after in itertools.zip_longest(drawn, drawn[1:]):
        shown_ms = mark.presented_ms or (after or mark).drawn_ms
        if mark.presented_ms is None or shown_ms - mark.drawn_ms - mark.waited_ms > frame_ms / 2:
            found.append(Stall(mark.drawn_ms, shown_ms, "late display"))
    return sorted(found, key=lambda stall: stall.from_ms)


def stalls_during(phases: Sequence[Drawn], found: Sequence[Stall]) -> list[Stall]:
    """Return the stalls that touch the time from the first phase's callback to the last one's display."""
    began = phases[0].drawn_ms
    ended = max(phase.presented_ms or phase.drawn_ms for phase in phases)
    return [stall for stall in found if stall.from_ms <= ended and stall.to_ms >= began]


class _Page:
    """The animation frames of each thread that has a page."""

    def __init__(self, events: Sequence[Event]):
        told = {
            (event["pid"], event["args"]["id"]): event["ts"]
            for event in events
            if event["name"] == "AnimationFrame::Presentation"
            and event["args"].get("begin_frame_id", {}).get("sequence_number", 0) != 0
        }
        self._ends: dict[tuple[int, int], list[float]] = {}
        self._told: dict[tuple[int, int], list[float | None]] = {}
        begun = {}
        for event in _in_order(events):
            if event["name"] != "AnimationFrame" or event["ph"] not in "be":
                continue
            key = (event["pid"], json.dumps(event["id2"]))
            if event["ph"] == "b":
                begun[key] = event["args"].get("id")
            elif key in begun:
                thread = (event["pid"], event["tid"])
                self._ends.setdefault(thread, []).append(event["ts"])
                self._told.setdefault(thread, []).append(told.get((event["pid"], begun.pop(key))))

    def has(self, event: Event) -> bool:
        return (event["pid"], event["tid"]) in self._ends

    def presentation_told(self, mark: Event) -> float | None:
        """Return when the browser told the page's process that the mark's frame had been presented."""
        thread = (mark["pid"], mark["tid"])
        first = bisect_left(self._ends[thread], mark["ts"])
        return next((at for at in self._told[thread][first:] if at is not None), None)


class _Display:
    """What the display received, drew and showed."""

    def __init__(self, events: Sequence[Event]):
        self._shown = sorted(event["ts"] for event in events if event["name"] == "Display::FrameDisplayed")
        self._received: list[tuple[float, int]] = []
        self._drawings: dict[int, tuple[float, int]] = {}
        self._finished: dict[int, float] = {}
        self._asked: list[tuple[float, int]] = []
        self._answered: dict[int, float] = {}
        by_pages = {_frame(event) for event in events if _step(event) == "STEP_SUBMIT_COMPOSITOR_FRAME"}
        self._of_pages = {_frame(event) for event in events if _step(event) == "STEP_RECEIVE_BEGIN_FRAME"}
        for event in _in_order(events):
            step, at = _step(event), event.get("ts", 0)
            if step == "STEP_RECEIVE_COMPOSITOR_FRAME" and _frame(event) not in by_pages:
                self._received.append((at, _frame(event)))
            if step in ("STEP_RECEIVE_COMPOSITOR_FRAME", "STEP_DID_NOT_PRODUCE_FRAME"):
                self._answered.setdefault(_frame(event), at)
            if step == "STEP_ISSUE_BEGIN_FRAME":
                self._asked.append((at, _frame(event)))
            if step == "STEP_SURFACE_AGGREGATION":
                drawing = event["args"]["chrome_graphics_pipeline"]
                for frame in drawing["aggregated_surface_frame_trace_ids"]:
                    self._drawings.setdefault(frame, (at, drawing["display_trace_id"]))
            if step == "STEP_FINISH_BUFFER_SWAP":
                self._finished[event["args"]["chrome_graphics_pipeline"]["display_trace_id"]] = at

    def shown_before(self, told: float | None) -> float | None:
        """Return the last frame displayed when a presentation was told: the one it tells of."""
        if told is None:
            return None
        place = bisect_right(self._shown, told + _TOLD_EARLY_US)
        return self._shown[place - 1] if place else None

    def shows_worker_frame_after(self, drawn: float) -> tuple[float | None, float]:
        """Return when the worker's next frame, or one that took its place, was displayed.

        And how long the display waited for the page before it drew.
        """
        for received, frame in self._received[bisect_right(self._received, (drawn, 1 << 64)) :]:
            drawing, name = self._drawings.get(frame, (None, None))
            if drawing is None or name not in self._finished:
                continue
            place = bisect_left(self._shown, self._finished[name])
            if place < len(self._shown):
                return self._shown[place], self._waited_for_page(received, drawing)
        return None, 0.0

    def _waited_for_page(self, received: float, drawing: float) -> float:
        """Return for how long after it had the frame a page that had been asked before did not answer."""
        asked = self._asked[: bisect_right(self._asked, (received, 1 << 64))][-_LAST_ASKED:]
        answers = (self._answered.get(frame, drawing) for _, frame in asked if frame in self._of_pages)
        return max(0.0, min(max(answers, default=received), drawing) - received)


def _in_order(events: Sequence[Event]) -> list[Event]:
    return sorted(events, key=lambda event: event.get("ts", 0))


def _step(event: Event) -> str | None:
    return event["args"].get("chrome_graphics_pipeline", {}).get("step")


def _frame(event: Event) -> int:
    return event["args"]["chrome_graphics_pipeline"].get("surface_frame_trace_id", 0)


def _ms(at_us: float | None) -> float | None:
    return None if at_us is None else at_us / 1000
