"""Validation of the power of the test between two models by statsmodels' TTestIndPower.

Both are of models whose evaluators spread alike and share no pictures, where our test is Welch's.
"""

import math

from backend.analysis.planning.power import evaluators_for, power
from backend.analysis.planning.spread import Spread

_CASES = ((3.0, 20), (5.0, 40), (5.0, 10), (10.0, 8), (2.5, 120))
"""Difference in percentage points, and evaluators."""
_LEVELS = (0.9, 0.95, 0.99)
_SD = 7.0


def run() -> dict:
    """Return the largest difference in power from statsmodels, and of planned sizes, relative."""
    from statsmodels.stats.power import TTestIndPower

    theirs = TTestIndPower()
    furthest, sizes = 0.0, 0.0
    for difference, count in _CASES:
        spread = _known(50 - difference / 2)
        for level in _LEVELS:
            ours = power(spread, difference, count, 100, level)
            effect = difference / _SD
            furthest = max(furthest, abs(ours - float(theirs.power(effect, count, 1 - level))))
            planned = _planned(spread, difference, level)
            wanted = math.ceil(float(theirs.solve_power(effect, power=0.8, alpha=1 - level)))
            sizes = max(sizes, (abs(planned - wanted) - 1) / wanted)
    return {
        "power of the t-test, furthest from statsmodels": {
            "value": furthest,
            "agrees_if": "below 0.03: the test is Welch's, with 8 evaluators and more",
            "agrees": furthest < 0.03,
        },
        "planned sizes, furthest from statsmodels beyond one evaluator": {
            "value": sizes,
            "agrees_if": "below 5%",
            "agrees": sizes < 0.05,
        },
    }


def _planned(spread: Spread, difference: float, level: float) -> int:
    return evaluators_for(lambda n: power(spread, difference, n, 100, level) >= 0.8) or 0


def _known(score: float) -> Spread:
    within = score * (100 - score)
    between = _SD**2 - within / 100
    return Spread("model", score, 100, 0.5, between, within, within / 100, _SD**2, 1e9)
