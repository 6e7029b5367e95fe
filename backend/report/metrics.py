"""Agreement of automatic metrics with people's scores of models: rows, and the section of a report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.analysis.agreement.metric_agreement import HIGHER, LOWER, metric_agreement
from backend.analysis.judgment_scores import scores_of
from backend.analysis.scores import Options
from backend.analysis.table.response_table import Answers
from backend.experiment.judgments import judgment_of, method_named
from backend.experiment.records import Study
from backend.foundation.counted_nouns import counted
from backend.foundation.errors import InvalidInput
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Row, Section, Table
from backend.stores.store import Store

TITLE = "Scores beside automatic metrics"
_OVER = ("evaluators", "models")
"""What the intervals are over."""
_MOST_DRAWN = 12
"""Number of metrics up to which each has a panel of the figure and a sentence."""
_ARROWS = {LOWER: "↓", HIGHER: "↑"}
_NO_ORDER = {3: ".33", 4: ".083"}
"""The smallest p-value over all orders, where even that of equal orders is above .05: 2 / models!."""


def metric_rows(
    answers: Answers,
    scores: Mapping[str, Any],
    metrics: Mapping[str, Mapping[str, float]],
    options: Options,
) -> list[dict[str, Any]]:
    """Return a row for each metric: those of `metric_agreement`, with the metric's `values` by model.

    Args:
        answers: the responses that the scores are of.
        scores: the result of `scoring.score_answers`, for a judgment that scores models.
        metrics: by metric, then by model.

    Raises:
        InvalidInput: a value of a metric is not a number.
    """
    if not metrics:
        return []
    how = scores_of(answers.method)
    of_models = {row["model"]: row["score"] for row in scores["models"] if not row.get("is_real")}
    resamples = how.resampled(how.sampled(answers), options)
    rows = metric_agreement(of_models, metrics, resamples, options.level)
    return [
        {
            **row,
            "values": {
                model: float(metrics[row["metric"]][model])
                for model in of_models
                if model not in row["without"]
            },
        }
        for row in rows
    ]


def metric_findings(
    store: Store, study: Study, metrics: Mapping[str, Mapping[str, float]], level: float
) -> dict[str, Any] | None:
    """Return the scores of a study, with the rows of `metric_rows` as its only findings.

    None if it does not score models, or has no scores yet.
    """
    from backend.responses.study_data import study_answers
    from backend.scoring import score_answers

    is_of_models = not judgment_of(study.protocol.method).has_items
    if not is_of_models or not store.finished(study.name)[0]:
        return None
    try:
        answers = study_answers(store, study)
        scores = score_answers(scores_of(answers.method).sampled(answers), level=level)
    except InvalidInput:  # all are excluded, or the models of a tournament are not connected yet
        return None
    rows = metric_rows(answers, scores, metrics, Options(level=level))
    models = [{"model": row["model"]} for row in scores["models"]]
    return {**scores, "findings": {"models": models, "metrics": rows}}


def _correlated(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["rho"] is not None]


def _shared_notes(rows: Sequence[Row]) -> dict[str, str]:
    """Return why no metric has an interval over evaluators, or over models, where the reason is one."""
    shared = {}
    for what in _OVER:
        notes = {row[f"{what}_note"] for row in _correlated(rows)}
        if len(notes) == 1 and (note := notes.pop()):
            shared[what] = note
    return shared


def section(view: FindingsView) -> Section | None:
    """Return the section on correlations of scores with automatic metrics; None if there are none."""
    rows = view.findings.get("metrics") or []
    if not rows:
        return None
    drawn = [row for row in rows if row["values"]][:_MOST_DRAWN]
    known = any(row["models"] > 2 for row in rows)
    shared = _shared_notes(rows)
    few = rows if known and len(rows) <= _MOST_DRAWN else []
    return Section(
        "metrics",
        TITLE,
        (_introduction(rows, shared),),
        model_notes=tuple((_name(row), _sentence(view, row, shared)) for row in few),
        tables=(_correlations(view, rows), _kendall(view, rows)) if known else (),
        figures=(_figure(view, rows, drawn),) if drawn else (),
        notes=tuple(_notes(rows)) if known else (),
    )


def _introduction(rows: Sequence[Row], shared: Mapping[str, str]) -> str:
    """Return what the metrics have in common.

    Args:
        shared: the result of `_shared_notes`.
    """
    counts = sorted({row["models"] for row in rows})
    models = counted(counts[-1], "model") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} models"
    text = f"How far each metric orders the models as people do, over {models}."
    if counts[-1] < 3:
        return f"{text} A rank correlation takes three models."
    if p := _NO_ORDER.get(counts[-1]):
        text += f" With so few, no correlation is significant: even equal orders have p = {p}."
    text += "".join(f" No interval over {what}: {note}." for what, note in shared.items())
    return f"{text} {_on_signs(rows)}"


def _on_signs(rows: Sequence[Row]) -> str:
    """Return what the sign of a correlation means for the metrics that there are."""
    directions = {row["direction"] for row in rows}
    known = [
        f"a {sign} ρ for a metric marked {_ARROWS[better]}, of which {better} is better"
        for better, sign in ((LOWER, "negative"), (HIGHER, "positive"))
        if better in directions
    ]
    text = f"Agreement is {', and '.join(known)}." if known else ""
    if None in directions:
        of = "the others" if known else "these metrics"
        text += f" Of {of} it is not known here whether lower or higher is better; signs are as computed."
    return text.strip()


def _correlation(row: Row) -> str:
    models = counted(row["models"], "model")
    if row["rho"] is None:
        return f"no rank correlation from {models}: {row['models_note']}."
    without = f" (not known for {formatting.listing(row['without'])})" if row["without"] else ""
    return f"Spearman's {formatting.rho(row)}, over {models}{without}."


def _sentence(view: FindingsView, row: Row, shared: Mapping[str, str]) -> str:
    """Return the correlation of one metric with its intervals, in words.

    Args:
        shared: the result of `_shared_notes`, which the introduction says.
    """
    text = _correlation(row)
    if row["rho"] is None:
        return text
    others = [f"other {what}, {_interval(row[f'{what}_ci'])}" for what in _OVER if row[f"{what}_ci"]]
    if others:
        text += f" {view.level} interval with {'; with '.join(others)}."
    return text + "".join(
        f" No interval over {what}: {row[f'{what}_note']}."
        for what in _OVER
        if row[f"{what}_note"] and what not in shared
    )


def _interval(ci: Sequence[float]) -> str:
    return f"{formatting.coefficient(ci[0])} to {formatting.coefficient(ci[1])}"


def _name(row: Row) -> str:
    """Return a metric's name with an arrow in the direction of better values, as papers print it."""
    arrow = _ARROWS.get(row["direction"])
    return f"{row['metric']} {arrow}" if arrow else row["metric"]


