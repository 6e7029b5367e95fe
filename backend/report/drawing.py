"""Rendering of figures as SVG and PNG: identical bytes for identical data, with the page's colours inline.

matplotlib's settings are global to the process, so figures are drawn one at a time, and the previous
settings are restored afterwards. Neither windows nor `pyplot` are used.
"""

import io
import re
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backend.report.colours import ACCENT, VARIABLES
from backend.report.elements import Figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure

WIDE_IN = 6.9
NARROW_IN = 3.5
_PNG_DPI = 200
_STAMP_IN = 0.3
_LOCK = threading.Lock()  # matplotlib's settings, changed for a figure, are those of all threads
_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_PATHS = re.compile(r' (?:d|points|transform|x|y|style)="[^"]*"')


@dataclass(frozen=True)
class Drawing:
    """A rendered figure, for the page and for files."""

    name: str
    wide: str
    """SVG without a background, `WIDE_IN` wide."""
    narrow: str
    """The same, `NARROW_IN` wide."""
    png: bytes

    @property
    def svg(self) -> str:
        """The figure as an SVG file, on white."""
        return _on_white(self.wide)


def drawing(figure: Figure) -> Drawing:
    """Return a figure rendered in every form that a report uses."""
    wide, png = _rendered(figure, WIDE_IN, "svg", "png")
    (narrow,) = _rendered(figure, NARROW_IN, "svg")
    return Drawing(figure.name, wide.decode(), narrow.decode(), png)


def svg(figure: Figure, width_in: float = WIDE_IN) -> str:
    """Return a figure as an SVG file, on white."""
    return _on_white(_rendered(figure, width_in, "svg")[0].decode())


def png(figure: Figure, width_in: float = WIDE_IN) -> bytes:
    """Return a figure as PNG, on white, for slides and text processors."""
    return _rendered(figure, width_in, "png")[0]


def inline_svg(figure: Figure, width_in: float = WIDE_IN) -> str:
    """Return a figure as an element of the page (see `inline`)."""
    return inline(figure.name, _rendered(figure, width_in, "svg")[0].decode(), width_in >= WIDE_IN)


def inline(name: str, text: str, is_wide: bool) -> str:
    """Return an SVG as an element of the page, in the page's colours, hidden from screen readers.

    Screen readers read the figure's label and its table instead.
    """
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text, flags=re.DOTALL)
    key = f"{name}-{'wide' if is_wide else 'narrow'}-"
    text = re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{key}", text)
    for light, (variable, _) in VARIABLES.items():
        text = text.replace(light, f"var({variable})")
    text = re.sub(r'<svg [^>]*?width="([\d.]+)pt"', _svg_tag, text, count=1)
    return re.sub(r"\n\s*", "\n", text)


def _on_white(text: str) -> str:
    end = text.index(">", text.index("<svg")) + 1
    return f'{text[:end]}\n <rect width="100%" height="100%" style="fill: #ffffff"/>{text[end:]}'


def _svg_tag(match: re.Match) -> str:
    return match[0].replace("<svg ", '<svg aria-hidden="true" focusable="false" ', 1)


def _rendered(figure: Figure, width_in: float, *kinds: str) -> list[bytes]:
    """Draw a figure once; return it as each of `kinds`: `svg` without a background, `png` on white."""
    import matplotlib
    import matplotlib.style

    from backend.report.figures.style import settings

    with _LOCK, matplotlib.style.context(["default", {**settings(), "svg.hashsalt": figure.name}]):
        plot = figure.draw(width_in)
        if figure.stamp:
            _stamp(plot, figure.stamp)
        saved = []
        for kind in kinds:
            saved.append(_saved(plot, kind))
            with matplotlib.rc_context({"figure.constrained_layout.use": False, "figure.autolayout": False}):
                plot.set_layout_engine(None)  # keep this layout for the other kinds
        return saved


def _saved(plot: "MatplotlibFigure", kind: str) -> bytes:
    file = io.BytesIO()
    if kind == "png":
        plot.savefig(file, format=kind, metadata={"Software": None}, dpi=_PNG_DPI, facecolor="#ffffff")
        return file.getvalue()
    plot.savefig(file, format=kind, metadata={"Date": None})
    return _PATHS.sub(_rounded, file.getvalue().decode()).encode()


def _stamp(plot: "MatplotlibFigure", text: str) -> None:
    """Write a line of text above a figure, and increase its height for it."""
    width, height = plot.get_size_inches()
    plot.set_size_inches(width, height + _STAMP_IN)
    plot.suptitle(text, x=1, horizontalalignment="right", color=ACCENT, fontsize="medium")


def _rounded(match: re.Match) -> str:
    """Return an attribute with numbers rounded to 0.01 pt, which halves the file size."""
    return _NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), match[0])
