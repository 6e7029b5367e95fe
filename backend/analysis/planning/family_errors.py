"""Nominal errors of looks at several pairs of models, and repeated p-values.

With one pair, a look stops if p is below the look's nominal error. Of several pairs each may cross its
boundary at another look, so that the same nominal errors would err more often than planned (with 12 models
in 6.7%, where the fixed plan errs in 5.7%; simulated). So each pair has the boundaries of a level of its own
(Follmann, Proschan and Geller, 1994): that of a pair in Tukey's test of all, or with Holm's p-values
Bonferroni's. A look's nominal error is the p for all pairs at this boundary, smaller than that of one pair at
early looks, and larger at the last.

The smaller the error of all looks together, the smaller each nominal one; that at which a p would just be
below it is the repeated p of this look, and the minimum over the looks until a study stops is the repeated
p-value (Jennison and Turnbull, 1984). It is below the error of a plan exactly where that plan has shown the
difference, and it holds whyever the study stopped.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from backend.analysis.distributions import studentized_range
from backend.analysis.distributions.inference import t_below
from backend.analysis.planning.boundaries import boundaries, one_sided_spent
from backend.analysis.planning.looks import LookPlan
from backend.experiment.planned_looks import EQUAL_WITHIN, HALF_WIDTH, LookAim

_SMALLEST = 1e-7
"""Smallest nominal error: no study stops at a smaller p, nor needs one."""
_LEAST, _ERRORS = 1e-8, 32
"""Smallest repeated p-value, and number of errors between which others are interpolated: to .1%."""


def family_errors(plan: LookPlan, models: int, is_tukey: bool, pairs: int = 0) -> np.ndarray:
    """Return the p for all pairs of models below which each look stops: shape (looks,).

    Args:
        is_tukey: whether p-values are Tukey's; else they are Holm's, as those of equality always are.
        pairs: of how many pairs they are Holm's; 0 for all of the models.
    """
    if plan.aim.kind == HALF_WIDTH:
        return plan.errors
    errors = _errors(_bare(plan), 1 - plan.level, models, is_tukey, pairs)
    return np.asarray(np.maximum(errors, _SMALLEST))


def repeated_p(plan: LookPlan, models: int, is_tukey: bool, p: float, look: int, pairs: int = 0) -> float:
    """Return the smallest error of all looks together with which `p` shows a difference at a look.

    Args:
        p: for all pairs, of the test of that look.
        look: from 1.
        pairs: as for `family_errors`.
    """
    errors, nominal = _by_error(_bare(plan), 1 - plan.level, models, is_tukey, pairs)
    own = nominal[:, look - 1]
    return float(np.exp(np.interp(np.log(max(min(p, 1.0), own[0])), np.log(own), np.log(errors))))


def _bare(plan: LookPlan) -> LookPlan:
    """Return a plan of which nominal errors are the same: with its looks, spending, and side of the tests."""
    aim = LookAim(EQUAL_WITHIN, 1.0) if plan.aim.kind == EQUAL_WITHIN else LookAim()
    return replace(plan, aim=aim, level=0.95)


def _errors(plan: LookPlan, error: float, models: int, is_tukey: bool, pairs: int) -> np.ndarray:
    """Return the nominal errors of a `_bare` plan, of all pairs, with another error of all looks."""
    pairs = pairs or models * (models - 1) // 2
    if plan.aim.kind == EQUAL_WITHIN:
        return _of_equality(plan, error, pairs)
    if not is_tukey:
        alone = replace(plan, level=1 - error / pairs).errors
        return np.asarray(np.minimum(pairs * alone, 1.0))
    if models == 2:
        return replace(plan, level=1 - error).errors
    known = np.full(len(plan.looks), np.inf)
    z = float(studentized_range.isf(error, models, known[:1])[0]) / np.sqrt(2)
    bounds = replace(plan, level=1 - 2 * t_below(-z, np.inf)).bounds
    return studentized_range.sf(np.maximum(bounds, 0.0) * np.sqrt(2), models, known)


def _of_equality(plan: LookPlan, error: float, pairs: int) -> np.ndarray:
    """Return the nominal errors of showing `pairs` pairs to be equal, all of which must be before it stops.

    The more pairs, the less often early looks end a study, and the error that they spend is lost: of several
    pairs the share that is spent grows as the square of the spending function. With the function itself four
    models lost 4 points of power, with its square 1 (simulated).
    """
    of_each = error / pairs
    share = one_sided_spent(plan.spent_at, of_each, plan.spending) / of_each
    bounds = boundaries(plan.fractions, of_each * share ** min(pairs, 2), sides=1)
    return np.asarray(np.minimum(pairs * t_below(-bounds, np.inf), 1.0))


@lru_cache(maxsize=32)
def _by_error(
    plan: LookPlan, error: float, models: int, is_tukey: bool, pairs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return errors of all looks together, rising, and the nominal ones of each look: shape (errors, looks).

    One of them is that of the plan itself, so that p-values are on the same side of both.
    """
    errors = np.unique([*np.geomspace(_LEAST, 0.999, _ERRORS), error])
    nominal = np.array([_errors(plan, one, models, is_tukey, pairs) for one in errors])
    nominal[errors == error] = np.maximum(nominal[errors == error], _SMALLEST)
    nominal = np.maximum.accumulate(np.maximum(nominal, 1e-300), axis=0)
    return np.append(errors, 1.0), np.concatenate([nominal, np.ones((1, len(plan.looks)))])
