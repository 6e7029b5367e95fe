"""Simulated coverage of the true score by the interval of a score, and by the percentile interval.

`python -m validate coverage` prints a table with one line per kind of study: number of evaluators, number of
stimuli that they share, true score, display, and writes it to docs/statistics.md. The simulated populations
are those of `studies.py`; each study is scored as by `openhype score`. `grid.py` has other SDs of people and
stimuli, distributions of people, and all other numbers.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from backend.analysis.distributions import bootstrap
from backend.analysis.models.psychometric import Trials, fit
from backend.analysis.score_intervals import score_details
from backend.analysis.table.evaluator_values import values_by_model
from validate.inferences import DOCS, put
from validate.studies import InfinityPopulation, TimePopulation

LEVEL = 0.95
EVALUATORS = (5, 10, 30, 60)
STUDIES = {"infinity": 400, "time": 150}
THRESHOLDS = 300
SLOPE = 3.0
LEAST, MOST = 0.93, 0.97
FEW = 20
"""Expected number of wrong (or right) responses in a study below which coverage may exceed `MOST`: the
number is discrete, so an interval that covers often enough at one value covers too often at the next."""
SHARE_RATES = (0.02, 0.1, 0.5, 0.9, 0.98)
POOLS = (30, 100, 1000, None)
TIME_MS = (40, 100, 250, 1500)
"""Typical thresholds: below the shortest exposure, at it, in the middle, above the longest."""
Row = dict[str, object]


def populations() -> Iterator[InfinityPopulation | TimePopulation]:
    """Yield the simulated populations."""
    for rate in SHARE_RATES:
        for pool in POOLS:
            yield InfinityPopulation(rate, pool=pool)
    for threshold in TIME_MS:
        for refresh_hz, pool, pictures in ((60, None, 0.0), (144, 225, 0.5)):
            yield TimePopulation(threshold, refresh_hz=refresh_hz, pictures=pictures, pool=pool)
    # The smallest pool possible in HYPE-time: 30 fakes and 30 reals, one block.
    for threshold in TIME_MS:
        yield TimePopulation(threshold, refresh_hz=60, pictures=0.5, pool=30, trials=60, blocks=1)


def table(seed: int = 1) -> Iterator[Row]:
    """Yield one row for each population and number of evaluators."""
    rng = np.random.default_rng(seed)
    for population in populations():
        for evaluators in EVALUATORS:
            count = STUDIES["infinity" if isinstance(population, InfinityPopulation) else "time"]
            yield coverage(population, evaluators, count, rng)


def coverage(
    population: InfinityPopulation | TimePopulation, evaluators: int, studies: int, rng: np.random.Generator
) -> Row:
    """Return the coverage (0 to 1) of the interval and of the percentile interval over simulated studies."""
    is_time = isinstance(population, TimePopulation)
    truth = population.truth() if is_time else 100 * population.rate
    drawn = (
        population.studies(studies, evaluators, rng)
        if is_time
        else (population.study(evaluators, rng) for _ in range(studies))
    )
    held = {"interval": 0, "percentile": 0, "above": 0, "below": 0}
    width, at_bound = 0.0, 0
    for answers in drawn:
        values = values_by_model(answers)
        interval = score_details(answers, values, LEVEL)["m"]["interval"]
        low, high = interval["ci"]
        percentile = bootstrap.exact_on_lattice(values["m"].lattice, evaluators, LEVEL)
        held["interval"] += low - 1e-9 <= truth <= high + 1e-9
        held["percentile"] += percentile.low - 1e-9 <= truth <= percentile.high + 1e-9
        held["above"] += truth > high
        held["below"] += truth < low
        width += (high - low) / studies
        at_bound += interval["method"] == "population"
    return {
        "method": "time" if is_time else "infinity",
        **_settings(population),
        "evaluators": evaluators,
        "truth": truth,
        "studies": studies,
        **{name: float(count) / studies for name, count in held.items()},
        "se": math.sqrt(held["interval"] / studies * (1 - held["interval"] / studies) / studies),
        "width": width,
        "population": at_bound / studies,
        "may_be_more": _may_be_more(population, evaluators),
    }


def _settings(population: InfinityPopulation | TimePopulation) -> Row:
    pool = "own" if population.pool is None else str(population.pool)
    spreads = {"pool": pool, "people_sd": population.people, "pictures_sd": population.pictures}
    if isinstance(population, InfinityPopulation):
        return {**spreads, "threshold_ms": None, "refresh_hz": None, "slope": None, "lapse": None}
    display = {"threshold_ms": population.threshold_ms, "refresh_hz": population.refresh_hz}
    return {**spreads, **display, "slope": population.slope, "lapse": population.lapse}


def _may_be_more(population: InfinityPopulation | TimePopulation, evaluators: int) -> bool:
    """Return whether coverage may exceed `MOST`: for HYPE-time, or if few errors are expected (`FEW`)."""
    if isinstance(population, TimePopulation):
        return True
    shown = 2 * (50 if population.pool is None else min(50, population.pool))
    return evaluators * shown * min(population.rate, 1 - population.rate) < FEW


def as_text(rows: Iterable[Row]) -> str:
    """Return the table as text."""
    return "\n".join([HEAD, *map(as_line, rows)])


HEAD = (
    f"{'method':8} {'pictures':>8} {'Hz':>4} {'SD people, pictures':>19} {'true score':>10} {'n':>3} "
    f"{'interval':>14} {'percentile':>10} {'width':>7}"
)


def as_line(row: Row) -> str:
    """Return a row as a line."""
    display = "" if row["refresh_hz"] is None else f"{row['refresh_hz']:g}"
    spreads = f"{row['people_sd']:g}, {row['pictures_sd']:g}"
    held = f"{100 * row['interval']:.1f} ({100 * row['se']:.1f})"
    return (
        f"{row['method']:8} {row['pool']:>8} {display:>4} {spreads:>19} {row['truth']:>10.1f} "
        f"{row['evaluators']:>3} {held:>14} {100 * row['percentile']:>10.1f} {row['width']:>7.1f}"
    )


def as_markdown(rows: Sequence[Row], method: str) -> str:
    """Return the table of a method in Markdown for the docs.

    HYPE-infinity: minimum and maximum over all true shares; HYPE-time: one line per typical threshold. The
    coverage of the percentile interval is in brackets.
    """
    method_rows = [row for row in rows if row["method"] == method]
    if method == "infinity":
        heads, name = ["pictures a side"], _pool
    else:
        heads, name = ["typical threshold (score), ms", "pictures"], _population
    lines = [f"| {' | '.join([*heads, '5 people', *map(str, EVALUATORS[1:])])} |"]
    lines.append("| " + " | ".join(["---"] * (len(heads) + len(EVALUATORS))) + " |")
    for key in dict.fromkeys(map(name, method_rows)):
        matching = [row for row in method_rows if name(row) == key]
        cells = (_held([row for row in matching if row["evaluators"] == count]) for count in EVALUATORS)
        lines.append(f"| {' | '.join([*key, *cells])} |")
    return "\n".join(lines)


def _pool(row: Row) -> tuple[str, ...]:
    return ("everybody's own" if row["pool"] == "own" else f"{int(row['pool']):,}, shared",)


def _population(row: Row) -> tuple[str, ...]:
    pictures = "own" if row["pool"] == "own" else f"{row['pool']} shared"
    blocks = ", one block of 60" if row["pool"] == "30" else ""
    return f"{row['threshold_ms']:g} ({row['truth']:.0f})", f"{pictures}{blocks}, {row['refresh_hz']:g} Hz"


def _held(rows: Sequence[Row]) -> str:
    held, percentile = ([100 * row[key] for row in rows] for key in ("interval", "percentile"))
    return f"{_span(held)}% ({_span(percentile)})"


def _span(values: Sequence[float]) -> str:
    ends = f"{min(values):.1f}", f"{max(values):.1f}"
    return ends[0] if ends[0] == ends[1] else "–".join(ends)


def write_docs(rows: Sequence[Row], path: Path = DOCS) -> None:
    """Write the tables to the docs, each between its marks."""
    for method in ("infinity", "time"):
        put(path, marks(method), as_markdown(rows, method))


def marks(method: str) -> tuple[str, str]:
    """Return the comments before and after a method's table in the docs."""
    return (
        f"<!-- coverage of HYPE-{method}: python -m validate coverage -->",
        f"<!-- end of HYPE-{method} -->",
    )


