"""Report section on evaluators: their responses compared with one another's; it excludes nobody."""

from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Row, Section, Table
from backend.report.models import detection_columns

_UNKNOWN = (
    "Who began and did not finish is not known here: the store of a study records it, its responses do not."
)


def section(view: FindingsView) -> Section | None:
    """Return the section on evaluators' accuracy, agreement and response times; None if there are none."""
    rows = view.findings.get("evaluators") or []
    if not rows:
        return None
    people = counted(view.data["people"], "evaluator")
    if view.data["people"] < len(rows):
        people += f" ({len(rows)} values: one for each {view.noun} that they judged)"
    exclusion = view.data.get("exclusion")
    left_out = f"{exclusion['excluded']} more left out by the declared rule" if exclusion else "none left out"
    paragraphs = [f"{people}, {left_out}."]
    if all(row["guessing_p"] is not None for row in rows):
        paragraphs = [
            f"{paragraphs[0]} {_guessing(sum(row['guessing_p'] >= 0.05 for row in rows), view.answers)}"
        ]
    fast = [row for row in rows if (row.get("fast") or 0) > 0.1]
    if any(row.get("rt_median_ms") is not None for row in rows):
        paragraphs.append(
            "No evaluator answered more than a tenth of the pictures within 300 ms."
            if not fast
            else f"{counted(len(fast), 'evaluator')} answered more than a tenth of the pictures within 300 "
            f"ms, faster than a look could decide: {_named(fast)}."
        )
    outlying = [row for row in rows if row["z"] is not None and abs(row["z"]) > 3]
    if outlying:
        paragraphs.append(
            f"{counted(len(outlying), 'evaluator')} {'lies' if len(outlying) == 1 else 'lie'} more than 3 "
            f"SDs from the others of their {view.noun}: {_named(outlying)}."
        )
    constant = [row for row in rows if row[f"said_{view.second}"] in (0.0, 1.0) or row.get("not_sure") == 1.0]
    if constant:
        paragraphs.append(
            f"{counted(len(constant), 'evaluator')} gave the same answer to every picture: "
            f"{_named(constant)}."
        )
    notified = sum(row["same_answer_notices"] > 0 for row in rows)
    if notified:
        paragraphs.append(
            f"{counted(notified, 'evaluator was', 'evaluators were')} asked to take a moment with "
            "each picture, after many equal answers in a row (same_answer_notice)."
        )
    paragraphs += _able(view)
    figure = _figure(view, rows)
    return Section(
        "evaluators",
        "Evaluators",
        tuple(paragraphs),
        tables=(*(() if figure else (_table(view, rows),)), *_shrunk(view)),
        figures=(figure,) if figure else (),
        notes=() if view.findings.get("attrition") else (_UNKNOWN,),
    )


def _named(rows: list[Row]) -> str:
    return formatting.listing([f"{row['evaluator']} of {row['model']}" for row in rows])


def _able(view: FindingsView) -> list[str]:
    """Return how many evaluators tell fakes from reals by the crossed model; [] if it was not fitted."""
    crossed = view.findings.get("crossed_model")
    rows = crossed and crossed["by_evaluator"]
    if not rows:
        return []
    able = sum(row["d_prime_ci"][0] > 0 for row in rows)
    to_real = sum(row["criterion_ci"][0] > 0 for row in rows)
    to_fake = sum(row["criterion_ci"][1] < 0 for row in rows)
    return [
        f"By the crossed model, {able} of {counted(len(rows), 'evaluator')} told fakes from reals (interval "
        f"of d′ above 0); {to_real} leaned to “real”, {to_fake} to “fake”."
    ]


def _range(view: FindingsView, rows: list[dict]) -> str:
    """Return the range of what the figure shows across."""
    if _has_truth(rows):
        low, high = (formatting.share(end(row["accuracy"] for row in rows)) for end in (min, max))
        return f"accuracies from {low} to {high}"
    low, high = (formatting.amount(end(row["value"] for row in rows), view.unit) for end in (min, max))
    return f"values from {low} to {high}"


