"""Plans of looks against the fixed plan, by simulated studies (`look_studies.py`)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any, cast

import numpy as np

from backend.analysis.planning.costs import Costs
from backend.analysis.planning.family_errors import family_errors
from backend.analysis.planning.look_studies import STUDIES, Studies
from backend.analysis.planning.looks import FUTILE_BELOW, LookPlan
from backend.analysis.planning.plan import UNITS, shows_all
from backend.analysis.planning.power import at_difference, at_score, other_score
from backend.analysis.planning.spread import Spread
from backend.experiment.judgments import method_named
from backend.experiment.planned_looks import EQUAL_WITHIN, FEWER, FUTILITY, HALF_WIDTH, RANKS
from backend.foundation.errors import InvalidInput

_STEPS = 12
"""Bisections of the smallest difference that a plan finds."""
_KNOWN = 1e9
"""Degrees of freedom of a variance that is taken as known."""
_MOST_STRENGTH = 6.0
"""Largest difference (log-odds) that is looked for."""


def compare_plans(
    spreads: Sequence[Spread],
    method: str,
    plan: LookPlan,
    costs: Costs,
    difference: float,
    models: int = 2,
    power: float = 0.8,
) -> dict[str, Any]:
    """Return what a plan of looks and the fixed plan with as many evaluators cost and find, as plain data.

    Of each row, `fixed` and `looks` have `people` (of the study, on average), `usd` and `hours` if the first
    model differs from the others by `difference`, and `people_if_equal`; `reached`, the share of studies that
    reach the aim (find the difference; show equal models to be equal; have the half-width; know the first
    model's rank), and `error`, the share that shows something false if all are equal, or, of equality, if
    they differ by the margin (None for half-widths). `coverage` is that of intervals of scores,
    `pair_coverage` of those of a difference, `repeated_coverage` of those at the look's level, `bias` that of
    the difference; `smallest` is the smallest difference that is found with the probability `power` (None for
    other aims, or beyond possible scores). `why_none` says why a row has neither.

    Raises:
        InvalidInput: no difference above 0, or too few models.
    """
    if not 0 < difference < math.inf:
        raise InvalidInput(f"difference must be a number above 0, not {difference:g}")
    if models < 2:
        raise InvalidInput(f"models that are to differ must be 2 or more, not {models}")
    errors = family_errors(plan, models, is_tukey=min(spreads[0].models, models) == 1)
    return {
        "method": method,
        "unit": spreads[0].scale,
        "plan": {**asdict(plan), "aim": str(plan.aim), "digest": plan.digest},
        "z": plan.bounds.tolist() if plan.aim.kind != HALF_WIDTH else None,
        "errors": errors.tolist(),
        "difference": difference,
        "models": models,
        "power": power,
        "studies": STUDIES,
        "rows": [_compared(spread, plan, costs, difference, models, power) for spread in spreads],
        "assumptions": [*_assumptions(plan, errors.tolist(), difference, models, power, spreads[0])],
    }


def in_study(
    spreads: Sequence[Spread],
    method: str,
    models: int,
    images: int | None = None,
    pictures: int | None = None,
    at_once: int | None = None,
) -> Iterator[Spread]:
    """Yield the spreads of whole scores in a study of so many models.

    Args:
        images, pictures: of a session, and of each side, if they are others.
        at_once: models that a session shows; default, as many as in the pilot.

    Raises:
        InvalidInput: images or several models a session for HYPE-time, or out of range.
    """
    if (at_once or 1) > 1 and method_named(method).unit == "ms":
        raise InvalidInput("looks of HYPE-time are planned for sessions of one model")
    if images is not None and (method_named(method).unit == "ms" or images < 2):
        raise InvalidInput(f"images must be 2 or more, of a method whose scores are shares, not {images}")
    for spread in spreads:
        if spread.part < 1:  # at one of several exposures
            continue
        changed = spread if images is None else replace(spread, images=images)
        changed = changed if pictures is None else changed.with_pictures(pictures)
        yield changed.in_sessions_of(models if shows_all(method) else min(at_once or spread.models, models))


def _assumptions(
    plan: LookPlan, errors: Sequence[float], difference: float, models: int, power: float, spread: Spread
) -> Iterator[str]:
    """Yield what the numbers of a comparison mean, as sentences."""
    units = UNITS[spread.scale]
    error = 100 * math.sqrt(0.05 * 0.95 / STUDIES)
    yield (
        f"{STUDIES:,} simulated studies a row (standard error of a share of 5%: {error:.1f} points), in "
        f"which one of {models} models differs from the others by {difference:g} {units}, and as many in "
        "which all are equal"
    )
    if plan.aim.kind == HALF_WIDTH:
        yield (
            f"reached: all intervals are at most {plan.aim.number:g} {units} to a side; each model stops "
            f"when its own is (before the last look, when it would be with {FEWER} evaluators less), and "
            "each look has the usual interval"
        )
        return
    nominal = ", ".join(f"{error:.4f}" for error in errors)
    yield f"a look stops at p below {nominal} (spending {plan.spending}, {100 * (1 - plan.level):g}% in all)"
    if plan.aim.kind == EQUAL_WITHIN:
        yield (
            f"reached: equal models are shown to be equal within {plan.aim.number:g} {units}; error: models "
            "that differ by this margin are"
        )
    else:
        found, false = "the difference is found", "any of the equal models are found to differ"
        if plan.aim.kind == RANKS:
            found = f"the first model's rank is known to {plan.aim.number:g} places"
            false = "a rank of equal models is said to be another"
        yield (
            f"reached: {found}; error: {false}; smallest: the difference with which that happens with the "
            f"probability {power:g}"
        )
    if spread.models > 1:
        yield (
            "evaluators judge several models: p-values of pairs are Holm's, values are normal, and no model "
            "is dropped"
        )
    elif models > 2:
        yield "the test of all pairs at a look's level is not exact: its error is the simulated one"
    if plan.aim.kind == FUTILITY:
        yield (
            f"a pair is given up if a difference of {plan.aim.number:g} {units} would be found at the last "
            f"look with probability below {FUTILE_BELOW:g}; so giving up never adds to the error"
        )
    yield "pictures are as random as evaluators; error is spent by the number of evaluators"


def _compared(
    spread: Spread, plan: LookPlan, costs: Costs, difference: float, models: int, power: float
) -> dict[str, Any]:
    row: dict[str, Any] = {"model": spread.model, "score": spread.score, "fixed": None, "looks": None}
    apart = max(difference, (plan.aim.number or 0.0) if plan.aim.kind == EQUAL_WITHIN else 0.0)
    if not spread.varies:
        return {**row, "why_none": "all evaluators have one value, from which no plan follows"}
    if other_score(spread, apart) is None:
        return {**row, "why_none": f"no score differs by {apart:g} from {spread.score:.1f}"}
    fixed = replace(plan, looks=plan.looks[-1:])
    rows = {
        name: _row(spread, one, costs, difference, models, power)
        for name, one in (("fixed", fixed), ("looks", plan))
    }
    return {**row, **rows, "why_none": None}


def simulated(
    spread: Spread, plan: LookPlan, difference: float, models: int = 2, size: int = STUDIES
) -> "Studies":
    """Return `size` studies whose first model differs from the others by `difference`, in possible scores."""
    spreads = [spread] * models
    if difference:
        spreads[0] = (
            at_difference(spread, difference)
            if spread.scale == "log-odds"
            else at_score(spread, cast(float, other_score(spread, difference)))
        )
    return Studies(spreads, plan, size)


def at_stop(spreads: Sequence[Spread], plan: LookPlan, size: int = STUDIES) -> dict[str, list[float]]:
    """Return what studies like a stopped one find, if its scores and variances were the true ones.

    Returns:
        `bias`, by how much a difference is too far from 0 on average, and `covers`, how often its usual
        interval contains it; of each pair of models, in the order of `itertools.combinations`.
    """
    known = [replace(one, df=_KNOWN, of_picture_df=_KNOWN) for one in spreads]
    studies = Studies(known, plan, size)
    found, true = studies.stopped(), studies.scores[studies.i] - studies.scores[studies.j]
    bias = np.sign(true) * (found.difference.mean(axis=0) - true)
    return {"bias": bias.tolist(), "covers": found.pair_covers.mean(axis=0).tolist()}


def _row(
    spread: Spread, plan: LookPlan, costs: Costs, difference: float, models: int, power: float
) -> dict[str, Any]:
    studies = simulated(spread, plan, difference, models)
    stops, equal = studies.stopped(), simulated(spread, plan, 0.0, models).stopped()
    at_once = min(spread.models, models)
    people = float(stops.evaluators.sum(axis=1).mean()) / at_once
    error, smallest = None, None
    reached = stops.reached.all(axis=1)
    if plan.aim.tests_differences:
        error = float(equal.wrong.mean())
        reached = studies.finds(stops.reached)
        smallest = _smallest(studies, power)
    elif plan.aim.kind == EQUAL_WITHIN:
        reached = equal.reached.all(axis=1)
        error = float(simulated(spread, plan, plan.aim.number or 0.0, models).stopped().wrong.mean())
    sign = math.copysign(1.0, studies.scores[0] - studies.scores[1])
    return {
        "people": people,
        "people_if_equal": float(equal.evaluators.sum(axis=1).mean()) / at_once,
        "usd": people * costs.evaluator_usd_cents(spread.images, spread.accuracy) / 100,
        "hours": people / costs.at_once * costs.evaluator_seconds(spread.images) / 3600,
        "reached": float(reached.mean()),
        "error": error,
        "coverage": float(stops.covers.mean()),
        "pair_coverage": float(stops.pair_covers[:, 0].mean()),
        "repeated_coverage": float(stops.repeated_covers[:, 0].mean()),
        "bias": sign * float(stops.difference[:, 0].mean()) - difference,
        "smallest": smallest,
    }


def _smallest(studies: "Studies", power: float) -> float | None:
    """Return the smallest difference that is found with the probability `power`.

    Evaluators vary as they do where the models differ by `difference`.
    """
    spread = studies.first
    low, high = 0.0, max(abs(end - spread.score) for end in spread.range)
    high = high if math.isfinite(high) else _MOST_STRENGTH
    most = high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        moved = studies.moved(math.copysign(middle, studies.scores[0] - studies.scores[1]))
        is_found = float(moved.finds(moved.reached()).mean()) >= power
        low, high = (low, middle) if is_found else (middle, high)
    return high if high < most else None
