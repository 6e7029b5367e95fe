"""Other measures of HYPE-time than the mode: reversals of the staircases, and psychometric functions.

A block's trials are ordered by `trial_index` if the column exists, else by row. A reversal is a trial at
which the exposure changes from falling to rising or vice versa. Their mean omits the first, which depends
on where the staircase began (and one more if an odd number is left: Levitt, 1971, uses pairs of reversals).

Not every evaluator's function reaches the accuracy of the threshold at the exposures shown. A mean over
those that do is a mean over the better evaluators. So the median over evaluators counts the others as
beyond the longest exposure; it is the advised summary. If half or more are beyond, it is the threshold
of the pooled answers. Each staircase stays where its own evaluator has about the same accuracy, so that the
pooled function may be nearly flat: its threshold has no interval (that of the profile likelihood covered 88
to 100%, often without an end).

The mean of reversals has none either: a few slow people determine it, of whom 20 evaluators often
have none. The median over evaluators has one that holds whatever the distribution.

Functions have no test of their fit: the exposures follow the answers, and against data sets
drawn at the exposures shown, up to a quarter of true functions have p < .05.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from backend.analysis.distributions.binomial import median_rank
from backend.analysis.models import psychometric
from backend.analysis.models.psychometric import Fit, Trials
from backend.analysis.table.response_table import Answers

FEWEST_TRIALS = 30
"""Trials of an evaluator below which no individual function is fitted."""


def staircases(answers: Answers) -> list[dict[str, Any]]:
    """Return a row for each block: model, evaluator, block, `exposure_ms` and `was_correct` by trial."""
    rows, blocks, exposures = [], answers.blocks, answers.exposures_ms
    for judge, some in enumerate(answers.judges.responses):
        for block in np.unique(blocks[some]):
            trials = _in_order(answers, some[blocks[some] == block])
            rows.append(
                {
                    "model": answers.model.names[answers.judges.model[judge]],
                    "evaluator": answers.evaluator.names[answers.judges.evaluator[judge]],
                    "block": int(block),
                    "exposure_ms": exposures[trials].tolist(),
                    "was_correct": (answers.error[trials] == 0).tolist(),
                }
            )
    return rows


def reversal_mean(exposure_ms: np.ndarray) -> float | None:
    """Return the mean exposure (ms) at a block's reversals; None with fewer than three."""
    moves = np.diff(exposure_ms)
    moved = np.flatnonzero(moves)
    turns = moved[1:][np.sign(moves[moved[1:]]) != np.sign(moves[moved[:-1]])]
    if len(turns) < 3:
        return None
    first = 1 if len(turns) % 2 else 2
    return float(exposure_ms[turns[first:]].mean())


def exposures_of(
    answers: Answers,
    model: int,
    level: float,
    at: float,
    is_each_with_ci: bool = True,
) -> dict[str, Any]:
    """Return a model's mean of reversals and psychometric functions, pooled and by evaluator.

    Args:
        model: code of `answers.model`.
        at: accuracy (0 to 1) of the threshold.
        is_each_with_ci: whether evaluators' own thresholds have intervals, which take most of the time.
    """
    rows, reversals, thresholds = [], [], []
    mine = answers.of_model[model]
    shown = answers.exposures_ms[mine]
    for judge in np.flatnonzero(answers.judges.model == model).tolist():
        some = answers.judges.responses[judge]
        reversal = _reversals(answers, some)
        fit = None
        if len(some) >= FEWEST_TRIALS:
            trials = trials_of(answers, some)
            fit = psychometric.fit(trials, at=at, level=level if is_each_with_ci else None)
            thresholds.append(fit.threshold_ms)
        name = answers.evaluator.names[answers.judges.evaluator[judge]]
        rows.append({"evaluator": name, "reversal_ms": reversal, "psychometric": fit and _untested(fit)})
        reversals += [reversal] if reversal is not None else []
    everything = trials_of(answers, mine)
    return {
        "reversal_ms": {
            **_mean(reversals),
            "median": float(np.median(reversals)) if reversals else None,
            "median_ci": _median_interval(sorted(reversals), level),
        },
        "threshold_ms": {
            **over_evaluators(thresholds, float(shown.min()), float(shown.max()), level),
            "at": at,
        },
        "pooled": _untested(psychometric.fit(everything, at=at, level=None)),
        "points": _points(everything),
        "evaluators": rows,
    }


def plain(fit: Fit) -> dict[str, Any]:
    """Return a fit as plain data."""
    return {**vars(fit), "ci": fit.ci and [*fit.ci], "at_bound": [*fit.at_bound]}


def _untested(fit: Fit) -> dict[str, Any]:
    return {key: value for key, value in plain(fit).items() if key != "p"}


def _reversals(answers: Answers, some: np.ndarray) -> float | None:
    """Return the mean over blocks of a judge's means of reversals (ms)."""
    block = answers.blocks[some]
    blocks = (some[block == one] for one in np.unique(block))
    means = [reversal_mean(answers.exposures_ms[_in_order(answers, one)]) for one in blocks]
    known = [mean for mean in means if mean is not None]
    return float(np.mean(known)) if known else None


def over_evaluators(
    thresholds: Sequence[float | None], shortest_ms: float, longest_ms: float, level: float
) -> dict[str, Any]:
    """Return median and mean of evaluators' thresholds (ms), with those outside the exposures shown censored.

    `median_ci` is the interval between two order statistics, with a coverage by the binomial distribution
    of at least `level`; an end that is outside is None, and so is the median. `mean` is over the
    `evaluators` who are neither `below` the shortest exposure nor `beyond` the longest, and so is wrong if
    any is.
    """
    reached = sorted(ms for ms in thresholds if ms is not None and shortest_ms <= ms <= longest_ms)
    below = sum(ms is not None and ms < shortest_ms for ms in thresholds)
    count, beyond = len(thresholds), len(thresholds) - len(reached) - below
    ranked = [*[None] * below, *reached, *[None] * beyond]
    middle = ranked[(count - 1) // 2 : count // 2 + 1]
    known = [ms for ms in middle if ms is not None]
    is_known = bool(known) and len(known) == len(middle)
    return {
        **_mean(reached),
        "median": sum(known) / len(known) if is_known else None,
        "median_ci": _median_interval(ranked, level),
        "fitted": count,
        "below": below,
        "beyond": beyond,
        "advised": "median" if is_known else "pooled",
    }


def trials_of(answers: Answers, some: np.ndarray) -> Trials:
    """Return some answers as trials of a psychometric function."""
    return Trials.of(answers.exposures_ms[some], 1 - answers.error[some])


def _points(trials: Trials) -> list[dict[str, Any]]:
    """Return the numbers of right answers and of all answers at each exposure."""
    return [
        {"exposure_ms": ms, "right": int(right), "total": int(total)}
        for ms, right, total in zip(trials.exposure_ms.tolist(), trials.right, trials.total, strict=True)
    ]


def _mean(values: list[float]) -> dict[str, Any]:
    """Return the mean over evaluators, and their number."""
    return {"mean": float(np.mean(values)) if values else None, "evaluators": len(values)}


def _median_interval(ranked: list[Any], level: float) -> list[Any] | None:
    """Return the interval of the median between two of the ranked values; None if there are too few."""
    k = median_rank(len(ranked), level)
    return [ranked[k - 1], ranked[len(ranked) - k]] if k else None


def _in_order(answers: Answers, some: np.ndarray) -> np.ndarray:
    trial = answers.numbers.get("trial_index")
    return some if trial is None else some[np.argsort(trial[some], kind="stable")]
