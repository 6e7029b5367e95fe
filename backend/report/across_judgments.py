"""2AFC and JND scores of the same metrics, and their correlation, as a report."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.analysis.agreement.across_judgments import FEWEST
from backend.analysis.agreement.votes import JND, TWO_AFC
from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting, simulated
from backend.report.elements import Column, Figure, Report, Section, Table

_TITLES = {TWO_AFC: "2AFC score (%)", JND: "JND area (mAP, %)"}
_SIGNS = {"pearson": "Pearson's r", "spearman": "Spearman's ρ", "kendall": "Kendall's τ"}


def report(data: Mapping[str, Any], date: str, version: str, warnings: Sequence[str] = ()) -> Report:
    """Return a report of the correlation alone.

    Args:
        data: the result of `across_judgments.across_judgments`, with `studies` (`name`, `kind`, `items`,
            `evaluators`) and `simulated`.
    """
    names = " and ".join(row["name"] for row in data["studies"])
    facts = [(row["name"], _study(row)) for row in data["studies"]]
    facts += [("Page", f"{date}, openhype {version}")]
    correlation = section(data)
    made = Report(
        f"Metrics by 2AFC and JND: {names}",
        " ".join(correlation.paragraphs),
        tuple(facts),
        tuple(warnings),
        (correlation,),
        {"across_judgments": data},
    )
    return simulated.marked(made) if data["simulated"] else made


def section(data: Mapping[str, Any]) -> Section:
    scores, correlations = _scores(data), _correlations(data)
    drawn = sum(row["jnd"] is not None for row in data["metrics"])
    return Section(
        "across-judgments",
        "Metrics by 2AFC and JND",
        (*_sentences(data),),
        lead=scores,
        tables=(correlations,),
        figures=(_figure(data, scores),) if drawn else (),
        notes=(*_notes(data),),
    )


def _study(row: Mapping[str, Any]) -> str:
    people = "" if row["evaluators"] is None else f", {counted(row['evaluators'], 'evaluator')}"
    return f"{row['kind'].upper()}, {counted(row['items'], 'item')}{people}"


def _correlations(data: Mapping[str, Any]) -> Table:
    return Table(
        "across_judgments",
        f"Correlation of 2AFC and JND scores over {counted(len(data['metrics']), 'metric')}, with "
        f"{formatting.level(data['level'])} intervals over metrics",
        (
            Column("coefficient", lambda row: _SIGNS[row["coefficient"]], is_number=False),
            Column("value", lambda row: formatting.coefficient(row["value"], 3)),
            Column("interval", lambda row: formatting.coefficients(row["ci"], 3)),
        ),
        data["correlations"],
    )


def _scores(data: Mapping[str, Any]) -> Table:
    return Table(
        "metric_scores",
        f"Scores of metrics, with {formatting.level(data['level'])} intervals over evaluators and items",
        (
            Column("metric", lambda row: row["metric"], is_number=False),
            Column(_TITLES[TWO_AFC], lambda row: formatting.estimate(row["two_afc"], row["two_afc_ci"])),
            Column(_TITLES[JND], lambda row: formatting.estimate(row["jnd"], row["jnd_ci"])),
        ),
        data["metrics"],
    )


def _figure(data: Mapping[str, Any], table: Table) -> Figure:
    points = [
        {
            "model": row["metric"],
            "value": row["two_afc"],
            "value_ci": row["two_afc_ci"],
            "score": row["jnd"],
            "ci": row["jnd_ci"],
        }
        for row in data["metrics"]
        if row["jnd"] is not None
    ]
    rho = next(row["value"] for row in data["correlations"] if row["coefficient"] == "spearman")
    panel = {"metric": _TITLES[TWO_AFC], "rho": rho, "points": points}
    return Figure(
        "across_judgments",
        "Metrics by 2AFC and JND",
        "Each metric's 2AFC score and JND area, with their intervals over evaluators and items.",
        f"{counted(len(points), 'metric')}; Spearman's ρ = {formatting.coefficient(rho, 3)}.",
        lambda width_in: figures.relations.metrics([panel], _TITLES[JND], width_in),
        table,
    )


def _sentences(data: Mapping[str, Any]) -> Iterator[str]:
    by_name = {row["coefficient"]: row for row in data["correlations"]}
    if by_name["pearson"]["value"] is None:
        yield "There is no correlation: it takes three metrics, of which some differ on either side."
        return
    r, rho = (
        f"{_SIGNS[name]} = {formatting.coefficient_estimate(by_name[name]['value'], by_name[name]['ci'], 3)}"
        for name in ("pearson", "spearman")
    )
    yield f"Over {counted(len(data['metrics']), 'metric')}, 2AFC and JND scores have {r} and {rho}."


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    if len(data["metrics"]) < FEWEST:
        yield f"an interval takes {FEWEST} metrics"
    yield (
        "intervals are over metrics, as if these were a random sample: they say what other "
        "metrics of the kind would give, and are too narrow if several are versions of one"
    )
    yield (
        "other people or items are not in them; where these are few, the noise of scores holds the "
        "correlation down"
    )
    for row in data["metrics"]:
        if row["jnd"] is None:
            yield f"{row['metric']}: nobody said same in one of the sets, so that it has no JND area"
