"""Planned looks of simulated studies that are scored, and decided, as any study is.

Answers of populations that are known are given to `look_decisions.decisions`, with a plan of looks and with
the fixed plan: how often equal models are found to differ, and models that differ are; how often intervals
contain the true score, and the true difference of the first two models; how many people are saved.
"""

import math
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np

from backend.analysis.look_decisions import decisions
from backend.analysis.models.paired_answers import PairedAnswers
from backend.analysis.planning.looks import LookPlan
from backend.analysis.table.response_table import Answers, Coded
from backend.experiment.planned_looks import aim_of
from validate import judged, mixed_sessions, plans, tournaments
from validate.studies import TimePopulation

LOOKS, LEVEL = (10, 20, 30), 0.95
EQUAL, APART = 1_000, 100
"""Studies of a kind whose models are equal, and whose first model differs."""
_AT_ONCE = 50
SHOWN = ("error", "found", "covers", "pair covers", "evaluators")
Drawn = tuple[Answers, dict[str, float]]
"""A study's answers, and the true score of each model."""


@dataclass(frozen=True)
class Kind:
    """A kind of study."""

    name: str
    draw: Callable[[float, np.random.Generator], Drawn]
    """Returns a study whose first model is a step above the others."""
    step: float
    """In the unit of `draw`; 0 is none."""


def infinity(models: int, at_once: int, pool: int | None, step: float, rng: np.random.Generator) -> Drawn:
    rates = (0.4 + step, *[0.4] * (models - 1))
    kind = mixed_sessions.Kind(rates, LOOKS[-1], at_once, pool)
    true = {f"m{i}": 50 * (rate + kind.reals) for i, rate in enumerate(rates)}
    return mixed_sessions.study(kind, rng), true


def exposures(pool: int, step: float, rng: np.random.Generator) -> Drawn:
    cell = _exposures(pool, step)
    low, apart = cell.spread.score, cell.difference
    return cell.answers(rng), {"m0": low + apart, "m1": low}


@cache
def _exposures(pool: int, step: float) -> plans.Cell:
    return plans.exposures(LOOKS[-1], pool, 0.6, 100 * step)


def pairs(pool: int, step: float, rng: np.random.Generator) -> Drawn:
    shares = {"m0": 0.3 + step, "m1": 0.3}
    cells = [
        judged.Cell("pair", LOOKS[-1], pool, share, 0.3, 0.6, "normal", 0.0, False, 0, judged.PAIRS)
        for share in shares.values()
    ]
    return (
        _joined([judged.pair_study(cell, LOOKS[-1], rng, False) for cell in cells]),
        {model: 100 * share for model, share in shares.items()},
    )


def time(pool: int, step: float, rng: np.random.Generator) -> Drawn:
    populations = [TimePopulation(250 * math.exp(own), pictures=0.3, pool=pool) for own in (step, 0.0)]
    answers = _joined([population.study(LOOKS[-1], rng) for population in populations])
    return answers, {f"m{i}": population.truth() for i, population in enumerate(populations)}


def tournament(models: int, pool: int, step: float, rng: np.random.Generator) -> Drawn:
    true = np.array([step, *[0.0] * (models - 1)])
    paired = tournaments.simulated(true, LOOKS[-1], 60, 0.0, rng, pool, 0.3, 0.6)
    true = true - true.mean()
    return _answers_of(paired), {f"{i:02d}": float(one) for i, one in enumerate(true)}


KINDS = (
    Kind("HYPE-infinity, 2 models", partial(infinity, 2, 1, 5000), 0.16),
    Kind("HYPE-infinity, 2 models, 60 pictures a side", partial(infinity, 2, 1, 60), 0.16),
    Kind("HYPE-infinity, 4 models, 60 pictures a side", partial(infinity, 4, 1, 60), 0.16),
    Kind("sessions of 3 of 3 models, 150 pictures a side", partial(infinity, 3, 3, 150), 0.12),
    Kind("sessions of 2 of 4 models, 150 pictures a side", partial(infinity, 4, 2, 150), 0.16),
    Kind("constant stimuli, 2 models, 150 pictures a side", partial(exposures, 150), 0.06),
    Kind("pairs, 2 models, 150 pictures a side", partial(pairs, 150), 0.08),
    Kind("HYPE-time, 2 models, 300 pictures a side", partial(time, 300), 0.4),
    Kind("tournament, 4 models, 150 pictures of each", partial(tournament, 4, 150), 0.5),
)


