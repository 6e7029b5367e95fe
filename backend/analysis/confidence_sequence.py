"""The score by number of evaluators, in the order in which they finished, with two intervals.

`ci` is the interval of the score (`score_intervals.py`), valid for one planned analysis. It is misleading if
one looks repeatedly and stops at a convenient interval. `any_look` is a confidence sequence, valid at
all looks together: the mixture of t statistics of Lai (1976), with the unit-free weight c^2 = 3. With n
evaluators and ss the sum of squares about their mean it is

    mean -+ sqrt(ss (n + c^2) (R - 1) / (n (n + c^2 - R c^2))),  R = ((n + c^2) / c^2)^(1/n) alpha^(-2/n),

about 1.6 times as wide as Student's interval at 30 evaluators. Stimuli that evaluators share widen both
intervals, `any_look` is farther out on the side of the longer tail as others are (`inference.py`), and never
narrower than `ci`.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from backend.analysis.distributions.inference import Share, as_of_share, mean_of, reaches
from backend.analysis.score_intervals import score_details, share_of
from backend.analysis.table.evaluator_values import Values, values_by_model
from backend.analysis.table.response_table import Answers, filter_rows

FEWEST = 5
"""Minimum number of evaluators; fewer give hardly any information on how people differ."""
POINTS, _POINTS_OF_TIMES = 16, 8
"""Numbers of evaluators at which intervals are computed; those of HYPE-time take longer."""
_WEIGHT = 3.0


def score_by_evaluators(
    answers: Answers, model: str, order: Sequence[Any], level: float = 0.95, points: int | None = None
) -> list[dict[str, Any]]:
    """Return `score`, `ci` and `any_look` of a model after its first 5, ..., n evaluators.

    Empty if there are fewer, and without the first ones as long as all have the same value. An unbounded end
    of `any_look` is None.

    Args:
        order: names of the model's evaluators, in the order in which they finished.
        points: maximum number of rows.
    """
    count = len(order)
    if count < FEWEST:
        return []
    mine = filter_rows(answers, answers.model.codes == answers.model.names.index(model))
    place = {name: i for i, name in enumerate(order)}
    places = np.array([place.get(name, count) for name in mine.evaluator.names])[mine.evaluator.codes]
    steps = np.linspace(FEWEST, count, points or (POINTS if answers.has_shares else _POINTS_OF_TIMES))
    rows = []
    for first in sorted({round(n) for n in steps}):
        some = filter_rows(mine, places < first)
        values = values_by_model(some)
        interval = score_details(some, values, level)[model]["interval"]
        if interval is None:  # all have the same value: how they differ is not known yet
            continue
        rows.append(
            {
                "evaluators": first,
                "score": float(values[model].numbers.mean()),
                "ci": interval["ci"],
                "any_look": any_look(
                    values[model],
                    interval,
                    share_of(some, 0, values[model]) if answers.has_shares else None,
                    level,
                ),
            }
        )
    return rows


def any_look(
    values: Values, interval: dict[str, Any], share: Share | None, level: float
) -> list[float | None]:
    """Return the interval that is valid at all looks together; an unbounded end is None.

    Args:
        share: what is random in the score, if values are percent; then no end is above 100.
    """
    numbers, (low, high) = values.numbers, interval["ci"]
    count, alpha = len(numbers), 1 - level
    ratio = ((count + _WEIGHT) / _WEIGHT) ** (1 / count) * alpha ** (-2 / count)
    rest = count + _WEIGHT - ratio * _WEIGHT
    if rest <= 0:
        return [0.0, 100.0] if share else [0.0, None]
    mean, shared = mean_of(numbers), interval["share_of_pictures"] or 0.0
    people = as_of_share(share.people, share.value, share.answers).times(100) if share else mean.people
    total = replace(people, variance=people.variance / (1 - shared))
    t = math.sqrt((count - 1) * (count + _WEIGHT) * (ratio - 1) / rest)
    below, above = (reach * math.sqrt(total.variance) for reach in reaches(t, total.variance, total.third))
    ends = min(low, mean.value - below), max(high, mean.value + above)
    return [max(0.0, ends[0]), min(100.0, ends[1]) if share else ends[1]]
