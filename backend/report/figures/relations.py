"""Figures of scores over training, scores against automatic metrics, and evaluators."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from backend.report.figures import style
from backend.report.formatting import coefficient, short

_FEW = len(style.SERIES)
_NAMED = 12
"""Number of models up to which points have names."""


def progress(lines: Sequence[Mapping[str, Any]], unit: str, width_in: float) -> Figure:
    """Return a figure of the scores of checkpoints with their intervals, one line per model."""
    figure = style.figure(width_in, 3.0)
    axes = figure.subplots()
    if unit == "percent":
        axes.axhline(50, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0)
    for i, line in enumerate(lines):
        look = style.series(i)
        points = line["points"]
        axes.plot([p["at"] for p in points], [p["score"] for p in points], **look,
                  label=short(line["model"], style.label_length(width_in)))  # fmt: skip
        for point in points:
            if point["interval"]:
                axes.plot([point["at"]] * 2, point["interval"]["ci"], color=look["color"], linewidth=2.2,
                          alpha=0.55, solid_capstyle="butt")  # fmt: skip
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_ylim(bottom=0)
    axes.set_xlabel("step of training")
    axes.set_title("pictures judged wrong (%)" if unit == "percent" else "score (ms)")
    axes.grid(axis="y")
    if len(lines) > 1:
        axes.legend()
    return figure


def metrics(found: Sequence[Mapping[str, Any]], label: str, width_in: float) -> Figure:
    """Return a figure with one panel per metric: value and score of each model, with Spearman's rho.

    Args:
        found: by metric, `metric`, `rho`, and `points` with `model, value, score` and the score's `ci`.
        label: what the scores are, with their unit.
    """
    is_wide = width_in >= style.NARROW_IN
    across = min(len(found), 3 if is_wide else 1)
    down = -(-len(found) // across)
    figure = style.figure(width_in, 2.5 * down)
    places = [*figure.subplots(down, across, squeeze=False, sharey=True).flat]
    for place in places[len(found) :]:
        place.remove()
    for axes, one in zip(places, found, strict=False):
        _scatter(axes, one, len(one["points"]) <= _NAMED)
        rho = "" if one["rho"] is None else f"  ρ = {coefficient(one['rho'])}"
        axes.set_title(short(one["metric"], 24) + rho)
        axes.grid()
    figure.supylabel(label, fontsize=9)
    return figure


def _scatter(axes: Axes, one: Mapping[str, Any], is_named: bool) -> None:
    axes.margins(0.16)
    for point in one["points"]:
        if point["ci"]:
            axes.plot([point["value"]] * 2, point["ci"], color=style.ACCENT, linewidth=2.2, alpha=0.55,
                      solid_capstyle="butt", zorder=1)  # fmt: skip
        axes.plot(point["value"], point["score"], marker="o", color=style.ACCENT, markeredgecolor=style.CARD)
        if is_named:
            axes.annotate(short(point["model"], 14), (point["value"], point["score"]), xytext=(5, 0),
                          textcoords="offset points", va="center", fontsize=7.5, color=style.INK)  # fmt: skip


def evaluators(
    rows: Sequence[Mapping[str, Any]],
    models: Sequence[str],
    key: str,
    width_in: float,
    value: str = "value",
    chance: float = 50,
) -> Figure:
    """Return a scatter plot of evaluators: `key` (`agreement` or `rt_median_ms`) against accuracy.

    Where no answer is right, it is against their values.

    Args:
        value: label of the axis of values.
        chance: accuracy by guessing, in percent.
    """
    has_truth = any(row["accuracy"] is not None for row in rows)
    figure = style.figure(width_in, 3.2 if width_in >= style.NARROW_IN else 3.4)
    axes = figure.subplots()
    if has_truth:
        axes.axvline(chance, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0)
    named = models if len(models) <= _FEW else [None]
    for i, model in enumerate(named):
        plotted = [row for row in rows if model in (None, row["model"]) and row.get(key) is not None]
        look = style.series(i) | {"linestyle": "", "alpha": 0.85, "markersize": 5}
        scale = 1000 if key == "rt_median_ms" else 1
        across = [100 * row["accuracy"] if has_truth else row["value"] for row in plotted]
        axes.plot(across, [row[key] / scale for row in plotted], **look,
                  label=short(model or "all models", style.label_length(width_in)))  # fmt: skip
    axes.set_xlabel("right answers (%)" if has_truth else value)
    axes.set_title(
        "median response time (s)" if key == "rt_median_ms" else "agreement with others, beyond chance"
    )
    axes.grid()
    if len(named) > 1:
        across = min(len(named), 4 if width_in >= style.NARROW_IN else 2)
        figure.legend(loc="outside lower left", ncols=across, handletextpad=0.3)
    return figure
