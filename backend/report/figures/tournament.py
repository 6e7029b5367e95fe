"""Figures of a tournament: the ladder of strengths, and the win matrix."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from backend.report.figures.style import ACCENT, CARD, INK, LINE, figure, label_length, rows_down
from backend.report.formatting import short

_ROW_IN, _AROUND_IN = 0.26, 0.7
_CELL_IN = 0.42
_MOST_NUMBERS = 16
"""Up to so many contestants, cells have their numbers."""


def ladder(rows: Sequence[Mapping[str, Any]], width_in: float) -> Figure:
    """Return strengths with their intervals, strongest on top."""
    drawn = figure(width_in, _AROUND_IN + _ROW_IN * len(rows))
    axes = drawn.subplots()
    axes.axvline(0, color=LINE, linewidth=1)
    for place, row in enumerate(rows):
        if row["ci"]:
            axes.plot(row["ci"], [place, place], color=ACCENT, linewidth=2, solid_capstyle="butt")
        fill = CARD if row["is_real"] else ACCENT
        axes.plot(row["score"], place, "o", color=fill, markeredgecolor=ACCENT, markersize=6)
    rows_down(axes, [short(row["model"], label_length(width_in) // 2) for row in rows])
    axes.set_xlabel("strength (log-odds against the mean model)")
    return drawn


def win_matrix(names: Sequence[str], pairs: Sequence[Mapping[str, Any]], width_in: float) -> Figure:
    """Return the share of wins of each contestant (rows) against each other one (columns)."""
    size = len(names)
    place = {name: i for i, name in enumerate(names)}
    side_in = min(width_in, max(_CELL_IN * size + 1.5, 2.4))
    drawn = figure(width_in, side_in)
    axes = drawn.subplots()
    for pair in pairs:
        i, j = place[pair["a"]], place[pair["b"]]
        for row, column, share in ((i, j, pair["share"]), (j, i, 1 - pair["share"])):
            axes.add_patch(_cell(row, column, share))
            if size <= _MOST_NUMBERS:
                colour = CARD if share > 0.6 else INK
                axes.text(
                    column, row, f"{100 * share:.0f}", ha="center", va="center", color=colour, fontsize=8
                )
    axes.set_xlim(-0.5, size - 0.5)
    labels = [short(name, label_length(width_in) // 2) for name in names]
    rows_down(axes, labels)
    axes.set_ylim(size - 0.5, -0.5)
    axes.set_xticks(range(size), labels, rotation=45, ha="right")
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_visible(False)
    axes.set_aspect("equal")
    return drawn


def _cell(row: int, column: int, share: float) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.5, row - 0.5), 1, 1, facecolor=ACCENT, alpha=max(share, 0.04), linewidth=0)
