"""Figure of how people voted on items: how many items have which share of votes, a panel for each set."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.formatting import short

BINS = 10


def shares(by_set: Mapping[str, Sequence[float]], label: str, width_in: float) -> Figure:
    """Return histograms of items by their share (0 to 1) of votes that count.

    Args:
        label: what the share is of.
    """
    figure, places = style.panels(width_in, len(by_set), 1.9)
    edges = np.linspace(0, 100, BINS + 1)
    across = style.across(places)
    for i, (axes, (name, values)) in enumerate(zip(places, by_set.items(), strict=True)):
        percent = 100 * np.asarray(values)
        # half a bin's rounding error, so that 30% counts in the bin from 30%
        counts, _ = np.histogram(np.clip(percent + 1e-9, 0, 100), edges)
        axes.bar(edges[:-1] + 5, 100 * counts / len(percent), width=9, color=style.TINT)
        axes.axvline(50, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)))
        axes.axvline(float(percent.mean()), color=style.ACCENT, linewidth=1.8)
        axes.set_title(short(name, style.label_length(width_in)))
        axes.set_xlim(0, 100)
        axes.grid(axis="y")
        if i % across == 0:
            axes.set_ylabel("items (%)")
        if i + across >= len(by_set):
            axes.set_xlabel(label)
    return figure
