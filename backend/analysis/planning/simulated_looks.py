"""Plans of looks against the fixed plan, by simulated studies.

Evaluators' shares are beta-binomial, exposures normal, with the means and the variances of a `Spread`;
pictures that evaluators share move all values of a model, and a study estimates their variance with the noise
of single answers, as in `power.py`. Each look has the interval and the test that scores print, at the look's
level. What is not known of the population (a pilot's variances) is sampled for each study.
"""

import math
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, cast

import numpy as np

from backend.analysis.distributions.inference import (
    Component,
    reaches,
    share_variances,
    t_below,
    t_quantile,
    wilson,
)
from backend.analysis.planning.costs import Costs
from backend.analysis.planning.looks import (
    ALL_PAIRS,
    EQUAL_WITHIN,
    FUTILE_BELOW,
    FUTILITY,
    HALF_WIDTH,
    NEIGHBOURS,
    LookPlan,
)
from backend.analysis.planning.plan import UNITS
from backend.analysis.planning.power import at_score, critical, df_of_pictures, other_score
from backend.analysis.planning.spread import Spread
from backend.experiment.judgments import method_named
from backend.foundation.errors import InvalidInput

STUDIES = 4000
_SEED = 20
_STEPS = 12
"""Bisections of the smallest difference that a plan finds."""
_REALS, _FAKES = 0, 1


