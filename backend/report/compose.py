"""Composition of a report from findings: its sections and its summary."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.foundation.counts import counted
from backend.report import attention, picture_metrics, simulated
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Report, Section
from backend.report.judgment_report import report_of


def compose(data: Mapping[str, Any], info: SourceInfo) -> Report:
    """Return the report of findings, which are the JSON of `findings.findings`."""
    found = FindingsView(data)
    judgment = report_of(data["method"])
    report = Report(
        title=info.title,
        summary=judgment.summary(found),
        facts=tuple(_facts(judgment.title(found), found, info)),
        warnings=_warnings(data),
        sections=tuple(section for section in judgment.sections(found, info) if section is not None),
        data=data,
    )
    report = simulated.marked(report) if data["simulated"] else report
    return replace(report, sections=tuple(_with_pictures(report.sections, info)))


def compose_scores(data: Mapping[str, Any]) -> Report:
    """Return a report of the scores alone, for a short text; `data` is that of `findings.score_findings`."""
    found = FindingsView(data)
    judgment = report_of(data["method"])
    sections = (*judgment.score_sections(found), attention.section(found))
    report = Report(
        title=judgment.title(found),
        summary="",
        facts=(),
        warnings=_warnings(data),
        sections=tuple(section for section in sections if section is not None),
    )
    return simulated.marked(report) if data["simulated"] else report


def _warnings(data: Mapping[str, Any]) -> tuple[str, ...]:
    return (*(data.get("warnings") or ()), *(data.get("notes") or ()))


def _with_pictures(sections: Sequence[Section], info: SourceInfo) -> list[Section]:
    """Return sections with the one on metrics of the pictures before that on agreement.

    Without that, they stand after the scores.
    """
    pictures = picture_metrics.section(info.picture_metrics)
    if pictures is None:
        return [*sections]
    ids = [section.id for section in sections]
    if "metrics" in ids:
        place = ids.index("metrics")
    else:
        place = next((ids.index(each) for each in ("pairs", "scores") if each in ids), len(ids) - 1) + 1
    return [*sections[:place], pictures, *sections[place:]]


def _facts(method: str, found: FindingsView, info: SourceInfo) -> list[tuple[str, str]]:
    facts = [
        ("Method", method),
        ("Evaluators", _evaluators(found)),
        ("Responses", f"{found.data['responses']:,}"),
        ("Collected", info.collected),
        ("Source", info.source),
        ("Report", f"{info.date}, openhype {info.version}"),
    ]
    return [(name, text) for name, text in facts if text]


def _evaluators(found: FindingsView) -> str:
    counts = sorted({row["evaluators"] for row in found.models})
    if len(found.models) == 1:
        return f"{counts[0]}"
    if found.design == "within":
        judged = sum(not row.get("is_real") for row in found.models)
        reals = " and the reals" if judged < len(found.models) else ""
        return f"{found.data['people']:,}, each of all {judged} {found.noun}s{reals}"
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    judges = "" if found.design == "between" else f", {counted(found.data['people'], 'person', 'people')}"
    return f"{each} a {found.noun}, {counted(len(found.models), found.noun)}{judges}"
