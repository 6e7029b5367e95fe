"""API for notebooks: scores, reports, the bootstrap of a mean, psychometric functions, and plans."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from backend.analysis.comparisons.chance import MARGIN
from backend.analysis.distributions import bootstrap as bootstraps
from backend.analysis.models import psychometric
from backend.analysis.table.response_rows import answers_of
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import PLANNED_WITHOUT_PILOT, either, method_named
from backend.experiment.protocol import Protocol
from backend.foundation.errors import InvalidInput
from backend.report.compose import compose_scores
from backend.report.findings import FindingsOptions, findings, score_findings
from backend.report.notebook_display import Displayed, Part, scores_shown
from backend.report.plan_tables import as_table
from backend.responses.readers import read_answers
from backend.responses.reading.metrics import read_metrics
from backend.scoring import score_answers

_PAPERS = "SDs are read off the papers' bootstrap tables; those of a pilot (--pilot) are better"
_REHEARSED = "the pilot's sessions are simulated: the SDs are those of the simulation, not of people"


def score(
    responses: str | PathLike | Iterable[Mapping[str, Any]],
    method: str | None = None,
    *,
    full: bool = False,
    metrics: str | PathLike | Mapping[str, Mapping[str, float]] | None = None,
    margin: float = MARGIN,
    threshold_at: float = psychometric.THRESHOLD_AT,
    exposures: str = "nominal",
    simulated: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Return the scores of a responses file, or of rows given as mappings.

    Args:
        responses: a path (CSV or JSON lines), or rows with `model, evaluator, truth, response` and,
            for HYPE-time, `block` and `exposure_ms`.
        method: method of rows, 'infinity' or 'time'; default, their `method`, else 'time' if they have
            exposures, else 'infinity'. For a file, the method is read from the file.
        full: add the key `findings`: further results of a report.
        metrics: automatic metrics to correlate with the scores, by metric and then by model, or the path
            of a CSV (model, then one column per metric). Implies `full`.
        margin: percentage points that count as no difference: of two models, and around 50%; above 0 and
            below 50.
        threshold_at: accuracy (0.5 to 1) at which the psychometric function has its threshold.
        exposures: 'nominal', or 'shown' (HYPE-time; needs `frames` and `frame_ms`).
        simulated: score the simulated sessions (column `simulated`) instead of the real ones.
        **options: `iterations`, `seed`, `level`, `evaluators_drawn`; see `scoring.Options`.

    Returns:
        Plain data: `models`, best first, with `score`, `std`, `ci` (percent or ms); `anova`; `pairs`; and
        `simulated`, whether the sessions are simulated. docs/statistics.md describes `findings`. A notebook
        shows it as tables and figures.

    Raises:
        OpenhypeError: a row is invalid, there is nothing to score, or an argument is out of range.
    """
    is_full = full or metrics is not None
    if exposures not in ("nominal", "shown"):
        raise InvalidInput(f"exposures must be 'nominal' or 'shown', not {exposures!r}")
    details = is_full or exposures == "shown"
    answers = _answers(responses, method, details, simulated)

    def parts() -> Iterator[Part]:
        return scores_shown(compose_scores(score_findings(answers, exposures, margin=margin, **options)))

    if not is_full:
        return Displayed(score_answers(answers, exposures, margin=margin, **options), parts)
    chosen = FindingsOptions(_metrics(metrics), margin=margin, threshold_at=threshold_at)
    return Displayed(findings(answers, chosen, exposures=exposures, **options), parts)


def report(
    responses: str | PathLike,
    folder: str | PathLike,
    *,
    title: str = "",
    metrics: str | PathLike | Mapping[str, Mapping[str, float]] | None = None,
    margin: float = MARGIN,
    threshold_at: float = psychometric.THRESHOLD_AT,
    exposures: str = "nominal",
    simulated: bool = False,
    **options: Any,
) -> Path:
    """Write the report of a responses file, and return the path of its page, `index.html`.

    Needs the extra `report`. docs/reports.md describes the page, its figures and tables.

    Args:
        responses: a path (CSV or JSON lines).
        folder: the folder to write into, made if missing; other files in it are left unchanged.
        title: title of the page; default, the file's name.
        metrics, margin, threshold_at, exposures: as for `score`.
        simulated: report on the simulated sessions instead of the real ones.
        **options: `iterations`, `seed`, `level`, `evaluators_drawn`; see `scoring.Options`.

    Raises:
        OpenhypeError: a row is invalid, there is nothing to score, an argument is out of range, or
            matplotlib is not installed.
    """
    from backend.foundation.timestamps import utc_now
    from backend.report.build import ReportOptions, file_report
    from backend.report.write import write

    chosen = FindingsOptions(_metrics(metrics), margin=margin, threshold_at=threshold_at)
    report_options = ReportOptions(title, exposures, chosen, options, simulated)
    return write(file_report(Path(responses), utc_now(), report_options), Path(folder))[-1]


