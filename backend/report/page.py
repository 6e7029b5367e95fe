"""A report as one self-contained HTML page: no script, no network access, figures and styles inline.

Its style is that of the task page (`frontend/shared/style.css`), with additions in `report.css`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backend.report import drawing
from backend.report.colours import VARIABLES
from backend.report.elements import Figure, Report

_HERE = Path(__file__).parent
_FRONTEND = _HERE.parent.parent / "frontend"


def html(
    report: Report,
    files: bool = False,
    top: str = "",
    drawn: Mapping[str, drawing.Drawing] | None = None,
) -> str:
    """Return the page.

    Args:
        files: whether to link to `figures/` and `tables/` beside the page.
        top: markup that the server adds.
        drawn: figures that are already drawn, by name.
    """
    from markupsafe import Markup

    drawings = {
        figure.name: {kind: Markup(text) for kind, text in _inline(figure, drawn or {}).items()}
        for figure in report.figures
    }
    return template(_HERE, "page.html").render(
        report=report,
        drawings=drawings,
        numbers={figure.name: i for i, figure in enumerate(report.figures, 1)},
        led={section.lead.name for section in report.sections if section.lead},
        style=Markup(style()),
        files=files,
        top=Markup(top),
    )


def _inline(figure: Figure, drawn: Mapping[str, drawing.Drawing]) -> dict[str, str]:
    """Return a figure as two elements of the page, for wide and for narrow windows."""
    done = drawn.get(figure.name)
    if done is None:
        narrow = drawing.inline_svg(figure, drawing.NARROW_IN)
        return {"wide": drawing.inline_svg(figure), "narrow": narrow}
    return {
        "wide": drawing.inline(figure.name, done.wide, is_wide=True),
        "narrow": drawing.inline(figure.name, done.narrow, is_wide=False),
    }


def plain(name: str, **values: Any) -> str:
    """Return a page without figures, from the template `name`."""
    from markupsafe import Markup

    base = {"message": "", "link": None, "studies": None}
    return template(_HERE, name).render(style=Markup(style()), **{**base, **values})


def style() -> str:
    """Return the style sheet of pages for researchers."""
    own = (_HERE / "report.css").read_text("utf-8")
    light = "".join(f"{name}: {value};" for value, (name, _) in VARIABLES.items() if _is_ours(name))
    dark = "".join(f"{name}: {value};" for name, value in VARIABLES.values() if _is_ours(name))
    task = (_FRONTEND / "shared" / "style.css").read_text("utf-8")
    in_dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{{dark}}} }}"
    return f"{task}\n:root {{{light}}}\n{in_dark}\n{own}"


def _is_ours(variable: str) -> bool:
    """Return whether a colour variable is defined for figures rather than by the task page."""
    return variable == "--tint" or variable.startswith("--series")


def template(folder: Path, name: str) -> Any:
    """Return a template that escapes what it is given; it may extend `document.html`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    setup = Environment(
        loader=FileSystemLoader([folder, _HERE]), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return setup.get_template(name)
