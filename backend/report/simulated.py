"""Marks that no part of a report on simulated sessions is taken for people's answers.

Pages, figures and tables are copied one by one, so that each says it.
"""

from dataclasses import replace
from typing import TypeVar

from backend.report.elements import Drawn, Report, Section, Table

BANNER = (
    "Simulated sessions: nobody looked at these pictures. This page shows how results will look; it "
    "says nothing about the models."
)
_STAMP = "simulated sessions"
_CAPTION = "Simulated sessions. "
_Captioned = TypeVar("_Captioned", Table, Drawn)


def marked(report: Report, banner: str = BANNER) -> Report:
    """Return a report whose page, tables and figures say that the sessions are simulated."""
    sections = tuple(_section(section) for section in report.sections)
    return replace(report, title=f"{report.title} (simulated)", banner=banner, sections=sections)


def _section(section: Section) -> Section:
    figures = tuple(
        replace(_captioned(figure), table=_captioned(figure.table), stamp=_STAMP)
        for figure in section.figures
    )
    lead = section.lead and _captioned(section.lead)
    return replace(section, lead=lead, tables=tuple(map(_captioned, section.tables)), figures=figures)


def _captioned(part: _Captioned) -> _Captioned:
    return replace(part, caption=f"{_CAPTION}{part.caption}")
