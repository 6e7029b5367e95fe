"""Report section on attention checks, and on the evaluators whom a declared rule left out."""

from collections.abc import Iterator
from typing import Any

from backend.foundation.counted_nouns import counted
from backend.report import formatting
from backend.report.context import FindingsView
from backend.report.elements import ALONE, Column, Section, Table


def section(view: FindingsView) -> Section | None:
    """Return the section; None for responses without checks and without a rule."""
    checks, exclusion = view.findings.get("attention"), view.data.get("exclusion")
    if not checks and not exclusion:
        return None
    declared, tables = tuple(_exclusion(exclusion)), tuple(_tables(view, checks, exclusion))
    return Section(
        "attention",
        "Attention checks and exclusion" if exclusion else "Attention checks",
        (*_checks(view, checks), *declared),
        tables=tables,
        brief=(*declared, tables[0]) if exclusion else (),
        notes=(
            "Checks are trials whose answer is beyond doubt or is asked for by an instruction; they are in "
            "no score. Whoever fails them is paid as everybody is.",
        ),
    )


def _checks(view: FindingsView, checks: dict[str, Any] | None) -> Iterator[str]:
    if not checks:
        return
    share = formatting.share(checks["share"], 1)
    if checks["ci"]:
        share += (
            f" ({view.level} interval {formatting.interval([100 * end for end in checks['ci']], 'percent')})"
        )
    ci = formatting.interval([100 * end for end in checks["all_right_ci"]], "percent")
    yield (
        f"{counted(checks['people'], 'evaluator')} answered {counted(checks['shown'], 'attention check')}, "
        f"{checks['right']} of them right: {share} on average. {checks['all_right']} of {checks['people']} "
        f"got all right ({view.level} interval {ci} of evaluators). Intervals are {ALONE}."
    )


def _exclusion(exclusion: dict[str, Any] | None) -> Iterator[str]:
    if not exclusion:
        return
    yield (
        f"The rule for exclusion that was declared with the study leaves out {exclusion['excluded']} of "
        f"{counted(exclusion['people'], 'evaluator')}. The scores, tests and figures of this report are "
        "those after exclusion, as declared; the table has the scores of everybody beside them."
    )


def _tables(
    view: FindingsView, checks: dict[str, Any] | None, exclusion: dict[str, Any] | None
) -> Iterator[Table]:
    if exclusion:
        yield _both(view, exclusion)
    if checks:
        columns = (
            Column("evaluator", lambda row: row["evaluator"], is_number=False),
            Column("checks", lambda row: str(row["checks"])),
            Column("right", lambda row: str(row["checks_right"])),
            Column("share right", lambda row: formatting.share(row["share"])),
            *(
                [Column("excluded", lambda row: "yes" if row["excluded"] else "no", is_number=False)]
                if exclusion
                else []
            ),
        )
        rows = sorted(checks["evaluators"], key=lambda row: (row["share"], str(row["evaluator"])))
        yield Table("attention", "Attention checks, by evaluator", columns, rows, shown=50)


def _both(view: FindingsView, exclusion: dict[str, Any]) -> Table:
    """Return the table of scores after exclusion, which are the primary ones, and without it."""
    after = {row["model"]: row for row in view.data["models"]}
    counts = {row["model"]: row for row in exclusion["models"]}
    rows = [
        {
            "model": row["model"],
            "evaluators": counts[row["model"]]["evaluators"],
            "excluded": counts[row["model"]]["excluded"],
            "score": after[row["model"]]["score"] if row["model"] in after else None,
            "ci": _ci(after.get(row["model"])),
            "score_without": row["score"],
            "ci_without": _ci(row),
        }
        for row in exclusion["without"]["models"]
    ]
    unit = view.unit
    columns = (
        Column(view.noun, lambda row: row["model"], is_number=False),
        Column("evaluators", lambda row: str(row["evaluators"])),
        Column("excluded", lambda row: str(row["excluded"])),
        Column("score after exclusion (primary)", lambda row: formatting.amount(row["score"], unit)),
        Column(f"{view.level} interval", lambda row: formatting.interval(row["ci"], unit)),
        Column("score of everybody", lambda row: formatting.amount(row["score_without"], unit)),
        Column(
            f"{view.level} interval, everybody",
            lambda row: formatting.interval(row["ci_without"], unit),
        ),
    )
    return Table("exclusion", "Scores with and without exclusion", columns, rows, alone=view.alone)


def _ci(row: dict[str, Any] | None) -> list[float] | None:
    return row["interval"]["ci"] if row and row["interval"] else None
