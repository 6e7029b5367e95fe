"""The words of a report on a study of clips: its sections are written of pictures."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from backend.report.context import FindingsView
from backend.report.elements import Column, Figure, Report
from backend.stimuli.media.clip import MEDIUM

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

Words = Callable[[str], str]
_NO_PROSE = frozenset(["id", "name", "url", "data", "rows"])


def of_clips(report: Report, view: FindingsView) -> Report:
    """Return the report with clips where its texts, tables and figures say pictures.

    Names of models, titles of studies, and data stay.
    """
    words = partial(MEDIUM.said, names=[row["model"] for row in view.models])
    return replace(_said(report, words), title=report.title)


def _said(part: Any, words: Words) -> Any:
    if isinstance(part, str):
        return words(part)
    if isinstance(part, tuple):
        return tuple(_said(each, words) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    prose = {field.name: getattr(part, field.name) for field in fields(part) if field.name not in _NO_PROSE}
    said = replace(part, **{name: _said(value, words) for name, value in prose.items()})
    if isinstance(part, Column) and not part.is_number:
        return replace(said, text=lambda row: words(part.text(row)))
    return replace(said, draw=partial(_drawn, part, words)) if isinstance(part, Figure) else said


def _drawn(figure: Figure, words: Words, width_in: float) -> "MatplotlibFigure":
    """Draw a figure, with other words on its axes."""
    from matplotlib.text import Text

    plot = figure.draw(width_in)
    for text in plot.findobj(Text):
        text.set_text(words(text.get_text()))
    return plot
