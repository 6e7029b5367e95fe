"""Scores of models from responses: the measures of HYPE, with their intervals and tests.

A model's score is the mean of its evaluators' values (`analysis/values.py`). Intervals are from the
bootstrap over evaluators (HYPE 3), exact unless a number of iterations is given. Nothing is rounded or
clipped.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import fsum
from types import MappingProxyType
from typing import Any

import numpy as np

from backend.analysis import bootstrap
from backend.analysis.bootstrap import lattice_of
from backend.analysis.browsers import browser_caveats, by_browser
from backend.analysis.caveats import caveats
from backend.analysis.comparisons import Groups
from backend.analysis.constant_stimuli import by_exposure
from backend.analysis.designs import BETWEEN, design_of
from backend.analysis.draws import random_share
from backend.analysis.model_tests import between_subjects, tests_of
from backend.analysis.psychometric import THRESHOLD_AT
from backend.analysis.response_rows import answers_of
from backend.analysis.response_table import Answers
from backend.analysis.score_intervals import between_models, score_details
from backend.analysis.unscored_rows import exclusion
from backend.analysis.values import Values, balanced, plain, values_by_model
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.records import TEST
from backend.foundation.errors import InvalidInput

_WRITTEN = {"percent": " percentage points", "ms": " ms"}
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

    def __post_init__(self):
        if not 0 < self.level < 1:
            raise InvalidInput(f"level must be between 0 and 1, such as 0.95, not {self.level}")
        for name in ("iterations", "evaluators_drawn"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInput(f"{name} must be 1 or more, not {value}")


def score(rows: Iterable[Mapping[str, Any]], method: str, **options: Any) -> dict[str, Any]:
    """Return the scores of responses, given as mappings with the columns of the responses file.

    Options are those of `Options`.

    Raises:
        InvalidInput: an invalid row, no rows, an unknown method, or an option out of range.
    """
    if not judgment_of(method).has_report:
        return score_values(rows, method, **options)
    return score_answers(answers_of(rows, method), **options)


def score_answers(answers: Answers, **options: Any) -> dict[str, Any]:
    """Return scores, intervals and tests as plain data; options are those of `Options`.

    If the study declared a rule for exclusion, the scores are those after it, and `exclusion` has whom it
    leaves out and everybody's scores.

    Raises:
        InvalidInput: no responses, or an option out of range.
    """
    chosen = Options(**options)
    scores = _with_exposures(answers, chosen, options)
    if answers.unexcluded is None:
        return scores
    return {**scores, "exclusion": exclusion(answers, _with_exposures(answers.unexcluded, chosen, options))}


def _with_exposures(answers: Answers, chosen: Options, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return scores, with the results of each exposure if exposures are fixed."""
    scores = overall_scores(answers, **options)
    if answers.method != "exposures":
        return scores
    found = by_exposure(answers, lambda some: overall_scores(some, **options), chosen.level, THRESHOLD_AT)
    of_model = found.pop("of_model")
    models = [{**row, **of_model[row["model"]]} for row in scores["models"]]
    return {**scores, "models": models, **found}


def overall_scores(answers: Answers, **options: Any) -> dict[str, Any]:
    """Return the result of `score_answers` without exclusion and without the results of each exposure."""
    chosen = Options(**options)
    if not len(answers):
        raise InvalidInput("there are no responses to score")
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
        "over_pictures": between_models(answers, values, groups, beside, chosen.level),
        "balanced": answers.is_balanced,
        "design": design.kind,
        "people": design.people,
        "responses": answers.given,
        "settings": _settings(chosen, models, {one.way for one in intervals.values() if one is not None}),
        "warnings": [
            *caveats(answers, groups, beside),
            *browser_caveats(by_browser(answers, values, chosen.level), _WRITTEN[unit]),
        ],
        "notes": [*answers.notes, *_notes(answers)],
    }


