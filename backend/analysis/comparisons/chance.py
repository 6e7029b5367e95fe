"""Tests of a score against 50%: hyper-realistic, or indistinguishable from real?

Hyper-realism is tested with a one-sided test that the score is above 50%. Indistinguishability cannot be
shown by a test that fails to reject; it is tested with two one-sided tests (Schuirmann, 1987) that the score
is within a margin of 50%. All are over evaluators and the stimuli that they share, as the score's interval is
(`inference.Share`): the interval with twice the error is within the margin where both tests reject.
"""

import math
from collections.abc import Sequence
from typing import Any

from backend.analysis.distributions.inference import Share, holm
from backend.foundation.errors import InvalidInput

CHANCE = 50.0
MARGIN = 5.0
"""Percentage points on either side of 50%, or between two models, that count as no difference."""


def against_chance(found: Share | None, level: float = 0.95, margin: float = MARGIN) -> dict[str, Any] | None:
    """Return both tests of a model's share; None if `found` is None, as with one evaluator.

    The p-values are those of one model; `over_models` corrects for the number of models.

    Raises:
        InvalidInput: a margin that is not between 0 and 50 points.
    """
    if not 0 < margin < CHANCE:
        raise InvalidInput(f"the margin must be between 0 and 50 percentage points, not {margin:g}")
    if found is None:
        return None
    equal, p_within = found.test(CHANCE / 100), found.p_within(margin / 100, CHANCE / 100)
    within = [100 * end for end in found.interval(2 * level - 1)] if level > 0.5 else None
    return {
        "hyperrealism": {
            "t": equal.t,
            "df": None if math.isinf(equal.df) else equal.df,
            "p": equal.p_above,
            "p_below": equal.p_below,
        },
        "equivalence": {
            "margin": margin,
            "p": p_within,
            "ci": within,
            "ci_level": round(2 * level - 1, 12) if level > 0.5 else None,
        },
        "verdict": _verdict(equal.p_above, p_within, equal.p_below, alpha=1 - level, margin=margin),
    }


def over_models(tests: Sequence[dict[str, Any] | None], level: float = 0.95) -> list[dict[str, Any] | None]:
    """Return the tests of several models, with added p-values that are corrected for their number.

    `p_holm` and `p_below_holm` are Holm's (1979), for each question over all models that have a test; the
    verdict is based on them. For a single model they equal the uncorrected ones.
    """
    places = (("hyperrealism", "p"), ("hyperrealism", "p_below"), ("equivalence", "p"))
    corrected = [holm([one[test][p] if one else None for one in tests]) for test, p in places]
    return [
        None if one is None else _corrected(one, 1 - level, *of_all)
        for one, *of_all in zip(tests, *corrected, strict=True)
    ]


def _corrected(
    one: dict[str, Any], alpha: float, p_above: Any, p_below: Any, p_within: Any
) -> dict[str, Any]:
    return {
        "hyperrealism": {**one["hyperrealism"], "p_holm": p_above, "p_below_holm": p_below},
        "equivalence": {**one["equivalence"], "p_holm": p_within},
        "verdict": _verdict(p_above, p_within, p_below, alpha, one["equivalence"]["margin"]),
    }


def _verdict(p_above: float, p_within: float, p_below: float, alpha: float, margin: float) -> str:
    within = f"within {margin:g} points of 50%"
    if p_within < alpha:
        side = ", and above it" if p_above < alpha else ", and below it" if p_below < alpha else ""
        return within + side
    if p_above < alpha:
        return f"above 50%; not shown to be {within}"
    return "below 50%" if p_below < alpha else f"neither shown to be above 50% nor {within}"
