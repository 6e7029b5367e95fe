"""Tests of a score against 50%: hyper-realistic, or indistinguishable from real?

Hyper-realism is tested with a one-sided t-test over evaluators that the score is above 50%.
Indistinguishability cannot be shown by a test that fails to reject; it is tested with two one-sided tests
(Schuirmann, 1987) that the score is within a margin of 50%.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import stdtr, stdtrit

from backend.analysis.repeated import holm
from backend.foundation.errors import InvalidInput

CHANCE = 50.0
MARGIN = 5.0
"""Percentage points on either side of 50% that still count as indistinguishable."""


def against_chance(values: np.ndarray, level: float = 0.95, margin: float = MARGIN) -> dict[str, Any] | None:
    """Return both tests for the values (percent) of a model's evaluators.

    The p-values are those of one model; `over_models` corrects for the number of models. None if there is
    only one evaluator or all have the same value, for which no test exists.

    Raises:
        InvalidInput: a margin that is not between 0 and 50 points.
    """
    count = len(values)
    if not 0 < margin < CHANCE:
        raise InvalidInput(f"the margin must be between 0 and 50 percentage points, not {margin:g}")
    if count < 2 or values.min() == values.max():
        return None
    error, df = float(values.std(ddof=1)) / math.sqrt(count), count - 1
    distance = float(values.mean()) - CHANCE
    t = distance / error
    p_above = float(stdtr(df, -t))
    p_within = float(max(stdtr(df, (distance - margin) / error), stdtr(df, -(distance + margin) / error)))
    half = float(stdtrit(df, level)) * error
    return {
        "hyperrealism": {"t": t, "df": df, "p": p_above, "p_below": float(stdtr(df, t))},
        "equivalence": {
            "margin": margin,
            "p": p_within,
            "ci": [CHANCE + distance - half, CHANCE + distance + half] if level > 0.5 else None,
            "ci_level": round(2 * level - 1, 12) if level > 0.5 else None,
        },
        "verdict": _verdict(p_above, p_within, p_below=float(stdtr(df, t)), alpha=1 - level, margin=margin),
    }


def over_models(tests: Sequence[dict[str, Any] | None], level: float = 0.95) -> list[dict[str, Any] | None]:
    """Return the tests of several models, with added p-values that are corrected for their number.

    `p_holm` and `p_below_holm` are Holm's (1979), for each question over all models that have a test; the
    verdict is based on them. For a single model they equal the uncorrected ones.
    """
    places = (("hyperrealism", "p"), ("hyperrealism", "p_below"), ("equivalence", "p"))
    there = [one for one in tests if one is not None]
    corrected = [holm(np.array([one[test][p] for one in there])) for test, p in places] if there else []
    found = []
    for one, above, below, within in zip(there, *corrected, strict=True):
        p_above, p_below, p_within = float(above), float(below), float(within)
        margin = one["equivalence"]["margin"]
        found.append(
            {
                "hyperrealism": {**one["hyperrealism"], "p_holm": p_above, "p_below_holm": p_below},
                "equivalence": {**one["equivalence"], "p_holm": p_within},
                "verdict": _verdict(p_above, p_within, p_below, 1 - level, margin),
            }
        )
    rest = iter(found)
    return [None if one is None else next(rest) for one in tests]


def _verdict(p_above: float, p_within: float, p_below: float, alpha: float, margin: float) -> str:
    within = f"within {margin:g} points of 50%"
    if p_within < alpha:
        side = ", and above it" if p_above < alpha else ", and below it" if p_below < alpha else ""
        return within + side
    if p_above < alpha:
        return f"above 50%; not shown to be {within}"
    return "below 50%" if p_below < alpha else f"neither shown to be above 50% nor {within}"
