"""One value for each judge: the share of answers that were wrong, or the threshold exposure.

HYPE-infinity: percent of the evaluator's answers that were wrong (HYPE 2.2). HYPE-time: the mean over
blocks of the modal exposure of a block, in ms (HYPE 2.1). Values are kept twice: as floats for the
tests, and as whole numbers of a unit for the exact bootstrap.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from backend.analysis.bootstrap import Lattice, lattice_of
from backend.answers import Answers

_FINEST = 10**9


@dataclass(frozen=True)
class Values:
    """Values of one model's evaluators: shape (evaluators,)."""

    evaluators: list
    numbers: np.ndarray
    """Percent, or ms."""
    lattice: Lattice | None
    """None where the values share none that is coarse enough."""

    def __len__(self) -> int:
        return len(self.numbers)


def values_by_model(answers: Answers) -> dict[str, Values]:
    """Return the values of each model's evaluators, models in order of first appearance."""
    judges = answers.judges
    modes = modal_ms(answers) if answers.method == "time" else None
    return {
        model: _values(answers, np.flatnonzero(judges.model == code), modes)
        for code, model in enumerate(answers.model.names)
    }


def _values(answers: Answers, mine: np.ndarray, modes: list[Fraction] | None) -> Values:
    judges = answers.judges
    names = [answers.evaluator.names[code] for code in judges.evaluator[mine]]
    if modes is not None:
        exact = [modes[judge] for judge in mine]
        return Values(names, np.array([float(value) for value in exact]), lattice_of(exact))
    seen, wrong = judges.seen[mine], judges.wrong[mine]
    common = lcm(*(int(count) for count in np.unique(seen)))
    lattice = Lattice(100 * wrong * (common // seen), Fraction(1, common)) if common < _FINEST else None
    return Values(names, 100 * wrong / seen, lattice)


def modal_ms(answers: Answers) -> list[Fraction]:
    """Return, for each judge, the mean over blocks of the exposure (ms) shown most often in the block."""
    exact = {ms: Fraction(str(ms)) for ms in np.unique(answers.exposure_ms).tolist()}
    totals: dict[int, list[Fraction]] = {}
    for judge, ms in zip(*(column.tolist() for column in modal_exposures(answers)), strict=True):
        totals.setdefault(judge, []).append(exact[ms])
    return [sum(modes) / len(modes) for _, modes in sorted(totals.items())]


def modal_exposures(answers: Answers, column: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return, for each block, its judge and the exposure (ms) that came up most often in it.

    Of exposures that came up equally often the shortest counts, as in `staircase.modal_exposure`.

    Args:
        column: exposures (ms) of the answers; default, their `exposure_ms`.
    """
    exposures, shown = np.unique(answers.exposure_ms if column is None else column, return_inverse=True)
    blocks = int(answers.block.max()) + 1
    visits = answers.judges.of_response.astype(np.int64) * blocks + answers.block
    cells, counts = np.unique(visits * len(exposures) + shown, return_counts=True)
    visit, exposure = cells // len(exposures), cells % len(exposures)
    # cells stand by visit and exposure; a stable sort by falling count puts each visit's mode first
    order = np.lexsort((exposure, -counts, visit))
    found, first = np.unique(visit[order], return_index=True)
    return found // blocks, exposures[exposure[order][first]]
