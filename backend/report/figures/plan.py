"""Figure of a plan: the interval's width against evaluators, and the cost against images."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.plan_tables import WRITTEN_UNITS

_CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 1}


def draw_plan(plan: Mapping[str, Any]) -> Figure:
    """Return the figure of a plan, which is a result of `analysis.planning.plan`."""
    has_images = any(row["best"] for row in plan["rows"])
    figure = Figure(figsize=(11 if has_images else 6, 4.5), layout="constrained")
    axes = figure.subplots(1, 2 if has_images else 1, squeeze=False)[0]
    _draw_widths(axes[0], plan)
    if has_images:
        _draw_costs(axes[1], plan)
    return figure


def _draw_widths(axes: Axes, plan: Mapping[str, Any]) -> None:
    unit = WRITTEN_UNITS[plan["unit"]]
    for i, row in enumerate(plan["rows"]):
        label = f"{row['model']} ({'none' if row['evaluators'] is None else row['evaluators']})"
        points = [(point["evaluators"], point["width"]) for point in row["curve"]]
        axes.plot(*zip(*points, strict=True), label=label, markevery=3, **style.series(i))
    wanted = plan["aim"]["width"]
    if wanted is not None:
        axes.axhline(wanted, color="#555555", linestyle="--", linewidth=1)
        axes.annotate("wanted", (120, wanted), ha="right", va="bottom", color="#555555", bbox=_CLEAR)
    axes.set_xlabel("evaluators")
    aim = plan["aim"]
    percent = f"{100 * aim['level']:g}%"
    axes.set_ylabel(
        f"width of the {percent} interval ({unit}),\nat most, in {aim['assurance']:.0%} of studies"
    )
    axes.set_ylim(bottom=0)
    axes.legend(title="model (evaluators planned)", frameon=False, fontsize="small")


def _draw_costs(axes: Axes, plan: Mapping[str, Any]) -> None:
    for i, row in enumerate(plan["rows"]):
        points = [(point["images"], point["usd"]) for point in row["by_images"] if point["usd"] is not None]
        if not points:
            continue
        axes.plot(*zip(*points, strict=True), label=row["model"], markevery=6, **style.series(i))
        axes.plot(
            row["best"]["images"], row["best"]["usd"], "*", color=style.series(i)["color"], markersize=14
        )
    axes.set_xlabel("images an evaluator judges (star: the number that costs least)")
    axes.set_ylabel("cost of the study (US dollars)")
    axes.set_yscale("log")
    for format_ticks in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
        format_ticks(lambda value, _: f"${value:,.0f}" if f"{value:e}"[0] in "125" else "")
