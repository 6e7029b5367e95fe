"""`openhype simulate` on a study that asks for more than the judgment, from study.toml to the export."""

import csv
import json

import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main

STUDY = """
name = "faces"
real = "real"

[models]
gan = "gan"

[settings]
images = 10
evaluators = 3
size_px = 16
confidence = 5
reasons = ["Hands", "Text in the picture"]
comment = "required"
mark = "box"
mark_needed = "required"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for shift, name in enumerate(("real", "gan")):
        (tmp_path / name).mkdir()
        for i in range(12):
            colour = (i * 9 + shift * 100, i * 5, 120)
            Image.new("RGB", (16, 16), colour).save(tmp_path / name / f"{i}.png")
    (tmp_path / "study.toml").write_text(STUDY, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    done = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def rows_of(folder, name):
    run("export", "faces", "--simulated", "-o", name)
    with (folder / name / "data" / "study-faces_data.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_from_a_file_to_an_export_with_follow_ups_in_every_row(folder):
    run("create", "study.toml")
    run("simulate", "faces", "--accuracy", "gan=0.8", "--seed", "1")

    rows = rows_of(folder, "out")

    assert len(rows) == 30
    assert {row["confidence_points"] for row in rows} == {"5"}
    assert {row["confidence"] for row in rows} <= set("12345")
    assert len({row["confidence"] for row in rows}) > 2
    for row in rows:
        is_fake = row["response"] == "fake"
        assert bool(row["mark"]) == bool(row["comment"]) == is_fake
        assert set(row["reasons"].split()) <= ({"1", "2"} if is_fake else set())
    settings = json.loads((folder / "out" / "materials" / "study.json").read_text("utf-8"))["settings"]
    assert settings["reasons"] == ["Hands", "Text in the picture"]
    assert json.loads(run("score", "out", "--simulated", "--json"))["models"][0]["responses"] == 30


def test_follow_ups_change_no_simulated_answer_and_come_again_with_the_same_seed(folder):
    run("create", "study.toml")
    run("simulate", "faces", "--seed", "4")
    first = rows_of(folder, "first")
    run("clear", "faces", "--simulated", "--yes")
    run("simulate", "faces", "--seed", "4")
    again = rows_of(folder, "again")
    run("set", "faces", "confidence=none", "comment=none", "mark=none", "reasons=none")
    run("simulate", "faces", "--seed", "4")
    plain = rows_of(folder, "plain")

    def told(rows, *columns):
        return sorted(tuple(row[column] for column in columns) for row in rows)

    answers = ("trial_index", "stimulus", "response")
    assert told(first, *answers, "confidence", "mark") == told(again, *answers, "confidence", "mark")
    assert told(first, *answers) == told(plain, *answers)
    assert "confidence" not in plain[0]


def test_changed_settings_are_shown_as_they_are_written(folder):
    run("create", "study.toml")

    shown = run("set", "faces", "reasons=Hands | Light", "confidence=slider")

    assert "confidence: '5' -> 'slider'" in shown
    assert "reasons: ('Hands', 'Text in the picture') -> ('Hands', 'Light')" in shown
