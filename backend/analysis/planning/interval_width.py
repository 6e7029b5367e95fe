"""The interval's width against the number of evaluators (HYPE, figure 4), with cost and time."""

from typing import Any

import numpy as np

from backend.analysis.distributions import bootstrap
from backend.analysis.distributions.inference import t_quantile
from backend.analysis.planning.costs import Costs
from backend.analysis.table.evaluator_values import Values

EVALUATORS = tuple(range(10, 125, 5))


def width_curve(
    values: Values, responses: int, accuracy: float, level: float, costs: Costs
) -> list[dict[str, Any]] | None:
    """Return a row for each number of evaluators: SD and width of the exact bootstrap, cost, time.

    If values are on no lattice, the SD is the same and the width that of a normal distribution. None with
    fewer than two evaluators.

    Args:
        responses: total number of responses of the model's evaluators.
        accuracy: share of right answers, 0 to 1, for the pay.
    """
    if len(values) < 2:
        return None
    images = responses / len(values)
    return [
        {
            "evaluators": count,
            **_width(values, count, level),
            "usd": count * costs.evaluator_usd_cents(images, accuracy) / 100,
            "hours": costs.study_hours(count, images),
        }
        for count in EVALUATORS
    ]


def _width(values: Values, count: int, level: float) -> dict[str, float]:
    found = None
    if values.lattice is not None:
        found = bootstrap.exact_on_lattice(values.lattice, count, level)
    if found is not None:
        return {"std": found.std, "width": found.high - found.low}
    std = float(values.numbers.std() / np.sqrt(count))
    return {"std": std, "width": 2 * t_quantile(np.inf, level) * std}
