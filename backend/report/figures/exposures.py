"""Figures of HYPE-time: staircases of evaluators, and psychometric functions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.formatting import short

_TICKS_MS = (13, 25, 50, 100, 200, 500, 1000, 2000)
_TRACES = 6
"""Maximum number of single blocks drawn behind each mean."""
_BINS = 14
"""Maximum number of points of a psychometric figure; neighbouring exposures are pooled."""


def staircases(models: Mapping[str, Mapping[str, Any]], width_in: float) -> Figure:
    """Return a figure with one panel per model: a few blocks, the middle 80% of all, and the mean, by trial.

    Args:
        models: by name, `traces` (lists of ms), and by trial `mean`, `low`, `high` (ms).
    """
    figure, panels = style.panels(width_in, len(models), 2.1 if width_in >= style.NARROW_IN else 1.9)
    for axes, (model, blocks) in zip(panels, models.items(), strict=True):
        trials = np.arange(1, len(blocks["mean"]) + 1)
        axes.fill_between(trials, blocks["low"], blocks["high"], color=style.TINT, linewidth=0, step="mid")
        for trace in _sampled(blocks["traces"]):
            axes.step(
                range(1, len(trace) + 1), trace, where="mid", color=style.QUIET, linewidth=0.5, alpha=0.7
            )
        axes.plot(trials, blocks["mean"], color=style.ACCENT, linewidth=2)
        axes.set_title(short(model, style.label_length(width_in)))
        axes.grid(axis="y")
        axes.set_ylim(bottom=0)
    figure.supxlabel("trial of a block", fontsize=9)
    figure.supylabel("exposure (ms)", fontsize=9)
    return figure


def _sampled(traces: Sequence[Sequence[float]]) -> list[Sequence[float]]:
    indices = np.linspace(0, len(traces) - 1, min(_TRACES, len(traces))).round().astype(int)
    return [traces[i] for i in indices]


def psychometric(models: Mapping[str, Mapping[str, Any]], width_in: float) -> Figure:
    """Return a figure with one panel per model: accuracy by exposure, pooled function, and its threshold.

    Args:
        models: by name, `points` with `exposure_ms, right, total`, and `pooled`, the fit.
    """
    figure, panels = style.panels(width_in, len(models), 2.3 if width_in >= style.NARROW_IN else 2.0)
    ends = [point["exposure_ms"] for curve in models.values() for point in curve["points"]]
    low, high = min(ends), max(ends)
    low, high = (low, high) if low < high else (low / 2, high * 2)
    x = np.geomspace(low, high, 120)
    for axes, (model, curve) in zip(panels, models.items(), strict=True):
        for ms, part, total in _binned(curve["points"]):
            size = 2 + 6 * (total / max(1, _largest(curve["points"]))) ** 0.5
            axes.plot(ms, part, marker="o", color=style.TINT, markeredgecolor=style.ACCENT,
                      markeredgewidth=0.7, markersize=size)  # fmt: skip
        style.psychometric_function(axes, curve["pooled"], x)
        ticks: dict[float, str] = {tick: str(tick) for tick in _TICKS_MS if 0.99 * low <= tick <= 1.01 * high}
        style.accuracy_by_exposure(axes, ticks, short(model, style.label_length(width_in)))
        axes.set_ylim(0.35, 1.03)
    figure.supxlabel("exposure (ms)", fontsize=9)
    figure.supylabel("right answers", fontsize=9)
    return figure


def _largest(points: Sequence[Mapping[str, Any]]) -> float:
    return max(total for _, _, total in _binned(points))


def _binned(points: Sequence[Mapping[str, Any]]) -> list[tuple[float, float, int]]:
    """Return (exposure in ms, share right, number of responses), pooled in bins of equal log width."""
    log_ms = np.log([point["exposure_ms"] for point in points])
    right = np.array([point["right"] for point in points], float)
    total = np.array([point["total"] for point in points], float)
    edges = np.linspace(log_ms.min(), log_ms.max() + 1e-9, _BINS + 1)
    place = np.clip(np.searchsorted(edges, log_ms, "right") - 1, 0, _BINS - 1)
    sums = [np.bincount(place, weights, _BINS) for weights in (total * log_ms, right, total)]
    return [
        (float(np.exp(middle / count)), float(part / count), int(count))
        for middle, part, count in zip(*sums, strict=True)
        if count
    ]
