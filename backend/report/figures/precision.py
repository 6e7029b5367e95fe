"""Figure of the interval's width against the number of evaluators (HYPE, figure 4), with cost and time."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.formatting import short

Curves = Mapping[str, Sequence[Mapping[str, Any]]]


def width(curves: Curves, taken: Mapping[str, int], unit: str, level: str, width_in: float) -> Figure:
    """Return a figure with three panels over the number of evaluators: interval width, cost, time.

    Args:
        curves: by model, rows of `evaluators`, `width`, `usd`, `hours`.
        taken: the actual number of evaluators of each model, drawn as vertical lines.
    """
    is_wide = width_in >= style.NARROW_IN
    figure = style.figure(width_in, 3.3 if is_wide else 6.0)
    if is_wide:
        grid = figure.add_gridspec(2, 2, width_ratios=[1.9, 1])
        main, cost, time = (figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
    else:
        grid = figure.add_gridspec(3, 1, height_ratios=[2.4, 1, 1])
        main, cost, time = (figure.add_subplot(grid[i, 0]) for i in range(3))
    sign = "points" if unit == "percent" else "ms"
    _lines(main, curves, width_in)
    for count in sorted({*taken.values()}):
        if 10 <= count <= 120:
            main.axvline(count, color=style.QUIET, linewidth=0.7, linestyle=(0, (2, 2)), zorder=0)
    main.set_title(f"width of the {level} percentile interval ({sign})")
    for axes, key, title in ((cost, "usd", "cost (US dollars)"), (time, "hours", "time (hours)")):
        for i, rows in enumerate(curves.values()):
            line = style.series(i) if len(curves) <= len(style.SERIES) else {"color": style.QUIET}
            line |= {"marker": "", "linewidth": 1.1}
            axes.plot([row["evaluators"] for row in rows], [row[key] for row in rows], **line)
        axes.set_title(title)
    for axes in (main, cost, time):
        axes.set_ylim(bottom=0)
        axes.set_xticks([10, 30, 60, 90, 120])
        axes.grid(axis="y")
    for axes in (main, time):
        axes.set_xlabel("evaluators of a model")
    cost.tick_params(labelbottom=False)
    return figure


def _lines(axes: Axes, curves: Curves, width_in: float) -> None:
    if len(curves) > len(style.SERIES):
        _bundle(axes, curves, width_in)
        return
    for i, (model, rows) in enumerate(curves.items()):
        x, y = [row["evaluators"] for row in rows], [row["width"] for row in rows]
        axes.plot(x, y, **style.series(i), markevery=4, label=short(model, style.label_length(width_in)))
    axes.legend()


def _bundle(axes: Axes, curves: Curves, width_in: float) -> None:
    """Draw many models as thin grey lines, and label the widest and the narrowest."""
    order = sorted(curves, key=lambda model: curves[model][0]["width"])
    for model in order[1:-1]:
        rows = curves[model]
        axes.plot([r["evaluators"] for r in rows], [r["width"] for r in rows], color=style.QUIET,
                  linewidth=0.6, alpha=0.6)  # fmt: skip
    for i, model in enumerate((order[-1], order[0])):
        rows = curves[model]
        name = f"{short(model, style.label_length(width_in))} ({('widest', 'narrowest')[i]})"
        axes.plot([r["evaluators"] for r in rows], [r["width"] for r in rows], **style.series(i), markevery=4,
                  label=name)  # fmt: skip
    axes.legend()
