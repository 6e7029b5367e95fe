"""Spreads of exposures (HYPE-time), from which studies are planned: the papers', and those of a pilot."""

import math
from collections.abc import Iterator
from typing import Any

from backend.analysis.crossing import sides_of
from backend.analysis.distributions.inference import mean_of, t_quantile
from backend.analysis.planning.share_spreads import shared_pictures
from backend.analysis.planning.spread import Spread
from backend.analysis.table.evaluator_values import Values
from backend.analysis.table.response_table import Answers
from backend.analysis.time_scores import Times, variance_of_pictures
from backend.experiment.published import BESSEL, EVALUATORS, MODELS
from backend.experiment.staircase import NAMED_RULES, equilibrium_accuracy

_OF_ALIKE: dict[str, Any] = {"method": "student", "share_of_pictures": None, "pictures_df": None}
"""What evaluators of one value have instead of an interval."""


def published_times(images: int) -> list[Spread]:
    """Return the spreads of the papers' six models.

    Args:
        images: that an evaluator judged.
    """
    df, rule = EVALUATORS - 1, NAMED_RULES["hype-2019"]
    right, bounds = equilibrium_accuracy(rule), (rule.min_ms, rule.max_ms)
    return [
        Spread(one.label, one.ms, images, right, sd**2, 0.0, 0.0, sd**2, df, bounds, scale="ms")
        for one in MODELS
        for sd in (one.ms_sd * math.sqrt(BESSEL),)
    ]


def spreads_of_times(answers: Answers, values: dict[str, Values]) -> Iterator[Spread]:
    """Yield the spread of each model of a pilot that has two evaluators or more."""
    judges, level = answers.judges, 0.95
    times = Times(answers, level)
    for code, (model, own) in enumerate(values.items()):
        if len(own) < 2:
            continue
        mine = judges.model == code
        mean, interval = mean_of(own.numbers), times.of_model(code, own)["interval"] or _OF_ALIKE
        half = t_quantile(mean.people.df, level) * math.sqrt(mean.people.variance)
        right = 1 - float(judges.wrong[mine].sum() / judges.seen[mine].sum())
        observed, extra = mean.people.variance * len(own), variance_of_pictures(mean, interval)
        weights, pictures, same = shared_pictures(sides_of(answers, code))
        printed = interval["ci"][1] - interval["ci"][0] if interval["method"] == "population" else 0.0
        yield Spread(
            model, mean.value, float(judges.seen[mine].mean()), right, observed, 0.0, 0.0, observed,
            len(own) - 1, (times.range.low_ms, times.range.high_ms), weights, pictures,
            extra / same if same else 0.0, interval["pictures_df"] or 1.0,
            max(1.0, printed / (2 * half)) if half else 1.0, "ms",
        )  # fmt: skip
