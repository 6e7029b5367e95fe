"""Report section on the agreement of automatic metrics with people's scores of models."""

from backend.foundation.counts import counted
from backend.report import formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Figure, Section, Table


def section(found: FindingsView, info: SourceInfo) -> Section | None:
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
    return f"Spearman's {formatting.rho(row)}, over {counted(row['models'], 'model')}."
