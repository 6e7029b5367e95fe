"""Figures of scores with their intervals, and of differences between models."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from backend.report.figures import style
from backend.report.formatting import amount, brackets, short, verdict

Rows = Sequence[Mapping[str, Any]]
_MOST_LINES = 45
"""Maximum number of pairs drawn as intervals; for more, a matrix is drawn."""


def scores(
    rows: Rows,
    unit: str,
    level: str,
    width_in: float,
    label: str = "",
    reference: float | None = 50,
) -> Figure:
    """Return a bar chart of scores with intervals; the paper's percentile intervals are capped lines.

    Args:
        label: what the scores are, with their unit; default, what real or fake measures.
        reference: a score to mark; only for scores in percent.
    """
    figure = style.figure(width_in, 0.95 + len(rows) * (0.36 if len(rows) <= 15 else 0.24))
    axes = figure.subplots()
    has_sides = any(row.get("fakes_error") is not None for row in rows)
    if unit == "percent" and reference is not None:
        axes.axvline(reference, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    axes.barh(range(len(rows)), [row["score"] for row in rows], height=0.62, color=style.TINT, zorder=0)
    spans = [(row["interval_ci"], y) for y, row in enumerate(rows) if row["interval_ci"]]
    if spans:
        axes.plot(*_apart(spans), color=style.ACCENT, linewidth=3.4, solid_capstyle="butt", zorder=3)
    spans = [(row["ci"], y) for y, row in enumerate(rows) if row["ci"]]
    if spans:
        axes.plot(*_apart(spans), color=style.INK, linewidth=0.9, marker="|", markersize=7, clip_on=False,
                  zorder=4)  # fmt: skip
    axes.plot([row["score"] for row in rows], range(len(rows)), marker="o", linestyle="", color=style.CARD,
              markeredgecolor=style.INK, markersize=5.2, clip_on=False, zorder=5)  # fmt: skip
    for side, mark in (("fakes_error", "^"), ("reals_error", "v")):
        points = [(row[side], y + 0.3) for y, row in enumerate(rows) if row.get(side) is not None]
        if has_sides and points:
            axes.plot(*zip(*points, strict=True), marker=mark, linestyle="", markerfacecolor="none",
                      markeredgecolor=style.QUIET, markersize=4.6, markeredgewidth=0.9, clip_on=False,
                      zorder=2)  # fmt: skip
    style.rows_down(axes, [short(row["model"], style.label_length(width_in)) for row in rows])
    axes.set_xlim(left=0)
    axes.set_xlabel(label or ("pictures judged wrong (%)" if unit == "percent" else "score (ms)"))
    axes.grid(axis="x")
    if width_in >= style.NARROW_IN:
        right = axes.secondary_yaxis("right")
        right.set_yticks(range(len(rows)), [_words(row) for row in rows])
        right.tick_params(length=0)
        right.spines["right"].set_visible(False)
    intervals = [any(row[key] for row in rows) for key in ("interval_ci", "ci")]
    _legend(figure, width_in, level, has_sides, *intervals)
    return figure


def _apart(spans: Sequence[tuple[Sequence[float], float]]) -> tuple[list[float], list[float]]:
    """Return x and y of one line with gaps that draws all spans; a span is (two ends in x, height y)."""
    x, y = [], []
    for (low, high), height in spans:
        x += [low, high, math.nan]
        y += [height, height, math.nan]
    return x, y


def _words(row: Mapping[str, Any]) -> str:
    ci = row["interval_ci"]
    return f"{amount(row['score'])} {brackets(ci)}" if ci else amount(row["score"])


def _legend(
    figure: Figure, width_in: float, level: str, has_sides: bool, has_interval: bool, has_ci: bool
) -> None:
    marks = [Line2D([], [], marker="o", linestyle="", color=style.CARD, markeredgecolor=style.INK)]
    words = ["score"]
    if has_interval:
        marks.append(Line2D([], [], color=style.ACCENT, linewidth=3.4))
        words.append(f"{level} interval".strip())
    if has_ci:
        marks.append(Line2D([], [], color=style.INK, linewidth=0.9, marker="|", markersize=7))
        words.append("percentile (paper)")
    if has_sides:
        for mark, side in (("^", "fakes"), ("v", "reals")):
            marks.append(
                Line2D([], [], marker=mark, linestyle="", markerfacecolor="none", markeredgecolor=style.QUIET,
                       markeredgewidth=0.9, markersize=4.6)
            )  # fmt: skip
            words.append(f"error on {side}")
    across = len(words) if width_in >= style.NARROW_IN else 2
    figure.legend(marks, words, loc="outside lower left", ncols=across, handlelength=1.6, columnspacing=1.4)


def pairs(rows: Rows, unit: str, level: str, deciding: str | None, width_in: float) -> Figure:
    """Return a figure of differences with simultaneous intervals, or a matrix if there are many pairs."""
    if len(rows) > _MOST_LINES:
        return _matrix(rows, width_in)
    figure = style.figure(width_in, 0.95 + len(rows) * (0.3 if len(rows) <= 15 else 0.23))
    axes = figure.subplots()
    axes.axvline(0, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1)
    for y, row in enumerate(rows):
        fill = style.ACCENT if row["is_apart"] else style.CARD
        axes.plot(row["ci"], [y, y], color=style.ACCENT, linewidth=2.2, solid_capstyle="butt", zorder=2)
        if row.get("deciding_ci"):
            axes.plot(row["deciding_ci"], [y + 0.2] * 2, color=style.INK, linewidth=0.9, marker="|",
                      markersize=4.5, zorder=2)  # fmt: skip
        axes.plot(row["difference"], y, marker="o", color=fill, markeredgecolor=style.ACCENT,
                  markersize=5.5, markeredgewidth=1.2, zorder=3)  # fmt: skip
    length = style.label_length(width_in) // 2 + 2
    style.rows_down(axes, [f"{short(row['a'], length)} {'−'} {short(row['b'], length)}" for row in rows])
    sign = "percentage points" if unit == "percent" else "ms"
    is_wide = width_in >= style.NARROW_IN
    axes.set_xlabel(f"difference of scores ({sign})" if is_wide else f"difference ({sign})")
    axes.grid(axis="x")
    marks = [
        Line2D([], [], marker="o", color=style.ACCENT, linewidth=2.2),
        Line2D([], [], marker="o", color=style.ACCENT, linewidth=2.2, markerfacecolor=style.CARD),
    ]
    words = [verdict(True), verdict(False)]
    if any(row.get("deciding_ci") for row in rows):
        marks.append(Line2D([], [], color=style.INK, linewidth=0.9, marker="|", markersize=4.5))
        words.append(f"{deciding} {level}")
    across = len(words) if width_in >= style.NARROW_IN else 2
    figure.legend(marks, words, loc="outside lower left", ncols=across)
    return figure


def _matrix(rows: Rows, width_in: float) -> Figure:
    """Return a matrix of models against models, best first: filled discs are significant differences."""
    names = [*dict.fromkeys([*(row["a"] for row in rows), *(row["b"] for row in rows)])]
    place = {name: i for i, name in enumerate(names)}
    is_wide = width_in >= style.NARROW_IN
    figure = style.figure(width_in, width_in * 0.94 + 0.3 if is_wide else 0.17 * len(names) + 0.6)
    axes = figure.subplots()
    size = 190 * (width_in / len(names)) ** 2
    for is_apart, face in ((True, style.ACCENT), (False, "none")):
        matching = [row for row in rows if row["is_apart"] == is_apart]
        axes.scatter(
            [place[row["a"]] for row in matching], [place[row["b"]] for row in matching], s=max(2.0, size),
            facecolors=face, edgecolors=style.ACCENT if is_apart else style.QUIET, linewidths=0.7,
            label=verdict(is_apart),
        )  # fmt: skip
    if is_wide:
        letters: dict[str, Any] = {"fontsize": max(4.0, min(8.5, 75 * width_in / len(names) / 6.9 * 4))}
        labels = [short(name, style.label_length(width_in)) for name in names]
        axes.set_xticks(range(len(names)), labels, rotation=90, **letters)
        axes.set_yticks(range(len(names)), labels, **letters)
    else:  # names on the x axis would be too small to read: use numbers
        labels = [f"{short(name, style.label_length(width_in))} {i}" for i, name in enumerate(names, 1)]
        axes.set_yticks(range(len(names)), labels, fontsize=7.5)
        axes.set_xticks(range(4, len(names), 5), map(str, range(5, len(names) + 1, 5)), fontsize=7.5)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.tick_params(length=0)
    for side in ("left", "bottom"):
        axes.spines[side].set_visible(False)
    axes.grid()
    axes.legend(loc="upper right", markerscale=min(2.0, 9 / max(2.0, size) ** 0.5))
    return figure
