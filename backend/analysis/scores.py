"""Scores of models as means of evaluators' values, with their intervals and tests.

The values are those of HYPE (`evaluator_values.py`): shares of wrong answers, or exposures; or those of
another judgment. Percentile intervals are from the bootstrap over evaluators (HYPE 3), exact unless a number
of iterations is given. Nothing is rounded or clipped.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from types import MappingProxyType
from typing import Any

import numpy as np

from backend.analysis.browsers import browser_caveats, by_browser
from backend.analysis.caveats import caveats
from backend.analysis.comparisons.chance import CHANCE, MARGIN
from backend.analysis.comparisons.means import Groups
from backend.analysis.comparisons.model_tests import tests_of
from backend.analysis.distributions import bootstrap
from backend.analysis.not_sure_shares import not_sure_shares
from backend.analysis.score_intervals import between_models, score_details
from backend.analysis.table.adaptive_rows import random_share
from backend.analysis.table.designs import design_of
from backend.analysis.table.evaluator_values import Values, balanced, plain, values_by_model
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import method_named
from backend.foundation.errors import InvalidInput

WRITTEN_UNITS = {"percent": " percentage points", "ms": " ms", "log-odds": ""}
_FALLBACK_SEED = 0


@dataclass(frozen=True)
class Options:
    """How intervals are computed."""

    iterations: int | None = None
    """Iterations of a Monte Carlo bootstrap; None for the exact bootstrap."""
    seed: int | None = None
    """Seed of the Monte Carlo bootstrap; 0 if none is given."""
    level: float = 0.95
    """Confidence level of the intervals, between 0 and 1."""
    evaluators_drawn: int | None = None
    """Number of evaluators in a resample; None for as many as the model has."""
    margin: float = MARGIN
    """Percentage points of difference within which two models count as equivalent, above 0 and below 50."""

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {self.level}")
        if not 0 < self.margin < CHANCE:
            raise InvalidInput(f"margin must be between 0 and 50 percentage points, not {self.margin:g}")
        for name in ("iterations", "evaluators_drawn"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} must be 1 or more, not {value}")


def overall_scores(answers: Answers, **options: Any) -> dict[str, Any]:
    """Return scores by the shares of wrong answers, or by exposures (HYPE-time), with tests between models.

    Options are those of `Options`.
    """
    chosen = Options(**options)
    answers = random_share(answers)
    unit = method_named(answers.method).unit
    values, intervals, beside, models = _scored(answers, chosen)
    groups = groups_of(values, [row["model"] for row in models])
    design = design_of(answers)
    return {
        "method": answers.method,
        "unit": unit,
        "simulated": answers.is_simulated,
        "models": models,
        **tests_of(answers, values, groups, chosen.level),
        "over_pictures": between_models(answers, values, groups, beside, chosen.level, chosen.margin),
        "balanced": answers.is_balanced,
        "design": design.kind,
        "people": design.people,
        "responses": answers.given,
        "settings": settings_of(chosen, models, intervals),
        "warnings": warnings_of(answers, values, groups, chosen.level, beside),
        "notes": notes_of(answers),
    }


def scores_of_values(answers: Answers, values: Mapping[str, Values], options: Options) -> dict[str, Any]:
    """Return the scores of evaluators' values of any kind, in the form of `overall_scores`.

    Intervals are over evaluators alone, and so are the tests between models.
    """
    intervals = {model: _interval(one, options) for model, one in values.items()}
    counts = np.bincount(answers.model.codes, minlength=len(answers.model.names)).tolist()
    responses = dict(zip(answers.model.names, counts, strict=True))
    models = [
        {**_row(model, values[model], intervals[model], responses[model]), "interval": None}
        for model in values
    ]
    models.sort(key=lambda row: (-row["score"], row["model"]))
    groups = groups_of(values, [row["model"] for row in models])
    design, unit = design_of(answers), method_named(answers.method).unit
    return {
        "method": answers.method,
        "unit": unit,
        "simulated": answers.is_simulated,
        "models": models,
        **tests_of(answers, values, groups, options.level),
        "over_pictures": None,
        "design": design.kind,
        "people": design.people,
        "responses": answers.given,
        "settings": settings_of(options, models, intervals),
        "warnings": warnings_of(answers, values, groups, options.level),
        "notes": notes_of(answers),
    }


def warnings_of(
    answers: Answers,
    values: Mapping[str, Values],
    groups: Groups,
    level: float,
    beside: Mapping[str, Mapping[str, Any]] | None = None,
) -> list[str]:
    """Return the caveats on scores; arguments as for `caveats.caveats`."""
    browsers = by_browser(answers, values, level)
    written = WRITTEN_UNITS[method_named(answers.method).unit]
    return [*caveats(answers, groups, beside), *browser_caveats(browsers, written)]


def score_models(answers: Answers, **options: Any) -> list[dict[str, Any]]:
    """Return only the models of `overall_scores`, without the tests between them."""
    return _scored(answers, Options(**options))[-1]


def groups_of(values: Mapping[str, Values], order: Iterable[str]) -> Groups:
    """Return the values of the models that enter tests: those with two evaluators or more."""
    return {model: values[model].numbers for model in order if len(values[model]) >= 2}


def _scored(
    answers: Answers, options: Options
) -> tuple[
    dict[str, Values],
    dict[str, bootstrap.Interval | None],
    dict[str, dict[str, Any]],
    list[dict[str, Any]],
]:
    """Return, by model, values, percentile intervals and columns beside the score; and the models' rows."""
    values = values_by_model(answers)
    intervals = {model: _interval(one, options) for model, one in values.items()}
    beside = score_details(answers, values, options.level)
    unsure = not_sure_shares(answers, options.level)
    rows = [
        _model(answers, code, values, intervals) | beside[model] | unsure.get(model, {})
        for code, model in enumerate(values)
    ]
    return values, intervals, beside, sorted(rows, key=lambda row: (-row["score"], row["model"]))


