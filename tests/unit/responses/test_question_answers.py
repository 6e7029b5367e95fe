"""Answers to a study's questions in exports and reports, by hand from a few sessions."""

import csv
import json
from datetime import UTC, datetime

import pytest

from backend.report import page, table_files
from backend.report.build import study_report
from backend.responses import question_answers
from backend.responses.export import export
from backend.responses.study_data import study_scores

from .. import sample_studies as studies
from ..task.test_questions import asked_study, post
from .test_export import psychds_problems, table

FILE = "study-faces_description-questions_data.csv"
HOSTILE = "=1+1 <img src=x>\nJane Doe, j@doe.example"
NOW = datetime(2026, 2, 1, tzinfo=UTC)
GIVEN = [
    ({"glasses": "no"}, {"effort": 1}),
    ({"glasses": "yes", "strength": 2}, {"effort": 6, "tools": ["eyes", "hair"], "why": HOSTILE}),
    ({"glasses": "yes", "strength": -3.5}, {"effort": 4, "tools": ["eyes"]}),
    ({"glasses": "no"}, {}),
]


@pytest.fixture
def faces(world):
    """Four finished sessions, the last of which declines the last questions, and one that breaks off."""
    study = world.add(asked_study(models=("gan",), evaluators=10))
    for before, after in GIVEN:
        player = world.player()
        assert post(player, "before", before).status_code == 200
        player.play()
        assert post(player, "after", after, declined=not after).status_code == 200
    post(world.player(), "before", {"glasses": "no"})
    world.player()
    return study


def test_an_export_has_a_row_for_each_session_that_answered(world, faces, tmp_path):
    paths = export(world.store, faces, tmp_path / "out")

    rows = table(tmp_path / "out" / "data" / FILE)
    assert tmp_path / "out" / "data" / FILE in paths
    assert [*psychds_problems(tmp_path / "out")] == []
    assert len(rows) == 5
    (second,) = [row for row in rows if row["q_strength"] == "2"]
    assert (second["q_glasses"], second["q_effort"], json.loads(second["q_tools"])) == (
        "yes",
        "6",
        ["eyes", "hair"],
    )
    assert second["q_why"] == f"'{HOSTILE}"  # no formula for a spreadsheet
    assert (second["state"], second["declined"], second["before_at"]) == (
        "finished",
        "false",
        "2026-01-01T00:00:00.000Z",
    )
    (declined,) = [row for row in rows if row["declined"] == "true"]
    assert (declined["q_effort"], declined["after_at"]) == ("", "2026-01-01T00:00:00.000Z")
    (broken,) = [row for row in rows if row["state"] == "active"]
    assert (broken["q_glasses"], broken["after_at"], broken["declined"]) == ("no", "", "")
    assert {row["evaluator"] for row in rows} == {
        session.evaluator for session, cursor in world.store.sessions("faces") if cursor.questions
    }


def test_an_export_names_nobody(world, tmp_path):
    world.add(asked_study())
    player = world.player(panel={"PROLIFIC_PID": "person-77"})
    post(player, "before", {"glasses": "no"})
    player.play()

    export(world.store, world.store.study("faces"), tmp_path / "out")

    everything = "".join(path.read_text("utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert "person-77" not in everything


def test_the_description_has_the_text_of_every_question(world, faces, tmp_path):
    export(world.store, faces, tmp_path / "out")

    described = json.loads((tmp_path / "out" / "dataset_description.json").read_text("utf-8"))
    about = {each["name"]: each for each in described["variableMeasured"]}
    materials = json.loads((tmp_path / "out" / "materials" / "study.json").read_text("utf-8"))
    assert about["q_strength"]["description"] == (
        "How strong? (asked if q_glasses is yes) (asked before the task)"
    )
    assert about["q_glasses"]["unitText"] == 'one of ["yes", "no"]'
    assert about["q_effort"]["unitText"] == "whole number from 1 (easy) to 7 (hard)"
    assert [question["name"] for question in materials["questions"]] == [q.name for q in faces.questions]
    assert [each["title"] for each in materials["pages"]] == ["Welcome", "Half way"]


def test_a_study_without_questions_has_no_such_file(world, tmp_path):
    study = world.add(studies.study(images=4))
    world.player().play()

    export(world.store, study, tmp_path / "out")

    described = (tmp_path / "out" / "dataset_description.json").read_text("utf-8")
    materials = json.loads((tmp_path / "out" / "materials" / "study.json").read_text("utf-8"))
    assert not (tmp_path / "out" / "data" / FILE).exists()
    assert "before_at" not in described
    assert not {"pages", "questions"} & set(materials)


def test_the_scores_do_not_depend_on_the_questions(world, faces):
    assert study_scores(world.store, faces)["models"][0]["evaluators"] == 4


def test_summaries_count_what_was_answered_in_finished_sessions(world, faces):
    glasses, strength, effort, tools, why = question_answers.summaries(world.store, faces)

    assert glasses["counts"] == [{"answer": "yes", "count": 2}, {"answer": "no", "count": 2}]
    assert (glasses["answered"], glasses["evaluators"]) == (4, 4)
    assert (strength["answered"], strength["evaluators"]) == (2, 2)  # those with glasses
    # 2 and -3.5: quartiles a quarter, a half and three quarters of the way
    assert (strength["quartiles"], strength["low"], strength["high"]) == ([-2.125, -0.75, 0.625], -3.5, 2)
    assert effort["quartiles"] == [2.5, 4, 5]  # of 1, 4, 6
    assert [each["count"] for each in effort["counts"]] == [1, 0, 0, 1, 0, 1, 0]
    assert (effort["answered"], effort["evaluators"]) == (3, 3)
    assert {each["answer"]: each["count"] for each in tools["counts"]} == {"eyes": 2, "hair": 1, "light": 0}
    assert (why["answered"], why["evaluators"], why["counts"]) == (1, 1, [])


@pytest.mark.slow("draws a whole report")
def test_a_report_shows_the_answers_and_the_texts_in_a_file_only(world, faces):
    report = study_report(world.store, world.data.picture, faces, NOW)

    (section,) = [section for section in report.sections if section.id == "questions"]
    assert [each.name for each in section.tables] == ["question-counts", "question-numbers", "question-texts"]
    counts = section.tables[0].cells
    assert ["Do you wear glasses?", "yes", "2", "50%", "4", "4"] in counts
    assert ["How hard was it?", "1 (easy)", "1", "33%", "3", "3"] in counts
    assert ["How hard was it?", "-0.75"] not in counts
    assert section.tables[1].cells[0] == ["How strong?", "-0.75", "-2.125 to 0.625", "-3.5 to 2", "2", "2"]
    shown = page.html(report, files=True)
    assert "Do you wear glasses?" in shown
    assert "Jane Doe" not in shown
    assert "Jane Doe" not in json.dumps(report.data, default=str)
    assert "What evaluators wrote: 1 text, in the files only" in shown
    (text,) = csv.DictReader(table_files.as_csv(section.tables[2]).splitlines(keepends=True))
    assert text["text"] == f"'{HOSTILE}"


def test_a_report_without_questions_has_no_such_section(world):
    study = world.add(studies.study(models=("gan",), images=4))
    for _ in range(2):
        world.player().play(right=lambda truth: truth == "real")

    report = study_report(world.store, world.data.picture, study, NOW)

    assert "questions" not in [section.id for section in report.sections]