def score_values(
    rows: Iterable[Mapping[str, Any]],
    method: str,
    simulated: bool = False,
    exposures: str = "nominal",
    **options: Any,
) -> dict[str, Any]:
    """Return scores as means of evaluators' values, for a judgment that `analysis` has no tables for.

    Intervals are over evaluators, and so are the tests between models, which different evaluators judged.

    Args:
        rows: mappings with the columns of the responses file.
        simulated: whether to score simulated sessions instead of real ones.

    Raises:
        InvalidInput: no rows, an evaluator who judged two models, exposures other than `nominal`, or an
            option out of range.
    """
    judgment, chosen = judgment_of(method), Options(**options)
    title = judgment.methods[method].title
    if exposures != "nominal":
        raise InvalidInput(f"{title} has no exposures to score on; leave out exposures='shown'")
    by_evaluator: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        is_scored = row.get("trial_kind") in (None, "", TEST)
        if is_scored and bool(row.get("simulated")) == simulated:
            by_evaluator.setdefault(row["evaluator"], []).append(row)
    if not by_evaluator:
        raise InvalidInput("there are no responses to score")
    exact: dict[str, dict[str, Fraction | float]] = {}
    for evaluator, own in by_evaluator.items():
        models = {row["model"] for row in own}
        if len(models) > 1:
            raise InvalidInput(
                f"an evaluator must judge one model ({title}); {evaluator} judged {', '.join(sorted(models))}"
            )
        exact.setdefault(models.pop(), {})[evaluator] = judgment.value(method, own)
    values = {model: _values(found) for model, found in exact.items()}
    intervals = {model: _interval(one, chosen) for model, one in values.items()}
    responses = Counter(own[0]["model"] for own in by_evaluator.values() for _ in own)
    models = [
        {**_row(model, values[model], intervals[model], responses[model]), "interval": None}
        for model in values
    ]
    models.sort(key=lambda row: (-row["score"], row["model"]))
    groups = groups_of(values, [row["model"] for row in models])
    tests = between_subjects(groups, chosen.level)
    if len(models) != 2:
        del tests["ttest"]
    return {
        "method": method,
        "unit": judgment.methods[method].unit,
        "simulated": simulated,
        "models": models,
        **tests,
        "design": BETWEEN,
        "responses": responses.total(),
        "settings": _settings(chosen, models, {one.way for one in intervals.values() if one is not None}),
        "warnings": [],
        "notes": [],
    }


def _values(by_evaluator: Mapping[str, Fraction | float]) -> Values:
    exact = [*by_evaluator.values()]
    return Values([*by_evaluator], np.array(exact, float), lattice_of(exact))


def score_models(answers: Answers, **options: Any) -> list[dict[str, Any]]:
    """Return only the models of `score_answers`, without the tests between them."""
    return _scored(answers, Options(**options))[-1]


def groups_of(values: Mapping[str, Values], order: Iterable[str]) -> Groups:
    """Return the values of the models that enter tests: those with two evaluators or more."""
    return {model: values[model].numbers for model in order if len(values[model]) >= 2}


def _scored(answers: Answers, options: Options) -> tuple[dict, dict, dict, list[dict[str, Any]]]:
    """Return, by model, values, percentile intervals and columns beside the score; and the models' rows."""
    values = values_by_model(answers)
    intervals = {model: _interval(one, options) for model, one in values.items()}
    beside = score_details(answers, values, options.level)
    rows = [_model(answers, code, values, intervals) | beside[model] for code, model in enumerate(values)]
    return values, intervals, beside, sorted(rows, key=lambda row: (-row["score"], row["model"]))


def _interval(values: Values, options: Options) -> bootstrap.Interval | None:
    """Return the interval of the mean; None for a single evaluator, whose variation is unknown."""
    if len(values) < 2:
        return None
    drawn = options.evaluators_drawn or len(values)
    found = None
    if values.lattice is not None and not options.iterations:
        found = bootstrap.exact_on_lattice(values.lattice, drawn, options.level)
    if found is None:
        rng = np.random.default_rng(_FALLBACK_SEED if options.seed is None else options.seed)
        times = options.iterations or bootstrap.ITERATIONS
        found = bootstrap.monte_carlo(values.numbers, drawn, options.level, times, rng)
    return found


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


def _notes(answers: Answers) -> list[str]:
    if not answers.left_out:
        return []
    kind = "real" if answers.is_simulated else "simulated"
    hint = "" if answers.is_simulated else "; --simulated scores those instead"
    return [f"{answers.left_out:,} responses of {kind} sessions are in the source too and are left out{hint}"]


def _settings(options: Options, models: list[dict[str, Any]], ways: set[str]) -> dict[str, Any]:
    is_random = "monte-carlo" in ways
    sizes = {row["evaluators"] for row in models}
    return {
        "bootstrap": "monte-carlo" if is_random else "exact",
        "iterations": (options.iterations or bootstrap.ITERATIONS) if is_random else None,
        "seed": (_FALLBACK_SEED if options.seed is None else options.seed) if is_random else None,
        "level": options.level,
        "evaluators_drawn": options.evaluators_drawn or (sizes.pop() if len(sizes) == 1 else None),
    }
