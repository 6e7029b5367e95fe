"""What is simulated and measured of each judgment in the cells of `grid.py`.

`JUDGED` has for each judgment what is drawn anew in a study, in one or more ways, and the numbers whose claim
that is. Numbers over evaluators alone are tested on the same pictures in all studies of a cell, those over
both on other ones. A number has the name that `inferences.py` gives it in JSON.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, ndtr, ndtri

from backend.analysis import browsers, exposures
from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.comparisons import model_tests
from backend.analysis.confidence_sequence import score_by_evaluators
from backend.analysis.constant_stimuli import between_exposures, function_of
from backend.analysis.distributions.rank_ranges import rank_ranges
from backend.analysis.error_rates import sides
from backend.analysis.judgment_scores import scores_of
from backend.analysis.models.tournament import checks, fit_strengths, strengths
from backend.analysis.pairs import accuracy, over_evaluators
from backend.analysis.score_intervals import between_models, score_details
from backend.analysis.scores import groups_of
from backend.analysis.table.designs import BETWEEN, design_of
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_table import Answers, Coded, filter_rows
from backend.analysis.table.unscored_rows import attention
from validate import mixed_sessions, tournaments
from validate.agreement import Judges
from validate.studies import TimePopulation, deviations

LEVEL = 0.95
MANY = 400
"""Evaluators of the studies whose mean estimates, of `Judged.truths`, are taken for true."""
PAIRS, LOOKS, CHECKS, RESAMPLES = 40, 4, 6, 600
EXPOSURES_MS = (50.0, 100.0, 200.0, 400.0, 800.0, 1600.0)
_EACH, _SLOPE, _LAPSE = 10, 2.0, 0.03
_EQUAL = 0.7
"""Distance of true scores (points) below which models are equal, though their estimates differ."""


@dataclass(frozen=True)
class Cell:
    """A kind of study."""

    judgment: str
    people: int
    """Evaluators, of each model if sessions show one."""
    pool: int | None
    """Pictures of a side that evaluators share, or items; None: nobody shares any."""
    share: float
    """Of errors (0 to 1); or of the votes, of ties; in judgments with time, how long thresholds are."""
    people_sd: float
    pictures_sd: float
    shape: str
    step: float
    """Between models, in probits or log-odds."""
    is_mixed: bool
    """Whether sessions show all models."""
    seed: int
    shown: int
    """Pictures of a side that a person sees, at most."""

    def __str__(self) -> str:
        pool = "own pictures" if self.pool is None else f"{self.pool:,} shared"
        return (
            f"{self.judgment}: {self.people} people, {pool}, {100 * self.share:g}%, {self.shape}, "
            f"SDs {self.people_sd:g} and {self.pictures_sd:g}, step {self.step:g}"
            f"{', mixed' if self.is_mixed else ''}"
        )


@dataclass(frozen=True)
class Interval:
    """Estimates, numbers or arrays, with their intervals; each counts by itself."""

    estimate: Any
    low: Any
    high: Any

    def held(self, true: Any) -> float:
        """Return the share (0 to 1) that holds."""
        return float(np.mean(self._hold(true)))

    def _hold(self, true: Any) -> Any:
        return (np.asarray(self.low) - 1e-9 <= true) & (true <= np.asarray(self.high) + 1e-9)


@dataclass(frozen=True)
class Together(Interval):
    """Intervals that hold together."""

    def held(self, true: Any) -> float:
        return float(np.all(self._hold(true)))


@dataclass(frozen=True)
class Edge(Interval):
    """An interval of a difference by which models are equivalent if it is within the margin; at its edge."""

    def held(self, true: Any) -> float:
        return float(not (-abs(true) < self.low and self.high < abs(true)))


@dataclass(frozen=True)
class Limited(Interval):
    """An interval of a threshold that is limited to the exposures shown: what is true is the median."""

    least: float
    most: float

    def is_at_a_limit(self, true: float) -> bool:
        """Return whether the true threshold is at a limit or beyond, where an interval has one end."""
        return not self.least < true < self.most


@dataclass(frozen=True)
class Null:
    """p of a null hypothesis that is true; it holds if it is not rejected at 5%."""

    p: Any
    estimate: float = 0.0

    def held(self, _true: Any) -> float:
        return float(np.mean(np.asarray(self.p) >= 1 - LEVEL))


@dataclass(frozen=True)
class Ranks:
    """Ranges of ranks, the models in a fixed order; all hold, or none."""

    estimate: np.ndarray
    ranges: list[Any]
    step: float = _EQUAL

    def held(self, true: Any) -> float:
        best = [1 + (true > one + self.step).sum() for one in true]
        worst = [len(true) - (true < one - self.step).sum() for one in true]
        known = [place for place in zip(self.ranges, best, worst, strict=True) if place[0]]
        return float(all(low <= first and last <= high for (low, high), first, last in known))


Named = Iterator[tuple[str, Any]]


def intervals(name: str, estimates: Any, cis: Any, kind: type[Interval] = Interval) -> Named:
    """Yield intervals under a name; none if one has no interval, or no end on a side."""
    cis = np.asarray(cis, float) if cis is not None and None not in np.ravel(np.array(cis, object)) else None
    if cis is not None and np.size(cis):
        yield name, kind(np.asarray(estimates, float), cis[..., 0], cis[..., 1])


# --- real or fake -----------------------------------------------------------------------------------------
def infinity_study(cell: Cell, people: int, rng: np.random.Generator, is_same: bool) -> Answers:
    rates = (cell.share, cell.share, float(ndtr(ndtri(cell.share) + cell.step)))
    kind = mixed_sessions.Kind(
        rates, people, 3 if cell.is_mixed else 1, cell.pool, cell.share, cell.people_sd, cell.pictures_sd,
        cell.shape, cell.shown,
    )  # fmt: skip
    answers = mixed_sessions.study(kind, rng, np.random.default_rng(cell.seed) if is_same else None)
    names, judge = answers.evaluator.names, rng.integers(0, 3, len(answers.evaluator.names))
    engines = Coded(judge[answers.evaluator.codes].astype(np.int32), ["chromium", "gecko", "webkit"])
    right = rng.binomial(CHECKS, ndtr(1.2 + cell.people_sd * deviations(cell.shape, len(names), rng)))
    checks = {name: (int(count), CHECKS) for name, count in zip(names, right, strict=True)}
    return replace(answers, texts={**answers.texts, "browser": engines}, checks=checks)


def scored(answers: Answers) -> dict[str, Any]:
    """Return scores as `scores.overall_scores`, without the papers' interval, which is slow."""
    values = values_by_model(answers)
    details, groups = score_details(answers, values, LEVEL), groups_of(values, [*values])
    rows = [
        {"model": name, "score": own.numbers.mean(), "evaluators": len(own), **details[name]}
        for name, own in sorted(values.items())
    ]
    over = between_models(answers, values, groups, details, LEVEL, 5)
    return {"models": rows, **model_tests.tests_of(answers, values, groups, LEVEL), "over_pictures": over}


