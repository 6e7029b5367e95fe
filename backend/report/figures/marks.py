"""Figure of marks: a heat map for each model."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.formatting import short
from backend.report.heat_maps import coloured

_FINE = 6
"""Pixels for each cell of a map, and direction."""
_ACROSS_WIDE, _ACROSS_NARROW = 4, 2
_LETTERS_PER_IN = 10
_LINES = "#fefefe"
"""White on the map in both themes; the card's white would turn dark in the dark one."""


def maps(densities: Mapping[str, np.ndarray], width_in: float) -> Figure:
    """Return heat maps side by side, each up to its own highest density.

    Args:
        densities: by name, densities on a grid, row 0 at the top.
    """
    most = _ACROSS_WIDE if width_in >= style.NARROW_IN else _ACROSS_NARROW
    across = min(most, max(2, len(densities)))
    down = -(-len(densities) // across)
    side = width_in / across
    figure = style.figure(width_in, (side + 0.2) * down)
    places = [*figure.subplots(down, across, squeeze=False).flat]
    for place in places[len(densities) :]:
        place.remove()
    for axes, (name, heat) in zip(places, densities.items(), strict=False):
        fine = _smooth(heat / heat.max())
        axes.imshow(coloured(fine).round().astype(np.uint8), extent=(0, 1, 1, 0), interpolation="none")
        for third in (1 / 3, 2 / 3):
            axes.plot([third, third], [0, 1], color=_LINES, linewidth=0.4, alpha=0.5)
            axes.plot([0, 1], [third, third], color=_LINES, linewidth=0.4, alpha=0.5)
        axes.set_xlim(0, 1)
        axes.set_ylim(1, 0)
        axes.set_xticks([])
        axes.set_yticks([])
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set_title(short(name, max(10, int(side * _LETTERS_PER_IN))))
    return figure


def _smooth(heat: np.ndarray) -> np.ndarray:
    """Return a map with `_FINE` times as many rows and columns, interpolated linearly."""
    size = len(heat)
    fine = (np.arange(size * _FINE) + 0.5) / _FINE - 0.5
    down = np.array([np.interp(fine, np.arange(size), column) for column in heat.T]).T
    return np.array([np.interp(fine, np.arange(size), row) for row in down])
