"""Figure of constant stimuli: accuracy by exposure, with intervals and fitted functions."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from backend.experiment.fixed_exposures import UNLIMITED, label
from backend.report.figures import style
from backend.report.formatting import short

_BEYOND = 2.2
"""Ratio of the place of the exposure without time limit to the longest one with a limit."""
_FEWEST_BETWEEN = 1.45
"""Ratio of neighbouring exposures below which the second one gets no label."""


def accuracies(models: Mapping[str, Mapping[str, Any]], width_in: float) -> Figure:
    """Return a figure with one panel per model: accuracy by exposure with intervals, and its function.

    Args:
        models: by name, `points` with `exposure_ms` (None without time limit), `accuracy` and `ci` (percent),
            and `function`, the fit, or None.
    """
    figure, panels = style.panels(width_in, len(models), 2.4 if width_in >= style.NARROW_IN else 2.1)
    points = [point for curves in models.values() for point in curves["points"]]
    timed = sorted({point["exposure_ms"] for point in points} - {None})
    longest = timed[-1] if timed else 100.0
    place = {ms: ms for ms in timed} | {None: longest * _BEYOND}
    ends = [end for point in points for end in (point["ci"] or [point["accuracy"]])]
    for axes, (model, curves) in zip(panels, models.items(), strict=True):
        for point in curves["points"]:
            x = place[point["exposure_ms"]]
            if point["ci"]:
                axes.plot([x, x], [end / 100 for end in point["ci"]], color=style.ACCENT, linewidth=2)
            is_open = point["exposure_ms"] is None
            axes.plot(x, point["accuracy"] / 100, marker="s" if is_open else "o", color=style.ACCENT,
                      markerfacecolor=style.CARD if is_open else style.ACCENT)  # fmt: skip
        if curves["function"]:
            fit = curves["function"]
            style.psychometric_function(axes, fit, np.geomspace(fit["shortest_ms"], fit["longest_ms"], 120))
        ticks = _ticks(points, place)
        style.accuracy_by_exposure(axes, ticks, short(model, style.label_length(width_in)))
        axes.set_xlim(min(place.values()) / 1.4, max(ticks) * 1.4)
        axes.set_ylim(min(0.4, min(ends) / 100 - 0.03), 1.03)
    figure.supxlabel("exposure (ms)", fontsize=9)
    figure.supylabel("right answers", fontsize=9)
    return figure


def _ticks(points: list[Mapping[str, Any]], place: Mapping[float | None, float]) -> dict[float, str]:
    """Return the labels of the exposures by their places, without those too near the one before."""
    ticks: dict[float, str] = {}
    for ms in sorted({point["exposure_ms"] for point in points}, key=place.__getitem__):
        if not ticks or place[ms] >= _FEWEST_BETWEEN * max(ticks):
            ticks[place[ms]] = "∞" if label(ms) == UNLIMITED else label(ms)
    return ticks