def infinity_numbers(answers: Answers, cell: Cell) -> Named:
    scores = scored(answers)
    rows = scores["models"]
    yield from intervals("models.interval.ci", *_columns(rows, "score", lambda row: row["interval"]["ci"]))
    yield (
        "leaderboard-infinity/ranks",
        Ranks(np.array([row["score"] for row in rows]), rank_ranges(rows, LEVEL)),
    )
    yield from _sides(answers)
    yield from _pairs(scores, scores["over_pictures"], cell)
    yield from _looks(answers, rows[0]["score"])


def _sides(answers: Answers) -> Named:
    errors = sides(answers, LEVEL) or {}
    for side in ("fakes", "reals"):
        found = sorted(errors[side], key=lambda row: row["model"] or "")
        yield from intervals(f"findings.sides.{side}.ci", *_columns(found, "error", lambda row: row["ci"]))
    accuracy_of_all, of_all = errors["accuracy"], errors["detection"]
    yield from intervals("findings.sides.accuracy.ci", accuracy_of_all["accuracy"], accuracy_of_all["ci"])
    for name in ("d_prime", "criterion"):
        yield from intervals(f"findings.sides.detection.{name}_ci", of_all[name], of_all[f"{name}_ci"])


def _pairs(scores: dict[str, Any], over: dict[str, Any] | None, cell: Cell) -> Named:
    decides = over if over and over["advised"] else scores
    if over is None or not len(over["pairs"]) == len(decides["pairs"]) == 3:
        return
    pairs = sorted(map(_turned, decides["pairs"]), key=lambda pair: pair["names"])
    yield from intervals("pairs/deciding_ci", *_columns(pairs, "difference", lambda p: p["ci"]), Together)
    yield "pairs/deciding_p", Null(pairs[0]["p"])  # of m0 and m1, which are equal
    (far,) = (pair for pair in map(_turned, over["pairs"]) if pair["names"] == ("m0", "m2"))
    yield from intervals("pair_sizes/d_ci", far["effect"]["d"], far["effect"]["d_ci"])
    if cell.step:
        yield from intervals("pairs/equivalence.p", far["difference"], far["equivalence"]["ci"], Edge)


