"""Report section on changes over a session, and on the dependence of an answer on the previous one."""

from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Row, Section, Table

_FROM_TO = {"threshold": "from the first block to the last", "error": "from the first picture to the last"}
_WHAT = {"threshold": "Thresholds", "error": "Shares of wrong answers"}
_UNIT = {"threshold": "percent", "error": "points"}
_LABEL = {
    "threshold": "change of thresholds (%)",
    "error": "change of wrong answers (points)",
    "previous": "“fake” after “fake”, not “real” (points)",
}
"""What the rows of the table are of."""
_NOTE = (
    "Slopes within evaluators, with Student's t; p is not corrected for the two tests. Fatigue makes "
    "thresholds and errors rise over a session, practice makes them fall; scores average over both."
)


def section(view: FindingsView) -> Section | None:
    """Return the section on changes over a session; None if the order of responses is unknown."""
    drift = view.findings.get("drift")
    if not drift or not (drift["change"] or drift["previous"]):
        return None
    paragraphs = []
    if change := drift["change"]:
        paragraphs.append(_changed(view, change))
    if previous := drift["previous"]:
        paragraphs.append(_depends(view, previous))
    return Section(
        "drift", "Over a session", tuple(paragraphs), tables=(_table(view, drift),), notes=(_NOTE,)
    )


def _changed(view: FindingsView, change: Row) -> str:
    of = change["of"]
    what = "were not shown to change"
    if change["p"] < view.alpha:
        what = "rose" if change["estimate"] > 0 else "fell"
    return f"{_WHAT[of]} {what} {_FROM_TO[of]}: {_numbers(view, change, _UNIT[of])}."


def _depends(view: FindingsView, previous: Row) -> str:
    alike = "truth and exposure" if view.has_exposures else "truth"
    what = "The answer was not shown to depend on the previous one"
    if previous["p"] < view.alpha:
        habit = "repeat" if previous["estimate"] > 0 else "alternate"
        what = f"Evaluators tended to {habit} their answers"
    return (
        f"{what}: for pictures of the same {alike}, the share of “fake” after “fake” exceeds that after "
        f"“real” by {_numbers(view, previous, 'points')}."
    )


def _numbers(view: FindingsView, of: Row, unit: str) -> str:
    return (
        f"{formatting.amount(of['estimate'], unit)} ({view.level} interval "
        f"{formatting.interval(of['ci'], unit)}; t({formatting.degrees(of['df'])}) = "
        f"{formatting.amount(of['t'], '', 2)}, {formatting.p_value(of['p'])}; "
        f"{counted(of['evaluators'], 'evaluator')})"
    )


def _table(view: FindingsView, drift: Row) -> Table:
    rows: list[Row] = []
    for name in ("change", "previous"):
        if of := drift[name]:
            everybody = [] if len(view.models) == 1 else [{**of, "model": "all models"}]
            what = of.get("of", "previous")
            keys = ("model", "estimate", "ci", "t", "df", "p", "evaluators")
            rows += [{"of": what, **{key: row[key] for key in keys}} for row in [*everybody, *of["models"]]]
    columns = (
        Column("what", lambda row: _LABEL[row["of"]], is_number=False),
        Column("model", lambda row: row["model"], is_number=False),
        Column("estimate", lambda row: formatting.amount(row["estimate"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"])),
        Column("t", lambda row: formatting.amount(row["t"], "", 2)),
        Column("df", lambda row: formatting.degrees(row["df"])),
        Column("p", lambda row: formatting.bare_p(row["p"])),
        Column("evaluators", lambda row: str(row["evaluators"])),
    )
    caption = "Change over a session, and dependence on the previous answer"
    return Table("drift", caption, columns, rows, alone="all")