def outcome(kind: Kind, step: float, plan: LookPlan, rng: np.random.Generator) -> dict[str, list[float]]:
    """Return what a plan and its fixed one show of one study: of each `error`, `found` and so on."""
    answers, true = kind.draw(step, rng)
    finished = {str(name): f"{rng.random():.12f}" for name in answers.evaluator.names}
    decided = partial(decisions, answers, finished, models=tuple(true), with_bias=False)
    last = decided(plan)["looks"][-1]
    n, whole = plan.looks[-1], last
    if {*last["evaluators"].values()} != {n}:
        whole = decided(replace(plan, looks=(n,)))["looks"][-1]
    fixed = [{**row, "state": "apart" if row["p"] < 1 - LEVEL else "open"} for row in whole["pairs"]]
    return {
        "looks": _shown(last["pairs"], last, true),
        "fixed": _shown(fixed, whole, true),
    }


def _shown(pairs: list[dict[str, Any]], look: dict[str, Any], true: dict[str, float]) -> list[float]:
    """Return `SHOWN` of a study that ends with a look."""
    first, second = [*true][:2]
    (pair,) = (row for row in pairs if {row["a"], row["b"]} == {first, second})
    sign = 1 if pair["a"] == first else -1
    low, high = sorted(sign * end for end in pair["ci"])
    apart = [(row["a"], row["b"]) for row in pairs if row["state"] == "apart"]
    covers = [row["ci"][0] <= true[row["model"]] <= row["ci"][1] for row in look["scores"]]
    return [
        any(true[a] == true[b] for a, b in apart), pair["state"] == "apart", float(np.mean(covers)),
        low <= true[first] - true[second] <= high, sum(look["evaluators"].values()) / len(true),
    ]  # fmt: skip


def row_of(kind: Kind, workers: ProcessPoolExecutor, spending: str = "obrien-fleming") -> dict[str, dict]:
    """Return the shares of a kind's studies, of equal models and of a first one that differs, by plan."""
    plan, rows = LookPlan(LOOKS, aim_of("apart"), spending, LEVEL), {}
    for name, step, studies in (("equal", 0.0, EQUAL), ("apart", kind.step, APART)):
        parts = range(0, studies, _AT_ONCE)
        found = [one for part in workers.map(partial(_part, kind, step, plan), parts) for one in part]
        rows[name] = {
            which: dict(zip(SHOWN, np.mean([one[which] for one in found], axis=0).tolist(), strict=True))
            for which in ("fixed", "looks")
        }
        more = np.array([one["looks"][0] - one["fixed"][0] for one in found])
        rows[name]["more"] = {"error": float(more.mean()), "se": float(more.std() / math.sqrt(len(more)))}
    return rows


def _part(kind: Kind, step: float, plan: LookPlan, first: int) -> list[dict[str, list[float]]]:
    seeds = range(first, first + _AT_ONCE)
    return [outcome(kind, step, plan, np.random.default_rng([seed, 47])) for seed in seeds]


def _joined(studies: list[Answers]) -> Answers:
    """Return studies of one model each as one of several, whose evaluators and pictures are different."""
    first, people, images = studies[0], 0, 0
    model, person, stimulus, names = [], [], [], []
    for code, study in enumerate(studies):
        column = study.texts["stimulus"]
        model.append(np.full(len(study), code, np.int32))
        person.append(study.evaluator.codes + people)
        stimulus.append(column.codes + images)
        names += [" ".join(f"{code}{part}" for part in str(name).split()) for name in column.names]
        people, images = people + len(study.evaluator.names), images + len(column.names)

    def of_all(name: str) -> np.ndarray | None:
        columns = [getattr(study, name) for study in studies]
        return None if columns[0] is None else np.concatenate(columns)

    return replace(
        first,
        model=Coded(np.concatenate(model), [f"m{code}" for code in range(len(studies))]),
        evaluator=Coded(np.concatenate(person), [*range(people)]),
        **{name: of_all(name) for name in ("is_fake", "said_fake", "exposure_ms", "block")},
        texts={"stimulus": Coded(np.concatenate(stimulus), names)},
        numbers={name: np.concatenate([study.numbers[name] for study in studies]) for name in first.numbers},
    )


def _answers_of(paired: PairedAnswers) -> Answers:
    """Return answers of a tournament as a study has them."""
    sides = [Coded(codes.astype(np.int32), list(paired.contestants)) for codes in (paired.left, paired.right)]
    keys, codes = np.unique(paired.pictures, axis=0, return_inverse=True)
    pairs, models = np.unique(np.sort([paired.left, paired.right], axis=0), axis=1, return_inverse=True)
    none = np.zeros(len(paired), bool)
    return Answers(
        "tournament",
        Coded(models.astype(np.int32).ravel(), [f"{a}, {b}" for a, b in pairs.T]),
        Coded(paired.evaluator.astype(np.int32), list(paired.evaluators)),
        none,
        none,
        texts={
            "left": sides[0],
            "right": sides[1],
            "response": Coded(paired.outcome.astype(np.int32), ["left", "tie", "right"]),
            "stimulus": Coded(codes.astype(np.int32).ravel(), [f"p{a} p{b}" for a, b in keys]),
        },
    )
