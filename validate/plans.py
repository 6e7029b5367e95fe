"""Validation of plans of mixed sessions, constant stimuli and tournaments by simulated studies.

Of populations that are known, studies are simulated and scored as any study is: how wide the printed
intervals of two models are, and how often the printed test finds them to differ, against what is planned. The
cells are none from which the planner was developed. `python -m validate.plans [STUDIES]` prints the table.
"""

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import expit, ndtr, ndtri

from backend.analysis.models.tournament import fit_strengths, strengths
from backend.analysis.planning.power import power, width
from backend.analysis.planning.spread import Spread
from backend.analysis.planning.tournament_spreads import as_answered, assumed
from backend.analysis.scores import overall_scores
from backend.analysis.table.response_table import Answers, Coded
from validate import mixed_sessions
from validate.tournaments import simulated

STUDIES, LEVEL, ASSURANCE = 300, 0.95, 0.8
_KNOWN, _MANY = 1e9, 200_000
Outcome = tuple[list[float], bool]
"""Widths of the intervals of the models that are compared, and whether they were found to differ."""


@dataclass(frozen=True)
class Cell:
    """A kind of study: what is planned, and how one is simulated."""

    name: str
    spread: Spread
    difference: float
    evaluators: int
    models: int
    study: Callable[[np.random.Generator], Outcome]
    answers: Callable[[np.random.Generator], Answers] | None = None
    """Returns the answers of such a study, of constant stimuli."""


def mixed(models: int, at_once: int, evaluators: int, pool: int, pictures_sd: float, apart: float) -> Cell:
    """Return studies whose sessions show `at_once` of the models, two of which differ by `apart` on fakes."""
    middle = mixed_sessions.REALS_RATE
    rates = (middle + apart / 2, middle - apart / 2, *[middle] * (models - 2))
    kind = mixed_sessions.Kind(rates, evaluators, at_once, pool, pictures=pictures_sd)
    return Cell(
        f"mixed, {at_once} of {models} models, pictures SD {pictures_sd:g}, {pool} a side",
        _of_mixed(kind),
        50 * apart,
        evaluators,
        models,
        partial(_outcome, lambda rng: mixed_sessions.study(kind, rng)),
    )


def exposures(evaluators: int, pool: int, pictures_sd: float, apart: float) -> Cell:
    """Return studies of two models at five exposures, whose errors are from 45% to 15%."""
    rates = ndtri(np.linspace(0.45, 0.15, 5))
    shift = apart / 100 / float(np.mean(np.exp(-(rates**2) / 2) / math.sqrt(2 * math.pi)))
    people_sd = 0.3
    scale = math.sqrt(1 + people_sd**2 + pictures_sd**2)

    def study(rng: np.random.Generator) -> Answers:
        hardness = pictures_sd * rng.standard_normal((3, pool))
        person = np.repeat(np.arange(2 * evaluators), 100)
        model, is_fake = person // evaluators, np.tile(np.arange(100) < 50, 2 * evaluators)
        side = np.where(is_fake, model, 2)
        image = np.concatenate([rng.choice(pool, 50, replace=False) for _ in range(4 * evaluators)])
        exposure = np.concatenate([rng.permuted(np.repeat(np.arange(5), 10)) for _ in range(4 * evaluators)])
        middle = rates[exposure] + np.where(model == 0, 0.5, -0.5) * shift
        leniency = people_sd * rng.standard_normal(2 * evaluators)
        wrong = rng.random(len(person)) < ndtr(scale * middle + leniency[person] + hardness[side, image])
        names = [str(code) for code in range(3 * pool)]
        return Answers(
            "exposures",
            Coded(model.astype(np.int32), ["m0", "m1"]),
            Coded(person.astype(np.int32), [*range(2 * evaluators)]),
            is_fake,
            is_fake != wrong,
            exposure_ms=np.geomspace(50, 800, 5)[exposure],
            texts={"stimulus": Coded((side * pool + image).astype(np.int32), names)},
        )

    rng = np.random.default_rng(5)
    people, pictures = (sd * rng.standard_normal(_MANY) for sd in (people_sd, pictures_sd))
    middles = scale * (rates - shift / 2)
    own = ndtr((middles[:, None] + people) / math.sqrt(1 + pictures_sd**2))
    of_picture = ndtr((middles[:, None] + pictures) / math.sqrt(1 + people_sd**2)).mean(axis=0).var()
    shares, of_other = ndtr(rates - shift / 2), ndtr(rates + shift / 2)
    observed = own.mean(axis=0).var() + (own * (1 - own)).mean() / 100
    within = float((shares * (1 - shares)).mean())
    spread = _known(float(shares.mean()), within, observed, of_picture, pool)
    difference = 100 * float(of_other.mean() - shares.mean())
    name = f"constant stimuli, pictures SD {pictures_sd:g}, {pool} a side"
    return Cell(name, spread, difference, evaluators, 2, partial(_outcome, study), study)


