"""The comparison of runs as a report and in leaderboards, and its figure."""

from datetime import UTC, datetime

import pytest

from backend.analysis.replication import Run, replication
from backend.analysis.scores import overall_scores
from backend.analysis.table.response_rows import answers_of
from backend.report.build import leaderboard_of
from backend.report.leaderboard import Entry
from backend.report.replication import report, section
from backend.report.text_report import as_sections

from ..analysis.test_replication import rows_of, tables

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def entry(name, stimulus=lambda j: f"s{j}", seed=0):
    answers = answers_of(rows_of(tables(seed)[0], who=name, stimulus=stimulus), "infinity")
    scores = overall_scores(answers)
    found = {"models": [{"model": row["model"]} for row in scores["models"]]}
    return Entry(name, "", {**scores, "findings": found}, Run(name, answers))


def test_a_leaderboard_tests_studies_that_share_stimuli_and_models_and_no_others():
    entries = [entry("march"), entry("june", seed=1), entry("other", stimulus=lambda j: f"t{j}")]

    board = leaderboard_of(entries, "", NOW)

    (infinity, runs) = board.sections
    assert infinity.lead.name == "leaderboard-infinity"
    assert [(row["a"], row["b"]) for row in runs.lead.rows] == [("march", "june")]
    assert "HYPE-infinity: 3 scores" in board.summary
    assert "Changes of scores between runs" in as_sections(board)


def test_a_leaderboard_of_unlike_studies_has_no_such_section():
    entries = [entry("march"), entry("other", stimulus=lambda j: f"t{j}")]

    assert [part.id for part in leaderboard_of(entries, "", NOW).sections] == ["infinity"]


@pytest.mark.parametrize("width_in", [3.3, 6.9])
def test_the_figure_has_a_line_for_each_model_and_a_place_for_each_run(width_in):
    runs = [
        Run(name, answers_of([*rows_of(one, who=name), *rows_of(other, "n", f"{name}n")], "infinity"))
        for name, (one, other) in zip("abc", map(tables, range(3)), strict=True)
    ]
    found = section(replication(runs))

    axes = found.figures[0].draw(width_in).axes[0]

    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    lines = [line for line in axes.get_lines() if line.get_marker() not in ("None", "")]
    assert [len(line.get_xdata()) for line in lines] == [3, 3]
    for line in lines:
        rows = [row for row in found.figures[0].table.rows if row["model"] == line.get_label()]
        assert [*line.get_ydata()] == [row["score"] for row in rows]


def test_the_report_says_what_else_differed():
    runs = [entry(name, seed=i).run for i, name in enumerate(("march", "june"))]

    made = report(replication(runs), "2026-01-01", "1", ["march and june differ in settings"])

    assert made.warnings == ("march and june differ in settings",)
    assert made.title == "The same study again: march and june"
