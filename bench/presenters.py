"""What is really displayed: peers' presenters and ours, same flashes in one run, by the browser's own trace.

A flash is a picture for 17 to 1000 ms and four masks of 30 ms. It is exact if the picture was displayed
for the planned number of refreshes (the nearest to its time). It is whole if, in addition, all four masks
followed immediately, in order, each for one of the two counts next to its time, with nothing blank between.

Marks record what was displayed: our pages make their own, `pages/observe.js` makes the peers'. A picture
that the browser decodes after its frame would be displayed later than its mark; this can happen to
`<img>` only, so that the real values of the naive row are at most those shown.
"""

import functools
import http.server
import itertools
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from tests import browser, node
from tests.e2e.trace import Trace, stalls_during, traced

HERE = Path(__file__).parent
FOLDERS = {"pages": HERE / "pages", "peers": HERE / "node_modules", "assets": HERE.parent / "frontend"}
EXPOSURES_MS = (17, 17, 33, 33, 50, 50, 100, 100, 150, 150, 333, 500, 1000)
MASK_MS, MASKS, BLANK_MS = 30, 4, 200
POOL = len(EXPOSURES_MS)
ROUNDS = 2
HOGS = 3
OURS, OURS_IN_WORKER = "ours", "ours, in the worker from the start"
PRESENTERS = {
    "setTimeout and <img>": "naive",
    "jsPsych image plugin": "jspsych",
    "lab.js canvas": "labjs",
    OURS: "ours",
    OURS_IN_WORKER: "ours",
}
BURN = """setInterval(() => {
  const until = performance.now() + 8 + 32 * Math.random();
  while (performance.now() < until);
}, 60)"""


@dataclass(frozen=True)
class Condition:
    """A condition that makes exact timing hard."""

    name: str
    side_px: int = 256
    hogs: int = 0
    burns: bool = False


CONDITIONS = (
    Condition("idle"),
    Condition("1024 px photographs", side_px=1024),
    Condition("CPU hogs", hogs=HOGS),
    Condition("busy main thread", burns=True),
)
QUICK = (CONDITIONS[0], CONDITIONS[3])


@dataclass(frozen=True)
class Trial:
    """One flash as requested."""

    picture: str
    masks: tuple[str, ...]
    exposure_ms: int


@dataclass(frozen=True)
class Seen:
    """One flash as presented; the facts reported by the page and the trace are None for peers."""

    is_exact: bool
    is_whole: bool
    was_flagged: bool | None = None
    machine_stalled: bool | None = None


def run(is_quick: bool = False) -> dict:
    """Return the shares of exact and whole flashes; print them as a table."""
    conditions, rounds = (QUICK, 1) if is_quick else (CONDITIONS, ROUNDS)
    seen: dict[tuple[str, str], list[Seen]] = {}
    _install_peers()
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder)) as url, sync_playwright() as play:
        for condition in conditions:
            _pictures(Path(folder), condition.side_px)
        chromium = play.chromium.launch(**browser.launch_options())
        frame_ms = _frame_ms(chromium, url)
        for i, condition, name in itertools.product(range(rounds), conditions, PRESENTERS):
            trials = _trials(condition.side_px, np.random.default_rng(i))
            flashes = _flashes(chromium, url, name, condition, trials, frame_ms)
            seen.setdefault((name, condition.name), []).extend(flashes)
        chromium.close()
    print(_table(seen, [condition.name for condition in conditions]))  # noqa: T201
    return _results(seen, [condition.name for condition in conditions])


def changes(marks: Sequence, names: Mapping[str, str]) -> list[tuple[float, str]]:
    """Return the changes of the display as (time in ms, name); `names` translates marks where needed.

    If one frame presented several marks, only the last one was visible.
    """
    shown: list[tuple[float, str]] = [(float("-inf"), "blank")]
    for mark in marks:
        if mark.presented_ms is None:
            continue
        name = mark.name.removeprefix("openhype:")
        if shown[-1][0] == mark.presented_ms:
            shown.pop()
        if not shown or shown[-1][1] != names.get(name, name):
            shown.append((mark.presented_ms, names.get(name, name)))
    return shown


