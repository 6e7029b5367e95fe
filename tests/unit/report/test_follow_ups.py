"""Confidence, reasons and marks in findings, text and reports, from data frames and files."""

import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.analysis.marks import Mark
from backend.analysis.reasons import reasons
from backend.analysis.table.response_rows import answers_of
from backend.cli import main
from backend.report import heat_maps, page, thumbnails
from backend.report.compose import compose
from backend.report.context import FindingsView, SourceInfo
from backend.report.findings import findings
from backend.report.marks import shown_names
from backend.report.write import write
from backend.responses.readers import read_answers

from .. import answered, follow_ups, texts

ABOUT = SourceInfo("Faces", "responses.csv", "2026-03-01", "0.1.0")
NEW = ("confidence", "reasons", "marks")


def found_of(rows, names=follow_ups.REASONS):
    found = findings(replace(answers_of(rows, "infinity"), reasons=names))
    json.dumps(found, allow_nan=False)
    return found


@pytest.fixture(scope="module")
def found():
    return found_of(follow_ups.rows())


@pytest.fixture(scope="module")
def report(found):
    return compose(found, ABOUT)


def photograph(size=(96, 64)):
    file = io.BytesIO()
    Image.effect_noise(size, 60).save(file, "PNG")
    return file.getvalue()


def test_models_stand_in_the_order_of_the_scores(found):
    order = [row["model"] for row in found["models"]]

    assert order == ["gan", "vae"]
    assert [row["model"] for row in found["findings"]["confidence"]["models"]] == order
    assert [group["model"] for group in found["findings"]["marks"]["groups"]] == [*order, None]
    assert [*dict.fromkeys(row["model"] for row in found["findings"]["reasons"]["rows"])] == [*order, None]


def test_the_plain_error_is_the_score(found):
    scores = {row["model"]: row["score"] for row in found["models"]}

    for row in found["findings"]["confidence"]["models"]:
        assert row["score"] == pytest.approx(scores[row["model"]])


def test_the_report_has_a_section_figures_and_tables_for_each(report):
    assert [section.id for section in report.sections if section.id in NEW] == [*NEW]
    names = {figure.name for figure in report.figures}
    assert {"roc", "calibration", "marks"} <= names
    tables = {table.name for table in report.tables}
    assert {"confidence", "confidence_areas", "calibration", "reasons_fake", "comments", "marks"} <= tables


def test_every_figure_says_in_words_what_it_shows(report):
    words = {figure.name: figure.alt_text for figure in report.figures}

    assert "areas: gan ." in words["roc"]
    assert "gan from" in words["calibration"]
    assert "gan: most in the" in words["marks"]
    pictures = [
        one for section in report.sections for gallery in section.galleries for one in gallery.pictures
    ]
    assert pictures
    assert all("marks on a" in one.alt and "most in the" in one.alt for one in pictures)


def test_the_text_has_a_section_for_each(found):
    text = texts.of_findings(found)

    assert re.search(
        r"^gan: in \d+% of pairs a fake was rated more surely fake than a real picture \(area \.", text, re.M
    )
    assert re.search(r"^gan: of \d+ answers “fake”, most were for hands", text, re.M)
    assert "more often for fakes than for reals: hands" in text
    assert re.search(r"^real pictures: \d+ marks by ", text, re.M)


@pytest.mark.slow("draws every figure")
def test_files_have_all_rows_and_no_formula(report, tmp_path):
    write(report, tmp_path)

    tables = tmp_path / "tables"
    with (tables / "comments.csv").open(newline="") as file:
        comments = [row["comment"] for row in csv.DictReader(file)]
    assert "'=HYPERLINK(1)" in comments
    assert not any(comment.startswith("=") for comment in comments)
    with (tables / "marks.csv").open(newline="") as file:
        marks = [*csv.DictReader(file)]
    assert len(marks) == len(report.data["findings"]["marks"]["rows"])
    assert [*marks[0]] == ["model", "truth", "picture", "evaluator", "x", "y", "width", "height"]
    assert (tmp_path / "figures" / "calibration.png").exists()


def test_markup_in_comments_and_reasons_is_shown_as_text():
    rows = follow_ups.rows(evaluators=3)

    text = page.html(compose(found_of(rows, ("<i>hands</i>", "eyes", "light")), ABOUT))

    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "<i>hands" not in text
    assert "&lt;i&gt;hands" in text


