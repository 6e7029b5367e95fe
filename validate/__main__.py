"""`make validate`: compare with independent programs, print, write validate/results.json.

The exit status is 1 if any result disagrees. `python -m validate statistics` runs only the named parts, and
leaves the other results unchanged.
"""

import argparse
import json
import sys
from pathlib import Path

from validate import (
    agreement,
    bapps_reference,
    calibration,
    clip_people,
    confidence,
    coverage,
    crossed_model,
    equivalence,
    jnd_areas,
    looks,
    masks,
    metric_agreement,
    mixed_sessions,
    not_sure,
    partners,
    picture_distances,
    plans,
    power,
    set_distances,
    statistics,
    tournaments,
)

RESULTS = Path(__file__).parent / "results.json"
PARTS = {
    "masks": masks,
    "statistics": statistics,
    "crossed_model": crossed_model,
    "confidence": confidence,
    "not_sure": not_sure,
    "partners": partners,
    "agreement": agreement,
    "jnd_areas": jnd_areas,
    "metric_agreement": metric_agreement,
    "bapps_reference": bapps_reference,
    "picture_distances": picture_distances,
    "calibration": calibration,
    "looks": looks,
    "plans": plans,
    "power": power,
    "mixed_sessions": mixed_sessions,
    "equivalence": equivalence,
    "tournaments": tournaments,
    "set_distances": set_distances,
    "clip_people": clip_people,
    "coverage": coverage,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m validate", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of {', '.join(PARTS)}")
    arguments = parser.parse_args()
    chosen = arguments.names
    if unknown := set(chosen) - set(PARTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    results, disagreements = json.loads(RESULTS.read_text()) if chosen else {}, []
    for part in chosen or PARTS:
        for name, result in PARTS[part].run().items():
            results[name] = {key: value for key, value in result.items() if key != "table"}  # in the docs
            print(f"{name}: {result['value']:.3g} ({result['agrees_if']})", flush=True)  # noqa: T201
            if not result["agrees"]:
                disagreements.append(name)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    for name in disagreements:
        print(f"DISAGREES: {name}", file=sys.stderr)  # noqa: T201
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
