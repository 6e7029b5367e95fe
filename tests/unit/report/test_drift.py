"""The section on changes over a session: its sentences, and that the terminal prints them."""

from dataclasses import replace

import numpy as np
import pytest

from backend.report import drift
from backend.report.context import FindingsView
from backend.report.findings import findings
from validate.drift import TIMED, UNTIMED

from .. import answered, texts


@pytest.mark.parametrize(
    ("sessions", "sentence"),
    [
        (replace(TIMED, change=0.5), "Thresholds rose from the first block to the last: "),
        (replace(UNTIMED, change=-0.3), "Shares of wrong answers fell from the first picture to the last: −"),
        (
            replace(UNTIMED, repeats=0.2),
            "Evaluators tended to repeat their answers: for pictures of the same ",
        ),
        (
            replace(TIMED, repeats=-0.2),
            "Evaluators tended to alternate their answers: for pictures of the same ",
        ),
    ],
    ids=["fatigue", "practice", "repetition", "alternation"],
)
def test_what_is_found_is_said(sessions, sentence):
    (answers,) = sessions.studies(1, 20, np.random.default_rng(1))

    text = texts.of_findings(findings(answers))

    assert sentence in text


def test_steady_sessions_are_said_to_show_nothing_with_intervals_and_numbers_of_evaluators():
    found = answered.found(answered.infinity({"m": 0.4}, evaluators=8, seed=2))

    section = drift.section(FindingsView(found))

    changed, depends = section.paragraphs
    assert changed == (
        "Shares of wrong answers were not shown to change from the first picture to the last: 6.1 points "
        "(95% interval −10.1 to 22.3 points; t(7) = 0.89, p = .40; 8 evaluators)."
    )
    assert depends.startswith(
        "The answer was not shown to depend on the previous one: for pictures of the same "
    )


def test_the_table_has_each_model_below_all_of_them():
    found = answered.found(answered.infinity({"a": 0.4, "b": 0.2}, evaluators=6))

    (table,) = drift.section(FindingsView(found)).tables

    assert [row["model"] for row in table.rows] == ["all models", "a", "b"] * 2
    assert [row["evaluators"] for row in table.rows] == [12, 6, 6] * 2


def test_responses_without_an_order_have_no_section():
    rows = [{**row, "trial_index": None} for row in answered.infinity({"m": 0.4}, evaluators=4)]

    assert drift.section(FindingsView(answered.found(rows))) is None
