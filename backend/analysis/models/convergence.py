"""Where each interpretation of "3-up/1-down" converges for the papers' six models, by simulation.

Evaluators answer right with a probability drawn from Normal(1 - HYPE-infinity, SD between
evaluators), clipped to [0.3, 0.995]; 150 trials a block, 3 blocks, the mode of each block.
"""

import numpy as np

from backend.analysis.models.simulated_staircase import blocks, modal_exposures
from backend.experiment import published
from backend.experiment.observer import CHANCE, HIGHEST, LOWEST
from backend.experiment.published import PublishedModel
from backend.experiment.staircase import StaircaseRule, equilibrium_accuracy
from backend.foundation.errors import InvalidInput

READINGS = {
    "A: each right -30, each wrong +10": StaircaseRule(1, 30, 10),
    "B: each right -10, each wrong +30 (weighted-75)": StaircaseRule(1, 10, 30),
    "C: three in a row -30, each wrong +10 (hype-2019)": StaircaseRule(3, 30, 10),
    "D: three in a row -10, each wrong +30": StaircaseRule(3, 10, 30),
}


MODELS = tuple(sorted(published.MODELS, key=lambda model: model.percent))
"""The models with the lowest HYPE-infinity first."""
TAU_MS = 200
BIAS_AT_MS = (50, 100, 150, 250, 425, 670, 1000)
_BIAS_SLOPE, _BIAS_LAPSE = 2.0, 0.02
OBSERVERS = ("constant", "exponential")


def convergence_table(
    rng: np.random.Generator, evaluators: int = 4000, observer: str = "constant"
) -> dict[str, list[tuple[float, float]]]:
    """Return for each interpretation the (mean, SD between evaluators) of each model's values, ms.

    Args:
        observer: `constant`, or `exponential`: accuracy rises from 0.5 with exposure t as
            1 - exp(-t / 200 ms).

    Raises:
        InvalidInput: another observer, or fewer than two evaluators.
    """
    if observer not in OBSERVERS:
        raise InvalidInput(f"observer must be 'constant' or 'exponential', not {observer!r}")
    if evaluators < 2:
        raise InvalidInput(f"a simulation needs two evaluators or more, not {evaluators}")
    return {
        name: [_converged(rule, model, evaluators, observer, rng) for model in MODELS]
        for name, rule in READINGS.items()
    }


def evaluators_values(
    rule: StaircaseRule, best: np.ndarray, observer: str, rng: np.random.Generator, trials: int = 150
) -> np.ndarray:
    """Return each evaluator's value, ms: the mean over three blocks of the modal exposure.

    Args:
        best: (evaluators,) accuracy without a time limit, 0 to 1.
    """

    def accuracy(exposure_ms: np.ndarray) -> np.ndarray:
        if observer == "exponential":
            return CHANCE + (best - CHANCE) * -np.expm1(-exposure_ms / TAU_MS)
        return best

    modes = [modal_exposures(rule, accuracy, rng.random((trials, len(best)))) for _ in range(3)]
    result: np.ndarray = np.mean(modes, axis=0)
    return result


def bias_table(
    rule: StaircaseRule, rng: np.random.Generator, evaluators: int = 4000, trials: int = 150
) -> list[dict[str, float | None]]:
    """Return scores by the exposure at which evaluators have the accuracy that `rule` converges to.

    Their accuracy is the logistic of log exposure, of slope 2 with 2% of lapses; those of the last row guess.

    Returns:
        Rows of `threshold_ms` (None: guessing), `mode_ms` and its `sd_ms` between evaluators of three blocks,
        and the shares of blocks with a mode `at_floor` or `at_ceiling`, and that `reached_ceiling`.
    """
    settles = equilibrium_accuracy(rule)
    best, slope = 1 - _BIAS_LAPSE, _BIAS_SLOPE
    rows = []
    for threshold in (*BIAS_AT_MS, None):

        def accuracy(exposure_ms: np.ndarray, threshold: float | None = threshold) -> np.ndarray:
            if threshold is None:
                return np.full((len(exposure_ms), 1), CHANCE)
            reached = (settles - CHANCE) / (best - CHANCE)
            middle = np.log(threshold) - np.log(reached / (1 - reached)) / slope
            result: np.ndarray = CHANCE + (best - CHANCE) / (
                1 + np.exp(-slope * (np.log(exposure_ms) - middle))
            )
            return result

        modes, longest = zip(
            *(blocks(rule, accuracy, rng.random((trials, evaluators))) for _ in range(3)), strict=True
        )
        values = np.mean(modes, axis=0)
        rows.append(
            {
                "threshold_ms": threshold,
                "mode_ms": float(values.mean()),
                "sd_ms": float(values.std(ddof=1)),
                "at_floor": float((np.array(modes) == rule.min_ms).mean()),
                "at_ceiling": float((np.array(modes) == rule.max_ms).mean()),
                "reached_ceiling": float((np.array(longest) == rule.max_ms).mean()),
            }
        )
    return rows


def bias_as_table(rows: list[dict[str, float | None]]) -> str:
    """Return the table of bias as text."""
    heads = f"{'converges to (ms)':>15}  {'score (SD), ms':>16}  {'at floor':>8}"
    lines = [f"{heads}  {'at ceiling':>10}  {'reached it':>10}"]
    for row in rows:
        threshold = "guesses" if row["threshold_ms"] is None else f"{row['threshold_ms']:g}"
        score = f"{row['mode_ms']:.0f} ({row['sd_ms']:.0f})"
        floor, at, came = (f"{row[key]:.0%}" for key in ("at_floor", "at_ceiling", "reached_ceiling"))
        lines.append(f"{threshold:>15}  {score:>16}  {floor:>8}  {at:>10}  {came:>10}")
    return "\n".join(lines)


def as_table(table: dict[str, list[tuple[float, float]]]) -> str:
    """Return the table as text, with the published row and each rule's equilibrium."""
    head = ["reading, mean (SD) in ms", "converges to", *(model.label for model in MODELS)]
    printed = ["published", "", *(f"{model.ms:.0f} ({model.ms_sd:.0f})" for model in MODELS)]
    rows = [
        [
            name,
            f"{equilibrium_accuracy(READINGS[name]):.1%}",
            *(f"{mean:.0f} ({sd:.0f})" for mean, sd in cells),
        ]
        for name, cells in table.items()
    ]
    lines = [head, printed, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join(
        "  ".join(
            [line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))]
        )
        for line in lines
    )


def _converged(
    rule: StaircaseRule, model: PublishedModel, evaluators: int, observer: str, rng: np.random.Generator
) -> tuple[float, float]:
    accuracy, sd = 1 - model.percent / 100, model.percent_sd / 100
    best = np.clip(rng.normal(accuracy, sd, evaluators), LOWEST, HIGHEST)
    values = evaluators_values(rule, best, observer, rng)
    return float(values.mean()), float(values.std(ddof=1))
