"""The section of scores: the table of models, their bars, and what the numbers mean."""

from backend.report import wording
from backend.report.found import Found
from backend.report.parts import Column, Drawn, Row, Section, Table

SAID = 8
"""Models of which something is said one by one."""


def section(found: Found) -> Section:
    """Return the models with their scores and intervals."""
    return Section(
        "scores",
        "Scores",
        (_meaning(found),),
        readings=tuple((row["model"], _reading(found, row)) for row in found.models[:SAID]),
        more=not_said(len(found.models)),
        lead=models_table(found),
        figures=(_figure(found),),
        notes=tuple(_notes(found)),
    )


def models_table(found: Found) -> Table:
    """Return the table of models, best first."""
    unit = found.unit
    columns = [
        Column("model", lambda row: row["model"], is_number=False),
        Column("score (%)" if found.is_percent else "score (ms)", lambda row: wording.amount(row["score"])),
        Column(f"{found.level} interval", lambda row: wording.brackets(row["ci"])),
        Column("SD", lambda row: wording.amount(row["std"], "", 2)),
    ]
    if any(row["better_ci"] for row in found.models):
        columns.insert(3, Column("better interval", lambda row: wording.brackets(row["better_ci"])))
    if unit == "percent":
        columns += [
            Column("fakes (%)", lambda row: wording.amount(row["fakes_error"])),
            Column("reals (%)", lambda row: wording.amount(row["reals_error"])),
        ]
    columns += [
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("responses", lambda row: f"{row['responses']:,}"),
    ]
    caption = (
        "HYPE-infinity: pictures judged wrong"
        if found.is_percent
        else "HYPE-time: mean of the modal exposures of blocks"
    )
    keys = [
        "model",
        "score",
        "ci",
        "better_ci",
        "std",
        "fakes_error",
        "reals_error",
        "evaluators",
        "responses",
    ]
    rows = [{key: row[key] for key in keys if key in row} for row in found.models]
    return Table("models", f"{caption}, best first", tuple(columns), rows)


def _figure(found: Found) -> Drawn:
    best = found.models[0]
    what = "Share of pictures judged wrong" if found.is_percent else "Threshold exposure"
    caption = f"{what}, by model."
    if any(row["ci"] for row in found.models):
        caption += f" Thick lines are the bootstrap's {found.level} percentile intervals over evaluators."
    if any(row["better_ci"] for row in found.models):
        caption += " Thin capped lines are the intervals advised instead."
    if found.is_percent:
        caption += " The dashed line marks 50%: guessing."
    return Drawn(
        "scores",
        "Scores of the models",
        caption,
        f"Bars of {wording.counted(len(found.models), 'model')}, best first: {best['model']} at "
        f"{found.score(best)}.",
        lambda width_in: _draw(found, width_in),
        models_table(found),
    )


def _draw(found: Found, width_in: float):
    from backend.report.figures.scores import scores

    return scores(found.models, found.unit, found.level, width_in)


def not_said(count: int) -> tuple[str, ...]:
    """Return the sentence on the models, of so many, of which no words are made."""
    if count <= SAID:
        return ()
    left = count - SAID
    return (f"The other {'model stands' if left == 1 else f'{left} models stand'} in the table.",)


def _meaning(found: Found) -> str:
    if found.is_percent:
        return (
            "The score is the share of pictures, real and fake together, that people judged wrong without "
            "any time limit, averaged over evaluators. Guessing gives 50%. Above 50%, people are misled: "
            "fakes pass for real more readily than the real pictures do."
        )
    return (
        "The score is an exposure: pictures flashed under a staircase that shortens after right answers and "
        "lengthens after wrong ones, and the exposure that came up most often in a block is averaged over "
        "blocks and evaluators. The longer people needed to look, the better the model."
    )


def _reading(found: Found, row: Row) -> str:
    who = wording.counted(row["evaluators"], "evaluator")
    if not found.is_percent:
        text = f"{found.score(row)}, from {who}."
        return text if row["ci"] else f"{text} One evaluator tells nothing of how people differ: no interval."
    text = f"{found.score(row)} of pictures were judged wrong by {who}"
    sides = [
        f"{wording.share(row[key] / 100, 1)} of the {side}"
        for key, side in (("fakes_error", "fakes"), ("reals_error", "reals"))
        if row.get(key) is not None
    ]
    if len(sides) == 2:
        text += f", {' and '.join(sides)}"
    return text + ("." if row["ci"] else "; one evaluator tells nothing of how people differ: no interval.")


def _notes(found: Found) -> list[str]:
    if not any(row["ci"] for row in found.models):
        return []
    settings = found.data["settings"]
    how = (
        "computed exactly, without random numbers"
        if settings["bootstrap"] == "exact"
        else f"from {settings['iterations']:,} iterations with seed {settings['seed'] or 0}"
        if settings["iterations"]
        else "partly by Monte Carlo"
    )
    notes = [
        f"Intervals and SD are the bootstrap's: evaluators drawn with replacement, {how}. They tell how "
        "far the "
        "score may move with other evaluators of the same kind."
    ]
    advised = [row for row in found.models if row["better_ci"]]
    reasons = {row["better_interval"]["why"]: [] for row in advised}
    for row in advised:
        reasons[row["better_interval"]["why"]].append(row["model"])
    names = {"wilson": "Wilson's, with Student's quantile", "student": "Student's"}
    for why, models in reasons.items():
        kind = names.get(advised[0]["better_interval"]["method"], advised[0]["better_interval"]["method"])
        notes.append(f"For {wording.listing(models)} a better interval ({kind}) stands beside it: {why}.")
    return notes
