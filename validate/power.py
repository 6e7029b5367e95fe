"""Validation of the t-test's power and of planned numbers of evaluators by statsmodels' TTestIndPower."""

import math

from backend.analysis.power import evaluators_for_power, power

_EFFECTS = (0.1, 0.3, 0.5, 0.8, 1.2, 2.0)
_LEVELS = (0.9, 0.95, 0.99)


def run() -> dict:
    """Return the largest difference in power from statsmodels, and how many planned sizes differ."""
    from statsmodels.stats.power import TTestIndPower

    theirs = TTestIndPower()
    furthest = max(
        abs(power(n, effect, level) - float(theirs.power(effect, n, 1 - level)))
        for effect in _EFFECTS
        for level in _LEVELS
        for n in (3, 10, 30, 120)
    )
    others = sum(
        evaluators_for_power(effect, wanted, level)
        != math.ceil(float(theirs.solve_power(effect, power=wanted, alpha=1 - level)))
        for effect in _EFFECTS
        for level in _LEVELS
        for wanted in (0.8, 0.9)
    )
    return {
        "power of the t-test, furthest from statsmodels": {
            "value": furthest,
            "agrees_if": "below 1e-8",
            "agrees": furthest < 1e-8,
        },
        "planned sizes that differ from statsmodels": {
            "value": others,
            "agrees_if": "0",
            "agrees": others == 0,
        },
    }
