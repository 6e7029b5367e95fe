"""Validation of tournaments: strengths against choix and evalica, their recovery, and the choice of pairs.

Simulated judges have known strengths. `recovery` returns bias and coverage of strengths and of ranges of
ranks; `designs` the root mean square error of strengths by the number of answers, for pairs that are chosen
as sessions choose them (`experiment/pair_design.py`) and for pairs at random.
`python -m validate.tournaments [FIGURE.png]` prints both tables, and draws the second.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from scipy.special import ndtri

from backend.analysis.models.bradley_terry import Games, fit
from backend.analysis.models.paired_answers import PairedAnswers
from backend.analysis.models.tournament import fit_strengths, strengths
from backend.experiment.pair_design import Tally, session_pairs, standing
from validate.studies import deviations

SPREADS = (0.0, 1.0, 2.0)
"""SDs of the true strengths, in log-odds."""
MODELS, TRIALS, MARKS = 20, 50, (5, 10, 20, 30, 40)
"""Models of the designs, pairs of a session, and the numbers of sessions after which errors are computed."""
STUDIES, TOURNAMENTS = 100, 150
PICTURES_SD = 0.8
"""SD of the strengths of single pictures of a model, in log-odds."""


def run() -> dict[str, Any]:
    """Return the results by name, each with `value`, `agrees` and `agrees_if`."""
    results = {}
    for name, difference in _against_libraries().items():
        results[f"strengths, greatest difference to {name}"] = {
            "value": difference, "agrees": difference < 1e-6, "agrees_if": "below 1e-6"
        }  # fmt: skip
    for row in recovery():
        results[f"tournament, coverage of strengths, {row['what']}"] = {
            "value": row["coverage"], "agrees": 0.92 <= row["coverage"] <= 0.98, "agrees_if": "0.92 to 0.98"
        }  # fmt: skip
        results[f"tournament, coverage of ranges of ranks, {row['what']}"] = {
            "value": row["ranks"], "agrees": row["ranks"] >= 0.92, "agrees_if": "0.92 or more"
        }  # fmt: skip
    found = designs()
    for spread in SPREADS:
        ratio = float(np.mean(np.divide(found["chosen", spread], found["random", spread])))
        results[f"tournament, error of chosen to random pairs, SD {spread:g}"] = {
            "value": ratio, "agrees": ratio < 1.03, "agrees_if": "below 1.03"
        }  # fmt: skip
    return results


def _against_libraries() -> dict[str, float]:
    """Return the greatest difference of strengths of 12 models to those of each library."""
    import choix
    import evalica

    rng, size = np.random.default_rng(3), 12
    true = rng.normal(0, 1, size)
    first, second = np.triu_indices(size, 1)
    wins = rng.binomial(15, 1 / (1 + np.exp(true[second] - true[first])))
    counts = np.stack([wins, np.zeros_like(wins), 15 - wins], axis=1).astype(float)
    ours = fit(Games(size, first, second), counts, ties=False).strengths
    won = [pair for a, b, n in zip(first, second, wins, strict=True) for pair in [(int(a), int(b))] * n]
    won += [
        pair for a, b, n in zip(first, second, wins, strict=True) for pair in [(int(b), int(a))] * (15 - n)
    ]
    theirs = choix.ilsr_pairwise(size, won, max_iter=10_000, tol=1e-12)
    winner = [evalica.Winner.X] * len(won)
    found = evalica.bradley_terry(*zip(*won, strict=True), winner, tolerance=1e-12, limit=100_000)
    worth = np.log([found.scores[i] for i in range(size)])
    return {
        "choix": float(np.abs(theirs - theirs.mean() - ours).max()),
        "evalica": float(np.abs(worth - worth.mean() - ours).max()),
    }


def recovery() -> Iterator[dict[str, Any]]:
    """Yield bias, and coverage of strengths and of ranges of ranks, for kinds of tournaments."""
    kinds = {
        "30 evaluators": (6, 30, 30, 1.0, 0.0, 0, 0.0),
        "30 evaluators, ties": (6, 30, 30, 1.0, 0.5, 0, 0.0),
        "10 evaluators": (6, 10, 30, 1.0, 0.0, 0, 0.0),
        "equal models": (6, 30, 30, 0.0, 0.0, 0, 0.0),
        "12 models, ties": (12, 30, 40, 1.5, 0.5, 0, 0.0),
        "4 equal models, 20 shared pictures": (4, 30, 60, 0.0, 0.0, 20, 0.3),
        "6 equal models, 50 shared pictures": (6, 30, 60, 0.0, 0.0, 50, 0.3),
        "6 models, ties, 200 shared pictures": (6, 30, 60, 1.0, 0.5, 200, 0.3),
        "6 equal models, 10 evaluators, 50 shared pictures": (6, 10, 60, 0.0, 0.0, 50, 0.3),
    }
    for what, (size, people, trials, span, ties, pictures, people_sd) in kinds.items():
        true, rng = span * np.linspace(-1, 1, size), np.random.default_rng(7)
        best = [1 + (true > one + 1e-9).sum() for one in true]
        worst = [size - (true < one - 1e-9).sum() for one in true]
        seen, covered, ranked = [], [], []
        for _ in range(TOURNAMENTS):
            answers = simulated(true, people, trials, ties, rng, pictures, people_sd)
            found = strengths(answers, fit_strengths(answers, rng, 600), 0.95)
            rows = {row["model"]: row for row in found["contestants"]}
            own = [rows[name] for name in answers.contestants]
            seen.append([row["strength"] for row in own])
            covered.append([row["ci"][0] <= t <= row["ci"][1] for row, t in zip(own, true, strict=True)])
            ranked.append(
                all(
                    r["ranks"][0] <= b and w <= r["ranks"][1]
                    for r, b, w in zip(own, best, worst, strict=True)
                )
            )
        yield {
            "what": what,
            "bias": float(np.abs(np.mean(seen, axis=0) - true).max()),
            "coverage": float(np.mean(covered)),
            "ranks": float(np.mean(ranked)),
        }


def simulated(
    true: np.ndarray,
    people: int,
    trials: int,
    ties: float,
    rng: Any,
    pictures: int = 0,
    people_sd: float = 0.0,
    pictures_sd: float = PICTURES_SD,
    shape: str = "normal",
    of_pictures: Any = None,
) -> PairedAnswers:
    """Return answers of people who differ, in log-odds, by `people_sd` in what they think of a model.

    `true` are the strengths of all people's answers to all pictures, which are smaller than one person's.

    Args:
        pictures: of each model, shared by all people, whose own strengths have an SD of `pictures_sd`; 0 for
            pictures that are all alike and have no names.
        shape: distribution of what people think, as in `studies.deviations`.
        of_pictures: draws the pictures' strengths; default, `rng`.
    """
    size = len(true)
    first, second = np.triu_indices(size, 1)
    pair = np.concatenate([np.resize(rng.permutation(len(first)), trials) for _ in range(people)])
    whose = np.repeat(np.arange(people), trials)
    spread = people_sd**2 + (pictures_sd**2 if pictures else 0)
    own = true * np.sqrt(1 + 2 * spread / 1.7**2) + people_sd * deviations(shape, (people, size), rng)
    d = own[whose, first[pair]] - own[whose, second[pair]]
    shown = None
    if pictures:
        effects = (of_pictures or rng).normal(0, pictures_sd, (size, pictures))
        shown = np.stack([_dealt(whose, model[pair], pictures, rng) for model in (first, second)], axis=1)
        d += effects[first[pair], shown[:, 0]] - effects[second[pair], shown[:, 1]]
        shown += pictures * np.stack([first[pair], second[pair]], axis=1)
    drawn = rng.random(len(d)) * (np.exp(d / 2) + ties + np.exp(-d / 2))
    outcome = np.where(drawn < np.exp(d / 2), 0, np.where(drawn < np.exp(d / 2) + ties, 1, 2))
    names = tuple(f"{i:02d}" for i in range(size))
    everybody = tuple(map(str, range(people)))
    return PairedAnswers(names, everybody, first[pair], second[pair], outcome, whose, shown)


def _dealt(whose: np.ndarray, model: np.ndarray, pictures: int, rng: Any) -> np.ndarray:
    """Return a picture for each answer: each person sees those of a model in a random order."""
    found, order = np.empty(len(whose), int), np.lexsort((model, whose))
    is_next = (np.diff(whose[order]) != 0) | (np.diff(model[order]) != 0)
    for mine in np.split(order, 1 + np.flatnonzero(is_next)):
        found[mine] = np.resize(rng.permutation(pictures), len(mine))
    return found


def designs() -> dict[tuple[str, float], list[float]]:
    """Return the root mean square error of strengths after `MARKS` sessions, by design and spread."""
    found = {}
    for spread in SPREADS:
        true = spread * ndtri((np.arange(MODELS) + 0.5) / MODELS)
        for how in ("chosen", "random"):
            errors = np.array([_errors(true, how, seed) for seed in range(STUDIES)])
            found[how, spread] = [float(one) for one in np.sqrt((errors**2).mean(axis=0))]
    return found


def _errors(true: np.ndarray, how: str, seed: int) -> list[float]:
    rng, dice, size = np.random.default_rng(seed), Random(seed), len(true)
    first, second = np.triu_indices(size, 1)
    place = {pair: i for i, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    counts, errors = np.zeros((len(first), 3)), []
    for session in range(1, max(MARKS) + 1):
        if how == "random":
            pairs = rng.integers(len(first), size=TRIALS)
        else:
            now = standing(size, {pair: Tally(*counts[i]) for pair, i in place.items() if counts[i].any()})
            pairs = np.array([place[pair] for pair in session_pairs(now, TRIALS, dice)])
        is_first = rng.random(TRIALS) < 1 / (1 + np.exp(true[second[pairs]] - true[first[pairs]]))
        np.add.at(counts, (pairs, np.where(is_first, 0, 2)), 1)
        if session in MARKS:
            found = fit(Games(size, first, second), counts, ties=False).strengths
            errors.append(float(np.sqrt(((found - true + true.mean()) ** 2).mean())))
    return errors


def draw(found: dict[tuple[str, float], list[float]], path: Path) -> None:
    """Draw the errors of both designs by the number of answers."""
    import matplotlib

    from backend.report.figures import style

    with matplotlib.rc_context(style.settings()):
        drawn = style.figure(6.9, 2.4)
        panels = drawn.subplots(1, len(SPREADS), sharey=True)
        for axes, spread in zip(panels, SPREADS, strict=True):
            for i, how in enumerate(("chosen", "random")):
                axes.plot([mark * TRIALS for mark in MARKS], found[how, spread], label=how, **style.series(i))
            axes.set_title(f"SD of strengths {spread:g}")
            axes.set_xlabel("answers")
        panels[0].set_ylabel("RMSE (log-odds)")
        panels[0].legend()
        drawn.savefig(path, dpi=110, facecolor="#ffffff", metadata={"Software": None})


if __name__ == "__main__":
    for row in recovery():
        print(row)  # noqa: T201
    table = designs()
    for key, errors in table.items():
        print(*key, *(f"{error:.3f}" for error in errors))  # noqa: T201
    if len(sys.argv) > 1:
        draw(table, Path(sys.argv[1]))
