"""`make validate`: compare with independent programs, print, write validate/results.json.

Exit status 1 if one disagrees.
"""

import json
import sys
from pathlib import Path

from validate import masks, power

RESULTS = Path(__file__).parent / "results.json"


def main() -> int:
    results, disagreements = {}, []
    for run in (masks.run, power.run):
        for name, result in run().items():
            results[name] = result
            print(f"{name}: {result['value']:.3g} ({result['agrees_if']})", flush=True)  # noqa: T201
            if not result["agrees"]:
                disagreements.append(name)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    for name in disagreements:
        print(f"DISAGREES: {name}", file=sys.stderr)  # noqa: T201
    return 1 if disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
