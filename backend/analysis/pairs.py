"""Which of two is real: accuracy, sensitivity and the bias to one side.

The answer to a pair compares two pictures, one of them real. An observer without a bias to a side whose
impressions of real and fake differ by d' (in SDs of one of them) is right in Phi(d' / sqrt 2) of pairs, so
that d' = sqrt(2) z(accuracy). With H the share of `right` where the real picture stands right, and F where it
stands left, d' = (z(H) - z(F)) / sqrt(2) whatever the bias, and the bias is c = -(z(H) + z(F)) / 2, above 0
for a bias to the left (Macmillan and Creelman, 2005, chapter 7; sqrt(2) c is in units of the difference).
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from backend.analysis.detection import detection
from backend.analysis.distributions.binomial import two_sided
from backend.analysis.table.response_table import BESIDE, Answers

_ROOT = math.sqrt(2)


def sensitivity_of_pairs(error: float) -> float | None:
    """Return d' for a share of pairs judged wrong (0 to 1); None for 0 and 1, where it is infinite."""
    return _ROOT * float(ndtri(1 - error)) if 0 < error < 1 else None


def accuracy(score: float, ci: Sequence[float] | None) -> dict[str, Any]:
    """Return accuracy (percent) and d' of a score, the percentage of pairs judged wrong, with intervals.

    An interval of d' is that of the accuracy, transformed; an end that is infinite is None.
    """
    ends = None if ci is None else [100 - ci[1], 100 - ci[0]]
    return {
        "accuracy": 100 - score,
        "accuracy_ci": ends,
        "d_prime": sensitivity_of_pairs(score / 100),
        "d_prime_ci": ends and [sensitivity_of_pairs(1 - end / 100) for end in ends],
    }


def over_evaluators(answers: Answers, judged: Answers, model: str, level: float) -> dict[str, Any] | None:
    """Return means over a model's evaluators of d' without the bias, and of the bias c to a side.

    Counts are corrected by the log-linear rule (`detection.py`). None if nobody saw reals on both sides.

    Args:
        judged: the same responses with the fake as `stimulus` and the real picture beside it.
    """
    beside = judged.texts.get(BESIDE)
    pictures = (judged.image_ranks, *([beside.ranks[beside.codes]] if beside else []))
    row = detection(answers, answers.model.names.index(model), level, pictures)
    if row is None:
        return None
    return {
        "evaluator_d_prime": row["d_prime"] / _ROOT,
        "evaluator_d_prime_ci": row["d_prime_ci"] and [end / _ROOT for end in row["d_prime_ci"]],
        "criterion": row["criterion"],
        "criterion_ci": row["criterion_ci"],
        "evaluators": row["evaluators"],
    }


def sides(answers: Answers, level: float) -> dict[str, Any]:
    """Return how often people chose the right side, and the errors by the side of the real picture.

    Returns:
        `said_right` (percent of all answers) and `real_right` (percent of all pairs); `people`, how many
        evaluators chose one side more often than chance allows (two-sided binomial p below 1 - `level`,
        against the share of pairs with the real right, answers `not_sure` apart), of `evaluators`; and the
        errors in percent of pairs with the real left (`left_error`) and right (`right_error`), None without
        such pairs.
    """
    wrong, is_right, decided = answers.error, answers.is_fake, answers.is_decided
    people = answers.evaluator.codes
    count = np.bincount(people, decided).astype(int)
    said = np.bincount(people, answers.said_fake & decided).astype(int)
    p = float(is_right.mean())
    leaning = int((two_sided(said, count, p) < 1 - level).sum()) if 0 < p < 1 else 0
    return {
        "said_right": 100 * float(answers.said.mean()),
        "real_right": 100 * p,
        "left_error": _percent(wrong[~is_right]),
        "right_error": _percent(wrong[is_right]),
        "people": leaning,
        "evaluators": len(count),
    }


def _percent(wrong: np.ndarray) -> float | None:
    return 100 * float(wrong.mean()) if len(wrong) else None
