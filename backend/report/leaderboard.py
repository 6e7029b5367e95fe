"""Leaderboard: the models of several studies of one data set in one table per method."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from backend.analysis.distributions.rank_ranges import rank_ranges
from backend.analysis.replication import Run
from backend.analysis.replication import replication as replication_of
from backend.experiment.judgments import METHODS, judgment_of, method_named
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting, replication, simulated
from backend.report.context import FindingsView
from backend.report.elements import ALONE, Column, Figure, Report, Row, Section, Table


@dataclass(frozen=True)
class Entry:
    """One study of a leaderboard."""

    name: str
    collected: str
    data: Mapping[str, Any]
    """The JSON of `findings.findings`."""
    run: Run | None = None
    """Its responses, to test it against other runs of the same study."""

    @property
    def label(self) -> str:
        """The study's name, with a mark if its sessions are simulated."""
        return f"{self.name} (simulated)" if self.data["simulated"] else self.name


def leaderboard(entries: Sequence[Entry], title: str, date: str, version: str) -> Report:
    methods = [(method, [entry for entry in entries if entry.data["method"] == method]) for method in METHODS]
    sections = tuple(
        section for method, group in methods if group for section in (_section(method, group), *_runs(group))
    )
    facts = [
        ("Studies", formatting.listing([entry.label for entry in entries], most=12)),
        ("Evaluators", f"{sum(row['evaluators'] for entry in entries for row in entry.data['models']):,}"),
        ("Page", f"{date}, openhype {version}"),
    ]
    warnings = [
        f"{entry.label}: {text}"
        for entry in entries
        for text in (*entry.data["warnings"], *entry.data["notes"])
    ]
    report = Report(title, _summary(sections), tuple(facts), tuple(warnings), sections,
                    {entry.name: entry.data for entry in entries})  # fmt: skip
    rehearsed = [entry.name for entry in entries if entry.data["simulated"]]
    if len(rehearsed) == len(entries):
        return simulated.marked(report)
    if rehearsed:
        which = formatting.listing(rehearsed, most=12)
        return replace(report, banner=f"Simulated sessions in {which}: nobody looked at the pictures there.")
    return report


def _runs(entries: Sequence[Entry]) -> Iterator[Section]:
    """Yield the comparison of entries that are runs of one study, with stimuli and models in common."""
    left = [entry.run for entry in entries if entry.run is not None]
    level = entries[0].data["settings"]["level"]
    while left:
        first, *others = left
        group = [first, *(run for run in others if first.is_of_one_study(run))]
        left = [run for run in others if run not in group]
        if len(group) > 1:
            yield replication.section(replication_of(group, level), f"-{first.name}")


def _summary(sections: Sequence[Section]) -> str:
    sentences = []
    for section in sections:
        if section.id not in METHODS:
            continue
        rows = section.lead.rows if section.lead else ()
        best = rows[0]
        unit = method_named(section.id).unit
        sentences.append(
            f"{section.title}: {counted(len(rows), 'score')}, the highest of {best['model']} in "
            f"{best['study']}, {formatting.amount(best['score'], unit)} ({_interval(best)})."
        )
    return " ".join(sentences)


def _interval(row: Row) -> str:
    ci = row["interval_ci"]
    return f"interval {formatting.brackets(ci)}" if ci else "one evaluator, no interval"


def _section(method: str, entries: Sequence[Entry]) -> Section:
    rows = _rows(entries)
    table = _table(method, rows)
    says = (
        "Models in the order of their scores, each with the study in which it was judged, and with the ranks "
        "that the intervals of all scores allow at once. Scores of one study are compared, with tests, in "
        "that study's own report."
    )
    unnamed = [entry.label for entry in entries if FindingsView(entry.data).alone]
    which = unnamed and formatting.listing(unnamed)
    notes = (
        *([f"Intervals of {which} are {ALONE}: no pictures are named in the responses."] if unnamed else []),
        "Between studies the evaluators differ, and so may the pictures, the pay and the day. A difference "
        "between models of two studies mixes these with the models; judge both in one study to compare them. "
        "Studies with stimuli and models in common are tested against each other as runs of one study.",
        *_on_not_sure(entries),
    )
    return Section(
        method,
        method_named(method).title,
        (says,),
        lead=table,
        figures=(_figure(method, rows, entries, table),),
        notes=notes,
    )


