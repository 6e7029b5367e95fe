"""Marks on reports of simulated sessions, so that no part is mistaken for people's responses.

Pages, figures and tables may be copied individually, so each of them is marked.
"""

from dataclasses import replace
from typing import TypeVar

from backend.report.elements import Figure, Report, Section, Table

BANNER = (
    "Simulated sessions: nobody looked at these pictures. This shows how results will look; it says nothing "
    "about the models."
)
_STAMP = "simulated sessions"
_CAPTION = "Simulated sessions. "
_Captioned = TypeVar("_Captioned", Table, Figure)


def marked(report: Report, banner: str = BANNER) -> Report:
    """Return the report with its page, tables and figures marked as of simulated sessions."""
    sections = tuple(_section(section) for section in report.sections)
    return replace(report, title=f"{report.title} (simulated)", banner=banner, sections=sections)


def _section(section: Section) -> Section:
    figures = tuple(
        replace(_captioned(figure), table=_captioned(figure.table), stamp=_STAMP)
        for figure in section.figures
    )
    lead = section.lead and _captioned(section.lead)
    brief = tuple(_captioned(part) if isinstance(part, Table) else part for part in section.brief)
    tables = tuple(map(_captioned, section.tables))
    return replace(section, lead=lead, tables=tables, figures=figures, brief=brief)


def _captioned(part: _Captioned) -> _Captioned:
    return replace(part, caption=f"{_CAPTION}{part.caption}")
