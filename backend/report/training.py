"""Report sections on progress over training, and on classes."""

from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Row, Section, Table


def progress(view: FindingsView) -> Section | None:
    """Return the section on scores of checkpoints in order of training; None if there are none."""
    lines = view.findings.get("progress") or []
    if not lines:
        return None
    model_notes = []
    for line in lines:
        first, last = line["points"][0], line["points"][-1]
        text = (
            f"from {formatting.amount(first['score'], view.unit)} {formatting.brackets(_ci(first))} at "
            f"step {first['at']:,.0f} to {formatting.amount(last['score'], view.unit)} "
            f"{formatting.brackets(_ci(last))} at step {last['at']:,.0f}"
        )
        if line["trend"] and line["trend"]["rho"] is not None:
            text += f" (Spearman with the step: {formatting.rho(line['trend'])})"
        model_notes.append((line["model"], text + "."))
    rows = [{"model": line["model"], **point} for line in lines for point in line["points"]]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("step", lambda row: f"{row['at']:,.0f}"),
        Column("score (%)" if view.is_percent else "score (ms)", lambda row: formatting.amount(row["score"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(_ci(row))),
        Column("evaluators", lambda row: str(row["evaluators"])),
    )
    table = Table("progress", "Scores by step of training", columns, rows, alone=view.alone)

    figure = Figure(
        "progress",
        "Progress over training",
        f"Scores of checkpoints with their {view.level} intervals, by step of training.",
        " ".join(f"{name}: {text}" for name, text in model_notes),
        lambda width_in: figures.relations.progress(lines, view.unit, width_in),
        table,
    )
    return Section(
        "progress", "Progress over training", (), model_notes=tuple(model_notes), figures=(figure,)
    )


def _ci(row: Row) -> list[float] | None:
    return row["interval"] and row["interval"]["ci"]


def classes(view: FindingsView) -> Section | None:
    """Return the section on scores by class; None if there are fewer than two classes."""
    found_classes = view.findings.get("classes") or []
    if not found_classes:
        return None
    rows = [{"class": one["class"], **row} for one in found_classes for row in one["models"]]
    columns = [
        Column("class", lambda row: row["class"], is_number=False),
        Column("model", lambda row: row["model"], is_number=False),
        Column("score (%)" if view.is_percent else "score (ms)", lambda row: formatting.amount(row["score"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(_ci(row))),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("responses", lambda row: f"{row['responses']:,}"),
    ]
    table = Table("classes", "Scores by class", tuple(columns), rows, shown=200, alone=view.alone)
    paragraphs = (
        f"Scores by class, for {counted(len(found_classes), 'class', 'classes')}. Each is from a "
        "part of the "
        "answers, so that its interval is wider; differences between classes are not tested here.",
    )
    return Section("classes", "Classes", paragraphs, tables=(table,))
