"""From a figure to SVG and PNG: the same bytes for the same data, in the page's own colours when inline.

matplotlib keeps its settings in one place for the whole process, so that drawing is one at a time; what
was set before is set again afterwards. Nothing here knows of windows or of `pyplot`.
"""

import io
import re
import threading
from typing import TYPE_CHECKING, Any

from backend.report.colours import ACCENT, VARIABLES
from backend.report.parts import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDE_IN = 6.9
NARROW_IN = 3.5
_PNG_DPI = 200
_STAMP_IN = 0.3
_LOCK = threading.Lock()
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_PATHS = re.compile(r' (?:d|points|transform|x|y|style)="[^"]*"')


def svg(drawn: Drawn, width_in: float = WIDE_IN) -> str:
    """Return a figure as an SVG file, on white."""
    return _rendered(drawn, width_in, "svg", facecolor="#ffffff").decode()


def png(drawn: Drawn, width_in: float = WIDE_IN) -> bytes:
    """Return a figure as PNG, on white, for slides and text processors."""
    return _rendered(drawn, width_in, "png", dpi=_PNG_DPI, facecolor="#ffffff")


def inline_svg(drawn: Drawn, width_in: float = WIDE_IN) -> str:
    """Return a figure as an element of the page, in the page's colours, hidden from screen readers.

    What it says stands beside it, in the figure's label and its table.
    """
    text = _rendered(drawn, width_in, "svg").decode()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    key = f"{drawn.name}-{'wide' if width_in >= WIDE_IN else 'narrow'}-"
    text = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{key}", text)
    for light, (variable, _) in VARIABLES.items():
        text = text.replace(light, f"var({variable})")
    text = re.sub(r'<svg [^>]*?width="([\d.]+)pt"', _svg_tag, text, count=1)
    return re.sub(r"\n\s*", "\n", text)


def _svg_tag(found: re.Match) -> str:
    return found[0].replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _rendered(drawn: Drawn, width_in: float, kind: str, **options: Any) -> bytes:
    import matplotlib
    import matplotlib.style

    from backend.report.figures.style import settings

    file = io.BytesIO()
    with _LOCK, matplotlib.style.context(["default", {**settings(), "svg.hashsalt": drawn.name}]):
        metadata = {"Date": None} if kind == "svg" else {"Software": None}
        figure = drawn.draw(width_in)
        if drawn.stamp:
            _stamp(figure, drawn.stamp)
        figure.savefig(file, format=kind, metadata=metadata, **options)
    if kind == "png":
        return file.getvalue()
    return _PATHS.sub(_rounded, file.getvalue().decode()).encode()


def _stamp(figure: "Figure", text: str) -> None:
    """Write a line above a figure, which grows by it."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + _STAMP_IN)
    figure.suptitle(text, x=1, horizontalalignment="right", color=ACCENT, fontsize="medium")


def _rounded(found: re.Match) -> str:
    """Return an attribute with its numbers to a hundredth of a point, which halves a file."""
    return _NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), found[0])