@dataclass(frozen=True)
class Stopped:
    """Where simulated studies stopped; the pair is that of the first two models."""

    evaluators: np.ndarray
    """Evaluators of each model: shape (studies, models)."""
    reached: np.ndarray
    """Pairs, or with half-widths models, that reached the aim: shape (studies, pairs or models)."""
    covers: np.ndarray
    """Whether the interval of a score contains it: shape (studies, models)."""
    difference: np.ndarray
    """The first model's score less the second's: shape (studies,), as are the following."""
    pair_covers: np.ndarray
    """Whether the interval of the difference, without regard to looks, contains it."""
    repeated_covers: np.ndarray
    """The same of the interval at the level of the look."""


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
    reach the aim (find the difference; show equal models to be equal; have the half-width), and `error`, the
    share that finds any equal models apart, or models equal that differ by the margin (None for
    half-widths). `coverage` is that of intervals of scores, `pair_coverage` of those of a difference,
    `repeated_coverage` of those at the look's level, `bias` that of the difference; `smallest` is the
    smallest difference that is found with the probability `power` (None for other aims, or beyond possible
    scores). `why_none` says why a row has neither.

    Raises:
        InvalidInput: sessions show several models, or scores are strengths; the aim names a model.
    """
    if method_named(method).unit == "log-odds" or max(spread.models for spread in spreads) > 1:
        raise InvalidInput(
            "looks are planned for studies whose evaluators judge one model each, not for tournaments or "
            "sessions of several models"
        )
    if not 0 < difference < math.inf:
        raise InvalidInput(f"difference must be a number above 0, not {difference:g}")
    if models < 2:
        raise InvalidInput(f"models that are to differ must be 2 or more, not {models}")
    return {
        "method": method,
        "unit": method_named(method).unit,
        "plan": {**asdict(plan), "aim": str(plan.aim), "digest": plan.digest},
        "z": plan.bounds.tolist() if plan.aim.kind != HALF_WIDTH else None,
        "errors": plan.errors.tolist(),
        "difference": difference,
        "models": models,
        "power": power,
        "studies": STUDIES,
        "rows": [_compared(spread, plan, costs, difference, models, power) for spread in spreads],
        "assumptions": [*_assumptions(plan, difference, models, power, method_named(method).unit)],
    }


def in_study(
    spreads: Sequence[Spread], method: str, images: int | None = None, pictures: int | None = None
) -> Iterator[Spread]:
    """Yield the spreads of whole scores in a study with other numbers of images a session and of pictures.

    Raises:
        InvalidInput: images for HYPE-time, or out of range.
    """
    if images is not None and (method_named(method).unit == "ms" or images < 2):
        raise InvalidInput(f"images must be 2 or more, of a method whose scores are shares, not {images}")
    for spread in spreads:
        if spread.part < 1:  # at one of several exposures
            continue
        changed = spread if images is None else replace(spread, images=images)
        yield changed if pictures is None else changed.with_pictures(pictures)


def _assumptions(plan: LookPlan, difference: float, models: int, power: float, unit: str) -> Iterator[str]:
    """Yield what the numbers of a comparison mean, as sentences."""
    units = UNITS[unit]
    error = 100 * math.sqrt(0.05 * 0.95 / STUDIES)
    yield (
        f"{STUDIES:,} simulated studies a row (standard error of a share of 5%: {error:.1f} points), in "
        f"which one of {models} models differs from the others by {difference:g} {units}, and as many in "
        "which all are equal"
    )
    if plan.aim.kind == HALF_WIDTH:
        yield (
            f"reached: all intervals are at most {plan.aim.number:g} {units} to a side; each model stops "
            "when its own is, and each look has the usual interval"
        )
        return
    nominal = ", ".join(f"{error:.4f}" for error in plan.errors)
    yield f"a look stops at p below {nominal} (spending {plan.spending}, {100 * (1 - plan.level):g}% in all)"
    if plan.aim.kind == EQUAL_WITHIN:
        yield (
            f"reached: equal models are shown to be equal within {plan.aim.number:g} {units}; error: models "
            "that differ by this margin are"
        )
    else:
        yield (
            "reached: the difference is found; error: any of the equal models are found to differ; smallest: "
            f"the difference that is found with power {power:g}"
        )
    if models > 2:
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


def simulated(spread: Spread, plan: LookPlan, difference: float, models: int = 2) -> "Studies":
    """Return studies whose first model differs from the others by `difference`, in possible scores."""
    spreads = [spread] * models
    if difference:
        spreads[0] = at_score(spread, cast(float, other_score(spread, difference)))
    return Studies(spreads, plan)


def _row(
    spread: Spread, plan: LookPlan, costs: Costs, difference: float, models: int, power: float
) -> dict[str, Any]:
    studies = simulated(spread, plan, difference, models)
    stops, equal = studies.stopped(), simulated(spread, plan, 0.0, models).stopped()
    people = float(stops.evaluators.sum(axis=1).mean())
    error, smallest = None, None
    reached = stops.reached[:, 0] if plan.aim.tests_differences else stops.reached.all(axis=1)
    if plan.aim.tests_differences:
        error = float(equal.reached.any(axis=1).mean())
        smallest = _smallest(studies, difference, power)
    elif plan.aim.kind == EQUAL_WITHIN:
        reached = equal.reached.all(axis=1)
        apart = simulated(spread, plan, plan.aim.number or 0.0, models).stopped()
        error = float(apart.reached[:, 0].mean())
    sign = math.copysign(1.0, studies.scores[0] - studies.scores[1])
    return {
        "people": people,
        "people_if_equal": float(equal.evaluators.sum(axis=1).mean()),
        "usd": people * costs.evaluator_usd_cents(spread.images, spread.accuracy) / 100,
        "hours": people / costs.at_once * costs.evaluator_seconds(spread.images) / 3600,
        "reached": float(reached.mean()),
        "error": error,
        "coverage": float(stops.covers.mean()),
        "pair_coverage": float(stops.pair_covers.mean()),
        "repeated_coverage": float(stops.repeated_covers.mean()),
        "bias": sign * float(stops.difference.mean()) - difference,
        "smallest": smallest,
    }


def _smallest(studies: "Studies", difference: float, power: float) -> float | None:
    """Return the smallest difference that is found with the probability `power`.

    Evaluators vary as they do where the models differ by `difference`.
    """
    spread = studies.first
    low, high = 0.0, max(abs(end - spread.score) for end in spread.range)
    most = high
    for _ in range(_STEPS):
        middle = (low + high) / 2
        moved = studies.moved(math.copysign(middle, studies.scores[0] - studies.scores[1]))
        is_found = float(moved.stopped().reached[:, 0].mean()) >= power
        low, high = (low, middle) if is_found else (middle, high)
    return high if high < most else None


class Studies:
    """Simulated studies at each look: arrays of shape (looks, studies, models), in the score's unit."""

    def __init__(self, spreads: Sequence[Spread], plan: LookPlan):
        self.spreads, self.plan, self.first = spreads, plan, spreads[-1]
        self.scores = np.array([spread.score for spread in spreads])
        self.counts = np.array(plan.looks, float)
        self.i, self.j = np.array([*combinations(range(len(spreads)), 2)]).T
        rng = np.random.default_rng(_SEED)
        first = self.first
        self._wider = first.df / rng.chisquare(first.df, STUDIES)
        self._pictures = rng.chisquare(first.of_picture_df, STUDIES) / first.of_picture_df
        reals = rng.standard_normal(STUDIES)
        each = [self._model(spread, reals, rng) for spread in spreads]
        self.looks = np.array([np.stack(columns, axis=-1) for columns in zip(*each, strict=True)])

    def _model(self, spread: Spread, reals: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        """Return what studies find for a model at each look: arrays of shape (looks, studies)."""
        shares = zip(spread.weights, spread.pictures, strict=True)
        sides = [spread.of_picture * weight / size * self._pictures for weight, size in shares]
        fakes = np.sqrt(sides[_FAKES]) * rng.standard_normal(STUDIES)
        middle = spread.score + np.sqrt(sides[_REALS]) * reals + fakes
        values = self._values(spread, middle, np.add(*sides), rng)
        n = self.counts[:, None]
        at = np.array(self.plan.looks) - 1
        means, squares, cubes = (np.cumsum(values**power, axis=1)[:, at].T / n for power in (1, 2, 3))
        variance = np.maximum(squares - means**2, 0.0) * n / (n - 1)
        third = (cubes - 3 * means * squares + 2 * means**3) * n / (n - 1)
        shown = spread.shown(spread.images)
        parts, noises, seen = [], [], []
        for side, true in enumerate(sides):
            size = spread.pictures[side]
            count = np.minimum(size, np.maximum(2.0, n * shown[side]))
            noise = spread.of_side(side, spread.images) * np.sqrt(2 / size / n / (n - 1))
            last = float(count[-1, 0]) - 1
            parts.append(true * rng.chisquare(last, STUDIES) / last + noise * rng.standard_normal(STUDIES))
            noises.append(noise)
            seen.append(count)
        both = np.maximum(parts[_REALS] + parts[_FAKES], 0.0)
        df = df_of_pictures(both, seen[_REALS] + seen[_FAKES], np.hypot(*noises))
        common = np.maximum(sides[_REALS] + noises[_REALS] / math.sqrt(2) * rng.standard_normal(STUDIES), 0.0)
        real = np.maximum(parts[_REALS] - common, 0.0)
        return means, variance / n, third / n**2, real, np.maximum(parts[_FAKES], 0.0), both, df

    def moved(self, difference: float) -> "Studies":
        """Return the same studies with the first score `difference` above the second."""
        moved = copy(self)
        moved.looks, moved.scores = self.looks.copy(), self.scores.copy()
        shift = self.scores[1] + difference - self.scores[0]
        moved.looks[0, :, :, 0] += shift
        moved.scores[0] += shift
        return moved

    def _values(
        self, spread: Spread, middle: np.ndarray, pictures: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        """Return values of evaluators, shape (studies, evaluators), whose means are `middle`."""
        size, unit = (STUDIES, self.plan.looks[-1]), spread.unit
        between = np.maximum(spread.observed * self._wider - spread.sampled, 0.0)
        variance = np.maximum(between + spread.sampling(spread.images) - pictures, 0.0) / unit**2
        if not spread.is_share:
            values: np.ndarray = middle[:, None] + np.sqrt(variance)[:, None] * rng.standard_normal(size)
            return values
        k, share = round(spread.images), np.clip(middle / unit, 0.002, 0.998)
        whole = share * (1 - share)
        own = np.clip((variance - whole / k) / (1 - 1 / k), 1e-6 * whole, 0.95 * whole)
        shape = (whole / own - 1)[:, None]
        rates = rng.beta(share[:, None] * shape, (1 - share)[:, None] * shape, size)
        return unit / k * rng.binomial(k, rates).astype(float)

    def stopped(self) -> Stopped:
        """Return where the studies stop."""
        aim, last = self.plan.aim, len(self.counts) - 1
        models = len(self.spreads)
        is_pair = aim.kind != HALF_WIDTH
        frozen = np.full((STUDIES, models), last)
        reached = np.zeros((STUDIES, len(self.i) if is_pair else models), bool)
        closed = reached.copy()
        end, is_open = np.full(STUDIES, last), np.ones(STUDIES, bool)
        for look in range(last + 1):
            at = np.minimum(frozen, look)
            new = self._reached(at, look) & is_open[:, None]
            reached |= new
            closed |= new
            if aim.kind == FUTILITY:
                closed |= self._is_futile(at, look) & is_open[:, None] & ~reached
            counts = self._counts_of(at)
            is_done = self._is_done(closed, counts)
            if is_pair:
                over = is_open & (closed | ~counts).all(axis=1)
                is_done = is_done & (aim.kind != EQUAL_WITHIN) & (models > 2)
            else:
                over = is_open & closed.all(axis=1)
            frozen = np.where((is_done | over[:, None]) & is_open[:, None], np.minimum(frozen, look), frozen)
            end[over] = look
            is_open &= ~over
        return self._outcome(frozen, end, reached)

    def _counts_of(self, at: np.ndarray) -> np.ndarray:
        """Return which pairs the aim is about: shape (studies, pairs)."""
        pairs, size = self.plan.aim.pairs, (STUDIES, len(self.i))
        if pairs == ALL_PAIRS:
            return np.ones(size, bool)
        if pairs != NEIGHBOURS:  # those of the first model, whatever its name
            return np.broadcast_to(self.i == 0, size)
        rank = self._at(at)[0].argsort(axis=1).argsort(axis=1)
        are_next: np.ndarray = np.abs(rank[:, self.i] - rank[:, self.j]) == 1
        return are_next

    def _is_done(self, closed: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return whether all of a model's own pairs (or its half-width) are closed: (studies, models)."""
        if self.plan.aim.kind == HALF_WIDTH:
            return closed
        rest = ~closed & counts
        models = range(len(self.spreads))
        return np.stack([~rest[:, (self.i == m) | (self.j == m)].any(axis=1) for m in models], axis=1)

    def _at(self, at: np.ndarray) -> np.ndarray:
        """Return what is found of each model at its own look: shape (quantities, studies, models)."""
        return np.take_along_axis(self.looks, at[None, None], axis=1)[:, 0]

    def _apart(self, at: np.ndarray, planned: bool = False) -> tuple[np.ndarray, Component]:
        """Return the differences of pairs and their components; or those that the last look will have.

        Args:
            planned: whether evaluators' variances are those of the planned number.
        """
        means, people, _, reals, fakes, _, df = self._at(at)
        n = self.counts[at]
        if planned:
            people, n = people * n / self.counts[-1], np.full_like(n, self.counts[-1])
        each = Component(people, n - 1) + Component(reals, df) + Component(fakes, df)
        i, j = self.i, self.j
        both = Component(each.variance[:, i], each.df[:, i]) + Component(each.variance[:, j], each.df[:, j])
        return means[:, i] - means[:, j], both

    def _reached(self, at: np.ndarray, look: int) -> np.ndarray:
        aim, error = self.plan.aim, float(self.plan.errors[look])
        if aim.kind == HALF_WIDTH:
            low, high = self._interval(at)
            is_narrow: np.ndarray = (high - low) / 2 <= (aim.number or 0.0)
            return is_narrow
        apart, both = self._apart(at)
        root = np.sqrt(np.maximum(both.variance, 1e-12))
        if aim.kind == EQUAL_WITHIN:
            p = t_below((np.abs(apart) - (aim.number or 0.0)) / root, both.df)
            order = np.argsort(p, axis=1)
            steps = np.arange(p.shape[1], 0, -1)
            holm = np.maximum.accumulate(np.take_along_axis(p, order, 1) * steps, axis=1)
            return np.take_along_axis(holm, np.argsort(order, axis=1), 1) < error
        is_apart: np.ndarray = np.abs(apart) > critical(1 - error, len(self.spreads), both.df) * root
        return is_apart

    def _is_futile(self, at: np.ndarray, look: int) -> np.ndarray:
        """Return which pairs would hardly be found to differ if they did (Lan, Simon and Halperin, 1982)."""
        apart, now = self._apart(at)
        later = self._apart(at, planned=True)[1]
        bar = critical(1 - float(self.plan.errors[-1]), len(self.spreads), later.df)
        variances = np.maximum(now.variance, 1e-12), np.maximum(later.variance, 1e-12)
        return conditional_power(np.abs(apart), *variances, self.plan.aim.number or 0.0, bar) < FUTILE_BELOW

    def _interval(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the intervals of scores, as `power.width` has them."""
        means, people, third, _, _, pictures, df = self._at(at)
        n, unit, level, first = self.counts[at], self.first.unit, self.plan.level, self.first
        if not first.is_share:
            parts = ((people, n - 1), (pictures, df))
            halves = (t_quantile(of, level) * np.sqrt(variance) for variance, of in parts)
            half = first.stretch * np.hypot(*halves)
            return means - half, means + half
        responses = n * round(first.images)
        share = np.clip(means / unit, 0.5 / responses, 1 - 0.5 / responses)
        variances, dfs = share_variances(share, people / unit**2, n - 1, responses, pictures / unit**2, df)
        thirds = np.stack([third / unit**3, np.zeros_like(third)])
        below, above = reaches(t_quantile(dfs, level), variances, thirds)
        low = wilson(share, variances, below, responses)[0].min(axis=0)
        return unit * low, unit * wilson(share, variances, above, responses)[1].max(axis=0)

    def _outcome(self, frozen: np.ndarray, end: np.ndarray, reached: np.ndarray) -> Stopped:
        scores = self.scores
        low, high = self._interval(frozen)
        apart, both = self._apart(frozen)
        error = np.abs(apart[:, 0] - (scores[0] - scores[1])) / np.sqrt(
            np.maximum(both.variance[:, 0], 1e-12)
        )
        df = both.df[:, 0]
        level = 1 - self.plan.errors[np.minimum(frozen[:, 0], end)]
        return Stopped(
            self.counts[frozen],
            reached,
            (low <= scores) & (scores <= high),
            apart[:, 0],
            error <= t_quantile(df, self.plan.level),
            error <= t_quantile(df, level),
        )


def conditional_power(
    size: np.ndarray, now: np.ndarray, later: np.ndarray, difference: float, bar: np.ndarray
) -> np.ndarray:
    """Return the probability that a difference will be found at the last look, if it is `difference`.

    Args:
        size: its estimate now, without sign.
        now, later: variances of the estimates now and at the last look.
        bar: critical value at the last look.
    """
    information, final = 1 / now, 1 / later
    rest = np.maximum(final - information, 1e-12 * final)
    drift = size * information + difference * rest - bar * np.sqrt(final)
    result: np.ndarray = t_below(drift / np.sqrt(rest), np.inf)
    return result
