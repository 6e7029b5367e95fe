"""The comparison of runs of one study, as a report: did scores change, or stay within a margin?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.analysis.replication import CHANGED, CHANGED_LITTLE, EQUIVALENT, UNDECIDED
from backend.experiment.judgments import method_named
from backend.foundation.counted_nouns import counted
from backend.report import formatting, simulated
from backend.report.elements import Column, Figure, Report, Row, Section, Table

_WORDS = {
    CHANGED: "changed",
    EQUIVALENT: "equivalent",
    CHANGED_LITTLE: "changed, within the margin",
    UNDECIDED: "not decided",
}
_ALONE = "evaluators"


def report(data: Mapping[str, Any], date: str, version: str, warnings: Sequence[str] = ()) -> Report:
    """Return a report of the comparison alone.

    Args:
        data: the result of `replication.replication`.
        warnings: in what else the runs differ.
    """
    names = [row["run"] for row in data["runs"]]
    facts = (
        ("Method", method_named(data["method"]).title),
        ("Runs", formatting.listing(names, most=12)),
        ("Evaluators", " + ".join(f"{row['evaluators']:,}" for row in data["runs"])),
        ("Responses", " + ".join(f"{row['responses']:,}" for row in data["runs"])),
        ("Page", f"{date}, openhype {version}"),
    )
    title = f"The same study again: {formatting.listing(names, most=6)}"
    made = Report(
        title, " ".join(_sentences(data)), facts, tuple(warnings), (section(data),), {"replication": data}
    )
    return simulated.marked(made) if data["simulated"] else made


def section(data: Mapping[str, Any], of: str = "") -> Section:
    """Return the comparison as a section of a report.

    Args:
        of: ends the names of its tables and its figure, if a report has several such sections.
    """
    tables = [_differences(data), _scores(data), _trend(data)]
    changes, scores, trend = (replace(table, name=f"{table.name}{of}") for table in tables)
    figure = _figure(data, scores)
    return Section(
        f"replication{of}",
        "Runs of one study",
        (*_sentences(data),),
        lead=changes,
        tables=(trend,) if data["trend"] else (),
        figures=(replace(figure, name=f"{figure.name}{of}"),),
        notes=(*_notes(data),),
    )


def _sentences(data: Mapping[str, Any]) -> Iterator[str]:
    rows, margin = data["differences"], _margin(data)
    if not rows:
        yield "No model can be tested: that takes two evaluators of it in two runs."
        return
    apart = [row for row in rows if row["verdict"] in (CHANGED, CHANGED_LITTLE)]
    alike = [row for row in rows if row["verdict"] == EQUIVALENT]
    pairs = counted(len(rows), "difference")
    yield f"Of {pairs} between runs, {len(apart)} {'is' if len(apart) == 1 else 'are'} significant" + (
        f", and {len(alike)} {'is' if len(alike) == 1 else 'are'} shown to be within {margin}."
        if margin
        else "."
    )
    if apart:
        largest = max(apart, key=lambda row: abs(row["difference"]))
        yield (
            f"The largest is of {largest['model']}, from {largest['a']} to {largest['b']}: "
            f"{_change(largest['difference'], data)} ({_level(data)} interval "
            f"{formatting.brackets(largest['ci'])}, {formatting.p_value(largest['p_holm'])})."
        )
    for row in data["trend"]:
        if row["p_holm"] is not None and row["p_holm"] < 1 - data["level"]:
            yield (
                f"{row['model']} drifts over the runs, by {_change(row['change'], data)} from the first to "
                f"the last ({formatting.brackets(row['ci'])})."
            )


def _differences(data: Mapping[str, Any]) -> Table:
    rows, unit = data["differences"], _points(data)
    has_margin = data["margin"] is not None
    columns = [
        Column("model", lambda row: row["model"], is_number=False),
        Column("from", lambda row: row["a"], is_number=False),
        Column("to", lambda row: row["b"], is_number=False),
        Column(f"change ({unit})", lambda row: formatting.amount(row["difference"], "", _digits(data))),
        Column(f"{_level(data)} interval", lambda row: formatting.brackets(row["ci"], _digits(data))),
        Column("p (Holm)", lambda row: formatting.bare_p(row["p_holm"])),
        Column("within", lambda row: formatting.amount(_size(row, "equivalent_within"), "", _digits(data))),
        *([Column("p within", lambda row: formatting.bare_p(_size(row, "p_holm")))] if has_margin else []),
        Column("verdict", lambda row: _WORDS[row["verdict"]], is_number=False),
        Column("shared stimuli", _shared),
        Column("stimuli's part", lambda row: formatting.share(row["share_of_pictures"])),
    ]
    alone = "all" if rows and all(row["of"] == _ALONE for row in rows) and unit != "log-odds" else ""
    return Table("replication", "Changes of scores between runs", tuple(columns), rows, alone=alone)


def _size(row: Row, key: str) -> float | None:
    size = row["equivalence"]
    value: float | None = None if size is None else size[key]
    return value


def _shared(row: Row) -> str:
    return formatting.NONE if row["shared"] is None else f"{row['shared']:,} of {row['stimuli']:,}"


def _scores(data: Mapping[str, Any]) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("run", lambda row: row["run"], is_number=False),
        Column(f"score ({_axis(data)})", lambda row: formatting.amount(row["score"], "", _digits(data))),
        Column(f"{_level(data)} interval", lambda row: formatting.brackets(row["ci"], _digits(data))),
        Column("evaluators", lambda row: str(row["evaluators"])),
    )
    return Table("run-scores", "Scores by run", columns, data["scores"])


def _trend(data: Mapping[str, Any]) -> Table:
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("runs", lambda row: str(row["runs"])),
        Column(f"change ({_points(data)})", lambda row: formatting.amount(row["change"], "", _digits(data))),
        Column(f"{_level(data)} interval", lambda row: formatting.brackets(row["ci"], _digits(data))),
        Column("p (Holm)", lambda row: formatting.bare_p(row["p_holm"])),
    )
    return Table("trend", "Change from the first run to the last, by a straight line", columns, data["trend"])


def _figure(data: Mapping[str, Any], table: Table) -> Figure:
    runs = [row["run"] for row in data["runs"]]

    def draw(width_in: float) -> Any:
        from backend.report.figures.runs import runs as drawn

        return drawn(data["scores"], runs, f"score ({_axis(data)})", width_in)

    return Figure(
        "runs",
        "Scores over runs",
        f"Score of each model in each run, with its {_level(data)} interval.",
        f"Lines of {counted(len({row['model'] for row in data['scores']}), 'model')} over "
        f"{counted(len(runs), 'run')}.",
        draw,
        table,
    )


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    if data["unit"] == "log-odds":
        yield (
            "Strengths vary as their resamples of evaluators and pictures do; what pictures do alike in all "
            "runs does not cancel, so that intervals are too wide rather than too narrow."
        )
    elif any(row["of"] == _ALONE for row in data["differences"]):
        yield "Responses name no stimuli, so that evaluators alone are random."
    else:
        yield (
            "Random are evaluators, who are others in each run, and what a stimulus does in one run and not "
            "in another; what it does alike in both cancels."
        )
    yield (
        "p is Holm's over all models and pairs of runs; `within` is the smallest margin at which runs are "
        "shown to be equivalent, by Holm's procedure too. Not significant does not mean equal."
    )
    yield "Panel, month, country, screens and pay may differ between runs; a change does not say which did."
    yield from data["notes"]


def _change(value: float, data: Mapping[str, Any]) -> str:
    sign = "+" if value > 0 else ""
    return f"{sign}{formatting.amount(value, '', _digits(data))} {_points(data)}"


def _digits(data: Mapping[str, Any]) -> int:
    return 2 if data["unit"] == "log-odds" else 1


def _points(data: Mapping[str, Any]) -> str:
    return "points" if data["unit"] == "percent" else str(data["unit"])


def _axis(data: Mapping[str, Any]) -> str:
    return "%" if data["unit"] == "percent" else str(data["unit"])


def _margin(data: Mapping[str, Any]) -> str:
    return "" if data["margin"] is None else f"{data['margin']:g} {_points(data)}"


def _level(data: Mapping[str, Any]) -> str:
    return formatting.level(data["level"])
