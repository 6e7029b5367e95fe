"""Agreement of metrics with people, as a section of a report.

The tables have the layout of table 5 of Zhang et al. (2018): a row for each metric, a column for each set
and average.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.analysis.agreement.votes import JND
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting, simulated
from backend.report.elements import Column, Figure, Report, Section, Table, cell_of

HUMAN, AS_PRINTED, ORACLE = "human", "human, as printed", "oracle"
_POINTS = (AS_PRINTED, ORACLE)
"""Rows without intervals."""
_NOTED_BIAS = 0.5
"""Points; the estimate is too rough for less."""


def report(data: Mapping[str, Any], source: str, date: str, version: str, is_simulated: bool) -> Report:
    facts = [("Source", source), ("Items", f"{data['items']:,}")]
    facts += [("Votes", f"{data['votes']:,}")] if data["votes"] is not None else []
    facts += [("Evaluators", f"{data['evaluators']:,}")] if data["evaluators"] is not None else []
    facts += [("Page", f"{date}, openhype {version}")]
    made = Report(
        f"Metrics and people: {source}", _what(data), tuple(facts), (), (section(data),), {"agreement": data}
    )
    return simulated.marked(made) if is_simulated else made


def section(data: Mapping[str, Any]) -> Section:
    columns = [row["column"] for row in data["columns"]]
    scores = Table(
        "agreement",
        f"{_what(data)}; {_over(data)}.",
        (
            Column("metric", lambda row: row["metric"], is_number=False),
            *(Column(name, cell_of(f"{name} (%)", formatting.amount)) for name in columns),
        ),
        [
            {"metric": name, **{f"{column} (%)": cells[column]["score"] for column in columns}}
            for name, cells in _rows(data)
        ],
    )
    tables = [_intervals(data)]
    tables += [_average_precisions(data)] if data["kind"] == JND and data["metrics"] else []
    tables += [*([_pairs(data)] if data["pairs"] else []), _sets(data)]
    figures: tuple[Figure, ...] = ()
    if data["metrics"]:
        figures = (_figure(data, scores),)
    title = "Metrics and people" if data["metrics"] else "Agreement of people"
    return Section("agreement", title, _sentences(data), lead=scores, tables=tuple(tables),
                   figures=figures, notes=(*notes(data),))  # fmt: skip


def notes(data: Mapping[str, Any]) -> Iterator[str]:
    """Yield what to bear in mind about the numbers."""
    for name, what in data.get("described", {}).items():
        yield f"{name}: {what}"
    if data["evaluators"] is None:
        yield "the data do not name evaluators, so intervals are over items only"
    elif data["evaluators"] < 2:
        yield "one evaluator alone gives no intervals over evaluators"
    if data["human"] and all(row["unbiased"] is None for row in data["human"]):
        if data["votes"] is None:
            yield "the unbiased ceiling needs the number of votes behind each share: --votes N"
        else:
            yield "no item has two votes, so people's agreement with one another cannot be estimated"
    if data["human"] and data["votes"] is not None:
        fewest = min(row["fewest_votes"] for row in data["sets"])
        yield (
            f"from few votes (here {fewest} or more an item) the ceiling as printed, p² + (1 − p)², is too "
            "high, since each vote agrees with itself; the row human counts pairs of different votes"
        )
    if data["repeated"]:
        yield f"{counted(data['repeated'], 'vote')} left out: their evaluator had judged the item before"
    yield from data["notes"]
    last = data["columns"][-1]["column"]
    for row in data["metrics"]:
        if row["score"] is None and row["column"] in {each["set"] for each in data["sets"]}:
            yield f"{row['metric']}, {row['column']}: nobody said same, so the area is not defined"
        if row["column"] == last and row["of_ties"] and row["of_ties"][1] - row["of_ties"][0] > 0.05:
            low, high = (formatting.amount(end) for end in row["of_ties"])
            yield (
                f"{row['metric']}: {row['ties']} pairs have the distance of another pair, and stand in the "
                f"order of their names; other orders give {low} to {high} ({last})"
            )


def _what(data: Mapping[str, Any]) -> str:
    if not data["metrics"] and data["human"]:
        return "2AFC: votes of people (%) that agree with one another, and the most that a metric can reach"
    if data["kind"] == JND:
        return "JND: area under precision and recall (mAP, %) of saying same, by the metric's distance"
    return "2AFC score: judgments of people (%) that the metric agrees with"


def _over(data: Mapping[str, Any]) -> str:
    label = formatting.level(data["level"])
    if data["evaluators"] is None:
        return f"{label} intervals over {data['items']:,} items"
    people = counted(data["evaluators"], "evaluator")
    return f"{label} intervals over {people} and {data['items']:,} items"


_Cells = Mapping[str, Mapping[str, Any]]
"""Score and intervals by column."""


def _rows(data: Mapping[str, Any]) -> list[tuple[str, _Cells]]:
    """Return each row of the table, with its name; human rows first."""
    return [*_human(data), *_metrics(data).items()]


def _human(data: Mapping[str, Any]) -> Iterator[tuple[str, _Cells]]:
    if not data["human"]:
        return
    for name, key in ((HUMAN, "unbiased"), (AS_PRINTED, "as_printed"), (ORACLE, "oracle")):
        yield (
            name,
            {
                row["column"]: {"score": row[key], "ci": row["ci"] if name == HUMAN else None}
                for row in data["human"]
            },
        )


def _metrics(data: Mapping[str, Any]) -> dict[str, _Cells]:
    return {
        name: {row["column"]: row for row in data["metrics"] if row["metric"] == name}
        for name in dict.fromkeys(row["metric"] for row in data["metrics"])
    }


def _intervals(data: Mapping[str, Any]) -> Table:
    rows = [
        {"metric": name, "column": column, "score": cell["score"], "ci": cell["ci"]}
        for name, cells in _rows(data)
        if name not in _POINTS
        for column, cell in cells.items()
    ]
    return Table(
        "agreement_intervals",
        f"Scores; {_over(data)}",
        (
            Column("metric", lambda row: row["metric"], is_number=False),
            Column("set", lambda row: row["column"], is_number=False),
            Column("score (%)", lambda row: formatting.estimate(row["score"], row["ci"])),
        ),
        rows,
        is_folded=len(rows) > 12,
    )


def _average_precisions(data: Mapping[str, Any]) -> Table:
    rows = [row for row in data["metrics"] if row["average_precision"]]
    return Table(
        "average_precision",
        "Areas (%) with how many points they are expected to be too high from so few pairs (jackknife), and "
        "average precision (%), which hardly is and does not depend on the order of ties, with "
        f"{formatting.level(data['level'])} intervals over evaluators and items",
        (
            Column("metric", lambda row: row["metric"], is_number=False),
            Column("set", lambda row: row["column"], is_number=False),
            Column("area", lambda row: formatting.amount(row["score"])),
            Column("too high by", lambda row: formatting.amount(row["bias"])),
            Column("average precision", lambda row: formatting.amount(row["average_precision"]["score"])),
            Column("interval", lambda row: formatting.brackets(row["average_precision"]["ci"])),
        ),
        rows,
        is_folded=len(rows) > 12,
    )


def _pairs(data: Mapping[str, Any]) -> Table:
    label = formatting.level(data["level"])
    of_steps = (
        Column("of average precision", lambda row: formatting.amount(row["average_precision"]["difference"])),
        Column("interval", lambda row: formatting.brackets(row["average_precision"]["ci"])),
    )
    return Table(
        "metric_pairs",
        f"Differences between metrics on the same items (percentage points), with {label} intervals over "
        "evaluators and items; p corrected by Holm within a column",
        (
            Column("column", lambda row: row["column"], is_number=False),
            Column("metric", lambda row: row["a"], is_number=False),
            Column("less", lambda row: row["b"], is_number=False),
            Column("difference", lambda row: formatting.amount(row["difference"])),
            Column(f"{label} interval", lambda row: formatting.brackets(row["ci"])),
            Column("p (Holm)", lambda row: formatting.bare_p(row["p_holm"])),
            Column("verdict", lambda row: _verdict(row, data), is_number=False),
            *(of_steps if data["kind"] == JND else ()),
        ),
        data["pairs"],
        is_folded=len(data["pairs"]) > 12,
    )


def _verdict(row: Mapping[str, Any], data: Mapping[str, Any]) -> str:
    p = row["p_holm"]
    return formatting.NONE if p is None else formatting.verdict(p < 1 - data["level"])


def _sets(data: Mapping[str, Any]) -> Table:
    answered = "said same (%)" if data["kind"] == JND else "preferred p1 (%)"
    return Table(
        "agreement_sets",
        "Items and votes by set",
        (
            Column("set", lambda row: row["set"], is_number=False),
            Column("items", lambda row: f"{row['items']:,}"),
            Column("votes", lambda row: formatting.NONE if row["votes"] is None else f"{row['votes']:,}"),
            Column(
                "fewest an item",
                lambda row: formatting.NONE if row["fewest_votes"] is None else f"{row['fewest_votes']:,}",
            ),
            Column(answered, lambda row: formatting.amount(row["share"])),
        ),
        data["sets"],
    )


def _figure(data: Mapping[str, Any], table: Table) -> Figure:
    columns = [row["column"] for row in data["columns"]]
    metrics = _metrics(data)
    human = {row["column"]: row for row in data["human"]}
    label = "mAP (%)" if data["kind"] == JND else "2AFC score (%)"

    last = columns[-1]
    scores = [
        f"{name} {formatting.estimate(cells[last]['score'], cells[last]['ci'])}"
        for name, cells in metrics.items()
    ]
    title = "Agreement of metrics with people"
    return Figure(
        "agreement",
        title,
        f"{title}, by set, with {formatting.level(data['level'])} intervals.",
        f"{last}: {formatting.listing(scores, most=8)}.",
        lambda width_in: figures.agreement.agreement(columns, metrics, human, label, width_in),
        table,
    )


def _sentences(data: Mapping[str, Any]) -> tuple[str, ...]:
    last = data["columns"][-1]["column"]
    where = "" if len(data["columns"]) == 1 else f" ({last})"
    sentences = []
    rows = [row for row in data["metrics"] if row["column"] == last and row["score"] is not None]
    if rows:
        best = max(rows, key=lambda row: row["score"])
        score = formatting.estimate(best["score"], best["ci"])
        sentences.append(f"{best['metric']} agrees best with people{where}: {score}.")
        if best["bias"] and best["bias"] >= _NOTED_BIAS:
            steps, bias = best["average_precision"], formatting.amount(best["bias"], digits=0)
            sentences.append(
                f"From {counted(best['items'], 'pair')}, this area is expected to be about "
                f"{bias} points too high, which the interval allows for; the average precision is "
                f"{formatting.estimate(steps['score'], steps['ci'])}."
            )
    human = next((row for row in data["human"] if row["column"] == last), None)
    if human and human["unbiased"] is not None:
        share = formatting.estimate(human["unbiased"], human["ci"], "percent")
        sentences.append(f"People agree with one another in {share} of pairs of votes{where}.")
    return tuple(sentences)
