"""What notebooks call: scores of a file or of rows, the bootstrap of a mean, and plans of studies."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend import scoring
from backend.analysis import bootstrap as bootstraps
from backend.errors import InvalidInput
from backend.responses import score_file

if TYPE_CHECKING:
    from backend.answers import Answers


def score(
    responses: str | PathLike | Iterable[Mapping[str, Any]], method: str | None = None, **options: Any
) -> dict[str, Any]:
    """Return the scores of a responses file, or of rows given as mappings.

    Args:
        responses: a path (CSV or JSON lines), or rows with `model, evaluator, truth, response` and,
            for HYPE-time, `block` and `exposure_ms`.
        method: of rows: 'infinity' or 'time'; default, what their `method` says, else 'time' where
            they have exposures. A file tells its own.
        **options: `iterations`, `seed`, `level`, `evaluators_drawn`; see `scoring.Options`.

    Returns:
        Plain data: `models` best first with `score`, `std`, `ci` (percent or ms), `anova`, `pairs`.

    Raises:
        OpenhypeError: a bad row, or nothing to score.
    """
    if isinstance(responses, (str, PathLike)):
        return score_file(Path(responses), **options)
    rows = _rows(responses)
    return scoring.score(rows, method or _method(rows), **options)


def bootstrap(values: Sequence[float], drawn: int | None = None, level: float = 0.95) -> bootstraps.Interval:
    """Return SD and percentile interval of the mean of values drawn with replacement.

    Exact where the values share a lattice; else Monte Carlo with 10,000 iterations and seed 0.

    Args:
        values: one number an evaluator, any unit; at least one.
        drawn: how many a resample draws; default, as many as there are.
    """
    import numpy as np

    values = list(values)
    count = len(values) if drawn is None else drawn
    found = bootstraps.exact(values, count, level)
    if found is not None:
        return found
    rng = np.random.default_rng(0)
    return bootstraps.monte_carlo(values, count, level, bootstraps.ITERATIONS, rng)


def plan(
    pilot: "str | PathLike | Iterable[Mapping[str, Any]] | Answers | None" = None,
    method: str | None = None,
    *,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    level: float = 0.95,
    models: int | None = None,
    images: int | None = None,
    most_images: int = 200,
    **costs: float,
) -> dict[str, Any]:
    """Return how many evaluators an aim needs, what they cost and how long they take.

    Args:
        pilot: responses whose spread is planned from, as `score` takes them; default, the SDs between
            evaluators of the papers' six models (HYPE, tables 1 to 3; workshop paper, tables 6 and 7).
        method: 'infinity' (default) or 'time', of published SDs or of rows.
        width: of the wanted interval, in points of percent or ms; where neither it nor `difference` is
            given, 5 points or 100 ms.
        difference: between two models that are to be told apart, in the same unit.
        power: chance that they are, 0 to 1.
        level: of intervals and tests, 0 to 1.
        models: of the study; default 2 with a difference, else 1. From 3 on Tukey's test is planned for.
        images: that an evaluator judges; HYPE-infinity only.
        most_images: that an evaluator may be asked to judge, where the cheapest number is looked for.
        **costs: `base_usd_cents` (100), `right_usd_cents` (2), `hourly_usd_cents` (1200), `fee` (0),
            `image_seconds` (6, HYPE-time 8), `base_seconds` (60), `at_once` (10); see
            `analysis.costs.Costs`.

    Returns:
        Plain data: `rows`, one a model, with `evaluators` (of each model), `usd`, `hours`, and `best`, the
        same for the number of images that costs least (None for HYPE-time); `assumptions`, in words.

    Raises:
        OpenhypeError: a bad row, a number out of range, or a pilot without two evaluators of a model.
    """
    from backend.analysis import planning
    from backend.analysis.spreads import published, spreads_of

    if pilot is None:
        method = method or "infinity"
        spreads = published(method)
    else:
        answers = _answers(pilot, method)
        method, spreads = answers.method, spreads_of(answers)
    try:
        priced = replace(planning.PANEL_COSTS[method], **costs)
    except TypeError:
        raise InvalidInput(
            f"costs are {', '.join(vars(planning.PANEL_COSTS[method]))}, not {', '.join(costs)}"
        ) from None
    aim = planning.Aim(width, difference, power, level, models)
    return planning.plan(spreads, method, aim, priced, images, most_images)


def _answers(pilot: Any, method: str | None) -> "Answers":
    from backend.answers import Answers, answers_of
    from backend.responses import read_answers

    if isinstance(pilot, Answers):
        return pilot
    if isinstance(pilot, (str, PathLike)):
        return read_answers(Path(pilot))
    rows = _rows(pilot)
    method = method or _method(rows)
    scoring.check_method(method)
    return answers_of(rows, method)


def _rows(responses: Any) -> Sequence[Mapping[str, Any]]:
    return responses.to_dict("records") if hasattr(responses, "to_dict") else list(responses)


def _method(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the method of rows that say one, or else what their exposures tell."""
    stated = {row.get("method") for row in rows}
    if len(stated) > 1:
        raise InvalidInput("method must be the same in every row; score the methods apart")
    if stated and None not in stated:
        return stated.pop()
    exposures = [row.get("exposure_ms") for row in rows]
    return "time" if any(ms is not None and ms == ms for ms in exposures) else "infinity"
