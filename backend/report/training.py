"""Report sections on progress over training, automatic metrics, and classes."""

from backend.foundation.counts import counted
from backend.report import formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Figure, Section, Table


def progress(found: FindingsView) -> Section | None:
    """Return the section on scores of checkpoints in order of training; None if there are none."""
    lines = found.findings.get("progress") or []
    if not lines:
        return None
    model_notes = []
    for line in lines:
        first, last = line["points"][0], line["points"][-1]
        text = (
            f"from {formatting.amount(first['score'], found.unit)} "
            f"{formatting.brackets(_ci(first))} at step {first['at']:,.0f} to "
            f"{formatting.amount(last['score'], found.unit)} {formatting.brackets(_ci(last))} at step "
            f"{last['at']:,.0f}"
        )
        if line["trend"] and line["trend"]["rho"] is not None:
            text += f" (Spearman with the step: {_rho(line['trend'])})"
        model_notes.append((line["model"], text + "."))
    rows = [{"model": line["model"], **point} for line in lines for point in line["points"]]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("step", lambda row: f"{row['at']:,.0f}"),
        Column(
            "score (%)" if found.is_percent else "score (ms)", lambda row: formatting.amount(row["score"])
        ),
        Column(f"{found.level} interval", lambda row: formatting.brackets(_ci(row))),
        Column("evaluators", lambda row: str(row["evaluators"])),
    )
    table = Table("progress", "Scores by step of training", columns, rows)

    def draw(width_in: float):
        from backend.report.figures.relations import progress

        return progress(lines, found.unit, width_in)

    figure = Figure(
        "progress",
        "Progress over training",
        f"Scores of checkpoints with their {found.level} intervals, by step of training.",
        " ".join(f"{name}: {text}" for name, text in model_notes),
        draw,
        table,
    )
    return Section(
        "progress", "Progress over training", (), model_notes=tuple(model_notes), figures=(figure,)
    )


def _ci(row: dict) -> list[float] | None:
    return row["interval"] and row["interval"]["ci"]


def metrics(found: FindingsView, info: SourceInfo) -> Section | None:
    """Return the section on correlations of scores with automatic metrics; None if none were given."""
    rows = found.findings.get("metrics") or []
    if not rows:
        return None
    scores = {row["model"]: row["score"] for row in found.models}
    panels = []
    for row in rows:
        values = info.metrics.get(row["metric"], {})
        points = [
            {"model": model, "value": values[model], "score": scores[model]}
            for model in scores
            if model in values
        ]
        panels.append({**row, "points": points})
    metric_notes = [(row["metric"], _correlation(row)) for row in rows]
    columns = (
        Column("metric", lambda row: row["metric"], is_number=False),
        Column("Spearman's ρ", lambda row: formatting.coefficient(row["rho"])),
        Column("p", lambda row: formatting.bare_p(row["p"])),
        Column("p (all orders)", lambda row: formatting.bare_p(row["p_exact"])),
        Column("models", lambda row: str(row["models"])),
    )
    correlations = Table("metrics", "Rank correlation of scores with metrics", columns, rows)
    value_rows = [{"metric": one["metric"], **point} for one in panels for point in one["points"]]
    value_columns = (
        Column("metric", lambda row: row["metric"], is_number=False),
        Column("model", lambda row: row["model"], is_number=False),
        Column("value", lambda row: f"{row['value']:g}".replace("-", formatting.MINUS)),
        Column("score", lambda row: formatting.amount(row["score"], found.unit)),
    )
    values = Table("metric-values", "Metrics and scores by model", value_columns, value_rows, shown=150)
    known = [one for one in panels if one["points"]]

    def draw(width_in: float):
        from backend.report.figures.relations import metrics

        return metrics(known, found.unit, width_in)

    figure = Figure(
        "metrics",
        "Scores beside automatic metrics",
        "Each model's metric (across) and score (up), with Spearman's rank correlation.",
        " ".join(f"{name}: {text}" for name, text in metric_notes),
        draw,
        values,
    )
    note = (
        "A rank correlation over few models is very unsure: with six models, ρ must pass .83 in size for p "
        "< .05 by "
        "Student's t. Metrics such as FID fall as models get better, so that agreement is a negative ρ."
    )
    return Section(
        "metrics",
        "Automatic metrics",
        (),
        model_notes=tuple(metric_notes),
        tables=(correlations,),
        figures=(figure,) if known else (),
        notes=(note,),
    )


def _correlation(row: dict) -> str:
    if row["rho"] is None:
        models = counted(row["models"], "model")
        return f"no rank correlation from {models}; it takes three that differ."
    return f"Spearman's {_rho(row)}, over {counted(row['models'], 'model')}."


def _rho(found: dict) -> str:
    """Return the correlation with its p-value; the exact one (all orders) for few models, if known."""
    exact = found.get("p_exact")
    p = formatting.p_value(found["p"]) if exact is None else f"{formatting.p_value(exact)} over all orders"
    return f"ρ = {formatting.coefficient(found['rho'])}, {p}"


def classes(found: FindingsView) -> Section | None:
    """Return the section on scores by class; None if there are fewer than two classes."""
    found_classes = found.findings.get("classes") or []
    if not found_classes:
        return None
    rows = [{"class": one["class"], **row} for one in found_classes for row in one["models"]]
    columns = [
        Column("class", lambda row: row["class"], is_number=False),
        Column("model", lambda row: row["model"], is_number=False),
        Column(
            "score (%)" if found.is_percent else "score (ms)", lambda row: formatting.amount(row["score"])
        ),
        Column(f"{found.level} interval", lambda row: formatting.brackets(_ci(row))),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("responses", lambda row: f"{row['responses']:,}"),
    ]
    table = Table("classes", "Scores by class", tuple(columns), rows, shown=200)
    paragraphs = (
        f"Scores by class, for {counted(len(found_classes), 'class', 'classes')}. Each is from a "
        "part of the "
        "answers, so that its interval is wider; differences between classes are not tested here.",
    )
    return Section("classes", "Classes", paragraphs, tables=(table,))
