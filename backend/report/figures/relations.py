"""Figures of scores over training, scores against automatic metrics, and evaluators."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter

from backend.report.figures import style
from backend.report.formatting import coefficient, short

_FEW = len(style.SERIES)
_NUMBERED = range(7, 25)
"""Numbers of models whose points have numbers; with fewer they have names, with more nothing."""
_LETTERS_AN_IN = 12
"""Letters of a panel's title that fit into an inch."""
_PANEL_PT = 90
"""Height, in points, of the range of scores in a panel."""
_ABOVE_PT = 7
"""By how much a name stands above an interval of its point's value."""
_MARGIN = 0.16
"""Margin of a panel on each side, as a part of the range of values."""
_LINE = 0.1
"""Part of that height that a name needs."""


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


def metrics(correlations: Sequence[Mapping[str, Any]], label: str, width_in: float) -> Figure:
    """Return a figure with one panel per metric: value and score of each model, with Spearman's rho.

    Few models are named beside their points, more have numbers with a key below.

    Args:
        correlations: by metric, `metric`, `rho`, and `points` with `model, value, score`, the score's `ci`,
            and `value_ci` if the value has one.
        label: what the scores are, with their unit.
    """
    is_wide = width_in >= style.NARROW_IN
    models = [*dict.fromkeys(point["model"] for one in correlations for point in one["points"])]
    marks = _marks(models)
    across = min(len(correlations), 3 if is_wide else 1)
    down = -(-len(correlations) // across)
    key = -(-len(models) // (4 if is_wide else 2)) * 0.2 if len(models) in _NUMBERED else 0
    figure = style.figure(width_in, 2.5 * down + key)
    places = [*figure.subplots(down, across, squeeze=False, sharey=True).flat]
    for place in places[len(correlations) :]:
        place.remove()
    length = int(_LETTERS_AN_IN * width_in / across)
    for axes, one in zip(places, correlations, strict=False):
        _scatter(axes, one, marks)
        rho = "" if one["rho"] is None else f"\nρ = {coefficient(one['rho'])}"
        axes.set_title(short(one["metric"], length) + rho)
        axes.grid()
    figure.supylabel(label, fontsize=9)
    if key:
        names = [f"{marks[model]}  {short(model, style.label_length(width_in) // 2 + 4)}" for model in models]
        lines = [Line2D([], [], linestyle="")] * len(names)
        figure.legend(lines, names, loc="outside lower left", ncols=4 if is_wide else 2, handlelength=0,
                      handletextpad=0, columnspacing=1.6)  # fmt: skip
    return figure


def opinions(panels: Sequence[Mapping[str, Any]], scores: Sequence[float], width_in: float) -> Figure:
    """Return a figure with one panel per metric: value and opinion score of each stimulus.

    Args:
        panels: by metric, `metric`, `rho`, and `values` of the stimuli in the order of `scores`.
    """
    across = min(len(panels), 3 if width_in >= style.NARROW_IN else 1)
    down = -(-len(panels) // across)
    figure = style.figure(width_in, 2.5 * down)
    places = [*figure.subplots(down, across, squeeze=False, sharey=True).flat]
    for place in places[len(panels) :]:
        place.remove()
    for axes, panel in zip(places, panels, strict=False):
        axes.plot(panel["values"], scores, ".", color=style.ACCENT, alpha=0.5, markersize=4)
        rho = "" if panel["rho"] is None else f"\nρ = {coefficient(panel['rho'])}"
        axes.set_title(short(panel["metric"], int(_LETTERS_AN_IN * width_in / across)) + rho)
        axes.grid()
    figure.supylabel("mean opinion score", fontsize=9)
    return figure


def _marks(models: Sequence[str]) -> dict[str, str]:
    """Return what stands beside each model's point: its name, its number, or nothing."""
    if len(models) in _NUMBERED:
        return {model: str(i) for i, model in enumerate(models, 1)}
    return {model: short(model, 14) if len(models) < _NUMBERED.start else "" for model in models}


def _scatter(axes: Axes, one: Mapping[str, Any], marks: Mapping[str, str]) -> None:
    axes.margins(_MARGIN)
    points = one["points"]
    for point in points:
        line: dict[str, Any] = {"color": style.ACCENT, "alpha": 0.55, "solid_capstyle": "butt", "zorder": 1}
        width = 1.1 if point.get("value_ci") else 2.2
        if point["ci"]:
            axes.plot([point["value"]] * 2, point["ci"], linewidth=width, **line)
        if point.get("value_ci"):
            axes.plot(point["value_ci"], [point["score"]] * 2, linewidth=width, **line)
        axes.plot(point["value"], point["score"], marker="o", color=style.ACCENT, markeredgecolor=style.CARD)
    xs, ys = ([point[name] for point in points] for name in ("value", "score"))
    needs = 0.3 if len(marks) < _NUMBERED.start else 0.08
    taken: list[tuple[float, float]] = []
    for point in sorted(points, key=lambda point: point["score"]):
        x, y = _part(point["value"], xs), _part(point["score"], ys)
        is_left = _runs_left(point, points, x, needs)
        here = x - needs * is_left, y
        while any(abs(here[0] - other[0]) < needs and abs(here[1] - other[1]) < _LINE for other in taken):
            here = here[0], here[1] + _LINE / 4
        taken.append(here)
        above = _ABOVE_PT if point.get("value_ci") else 0
        axes.annotate(marks[point["model"]], (point["value"], point["score"]), textcoords="offset points",
                      xytext=(-5 if is_left else 5, (here[1] - y) * _PANEL_PT + above),
                      ha="right" if is_left else "left", va="center", fontsize=7.5,
                      color=style.INK)  # fmt: skip


def _runs_left(point: Mapping[str, Any], points: Sequence[Mapping[str, Any]], x: float, needs: float) -> bool:
    """Return whether a point's name is better placed at its left than at its right.

    It stays within the panel, runs over few intervals of other points, and else towards the middle.

    Args:
        x: where the point lies, from 0 to 1.
        needs: width of a name on that scale.
    """
    xs = [other["value"] for other in points]
    crossed = [
        _part(other["value"], xs) - x
        for other in points
        if other["ci"] and other["ci"][0] <= point["score"] <= other["ci"][1]
    ]
    left, right = (sum(0 < side * each < needs for each in crossed) for side in (-1, 1))
    return (x + _MARGIN < needs, left, x <= 0.5) < (1 - x + _MARGIN < needs, right, x > 0.5)


def _part(value: float, values: Sequence[float]) -> float:
    """Return where a value lies between the least (0) and the greatest (1)."""
    low, high = min(values), max(values)
    return (value - low) / (high - low) if high > low else 0.0


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
        columns = min(len(named), 4 if width_in >= style.NARROW_IN else 2)
        figure.legend(loc="outside lower left", ncols=columns, handletextpad=0.3)
    return figure
