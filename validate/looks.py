"""Validation of planned looks: error, power, coverage and people saved, of simulated studies.

The cells have evaluators whose SDs are known, and pools in which pictures hardly count or count as much as
people. `python -m validate.looks` prints a table.
"""

import math
from collections.abc import Iterator

from backend.analysis.planning.costs import Costs
from backend.analysis.planning.look_studies import STUDIES
from backend.analysis.planning.looks import LookPlan, aim_of
from backend.analysis.planning.simulated_looks import compare_plans
from backend.analysis.planning.spread import Spread

LOOKS, SD = (10, 15, 20, 25, 30), 9.0
DIFFERENCES = (2.5, 5.0, 10.0, 15.0)
_KNOWN = 1e9
_CELLS = (("two models", 2, 1e9), ("four models", 4, 1e9), ("two models, 60 pictures a side", 2, 60))
"""Name, models, and pictures of a side."""


def spread_of(pictures: float) -> Spread:
    """Return the spread of evaluators with an SD of 9 points about 55%, and of pictures of 13 points."""
    within = 55.0 * 45.0
    return Spread(
        "gan", 55, 100, 0.45, SD**2 - within / 100, within, within / 100, SD**2, _KNOWN,
        pictures=(pictures, pictures), of_picture=169, of_picture_df=_KNOWN,
    )  # fmt: skip


def row_of(models: int, pictures: float, difference: float) -> dict:
    """Return a cell's fixed plan and its plan of looks."""
    plan = LookPlan(LOOKS, aim_of("apart"))
    found = compare_plans([spread_of(pictures)], "infinity", plan, Costs(), difference, models)
    return found["rows"][0]


def run() -> dict:
    """Return how far plans of looks are from the fixed ones."""
    rows = [row_of(models, pictures, 10.0) for _, models, pictures in _CELLS]
    error = max(row["looks"]["error"] - row["fixed"]["error"] for row in rows)
    covers = max(
        abs(row["looks"][name] - row["fixed"][name]) for row in rows for name in ("coverage", "pair_coverage")
    )
    power = max(row["fixed"]["reached"] - row["looks"]["reached"] for row in rows)
    saved = 1 - rows[0]["looks"]["people"] / rows[0]["fixed"]["people"]
    return {
        "planned looks: error of equal models above the fixed plan's": {
            "value": error,
            "agrees_if": "at most half a point",
            "agrees": error <= 0.005,
        },
        "planned looks: coverage, furthest from the fixed plan's": {
            "value": covers,
            "agrees_if": "at most 1.5 points",
            "agrees": covers <= 0.015,
        },
        "planned looks: power lost": {
            "value": power,
            "agrees_if": "at most 2 points",
            "agrees": power <= 0.02,
        },
        "planned looks: evaluators saved at a difference of 10 points, SD 9": {
            "value": saved,
            "agrees_if": "33 to 40%",
            "agrees": 0.33 <= saved <= 0.40,
        },
    }


def table() -> Iterator[str]:
    """Yield the lines of the tables in docs/planning.md: two models, then each cell."""
    for difference in DIFFERENCES:
        row = row_of(2, 1e9, difference)
        looks, fixed = row["looks"], row["fixed"]
        yield (
            f"| {difference:g} | {looks['reached']:.1%} ({fixed['reached']:.1%}) | {looks['people'] / 2:.1f} "
            f"| {looks['bias']:+.2f} | {looks['pair_coverage']:.1%} | {looks['repeated_coverage']:.1%} |"
        )
    for name, models, pictures in _CELLS:
        row = row_of(models, pictures, 10.0)
        looks, fixed = row["looks"], row["fixed"]
        yield (
            f"| {name} | {looks['error']:.1%} ({fixed['error']:.1%}) | {looks['reached']:.1%} "
            f"({fixed['reached']:.1%}) | {looks['coverage']:.1%} ({fixed['coverage']:.1%}) "
            f"| {1 - looks['people'] / fixed['people']:.0%} |"
        )
    yield f"{STUDIES} studies a row, standard error of a share at most {50 / math.sqrt(STUDIES):.1f} points"


def main() -> None:
    for line in table():
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
