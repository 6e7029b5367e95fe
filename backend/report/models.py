"""Report section on scores: table and bar chart of the models, and what the numbers mean."""

from collections.abc import Iterator

from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import ALONE, Column, Figure, Row, Section, Table

MOST_DESCRIBED = 8
"""Maximum number of models that get a sentence of their own."""


def section(view: FindingsView) -> Section:
    table, notes = models_table(view), _notes(view)
    return Section(
        "scores",
        "Scores",
        (_meaning(view),),
        model_notes=tuple((row["model"], _model_note(view, row)) for row in view.models[:MOST_DESCRIBED]),
        more_paragraphs=remaining_note(len(view.models)),
        lead=table,
        tables=tuple(_sides_tables(view)),
        figures=(_figure(view),),
        notes=tuple(notes),
        brief=(table, "\n".join(notes)),
    )


def models_table(view: FindingsView) -> Table:
    """Return the table of models, best first."""
    unit = view.unit
    columns = [
        Column("model", lambda row: row["model"], is_number=False),
        Column("score (%)" if view.is_percent else "score (ms)", lambda row: formatting.amount(row["score"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["interval_ci"])),
        Column("percentile (paper)", lambda row: formatting.brackets(row["ci"])),
        Column("SD", lambda row: formatting.amount(row["std"], "", 2)),
    ]
    if unit == "ms":
        columns += [
            Column("fitted threshold", lambda row: formatting.threshold(row["threshold"])),
            Column("at floor", lambda row: formatting.share(row["blocks"]["at_floor"])),
            Column("at ceiling", lambda row: formatting.share(row["blocks"]["reached_ceiling"])),
        ]
    if unit == "percent":
        columns += [
            Column("fakes (%)", lambda row: formatting.amount(row["fakes_error"])),
            Column("reals (%)", lambda row: formatting.amount(row["reals_error"])),
        ]
        if view.is_balanced:
            columns.append(Column("all answers alike (%)", lambda row: formatting.amount(row["plain_score"])))
    columns += [
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("responses", lambda row: f"{row['responses']:,}"),
    ]
    caption = (
        f"{view.method}: pictures judged wrong"
        if view.is_percent
        else "HYPE-time: mean of the modal exposures of blocks"
    )
    errors = ("fakes_error", "reals_error", "plain_score", "balanced_score")
    keys = ("model", "score", "interval_ci", "ci", "std", *errors, "evaluators", "responses")
    rows = [{key: row[key] for key in keys if key in row} for row in view.models]
    if unit == "ms":
        rows = [
            {**row, "threshold": one["threshold"], "blocks": one["blocks"]}
            for row, one in zip(rows, view.models, strict=True)
        ]
    alone = view.alone or "percentile (paper)"
    return Table("models", f"{caption}, best first", tuple(columns), rows, alone=alone)


def _sides_tables(view: FindingsView) -> Iterator[Table]:
    """Yield the table of errors by side, and that of d' and c of all fakes against all reals."""
    sides = view.findings.get("sides")
    if not sides:
        return
    accuracy = sides["accuracy"]
    rows = [
        *({"what": f"fakes of {row['model']} taken for real", **row} for row in sides["fakes"]),
        *({"what": f"{_whose_reals(row)} taken for fake", **row} for row in sides["reals"]),
        {"what": "all pictures judged right", **accuracy, "error": accuracy["accuracy"]},
    ]
    keys = ("what", "error", "ci", "pooled", "evaluators", "responses")
    columns = (
        Column("side", lambda row: row["what"], is_number=False),
        Column("mean over evaluators (%)", lambda row: formatting.amount(row["error"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"])),
        Column("of all responses (%)", lambda row: formatting.amount(row["pooled"])),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("responses", lambda row: f"{row['responses']:,}"),
    )
    caption = "Errors on the fakes of each model and on the reals, each response counted once"
    table_rows = [{key: row[key] for key in keys} for row in rows]
    yield Table("sides", caption, columns, table_rows, alone=view.alone)
    if detection := sides["detection"]:
        pooled = {
            "of": "all responses together",
            **detection["pooled"],
            "d_prime_ci": None,
            "criterion_ci": None,
        }
        rows = [{"of": "means over evaluators", **detection}, pooled]
        names = ("of", "d_prime", "d_prime_ci", "criterion", "criterion_ci")
        title = "Sensitivity (d′) and bias (c), all fakes against all reals"
        heads = (Column("of", lambda row: row["of"], is_number=False), *detection_columns(view))
        table_rows = [{key: row[key] for key in names} for row in rows]
        yield Table("sides-detection", title, heads, table_rows, alone=view.alone)


def _whose_reals(row: Row) -> str:
    return "reals, the same for all models," if row["model"] is None else f"reals of {row['model']}"


def detection_columns(view: FindingsView) -> tuple[Column, ...]:
    """Return the columns of d' and c, with their intervals."""
    return (
        Column("d′", lambda row: formatting.amount(row["d_prime"], "", 2)),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["d_prime_ci"], 2)),
        Column("c", lambda row: formatting.amount(row["criterion"], "", 2)),
        Column(f"{view.level} interval of c", lambda row: formatting.brackets(row["criterion_ci"], 2)),
    )


def _figure(view: FindingsView) -> Figure:
    best = view.models[0]
    what = "Share of pictures judged wrong" if view.is_percent else "Threshold exposure"
    caption = f"{what}, by model."
    if any(row["interval_ci"] for row in view.models):
        caption += (
            f" Thick lines are the {view.level} intervals; thin capped ones the percentile intervals "
            f"of the paper, which are {ALONE}."
        )
    if view.is_percent:
        caption += " The dashed line marks 50%: guessing."
    return Figure(
        "scores",
        "Scores of the models",
        caption,
        f"Bars of {counted(len(view.models), 'model')}, best first: {best['model']} at {view.score(best)}.",
        lambda width_in: figures.scores.scores(view.models, view.unit, view.level, width_in),
        models_table(view),
    )


def remaining_note(count: int) -> tuple[str, ...]:
    """Return a sentence on the models, of `count`, that have no sentence of their own; empty if none."""
    if count <= MOST_DESCRIBED:
        return ()
    left = count - MOST_DESCRIBED
    return (f"The other {'model is' if left == 1 else f'{left} models are'} in the table.",)


def _meaning(view: FindingsView) -> str:
    is_fixed = view.has_fixed_exposures
    limit = "at all exposures together" if is_fixed else "without any time limit"
    if view.is_balanced:
        return (
            "The score is the mean of two shares: of the fakes and of the reals that people judged wrong "
            f"{limit}, averaged over evaluators. Beside a model's fakes, they judged far more or far fewer "
            "reals, so that a share of all these pictures would be mostly that of one side. Guessing gives "
            "50%; above it, fakes pass for real more readily than the real pictures do."
        )
    if view.is_percent:
        return (
            "The score is the share of pictures, real and fake together, that people judged wrong "
            f"{limit}, averaged over evaluators. Guessing gives 50%. Above 50%, people are misled: "
            "fakes pass for real more readily than the real pictures do."
        )
    return (
        "The score is an exposure: pictures flashed under a staircase that shortens after right answers and "
        "lengthens after wrong ones, and the exposure that was shown most often in a block is averaged over "
        "blocks and evaluators. The longer people needed to look, the better the model."
    )


def _model_note(view: FindingsView, row: Row) -> str:
    evaluators = counted(row["evaluators"], "evaluator")
    if not view.is_percent:
        text = f"{view.score(row)}, from {evaluators}."
        return text if row["ci"] else f"{text} One evaluator does not show how people differ: no interval."
    text = f"{view.score(row)} of pictures were judged wrong by {evaluators}"
    sides = [
        f"{formatting.share(row[key] / 100, 1)} of the {side}"
        for key, side in (("fakes_error", "fakes"), ("reals_error", "reals"))
        if row.get(key) is not None
    ]
    if len(sides) == 2:
        text += f", {' and '.join(sides)}"
    return text + ("." if row["ci"] else "; one evaluator does not show how people differ: no interval.")


def _notes(view: FindingsView) -> list[str]:
    if not any(row["ci"] for row in view.models):
        return []
    pictures = any(row["interval"] and row["interval"]["pictures"] is not None for row in view.models)
    over = "people and pictures" if pictures else "people"
    kind = (
        "Wilson's, with Student's quantile"
        if view.is_percent
        else "Student's, and if at least 1 in 20 blocks is at the shortest or longest exposure that "
        "of a population of psychometric functions"
    )
    notes = [
        f"The interval ({kind}) shows how far the score may move with other {over} of the same kind.",
        f"The percentile interval and the SD are the bootstrap's of the paper: evaluators sampled with "
        f"replacement, {bootstrap(view)}.",
    ]
    if not pictures:
        notes.append(
            "The responses do not name their pictures, so that only people are taken into account; where "
            "evaluators saw the same pictures, the interval is too narrow."
        )
    reasons: dict[str, list[str]] = {}
    for row in view.models:
        if row["interval"] and row["interval"]["why"]:
            reasons.setdefault(row["interval"]["why"], []).append(row["model"])
    for why, models in reasons.items():
        notes.append(f"The percentile interval of {formatting.listing(models)} is too narrow: {why}.")
    if not view.is_percent:
        notes.append(_threshold_note(view))
    return notes


def bootstrap(view: FindingsView) -> str:
    """Return how the bootstrap was computed."""
    settings = view.data["settings"]
    if settings["bootstrap"] == "exact":
        return "computed exactly, without random numbers"
    if not settings["iterations"]:
        return "partly by Monte Carlo"
    return f"from {settings['iterations']:,} iterations with seed {settings['seed'] or 0}"


def _threshold_note(view: FindingsView) -> str:
    threshold = view.models[0]["threshold"]
    low, high = (formatting.amount(threshold[key], "ms", 0) for key in ("floor_ms", "ceiling_ms"))
    return (
        f"The fitted threshold is the exposure at which the typical evaluator is right in "
        f"{formatting.share(threshold['at'])} of answers, where the rule of the staircase converges. The "
        f"score is biased against it, most where it is short or long. At floor: blocks at {low}; "
        f"at ceiling: blocks that reached {high}."
    )
