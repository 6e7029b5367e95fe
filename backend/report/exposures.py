"""Report section on HYPE-time: three estimates of the threshold, staircases, psychometric functions."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.analysis.models import psychometric
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Row, Section, Table
from backend.report.models import MOST_DESCRIBED, remaining_note

_SHOWN_MODELS = 9
"""Maximum number of panels of a figure; the tables have all models."""


def _fitted(key: str, form: Callable[[float], str]) -> Callable[[Row], str]:
    """Return a function that formats a parameter, and says if it is the end of what was searched."""
    return lambda row: form(row[key]) + (" (bound)" if key in row["at_bound"] else "")


_FIT_COLUMNS = (
    Column("midpoint (ms)", _fitted("midpoint_ms", formatting.amount)),
    Column("slope", _fitted("slope", lambda value: formatting.amount(value, "", 2))),
    Column("lapses", _fitted("lapse", lambda value: formatting.share(value, 1))),
    Column("deviance", lambda row: formatting.amount(row["deviance"])),
)
"""Columns of a fitted psychometric function besides its threshold."""
_TEST = Column("p of fit", lambda row: formatting.bare_p(row["p"]))


def section(view: FindingsView) -> Section | None:
    """Return the section on estimates from exposures other than the mode; None for other methods."""
    models = [row for row in view.models if row.get("exposures")]
    if not models:
        return None
    at = models[0]["exposures"]["threshold_ms"]["at"]
    paragraphs = [
        "The score takes the exposure shown most often. Two other readings of the same answers do not "
        "depend on "
        "ties and steps: the mean exposure at which staircases turned, and a psychometric function fitted by "
        f"maximum likelihood, whose threshold is the exposure at which {formatting.share(at)} of answers are "
        "right.",
    ]
    figures = [_functions(models[:_SHOWN_MODELS])]
    if view.findings.get("staircases"):
        figures.insert(0, _staircases(view, models[:_SHOWN_MODELS]))
    notes = [
        "The function rises from 50% (guessing) to 1 less the lapse rate, as a logistic of log exposure. Its "
        "fit is not tested, since the exposures of a staircase follow the answers.",
        "The threshold is the median of evaluators, those who did not reach it counting as longer; where "
        "half "
        "or more did not, it is that of all answers together, which mix people and so flatten the function.",
    ]
    return Section(
        "exposures",
        "Exposures",
        tuple(paragraphs),
        model_notes=tuple((row["model"], _model_note(view, row)) for row in models[:MOST_DESCRIBED]),
        more_paragraphs=remaining_note(len(models)),
        tables=(
            _thresholds(view, models),
            functions_table({row["model"]: row["exposures"]["pooled"] for row in models}, "trials"),
        ),
        figures=tuple(figures),
        notes=tuple(notes),
    )


def _model_note(view: FindingsView, row: Row) -> str:
    reversal, threshold = row["exposures"]["reversal_ms"], row["exposures"]["threshold_ms"]
    parts = [f"mode {view.score(row)}"]
    if reversal["mean"] is not None:
        mean, median = (formatting.amount(reversal[name], "ms") for name in ("mean", "median"))
        around = f" ({formatting.interval(reversal['median_ci'], 'ms')})" if reversal["median_ci"] else ""
        parts.append(f"reversals {mean}, median of evaluators {median}{around}")
    found_threshold, source = _threshold(row)
    parts.append(f"threshold {formatting.threshold(found_threshold, 'ms')} ({source})")
    beyond = threshold["beyond"]
    if beyond:
        parts.append(f"{counted(beyond, 'evaluator')} did not reach it within the exposures shown")
    if threshold["below"]:
        parts.append(f"{counted(threshold['below'], 'evaluator')} reached it below the shortest exposure")
    return f"{'; '.join(parts)}."


def _threshold(row: Row) -> tuple[dict[str, Any], str]:
    """Return the advised threshold, as `psychometric.limited`, and which responses it is estimated from.

    It is the median of evaluators, or, if half of them or more are outside the exposures shown, that of all
    responses pooled. (A mean over those who reached it would be too short.)
    """
    threshold, pooled = row["exposures"]["threshold_ms"], row["exposures"]["pooled"]
    if threshold["advised"] == "median":
        return _limited(pooled, threshold["median"], threshold["median_ci"]), "median of evaluators"
    return _limited(pooled, pooled["threshold_ms"], None), "all answers together"


def _limited(pooled: Row, ms: float | None, ci: Sequence[float | None] | None) -> dict[str, Any]:
    return psychometric.limited(ms, ci, pooled["shortest_ms"], pooled["longest_ms"])


def _thresholds(view: FindingsView, models: Sequence[Row]) -> Table:
    rows: list[dict[str, Any]] = []
    for row in models:
        one = row["exposures"]
        threshold, source = _threshold(row)
        rows.append(
            {
                "model": row["model"],
                "score": row["score"],
                "score_ci": row["interval_ci"],
                "reversal_ms": one["reversal_ms"]["mean"],
                "reversal_median_ms": one["reversal_ms"]["median"],
                "reversal_median_ci": one["reversal_ms"]["median_ci"],
                **_columns(threshold),
                "threshold_of": source,
                "threshold_evaluators": one["threshold_ms"]["evaluators"],
            }
        )
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("mode (ms)", lambda row: formatting.estimate(row["score"], row["score_ci"])),
        Column("reversals (ms)", lambda row: formatting.amount(row["reversal_ms"])),
        Column(
            "median of them (ms)",
            lambda row: formatting.estimate(row["reversal_median_ms"], row["reversal_median_ci"]),
        ),
        Column("threshold (ms)", written_threshold),
        Column("which is of", lambda row: row["threshold_of"], is_number=False),
        Column("who reached it", lambda row: str(row["threshold_evaluators"])),
    )
    return Table(
        "thresholds",
        f"Three readings of the exposures, with {view.level} intervals",
        columns,
        rows,
        alone=view.alone or "median of them (ms), threshold (ms)",
    )


def functions_table(functions: Mapping[str, Row], trials: str) -> Table:
    """Return the psychometric functions of all evaluators' answers, by model; `trials` names the answers."""
    rows = [function_row(model, function) for model, function in functions.items()]
    at = formatting.share(next(iter(functions.values()))["at"])
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column(f"{at} right at (ms)", written_threshold),
        *_FIT_COLUMNS,
        *([_TEST] if any("p" in function for function in functions.values()) else []),
        Column(trials, lambda row: f"{row['trials']:,}"),
    )
    caption = "Psychometric functions of all evaluators together"
    return Table("functions", caption, columns, rows, alone=f"{at} right at (ms)")


