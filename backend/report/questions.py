"""Report section on the study's own questions: what was answered, and how often."""

from collections.abc import Iterator, Mapping
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView, SourceInfo
from backend.report.elements import Column, Section, Table


def section(view: FindingsView, info: SourceInfo) -> Section | None:
    """Return the section on the answers of finished sessions; None if nothing was asked."""
    questions = view.findings.get("questions")
    if not questions:
        return None
    tables = [_counts(questions), _numbers(questions), _texts(info)]
    most = max(question["evaluators"] for question in questions)
    return Section(
        "questions",
        "Questions to the evaluators",
        (
            f"Evaluators were asked {counted(len(questions), 'question')} besides the pictures; "
            f"{counted(most, 'evaluator')} of finished sessions answered.",
        ),
        tables=tuple(table for table in tables if table is not None and table.rows),
        notes=(
            "Shares are of the evaluators who answered the question; of several choices they may add up to "
            "more than 100%. Asked: saw the question, which some see only after certain answers.",
        ),
    )


def _counts(questions: list[Mapping[str, Any]]) -> Table:
    columns = (
        Column("question", lambda row: row["text"], is_number=False),
        Column("answer", lambda row: row["label"], is_number=False),
        Column("evaluators", lambda row: str(row["count"])),
        Column("share", lambda row: formatting.share(row["share"])),
        Column("answered", lambda row: str(row["answered"])),
        Column("asked", lambda row: str(row["evaluators"])),
    )
    return Table("question-counts", "Answers by question", columns, [*_count_rows(questions)])


def _count_rows(questions: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for question in questions:
        for each in question["counts"]:
            yield {
                "question": question["question"],
                "text": question["text"],
                "when": question["when"],
                "answer": each["answer"],
                "label": _label(question, each["answer"]),
                "count": each["count"],
                "share": each["count"] / question["answered"] if question["answered"] else None,
                "answered": question["answered"],
                "evaluators": question["evaluators"],
            }


def _label(question: Mapping[str, Any], answer: Any) -> str:
    """Return an answer as shown; ends of a scale with their labels."""
    if question["kind"] != "scale":
        return str(answer)
    ends = {1: question["low_label"], question["counts"][-1]["answer"]: question["high_label"]}
    return f"{answer} ({ends[answer]})" if ends.get(answer) else str(answer)


def _numbers(questions: list[Mapping[str, Any]]) -> Table:
    columns = (
        Column("question", lambda row: row["text"], is_number=False),
        Column("median", lambda row: _number(row["median"])),
        Column("quartiles", lambda row: f"{_number(row['q1'])} to {_number(row['q3'])}"),
        Column("range", lambda row: f"{_number(row['low'])} to {_number(row['high'])}"),
        Column("answered", lambda row: str(row["answered"])),
        Column("asked", lambda row: str(row["evaluators"])),
    )
    rows = [
        {
            **{name: question[name] for name in ("question", "text", "when", "low", "high")},
            **dict(zip(("q1", "median", "q3"), question["quartiles"], strict=True)),
            "answered": question["answered"],
            "evaluators": question["evaluators"],
        }
        for question in questions
        if question["quartiles"]
    ]
    return Table("question-numbers", "Numbers and scales", columns, rows)


def _texts(info: SourceInfo) -> Table:
    """Return the texts that evaluators wrote, which only the files have: they may tell who somebody is."""
    columns = (
        Column("question", lambda row: row["question"], is_number=False),
        Column("evaluator", lambda row: row["evaluator"], is_number=False),
        Column("text", lambda row: row["text"], is_number=False),
    )
    caption = f"What evaluators wrote: {counted(len(info.texts), 'text')}, in the files only"
    return Table("question-texts", caption, columns, info.texts, shown=0)


def _number(value: float) -> str:
    return f"{value:.6g}"
