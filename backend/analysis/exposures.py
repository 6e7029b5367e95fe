"""HYPE-time besides the mode: reversals of the staircases, and the psychometric functions.

A block's trials are taken in the order of `trial_index` where it is there, else of the rows. A reversal
is a trial at which the exposure turns from falling to rising or back; their mean leaves out the first,
which tells where the staircase began (and one more where that leaves an odd number: Levitt, 1971, takes
reversals in pairs).
"""

from typing import Any

import numpy as np
from scipy.special import stdtrit

from backend.analysis import psychometric
from backend.analysis.psychometric import Fit, Trials
from backend.answers import Answers

FEWEST_TRIALS = 30
"""Of an evaluator, below which no function is fitted to them alone."""


def staircases(answers: Answers) -> list[dict[str, Any]]:
    """Return one row a block: model, evaluator, block, `exposure_ms` and `was_correct` by trial."""
    rows = []
    for judge, some in _by_judge(answers):
        for block in np.unique(answers.block[some]):
            trials = _in_order(answers, some[answers.block[some] == block])
            rows.append(
                {
                    "model": answers.model.names[answers.judges.model[judge]],
                    "evaluator": answers.evaluator.names[answers.judges.evaluator[judge]],
                    "block": int(block),
                    "exposure_ms": answers.exposure_ms[trials].tolist(),
                    "was_correct": (~answers.was_wrong[trials]).tolist(),
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
    answers: Answers, model: int, level: float, at: float, rng: np.random.Generator
) -> dict[str, Any]:
    """Return a model's mean of reversals and psychometric functions, pooled and by evaluator.

    Args:
        model: code of `answers.model`.
        at: accuracy (0 to 1) of the threshold.
        rng: for the goodness of fit.
    """
    rows, reversals, thresholds = [], [], []
    for judge, some in _by_judge(answers):
        if answers.judges.model[judge] != model:
            continue
        reversal = _reversals(answers, some)
        fit = _fit(answers, some, level, at, rng) if len(some) >= FEWEST_TRIALS else None
        name = answers.evaluator.names[answers.judges.evaluator[judge]]
        rows.append({"evaluator": name, "reversal_ms": reversal, "psychometric": fit and plain(fit)})
        reversals += [reversal] if reversal is not None else []
        thresholds += [fit.threshold_ms] if fit and fit.threshold_ms else []
    mine = np.flatnonzero(answers.model.codes == model)
    return {
        "reversal_ms": _mean(reversals, level),
        "threshold_ms": {**_mean(thresholds, level), "at": at},
        "pooled": plain(_fit(answers, mine, level, at, rng)),
        "points": _points(answers, mine),
        "evaluators": rows,
    }


def plain(fit: Fit) -> dict[str, Any]:
    """Return a fit as plain data."""
    return {name: value for name, value in vars(fit).items() if name != "ci"} | {"ci": fit.ci and [*fit.ci]}


def _reversals(answers: Answers, some: np.ndarray) -> float | None:
    """Return the mean over blocks of a judge's means of reversals (ms)."""
    blocks = (some[answers.block[some] == block] for block in np.unique(answers.block[some]))
    means = [reversal_mean(answers.exposure_ms[_in_order(answers, block)]) for block in blocks]
    known = [mean for mean in means if mean is not None]
    return float(np.mean(known)) if known else None


def _fit(answers: Answers, some: np.ndarray, level: float, at: float, rng: np.random.Generator) -> Fit:
    trials = Trials.of(answers.exposure_ms[some], ~answers.was_wrong[some])
    return psychometric.fit(trials, at=at, level=level, rng=rng)


def _points(answers: Answers, some: np.ndarray) -> list[dict[str, Any]]:
    """Return how many answers were right at each exposure."""
    trials = Trials.of(answers.exposure_ms[some], ~answers.was_wrong[some])
    return [
        {"exposure_ms": float(np.exp(log_ms)), "right": int(right), "total": int(total)}
        for log_ms, right, total in zip(trials.log_ms, trials.right, trials.total, strict=True)
    ]


def _mean(values: list[float], level: float) -> dict[str, Any]:
    """Return the mean over evaluators with Student's interval."""
    if not values:
        return {"mean": None, "ci": None, "evaluators": 0}
    numbers = np.array(values)
    ci = None
    if len(numbers) > 1:
        half = float(stdtrit(len(numbers) - 1, (1 + level) / 2) * numbers.std(ddof=1)) / len(numbers) ** 0.5
        ci = [float(numbers.mean()) - half, float(numbers.mean()) + half]
    return {"mean": float(numbers.mean()), "ci": ci, "evaluators": len(numbers)}


def _by_judge(answers: Answers):
    """Yield (judge, places of the judge's responses)."""
    judge = answers.judges.of_response
    order = np.argsort(judge, kind="stable")
    found, first = np.unique(judge[order], return_index=True)
    yield from zip(found.tolist(), np.split(order, first[1:]), strict=True)


def _in_order(answers: Answers, some: np.ndarray) -> np.ndarray:
    trial = answers.numbers.get("trial_index")
    return some if trial is None else some[np.argsort(trial[some], kind="stable")]