def function_row(model: str, function: Row) -> Row:
    """Return a fitted function as columns: its threshold, limited to the exposures shown, and the rest."""
    keys = ("midpoint_ms", "slope", "lapse", "deviance", "p", "trials", "at_bound")
    limited = _limited(function, function["threshold_ms"], function["ci"])
    return {"model": model, **_columns(limited), **{key: function.get(key) for key in keys}}


def _columns(threshold: Row) -> Row:
    names = ("ms", "ci", "censored")
    return {f"threshold_{name}": threshold[name] for name in names} | {
        name: threshold[name] for name in ("floor_ms", "ceiling_ms")
    }


def written_threshold(row: Row) -> str:
    """Return the threshold in the columns of a row with its interval; `≤ 100` if it is not within them."""
    threshold = {name.removeprefix("threshold_"): value for name, value in row.items()}
    return formatting.threshold(threshold)


def _staircases(view: FindingsView, models: Sequence[Row]) -> Figure:
    import numpy as np

    traces = defaultdict(list)
    for one in view.findings["staircases"]:
        traces[one["model"]].append(one["exposure_ms"])
    drawn, rows = {}, []
    for row in models:
        model_traces = traces[row["model"]]
        length = max(map(len, model_traces))
        grid = np.full((len(model_traces), length), np.nan)
        for i, trace in enumerate(model_traces):
            grid[i, : len(trace)] = trace
        low, high = np.nanquantile(grid, [0.1, 0.9], axis=0)
        mean = np.nanmean(grid, axis=0)
        drawn[row["model"]] = {"traces": model_traces, "mean": mean, "low": low, "high": high}
        for trial in sorted({0, *range(24, length, 25), length - 1}):
            rows.append(
                {
                    "model": row["model"],
                    "trial": trial + 1,
                    "blocks": int((~np.isnan(grid[:, trial])).sum()),
                    "mean_ms": float(mean[trial]),
                    "middle_80": [float(low[trial]), float(high[trial])],
                }
            )
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("trial", lambda row: str(row["trial"])),
        Column("blocks", lambda row: str(row["blocks"])),
        Column("mean exposure (ms)", lambda row: formatting.amount(row["mean_ms"])),
        Column("middle 80% (ms)", lambda row: formatting.brackets(row["middle_80"], 0)),
    )
    table = Table("staircases", "Exposures of the staircases by trial", columns, rows, shown=100)

    caption = (
        "Staircases: the mean exposure of all blocks by trial (thick), the middle 80% of blocks (band) and "
        "a few single blocks (thin)."
    )
    ends = ", ".join(f"{name} at {one['mean'][-1]:.0f} ms" for name, one in drawn.items())
    return Figure(
        "staircases",
        "Staircases of evaluators",
        caption,
        f"Mean exposure ends: {ends}.",
        lambda width_in: figures.exposures.staircases(drawn, width_in),
        table,
    )


def _functions(models: Sequence[Row]) -> Figure:
    drawn = {row["model"]: row["exposures"] for row in models}
    rows = [
        {"model": row["model"], **point, "share": point["right"] / point["total"]}
        for row in models
        for point in row["exposures"]["points"]
    ]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("exposure (ms)", lambda row: formatting.amount(row["exposure_ms"])),
        Column("right", lambda row: str(row["right"])),
        Column("answers", lambda row: str(row["total"])),
        Column("share right", lambda row: formatting.share(row["share"])),
    )
    table = Table("psychometric", "Right answers by exposure", columns, rows, shown=150)

    at = formatting.share(models[0]["exposures"]["pooled"]["at"])
    return Figure(
        "psychometric",
        "Psychometric functions",
        "Right answers by exposure, all evaluators of a model together (larger discs: more answers), with "
        f"the fitted function. The diamond is the exposure at which {at} are right; the dashed line is "
        "guessing.",
        "Curves that rise from guessing as exposures lengthen.",
        lambda width_in: figures.exposures.psychometric(drawn, width_in),
        table,
    )
