"""The report says in how many responses pictures were not shown as the protocol says."""

import io

from backend.report.context import FindingsView
from backend.report.findings import findings
from backend.report.surround import section
from backend.responses.readers import read_answers, write_responses

EXPECTED = [
    {"altered": "forced_colors", "responses": 10, "share": 0.25},
    {"altered": "filter", "responses": 4, "share": 0.1},
    {"altered": "translated", "responses": 2, "share": 0.05},
    {"altered": "not_whole", "responses": 1, "share": 0.025},
]
"""Counted by hand from the rows of `written`."""


def written(tmp_path, alter):
    """Write 40 responses of two evaluators; `alter` returns what differs in row i."""
    rows = [
        {
            "study": "s", "method": "infinity", "model": "gan", "evaluator": f"e{i // 20}",
            "trial_index": i % 20, "stimulus": f"p{i}", "truth": ("real", "fake")[i % 2],
            "response": ("real", "fake")[i // 3 % 2],
            **alter(i),
        }
        for i in range(40)
    ]  # fmt: skip
    text = io.StringIO()
    write_responses(rows, text)
    path = tmp_path / "responses.csv"
    path.write_text(text.getvalue(), "utf-8")
    return read_answers(path, details=True)


def test_altered_surrounds_and_cut_pictures_are_counted_by_what_differed(tmp_path):
    def alter(i):
        words = [*(["forced_colors"] if i < 10 else []), *(["filter"] if i < 4 else [])]
        translated = {38: "pt-BR", 39: "unknown"}.get(i, "")
        return {
            "surround": " ".join(words),
            "translated": translated,
            "flags": ("not_whole", "interrupted") if i == 30 else (),
        }

    found = findings(written(tmp_path, alter), in_columns=False)

    assert found["findings"]["surround"] == EXPECTED
    shown = section(FindingsView(found))
    cells = [[column.text(row) for column in shown.tables[0].columns] for row in shown.tables[0].rows]
    assert cells[0] == ["the system forces colours (high contrast)", "10", "25.0%"]


def test_where_nothing_differed_the_report_has_no_such_section(tmp_path):
    found = findings(written(tmp_path, lambda _: {}))

    assert section(FindingsView(found)) is None
