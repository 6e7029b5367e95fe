"""Validation of planned looks: error, power, coverage and people saved, of simulated studies.

`planned` has studies as plans simulate them (`look_studies.py`): of evaluators whose SDs are known, and of
the papers', with few and many pictures, each aim, spending and method. `scored_looks.py` has fewer, of
answers that are scored and decided as any study's. `python -m validate.looks [NAME]` prints the tables of
docs/planning.md, or one of `differences`, `planned`, `papers` and `scored`.
"""

import math
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice

from backend.analysis.planning.look_studies import Stopped, Studies
from backend.analysis.planning.looks import LookPlan
from backend.analysis.planning.share_spreads import published_shares
from backend.analysis.planning.simulated_looks import simulated
from backend.analysis.planning.spread import Spread
from backend.analysis.planning.time_spreads import published_times
from backend.analysis.planning.tournament_spreads import assumed
from backend.experiment.planned_looks import EQUAL_WITHIN, aim_of
from validate import scored_looks

LOOKS, SD = (10, 15, 20, 25, 30), 9.0
DIFFERENCES = (2.5, 5.0, 10.0, 15.0)
STUDIES = 10_000
_KNOWN = 1e9


@dataclass(frozen=True)
class Kind:
    """A kind of study: evaluators and pictures, models, and the plan."""

    name: str
    spread: Spread
    models: int = 2
    aim: str = "apart"
    difference: float = 10.0
    spending: str = "obrien-fleming"


@dataclass(frozen=True)
class Outcome:
    """What a plan shows in its studies: shares (0 to 1), or means."""

    error: float
    found: float
    covers: float
    pair_covers: float
    evaluators: float
    """Of each model, if the first one differs."""
    evaluators_if_equal: float


def spread_of(pictures: float, models: int = 1) -> Spread:
    """Return the spread of evaluators with an SD of 9 points about 55%, and of pictures of 13 points.

    Args:
        models: that a session shows; half of what makes evaluators differ is the same for all.
    """
    within = 55.0 * 45.0
    return Spread(
        "gan", 55, 100, 0.45, SD**2 - within / 100, within, within / 100, SD**2, _KNOWN,
        pictures=(pictures, pictures), of_picture=169, of_picture_df=_KNOWN, models=models, alike=0.5,
    )  # fmt: skip


def kinds() -> Iterator[Kind]:
    """Yield the kinds of studies of the table."""
    many, few = spread_of(1e9), spread_of(60)
    for spending in ("obrien-fleming", "obrien-fleming-whole", "pocock"):
        yield Kind(f"2 models, {spending}", many, spending=spending)
    yield Kind("2 models, 60 pictures a side", few)
    for models in (4, 12):
        yield Kind(f"{models} models", many, models)
        yield Kind(f"{models} models, 60 pictures a side", few, models)
    for aim in (
        "apart=neighbours",
        "apart=first",
        "ranks=2",
        "futility=10",
        "equal-within=8",
        "half-width=4",
    ):
        yield Kind(f"4 models, {aim}", many, 4, aim)
    yield Kind("2 models, futility=10", many, aim="futility=10")
    yield Kind("2 models, equal-within=8", many, aim="equal-within=8")
    for one in published_shares(100):
        yield Kind(f"HYPE-infinity, {one.model}", one)
    for one in published_times(450):
        if one.varies:
            yield Kind(f"HYPE-time, {one.model}", one, difference=one.score / 3)
    for models, at_once in ((2, 2), (4, 4), (4, 2), (12, 12)):
        yield Kind(f"sessions of {at_once} of {models} models", spread_of(1e9, at_once), models)
    yield Kind("sessions of 4 of 4 models, 60 pictures a side", spread_of(60, 4), 4)
    for models in (2, 4, 12):
        yield Kind(f"tournament of {models} models", assumed(models, 60), models, difference=0.5)
    yield Kind("tournament of 4 models, ranks=2", assumed(4, 60), 4, "ranks=2", 0.5)


def outcome(kind: Kind, looks: tuple[int, ...] = LOOKS) -> Outcome:
    """Return what a plan shows in studies of a kind."""
    plan, size = LookPlan(looks, aim_of(kind.aim), kind.spending), STUDIES
    differs = simulated(kind.spread, plan, kind.difference, kind.models, size)
    found, equal = differs.stopped(), simulated(kind.spread, plan, 0.0, kind.models, size).stopped()
    error = equal.wrong
    if plan.aim.kind == EQUAL_WITHIN:
        error = simulated(kind.spread, plan, plan.aim.number or 0.0, kind.models, size).stopped().wrong
    return Outcome(
        float(error.mean()),
        _found(plan, differs, found, equal),
        float(found.covers.mean()),
        float(found.pair_covers.mean()),
        float(found.evaluators.mean()),
        float(equal.evaluators.mean()),
    )


def _found(plan: LookPlan, studies: Studies, found: Stopped, equal: Stopped) -> float:
    """Return how often the aim is reached: of equality by equal models, of half-widths by all."""
    if plan.aim.kind == EQUAL_WITHIN:
        return float(equal.reached.all(axis=1).mean())
    reached = studies.finds(found.reached) if plan.aim.tests_differences else found.reached.all(axis=1)
    return float(reached.mean())