def flash_seen(shown: Sequence[tuple[float, str]], trial: Trial, frame_ms: float) -> Seen:
    """Return the result of `trial`, given the changes of what was displayed."""
    places = [i for i, (_, name) in enumerate(shown) if name == trial.picture]
    if len(places) != 1:
        return Seen(is_exact=False, is_whole=False)
    runs = shown[places[0] :][: 1 + len(trial.masks) + 1]
    frames = [round((after[0] - at[0]) / frame_ms) for at, after in itertools.pairwise(runs)]
    is_exact = frames[:1] == [max(1, int(trial.exposure_ms / frame_ms + 0.5))]
    fewest = int(MASK_MS / frame_ms)
    masks_follow = [name for _, name in runs[1 : 1 + len(trial.masks)]] == list(trial.masks)
    masks_last = len(frames) == 1 + len(trial.masks) and all(n in (fewest, fewest + 1) for n in frames[1:])
    return Seen(is_exact, is_exact and masks_follow and masks_last)


def _flashes(
    chromium: Browser, url: str, name: str, condition: Condition, trials: list[Trial], frame_ms: float
) -> list[Seen]:
    page = chromium.new_page(viewport={"width": 1100, "height": 1050})
    how = {"mask_ms": MASK_MS, "blank_ms": BLANK_MS, "side_px": condition.side_px, "frame_ms": frame_ms}
    how["in_worker"] = name == OURS_IN_WORKER
    page.goto(f"{url}/pages/{PRESENTERS[name]}.html", wait_until="load")
    with _hogs(condition.hogs), traced(page) as trace:
        if condition.burns:
            page.evaluate(BURN)
        records = page.evaluate("([trials, how]) => play(trials, how)", [_orders(trials), how])
    page.close()
    return _judged(trace, trials, records, frame_ms)


def _judged(trace: Trace, trials: list[Trial], records: list[dict], frame_ms: float) -> list[Seen]:
    names = {}
    for number, trial in enumerate(trials, start=1) if records else ():
        for phase, shown in enumerate((trial.picture, *trial.masks, "blank")):
            names[f"{number}:{phase}"] = shown
    shown = changes(trace.marks(), names)
    seen = [flash_seen(shown, trial, frame_ms) for trial in trials]
    if not records:
        return seen
    phases, stalled = trace.sequences(), trace.stalls(frame_ms)
    return [
        replace(
            each,
            was_flagged=fact["was_flagged"],
            machine_stalled=bool(stalls_during(phases[number], stalled)),
        )
        for number, (each, fact) in enumerate(zip(seen, records, strict=True), start=1)
    ]


def _orders(trials: list[Trial]) -> list[dict]:
    return [
        {
            "picture": f"/pictures/{trial.picture}",
            "masks": [f"/pictures/{mask}" for mask in trial.masks],
            "exposure_ms": trial.exposure_ms,
        }
        for trial in trials
    ]


def _trials(side_px: int, rng: np.random.Generator) -> list[Trial]:
    trials = []
    for i, exposure_ms in enumerate(rng.permutation(EXPOSURES_MS)):
        masks = rng.permutation(POOL)[:MASKS]
        trials.append(
            Trial(
                f"picture-{side_px}-{i}.jpg",
                tuple(f"mask-{side_px}-{k}.jpg" for k in masks),
                int(exposure_ms),
            )
        )
    return trials


def _pictures(folder: Path, side_px: int) -> None:
    rng = np.random.default_rng(side_px)
    for kind, i in itertools.product(("picture", "mask"), range(POOL)):
        small = Image.fromarray(rng.integers(0, 256, (24, 24, 3)).astype("uint8"))
        smooth = np.asarray(small.resize((side_px, side_px), Image.Resampling.BICUBIC)).astype(int)
        grain = rng.integers(-12, 13, (side_px, side_px, 1))
        picture = Image.fromarray((smooth + grain).clip(0, 255).astype("uint8"))
        picture.save(folder / f"{kind}-{side_px}-{i}.jpg", quality=92)


