"""Figure of the learning curve of a calibration: loss and score by step, on train and validation triplets."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from backend.report.figures import style

_PANELS = (("loss", "cross entropy"), ("score", "2AFC score (%)"))


def learning_curve(curve: Sequence[Mapping[str, Any]], step: int, width_in: float) -> Figure:
    """Return two panels, of the loss and of the score, with a line at the step whose weights are kept.

    Args:
        curve: rows with `step`, and `train_` and `validation_` of `loss` and `score`.
    """
    is_wide = width_in >= style.NARROW_IN
    down, across = (1, 2) if is_wide else (2, 1)
    figure = style.figure(width_in, 2.5 * down + 0.3)
    places = figure.subplots(down, across, squeeze=False, sharex=True).flat
    steps = [row["step"] for row in curve]
    for axes, (name, label) in zip(places, _PANELS, strict=True):
        for i, share in enumerate(("train", "validation")):
            drawn = {**style.series(i), "marker": None if len(curve) > 1 else style.MARKS[i]}
            axes.plot(steps, [row[f"{share}_{name}"] for row in curve], label=share, **drawn)
        axes.axvline(step, color=style.QUIET, linewidth=0.9, linestyle=(0, (4, 2)), zorder=0)
        axes.set_title(label)
        axes.grid(axis="y")
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if is_wide or name == _PANELS[-1][0]:
            axes.set_xlabel("step")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=2)
    return figure