def run() -> dict:
    """Return how far plans of looks are from the fixed ones."""
    chosen = [kind for kind in islice(kinds(), 8) if kind.models < 12]
    rows = [(outcome(kind), outcome(kind, LOOKS[-1:])) for kind in chosen]
    error = max(looks.error - fixed.error for looks, fixed in rows)
    covers = max(
        abs(getattr(looks, name) - getattr(fixed, name))
        for looks, fixed in rows
        for name in ("covers", "pair_covers")
    )
    power = max(fixed.found - looks.found for looks, fixed in rows)
    saved = 1 - rows[0][0].evaluators / rows[0][1].evaluators
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


def differences() -> Iterator[str]:
    """Yield a line for each difference between two models."""
    for difference in DIFFERENCES:
        kind = Kind("", spread_of(1e9), difference=difference)
        looks, fixed = outcome(kind), outcome(kind, LOOKS[-1:])
        found = simulated(kind.spread, LookPlan(LOOKS), difference, 2, STUDIES)
        stopped = found.stopped()
        sign = math.copysign(1.0, found.scores[0] - found.scores[1])
        bias = sign * float(stopped.difference.mean()) - difference
        yield (
            f"| {difference:g} points | {looks.found:.1%} ({fixed.found:.1%}) | {looks.evaluators:.1f} "
            f"| {bias:+.2f} | {looks.pair_covers:.1%} | {float(stopped.repeated_covers.mean()):.1%} |"
        )


def planned() -> Iterator[str]:
    """Yield a line for each kind of study, as plans simulate them."""
    for kind in kinds():
        looks, fixed = outcome(kind), outcome(kind, LOOKS[-1:])
        has_error = not kind.aim.startswith("half-width")
        errors = f"{looks.error:.1%} ({fixed.error:.1%})" if has_error else ""
        too_often = has_error and looks.error - fixed.error > 0.005
        is_weak = fixed.found - looks.found > 0.02
        is_off = max(abs(looks.covers - fixed.covers), abs(looks.pair_covers - fixed.pair_covers)) > 0.015
        yield (
            f"| {kind.name} | {_bold(errors, too_often)} "
            f"| {_bold(f'{looks.found:.1%} ({fixed.found:.1%})', is_weak)} "
            f"| {_bold(f'{looks.covers:.1%} ({fixed.covers:.1%})', is_off)} | {looks.pair_covers:.1%} "
            f"| {1 - looks.evaluators / LOOKS[-1]:.0%} | {1 - looks.evaluators_if_equal / LOOKS[-1]:.0%} |"
        )


def papers() -> Iterator[str]:
    """Yield a line for each aim of a study of the papers' six models, of HYPE-infinity."""
    for aim in ("apart", "ranks=2", "half-width=5"):
        plans = (LookPlan(looks, aim_of(aim)) for looks in (LOOKS, LOOKS[-1:]))
        looks, fixed = (Studies(published_shares(100), plan, STUDIES).stopped() for plan in plans)
        yield (
            f"| {aim} | {looks.reached.mean():.1%} ({fixed.reached.mean():.1%}) "
            f"| {looks.evaluators.sum(axis=1).mean():.0f} ({fixed.evaluators.sum(axis=1).mean():.0f}) "
            f"| {1 - looks.evaluators.mean() / LOOKS[-1]:.0%} "
            f"| {looks.covers.mean():.1%} ({fixed.covers.mean():.1%}) |"
        )


def scored() -> Iterator[str]:
    """Yield a line for each kind of study whose answers are scored."""
    with ProcessPoolExecutor() as workers:
        for kind in scored_looks.KINDS:
            yield scored_line(kind, scored_looks.row_of(kind, workers))


def scored_line(kind: scored_looks.Kind, row: dict[str, dict]) -> str:
    looks, fixed, more = (row["equal"][name] for name in ("looks", "fixed", "more"))
    apart = row["apart"]
    is_off = abs(looks["covers"] - fixed["covers"]) > 0.015
    return (
        f"| {kind.name} | {_bold(_both(looks, fixed, 'error'), more['error'] > 0.005)} "
        f"| {100 * more['error']:+.1f} ({100 * more['se']:.1f}) "
        f"| {_both(apart['looks'], apart['fixed'], 'found')} "
        f"| {_bold(_both(looks, fixed, 'covers'), is_off)} | {looks['pair covers']:.1%} "
        f"| {1 - apart['looks']['evaluators'] / scored_looks.LOOKS[-1]:.0%} |"
    )


def _both(looks: dict[str, float], fixed: dict[str, float], name: str) -> str:
    return f"{looks[name]:.1%} ({fixed[name]:.1%})"


def _bold(text: str, is_bold: bool) -> str:
    return f"**{text}**" if is_bold else text


def main() -> None:
    tables = {"differences": differences, "planned": planned, "papers": papers, "scored": scored}
    for name in sys.argv[1:] or tables:
        for line in tables[name]():
            print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
