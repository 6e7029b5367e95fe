"""Composition of a report from findings: its sections and its summary."""

from collections.abc import Mapping
from typing import Any

from backend.foundation.counts import counted
from backend.report import (
    attention,
    attrition,
    browsers,
    chance,
    comparisons,
    confidence,
    constant_stimuli,
    difficulty,
    evaluators,
    exposures,
    images,
    marks,
    methods,
    models,
    precision,
    questions,
    reasons,
    simulated,
    training,
)
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Report

_METHODS = {
    "infinity": "HYPE-infinity, no time limit",
    "time": "HYPE-time, staircase of exposures",
    "exposures": "Constant stimuli, fixed exposures",
}


def compose(data: Mapping[str, Any], info: SourceInfo) -> Report:
    """Return the report of findings, which are the JSON of `findings.findings`."""
    found = FindingsView(data)
    sections = (
        models.section(found),
        comparisons.section(found),
        chance.section(found),
        exposures.section(found),
        confidence.section(found),
        constant_stimuli.section(found),
        training.progress(found),
        training.metrics(found, info),
        training.classes(found),
        precision.section(found),
        images.section(found, info),
        reasons.section(found),
        marks.section(found, info),
        difficulty.section(found, info),
        evaluators.section(found),
        attention.section(found),
        browsers.section(found),
        questions.section(found, info),
        attrition.section(found),
        methods.section(found, info),
    )
    report = Report(
        title=info.title,
        summary=summary(found),
        facts=tuple(_facts(found, info)),
        warnings=(*(data.get("warnings") or ()), *(data.get("notes") or ())),
        sections=tuple(section for section in sections if section is not None),
        data=data,
    )
    return simulated.marked(report) if data["simulated"] else report


def summary(found: FindingsView) -> str:
    """Return the results in two or three plain sentences."""
    best, count = found.models[0], len(found.models)
    unit = "of pictures judged wrong" if found.is_percent else "of exposure"
    if found.data["method"] == "exposures":
        unit += " over all exposures"
    if count == 1:
        text = f"{best['model']} scored {found.score(best)} {unit}."
    elif best["score"] == found.models[-1]["score"]:
        text = f"All {count} models scored {found.score(best)} {unit}."
    else:
        last = found.models[-1]
        text = (
            f"Of {count} models, {best['model']} scored highest, at {found.score(best)} {unit}; "
            f"{last['model']} "
            f"lowest, at {found.score(last)}."
        )
        if found.pairs:
            text += f" {comparisons.verdict(found)}"
    tests = best.get("chance")
    if tests and tests["equivalence"]["p_holm"] < found.alpha:
        text += (
            f" To these evaluators {best['model']} was indistinguishable from real within "
            f"{tests['equivalence']['margin']:g} points of 50%."
        )
    elif tests and tests["hyperrealism"]["p_holm"] < found.alpha:
        text += (
            f" {best['model']} is above 50%: its fakes passed for real more readily than real pictures did."
        )
    return text


def _facts(found: FindingsView, info: SourceInfo) -> list[tuple[str, str]]:
    facts = [
        ("Method", _METHODS[found.data["method"]]),
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
        return f"{found.data['people']:,}, each of all {len(found.models)} models"
    each = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    judges = "" if found.design == "between" else f", {counted(found.data['people'], 'person', 'people')}"
    return f"{each} a model, {counted(len(found.models), 'model')}{judges}"
