"""Report sections on votes on items: by set, by item, and on sentinels."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Section, Table

_PANELS = 6
"""Maximum number of sets that the figure shows."""
_SHOWN = 20
"""Rows of the table of items that the page shows."""


def section(view: FindingsView, noun: str, what: str) -> Section | None:
    """Return the section on items; None if responses name none.

    Args:
        noun: what an item is, such as `triplet`.
        what: what the share of an item is of, such as `answers for p1`.
    """
    sets, rows = view.findings["sets"], view.findings["items"]
    if not rows:
        return None
    few = sum(row["single"] for row in sets)
    undecided, total = sum(row["undecided"] for row in sets), len(rows)
    votes = sum(row["votes"] for row in sets)
    paragraphs = [
        f"{counted(total, noun)} got {counted(votes, 'vote')}, {votes / total:.1f} each on average; "
        f"{undecided} without a majority."
    ]
    if few:
        paragraphs.append(
            f"{counted(few, noun)} got a single vote, from which nothing follows about people's agreement."
        )
    return Section(
        "items",
        f"{noun.capitalize()}s",
        tuple(paragraphs),
        lead=_sets(sets, noun),
        tables=(_items(view, rows, noun, what),),
        figures=(_figure(sets, rows, noun, what),),
        notes=(
            f"Reliability: correlation of the {noun}s' shares between random halves of the evaluators, "
            "stepped up to all of them (Spearman–Brown).",
            f"Intervals of single {noun}s are Clopper and Pearson's. Of many with few votes, the extreme "
            "ones are partly luck.",
        ),
    )


def sentinels(view: FindingsView) -> Section | None:
    """Return the section on sentinels by their right answer; None without them."""
    data = view.findings["sentinels"]
    if not data:
        return None
    columns = (
        Column("right answer", lambda row: row["truth"], is_number=False),
        Column("shown", lambda row: f"{row['shown']:,}"),
        Column("right", lambda row: f"{row['right']:,}"),
        Column("share right", lambda row: formatting.share(row["share"], 1)),
    )
    each = " and ".join(
        f"{formatting.share(row['share'], 1)} of those whose right answer is “{row['truth']}”"
        for row in data["rows"]
    )
    paragraphs = [f"People answered {each} right."]
    if data["d_prime"] is not None:
        paragraphs.append(
            f"Together they were told apart with d′ = {formatting.amount(data['d_prime'], '', 2)}, with the "
            f"bias c = {formatting.amount(data['criterion'], '', 2)} (above 0, people lean to "
            f"“{data['rows'][0]['truth']}”)."
        )
    return Section(
        "sentinels",
        "Sentinels",
        tuple(paragraphs),
        tables=(Table("sentinels", "Sentinels, by their right answer", columns, data["rows"]),),
        notes=(
            "Sentinels have a known answer and stand among the others; they are in no score. d′ is "
            "z(hits) − z(false alarms) over all answers, those of evaluators whom a rule leaves out too.",
        ),
    )


def _sets(sets: Sequence[Mapping[str, Any]], noun: str) -> Table:
    columns = (
        Column("set", lambda row: row["set"], is_number=False),
        Column(f"{noun}s", lambda row: f"{row['items']:,}"),
        Column("votes", lambda row: f"{row['votes']:,}"),
        Column("fewest", lambda row: str(row["fewest_votes"])),
        Column("median", lambda row: f"{row['median_votes']:g}"),
        Column("most", lambda row: str(row["most_votes"])),
        Column("no majority", lambda row: str(row["undecided"])),
        Column("unanimous", lambda row: str(row["unanimous"])),
        Column("reliability", lambda row: formatting.coefficient(row["reliability"], 2)),
    )
    caption = f"Votes by set; fewest, median and most of a {noun}"
    return Table("sets", caption, columns, [*map(_flat, sets)])


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    reliability = row["reliability"]
    return {**row, "reliability": reliability and reliability["full"]}


def _items(view: FindingsView, rows: Sequence[Mapping[str, Any]], noun: str, what: str) -> Table:
    columns = (
        Column("set", lambda row: row["set"], is_number=False),
        Column(noun, lambda row: row["item"], is_number=False),
        Column("votes", lambda row: str(row["votes"])),
        Column(what, lambda row: str(row["votes_for"])),
        Column("share", lambda row: formatting.share(row["share"])),
        Column(f"{view.level} interval (%)", lambda row: formatting.share_brackets(row["ci"])),
    )
    return Table("items", f"Votes by {noun}, the most divided first", columns, rows, shown=_SHOWN)


def _figure(
    sets: Sequence[Mapping[str, Any]], rows: Sequence[Mapping[str, Any]], noun: str, what: str
) -> Figure:
    names = [row["set"] for row in sets[:_PANELS]]
    by_set = {name: [row["share"] for row in rows if row["set"] == name] for name in names}

    more = f" The first {_PANELS} of {len(sets)} sets." if len(sets) > _PANELS else ""
    return Figure(
        "items",
        f"Votes by {noun}",
        f"How many {noun}s have which share of {what}. The thick line is the mean; the dashed one marks "
        f"an even split.{more}",
        f"Histograms of {counted(len(rows), noun)} in {counted(len(names), 'set')}.",
        lambda width_in: figures.votes.shares(by_set, f"{what} (% of votes)", width_in),
        _sets(sets, noun),
    )
