"""`make bench`: run every benchmark, print the ratios, write bench/results.json.

`python -m bench presenters --quick` runs those that are named, and leaves the other results as they are.
"""

import argparse
import functools
import json
from pathlib import Path

from bench import (
    answers,
    creation,
    crowd,
    distortions,
    loading,
    masks,
    metrics,
    package,
    pictures,
    presenters,
    statistics,
    uploads,
)

RESULTS = Path(__file__).parent / "results.json"
BENCHMARKS = {
    "answers": answers,
    "loading": loading,
    "pictures": pictures,
    "distortions": distortions,
    "masks": masks,
    "package": package,
    "crowd": crowd,
    "uploads": uploads,
    "creation": creation,
    "statistics": statistics,
    "metrics": metrics,
    "presenters": presenters,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="fewer flashes; writes no results")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(BENCHMARKS):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    results = json.loads(RESULTS.read_text()) if chosen.names else {}
    for name, benchmark in BENCHMARKS.items():
        if chosen.names and name not in chosen.names:
            continue
        run = functools.partial(benchmark.run, chosen.quick) if benchmark is presenters else benchmark.run
        for what, result in run().items():
            results[what] = result
            goal = f" (goal: {result['goal']})" if "goal" in result else ""
            print(f"{what}: {result['ratio']:.3g}{goal}", flush=True)  # noqa: T201
    if not chosen.quick:
        RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
