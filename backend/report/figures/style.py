"""Style of figures: markers, lines, fonts, and simple axes.

Series differ by marker and line as well as by colour (Okabe and Ito's, which colour-blind people can
distinguish), so that a figure can be read in greyscale.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from backend.report.colours import ACCENT, CARD, INK, LINE, QUIET, SERIES, TINT

__all__ = ["ACCENT", "CARD", "INK", "LINE", "QUIET", "SERIES", "TINT"]

MARKS = ("o", "s", "^", "D", "v", "P")
LINES = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)), (0, (8, 2)), (0, (3, 1, 1, 1, 1, 1)))

_FAMILIES = ("Helvetica Neue", "Helvetica", "Arial", "Liberation Sans", "DejaVu Sans")
_SIZE = 9
NARROW_IN = 4.5
"""Width (inches) below which panels are placed one below another."""


def settings() -> dict:
    """Return matplotlib's settings (rcParams) for drawing and saving a figure."""
    from matplotlib.font_manager import fontManager

    there = set(fontManager.get_font_names())
    return {
        "font.family": ["sans-serif"],
        "font.sans-serif": [family for family in _FAMILIES if family in there],
        "font.size": _SIZE,
        "axes.titlesize": _SIZE,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": _SIZE,
        "axes.labelcolor": INK,
        "axes.edgecolor": QUIET,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": "none",
        "axes.axisbelow": True,
        "axes.unicode_minus": True,
        "grid.color": LINE,
        "grid.linewidth": 0.6,
        "text.color": INK,
        "text.parse_math": False,  # a model's name may hold dollars
        "xtick.color": QUIET,
        "ytick.color": QUIET,
        "xtick.labelcolor": INK,
        "ytick.labelcolor": INK,
        "xtick.labelsize": _SIZE - 0.5,
        "ytick.labelsize": _SIZE - 0.5,
        "xtick.major.size": 3,
        "ytick.major.size": 3,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
        "lines.linewidth": 1.5,
        "lines.markersize": 5,
        "legend.frameon": False,
        "legend.fontsize": _SIZE - 0.5,
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "svg.fonttype": "none",  # text as text: smaller files, can be selected and searched
        "path.simplify": True,
        "figure.constrained_layout.h_pad": 0.05,
        "figure.constrained_layout.w_pad": 0.05,
    }


def figure(width_in: float, height_in: float) -> Figure:
    """Return an empty figure with constrained layout."""
    return Figure(figsize=(width_in, height_in), layout="constrained")


def panels(width_in: float, count: int, height_in: float, most: int = 3) -> tuple[Figure, list[Axes]]:
    """Return a figure with `count` equal panels, at most `most` per row (one if narrow), and the panels."""
    across = min(count, most if width_in >= NARROW_IN else 1)
    down = -(-count // across)
    drawn = figure(width_in, height_in * down)
    grid = drawn.subplots(down, across, squeeze=False, sharex=True, sharey=True)
    places = [*grid.flat]
    for place in places[count:]:
        place.remove()
    for i in range(count):
        places[i].tick_params(labelbottom=i + across >= count)
    return drawn, places[:count]


def across(places: Iterable[Axes]) -> int:
    """Return how many panels are side by side."""
    specs = [axes.get_subplotspec() for axes in places]
    return len({spec.colspan.start for spec in specs if spec})


def series(i: int) -> dict:
    """Return colour, marker and line of the i-th series, as arguments of `plot`."""
    n = i % len(SERIES)
    return {"color": SERIES[n], "marker": MARKS[n], "linestyle": LINES[n], "markeredgecolor": CARD,
            "markeredgewidth": 0.6}  # fmt: skip


def rows_down(axes: Axes, names: Sequence[str]) -> None:
    """Label rows from the top down, without a spine."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)


def label_length(width_in: float) -> int:
    """Return how many characters of a name fit beside a figure."""
    return max(10, int(width_in * 4))


def accuracy_by_exposure(axes: Axes, ticks: Mapping[float, str], title: str) -> None:
    """Draw guessing as a line, scale the exposures (ms) by their logarithm, and label both axes."""
    axes.axhline(0.5, color=QUIET, linewidth=0.8, linestyle=(0, (4, 2)), zorder=0)
    axes.set_xscale("log")
    axes.set_xticks([*ticks], [*ticks.values()])
    axes.set_xticks([], minor=True)
    axes.set_yticks([0.5, 0.75, 1.0], ["50%", "75%", "100%"])
    axes.set_title(title)
    axes.grid(axis="y")


def psychometric_function(axes: Axes, fit: Mapping[str, Any], x: np.ndarray) -> None:
    """Draw a fitted function at exposures `x` (ms), and its threshold, if that is within them.

    An interval of the threshold without an end is drawn up to the first or the last exposure.
    """
    bend = fit["slope"] * (np.log(x) - np.log(fit["midpoint_ms"]))
    axes.plot(x, fit["guess"] + (1 - fit["guess"] - fit["lapse"]) / (1 + np.exp(-bend)), color=INK)
    at, threshold = fit["at"], fit["threshold_ms"]
    if threshold is None or not x[0] <= threshold <= x[-1]:
        return
    if fit["ci"]:
        low, high = fit["ci"]
        ends = (x[0] if low is None else low, x[-1] if high is None else high)
        axes.plot(np.clip(ends, x[0], x[-1]), [at, at], color=SERIES[1], linewidth=3, solid_capstyle="butt")
    axes.plot(threshold, at, marker="D", color=SERIES[1], markeredgecolor=CARD, markersize=6)