def out_of_range(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose coverage is outside `LEAST` to `MOST` by more than three standard errors."""
    found = []
    for row in rows:
        error = 3 * math.sqrt(LEVEL * (1 - LEVEL) / row["studies"])
        is_more = row["interval"] > MOST + error and not row["may_be_more"]
        if row["interval"] < LEAST - error or is_more:
            found.append(row)
    return found


def run() -> dict[str, Row]:
    """Return the results on the coverage of score intervals and of threshold intervals."""
    print(HEAD, flush=True)  # noqa: T201
    rows = []
    for row in table():
        print(as_line(row), flush=True)  # noqa: T201
        rows.append(row)
    write_docs(rows)
    wrong = out_of_range(rows)
    mean = float(np.mean([row["interval"] for row in rows]))
    thresholds = threshold_coverage(THRESHOLDS)
    return {
        "coverage of the interval: cells below 93% or above 97% by more than three standard errors": {
            "value": len(wrong), "agrees_if": "0", "agrees": not wrong, "table": rows,
        },
        "coverage of the interval: mean of all cells": {
            "value": mean, "agrees_if": "0.94 to 0.97", "agrees": 0.94 <= mean <= 0.97,
        },
        "coverage of one evaluator's threshold, constant stimuli": {
            "value": thresholds["constant"], "agrees_if": "at least 0.93",
            "agrees": thresholds["constant"] >= 0.93,
        },
        "coverage of one evaluator's threshold, staircases of hype-2019": {
            "value": thresholds["staircase"], "agrees_if": "at least 0.88",
            "agrees": thresholds["staircase"] >= 0.88,
        },
    }  # fmt: skip


def threshold_coverage(studies: int, seed: int = 2) -> dict[str, float]:
    """Return the coverage (0 to 1) of intervals of the 75% threshold, by method of measurement.

    Evaluators have a slope of 3, a lapse rate of 0.03 and a midpoint of 300 ms.
    """
    rng = np.random.default_rng(seed)
    truth = 300 * (0.25 / (0.47 - 0.25)) ** (1 / SLOPE)
    constant = np.tile(np.geomspace(80, 1000, 10), (studies, 45))
    plain = (constant, rng.random(constant.shape) < accuracy(constant, 300))
    alone = staircases(np.full(studies, 300.0), rng)
    return {"constant": _share(plain, truth), "staircase": _share(alone, truth)}


def accuracy(exposure_ms: np.ndarray, midpoint_ms: np.ndarray | float) -> np.ndarray:
    return 0.5 + 0.47 / (1 + (midpoint_ms / exposure_ms) ** SLOPE)


def staircases(midpoint_ms: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return exposures (ms) and whether responses were right, each of shape (evaluators, 450).

    Each evaluator has three blocks of 150 trials by the rule `hype-2019`.
    """
    shown, was_right = [], []
    for _ in range(3):
        ms, in_a_row = np.full(len(midpoint_ms), 500.0), np.zeros(len(midpoint_ms), int)
        for _ in range(150):
            right = rng.random(len(ms)) < accuracy(ms, midpoint_ms)
            shown.append(ms)
            was_right.append(right)
            in_a_row = np.where(right, in_a_row + 1, 0)
            does_fall = in_a_row == 3
            ms = np.clip(np.where(right, ms - 30 * does_fall, ms + 10), 100, 1000)
            in_a_row[does_fall] = 0
    return np.array(shown).T, np.array(was_right).T


def _share(answers: tuple[np.ndarray, np.ndarray], truth: float) -> float:
    """Return the share (0 to 1) of evaluators whose own interval contains the true threshold."""
    return float(np.mean([_holds(fit(Trials.of(*one)).ci, truth) for one in zip(*answers, strict=True)]))


def _holds(interval: tuple[float | None, float | None] | None, truth: float) -> bool:
    if interval is None:
        return True
    low, high = interval
    return (low is None or low <= truth) and (high is None or truth <= high)
