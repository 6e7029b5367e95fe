"""Printed numbers with an interval, a p, ranks or a verdict are in the list of `validate/inferences.py`."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import openhype
from backend.analysis.judgment_scores import scores_of
from backend.analysis.replication import Run, replication
from backend.analysis.table.response_rows import answers_of
from backend.report.build import leaderboard_of
from backend.report.elements import ALONE as WORDS
from backend.report.elements import Column, Table
from backend.report.findings import findings
from backend.report.leaderboard import Entry
from backend.report.planned_looks import look_pairs
from backend.report.replication import report as replication_report
from validate.inferences import ALONE, BOTH, DOCS, EXACT, INFERENCES, MARKS, as_markdown, entry_of

from ..analysis.test_replication import rows_of as rows_of_wrong
from ..analysis.test_replication import tables
from ..competitions.test_ranking import rows_of
from .test_text_report import ANSWERS, REPORTS, of_answers, of_study, report_named

NOW = datetime(2026, 1, 1, tzinfo=UTC)
INFERENTIAL = re.compile(
    r"(.*[./])?((\w+_)?ci(_of_answers|_without)?|(\w+_)?p(_\w+)?|ranks|verdict|any_look|is_apart|told_apart"
    r"|told_from|indistinguishable_up_to|needs_evaluators|is_beyond_chance)|.*\b(width|curve)[./]width"
)
IN_FILES_ALONE = {
    "classes/ci", "progress/ci", "classes/not_sure_ci",
}  # fmt: skip
"""Columns of a table's files that the page and the terminal do not show."""


def names_in(value, path=""):
    """Yield the dotted names of the numbers of plain data that have to be in the list."""
    if isinstance(value, dict):
        for key, cell in value.items():
            name = f"{path}.{key}" if path and path[-1] != "/" else f"{path}{key}"
            if INFERENTIAL.fullmatch(name):
                yield name
            yield from names_in(cell, name)
    elif isinstance(value, list | tuple):
        for cell in value:
            yield from names_in(cell, path)


def names_of(table):
    return {name for row in table.rows for name in names_in(dict(row), f"{table.name}/")}


def unlisted(names):
    """Return those (method, name) that the list has not."""
    return sorted((method, name) for method, name in names if entry_of(name, method) is None)


def kinds_of(table, method):
    """Return what is random in the numbers that a table shows."""
    return {entry_of(name, method)[0].random for name in names_of(table) - IN_FILES_ALONE}


@pytest.fixture
def reports(world):
    """All sample reports, as (method, report)."""
    found = {**{name: report_named(name) for name in REPORTS}, "study": of_study(world)}
    entries = [Entry(name, "", findings(ANSWERS[name]())) for name in ("infinity", "time", "pair")]
    board = leaderboard_of(entries, "", world.clock.now)
    named = [(report.data.get("method", name), report) for name, report in found.items()]
    return [*named, ("leaderboard", board), ("runs", runs_report())]


def runs_report():
    """Return the report of three runs of a study."""
    runs = [
        Run(name, answers_of(rows_of_wrong(tables(seed)[0], who=name), "infinity"))
        for seed, name in enumerate("abc")
    ]
    return replication_report(replication(runs), "2026-01-01", "1")


def names_in_reports(reports):
    for method, report in reports:
        data = {} if method == "leaderboard" else report.data
        yield from ((method, name) for name in names_in(data))
        yield from ((method, name) for table in report.tables for name in names_of(table))


def names_elsewhere():
    """Return the numbers of the live page, a plan, a competition's table, and planned looks."""
    answers = ANSWERS["infinity"]()
    live = {"narrowing": scores_of("infinity").narrowing(answers, "gan", {}), "plan": openhype.plan()}
    table = rows_of({"gan": 1.0, "vae": 2.0}, [])
    looks = names_of(look_pairs([dict.fromkeys(("p", "repeated_p", "ci", "repeated_ci"))], 1))
    return (("infinity", name) for name in (*names_in(live), *names_in(table, "competition/"), *looks))


def test_every_number_is_in_the_list_and_the_list_has_no_other(reports):
    names = {*names_in_reports(reports), *names_elsewhere()}

    assert unlisted(names) == []
    listed = {(one.what, pattern) for one in INFERENCES for pattern in one.names.split()}
    assert listed - {(entry.what, pattern) for entry, pattern in (entry_of(n, m) for m, n in names)} == set()


def test_a_number_that_is_not_in_the_list_is_noticed():
    data = {"models": [{"score_ci": [0, 1], "ranks": None}], "tendency": {"p": 0.5, "level": 0.95}}
    table = Table("tendency", "", (Column("p", lambda row: row["p_holm"]),), [{"p_holm": 0.5, "wrong": 3}])

    names = {("infinity", name) for name in (*names_in(data), *names_of(table))}

    assert unlisted(names) == [
        ("infinity", "models.score_ci"), ("infinity", "tendency.p"), ("infinity", "tendency/p_holm"),
    ]  # fmt: skip


def check_words(method, report):
    """Check that just those tables say `over evaluators alone` which have such an interval or p."""
    scores = report.data.get("models", []) if method != "leaderboard" else []
    has_no_pictures = {row["interval"]["of"] for row in scores if row.get("interval")} == {"evaluators"}
    for table in report.tables:
        heads, kinds = [column.head for column in table.columns], kinds_of(table, method)
        is_alone = ALONE in kinds or (has_no_pictures and BOTH in kinds)
        assert is_alone == any(WORDS in text for text in (table.title, *heads)), (method, table.name)
        if table.alone and not table.alone.startswith("all"):
            assert {*table.alone.split(", ")} <= {*heads}


def test_tables_say_what_is_over_evaluators_alone(reports):
    for method, report in reports:
        check_words(method, report)


@pytest.mark.parametrize("name", ["infinity", "follow-ups", "time", "pair", "within"])
def test_so_do_all_intervals_if_answers_do_not_name_their_pictures(name):
    answers = ANSWERS[name]()
    texts = {column: text for column, text in answers.texts.items() if column != "stimulus"}

    unnamed = replace(answers, texts=texts)
    check_words(answers.method, of_answers(unnamed))
    board = leaderboard_of(
        [Entry("faces", "", findings(unnamed)), Entry("other", "", findings(answers))], "", NOW
    )
    assert [note for section in board.sections for note in section.notes if WORDS in note] == [
        "Intervals of faces are over evaluators alone: no pictures are named in the responses."
    ]


@pytest.mark.parametrize(("name", "section"), [("jnd", "attention"), ("tournament", "checks")])
def test_sentences_on_evaluators_alone_say_so(name, section):
    report = report_named(name)

    (only,) = (one for one in report.sections if one.id == section)
    assert any(WORDS in text for text in only.paragraphs)


def test_the_docs_have_the_list_and_what_was_measured():
    begin, end = MARKS
    assert DOCS.read_text("utf-8").partition(begin)[2].partition(end)[0].strip() == as_markdown()
    for one in INFERENCES:
        if one.measured in ("", EXACT):
            assert one.why
            continue
        page, _, section = one.measured.partition("#")
        parts = re.split(r"^#+ (.+)\n", (DOCS.parent / page).read_text("utf-8"), flags=re.M)
        texts = {slug(head): text for head, text in zip(parts[1::2], parts[2::2], strict=True)}
        assert re.search(r"\d%", texts[section]), one.what
        assert re.search(r"\bcover|\bare called\b|\breach a promised\b|\bhave p < \.05", texts[section]), (
            one.what
        )


def slug(head):
    """Return a heading as pages link to it."""
    return re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-")