def _without_values(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{key: cell for key, cell in row.items() if key != "values"} for row in rows]


def _correlations(view: FindingsView, rows: Sequence[Row]) -> Table:
    columns = (
        Column("metric", _name, is_number=False),
        Column("ρ", lambda row: formatting.coefficient(row["rho"])),
        Column("other evaluators", lambda row: formatting.coefficients(row["evaluators_ci"])),
        Column("other models", lambda row: formatting.coefficients(row["models_ci"])),
        Column("p", lambda row: formatting.bare_p(row["p"])),
        Column("p (all orders)", lambda row: formatting.bare_p(row["p_exact"])),
        Column("τ", lambda row: formatting.coefficient(row["tau"])),
        Column("models", lambda row: str(row["models"])),
    )
    caption = (
        f"Rank correlation of scores with metrics: Spearman's ρ with {view.level} intervals, Kendall's τ"
    )
    return Table("metrics", caption, columns, _without_values(rows), alone="other evaluators")


def _kendall(view: FindingsView, rows: Sequence[Row]) -> Table:
    columns = (
        Column("metric", _name, is_number=False),
        Column("τ", lambda row: formatting.coefficient(row["tau"])),
        Column("other evaluators", lambda row: formatting.coefficients(row["tau_evaluators_ci"])),
        Column("other models", lambda row: formatting.coefficients(row["tau_models_ci"])),
        Column("p (normal)", lambda row: formatting.bare_p(row["tau_p"])),
        Column("p (all orders)", lambda row: formatting.bare_p(row["tau_p_exact"])),
        Column("models", lambda row: str(row["models"])),
    )
    of_tau = ("tau", "tau_evaluators_ci", "tau_models_ci", "tau_p", "tau_p_exact")
    data = [{name: row[name] for name in ("metric", "direction", *of_tau, "models")} for row in rows]
    caption = f"Kendall's τ of scores with metrics, with {view.level} intervals"
    return Table("metrics-kendall", caption, columns, data, is_folded=True, alone="other evaluators")


