"""Report section on settings: what is needed to reproduce the numbers."""

from backend.experiment.judgments import judgment_of
from backend.report import formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Section, Table


def section(view: FindingsView, info: SourceInfo) -> Section:
    """Return the section on the settings of the scoring and, if there is one, of the study."""
    settings = view.data["settings"]
    rows = [
        ("source", info.source),
        ("method", view.method),
        ("bootstrap", settings["bootstrap"]),
        ("iterations", settings["iterations"]),
        ("seed", settings["seed"]),
        ("level of intervals", settings["level"]),
        ("evaluators drawn", settings["evaluators_drawn"]),
        ("openhype", info.version),
        ("date of this report", info.date),
    ]
    scoring = _table("settings", "Scoring", rows)
    tables = [scoring]
    if info.study:
        tables.append(_table("study", "Study", info.study))
    return Section(
        "settings", "Settings", (_cite(view, info),), tables=tuple(tables), notes=tuple(info.notes)
    )


def _table(name: str, caption: str, rows) -> Table:
    columns = (
        Column("setting", lambda row: row["setting"], is_number=False),
        Column("value", lambda row: _text(row["value"]), is_number=False),
    )
    return Table(name, caption, columns, [{"setting": key, "value": value} for key, value in rows])


def _text(value: object) -> str:
    if value is None or value == "":
        return formatting.NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cite(view: FindingsView, info: SourceInfo) -> str:
    judgment = judgment_of(view.data["method"])
    if judgment.name != "real_or_fake":
        return f"{view.method} ({judgment.source}), scored with openhype {info.version} on {info.date}."
    method = "HYPE-infinity" if view.is_percent else "HYPE-time"
    return (
        f"{method} (Zhou et al., 2019: HYPE: A Benchmark for Human eYe Perceptual Evaluation of Generative "
        "Models), "
        f"scored with openhype {info.version} on {info.date}."
    )
