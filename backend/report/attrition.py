"""Report section on attrition: who began, who finished, and whether models differ in dropout rate."""

from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Section, Table, cell_of

_BEFORE = {
    "declined": "did not consent",
    "unfit_device": "had an unfit display",
    "screened_out": "did not pass the qualification",
    "unfinished": "left unfinished",
    "no_session": "never arrived",
}


def section(view: FindingsView) -> Section | None:
    """Return the section on dropout by model; None for a responses file, which does not record it."""
    attrition = view.findings.get("attrition")
    if attrition is None:
        return None
    rows, test = attrition["models"], attrition["test"]
    began, finished, under_way = (sum(row[key] for row in rows) for key in ("began", "finished", "under_way"))
    paragraphs = [
        f"{counted(began, 'evaluator')} began, {finished} of them finished"
        + (f", and {under_way} {'is' if under_way == 1 else 'are'} under way." if under_way else ".")
    ]
    if test:
        how = (
            "exact test over all tables of the same margins"
            if test["method"] == "exact"
            else f"by {test['tables']:,} random tables of the same margins"
        )
        statistic = f"{formatting.chi_squared(test['statistic'], test['df'], test['p'])}, {how}"
        paragraphs.append(
            f"Models lost evaluators at different rates ({statistic}): those who stayed may have found some "
            "models easier than those who left, and the scores are based on those who stayed."
            if test["p"] < view.alpha
            else f"Models were not shown to lose evaluators at different rates ({statistic})."
        )
    elif len(rows) > 1 and began > under_way:
        paragraphs.append("Models cannot be compared: all of them lost nobody, or everybody.")
    notes = [
        "Began: was given the first pictures. Left: began and did not finish, and is no longer in progress. "
        "A model is chosen after consent and the check of the display, so that whoever left before has none."
    ]
    if attrition["before"]:
        why = "; ".join(f"{count} {_BEFORE[name]}" for name, count in attrition["before"].items())
        notes.append(f"Before that, of those whom the panel charges for: {why}.")
    return Section(
        "attrition",
        "Who began and who finished",
        tuple(paragraphs),
        tables=(_table(view, rows),),
        notes=tuple(notes),
    )


def _table(view: FindingsView, rows: list[dict]) -> Table:
    columns = [
        Column("model", lambda row: row["model"], is_number=False),
        Column("opened", lambda row: str(row["opened"])),
        Column("began", lambda row: str(row["began"])),
        Column("finished", lambda row: str(row["finished"])),
        *(
            Column(head, cell_of(key))
            for key, head in formatting.WHY.items()
            if any(row[key] for row in rows)
        ),
        Column("left", lambda row: formatting.share(row["left"])),
        Column(f"{view.level} interval", lambda row: formatting.share_brackets(row["ci"])),
    ]
    caption = "Who began and who finished, by model"
    return Table("attrition", caption, tuple(columns), rows, alone="all")