def _interval(values: Values, options: Options) -> bootstrap.Interval | None:
    """Return the interval of the mean; None for a single evaluator, whose variation is unknown."""
    if len(values) < 2:
        return None
    drawn = options.evaluators_drawn or len(values)
    interval = None
    if values.lattice is not None and not options.iterations:
        interval = bootstrap.exact_on_lattice(values.lattice, drawn, options.level)
    if interval is None:
        rng = np.random.default_rng(_FALLBACK_SEED if options.seed is None else options.seed)
        times = options.iterations or bootstrap.ITERATIONS
        interval = bootstrap.monte_carlo(values.numbers, drawn, options.level, times, rng)
    return interval


def _model(
    answers: Answers, code: int, values: dict[str, Values], intervals: dict[str, bootstrap.Interval | None]
) -> dict[str, Any]:
    model, judges = answers.model.names[code], answers.judges
    mine, interval = judges.model == code, intervals[model]
    errors: dict[str, Any] = {}
    if answers.has_shares:
        errors["fakes_error"] = _mean_error(judges.wrong_fakes[mine], judges.fakes[mine])
        errors["reals_error"] = _mean_error(judges.wrong_reals[mine], judges.reals[mine])
        errors |= _kinds_of_score(answers, mine)
    return _row(model, values[model], interval, int(judges.seen[mine].sum()), errors)


def _row(
    model: str,
    values: Values,
    interval: bootstrap.Interval | None,
    responses: int,
    errors: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    return {
        "model": model,
        "score": fsum(values.numbers) / len(values),
        **errors,
        "std": interval.std if interval else None,
        "ci": [interval.low, interval.high] if interval else None,
        "evaluators": len(values),
        "responses": responses,
    }


def _kinds_of_score(answers: Answers, mine: np.ndarray) -> dict[str, float]:
    """Return the score that weights all answers equally and the one that weights both sides equally."""
    judges = np.flatnonzero(mine)
    return {
        f"{kind.__name__}_score": fsum(numbers) / len(numbers)
        for kind in (plain, balanced)
        for numbers in (kind(answers.judges, judges, []).numbers,)
    }


def _mean_error(wrong: np.ndarray, seen: np.ndarray) -> float | None:
    """Return the mean over evaluators of their error on one side, in percent."""
    did_see = seen > 0
    return fsum(100 * wrong[did_see] / seen[did_see]) / int(did_see.sum()) if did_see.any() else None


def notes_of(answers: Answers) -> list[str]:
    """Return what was changed in the responses, how many count as half an error, and how many are left out.

    Those left out are of the other kind of sessions, real or simulated.
    """
    notes = [*answers.notes]
    if answers.not_sure is not None:
        count = int((answers.not_sure & answers.is_first).sum())
        notes.append(f"{count:,} of {answers.given:,} answers are not_sure: each counts as half an error")
    if not answers.left_out:
        return notes
    kind = "real" if answers.is_simulated else "simulated"
    hint = "" if answers.is_simulated else "; --simulated scores those instead"
    left = f"{answers.left_out:,} responses of {kind} sessions are in the source too and are left out{hint}"
    return [*notes, left]


def settings_of(
    options: Options, models: list[dict[str, Any]], intervals: Mapping[str, bootstrap.Interval | None]
) -> dict[str, Any]:
    """Return how percentile intervals were computed, with what is needed to compute them again."""
    is_random = any(one is not None and one.way == "monte-carlo" for one in intervals.values())
    sizes = {row["evaluators"] for row in models}
    return {
        "bootstrap": "monte-carlo" if is_random else "exact",
        "iterations": (options.iterations or bootstrap.ITERATIONS) if is_random else None,
        "seed": (_FALLBACK_SEED if options.seed is None else options.seed) if is_random else None,
        "level": options.level,
        "evaluators_drawn": options.evaluators_drawn or (sizes.pop() if len(sizes) == 1 else None),
    }
