"""Exports of every judgment are scored the same after other programs have read and written them."""

import csv
import io
import json
import random
from functools import cache

import pandas as pd
import pytest

from backend.experiment.judgments import METHODS
from backend.foundation.csv_tables import BOM
from backend.responses.export import export
from backend.responses.readers import read_answers
from backend.stores.datadir import DataDir
from tests.unit.response_rows import read_responses, score_file

from .. import sample_studies as studies
from .. import similarity_studies, triplet_studies
from ..conftest import World
from ..memory import MemoryStore
from ..web.test_previews import Visitor, added

OF_ITEMS = {"jnd": similarity_studies, "2afc": triplet_studies}


def exported(method, world, folder):
    """Export a study with four finished sessions, answered at random; return the file to score."""
    if method == "infinity":
        world.add(studies.study(images=8, spare_images=8, not_sure=True))
    elif method in OF_ITEMS:
        items = OF_ITEMS[method]
        study = items.study("faces", picture_checks=0, exclude_checks_below=0)
        world.store.add_study(study, items.pool(study))
    else:
        added(world, method)
    answers = world.http.get("/api/studies/faces").json["answers"]
    rng = random.Random(4)
    for _ in range(4):
        opened = world.open("faces")
        assert opened.status_code == 201, opened.json
        visitor = Visitor(world, opened.json, answers)
        while visitor.done is None:
            visitor.begin()
            while not visitor.answer(response=rng.choice(answers))["block_finished"]:
                pass
    return export(world.store, world.store.study("faces"), folder)[0]


def as_r(frame):
    """What R 4 writes after read.csv: row names, texts in quotes, NA, TRUE, Inf (type.convert, write.csv)."""
    empty = [name for name in frame if frame[name].isna().all()]
    texts = [name for name in frame if frame[name].dtype.kind not in "biuf" and name not in empty]
    kept = frame.assign(**{name: frame[name].fillna("") for name in texts})
    kept = kept.replace({True: "TRUE", False: "FALSE", float("inf"): "Inf"})
    text = kept.to_csv(na_rep="NA", index_label="", quoting=csv.QUOTE_NONNUMERIC)
    return (
        text.replace('"NA"', "NA")
        .replace('"TRUE"', "TRUE")
        .replace('"FALSE"', "FALSE")
        .replace('"Inf"', "Inf")
    )


def as_excel(path, separator=",", decimal="."):
    """What Excel writes as CSV UTF-8: a byte order mark, upper-case truth values, 15 digits, CRLF."""
    rows = [*csv.reader(io.StringIO(path.read_text("utf-8-sig"), newline=""))]
    file = io.StringIO(newline="")
    writer = csv.writer(file, delimiter=separator, lineterminator="\r\n")
    writer.writerow(rows[0])
    writer.writerows([excel_cell(cell, decimal) for cell in row] for row in rows[1:])
    return f"{BOM}{file.getvalue()}{separator * (len(rows[0]) - 1)}\r\n"


def excel_cell(cell, decimal):
    if cell in ("true", "false"):
        return cell.upper()
    try:
        value = float(cell)
    except ValueError:
        return cell
    return f"{value:.15g}".replace(".", decimal) if cell != "infinity" and "_" not in cell else cell


def floated(frame):
    """Pandas turns whole numbers to floats if a row lacks them, as after a merge with other data."""
    return frame.reindex(range(-1, len(frame))).iloc[1:]


def as_csv_module(path):
    with path.open(encoding="utf-8", newline="") as file:  # the byte order mark stays in the first name
        rows = [*csv.DictReader(file)]
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


TRIPS = {
    "pandas": lambda path: ("a.csv", pd.read_csv(path).to_csv()),
    "pandas without row names": lambda path: ("a.csv", pd.read_csv(path).to_csv(index=False)),
    "pandas twice": lambda path: ("a.csv", pd.read_csv(io.StringIO(pd.read_csv(path).to_csv())).to_csv()),
    "concatenated": lambda path: ("a.csv", pd.concat(
        [pd.read_csv(path).iloc[:9], pd.read_csv(path).iloc[9:]]).to_csv(index=False)),
    "whole numbers as floats": lambda path: ("a.csv", floated(pd.read_csv(path)).to_csv(index=False)),
    "filtered": lambda path: ("a.csv", pd.read_csv(path).query("response == response").to_csv()),
    "JSON lines by pandas": lambda path: (
        "a.JSONL", pd.read_csv(path).to_json(orient="records", lines=True)),
    "JSON lines with NaN": lambda path: (
        "a.jsonl", "\n".join(map(json.dumps, floated(pd.read_csv(path)).to_dict("records")))),
    "JSON lines without what is missing": lambda path: (
        "a.ndjson", "\n".join(json.dumps({name: cell for name, cell in row.items() if cell == cell})
                              for row in pd.read_csv(path).to_dict("records"))),
    "MATLAB": lambda path: ("a.csv", pd.read_csv(path).replace({float("inf"): "Inf"})
        .to_csv(index=False, na_rep="NaN")),
    "csv": lambda path: ("a.csv", as_csv_module(path)),
    "R": lambda path: ("a.csv", as_r(pd.read_csv(path))),
    "Excel": lambda path: ("a.CSV", as_excel(path)),
    "Excel with semicolons": lambda path: ("a.csv", as_excel(path, ";", ",")),
    "Excel with its line": lambda path: ("a.csv", "sep=;\r\n" + as_excel(path, ";", ".").lstrip(BOM)),
    "tabs": lambda path: ("a.csv", pd.read_csv(path).to_csv(sep="\t")),
    "LibreOffice, all in quotes": lambda path: ("a.csv", pd.read_csv(path, dtype=str, keep_default_na=False)
        .replace({"true": "TRUE", "false": "FALSE"}).to_csv(index=False, quoting=csv.QUOTE_ALL)),
}  # fmt: skip


@pytest.fixture(scope="module")
def exports(tmp_path_factory):
    """The exports of all methods, made once."""

    @cache
    def of(method):
        root = tmp_path_factory.mktemp(method)
        return exported(method, World(MemoryStore(), DataDir(root)), root / "out")

    return of


def numbers(value):
    if isinstance(value, dict):
        return {key: numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [numbers(each) for each in value]
    return pytest.approx(value, rel=1e-12, abs=1e-12) if isinstance(value, float) else value


@pytest.mark.parametrize("trip", TRIPS)
@pytest.mark.parametrize("method", METHODS)
def test_an_export_is_scored_the_same_after_a_round_trip(exports, tmp_path, method, trip):
    path = exports(method)
    name, text = TRIPS[trip](path)
    (tmp_path / name).write_text(text, "utf-8", newline="")

    assert score_file(tmp_path / name) == numbers(score_file(path))
    columns, own = (read_answers(file, details=True).texts.keys() for file in (tmp_path / name, path))
    assert columns == own
    assert len([*read_responses(tmp_path / name)]) == len([*read_responses(path)])


@pytest.mark.parametrize("method", METHODS)
def test_excel_is_told_that_every_table_of_an_export_is_utf_8(exports, method):
    for path in exports(method).parent.glob("*.csv"):
        assert path.read_text("utf-8").startswith(BOM)
        assert not path.read_text("utf-8-sig").startswith(BOM)