def _looks(answers: Answers, score: float) -> Named:
    order = np.unique(answers.evaluator.codes[answers.of_model[0]]).tolist()
    looks = [row["any_look"] for row in score_by_evaluators(answers, "m0", order, LEVEL, LOOKS)]
    ends = np.array([[low, 100.0 if high is None else high] for low, high in looks])
    yield "narrowing.any_look", Interval(score, ends[:, 0].max(), ends[:, 1].min())


def infinity_alone(answers: Answers, cell: Cell) -> Named:
    values = values_by_model(answers)
    groups = groups_of(values, sorted(values))
    found = model_tests.further_tests(answers, values, groups, LEVEL)
    for row in found["pair_effects"]:
        if (row["a"], row["b"]) == ("m0", "m2"):
            yield from intervals("findings.pair_effects.g_ci", row["g"], row["g_ci"])
    is_between = design_of(answers).kind == BETWEEN
    if is_between and not cell.step and (cell.pool or 1000) >= 1000 and found["equal_spread"]:
        yield "findings.equal_spread.p", Null(found["equal_spread"]["p"])
    by_engine = browsers.by_browser(answers, values, LEVEL)
    if is_between and by_engine and by_engine["test"]:
        cis = [row["ci"] for row in by_engine["engines"] if row["browser"] == "chromium"]
        if any(cis):  # of few evaluators none may have it
            yield "findings.browsers.engines.ci", Interval(0.0, *cis[0])
        yield "findings.browsers.test.p", Null(by_engine["test"]["p"])
    checks = attention(answers, LEVEL)
    yield from intervals("findings.attention.ci", checks["share"], checks["ci"])


def _columns(rows: list[dict], name: str, ci: Callable[[dict], Any]) -> tuple[list, list | None]:
    cis = [ci(row) for row in rows]
    return [row[name] for row in rows], None if None in cis else cis


def _turned(pair: dict) -> dict:
    """Return a pair whose first model is the first by name."""
    if pair["a"] < pair["b"]:
        return {**pair, "names": (pair["a"], pair["b"])}
    turned = {**pair, "names": (pair["b"], pair["a"]), "difference": -pair["difference"]}
    turned["ci"] = [-end for end in reversed(pair["ci"])]
    if "effect" in pair:
        effect = pair["effect"]
        turned["effect"] = {"d": -effect["d"], "d_ci": [-end for end in reversed(effect["d_ci"])]}
        turned["equivalence"] = {"ci": [-end for end in reversed(pair["equivalence"]["ci"])]}
    return turned


