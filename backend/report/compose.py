"""Composition of a report from findings: its sections and its summary."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import attention, clip_words, picture_metrics, planned_looks, simulated
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Report, Section
from backend.report.judgment_report import report_of


def compose(data: Mapping[str, Any], info: SourceInfo) -> Report:
    """Return the report of findings, which are the JSON of `findings.findings`."""
    view = FindingsView(data)
    judgment = report_of(data["method"])
    report = Report(
        title=info.title,
        summary=judgment.summary(view),
        facts=tuple(_facts(judgment.title(view), view, info)),
        warnings=_warnings(data),
        sections=tuple(
            section
            for section in (planned_looks.section(info.looks, view.unit), *judgment.sections(view, info))
            if section is not None
        ),
        data=data,
    )
    report = simulated.marked(report) if data["simulated"] else report
    report = replace(report, sections=tuple(_with_pictures(report.sections, info)))
    return clip_words.of_clips(report, view) if info.are_clips else report


def compose_scores(data: Mapping[str, Any], are_clips: bool = False) -> Report:
    """Return a report of the scores alone, for a short text; `data` is that of `findings.score_findings`."""
    view = FindingsView(data)
    judgment = report_of(data["method"])
    sections = (*judgment.score_sections(view), attention.section(view))
    report = Report(
        title=judgment.title(view),
        summary="",
        facts=(),
        warnings=_warnings(data),
        sections=tuple(section for section in sections if section is not None),
    )
    report = simulated.marked(report) if data["simulated"] else report
    return clip_words.of_clips(report, view) if are_clips else report


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


def _facts(method: str, view: FindingsView, info: SourceInfo) -> list[tuple[str, str]]:
    facts = [
        ("Method", method),
        ("Evaluators", _evaluators(view)),
        ("Responses", f"{view.data['responses']:,}"),
        ("Collected", info.collected),
        ("Source", info.source),
        ("Report", f"{info.date}, openhype {info.version}"),
    ]
    return [(name, text) for name, text in facts if text]


def _evaluators(view: FindingsView) -> str:
    counts = sorted({row["evaluators"] for row in view.models})
    if len(view.models) == 1:
        return f"{counts[0]}"
    if view.design == "within":
        judged = sum(not row.get("is_real") for row in view.models)
        reals = " and the reals" if judged < len(view.models) else ""
        return f"{view.data['people']:,}, each of all {judged} {view.noun}s{reals}"
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    judges = "" if view.design == "between" else f", {counted(view.data['people'], 'person', 'people')}"
    return f"{each} a {view.noun}, {counted(len(view.models), view.noun)}{judges}"