def tournament(
    models: int,
    evaluators: int,
    pairs: int,
    pool: int,
    pictures_sd: float,
    apart: float,
    people_sd: float = 0.3,
) -> Cell:
    """Return tournaments of models of which two differ by `apart` in log-odds, the others between them."""
    true = np.array([apart / 2, -apart / 2, *[0.0] * (models - 2)])

    def study(rng: np.random.Generator) -> Outcome:
        answers = simulated(true, evaluators, pairs, 0.0, rng, pool, people_sd, pictures_sd)
        found = strengths(answers, fit_strengths(answers, rng, 600), LEVEL)
        widths = [row["ci"][1] - row["ci"][0] for row in found["contestants"] if row["model"] in ("00", "01")]
        pair = next(row for row in found["differences"] if {row["a"], row["b"]} == {"00", "01"})
        return widths, pair["p"] < 1 - LEVEL

    people, pictures = as_answered(people_sd, pictures_sd)
    spread = assumed(models, pairs)
    spread = replace(
        spread, between=people, observed=people + spread.sampled, df=_KNOWN,
        pictures=(math.inf, pool), of_picture=pictures, of_picture_df=_KNOWN,
    )  # fmt: skip
    return Cell(
        f"tournament, {models} models, pictures SD {pictures_sd:g}, {pool} of each",
        spread,
        _as_all_show(apart, people_sd, pictures_sd),
        evaluators,
        models,
        study,
    )


CELLS = (
    partial(mixed, 2, 2, 8, 150, 0.9, 0.18),
    partial(mixed, 2, 2, 33, 30, 0.3, 0.12),
    partial(mixed, 3, 3, 33, 1000, 0.9, 0.1),
    partial(mixed, 7, 3, 33, 150, 0.3, 0.12),
    partial(exposures, 8, 150, 0.9, 10),
    partial(exposures, 33, 60, 0.3, 5),
    partial(exposures, 33, 1000, 0.9, 5),
    partial(tournament, 3, 8, 30, 150, 0.9, 0.6),
    partial(tournament, 3, 33, 45, 30, 0.9, 0.7),
    partial(tournament, 3, 33, 30, 1000, 0.3, 0.3),
    partial(tournament, 7, 8, 60, 30, 0.3, 0.7),
    partial(tournament, 7, 33, 60, 150, 0.9, 0.45),
)


def outcome(cell: Cell, studies: int, seed: int) -> dict[str, float]:
    """Return what is planned for a cell and what its studies show; widths are means of two models'."""
    rng = np.random.default_rng(seed)
    found = [cell.study(rng) for _ in range(studies)]
    widths = np.array([each for each, _ in found])
    share = float(np.mean([did_differ for _, did_differ in found]))
    images, count = cell.spread.images, cell.evaluators
    planned = {at: width(cell.spread, count, images, LEVEL, at) for at in (0.5, ASSURANCE)}
    return {
        "median": float(np.median(widths)),
        "median planned": planned[0.5],
        "width": float(np.quantile(widths, ASSURANCE)),
        "width planned": planned[ASSURANCE],
        "reached": float((widths <= planned[ASSURANCE]).mean()),
        "power": share,
        "power planned": power(cell.spread, cell.difference, count, images, LEVEL, cell.models),
        "error": math.sqrt(share * (1 - share) / studies),
    }


