"""Validation of equivalence between models, and of their effect sizes over evaluators and pictures.

Studies are those of `mixed_sessions.py`; the score of two models differs by exactly the margin, where false
verdicts of "equivalent" are most frequent, or not at all. `table` returns the share of studies with a false
verdict, that in which models of equal scores are called equivalent, and the coverage of the intervals of d.
`python -m validate.equivalence [STUDIES]` prints the table.
"""

import sys
from collections.abc import Iterator
from math import sqrt

import numpy as np

from backend.analysis.score_intervals import between_models, score_details
from backend.analysis.scores import groups_of
from backend.analysis.table.evaluator_values import values_by_model
from backend.analysis.table.response_table import Answers
from validate.mixed_sessions import LEVEL, REALS_RATE, Kind, study

STUDIES = 600
KINDS = tuple(
    (Kind(rates, evaluators, size, pool), round(50 * (rates[-1] - rates[0]), 6))
    for rates, sizes in (((0.4, 0.5), (1, 2)), ((0.3, 0.7), (1, 2)), ((0.02, 0.42), (1, 2)),
                         ((0.3, 0.3, 0.7, 0.7), (1, 4)))
    for size in sizes
    for evaluators, pool in ((5, 60), (10, None), (30, 20), (30, 100), (30, 5000), (60, 20), (60, None))
)  # fmt: skip
"""Kinds of studies, each with the margin, which is the largest difference of scores."""


def outcome(kind: Kind, margin: float, rng: np.random.Generator, studies: int) -> dict[str, float | None]:
    """Return shares of studies with a false and with a right verdict, and the coverage of d."""
    false, right, covered, pairs = 0, 0, 0, 0
    for _ in range(studies):
        over = _tested(study(kind, rng), margin)
        rows = over["pairs"] if over else []  # of five evaluators, all may err equally often
        called = {_rates(kind, row) for row in rows if row["equivalence"]["p_holm"] < 1 - LEVEL}
        false += any(a != b for a, b in called)
        right += any(a == b for a, b in called)
        for row in rows:
            low, high = row["effect"]["d_ci"]
            covered += low <= _true_d(*_rates(kind, row)) <= high
        pairs += len(rows)
    has_equal = len({*kind.rates}) < len(kind.rates)
    return {
        "false": false / studies,
        "right": right / studies if has_equal else None,
        "d_covers": covered / pairs,
    }


def _tested(answers: Answers, margin: float) -> dict | None:
    """Return `over_pictures` of the scores, without the rest of them, which takes most of the time."""
    values = values_by_model(answers)
    groups = groups_of(values, answers.model.names)
    return between_models(answers, values, groups, score_details(answers, values, LEVEL), LEVEL, margin)


def _rates(kind: Kind, row: dict) -> tuple[float, float]:
    a, b = (kind.rates[int(row[side][1:])] for side in ("a", "b"))
    return a, b


def _true_d(a: float, b: float) -> float:
    variance = ((a * (1 - a) + b * (1 - b)) / 2 + REALS_RATE * (1 - REALS_RATE)) / 2
    return (a - b) / 2 / sqrt(variance)


def table(studies: int = STUDIES, seed: int = 1) -> Iterator[dict]:
    """Yield the outcome of each kind of study."""
    rng = np.random.default_rng(seed)
    for kind, margin in KINDS:
        yield {"kind": kind, "margin": margin, **outcome(kind, margin, rng, studies)}


def run() -> dict:
    """Return the highest share of false verdicts, and the lowest coverage of d."""
    rows = [*table()]
    false, covers = max(row["false"] for row in rows), min(row["d_covers"] for row in rows)
    most, least = (
        share + shift * sqrt(share * (1 - share) / STUDIES) for share, shift in ((0.06, 3), (0.93, -3))
    )
    return {
        "equivalence: false verdicts at the edge of the margin at 5%, most of all kinds": {
            "value": false,
            "agrees_if": f"at most {most:.3f}",
            "agrees": false <= most,
        },
        "equivalence: coverage of d over evaluators and pictures, least of all kinds": {
            "value": covers,
            "agrees_if": f"at least {least:.3f}",
            "agrees": covers >= least,
        },
    }


def main() -> None:
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    for row in table(studies):
        kind, margin = row.pop("kind"), row.pop("margin")
        print(kind, margin, {n: v and round(v, 3) for n, v in row.items()}, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