def _metrics(
    metrics: str | PathLike | Mapping[str, Mapping[str, float]] | None,
) -> Mapping[str, Mapping[str, float]]:
    return read_metrics(Path(metrics)) if isinstance(metrics, (str, PathLike)) else metrics or {}


def bootstrap(values: Sequence[float], drawn: int | None = None, level: float = 0.95) -> bootstraps.Interval:
    """Return SD and percentile interval of the mean of values drawn with replacement.

    They are exact if the values lie on a lattice, else from 10,000 Monte Carlo iterations with seed 0.

    Args:
        values: one number per evaluator, in any unit; at least one.
        drawn: number of values in a resample; default, the number of values.
        level: confidence level of the interval, 0 to 1.

    Raises:
        OpenhypeError: there are no values, one is not finite, or an argument is out of range.
    """
    values = list(values)
    count = len(values) if drawn is None else drawn
    interval = bootstraps.exact(values, count, level)
    if interval is not None:
        return interval
    rng = np.random.default_rng(0)
    return bootstraps.monte_carlo(values, count, level, bootstraps.ITERATIONS, rng)


def fit_psychometric(
    exposure_ms: Sequence[float],
    was_right: Sequence[bool],
    *,
    at: float = psychometric.THRESHOLD_AT,
    guess: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
) -> psychometric.Fit:
    """Return the psychometric function of one evaluator, fitted by maximum likelihood.

    accuracy(t) = guess + (1 - guess - lapse) / (1 + (midpoint_ms / t)^slope); the lapse rate is fitted.
    The threshold's interval is that of the profile likelihood, and the goodness of fit `p` compares the
    deviance with that of 1,000 simulated data sets (Wichmann and Hill, 2001).

    Args:
        exposure_ms: shape (responses,), above 0.
        was_right: shape (responses,), True or 1 for a right response.
        at: accuracy (0 to 1) at the threshold, above `guess`.
        guess: accuracy (0 to 1) by guessing.
        level: confidence level of the interval, 0 to 1.
        seed: seed of the simulated data sets.

    Raises:
        OpenhypeError: there are no responses, the lengths differ, an exposure is not above 0, or an argument
            is out of range.
    """
    trials = psychometric.Trials.of(np.asarray(exposure_ms, float), np.asarray(was_right))
    return psychometric.fit(trials, at=at, guess=guess, level=level, rng=np.random.default_rng(seed))


