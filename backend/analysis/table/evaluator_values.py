"""The value of each judge: the share of wrong answers, or the threshold exposure.

HYPE-infinity: percentage of the evaluator's answers that were wrong (HYPE 2.2), half of them to reals, an
answer `not_sure` being half wrong; if
the sides differ in number (`recognition.py`), the mean of the errors on fakes and on reals.
HYPE-time: the mean over blocks of the modal exposure of a block, in ms (HYPE 2.1). Values are stored
twice: as floats for the tests, and as integer multiples of a unit for the exact bootstrap.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np

from backend.analysis.distributions.bootstrap import Lattice, lattice_of
from backend.analysis.table.response_table import Answers, Judges

_FINEST = 10**9


@dataclass(frozen=True)
class Values:
    """Values of one model's evaluators: shape (evaluators,)."""

    evaluators: list[Any]
    numbers: np.ndarray
    """Percent, or ms."""
    lattice: Lattice | None
    """None if the values share no lattice that is coarse enough."""

    def __len__(self) -> int:
        return len(self.numbers)


def values_by_model(answers: Answers) -> dict[str, Values]:
    """Return the values of each model's evaluators, models in order of first appearance."""
    judges = answers.judges
    modes = None if answers.has_shares else modal_ms(answers)
    return {
        model: one_model(answers, np.flatnonzero(judges.model == code), modes)
        for code, model in enumerate(answers.model.names)
    }


def one_model(answers: Answers, mine: np.ndarray, modes: list[Fraction] | None = None) -> Values:
    """Return the values of the judges with the indices `mine`.

    Args:
        modes: for HYPE-time, the result of `modal_ms`.
    """
    judges = answers.judges
    names = [answers.evaluator.names[code] for code in judges.evaluator[mine]]
    if modes is not None:
        exact = [modes[judge] for judge in mine]
        return Values(names, np.array([float(value) for value in exact]), lattice_of(exact))
    if answers.is_balanced:
        return balanced(judges, mine, names)
    return plain(judges, mine, names)


def plain(judges: Judges, mine: np.ndarray, names: list[Any]) -> Values:
    """Return the shares of wrong answers, in percent.

    Args:
        mine: indices of the judges.
        names: names of their evaluators.
    """
    seen, halves = judges.seen[mine], _halves(judges.wrong[mine])
    common = lcm(*(int(count) for count in np.unique(seen)))
    lattice = Lattice(50 * halves * (common // seen), Fraction(1, common)) if common < _FINEST else None
    return Values(names, 50 * halves / seen, lattice)


def balanced(judges: Judges, mine: np.ndarray, names: list[Any]) -> Values:
    """Return the means of the errors on fakes and on reals, in percent; arguments as for `plain`.

    For a judge who saw only one side, it is the error on that side.
    """
    errors = ((judges.wrong_fakes, judges.fakes), (judges.wrong_reals, judges.reals))
    sides = [(_halves(wrong[mine]), seen[mine]) for wrong, seen in errors]
    did_see = sum((seen > 0).astype(int) for _, seen in sides)
    common = lcm(*(int(count) for _, seen in sides for count in np.unique(seen[seen > 0])))
    numbers = sum(50 * halves / np.maximum(seen, 1) for halves, seen in sides) / did_see
    if common >= _FINEST:
        return Values(names, numbers, None)
    whole = sum(50 * halves * (common // np.maximum(seen, 1)) * (2 // did_see) for halves, seen in sides)
    return Values(names, numbers, Lattice(whole, Fraction(1, 2 * common)))


def _halves(errors: np.ndarray) -> np.ndarray:
    """Return sums of errors, which are multiples of 0.5, in halves of an error: exact integers."""
    result: np.ndarray = np.rint(2 * errors).astype(np.int64)
    return result


def modal_ms(answers: Answers) -> list[Fraction]:
    """Return, for each judge, the mean over blocks of the exposure (ms) shown most often in the block."""
    exact = {ms: Fraction(str(ms)) for ms in np.unique(answers.exposures_ms).tolist()}
    totals: dict[int, list[Fraction]] = {}
    for judge, ms in zip(*(column.tolist() for column in modal_exposures(answers)), strict=True):
        totals.setdefault(judge, []).append(exact[ms])
    return [sum(modes, Fraction()) / len(modes) for _, modes in sorted(totals.items())]


def modal_exposures(answers: Answers, column: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each block, its judge and its modal exposure (ms).

    Ties go to the shortest exposure, as in `staircase.modal_exposure`.

    Args:
        column: exposures (ms) of the answers; default, their `exposure_ms`.
    """
    exposures, shown = np.unique(answers.exposures_ms if column is None else column, return_inverse=True)
    blocks = int(answers.blocks.max()) + 1
    visits = answers.judges.of_response.astype(np.int64) * blocks + answers.blocks
    cells, counts = np.unique(visits * len(exposures) + shown, return_counts=True)
    visit, exposure = cells // len(exposures), cells % len(exposures)
    # cells are ordered by visit and exposure; sorting by decreasing count puts each visit's mode first
    order = np.lexsort((exposure, -counts, visit))
    starts, first = np.unique(visit[order], return_index=True)
    return starts // blocks, exposures[exposure[order][first]]