def test_comments_are_folded_and_few_are_shown(report):
    (table,) = [table for table in report.tables if table.name == "comments"]
    text = page.html(report)

    assert len(table.rows) > len(table.shown_cells) == 10
    assert f"<summary>Comments ({len(table.rows)} rows)</summary>" in text


@pytest.mark.slow("makes three whole reports")
def test_columns_without_anything_change_nothing(tmp_path):
    rows = answered.infinity({"a": 0.4, "b": 0.2}, evaluators=4, images=20)
    columns = ("confidence", "confidence_points", "confidence_rt", "reasons", "comment", "mark")
    plain = found_of(rows)

    def files_of(found, name):
        write(compose(found, ABOUT), tmp_path / name)
        paths = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
        return {path.relative_to(tmp_path / name): path.read_bytes() for path in paths}

    files = files_of(plain, "plain")
    for empty in (None, ""):
        new = found_of([{**row, **dict.fromkeys(columns, empty)} for row in rows])
        again = files_of(new, f"with {empty!r}")

        assert [path for path in files | again if files.get(path) != again.get(path)] == []
    assert len(files) > 10
    assert not {*NEW, "comments"} & plain["findings"].keys()


def test_answers_without_a_mark_or_reason_still_have_confidence():
    asked = ("reasons", "comment", "mark")
    rows = [
        {name: cell for name, cell in row.items() if name not in asked}
        for row in follow_ups.rows(evaluators=3)
    ]

    report = compose(found_of(rows), ABOUT)

    assert [section.id for section in report.sections if section.id in NEW] == ["confidence"]


def test_notes_stand_in_the_section_even_where_nothing_can_be_used():
    rows = [{**row, "confidence": 1e9, "mark": "5"} for row in follow_ups.rows(evaluators=2)]

    sections = {section.id: section for section in compose(found_of(rows), ABOUT).sections}

    assert any("outside the scale" in text for text in sections["confidence"].paragraphs)
    assert any("no point or box" in text for text in sections["marks"].notes)
    assert not sections["marks"].figures


def test_one_evaluator_of_one_model_is_reported_without_intervals():
    report = compose(found_of(follow_ups.rows((("gan", 1.0),), evaluators=1, images=60)), ABOUT)

    text = page.html(report)

    assert "without interval" in text
    assert "all models" not in text


@pytest.mark.slow("draws every figure")
def test_many_models_have_maps_of_the_first_and_of_the_reals(tmp_path):
    models = [(f"m{i:02}", 1.0) for i in range(11)]
    found = found_of(follow_ups.rows(models, evaluators=3, images=24))

    (section,) = [section for section in compose(found, ABOUT).sections if section.id == "marks"]

    assert [name for name, _ in section.model_notes][-1] == "real pictures"
    assert len(section.model_notes) == 9
    assert len(section.galleries) <= 7
    assert len(section.figures[0].table.rows) == 12


def picture_of(uri):
    return Image.open(io.BytesIO(thumbnails.content_of(uri))).convert("RGB")


def test_a_heat_map_lies_over_its_picture_in_the_pictures_shape():
    read = thumbnails.thumbnails(lambda study, name: photograph(), "faces", ["p.jpg"], heat_maps.SIZE_PX)

    image = picture_of(heat_maps.drawn([Mark(900, 500, 100, 200)], read["p.jpg"]))

    assert image.size == (96, 64)
    pixels = np.asarray(image, float)
    is_coloured = pixels.max(axis=2) - pixels.min(axis=2) > 40
    assert is_coloured[36:43, 90:94].all()
    assert not is_coloured[:, :60].any()


def test_a_heat_map_without_its_picture_is_square_and_grey_where_nobody_marked():
    image = picture_of(heat_maps.drawn([Mark(100, 100), Mark(110, 105)], None))

    assert image.size == (heat_maps.SIZE_PX, heat_maps.SIZE_PX)
    assert image.getpixel((200, 200)) == (72, 72, 72)
    assert image.getpixel((30, 24))[0] > 150


