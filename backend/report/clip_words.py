"""The words of a report on a study of clips: its sections are written of pictures."""

import re
from dataclasses import fields, is_dataclass, replace
from typing import Any

from backend.report.context import FindingsView
from backend.report.elements import Report

_NO_PROSE = frozenset(["id", "name", "url", "data", "rows"])
_PICTURE = r"(?<![\w/.-])([Pp])icture(s?)(?![\w/-])"


def of_clips(report: Report, view: FindingsView) -> Report:
    """Return the report with clips where its sentences, captions and headers say pictures.

    Names of models, titles of studies, and values in tables stay.
    """
    models = [re.escape(row["model"]) for row in view.models]
    pattern = re.compile("|".join([*(rf"\b{model}\b" for model in sorted(models, key=len)[::-1]), _PICTURE]))
    return replace(_said(report, pattern), title=report.title)


def _said(part: Any, pattern: re.Pattern) -> Any:
    if isinstance(part, str):
        return pattern.sub(_clip, part)
    if isinstance(part, tuple):
        return tuple(_said(each, pattern) for each in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    prose = {field.name: getattr(part, field.name) for field in fields(part) if field.name not in _NO_PROSE}
    return replace(part, **{name: _said(value, pattern) for name, value in prose.items()})


def _clip(match: re.Match) -> str:
    """Return the word for a clip, or a model's name as it is."""
    first, plural = match[1], match[2]
    return match[0] if first is None else f"{'C' if first == 'P' else 'c'}lip{plural}"
