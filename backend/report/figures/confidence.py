"""Figures of confidence: ROC curves of ratings, and calibration."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from backend.report.figures import style
from backend.report.formatting import short

_FEW_POINTS = 24
"""Maximum number of points of a curve that are marked."""
_GUESSING: dict[str, Any] = {"color": style.QUIET, "linewidth": 0.9, "linestyle": (0, (4, 2)), "zorder": 0}


def curves(rows: Sequence[Mapping[str, Any]], width_in: float) -> Figure:
    """Return the ROC curves of models; one panel for few models, else a panel each.

    Args:
        rows: by model, `model` and `curve` with `false_alarms` and `hits` (0 to 1).
    """
    is_wide = width_in >= style.NARROW_IN
    if len(rows) > len(style.SERIES):
        figure, places = style.panels(width_in, len(rows), 2.3)
        for axes, row in zip(places, rows, strict=True):
            axes.set_title(short(row["model"], style.label_length(width_in / (3 if is_wide else 1))))
    else:
        figure = style.figure(width_in, 3.9 if is_wide else 3.7)
        places = [figure.subplots()] * len(rows)
    for i, (axes, row) in enumerate(zip(places, rows, strict=True)):
        look = style.series(i if len({*map(id, places)}) == 1 else 0)
        if len(row["curve"]) > _FEW_POINTS:
            look["marker"] = ""
        axes.plot(
            [100 * point["false_alarms"] for point in row["curve"]],
            [100 * point["hits"] for point in row["curve"]],
            **look,
            label=short(row["model"], style.label_length(width_in)),
            clip_on=False,
        )
    for axes in dict.fromkeys(places):
        axes.plot([0, 100], [0, 100], **_GUESSING)
        axes.set_xlim(0, 100)
        axes.set_ylim(0, 100)
        axes.set_aspect("equal")
        axes.set_xticks([0, 25, 50, 75, 100])
        axes.set_yticks([0, 25, 50, 75, 100])
        axes.grid()
    figure.supxlabel("reals called fake (%)", fontsize=9)
    figure.supylabel("fakes called fake (%)", fontsize=9)
    if len({*map(id, places)}) == 1 and len(rows) > 1:
        places[0].legend(loc="lower right")
    return figure


def calibration(rows: Sequence[Mapping[str, Any]], width_in: float) -> Figure:
    """Return the shares of right answers by confidence, a panel for each model.

    Args:
        rows: by model, `model` and `levels` with `probability`, `right`, `ci` (0 to 1) and `answers`.
    """
    is_wide = width_in >= style.NARROW_IN
    figure, places = style.panels(width_in, len(rows), 2.4 if is_wide else 2.3)
    across = min(len(rows), 3) if is_wide else 1
    lowest = min(_low(level) for row in rows for level in row["levels"])
    for axes, row in zip(places, rows, strict=True):
        axes.plot([50, 100], [50, 100], **_GUESSING)
        most = max(level["answers"] for level in row["levels"])
        x = [100 * level["probability"] for level in row["levels"]]
        axes.plot(x, [100 * level["right"] for level in row["levels"]], color=style.ACCENT, linewidth=1)
        for place, level in zip(x, row["levels"], strict=True):
            if level["ci"]:
                axes.plot([place] * 2, [100 * end for end in level["ci"]], color=style.ACCENT, linewidth=2,
                          alpha=0.55, solid_capstyle="butt")  # fmt: skip
            size = 3 + 5 * (level["answers"] / most) ** 0.5
            axes.plot(place, 100 * level["right"], marker="o", color=style.ACCENT,
                      markeredgecolor=style.CARD, markeredgewidth=0.6, markersize=size)  # fmt: skip
        axes.set_xlim(46, 104)
        axes.set_ylim(max(0, 10 * int(lowest * 10 - 0.5)), 104)
        axes.set_xticks([50, 75, 100])
        axes.set_title(short(row["model"], style.label_length(width_in / across)))
        axes.grid()
    figure.supxlabel("confidence (%)", fontsize=9)
    figure.supylabel("right answers (%)", fontsize=9)
    return figure


def _low(level: Mapping[str, Any]) -> float:
    return min([level["right"], *(level["ci"] or ())])
