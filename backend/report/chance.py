"""Report section on chance level: hyper-realism, indistinguishability, and sensitivity and bias."""

from collections.abc import Sequence

from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Row, Section, Table, cell_of
from backend.report.formatting import SPREADS
from backend.report.models import MOST_DESCRIBED, detection_columns, remaining_note


def section(view: FindingsView) -> Section | None:
    """Return the section comparing scores with guessing; None if there is nothing to test."""
    tested = [row for row in view.models if row.get("chance")]
    tables = ([_chance_table(view, tested)] if tested else []) + _detection_tables(view)
    tables += _crossed_tables(view)
    if not tables:
        return None
    paragraphs = []
    if tested:
        margin = tested[0]["chance"]["equivalence"]["margin"]
        paragraphs.append(
            "A score near 50% may be guessing, or too few answers to tell. So two questions are put to the "
            "data: is the score above 50%, so that fakes pass for real more than reals do (one-sided test)? "
            "And is it "
            f"within {margin:g} points of 50%, near enough to call the pictures indistinguishable to these "
            "people (two one-sided tests)? Only a yes to the second shows that they were; a no to the first "
            "does not."
        )
    untested = [row["model"] for row in view.models if view.is_percent and not row.get("chance")]
    notes = []
    if untested and view.is_percent:
        notes.append(f"No test for {formatting.listing(untested)}: one evaluator.")
    if len(tested) > 1:
        notes.append(
            f"p (Holm) is corrected for {len(tested)} models, each question by itself; verdicts follow it."
        )
    more_paragraphs = list(remaining_note(len(tested)))
    if any(row.get("detection") for row in view.models):
        more_paragraphs.append(
            "An error rate mixes how well people tell fakes from reals with how readily they say “fake”. "
            "Signal detection separates them: d′ is sensitivity (0 is guessing; 1 is right in some 69% of "
            "cases without bias), c is bias (above 0, people lean to “real”)."
        )
        notes.append(
            f"d′ and c are means over evaluators, with intervals over {view.sampled}; counts are corrected "
            "by the log-linear rule, so that evaluators without a single error have a value too; if all "
            "answers to fakes or all to reals are the same, nothing else bounds d′ and c: no interval."
            + (f" In {view.method} they mix answers at all exposures." if view.has_exposures else "")
        )
    if crossed := view.findings["crossed_model"]:
        spreads = (
            f"{what} {formatting.amount(crossed['sds'][effect]['sd'], '', 2)} "
            f"{formatting.brackets(crossed['sds'][effect]['ci'], 2)}"
            for effect, what in SPREADS.items()
        )
        notes.append(
            "The crossed model (probit, random effects of evaluators and pictures) estimates d′ and c for an "
            f"average evaluator and an average picture; standard deviations: {', '.join(spreads)}. "
            "Differences are not corrected for their number."
        )
    elif note := view.findings["crossed_model_note"]:
        notes.append(f"{formatting.capital(note)}.")
    title = "Against guessing" if tested else "Sensitivity and bias"
    return Section(
        "chance",
        title,
        tuple(paragraphs),
        model_notes=tuple((row["model"], _verdict(view, row)) for row in tested[:MOST_DESCRIBED]),
        more_paragraphs=tuple(more_paragraphs),
        tables=tuple(tables),
        notes=tuple(notes),
    )


def _chance_table(view: FindingsView, tested: Sequence[Row]) -> Table:
    rows = [
        {
            "model": row["model"],
            "score": row["score"],
            **{f"hyperrealism_{key}": value for key, value in row["chance"]["hyperrealism"].items()},
            **{f"equivalence_{key}": value for key, value in row["chance"]["equivalence"].items()},
            "verdict": row["chance"]["verdict"],
        }
        for row in tested
    ]
    ci_level = tested[0]["chance"]["equivalence"]["ci_level"]
    level = "" if ci_level is None else f"{formatting.level(ci_level)} "
    holm_above, holm_within = (
        [Column("p (Holm)", cell_of(key, formatting.bare_p))] if len(tested) > 1 else []
        for key in ("hyperrealism_p_holm", "equivalence_p_holm")
    )
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("score (%)", lambda row: formatting.amount(row["score"])),
        Column(
            "above 50%: t (df)",
            lambda row: (
                f"{formatting.amount(row['hyperrealism_t'], '', 2)} "
                f"({formatting.degrees(row['hyperrealism_df'])})"
            ),
        ),
        Column("p", lambda row: formatting.bare_p(row["hyperrealism_p"])),
        *holm_above,
        Column(f"{level}interval", lambda row: formatting.brackets(row["equivalence_ci"])),
        Column("p (equivalence)", lambda row: formatting.bare_p(row["equivalence_p"])),
        *holm_within,
        Column("verdict", lambda row: row["verdict"], is_number=False),
    )
    return Table("chance", "Scores against 50%", columns, rows, alone=view.alone)


def _verdict(view: FindingsView, row: Row) -> str:
    tests = row["chance"]
    margin, p_within = tests["equivalence"]["margin"], tests["equivalence"]["p_holm"]
    p_above, p_below = (tests["hyperrealism"][p] for p in ("p_holm", "p_below_holm"))
    is_within, is_above, is_below = (p < view.alpha for p in (p_within, p_above, p_below))
    score = view.score(row)
    within = f"within {margin:g} points of 50% (equivalence, {formatting.p_value(p_within)})"
    if is_within:
        extra = ", and above it" if is_above else ", yet below it" if is_below else ""
        return f"{score}; indistinguishable {within}{extra}."
    if is_above:
        return f"{score}; above 50% ({formatting.p_value(p_above)}): hyper-realistic to these people."
    if is_below:
        below = f"below 50% ({formatting.p_value(p_below)})"
        return f"{score}; {below}: people told it from real better than by guessing."
    return f"{score}; neither shown to differ from 50%, nor shown to be within {margin:g} points of it."


def _detection_tables(view: FindingsView) -> list[Table]:
    rows = [
        {"model": row["model"], **row["detection"]} for row in view.models if row.get("detection") is not None
    ]
    if not rows:
        return []
    columns = (*_sensitivity_columns(view), Column("evaluators", lambda row: str(row["evaluators"])))
    return [Table("detection", "Sensitivity (d′) and bias (c)", columns, rows, alone=view.alone)]


def _sensitivity_columns(view: FindingsView) -> tuple[Column, ...]:
    """Return the columns of a model's d' and c, with their intervals."""
    return (Column("model", lambda row: row["model"], is_number=False), *detection_columns(view))


def _crossed_tables(view: FindingsView) -> list[Table]:
    crossed = view.findings["crossed_model"]
    if crossed is None:
        return []
    title = "Sensitivity (d′) and bias (c), over evaluators and pictures"
    tables = [Table("crossed-model", title, _sensitivity_columns(view), crossed["models"])]
    if crossed["pairs"]:
        differences = (
            Column("difference", lambda row: f"{row['a']} − {row['b']}", is_number=False),
            Column("d′", lambda row: formatting.amount(row["difference"], "", 2)),
            Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"], 2)),
        )
        title = "Differences of d′, over evaluators and pictures"
        tables.append(Table("crossed-differences", title, differences, crossed["pairs"]))
    return tables