def run(studies: int = STUDIES) -> dict:
    """Return the furthest widths and power from the planned ones."""
    rows = [outcome(make(), studies, seed) for seed, make in enumerate(CELLS)]
    width_off = max(abs(row["width planned"] / row["width"] - 1) for row in rows)
    error = 0.5 / math.sqrt(studies)
    power_off = max(abs(row["power planned"] - row["power"]) for row in rows)
    return {
        "plans off the grid: width in 80% of studies, furthest from that of simulated ones": {
            "value": width_off,
            "agrees_if": "below 8%: 5%, and the error of the simulation",
            "agrees": width_off < 0.08,
        },
        "plans off the grid: power, furthest from that of simulated studies": {
            "value": power_off,
            "agrees_if": f"below {0.03 + 2.5 * error:.2f}: 3 points, and the error of the simulation",
            "agrees": power_off < 0.03 + 2.5 * error,
        },
    }


def _outcome(study: Callable[[np.random.Generator], Answers], rng: np.random.Generator) -> Outcome:
    scores = overall_scores(study(rng), iterations=100, seed=1)
    ends = [row["interval"]["ci"] for row in scores["models"] if row["model"] == "m1"]
    pair = next(row for row in scores["over_pictures"]["pairs"] if {row["a"], row["b"]} == {"m0", "m1"})
    return [high - low for low, high in ends], pair["p"] < 1 - LEVEL


def _of_mixed(kind: mixed_sessions.Kind) -> Spread:
    """Return the spread of the second model of mixed sessions, the one with fewer errors."""
    pool = kind.pool or mixed_sessions.SHOWN
    rng, shown = np.random.default_rng(5), min(mixed_sessions.SHOWN, pool)
    people, bias, *leaning = rng.standard_normal((4, _MANY))
    people, bias = kind.people * people, mixed_sessions.BIAS * bias
    of_fakes, of_reals = mixed_sessions.scales(kind)
    z, rest = ndtri(kind.rates[1]) * of_fakes, math.sqrt(1 + kind.pictures**2)
    fakes = [ndtr((z + people + bias + mixed_sessions.OF_MODEL * own) / rest) for own in leaning]
    reals = ndtr((ndtri(mixed_sessions.REALS_RATE) * of_reals + people - bias) / rest)
    values = [(one + reals) / 2 for one in fakes]
    share = float(values[0].mean())
    own, shared = ((rates * (1 - rates)).mean() / 4 / shown for rates in (fakes[0], reals))
    pictures = kind.pictures * rng.standard_normal(_MANY)
    of_picture = ndtr((z + pictures) / math.sqrt(of_fakes**2 - kind.pictures**2)).var()
    observed = values[0].var() + own * kind.size + shared
    spread = _known(share, share * (1 - share), observed, of_picture, pool, 2 * shown, kind.size)
    common = 1e4 * float(np.cov(*values)[0, 1] + shared) - spread.of_side(0, spread.images)
    return replace(spread, alike=common / spread.between)


def _known(
    share: float,
    within: float,
    observed: float,
    of_picture: float,
    pool: int,
    images: int = 100,
    models: int = 1,
) -> Spread:
    """Return the spread of a population that is known: shares (0 to 1) and variances of them.

    Args:
        observed: between the values of evaluators of so many images, each with pictures of their own.
    """
    spread = Spread(
        "m1", 100 * share, images, 1 - share, 0.0, 1e4 * within, 0.0, 1e4 * observed, _KNOWN,
        pictures=(pool, pool), of_picture=1e4 * of_picture, of_picture_df=_KNOWN, models=models,
    )  # fmt: skip
    sampled = spread.sampling(images)
    return replace(spread, between=spread.observed - sampled, sampled=sampled)


def _as_all_show(apart: float, people_sd: float, pictures_sd: float) -> float:
    """Return the difference of strengths that all answers show, where `simulated` has this one."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41)
    spread = 2 * (people_sd**2 + pictures_sd**2)
    own = apart * math.sqrt(1 + spread / 1.7**2)
    share = float(weights @ expit(own + math.sqrt(spread) * nodes) / weights.sum())
    return math.log(share / (1 - share))


def table(studies: int) -> Iterator[str]:
    """Yield a line for each cell."""
    for seed, make in enumerate(CELLS):
        cell = make()
        row = outcome(cell, studies, seed)
        yield (
            f"{cell.name}, {cell.evaluators} evaluators: width {row['width']:.3g} (planned "
            f"{row['width planned'] / row['width'] - 1:+.1%}, median "
            f"{row['median planned'] / row['median'] - 1:+.1%}), reached {row['reached']:.0%}; power "
            f"{row['power']:.3f} ({row['error']:.3f}; planned {row['power planned']:.3f})"
        )


def main() -> None:
    for line in table(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES):
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