# --- pairs ------------------------------------------------------------------------------------------------
def pair_study(cell: Cell, people: int, rng: np.random.Generator, is_same: bool) -> Answers:
    """Return answers of people who err with Phi(m + a + b side + (v + w) / sqrt 2), of pictures v and w."""
    pool, shown = cell.pool or people * PAIRS, min(PAIRS, cell.shown)
    source = np.random.default_rng(cell.seed) if is_same and cell.pool else rng
    hardness = cell.pictures_sd * source.standard_normal((2, pool)) / math.sqrt(2)
    images = [dealt(people, shown, cell.pool, rng) for _ in range(2)]
    able = cell.people_sd * deviations(cell.shape, people, rng)[:, None]
    bias, is_right = 0.3 * rng.standard_normal((people, 1)), rng.random((people, shown)) < 0.5
    spread = math.sqrt(1 + cell.people_sd**2 + 0.3**2 + cell.pictures_sd**2)
    middle = ndtri(cell.share) * spread + able + np.where(is_right, bias, -bias)
    wrong = rng.random(is_right.shape) < ndtr(middle + hardness[0][images[0]] + hardness[1][images[1]])
    key = ((images[0] * pool + images[1]) * 2 + is_right).ravel()
    keys, codes = np.unique(key, return_inverse=True)
    names = [
        f"f{pair // pool} r{pair % pool}" if right else f"r{pair % pool} f{pair // pool}"
        for pair, right in zip((keys // 2).tolist(), (keys % 2).tolist(), strict=True)
    ]
    truth, person = is_right.ravel(), np.repeat(np.arange(people, dtype=np.int32), shown)
    return Answers(
        "pair", Coded(np.zeros(len(person), np.int32), ["m0"]), Coded(person, [*range(people)]), truth,
        truth != wrong.ravel(), texts={"stimulus": Coded(codes.astype(np.int32), names)},
    )  # fmt: skip


def dealt(people: int, shown: int, pool: int | None, rng: np.random.Generator) -> np.ndarray:
    """Return codes of the pictures that each person sees: shape (people, shown)."""
    if pool is None:
        return np.arange(people * shown).reshape(people, shown)
    return np.stack([rng.permutation(pool)[:shown] for _ in range(people)])


def pair_numbers(answers: Answers, _cell: Cell) -> Named:
    judged = scores_of("pair").counted(answers)
    (row,) = scored(judged)["models"]
    of_score = accuracy(row["score"], row["interval"]["ci"])
    for name in ("accuracy", "d_prime"):
        yield from intervals(f"models.{name}_ci", of_score[name] or 0.0, of_score[f"{name}_ci"])
    own = over_evaluators(answers, judged, "m0", LEVEL) or {}
    for name in ("evaluator_d_prime", "criterion"):
        yield from intervals(f"findings.models.pairs.{name}_ci", own[name], own[f"{name}_ci"])


# --- constant stimuli -------------------------------------------------------------------------------------
def exposures_study(cell: Cell, people: int, rng: np.random.Generator, is_same: bool) -> Answers:
    """Return answers about two models of people who see pictures at each exposure, half of them fake."""
    needed = _EACH * len(EXPOSURES_MS) // 2
    pool, shown = cell.pool or 2 * people * needed, min(needed, cell.shown)
    source = np.random.default_rng(cell.seed) if is_same and cell.pool else rng
    hardness = cell.pictures_sd / 2 * source.standard_normal((3, pool))
    thresholds = np.log(_threshold_ms(cell)) + cell.step / 2 * np.arange(2)
    columns: list[list[np.ndarray]] = [[] for _ in range(6)]
    for model in range(2):
        own = thresholds[model] + (cell.people_sd + 0.2) * deviations(cell.shape, people, rng)
        for is_fake in (False, True):
            images = dealt(people, shown, cell.pool, rng) + (0 if cell.pool else model * people * shown)
            ms = np.array([rng.permutation(np.resize(EXPOSURES_MS, shown)) for _ in range(people)])
            kind = 1 + model if is_fake else 0
            rise = expit(_SLOPE * (np.log(ms) - own[:, None] - hardness[kind][images]))
            wrong = rng.random(ms.shape) >= 0.5 + (0.5 - _LAPSE) * rise
            person = np.repeat(np.arange(people) + model * people, shown)
            row = (np.full(ms.size, model), person, np.full(ms.size, is_fake), wrong.ravel(), ms.ravel(),
                   (kind * pool + images).ravel())  # fmt: skip
            for column, part in zip(columns, row, strict=True):
                column.append(part)
    model, person, fake, wrong, ms, image = map(np.concatenate, columns)
    names, codes = np.unique(image, return_inverse=True)
    return Answers(
        "exposures", Coded(model.astype(np.int32), ["m0", "m1"]),
        Coded(person.astype(np.int32), [*range(2 * people)]), fake, fake != wrong, exposure_ms=ms,
        texts={"stimulus": Coded(codes.astype(np.int32), names.astype(str).tolist())},
    )  # fmt: skip


def _threshold_ms(cell: Cell) -> float:
    """Return the typical threshold (ms): from below the shortest exposure to the longest."""
    return {0.02: 40.0, 0.1: 100.0, 0.25: 250.0, 0.4: 500.0, 0.6: 1200.0}[cell.share]


def exposures_numbers(answers: Answers, _cell: Cell) -> Named:
    mine = filter_rows(answers, answers.model.codes == 0)
    rows = [scored(filter_rows(mine, mine.exposures_ms == ms))["models"][0] for ms in EXPOSURES_MS]
    yield from intervals("models.by_exposure.ci", *_columns(rows, "score", lambda row: row["interval"]["ci"]))


def exposures_alone(answers: Answers, _cell: Cell) -> Named:
    pairs = between_exposures(answers, 0, LEVEL)["pairs"]
    pairs = sorted((_turned(pair) for pair in pairs), key=lambda pair: pair["names"])
    if len(pairs) == math.comb(len(EXPOSURES_MS), 2):
        differences = _columns(pairs, "difference", lambda pair: pair["ci"])
        yield from intervals("models.between_exposures.pairs.ci", *differences, Together)
    there = [scored(filter_rows(answers, answers.exposures_ms == ms))["pairs"] for ms in EXPOSURES_MS]
    if all(there):
        pairs = [_turned(pair) for (pair,) in there]
        yield from intervals("exposures.pairs.ci", *_columns(pairs, "difference", lambda p: p["ci"]))
    mine = function_of(answers, 0, LEVEL, 0.75, np.random.default_rng(0))
    if mine and mine["ci"] and mine["threshold_ms"]:
        low, high = mine["ci"]
        ends = [0.0 if low is None else low, math.inf if high is None else high]
        yield "models.threshold.ci", Interval(mine["threshold_ms"], *ends)
    if mine and mine["p"] is not None:
        yield "findings.models.function.p", Null(mine["p"])


# --- time -------------------------------------------------------------------------------------------------
def time_study(
    cell: Cell, people: int, rng: np.random.Generator, is_same: bool, longer: float = 1.0
) -> Answers:
    """Return answers of HYPE-time, whose thresholds are `longer` times those of the cell."""
    trials = min(150, 2 * cell.shown)
    return TimePopulation(
        longer * _threshold_ms(cell), cell.people_sd + 0.2, pictures=cell.pictures_sd / 2, pool=cell.pool,
        trials=trials, blocks=min(3, 2 * cell.shown // trials), shape=cell.shape,
        same=cell.seed if is_same and cell.pool else None,
    ).study(people, rng)  # fmt: skip


def time_numbers(answers: Answers, _cell: Cell) -> Named:
    values = values_by_model(answers)
    found = score_details(answers, values, LEVEL)["m"]
    yield from intervals("models.interval.ci", values["m"].numbers.mean(), found["interval"]["ci"])
    threshold, (low, high) = found["threshold"], found["threshold"]["ci"]
    ends = 0.0 if low is None else low, math.inf if high is None else high
    yield (
        "models.threshold.ci",
        Limited(threshold["ms"], *ends, threshold["floor_ms"], threshold["ceiling_ms"]),
    )


def staircases_numbers(answers: Answers, _cell: Cell) -> Named:
    found = exposures.exposures_of(answers, 0, LEVEL, 0.75, is_each_with_ci=False)
    median, name = found["threshold_ms"], "findings.models.exposures"
    reversal = found["reversal_ms"]
    yield from intervals(f"{name}.reversal_ms.median_ci", reversal["median"], reversal["median_ci"])
    if median["median"] is not None and median["median_ci"]:
        low, high = median["median_ci"]
        ends = 0.0 if low is None else low, math.inf if high is None else high
        yield f"{name}.threshold_ms.median_ci", Interval(median["median"], *ends)


# --- metrics and people -----------------------------------------------------------------------------------
def votes_study(cell: Cell, people: int, rng: np.random.Generator, _is_same: bool) -> Any:
    items, kind = cell.pool or 300, {"2AFC": "2afc", "JND": "jnd"}[cell.judgment]
    votes = min(people, 5)
    if people >= MANY:  # for what is true
        items, people = 5000, MANY
    item_sd = 2 * cell.pictures_sd
    judges = Judges(
        kind, item_sd, ndtri(cell.share) * math.sqrt(1 + item_sd**2 + cell.people_sd**2), cell.people_sd,
        shape=cell.shape,
    )  # fmt: skip
    return judges.study(items, people, votes, rng)


def votes_numbers(data: Any, _cell: Cell) -> Named:
    found = agreement(*data)
    (metric, *_), pair = found["metrics"], next(iter(found["pairs"]), None)  # none if nobody said `same`
    rows = {"metrics": metric, "metrics.average_precision": metric["average_precision"], "pairs": pair}
    for name, row in {**rows, "human": (found["human"] or [None])[0]}.items():
        if row and row["ci"]:
            key = next(key for key in ("score", "difference", "unbiased") if key in row)
            yield from intervals(f"agreement.{name}.ci", row[key] - (row.get("bias") or 0), row["ci"])


# --- tournaments ------------------------------------------------------------------------------------------
def tournament_study(cell: Cell, people: int, rng: np.random.Generator, is_same: bool) -> Any:
    true = cell.step * np.array([-1.0, 0.0, 0.0, 1.0])
    answers = tournaments.simulated(
        true, people, 60, 2 * cell.share, rng, cell.pool or 5000, cell.people_sd, shape=cell.shape,
        of_pictures=np.random.default_rng(cell.seed) if is_same else None,
    )  # fmt: skip
    turned, shown = rng.random(len(answers.outcome)) < 0.5, answers.pictures
    return replace(
        answers,
        left=np.where(turned, answers.right, answers.left),
        right=np.where(turned, answers.left, answers.right),
        outcome=np.where(turned, 2 - answers.outcome, answers.outcome),
        pictures=None if shown is None else np.where(turned[:, None], shown[:, ::-1], shown),
    )


def tournament_numbers(answers: Any, _cell: Cell) -> Named:
    fitted = fit_strengths(answers, np.random.default_rng(0), 20 if _is_many(answers) else RESAMPLES)
    found = strengths(answers, fitted, LEVEL)
    rows = sorted(found["contestants"], key=lambda row: row["model"])
    yield from intervals("models.ci", *_columns(rows, "strength", lambda row: row["ci"]))
    centres = np.array([row["strength"] for row in rows])
    yield "models.ranks", Ranks(centres, [row["ranks"] for row in rows], 0.1)
    pairs = sorted((_turned(pair) for pair in found["differences"]), key=lambda pair: pair["names"])
    yield from intervals("pairs.ci", *_columns(pairs, "difference", lambda pair: pair["ci"]))


def tournament_alone(answers: Any, _cell: Cell) -> Named:
    found = checks(answers, fit_strengths(answers, np.random.default_rng(0), 20).fitted, LEVEL)
    if found["sides"]["ci"]:
        yield "tournament.sides.ci", Interval(0.5, *found["sides"]["ci"])
    if found["sides"]["p"] is not None:
        yield "tournament.sides.p", Null(found["sides"]["p"])
    if found["fit"]["p"] is not None:
        yield "tournament.fit.p", Null(found["fit"]["p"])


def _is_many(answers: Any) -> bool:
    return len(answers.evaluators) >= MANY


@dataclass(frozen=True)
class Judged:
    """How studies of a judgment are drawn, and their numbers."""

    draw: Callable[..., Any]
    """Returns a study of a cell: of so many evaluators, with a generator, and what is the same in all."""
    numbers: tuple[tuple[Any, Callable[[Any, Cell], Named]], ...]
    """What is the same in all studies, and the numbers of which that is the claim."""
    studies: int = 1000
    method: str = ""
    """In `inferences.py`; default, the judgment's name."""
    truths: int = 15
    """Studies of `MANY` evaluators: as many evaluators as make the error a tenth of that of 60."""


JUDGED = {
    "infinity": Judged(infinity_study, ((False, infinity_numbers), (True, infinity_alone))),
    "pair": Judged(pair_study, ((False, pair_numbers),)),
    "exposures": Judged(exposures_study, ((False, exposures_numbers), (True, exposures_alone)), 300),
    "2AFC": Judged(votes_study, ((False, votes_numbers),)),
    "JND": Judged(votes_study, ((False, votes_numbers),), 300),
    "tournament": Judged(
        tournament_study, ((False, tournament_numbers), (True, tournament_alone)), 300
    ),
    "time": Judged(time_study, ((False, time_numbers),), 300),
    "staircases": Judged(time_study, ((True, staircases_numbers),), 300, "time", 3),
}  # fmt: skip