def test_a_heat_map_of_simulated_sessions_says_so():
    real, simulated = (np.asarray(picture_of(heat_maps.drawn([Mark(500, 900)], None, each)), float)
                       for each in (False, True))  # fmt: skip

    assert abs(real - simulated)[:20, :120].max() > 100


def test_the_pictures_to_read_are_those_that_are_shown(found):
    names = shown_names(FindingsView(found))

    shown = [row["picture"] for group in found["findings"]["marks"]["groups"] for row in group["pictures"]]
    assert sorted(names) == sorted(set(shown))
    assert names


def write_csv(rows, path):
    with path.open("w", newline="") as out:
        writer = csv.DictWriter(out, [*dict.fromkeys(key for row in rows for key in row)])
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(params=["csv", "jsonl"])
def file(request, tmp_path):
    rows = follow_ups.rows(evaluators=4)
    path = tmp_path / f"faces.{request.param}"
    if request.param == "csv":
        write_csv(rows, path)
        return path
    with path.open("w") as out:
        for row in rows:
            if row.get("mark"):
                row = {**row, "mark": [*map(int, row["mark"].split())]}
            out.write(json.dumps({key: value for key, value in row.items() if value is not None}) + "\n")
    return path


@pytest.mark.slow("makes two whole reports")
def test_a_file_from_elsewhere_is_scored_and_reported_by_the_commands(file, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    text = CliRunner().invoke(main, ["score", str(file), "--full"], catch_exceptions=False)
    data = CliRunner().invoke(main, ["score", str(file), "--full", "--json"], catch_exceptions=False)
    made = CliRunner().invoke(main, ["report", str(file), "-o", "out"], catch_exceptions=False)

    assert text.exit_code == data.exit_code == made.exit_code == 0
    assert "Error, plain and weighted by confidence, with 95% intervals" in text.output
    assert "reason 1" in text.output  # the file does not know the study's list
    found = json.loads(data.output)["findings"]
    assert {*NEW, "comments"} <= found.keys()
    assert found["marks"] == found_of(follow_ups.rows(evaluators=4))["findings"]["marks"]
    assert "data:image/jpeg" in (tmp_path / "out" / "index.html").read_text("utf-8")


def test_a_confidence_that_is_no_number_is_refused_with_its_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "faces.csv"
    path.write_text("model,evaluator,truth,response,confidence\nm,a,fake,real,3\nm,a,fake,real,sure\n")

    done = CliRunner().invoke(main, ["score", "faces.csv", "--full"])

    assert done.exit_code == 1
    assert "line 3: confidence must be a number, not 'sure'" in done.output


@pytest.mark.parametrize(
    ("study", "named"),
    [
        ('{"settings": {"reasons": ["Hände", "eyes", "light"]}}', ["Hände", "eyes", "light"]),
        ('{"settings": {"reasons": ["Hände"]}}', ["Hände", "reason 2", "reason 3"]),
        ('{"settings": {"reasons": 5}}', ["reason 1", "reason 2", "reason 3"]),
        ('{"settings": []}', ["reason 1", "reason 2", "reason 3"]),
        ("[]", ["reason 1", "reason 2", "reason 3"]),
        ("{", ["reason 1", "reason 2", "reason 3"]),
        (None, ["reason 1", "reason 2", "reason 3"]),
    ],
)
def test_an_exported_data_set_names_the_reasons_of_its_study(tmp_path, study, named):
    for folder in ("data", "materials"):
        (tmp_path / folder).mkdir()
    write_csv(follow_ups.rows(evaluators=2), tmp_path / "data" / "study-faces_data.csv")
    if study is not None:
        (tmp_path / "materials" / "study.json").write_text(study, "utf-8")

    answers = read_answers(tmp_path, details=True)

    assert reasons(answers, 0.95)["reasons"] == named


def test_reasons_in_words_are_shown_as_they_are(tmp_path):
    cells = {"": "", "1": "extra fingers", "1 2": "extra fingers; blur"}
    rows = [
        {**row, "reasons": cells.get(row.get("reasons", ""), "")} for row in follow_ups.rows(evaluators=2)
    ]
    write_csv(rows, tmp_path / "faces.csv")

    answers = read_answers(tmp_path / "faces.csv", details=True)

    assert reasons(answers, 0.95)["reasons"] == ["blur", "extra fingers"]
