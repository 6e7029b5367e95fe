"""Report section on precision: how precise the scores are, and what more evaluators would gain."""

from collections.abc import Mapping
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import figures, formatting
from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Section, Table


def section(view: FindingsView) -> Section | None:
    """Return the section on interval widths, intervals over stimuli too, and reliability; None if empty."""
    curves = {row["model"]: row["width"] for row in view.models if row.get("width")}
    crossed = [row for row in view.models if row["interval"] and row["interval"]["pictures"] is not None]
    reliable = _reliability(view)
    if not (curves or crossed or reliable):
        return None
    paragraphs = []
    if curves:
        paragraphs.append(_width_words(view, curves))
    if crossed:
        paragraphs.append(
            "Pictures are a sample as well as people. The intervals count both and hold for other pictures "
            "of the same model too; where everybody saw other pictures they are hardly wider for it, where "
            "all saw the same few, much."
        )
    paragraphs += reliable
    tables = [_intervals(view)] if any(row["ci"] for row in view.models) else []
    return Section(
        "precision",
        "Precision",
        tuple(paragraphs),
        tables=tuple(tables),
        figures=(_figure(view, curves),) if curves else (),
        notes=(
            "Cost and time take each evaluator to be paid for right answers and to need some seconds a "
            "picture, ten at a time; the command openhype plan reckons with your own numbers.",
        )
        if curves
        else (),
    )


def _width_words(view: FindingsView, curves: dict[str, list]) -> str:
    worst = max(curves, key=lambda model: curves[model][0]["width"])
    by_count = {row["evaluators"]: row for row in curves[worst]}
    text = (
        "An interval narrows with the square root of the number of evaluators: half the width takes four "
        "times as many."
    )
    if 30 in by_count and 120 in by_count:
        text += (
            f" For {worst}, whose evaluators differ most, "
            f"{formatting.amount(by_count[30]['width'], view.points)} wide "
            f"with 30 evaluators becomes {formatting.amount(by_count[120]['width'], view.points)} with 120."
        )
    return text


def _figure(view: FindingsView, curves: dict[str, list]) -> Figure:
    taken = {row["model"]: row["evaluators"] for row in view.models}
    return Figure(
        "width",
        "Interval width against the number of evaluators",
        f"Width of the {view.level} percentile interval (paper) with 10 to 120 evaluators sampled from "
        "those there are, and what so many would cost and take. A dotted line marks how many a model has.",
        f"Lines of {counted(len(curves), 'model')} that fall as evaluators are added.",
        lambda width_in: figures.precision.width(curves, taken, view.unit, view.level, width_in),
        _width_table(view, curves),
    )


def _width_table(view: FindingsView, curves: dict[str, list]) -> Table:
    rows = [{"model": model, **row} for model, curve in curves.items() for row in curve]
    columns = (
        Column("model", lambda row: row["model"], is_number=False),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("SD", lambda row: formatting.amount(row["std"], "", 2)),
        Column(f"width ({view.points})", lambda row: formatting.amount(row["width"])),
        Column("cost (USD)", lambda row: f"{row['usd']:,.2f}"),
        Column("time (hours)", lambda row: formatting.amount(row["hours"], "", 1)),
    )
    caption = "Interval width, cost and time by number of evaluators"
    return Table("width", caption, columns, rows, shown=150, alone="all")


def _intervals(view: FindingsView) -> Table:
    rows: list[dict[str, Any]] = []
    for row in view.models:
        interval = row["interval"] or {}
        rows.append(
            {
                "model": row["model"],
                "interval_ci": row["interval_ci"],
                "method": interval.get("method"),
                "of": interval.get("of"),
                "percentile_ci": row["ci"],
                "percentile_covers": interval.get("percentile_covers"),
                "pictures": interval.get("pictures"),
                "share_of_pictures": interval.get("share_of_pictures"),
                **_halves(row.get("image_reliability")),
            }
        )
    columns = [
        Column("model", lambda row: row["model"], is_number=False),
        Column("interval", lambda row: formatting.brackets(row["interval_ci"])),
        Column("by", lambda row: row["method"] or formatting.NONE, is_number=False),
        Column("over", lambda row: row["of"] or formatting.NONE, is_number=False),
        Column("percentile (paper)", lambda row: formatting.brackets(row["percentile_ci"])),
        Column("which covers about", lambda row: formatting.share(row["percentile_covers"], 1)),
    ]
    if any(row["pictures"] is not None for row in rows):
        columns += [
            Column("pictures", lambda row: formatting.amount(row["pictures"], digits=0)),
            Column("variance from pictures", lambda row: formatting.share(row["share_of_pictures"])),
        ]
    if any(row["image_half"] is not None for row in rows):
        columns += [
            Column("r of halves, by picture", lambda row: formatting.coefficient(row["image_half"])),
            Column("stepped up", lambda row: formatting.coefficient(row["image_full"])),
        ]
    unit = "percent" if view.is_percent else "ms"
    caption = f"{view.level} intervals of the scores ({unit})"
    return Table("intervals", caption, tuple(columns), rows, alone=view.alone or "percentile (paper)")


def _halves(halves: Mapping[str, float | None] | None) -> dict[str, float | None]:
    """Return the reliability of single pictures for a row of the table."""
    return {f"image_{key}": halves[key] if halves else None for key in ("half", "full")}


def _reliability(view: FindingsView) -> list[str]:
    paragraphs = []
    models = view.findings.get("reliability")
    if models and models["full"] is not None:
        paragraphs.append(
            "Reliability: halves of the evaluators, split at random, put the models in scores that "
            "correlate at "
            f"r = {formatting.coefficient(models['half'])}; stepped up to all evaluators (Spearman–Brown) "
            "that is "
            f"{formatting.coefficient(models['full'])} of at most 1."
        )
    images = [(row["model"], row["image_reliability"]) for row in view.models if row.get("image_reliability")]
    images = [(model, one) for model, one in images if one["full"] is not None]
    if images:
        low, high = (choose(images, key=lambda one: one[1]["full"]) for choose in (min, max))
        span = formatting.coefficient(high[1]["full"])
        if low[0] != high[0]:
            span = f"{formatting.coefficient(low[1]['full'])} ({low[0]}) to {span} ({high[0]})"
        paragraphs.append(
            f"Of single pictures the same is {span}: "
            + (
                "too few judged each to say which pictures fool people."
                if high[1]["full"] < 0.5
                else "how much of which pictures fool people is more than luck."
            )
        )
    return paragraphs
