"""Set distances of 10,000 + 10,000 pictures with 2,048 features, against scipy's sqrtm on their covariances.

`python -m bench.metrics` prints how much memory (MB) a process needs beyond the features; `run` starts it.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from scipy.linalg import sqrtm

from backend.metrics.feature_blocks import Side
from backend.metrics.frechet import frechet, moments, of_moments
from backend.metrics.set_distances import compare
from bench.timing import timed

REPEATS = 3
"""Times are the shortest of these, taken in turns."""
PICTURES = 10_000
DIMENSIONS = 2048


def run() -> dict:
    reals, fakes = _features()
    first, second = moments(Side(reals)), moments(Side(fakes))
    works = {
        "sqrtm": lambda: sqrtm(first.covariance @ second.covariance),
        "matrices": lambda: of_moments(first, second),
        "features": lambda: frechet(Side(reals), Side(fakes)),
        "all": lambda: compare(reals, fakes),
    }
    times = [{name: timed(work) for name, work in works.items()} for _ in range(REPEATS)]
    least = {name: min(each[name] for each in times) for name in works}
    memory = json.loads(
        subprocess.run([sys.executable, "-m", "bench.metrics"], capture_output=True, check=True).stdout
    )
    what = f"{PICTURES:,} + {PICTURES:,} pictures with {DIMENSIONS:,} features"
    return {
        "Frechet distance from two covariances of 2,048, time / scipy's sqrtm of their product": {
            "ratio": least["matrices"] / least["sqrtm"], "goal": "at most 1",
            "seconds": [least["matrices"], least["sqrtm"]],
        },
        f"Frechet distance of {what}, time / scipy's sqrtm": {
            "ratio": least["features"] / least["sqrtm"], "goal": "at most 1",
            "seconds": [least["features"], least["sqrtm"]],
        },
        f"all set distances of {what} with intervals, time / scipy's sqrtm": {
            "ratio": least["all"] / least["sqrtm"], "seconds": [least["all"], least["sqrtm"]],
        },
        f"memory for all set distances of {what}, beyond the features / the features": {
            "ratio": memory["beyond_mb"] / memory["features_mb"], **memory,
        },
    }  # fmt: skip


def _features(pictures: int = PICTURES) -> tuple[np.ndarray, np.ndarray]:
    """Return features of two sides, float32, with a spectrum that falls like those of networks."""
    rng = np.random.default_rng(1)
    scales = (np.arange(1, DIMENSIONS + 1) ** -0.5).astype("float32")
    reals, fakes = (rng.standard_normal((pictures, DIMENSIONS), dtype="float32") for _ in range(2))
    reals *= scales
    fakes *= 1.05 * scales
    fakes += 0.1 * scales
    return reals, fakes


def _peak_mb() -> float:
    """Return the largest memory of this program (Linux), without that of the process which started it."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1024


def main() -> None:
    """Print the memory of the features, and the most needed besides by all distances (MB)."""
    reals, fakes = _features()
    before = _peak_mb()
    compare(reals, fakes)
    features = (reals.nbytes + fakes.nbytes) / 2**20
    print(json.dumps({"features_mb": features, "beyond_mb": _peak_mb() - before}))  # noqa: T201


if __name__ == "__main__":
    main()
