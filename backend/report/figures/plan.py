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
    if "plan" in plan:
        figure = Figure(figsize=(6, 4.5), layout="constrained")
        _draw_looks(figure.subplots(), plan)
        return figure
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


def _draw_looks(axes: Axes, plan: Mapping[str, Any]) -> None:
    """Draw the people that each plan is expected to need, with the chance of reaching the aim."""
    rows = [row for row in plan["rows"] if not row["why_none"]]
    for i, row in enumerate(rows):
        saved = 1 - row["looks"]["people"] / row["fixed"]["people"]
        axes.barh(i, row["fixed"]["people"], color="#DDDDDD")
        axes.barh(i, row["looks"]["people"], height=0.5, color=style.series(i)["color"])
        axes.annotate(
            f"{saved:.0%} saved, {row['looks']['reached']:.0%} reach the aim ({row['fixed']['reached']:.0%})",
            (0, i), xytext=(4, 0), textcoords="offset points", va="center", fontsize="small", bbox=_CLEAR,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [row["model"] for row in rows])
    axes.invert_yaxis()
    looks = ", ".join(map(str, plan["plan"]["looks"]))
    axes.set_xlabel(f"evaluators of the study, with looks at {looks}\n(grey and in brackets: the fixed plan)")


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
