"""Rank correlations of metrics with mean opinion scores, as a report."""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.elements import Column, Figure, Report, Section, Table


def report(
    data: Mapping[str, Any], source: str, date: str, version: str, points: Mapping[str, Any] | None = None
) -> Report:
    """Return a report of the agreement alone.

    Args:
        data: the result of `opinion_scores.opinion_agreement`.
        points: of the figure, as in `OpinionAgreement`; None for none.
    """
    facts = [("Source", source), ("Stimuli", f"{data['stimuli']:,}")]
    facts += [("References", f"{data['references']:,}")] if data["references"] is not None else []
    facts += [("Opinions", f"{data['votes']:,}")] if data["votes"] is not None else []
    facts += [("Page", f"{date}, openhype {version}")]
    sentences = (*_sentences(data),)
    table = _table(data) if data["metrics"] else None
    section = Section(
        "opinion-scores",
        "Metrics and opinion scores",
        sentences,
        lead=table,
        figures=(_figure(data, points, table),) if table and points else (),
        notes=(*_notes(data),),
    )
    title = f"Metrics and opinion scores: {source}"
    return Report(title, " ".join(sentences), tuple(facts), (), (section,), {"opinion_scores": data})


def _table(data: Mapping[str, Any]) -> Table:
    label = formatting.level(data["level"])
    has_references = data["references"] is not None
    random = (data["references"], "reference") if has_references else (data["stimuli"], "stimulus", "stimuli")
    return Table(
        "opinion_scores",
        f"Rank correlation with mean opinion scores, with {label} intervals over {counted(*random)}",
        (
            Column("metric", lambda row: row["metric"], is_number=False),
            Column("Spearman", lambda row: formatting.coefficient(row["rho"], 3)),
            Column("interval of ρ", lambda row: formatting.coefficients(row["rho_ci"], 3)),
            Column("Kendall", lambda row: formatting.coefficient(row["tau"], 3)),
            Column("interval of τ", lambda row: formatting.coefficients(row["tau_ci"], 3)),
        ),
        data["metrics"],
    )


def _figure(data: Mapping[str, Any], points: Mapping[str, Any], table: Table) -> Figure:
    panels = [
        {"metric": row["metric"], "rho": row["rho"], "values": points["values"][row["metric"]]}
        for row in data["metrics"]
    ]
    shown = len(points["scores"])
    of = "" if shown == data["stimuli"] else f" {shown:,} of {data['stimuli']:,} are shown."
    coefficients = [f"{each['metric']} {formatting.coefficient(each['rho'])}" for each in panels]
    return Figure(
        "opinion_scores",
        "Opinion scores and metrics",
        f"Mean opinion score of each stimulus against its value of each metric, with Spearman's ρ.{of}",
        f"Spearman's ρ: {formatting.listing(coefficients, most=8)}.",
        lambda width_in: figures.relations.opinions(panels, points["scores"], width_in),
        table,
    )


def _sentences(data: Mapping[str, Any]) -> Iterator[str]:
    known = [row for row in data["metrics"] if row["rho"] is not None]
    if known:
        best = max(known, key=lambda row: abs(row["rho"]))
        rho = formatting.coefficient_estimate(best["rho"], best["rho_ci"], 3)
        yield f"{best['metric']} orders stimuli most as people do: Spearman's ρ = {rho}."
    if data["ceiling"] is not None:
        rho, tau = (formatting.coefficient(data["ceiling"][name], 3) for name in ("rho", "tau"))
        yield (
            f"By the SD of the opinions, {formatting.share(data['reliability'])} of the variance of scores "
            f"is not noise: a perfect metric would have about ρ = {rho} and τ = {tau}, or their negatives."
        )


def _notes(data: Mapping[str, Any]) -> Iterator[str]:
    for name, why in ((row["metric"], row["note"]) for row in data["metrics"]):
        if why:
            yield f"{name}: {why}"
    if data["references"] is None:
        yield (
            "stimuli are taken to be independent; if several are versions of one picture, name it in a "
            "column `reference`, else intervals are too narrow"
        )
    yield "signs are as they come: a distance falls with quality, so that a good one is near −1"
    if data["reliability"] is None:
        yield "how much opinions vary is not known: it takes the columns sd and votes"
