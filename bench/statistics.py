"""The exact bootstrap against scipy's with the papers' 10,000 iterations; a file against csv.reader."""

import csv
import io
import tempfile
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from scipy import stats

from backend import bootstrap
from backend.responses import score_file

ROWS = 200_000


def run() -> dict:
    """Return the ratios."""
    rng = np.random.default_rng(1)
    models = [rng.binomial(100, rng.uniform(0.1, 0.6), 30) for _ in range(40)]
    exact = _timed(lambda: [bootstrap.exact([Fraction(int(k)) for k in values], 30) for values in models])
    peer = _timed(lambda: [_scipy(values, rng) for values in models[:8]]) * len(models) / 8
    with tempfile.TemporaryDirectory() as folder:
        path = _file(Path(folder) / "responses.csv", rng)
        reading = min(_timed(lambda: _read(path)) for _ in range(3))
        scoring = min(_timed(lambda: score_file(path)) for _ in range(3))
    return {
        "bootstrap of 40 models of 30, scipy's time / ours": {"ratio": peer / exact},
        "scoring a file of 200,000 rows, in times of reading it": {"ratio": scoring / reading},
    }


def _scipy(values: np.ndarray, rng: np.random.Generator) -> None:
    stats.bootstrap((values,), np.mean, n_resamples=10_000, method="percentile", rng=rng)


def _file(path: Path, rng: np.random.Generator) -> Path:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["model", "evaluator", "trial_index", "truth", "response"])
    sides = np.array(["real", "fake"])
    for i in range(ROWS):
        truth, response = sides[rng.integers(2, size=2)]
        writer.writerow([f"m{i // 100 % 40}", f"e{i // 100}", i % 100, truth, response])
    path.write_text(text.getvalue())
    return path


def _read(path: Path) -> None:
    with path.open(newline="") as file:
        for _ in csv.reader(file):
            pass


def _timed(work) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
