"""Figure of scores over the runs of one study."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.formatting import short

_APART = 0.5
"""Of the distance between runs, over which models stand side by side."""


def runs(rows: Sequence[Mapping[str, Any]], names: Sequence[str], label: str, width_in: float) -> Figure:
    """Return a figure of scores with intervals by run, a line for each model.

    Args:
        rows: `model`, `run`, `score`, `ci`.
        names: of the runs, in their order.
        label: what the scores are, with their unit.
    """
    models = [*dict.fromkeys(row["model"] for row in rows)]
    figure = style.figure(width_in, 3.3 + 0.2 * (len(models) // 4))
    axes = figure.subplots()
    shifts = np.linspace(-_APART / 2, _APART / 2, len(models) + 2)[1:-1]
    for i, (model, shift) in enumerate(zip(models, shifts, strict=True)):
        mine = [row for row in rows if row["model"] == model]
        places = [names.index(row["run"]) + shift for row in mine]
        line = style.series(i)
        axes.plot(places, [row["score"] for row in mine], **line, zorder=3,
                  label=short(model, style.label_length(width_in)))  # fmt: skip
        for place, row in zip(places, mine, strict=True):
            if row["ci"]:
                axes.plot([place] * 2, row["ci"], color=line["color"], linewidth=2.2, alpha=0.6,
                          solid_capstyle="butt", zorder=2)  # fmt: skip
    length = max(6, int(style.label_length(width_in) * 2 / len(names)))
    axes.set_xticks(range(len(names)), [short(name, length) for name in names])
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylabel(label)
    axes.grid(axis="y")
    figure.legend(loc="outside lower left", ncols=4 if width_in >= style.NARROW_IN else 2)
    return figure