def _on_not_sure(entries: Sequence[Entry]) -> list[str]:
    """Return a note if some evaluators could answer `not_sure`, which no others could."""
    unsure = [entry for entry in entries if any("not_sure" in row for row in entry.data["models"])]
    if not unsure:
        return []
    which = formatting.listing([entry.label for entry in unsure])
    where = "" if len(unsure) == len(entries) else ", elsewhere as an answer that had to be chosen"
    return [f"Those who were not sure could say so in {which}; it counts there as half an error{where}."]


def _rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    rows = [
        {
            "model": row["model"],
            "study": entry.label,
            "score": row["score"],
            "interval_ci": row["interval_ci"],
            "interval": row["interval"],
            "level": entry.data["settings"]["level"],
            "ci": row["ci"],
            **({"threshold": row["threshold"], "blocks": row["blocks"]} if "blocks" in row else {}),
            **({"not_sure": row["not_sure"]} if "not_sure" in row else {}),
            "std": row["std"],
            "evaluators": row["evaluators"],
            "responses": row["responses"],
            "collected": entry.collected,
        }
        for entry in entries
        for row in FindingsView(entry.data).models
    ]
    rows.sort(key=lambda row: (-row["score"], row["model"], row["study"]))
    ranges = rank_ranges(rows, max(row["level"] for row in rows))
    return [
        {"rank": i, "ranks": ranks and [*ranks], **{name: row[name] for name in row if name != "interval"}}
        for i, (row, ranks) in enumerate(zip(rows, ranges, strict=True), 1)
    ]


def _table(method: str, rows: list[dict[str, Any]]) -> Table:
    is_timed = method_named(method).unit == "ms"
    columns = [
        Column("ranks", lambda row: formatting.ranks(row["ranks"])),
        Column("model", lambda row: row["model"], is_number=False),
        Column("study", lambda row: row["study"], is_number=False),
        Column(f"score ({'ms' if is_timed else '%'})", lambda row: formatting.amount(row["score"])),
        Column("interval", lambda row: formatting.brackets(row["interval_ci"])),
        Column("percentile (paper)", lambda row: formatting.brackets(row["ci"])),
        Column("evaluators", lambda row: str(row["evaluators"])),
    ]
    if any("not_sure" in row for row in rows):
        columns.append(Column("not sure (%)", lambda row: formatting.amount(row.get("not_sure"))))
    if is_timed:
        columns += [
            Column("fitted threshold (ms)", lambda row: formatting.threshold(row["threshold"])),
            Column("at floor", lambda row: formatting.share(row["blocks"]["at_floor"])),
            Column("at ceiling", lambda row: formatting.share(row["blocks"]["reached_ceiling"])),
        ]
    if any(row["collected"] for row in rows):
        columns.append(Column("collected", lambda row: row["collected"] or formatting.NONE, is_number=False))
    what = "threshold exposure" if is_timed else f"share of {_things(method)} judged wrong"
    return Table(
        f"leaderboard-{method}",
        f"Scores over studies: {what}",
        tuple(columns),
        rows,
        alone="percentile (paper)",
    )


def _things(method: str) -> str:
    """Return what is judged right or wrong, such as `pictures`."""
    return f"{judgment_of(method).trial_shows}s"


def _figure(method: str, rows: list[dict[str, Any]], entries: Sequence[Entry], table: Table) -> Figure:
    is_several = len(entries) > 1
    named = [
        {**row, "model": f"{row['model']} · {row['study']}" if is_several else row["model"]} for row in rows
    ]

    label = "" if (things := _things(method)) == "pictures" else f"{things} judged wrong (%)"

    return Figure(
        f"leaderboard-{method}",
        "Scores over studies",
        "Scores with their intervals (thick), and the percentile intervals of the paper (thin, capped).",
        f"Bars of {counted(len(rows), 'score')}, best first.",
        lambda width_in: figures.scores.scores(named, entries[0].data["unit"], "", width_in, label),
        table,
    )
