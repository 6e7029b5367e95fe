"""The exact bootstrap against scipy's, scoring against csv.reader, a command's start against click's."""

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

import openhype
from backend.foundation.json_text import json_parts
from backend.foundation.timestamps import utc_now
from backend.report import drawing
from backend.report.findings import findings
from backend.report.write import write
from backend.responses.readers import read_answers
from bench.timing import timed
from tests.unit.response_rows import score_file

ROOT = Path(__file__).resolve().parent.parent
ROWS = 1_000_000
EVALUATORS = 10_000
MODELS = 40
_ALL_OF_IT = (
    "from pathlib import Path; from bench.statistics import _all_of_it; _all_of_it(Path(sys.argv[1]))"
)


def run() -> dict:
    rng = np.random.default_rng(1)
    models = [rng.binomial(100, rng.uniform(0.1, 0.6), 30) / 100 for _ in range(MODELS)]
    exact = min(timed(lambda: [openhype.bootstrap(values) for values in models]) for _ in range(5))
    peer = min(timed(lambda: [_scipy(values, rng) for values in models]) for _ in range(3))
    with tempfile.TemporaryDirectory() as folder:
        ordered = np.repeat(np.arange(EVALUATORS), ROWS // EVALUATORS)
        path = _file(Path(folder) / "ordered.csv", ordered, rng)
        mixed = _file(Path(folder) / "mixed.csv", rng.permutation(ordered), rng)
        full = _file(Path(folder) / "full.csv", ordered, rng, details=True)
        results = {
            "bootstrap of 40 models of 30, scipy's time / ours": {
                "ratio": peer / exact, "goal": "at least 20",
            },
            "scoring a file of 1,000,000 rows, in times of csv.reader": {
                "ratio": _times_reading(path), "goal": "at most 4",
            },
            "the same, rows in no order": {"ratio": _times_reading(mixed), "goal": "at most 4"},
            "the same, with every column that the scoring knows": {
                "ratio": _times_reading(full), "goal": "at most 4",
            },
            "memory of scoring it, in sizes of the file": {
                "ratio": _memory(path, "openhype.score(sys.argv[1])") / path.stat().st_size,
                "goal": "under 10",
            },
            "`score --full --json` of 1,000,000 rows with pictures, in times of csv.reader": {
                "ratio": _times_reading(full, _all_of_it), "goal": "at most 12",
            },
            "the same, memory, of 500 MB": {
                "ratio": _memory(full, _ALL_OF_IT) / 500e6, "goal": "under 1",
            },
        }  # fmt: skip
    return (
        results
        | _report(rng)
        | {
            "`openhype score --help` / `python -c 'import click'`": {
                "ratio": _start(),
                "goal": "at most 1.5",
            },
        }
    )


def _report(rng: np.random.Generator) -> dict:
    """Return the ratios for a report of 40 models, with 30 evaluators each and 100 responses per evaluator.

    The floor is an empty matplotlib figure, written like a report's figures: twice for the page, and as SVG
    and PNG.
    """
    from backend.report.build import file_report
    from backend.report.elements import Figure, Table

    def empty(width_in: float):
        from matplotlib.figure import Figure

        drawn = Figure(figsize=(width_in, 3.0), layout="constrained")
        drawn.subplots()
        return drawn

    blank = Figure("blank", "", "", "", empty, Table("blank", "", (), []))
    with tempfile.TemporaryDirectory() as folder:
        path = _file(Path(folder) / "r.csv", np.repeat(np.arange(30 * MODELS), 100), rng, details=True)
        report = file_report(path, utc_now())
        floor = min(timed(lambda: _drawn([blank] * len(report.figures))) for _ in range(3))
        out = Path(folder) / "report"
        ours = min(timed(lambda: write(file_report(path, utc_now()), out)) for _ in range(2))
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
    return {
        "report of 40 models of 30, in times of as many empty figures": {
            "ratio": ours / floor, "goal": "at most 10",
        },
        "its files, of 10 MB": {"ratio": size / 10e6, "goal": "under 1"},
    }  # fmt: skip


def _drawn(figures: list) -> None:
    for figure in figures:
        drawing.inline_svg(figure)
        drawing.inline_svg(figure, drawing.NARROW_IN)
        drawing.svg(figure)
        drawing.png(figure)


def _start() -> float:
    """Return the time of a command's help / that of importing click, each the best of 40, alternating."""
    click, ours = ["-c", "import click"], ["-m", "backend", "score", "--help"]
    times = {id(command): [] for command in (click, ours)}
    for _ in range(40):
        for command in (click, ours):
            run = partial(
                subprocess.run, [sys.executable, *command], capture_output=True, check=True, cwd=ROOT
            )
            times[id(command)].append(timed(run))
    return min(times[id(ours)]) / min(times[id(click)])


def _scipy(values: np.ndarray, rng: np.random.Generator) -> None:
    stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=rng)


def _file(path: Path, people: np.ndarray, rng: np.random.Generator, details: bool = False) -> Path:
    """Write a responses file in which each evaluator judges one of the models."""
    sides, trials = np.array(["real", "fake"]), np.zeros(int(people.max()) + 1, int)
    truths, responses = sides[rng.integers(2, size=(2, len(people)))]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        head = ["model", "evaluator", "trial_index", "truth", "response"]
        writer.writerow([*head, *(["session", "stimulus", "rt"] if details else [])])
        for i, person in enumerate(people.tolist()):
            row = [f"m{person % MODELS}", f"e{person}", trials[person], truths[i], responses[i]]
            writer.writerow(
                [*row, *([f"s{person}", f"{i % 5000:032x}.png", i % 7000 / 10] if details else [])]
            )
            trials[person] += 1
    return path


def _times_reading(path: Path, work: Callable[[Path], object] = score_file) -> float:
    reading = min(timed(lambda: _read(path)) for _ in range(3))
    return min(timed(lambda: work(path)) for _ in range(3)) / reading


def _all_of_it(path: Path) -> None:
    """Do what `openhype score FILE --full --json` does, except printing."""
    for _ in json_parts(findings(read_answers(path, details=True), in_columns=True)):
        pass


def _memory(path: Path, work: str) -> int:
    """Return the peak memory (bytes) of a new process that runs `work` on the file, imports included."""
    # the kernel's high-water mark of this program alone: ru_maxrss also counts the parent it was forked from
    program = (
        f"import sys, openhype; {work};"
        "lines = open('/proc/self/status').read().splitlines();"
        "print(next(line.split()[1] for line in lines if line.startswith('VmHWM')))"
    )
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024


def _read(path: Path) -> None:
    with path.open(newline="") as file:
        for _ in csv.reader(file):
            pass
