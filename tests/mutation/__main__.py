"""`python -m tests.mutation`: the table of mutants noticed, by module; progress on stderr.

`--records FOLDER` keeps which tests execute what there, and uses what is there already.
"""

import argparse
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.mutation import MODULES
from tests.mutation.lines import FOLDER, Records
from tests.mutation.mutants import Mutant, draw
from tests.mutation.trials import Copy

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    """Record, draw, run, and print."""
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        records = _records(Path(options.records or folder))
        free: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for _ in range(options.processes):
            free.put(Copy(ROOT, Path(tempfile.mkdtemp(dir=folder))))
        rng = random.Random(options.seed)
        mutants = [m for module in options.modules for m in draw(ROOT, module, options.mutants, rng)]

        def tried(mutant: Mutant) -> dict:
            copy = free.get()
            try:
                return _tried(copy, records, mutant, options.seconds)
            finally:
                free.put(copy)

        with ThreadPoolExecutor(options.processes) as pool:
            rows = [*pool.map(tried, mutants)]
    if options.output:
        Path(options.output).write_text(json.dumps(rows, indent=1), "utf-8")
    _print_table(rows, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", default=MODULES, help="default: the ten that must be right")
    parser.add_argument("--mutants", type=int, default=12, help="mutants a module, at most")
    parser.add_argument("--seed", type=int, default=37)
    parser.add_argument("--seconds", type=float, default=60, help="of tests for a mutant: fast, then slow")
    parser.add_argument("--processes", type=int, default=2, help="mutants tried at once")
    parser.add_argument("--records", help="a folder that keeps which tests execute what")
    parser.add_argument("--output", help="a JSON file for all that was tried")
    return parser.parse_args()


def _records(folder: Path) -> Records:
    if not any(folder.glob("*.json")):
        folder.mkdir(parents=True, exist_ok=True)
        run = ["pytest", "tests/unit", "-n", "2", "-p", "tests.mutation.lines"]
        subprocess.run(
            [sys.executable, "-m", *run], cwd=ROOT, env={**os.environ, FOLDER: str(folder)}, check=True
        )
    return Records(folder)


def _tried(copy: Copy, records: Records, mutant: Mutant, budget_s: float) -> dict:
    row = {
        "module": mutant.module,
        "line": mutant.lines.start,
        "last": mutant.lines.stop - 1,
        "before": mutant.before,
        "after": mutant.after,
    }
    tests = records.tests_of(mutant.module, mutant.lines)
    for kind, chosen in {
        "fast": [test for test in tests if test not in records.slow],
        "slow": [test for test in tests if test in records.slow],
    }.items():
        within = _within(chosen, records, budget_s)
        seconds = sum(records.seconds.get(test, 0.0) for test in within)
        row |= {f"{kind}_tests": len(chosen), f"{kind}_run": len(within)}
        if killer := copy.killer(mutant, within, seconds):
            row |= {"killed": kind, "killer": killer}
            break
    sys.stderr.write(f"{json.dumps(row)}\n")
    return row


def _within(tests: list[str], records: Records, budget_s: float) -> list[str]:
    """Return the first tests that take no more than the budget together, or at least one."""
    chosen, seconds = [], 0.0
    for test in tests:
        seconds += records.seconds.get(test, 0.0)
        if chosen and seconds > budget_s:
            break
        chosen.append(test)
    return chosen


def _print_table(rows: list[dict], options: argparse.Namespace) -> None:
    lines = [
        f"Seed {options.seed}, at most {options.mutants} mutants a module.",
        "",
        "| module | mutants | killed by all tests | killed by fast tests |",
        "| --- | --- | --- | --- |",
    ]
    for module in [*dict.fromkeys(row["module"] for row in rows), "all"]:
        own = [row for row in rows if module in (row["module"], "all")]
        fast = sum(row.get("killed") == "fast" for row in own)
        every = sum("killed" in row for row in own)
        lines.append(f"| `{module}` | {len(own)} | {every} | {fast} |")
    lines += ["", "Killed by slow tests only, and survivors:", ""]
    for row in rows:
        if row.get("killed") != "fast":
            by = f"killed by `{row['killer']}`" if "killed" in row else "survives"
            lines.append(f"- `{row['module']}:{row['line']}` `{row['before']}` → `{row['after']}`: {by}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
