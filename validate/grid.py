"""Coverage of printed intervals, promises of ranks, and rates of false verdicts over a grid of studies.

`python -m validate.grid` simulates what `grid.json` lacks, which is written after each hundred studies so
that it may be interrupted, and prints the table; without `--only` it writes it to docs/statistics.md. A
judgment has 25 cells: an orthogonal array of strength two in which any two of the factors people, pictures,
share, SDs, distribution and difference of models meet in each pair of levels once (Rao, 1947).
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from validate.inferences import DOCS, entry_of, put
from validate.judged import JUDGED, MANY, Cell, Limited

RESULTS = Path(__file__).parent / "grid.json"
MARKS = ("<!-- grid: python -m validate.grid -->", "<!-- end of grid -->")
BATCH = 100
AT_A_LIMIT = "at a limit"
LEAST, MOST, NEVER, FALSE = 0.93, 0.97, 0.9, 0.06
PEOPLE = (5, 10, 20, 30, 60)
POOLS = (20, 100, 1000, 5000, None)
SHARES = (0.02, 0.1, 0.25, 0.4, 0.6)
SDS = ((0.1, 0.3), (0.3, 0.6), (0.3, 1.0), (0.6, 0.3), (0.6, 1.0))
SHAPES = ("normal", "skewed", "two groups", "normal", "two groups")
STEPS = (0.0, 0.3, 0.0, 0.6, 1.0)
SHOWN, SHOWN_TIMED = 50, 225
Row = dict[str, Any]
Part = tuple[Cell, int]
"""A cell, and the place of its numbers in `Judged.numbers`."""


def cells(judgment: str) -> Iterator[Cell]:
    """Yield the cells of a judgment, of which each five have all numbers of people and of pictures."""
    most = SHOWN_TIMED if judgment in ("time", "staircases") else SHOWN
    for place in range(25):
        i, j = place % 5, (place + place // 5) % 5
        share, sds, shape, step = ((i + times * j) % 5 for times in (1, 2, 3, 4))
        yield Cell(
            judgment,
            people=PEOPLE[i],
            pool=POOLS[j],
            share=SHARES[share],
            people_sd=SDS[sds][0],
            pictures_sd=SDS[sds][1],
            shape=SHAPES[shape],
            step=STEPS[step],
            is_mixed=judgment == "infinity" and (i + j) % 2 == 1,
            seed=place,
            shown=min(most, POOLS[j] or most),
        )


def parts() -> Iterator[Part]:
    """Yield the first cell of each judgment, then the second, so that what is interrupted has some of all."""
    for of_all in zip(*map(cells, JUDGED), strict=True):
        for cell in of_all:
            yield from ((cell, place) for place in range(len(JUDGED[cell.judgment].numbers)))


def simulate(results: Row, studies: int | None, only: str, seed: int) -> None:
    """Add the studies that results lack, and write them after each batch.

    Args:
        studies: of each cell; None for those of the judgment, of mixed sessions 300.
        only: part of the names of cells.
    """
    todo = {}
    for part in parts():
        wanted = studies or (300 if part[0].is_mixed else JUDGED[part[0].judgment].studies)
        if only in str(part[0]) and (count := wanted - _studies(results, part)) > 0:
            todo[part] = count
    begin, done, total = time.monotonic(), 0, sum(todo.values())
    for part, count in todo.items():
        true, first = truths(part, seed), _studies(results, part)
        for begun in range(0, count, BATCH):
            size = min(BATCH, count - begun)
            studies_of = range(first + begun, first + begun + size)
            _add(results, part, held(part, true, studies_of, seed), size)
            results[_key(part)] |= {AT_A_LIMIT: true[AT_A_LIMIT]} if true[AT_A_LIMIT] else {}
            write(results)
            done += size
            left = (time.monotonic() - begin) / done * (total - done) / 60
            print(f"{part[0]}: {done:,} of {total:,} studies, {left:.0f} min left", file=sys.stderr)  # noqa: T201


def truths(part: Part, seed: int) -> Row:
    """Return mean estimates of studies of many evaluators, who share pictures only if they are the same.

    Of those that are limited, it is the median, and `AT_A_LIMIT` has the names of those at a limit.
    """
    (cell, place), drawn = part, {}
    judged = JUDGED[cell.judgment]
    same, numbers = judged.numbers[place]
    of_all, rng = cell if same else replace(cell, pool=None), np.random.default_rng(_seeds(part, seed, 0))
    for _ in range(judged.truths):
        for name, number in numbers(judged.draw(of_all, MANY, rng, same), cell):
            drawn.setdefault(name, []).append(number)
    true: Row = {AT_A_LIMIT: []}
    for name, many in drawn.items():
        estimates, is_limited = [number.estimate for number in many], isinstance(many[0], Limited)
        true[name] = (np.median if is_limited else np.mean)(estimates, axis=0)
        if is_limited and many[0].is_at_a_limit(true[name]):
            true[AT_A_LIMIT].append(name)
    return true


def held(part: Part, true: Row, studies: range, seed: int) -> dict[str, list[float]]:
    """Return of each number in how many studies it held, and in how many it was printed."""
    (cell, place), found = part, {}
    judged = JUDGED[cell.judgment]
    same, numbers = judged.numbers[place]
    for study in studies:
        rng = np.random.default_rng(_seeds(part, seed, 1 + study))
        for name, number in numbers(judged.draw(cell, cell.people, rng, same), cell):
            if name in true:
                counts = found.setdefault(name, [0.0, 0])
                counts[0] += number.held(true[name])
                counts[1] += 1
    return found


def _seeds(part: Part, seed: int, study: int) -> list[int]:
    cell, place = part
    return [seed, crc32(cell.judgment.encode()), cell.seed, place, study]


def _key(part: Part) -> str:
    return f"{part[0]} #{part[1]}"


def _studies(results: Row, part: Part) -> int:
    return results.get(_key(part), {"studies": 0})["studies"]


def _add(results: Row, part: Part, counts: dict[str, list[float]], studies: int) -> None:
    row = results.setdefault(_key(part), {"studies": 0, "held": {}})
    row["studies"] += studies
    for name, (count, of) in counts.items():
        before = row["held"].get(name, [0.0, 0])
        row["held"][name] = [round(before[0] + count, 6), before[1] + of]


def write(results: Row) -> None:
    """Write the results, each part of a cell on a line of its own."""
    lines = (f"{json.dumps(name)}: {json.dumps(row)}" for name, row in results.items())
    RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def rows(results: Row) -> Iterator[Row]:
    """Yield a row for each number and cell in which it was printed in half a batch or more."""
    for part in parts():
        cell = part[0]
        found = results.get(_key(part), {"held": {}})
        for name, (count, of) in found["held"].items():
            if of < BATCH / 2:
                continue
            entry = entry_of(name, JUDGED[cell.judgment].method or cell.judgment.lower())
            yield {
                "what": entry[0].what if entry else name, "name": name, "cell": cell, "share": count / of,
                "studies": of, "se": math.sqrt(0.0475 / of), "kind": kind_of(name),
                "may_be_more": name in found.get(AT_A_LIMIT, ()) or cell.share == SHARES[0],
            }  # fmt: skip


def kind_of(name: str) -> str:
    """Return `verdict`, `promise` (which may be kept too often), or `interval`."""
    last = name.replace("/", ".").rpartition(".")[2]
    if last in ("p", "deciding_p"):
        return "verdict"
    is_together = last in ("ranks", "any_look", "deciding_ci") or name.endswith("between_exposures.pairs.ci")
    return "promise" if is_together or last == "median_ci" else "interval"


def is_inside(row: Row, by: float = 0.0) -> bool:
    """Return whether a share is as promised, or beyond that by no more than so many standard errors."""
    far = by * row["se"]
    if row["kind"] == "verdict":
        return row["share"] >= 1 - FALSE - far
    may_be_more = row["kind"] == "promise" or row["may_be_more"]
    return row["share"] >= LEAST - far and (may_be_more or row["share"] <= MOST + far)


def as_markdown(found: list[Row]) -> str:
    """Return the table: over the cells of a number, then the cells that miss."""
    lines = [
        "| number | judgment | cells | studies each | least | median | most | as promised | miss |",
        "| --- " * 9 + "|",
    ]
    numbers = dict.fromkeys((row["what"], row["cell"].judgment, row["name"]) for row in found)
    for what, judgment, name in sorted(numbers):
        mine = [row for row in found if (row["cell"].judgment, row["name"]) == (judgment, name)]
        shares = " | ".join(f"{end:.1f}%" for end in np.quantile([*map(_percent, mine)], [0, 0.5, 1]))
        lines.append(
            f"| {what}: `{name}` | {judgment} | {len(mine)} | {_span(mine)} | {shares} | "
            f"{100 * np.mean([*map(is_inside, mine)]):.0f}% | {sum(not is_inside(row, 2) for row in mine)} |"
        )
    covers = [row for row in found if row["kind"] == "interval"]
    if covers:
        inside = f"{100 * np.mean([*map(is_inside, covers)]):.0f}%"
        least = f"{min(map(_percent, covers)):.1f}%"
        lines += [
            "",
            f"Of {len(covers):,} cells of intervals {inside} are as promised; the least covers {least}.",
        ]
    missing = [row for row in found if not is_inside(row, 2)]
    missing.sort(key=lambda row: (row["what"], row["name"], row["share"]))
    lines += ["", "Cells that miss by more than two standard errors:", ""]
    lines += [
        f"- `{row['name']}`, {row['cell']}: {_percent(row):.1f}% (SE {100 * row['se']:.1f}%)"
        for row in missing
    ]
    return "\n".join(lines)


def _percent(row: Row) -> float:
    """Return the coverage in percent, or the rate of false verdicts."""
    return 100 * (1 - row["share"] if row["kind"] == "verdict" else row["share"])


def _span(mine: list[Row]) -> str:
    least, most = (end(row["studies"] for row in mine) for end in (min, max))
    return f"{least:,}" if least == most else f"{least:,}–{most:,}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m validate.grid", description=__doc__.partition("\n")[0])
    parser.add_argument("--studies", type=int, help="of each cell (default 1,000; 300 of what takes longer)")
    parser.add_argument("--only", default="", help="cells whose name contains this, such as `tournament`")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--table", action="store_true", help="simulate nothing")
    chosen = parser.parse_args()
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if not chosen.table:
        simulate(results, chosen.studies, chosen.only, chosen.seed)
    table = as_markdown([row for row in rows(results) if chosen.only in str(row["cell"])])
    print(table)  # noqa: T201
    if not chosen.only:
        put(DOCS, MARKS, table)


if __name__ == "__main__":
    main()