def _guessing(count: int, answers: int) -> str:
    """Return the sentences on evaluators who are not shown to be better than chance."""
    what = "tossing a coin" if answers == 2 else "guessing"
    if not count:
        return f"All are shown to do better than {what} (one-sided binomial p < .05)."
    return (
        f"{counted(count, 'of them is', 'of them are')} not shown to do better than {what} "
        "(one-sided binomial p ≥ .05). On a model that fools people a careful evaluator looks just so, "
        "which is why this says whom to look at, not whom to exclude."
    )


def _table(view: FindingsView, rows: list[dict]) -> Table:
    columns = [
        Column("evaluator", lambda row: row["evaluator"], is_number=False),
        Column(view.noun, lambda row: row["model"], is_number=False),
        Column("responses", lambda row: str(row["responses"])),
        Column(f"value ({view.axis_unit})", lambda row: formatting.amount(row["value"])),
        *([Column("right", lambda row: formatting.share(row["accuracy"]))] if _has_truth(rows) else []),
        Column(f"said {view.second}", lambda row: formatting.share(row[f"said_{view.second}"])),
        *(
            [Column("not sure", lambda row: formatting.share(row["not_sure"]))]
            if "not_sure" in rows[0]
            else []
        ),
        Column("SDs from others", lambda row: formatting.amount(row["z"], "", 1)),
    ]
    if any(row["agreement"] is not None for row in rows):
        columns.append(
            Column("agreement beyond chance", lambda row: formatting.coefficient(row["agreement"], 2))
        )
    if _has_truth(rows):
        columns.append(Column("guessing: p", lambda row: formatting.bare_p(row["guessing_p"])))
    if any(row.get("rt_median_ms") is not None for row in rows):
        columns.append(
            Column("median time (ms)", lambda row: formatting.amount(row.get("rt_median_ms"), "", 0))
        )
        columns.append(Column("under 300 ms", lambda row: formatting.share(row.get("fast"))))
    return Table("evaluators", f"Evaluators, by {view.noun}", tuple(columns), rows, shown=200)


def _has_truth(rows: list[dict]) -> bool:
    return any(row["accuracy"] is not None for row in rows)


def _shrunk(view: FindingsView) -> list[Table]:
    """Return the table of evaluators as the crossed model estimates them; none if it was not fitted."""
    crossed = view.findings.get("crossed_model")
    rows = crossed and crossed["by_evaluator"]
    if not rows:
        return []
    columns = (
        Column("evaluator", lambda row: row["evaluator"], is_number=False),
        Column("of", lambda row: row["models"], is_number=False),
        Column("responses", lambda row: str(row["responses"])),
        *detection_columns(view),
    )
    caption = "Evaluators by sensitivity (d′) and bias (c), as the crossed model estimates them"
    shown = [{**row, "models": formatting.listing(row["models"], len(row["models"]))} for row in rows]
    return [Table("evaluators-crossed", caption, columns, shown, shown=200)]


def _figure(view: FindingsView, rows: list[dict]) -> Figure | None:
    keys = [key for key in ("rt_median_ms", "agreement") if any(row.get(key) is not None for row in rows)]
    if not keys:
        return None

    what = "median response time" if keys[0] == "rt_median_ms" else "agreement with others, beyond chance"
    return Figure(
        "evaluators",
        "Evaluators",
        f"Each mark is an evaluator: share of right answers (across) and {what} (up). The dashed line is "
        "guessing."
        if _has_truth(rows)
        else f"Each mark is an evaluator: value (across) and {what} (up).",
        f"{counted(len(rows), 'mark')}, {_range(view, rows)}.",
        lambda width_in: figures.relations.evaluators(
            rows, view.names, keys[0], width_in, f"value ({view.axis_unit})", 100 / view.answers
        ),
        _table(view, rows),
    )
