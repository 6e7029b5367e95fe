"""When the browser really presented what the page drew: its own trace, read from outside the page.

The page marks each phase of a flash in the callback that draws it (`openhype:<sequence>:<phase>`), and
the mark stands in the trace (`blink.user_timing`) with the thread that made it. From there:

- a canvas of the page: the mark lies within an `AnimationFrame` span of its thread, whose id names the
  `AnimationFrame::Presentation` that tells when that frame was on the screen; one with sequence number 0
  belongs to no frame of the display and is left aside;
- a canvas in a worker: the worker hands its frame straight to the display, so that the next
  `Display::FrameDisplayed` shows it. That event comes only where something changed, and nothing else
  changes during a flash.

Times in the trace are microseconds of one clock for all processes.
"""

import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

CATEGORIES = ["devtools.timeline", "disabled-by-default-display.framedisplayed", "blink.user_timing"]
_MARK = re.compile(r"openhype:(\d+):(\d+)")
_WAIT_MS = 50


@dataclass(frozen=True)
class Drawn:
    """One phase as it was drawn and presented (ms of the trace's clock)."""

    phase: int
    drawn_ms: float
    presented_ms: float | None
    in_worker: bool


@dataclass
class Trace:
    """What a browser told while it was traced."""

    events: list[Mapping[str, Any]] = field(default_factory=list)

    def sequences(self) -> dict[int, list[Drawn]]:
        """Return the phases of each sequence, in order, the end of the last one being a phase too."""
        return sequences(self.events)


@contextmanager
def traced(page) -> Iterator[Trace]:
    """Trace the browser of `page`; the events are there once the block is left."""
    session = page.context.browser.new_browser_cdp_session()
    trace, ended = Trace(), []
    session.on("Tracing.dataCollected", lambda part: trace.events.extend(part["value"]))
    session.on("Tracing.tracingComplete", lambda _: ended.append(True))
    config = {"includedCategories": CATEGORIES, "excludedCategories": ["*"]}
    session.send("Tracing.start", {"transferMode": "ReportEvents", "traceConfig": config})
    try:
        yield trace
    finally:
        session.send("Tracing.end")
        while not ended:
            page.wait_for_timeout(_WAIT_MS)
        session.detach()


def sequences(events: Sequence[Mapping[str, Any]]) -> dict[int, list[Drawn]]:
    """Return the phases of each sequence that the events tell of, by its number."""
    spans, presented = _frames(events), _presentations(events)
    displayed = sorted(event["ts"] for event in events if event["name"] == "Display::FrameDisplayed")
    found: dict[int, list[Drawn]] = {}
    for event in sorted(events, key=lambda event: event.get("ts", 0)):
        mark = _MARK.fullmatch(event["name"])
        if not mark or event["ph"] not in "IR":
            continue
        frame = _frame_of(event, spans)
        in_worker = frame is None
        at = _next(displayed, event["ts"]) if in_worker else presented.get((event["pid"], frame))
        sequence, phase = map(int, mark.groups())
        drawn = Drawn(phase, event["ts"] / 1000, None if at is None else at / 1000, in_worker)
        found.setdefault(sequence, []).append(drawn)
    return found


def frames_shown(phases: Sequence[Drawn], frame_ms: float) -> list[int]:
    """Return for how many refreshes each phase was up; the end of the sequence is no phase."""
    times = [phase.presented_ms for phase in phases]
    return [round((after - at) / frame_ms) for at, after in itertools.pairwise(times)]


def frames_drawn(phases: Sequence[Drawn], frame_ms: float) -> list[int]:
    """Return the refreshes between the callbacks that drew the phases."""
    times = [phase.drawn_ms for phase in phases]
    return [round((after - at) / frame_ms) for at, after in itertools.pairwise(times)]


def _frames(events: Sequence[Mapping[str, Any]]) -> list[tuple[int, int, float, float, str]]:
    """Return (process, thread, begin, end, id) of every animation frame."""
    open_, spans = {}, []
    frames = (event for event in events if event["name"] == "AnimationFrame" and event["ph"] in "be")
    for event in sorted(frames, key=lambda event: event["ts"]):
        key = (event["pid"], json.dumps(event["id2"]))
        if event["ph"] == "b":
            open_[key] = event
        elif key in open_:
            began = open_.pop(key)
            spans.append((began["pid"], began["tid"], began["ts"], event["ts"], began["args"].get("id", "")))
    return spans


def _presentations(events: Sequence[Mapping[str, Any]]) -> dict[tuple[int, str], float]:
    found = {}
    for event in events:
        if event["name"] != "AnimationFrame::Presentation":
            continue
        if event["args"]["begin_frame_id"]["sequence_number"] != 0:
            found[event["pid"], event["args"]["id"]] = event["ts"]
    return found


def _frame_of(mark: Mapping[str, Any], spans: Sequence[tuple]) -> str | None:
    for pid, tid, begin, end, frame in spans:
        if (pid, tid) == (mark["pid"], mark["tid"]) and begin <= mark["ts"] <= end:
            return frame
    return None


def _next(times: Sequence[float], after: float) -> float | None:
    return next((time for time in times if time > after), None)