def plan(
    pilot: str | PathLike | Iterable[Mapping[str, Any]] | Answers | None = None,
    method: str | Protocol | None = None,
    *,
    width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    assurance: float = 0.8,
    level: float = 0.95,
    models: int | None = None,
    images: int | None = None,
    most_images: int = 200,
    pictures: int | None = None,
    models_per_session: int | None = None,
    ties: bool = False,
    real_contestant: bool = False,
    fee: float = 0.0,
    looks: Sequence[int] | None = None,
    aim: str | None = None,
    spending: str | None = None,
    **costs: float,
) -> dict[str, Any]:
    """Return how many evaluators an aim requires, their cost, and their working time.

    Args:
        pilot: responses, as for `score`, from which SDs between evaluators are estimated; default, the SDs of
            the papers' six models (HYPE, tables 1 to 3; workshop paper, tables 6 and 7).
        method: 'infinity' (default) or 'time', for published SDs or rows; or 'tournament', for those of
            simulated evaluators. Or a study's settings.
        width: width of the interval to reach, in percentage points, ms, or log-odds (tournaments); default,
            if `difference` is not given either, 5 points, 100 ms, or 0.5.
        difference: difference between two models to detect as significant, in the same unit.
        power: probability of detecting it, 0 to 1.
        assurance: probability that the interval is at most `width` wide, 0 to 1.
        level: confidence level of intervals and tests, 0 to 1.
        models: number of models; default 2 with a difference, else 1. For 3 or more, the test is of all
            pairs.
        images: number of images per evaluator; not for HYPE-time.
        most_images: maximum number of images per evaluator in the search for the cheapest number.
        pictures: number of pictures of each model, and of reals, from which evaluators' are drawn; default,
            the papers' 5,000, or the pilot's.
        models_per_session: number of models that a session shows, which share its images; default 1, or the
            pilot's.
        ties: of a tournament without a pilot, whether a pair may be called equal.
        real_contestant: of the same, whether the reals are a contestant.
        fee: the panel's fee in percent of the pay: 42.8, not 0.428.
        looks: numbers of evaluators of each model at which the study is analysed, such as (15, 20, 25, 30):
            compare this plan with the fixed one, by simulated studies.
        aim: what stops it: `apart` (default), `apart=neighbours`, `apart=MODEL` (the first against the
            others), `ranks=1`, `half-width=5`, `equal-within=5` or `futility=10`, in the score's unit.
        spending: `obrien-fleming` (default), `obrien-fleming-whole` or `pocock`.
        **costs: `base_usd_cents` (100), `right_usd_cents` (2), `hourly_usd_cents` (1200),
            `image_seconds` (6, HYPE-time 8), `base_seconds` (60), `at_once` (10); see
            `analysis.costs.Costs`.

    Returns:
        Plain data: `rows`, one per model, with `evaluators` (of each model; None, with `why_none`, where no
        number suffices), `people` (of the study), `usd`, `hours`, and `best`, the same for the number of
        images that costs least (None for HYPE-time); `assumptions`, in words. With `looks`, that of
        `analysis.planning.simulated_looks.compare_plans`, with `assumptions`.

    Raises:
        OpenhypeError: a row is invalid, a number is out of range, or no model in the pilot has two
            evaluators.
    """
    from backend.analysis.planned_spreads import spreads_of, without_pilot
    from backend.analysis.planning import plan as planning
    from backend.analysis.planning.boundaries import OBRIEN_FLEMING
    from backend.analysis.planning.looks import LookPlan
    from backend.analysis.planning.simulated_looks import compare_plans, in_study
    from backend.experiment.planned_looks import APART, HALF_WIDTH, aim_of

    notes: tuple[str, ...] = ()
    if pilot is None:
        asked = {"ties": ties, "real_contestant": real_contestant}
        protocol = method if isinstance(method, Protocol) else _protocol(method or "infinity", asked)
        spreads = without_pilot(protocol, max(models or 2, 2), images)
        name, is_simulated = protocol.method, False
    else:
        stated = method.method if isinstance(method, Protocol) else method
        answers = _answers(pilot, stated, details=False)
        name, is_simulated, notes = answers.method, answers.is_simulated, answers.notes
        planning.planning_of(name)
        spreads = spreads_of(answers)
    given: dict[str, Any] = {"fee_percent": fee, **costs}
    usual = planning.panel_costs(name)
    try:
        priced = replace(usual, **given)
    except TypeError:
        raise InvalidInput(f"costs are {', '.join(vars(usual))}, not {', '.join(costs)}") from None
    if looks is not None:
        if width is not None:
            raise InvalidInput("looks have an aim of their own, such as half-width=5, not a width")
        chosen = LookPlan(tuple(looks), aim_of(aim or APART), spending or OBRIEN_FLEMING, level)
        usual_difference = planning.planning_of(name).difference
        if usual_difference is None and chosen.aim.kind != HALF_WIDTH:
            raise InvalidInput(
                f"{name} has no test between sets, since which picture is p1 has no meaning; "
                "the aim of its looks is a half-width, such as half-width=5"
            )
        made = compare_plans(
            [*in_study(spreads, name, models or 2, images, pictures, models_per_session)],
            name,
            chosen,
            priced,
            difference or usual_difference or chosen.aim.number or 0.0,
            models or 2,
            power,
        )
    elif aim or spending:
        raise InvalidInput("aim and spending go with looks, such as 15,20,25,30")
    else:
        wanted = planning.Aim(width, assurance, difference, power, level, models)
        made = planning.plan(spreads, name, wanted, priced, images, most_images, pictures, models_per_session)
    if pilot is None and planning.planning_of(name).without_pilot == "papers":
        made["assumptions"].append(_PAPERS)
    if is_simulated:
        made["assumptions"].insert(0, _REHEARSED)
    made["assumptions"] += notes
    return Displayed(made, lambda: [as_table(made)])


def _protocol(method: str, asked: Mapping[str, Any]) -> Protocol:
    """Return the settings of a method that is planned without a pilot, with those of `asked` that it has."""
    if method not in PLANNED_WITHOUT_PILOT:
        raise InvalidInput(
            f"without a pilot, method must be {either(PLANNED_WITHOUT_PILOT)}, not {method!r}; --pilot plans "
            "all methods"
        )
    own = method_named(method)
    return own.protocol.changed(**{name: value for name, value in asked.items() if own.has(name)})


def _answers(responses: Any, method: str | None, details: bool, simulated: bool = False) -> Answers:
    if isinstance(responses, Answers):
        return responses
    if isinstance(responses, (str, PathLike)):
        return read_answers(Path(responses), details, simulated)
    rows = responses.to_dict("records") if hasattr(responses, "to_dict") else list(responses)
    chosen = method or _method(rows)
    return answers_of(rows, chosen, simulated)


def _method(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the method that rows state, or else the one inferred from their exposures."""
    stated: set[Any] = {row.get("method") for row in rows}
    if len(stated) > 1:
        raise InvalidInput("method must be the same in every row; score the methods separately")
    if stated and None not in stated:
        return stated.pop()
    exposures = [row.get("exposure_ms") for row in rows]
    return "time" if any(ms is not None and ms == ms for ms in exposures) else "infinity"
