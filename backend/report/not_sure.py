"""Report section on answers `not_sure`: their share by model, beside scores where each is half an error."""

from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Section, Table

_MEANING = (
    "Evaluators could answer that they were not sure. Such an answer counts as half an error, as if a coin "
    "had been tossed, in scores and all that is formed from them; here is how often it was given, averaged "
    "over evaluators."
)


def section(view: FindingsView) -> Section | None:
    """Return the section on the shares of answers `not_sure`; None if there are none."""
    if not any("not_sure" in row for row in view.models):
        return None
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("not sure (%)", lambda row: formatting.amount(row["not_sure"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["not_sure_ci"])),
    )
    rows = [{key: row[key] for key in ("model", "not_sure", "not_sure_ci")} for row in view.models]
    table = Table("not-sure", "Share of answers “not sure”", columns, rows, alone=view.alone)
    return Section("not-sure", "Not sure", (_MEANING,), lead=table, brief=(table,))
