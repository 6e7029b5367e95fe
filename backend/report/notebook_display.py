"""Results as a notebook shows them: plain data with tables, sentences and figures."""

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from importlib.util import find_spec
from typing import Any

from backend.report.elements import Figure, Report, Table

Part = str | Table | Figure


class Displayed(dict[str, Any]):
    """Plain data, equal to a dictionary of its items, that a notebook shows as tables and figures."""

    def __init__(self, data: Mapping[str, Any], parts: Callable[[], Iterable[Part]]):
        """Take data, and what returns the parts to show, called when they are shown."""
        super().__init__(data)
        self._parts = parts

    def __reduce__(self) -> tuple[type[dict], tuple[dict[str, Any]]]:
        """Pickle and copy the data alone."""
        return dict, (dict(self),)

    def _repr_html_(self) -> str:
        return "\n".join(map(_html, self._parts()))


def scores_shown(report: Report) -> Iterator[Part]:
    """Yield what a report of scores has for a short text, with its figures if matplotlib is installed."""
    yield from filter(None, (report.banner, report.title))
    for section in report.sections:
        yield from filter(None, section.brief)
        yield from section.figures if find_spec("matplotlib") else ()
    yield from report.warnings


def _html(part: Part) -> str:
    if isinstance(part, Figure):
        from backend.report.drawing import drawing

        image = base64.b64encode(drawing(part).svg.encode()).decode()
        return f'<img alt="{escape(part.alt_text)}" src="data:image/svg+xml;base64,{image}">'
    if not isinstance(part, Table):
        return f"<pre>{escape(part)}</pre>" if "\n" in part else f"<p>{escape(part)}</p>"
    heads = "".join(f"<th>{escape(column.head)}</th>" for column in part.columns)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>" for cells in part.shown_cells
    )
    return f"<table><caption>{escape(part.title)}</caption><tr>{heads}</tr>{rows}</table>"
