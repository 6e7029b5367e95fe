"""Figure of the agreement of metrics with people: bars by set, as in figure 4 of Zhang et al. (2018)."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from backend.report.figures import style
from backend.report.formatting import short

_LABEL = len("baseline-alex")
"""Characters of a name that are shown at every width: the names of our distances."""
_CHANCE = 50


def agreement(
    columns: Sequence[str],
    metrics: Mapping[str, Mapping[str, Mapping[str, Any]]],
    human: Mapping[str, Mapping[str, Any]],
    label: str,
    width_in: float,
) -> Figure:
    """Return bars of scores with their intervals, one panel for each column, and the human ceiling.

    Args:
        metrics: rows of `agreement.agreement` by metric, then by column.
        human: its rows of the human ceiling, by column; empty for JND.
        label: of the axis of scores.
    """
    figure, places = style.panels(width_in, len(columns), 0.75 + 0.25 * len(metrics))
    lines_of_legend = (1 if width_in >= style.NARROW_IN else 3) if human else 0
    figure.set_figheight(figure.get_figheight() + 0.35 + 0.2 * lines_of_legend)
    names = [short(name, max(_LABEL, style.label_length(width_in) // 2)) for name in metrics]
    across = style.across(places)
    for i, (axes, column) in enumerate(zip(places, columns, strict=True)):
        rows = [metrics[name][column] for name in metrics]
        known = [(y, row) for y, row in enumerate(rows) if row["score"] is not None]
        axes.barh([y for y, _ in known], [row["score"] for _, row in known], height=0.62, color=style.TINT)
        for y, row in known:
            if row["ci"]:
                axes.plot(row["ci"], [y, y], color=style.ACCENT, linewidth=2.2, solid_capstyle="butt")
            axes.plot([row["score"]], [y], marker="o", color=style.CARD, markeredgecolor=style.INK,
                      markersize=4.2)  # fmt: skip
        ceiling = human.get(column)
        if ceiling:
            axes.axvline(_CHANCE, color=style.QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
            axes.axvline(ceiling["as_printed"], color=style.INK, linewidth=0.9, linestyle=(0, (1.5, 1.2)))
            if ceiling["unbiased"] is not None:
                axes.axvline(ceiling["unbiased"], color=style.INK, linewidth=1.2)
        style.rows_down(axes, names)
        axes.set_title(short(column, style.label_length(width_in)))
        axes.grid(axis="x")
        axes.set_xlim(0, 100)
        if i + across >= len(columns):
            axes.set_xlabel(label)
    if human:
        lines = [
            Line2D([], [], color=style.INK, linewidth=1.2),
            Line2D([], [], color=style.INK, linewidth=0.9, linestyle=(0, (1.5, 1.2))),
            Line2D([], [], color=style.QUIET, linewidth=0.8, linestyle=(0, (4, 2))),
        ]
        words = ["human ceiling", "as the paper prints it", "chance"]
        shown = slice(None) if any(row["unbiased"] is not None for row in human.values()) else slice(1, None)
        figure.legend(
            lines[shown],
            words[shown],
            loc="outside lower left",
            ncols=3 if width_in >= style.NARROW_IN else 1,
        )
    return figure
