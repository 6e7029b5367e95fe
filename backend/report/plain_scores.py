"""Report section on scores of any judgment: table and bar chart of the models."""

from collections.abc import Callable, Sequence

from backend.experiment.judgments import method_named
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import ALONE, Column, Figure, Row, Section, Table
from backend.report.models import bootstrap


def section(
    view: FindingsView,
    meaning: str = "",
    noun: str = "model",
    tables: Sequence[Table] = (),
    notes: Sequence[str] = (),
    reference: float | None = None,
) -> Section:
    """Return the section on models with their scores and intervals.

    Args:
        meaning: what the score says, as a paragraph.
        noun: what is scored: `model` or `set`.
        tables: further tables.
        notes: further notes in small print.
        reference: a score that the figure marks, such as that of guessing.
    """
    what = _what(view)
    meaning = meaning or f"The score: {what[0].lower()}{what[1:]}, averaged over evaluators."
    table, intervals = models_table(view, noun), _interval_notes(view)
    return Section(
        "scores",
        "Scores",
        (meaning,),
        lead=table,
        tables=tuple(tables),
        figures=(_figure(view, table, noun, reference),),
        notes=(*intervals, *notes),
        brief=(table, *tables, *intervals),
    )


def summary(view: FindingsView, what: str = "", noun: str = "model") -> str:
    """Return the best and the worst score in a sentence or two.

    Args:
        what: what the score is of, to follow it in a sentence, such as `of pairs judged wrong`.
    """
    best, last, count = view.models[0], view.models[-1], len(view.models)
    end = f" {what}" if what else ""
    if count == 1:
        return f"{best['model']} scored {view.score(best)}{end}."
    if best["score"] == last["score"]:
        return f"All {count} {noun}s scored {view.score(best)}{end}."
    return (
        f"Of {count} {noun}s, {best['model']} scored highest, at {view.score(best)}{end}; {last['model']} "
        f"lowest, at {view.score(last)}."
    )


def models_table(view: FindingsView, noun: str = "model") -> Table:
    """Return the table of models, highest score first; rows have all that is known of them."""
    columns = [
        Column(noun, lambda row: row["model"], is_number=False),
        Column(f"score ({view.axis_unit})", lambda row: formatting.amount(row["score"])),
    ]
    if any(row["interval_ci"] for row in view.models):
        text: Callable[[Row], str] = lambda row: formatting.brackets(row["interval_ci"])  # noqa: E731
        columns.append(Column(f"{view.level} interval", text))
    columns += [
        Column("percentile interval", lambda row: formatting.brackets(row["ci"])),
        Column("SD", lambda row: formatting.amount(row["std"], "", 2)),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("responses", lambda row: f"{row['responses']:,}"),
    ]
    rows = [{name: cell for name, cell in row.items() if not isinstance(cell, dict)} for row in view.models]
    alone = view.alone or "percentile interval"
    return Table("models", f"{_what(view)}, highest first", tuple(columns), rows, alone=alone)


def _what(view: FindingsView) -> str:
    """Return what the score is, such as `Share of pairs judged wrong`."""
    text = method_named(view.data["method"]).score.partition(", ")[2] or "score"
    return formatting.capital(text)


def _figure(view: FindingsView, table: Table, noun: str, reference: float | None) -> Figure:
    best, what = view.models[0], _what(view)
    caption = f"{what}, by {noun}."
    if any(row["interval_ci"] for row in view.models):
        caption += f" Thick lines are the {view.level} intervals; thin capped ones the percentile intervals."
    elif any(row["ci"] for row in view.models):
        caption += f" Capped lines are percentile intervals {ALONE}."
    if reference is not None:
        caption += f" The dashed line marks {formatting.amount(reference, view.unit, 0)}."

    label = f"{what[0].lower()}{what[1:]}{' (%)' if view.is_percent else ''}"

    return Figure(
        "scores",
        f"Scores of the {noun}s",
        caption,
        f"Bars of {counted(len(view.models), noun)}, highest first: {best['model']} at {view.score(best)}.",
        lambda width_in: figures.scores.scores(
            view.models, view.unit, view.level, width_in, label, reference
        ),
        table,
    )


def _interval_notes(view: FindingsView) -> list[str]:
    over = {row["interval"]["of"] for row in view.models if row["interval"]}
    if over:
        of = "people and pictures" if "evaluators and pictures" in over else "people"
        return [
            "The interval (Wilson's, with Student's quantile) shows how far the score may move with other "
            f"{of} of the same kind. The percentile interval and the SD are the bootstrap's over people, "
            f"{bootstrap(view)}."
        ]
    if not any(row["ci"] for row in view.models):
        return ["One evaluator does not show how people differ: no interval."]
    return [f"Intervals and SDs are the bootstrap's: evaluators sampled with replacement, {bootstrap(view)}."]
