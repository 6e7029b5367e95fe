"""Repeated p-values: p of all looks together, for any number of models and any rule of stopping.

A plan of looks shows a difference at look k if its p is below the nominal error of that look. The smaller the
error of all looks together, the smaller each nominal one; that at which p would just show the difference is
its p-value at this look, and the minimum over the looks until a study stops is the repeated p-value (Jennison
and Turnbull, 1984). It is below the error of a plan exactly where that plan has shown the difference, so that
it holds for several models as far as the plan's own error does, and whyever a study stopped.
"""

from functools import lru_cache

import numpy as np

from backend.analysis.planning.looks import EQUAL_WITHIN, LookAim, LookPlan

_LEAST, _ERRORS = 1e-8, 32
"""Smallest repeated p-value, and number of errors between which others are interpolated: to .1%."""


def repeated_p(plan: LookPlan, p: float, look: int) -> float:
    """Return the smallest error of all looks together with which `p` shows a difference at a look.

    Args:
        p: nominal, of the test of that look.
        look: from 1.
    """
    errors, nominal = _nominal_errors(plan.looks, plan.spending, plan.aim.kind == EQUAL_WITHIN, plan.level)
    own = nominal[:, look - 1]
    return float(np.exp(np.interp(np.log(max(min(p, 1.0), own[0])), np.log(own), np.log(errors))))


@lru_cache(maxsize=32)
def _nominal_errors(
    looks: tuple[int, ...], spending: str, is_one_sided: bool, level: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return errors of all looks together, rising, and the nominal ones of each look: shape (errors, looks).

    One of them is that of the plan itself, so that p-values are on the same side of both.
    """
    aim = LookAim(EQUAL_WITHIN, 1.0) if is_one_sided else LookAim()
    errors = np.unique([*np.geomspace(_LEAST, 0.999, _ERRORS), 1 - level])
    nominal = np.array([LookPlan(looks, aim, spending, 1 - error).errors for error in errors])
    nominal = np.maximum.accumulate(np.maximum(nominal, 1e-300), axis=0)
    return np.append(errors, 1.0), np.concatenate([nominal, np.ones((1, len(looks)))])
