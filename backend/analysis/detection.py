"""Sensitivity and response bias, separated: d-prime and the criterion of signal detection theory.

An error rate confounds how well fakes are discriminated from reals with the bias to answer "fake". With H
the share of fakes called fake and F the share of reals called fake, d' = z(H) - z(F) and
c = -(z(H) + z(F)) / 2 (Green and Swets, 1966). Shares of 0 and 1 have no z, so every count is raised by 0.5
and every number of trials by 1, for all evaluators (the log-linear correction: Hautus, 1995).
"""

import math
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from backend.analysis.response_table import Judges


def sensitivity(
    hits: np.ndarray, fakes: np.ndarray, false_alarms: np.ndarray, reals: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (d', c) of each evaluator, from the numbers of fakes and reals seen and of those called fake."""
    z_hits = ndtri((hits + 0.5) / (fakes + 1))
    z_false = ndtri((false_alarms + 0.5) / (reals + 1))
    return z_hits - z_false, -(z_hits + z_false) / 2


def detection(judges: Judges, mine: np.ndarray, level: float) -> dict[str, Any] | None:
    """Return mean d' and c over a model's evaluators who saw both sides, with Student's intervals.

    A positive c is a bias to "real". None if nobody saw both sides.
    """
    mine = mine & (judges.fakes > 0) & (judges.reals > 0)
    if not mine.any():
        return None
    fakes, reals = judges.fakes[mine], judges.reals[mine]
    d_prime, criterion = sensitivity(fakes - judges.wrong_fakes[mine], fakes, judges.wrong_reals[mine], reals)
    return {
        "d_prime": float(d_prime.mean()),
        "d_prime_ci": _interval(d_prime, level),
        "criterion": float(criterion.mean()),
        "criterion_ci": _interval(criterion, level),
        "evaluators": int(mine.sum()),
    }


def _interval(values: np.ndarray, level: float) -> list[float] | None:
    if len(values) < 2:
        return None
    half = float(stdtrit(len(values) - 1, (1 + level) / 2) * values.std(ddof=1)) / math.sqrt(len(values))
    return [float(values.mean()) - half, float(values.mean()) + half]
