"""`make bench`: run every benchmark, print the ratios, write bench/results.json."""

import json
from pathlib import Path

from bench import answers, masks, pictures, statistics

RESULTS = Path(__file__).parent / "results.json"


def main() -> None:
    results = {}
    for run in (answers.run, pictures.run, masks.run, statistics.run):
        for name, result in run().items():
            results[name] = result
            goal = f" (goal: {result['goal']})" if "goal" in result else ""
            print(f"{name}: {result['ratio']:.3g}{goal}", flush=True)  # noqa: T201
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
