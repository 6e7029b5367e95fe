"""Bias of JND areas from few pairs, and coverage of intervals: area, average precision, their differences.

Four metrics, from useless to strong, with free distances and with distances of six values, score the votes of
one study. The evaluators are 30, or as many as a study of six such sets needs with 160 pairs a session, at
least five; 28% of answers are `same`, as in the paper. `python -m validate.jnd_areas` prints the tables of
docs/agreement.md.
"""

import sys
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
from scipy.special import ndtr

from backend.analysis.agreement import jnd
from backend.analysis.agreement.item_agreement import agreement
from backend.analysis.agreement.votes import JND
from validate.agreement import Judges

Row = dict[str, object]
Cell = dict[str, Any]
METRICS = {"useless": 1e6, "weak": 2.0, "middle": 0.8, "strong": 0.3}
"""SD of a metric's error; that of pairs' true differences is 1."""
ITEMS, VOTES = (30, 100, 300), (1, 2, 3)
_DISTANCES, _SESSION, _SETS, _FEWEST, _MOST = 6, 160, 6, 5, 30
_STUDIES = 400
_JUDGES = Judges(JND, mean=-0.86, noise=tuple(METRICS.values()))
_AREAS = ("area", "average precision")


def distances_of(values: np.ndarray, noise: float, is_tied: bool) -> np.ndarray:
    """Return a metric's distances, or the sixth of the population's distances in which they are."""
    if not is_tied:
        return values
    return np.floor(_DISTANCES * ndtr((values + _JUDGES.mean) / np.hypot(_JUDGES.item_sd, noise)))


def true_areas(pairs: int = 1_000_000) -> dict[str, tuple[float, float]]:
    """Return area and average precision (percent) of the population by metric, from chances of votes."""
    rng, found = np.random.default_rng(1), {}
    truth = _JUDGES.mean + _JUDGES.item_sd * rng.standard_normal(pairs)
    share = ndtr(truth / np.hypot(1, _JUDGES.bias_sd))
    for (name, noise), is_tied in product(METRICS.items(), (False, True)):
        distance = distances_of(-truth - noise * rng.standard_normal(pairs), noise, is_tied)
        areas = jnd.area(distance, share), jnd.average_precision(distance, share)
        found[f"{name}, tied" if is_tied else name] = (100 * areas[0], 100 * areas[1])
    return found


def cells(studies: int = _STUDIES) -> Iterator[Cell]:
    """Yield what the studies of each design have, by metric."""
    true = true_areas()
    for items, votes in product(ITEMS, VOTES):
        for evaluators in sorted({max(_FEWEST, -(-_SETS * items * votes // _SESSION)), _MOST}):
            rows: dict[str, list[list[float]]] = {name: [] for name in true}
            apart: dict[tuple[str, str], list[list[bool]]] = {pair: [] for pair in combinations(true, 2)}
            for seed in range(studies):
                rng = np.random.default_rng([39, items, votes, evaluators, seed])
                study, distances = _JUDGES.study(items, evaluators, votes, rng)
                metrics = {
                    f"{name}, tied" if is_tied else name: distances_of(values, noise, is_tied)
                    for (name, noise), values in zip(METRICS.items(), distances.values(), strict=True)
                    for is_tied in (False, True)
                }
                data = agreement(study, metrics)
                for row in data["pairs"]:
                    pair = row["a"], row["b"]
                    apart[pair].append(_is_held(row, np.subtract(*(true[name] for name in pair))))
                for row in data["metrics"]:
                    if row["score"] is not None:
                        rows[row["metric"]].append(_errors(row, true[row["metric"]]))
            for name, errors in rows.items():
                design = {"metric": name, "items": items, "votes": votes, "evaluators": evaluators}
                held = [np.mean(each, axis=0) for pair, each in apart.items() if pair[0] == name]
                yield design | {"errors": np.array(errors), "differences": np.array(held)}


def _is_held(row: dict[str, Any], true: np.ndarray) -> list[bool]:
    """Return whether the intervals of a difference hold the true values: of areas, of average precisions."""
    ends = [each["ci"] or (np.nan, np.nan) for each in (row, row["average_precision"])]
    return [low <= value <= high for (low, high), value in zip(ends, true, strict=True)]


def _errors(row: dict[str, Any], true: tuple[float, float]) -> list[float]:
    """Return error, estimated bias, and whether the interval holds the true value, of both areas."""
    found = []
    for estimate, value in zip((row, row["average_precision"]), true, strict=True):
        ci = estimate["ci"]
        found += [estimate["score"] - value, estimate["bias"]]
        found.append(np.nan if ci is None else float(ci[0] <= value <= ci[1]))
    return found


def run(studies: int = _STUDIES) -> dict[str, Row]:
    """Return the results by name."""
    found: dict[str, Row] = {}
    measured = [*cells(studies)]
    for place, area in enumerate(_AREAS):
        held = np.array([np.nanmean(cell["errors"][:, 3 * place + 2]) for cell in measured])
        apart = np.concatenate(
            [cell["differences"][:, place] for cell in measured if len(cell["differences"])]
        )
        for what, value, least in (
            (f"mean coverage of the interval of {area}, {len(held)} designs", held.mean(), 0.94),
            (f"least coverage of the interval of {area}, {len(held)} designs", held.min(), 0.88),
            (f"mean coverage of differences of {area}, {len(apart)} designs", apart.mean(), 0.93),
        ):
            name = f"JND: {what}"
            agrees_if = f">= {least} ({studies} studies a design, SE {100 * (0.0475 / studies) ** 0.5:.1f}%)"
            found[name] = {"value": float(value), "agrees_if": agrees_if, "agrees": bool(value >= least)}
        for items in ITEMS:
            errors = [cell["errors"].mean(axis=0) for cell in measured if cell["items"] == items]
            left = float(np.mean([each[3 * place] - each[3 * place + 1] for each in errors]))
            found[f"JND: bias of {area} less its estimate (points), {items} pairs"] = {
                "value": left, "agrees_if": "within 2", "agrees": abs(left) <= 2
            }  # fmt: skip
    return found


def main() -> None:
    """Print the table of docs/agreement.md: points, and percent of intervals; free distances, tied ones."""
    measured = [*cells(int(sys.argv[1]) if sys.argv[1:] else _STUDIES)]
    for name, items in product(METRICS, ITEMS):
        line = [f"{name}, {items} pairs"]
        for place in range(len(_AREAS)):
            held, biases = [], []
            for each in (name, f"{name}, tied"):
                here = [cell for cell in measured if (cell["metric"], cell["items"]) == (each, items)]
                means = np.array([np.nanmean(cell["errors"], axis=0) for cell in here])
                biases.append(means[:, 3 * place : 3 * place + 2].mean(axis=0))
                held += [*means[:, 3 * place + 2]]
            line += [f"{free:.1f}, {tied:.1f}" for free, tied in np.transpose(biases)]
            line.append(f"{100 * min(held):.1f} to {100 * max(held):.1f}%")
        print("|", " | ".join(line), "|")  # noqa: T201
    for items in ITEMS:
        here = [cell["differences"] for cell in measured if cell["items"] == items]
        apart = 100 * np.concatenate([each for each in here if len(each)])
        shares = [np.quantile(apart[:, place], (0, 0.1, 0.9, 1)).round(1) for place in range(len(_AREAS))]
        print(f"differences, {items} pairs: least, tenths, most of {len(apart)}", *shares)  # noqa: T201


if __name__ == "__main__":
    main()