def _frame_ms(chromium: Browser, url: str) -> float:
    page: Page = chromium.new_page()
    page.goto(f"{url}/pages/ours.html", wait_until="load")
    frame_ms = page.evaluate("measureRefresh(120).then((measured) => measured.frame_ms)")
    page.close()
    return frame_ms


@contextmanager
def _hogs(count: int) -> Iterator[None]:
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


@contextmanager
def _served(pictures: Path) -> Iterator[str]:
    handler = functools.partial(_Files, {**FOLDERS, "pictures": pictures})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Files(http.server.SimpleHTTPRequestHandler):
    """Serves the files of `folders`, cross-origin isolated like our pages, so clocks have full resolution."""

    def __init__(self, folders: Mapping[str, Path], *args):
        self._folders = folders
        super().__init__(*args)

    def translate_path(self, path: str) -> str:
        folder, _, name = path.partition("?")[0].lstrip("/").partition("/")
        root = self._folders.get(folder, HERE / "nowhere")
        return str(root / name) if ".." not in name else str(HERE / "nowhere")

    def end_headers(self) -> None:
        self.send_header("Cross-Origin-Opener-Policy", "same-origin")
        self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
        self.send_header("Access-Control-Allow-Origin", "*")  # modules in a frame without an origin
        self.send_header("Cache-Control", "max-age=3600")
        super().end_headers()

    def log_message(self, *_) -> None:
        pass


def _install_peers() -> None:
    browser.ensure()
    installed, wanted = HERE / "node_modules" / ".package-lock.json", HERE / "package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= wanted.stat().st_mtime:
        return
    if node.install(HERE) != 0:
        raise SystemExit("the peers could not be installed from npm; see above")


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def _table(seen: Mapping[tuple[str, str], list[Seen]], conditions: list[str]) -> str:
    lines = [
        f"| presenter | {' | '.join(conditions)} |",
        "| --- |" + " --- |" * len(conditions),
    ]
    for name in PRESENTERS:
        cells = []
        for condition in conditions:
            flashes = seen[name, condition]
            exact, whole = (
                _share([getattr(each, it) for each in flashes]) for it in ("is_exact", "is_whole")
            )
            cells.append(f"{exact:.0%} ({100 * whole:.0f}){_known(flashes)}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _known(flashes: Sequence[Seen]) -> str:
    if flashes[0].was_flagged is None:
        return ""
    flagged = sum(bool(each.was_flagged) for each in flashes)
    unknown = [each for each in flashes if not each.is_whole and not each.was_flagged]
    stalled = sum(bool(each.machine_stalled) for each in unknown)
    told = f", {flagged} flagged, {len(unknown)} wrong unknown"
    return f"{told} ({stalled} of them in a stall of the machine)" if stalled else told


def _results(seen: Mapping[tuple[str, str], list[Seen]], conditions: list[str]) -> dict:
    results = {}
    for condition in conditions:
        shares = {
            name: {
                "trials": len(seen[name, condition]),
                "exact": _share([each.is_exact for each in seen[name, condition]]),
                "whole": _share([each.is_whole for each in seen[name, condition]]),
            }
            for name in PRESENTERS
        }
        for name in (OURS, OURS_IN_WORKER):
            unflagged = [each for each in seen[name, condition] if not each.was_flagged]
            shares[name]["unflagged"] = len(unflagged) / len(seen[name, condition])
            shares[name]["exact_of_unflagged"] = (
                _share([each.is_exact for each in unflagged]) if unflagged else None
            )
        best = max(shares[name]["whole"] for name in PRESENTERS if not name.startswith(OURS))
        ratio = shares[OURS_IN_WORKER]["whole"] / max(best, 1 / len(seen[OURS, condition]))
        results[f"whole flashes, {condition}: ours in the worker / best peer"] = {"ratio": ratio, **shares}
    return results