def _figure(view: FindingsView, rows: Sequence[Row], drawn: Sequence[Row]) -> Figure:
    panels = [{**row, "points": [*_points(view, row)]} for row in drawn]
    values = Table(
        "metric-values",
        "Metrics and scores by model",
        (
            Column("metric", lambda row: row["metric"], is_number=False),
            Column("model", lambda row: row["model"], is_number=False),
            Column("value", lambda row: f"{row['value']:g}".replace("-", formatting.MINUS)),
            Column("score", lambda row: formatting.amount(row["score"], view.unit, _digits(view))),
            Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"], _digits(view))),
        ),
        [{"metric": row["metric"], **point} for row in rows for point in _points(view, row)],
        shown=150,
        alone=view.alone,
    )

    first = "" if len(drawn) == len(rows) else f" The first {len(drawn)} of {len(rows)} metrics."
    return Figure(
        "metrics",
        "Scores beside automatic metrics",
        "Each model's metric (across) and score (up), with Spearman's rank correlation. Lines are the "
        f"{view.level} intervals of the scores.{first}",
        " ".join(f"{row['metric']}: {_correlation(row)}" for row in drawn),
        lambda width_in: figures.relations.metrics(panels, _label(view), width_in),
        values,
    )


def _points(view: FindingsView, row: Row) -> Iterator[dict[str, Any]]:
    """Yield value, score and the score's interval of each model that has the metric."""
    for model in view.models:
        if model["model"] in row["values"]:
            yield {
                "model": model["model"],
                "value": row["values"][model["model"]],
                "score": model["score"],
                "ci": model["interval_ci"] or model["ci"],
            }


def _digits(view: FindingsView) -> int:
    return 1 if view.unit in ("percent", "ms") else 2


def _label(view: FindingsView) -> str:
    """Return what the scores are, for an axis."""
    if view.unit == "ms":
        return "score (ms)"
    what = method_named(view.data["method"]).score.partition(", ")[2].partition(":")[0]
    return f"{what.removeprefix('share of ')} ({'%' if view.is_percent else 'log-odds'})"


def _notes(rows: Sequence[Row]) -> Iterator[str]:
    yield (
        "A rank correlation over few models is very unsure: with six models, ρ must pass .83 in size for p "
        "< .05 by Student's t. “p (all orders)” is the share of all orders of the models that agree at least "
        "as much, in either direction."
    )
    resamples = next((row["resamples"] for row in rows if row["resamples"]), None)
    if resamples:
        yield (
            "“Other evaluators”: these models, judged by other people of the same kind. Evaluators are "
            f"sampled again ({resamples:,} times), and the ends corrected for the noise that resampled "
            "scores add, which pulls ρ towards 0."
        )
    if any(row["models_ci"] for row in rows):
        yield (
            "“Other models”: other models of the same kind, judged by other people. The models are taken for "
            "a random sample, and the interval holds every correlation that a test would not reject."
        )
