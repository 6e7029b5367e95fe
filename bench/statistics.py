"""The exact bootstrap against scipy's, a file against csv.reader, the start of a command against click's."""

import csv
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from scipy import stats

import openhype
from backend.responses import score_file

ROOT = Path(__file__).resolve().parent.parent
ROWS = 1_000_000
EVALUATORS = 10_000
MODELS = 40


def run() -> dict:
    """Return the ratios."""
    rng = np.random.default_rng(1)
    models = [rng.binomial(100, rng.uniform(0.1, 0.6), 30) / 100 for _ in range(MODELS)]
    exact = min(_timed(lambda: [openhype.bootstrap(values) for values in models]) for _ in range(5))
    peer = min(_timed(lambda: [_scipy(values, rng) for values in models]) for _ in range(3))
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
                "ratio": _memory(path) / path.stat().st_size, "goal": "under 10",
            },
        }  # fmt: skip
    return results | {
        "`openhype score --help` / `python -c 'import click'`": {"ratio": _start(), "goal": "at most 1.5"},
    }


def _start() -> float:
    """Return the time of a command's help in those of importing click, each the best of 20, by turns."""
    click, ours = ["-c", "import click"], ["-m", "backend", "score", "--help"]
    times = {id(command): [] for command in (click, ours)}
    for _ in range(20):
        for command in (click, ours):
            run = partial(
                subprocess.run, [sys.executable, *command], capture_output=True, check=True, cwd=ROOT
            )
            times[id(command)].append(_timed(run))
    return min(times[id(ours)]) / min(times[id(click)])


def _scipy(values: np.ndarray, rng: np.random.Generator) -> None:
    stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=rng)


def _file(path: Path, people: np.ndarray, rng: np.random.Generator, details: bool = False) -> Path:
    """Write a responses file in which each evaluator judges one of the models."""
    sides, trials = np.array(["real", "fake"]), np.zeros(EVALUATORS, int)
    truths, responses = sides[rng.integers(2, size=(2, ROWS))]
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


def _times_reading(path: Path) -> float:
    reading = min(_timed(lambda: _read(path)) for _ in range(3))
    return min(_timed(lambda: score_file(path)) for _ in range(3)) / reading


def _memory(path: Path) -> int:
    """Return the largest memory (bytes) of a fresh process that scores the file, imports included."""
    program = (
        "import sys, resource, openhype; openhype.score(sys.argv[1]);"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)"
    )
    found = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=True)
    return int(found.stdout)


def _read(path: Path) -> None:
    with path.open(newline="") as file:
        for _ in csv.reader(file):
            pass


def _timed(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
