"""Report section on browsers: whether responses differ by engine, and shares of mistimed flashes."""

from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Section, Table


def section(view: FindingsView) -> Section | None:
    """Return results by browser engine; None if there are none."""
    browsers, mistimed = view.findings.get("browsers"), view.findings.get("mistimed")
    if not browsers and not mistimed:
        return None
    browsers = browsers or {"engines": [], "test": None}
    rows = {row["browser"]: {**row, "share": None} for row in browsers["engines"]}
    for row in mistimed or []:
        blank = {"browser": row["browser"], "evaluators": 0, "evidence": {}, "difference": None, "ci": None}
        rows[row["browser"]] = {**blank, **rows.get(row["browser"], {}), "share": row["share"]}
    test = browsers["test"]
    statistic = formatting.f_test(test) if test else ""
    if not test:
        text = "There are too few evaluators with different browsers to compare them."
    elif test["p"] < view.alpha:
        text = (
            f"Evaluators with different browsers answered differently, the {view.noun}s being equal "
            f"({statistic})."
        )
    else:
        text = f"Browsers were not shown to make a difference, the {view.noun}s being equal ({statistic})."
    notes: tuple[str, ...] = (
        "Browsers are grouped by engine: Chromium (Chrome, Edge, Opera), Firefox, WebKit (Safari, and all "
        "of an iPhone). Difference: from the evaluators of all other engines, of the same "
        f"{view.noun}s.",
    )
    has_evidence = any(row["evidence"] for row in rows.values())
    if has_evidence:
        notes = (*notes, formatting.EVIDENCE)
    columns = _columns(view, bool(mistimed), has_evidence)
    table = Table("browsers", "Evaluators by browser", columns, [*rows.values()], alone="all")
    return Section("browsers", "Browsers", (text,), tables=(table,), notes=notes)


def _columns(view: FindingsView, has_flashes: bool, has_evidence: bool) -> tuple[Column, ...]:
    columns = [
        Column("browser", lambda row: row["browser"] or "not known", is_number=False),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column(f"difference ({view.points})", lambda row: formatting.amount(row["difference"])),
        Column(f"{view.level} interval", lambda row: formatting.brackets(row["ci"])),
    ]
    if has_flashes:
        columns.append(Column("mistimed flashes", lambda row: formatting.share(row["share"])))
    if has_evidence:
        by = Column("shown times by", lambda row: formatting.evidence(row["evidence"]), is_number=False)
        columns.append(by)
    return tuple(columns)
