"""Metrics of pictures as text, CSV and tables."""

import csv
import io
import re

from backend.report.elements import LONG, Report
from backend.report.picture_metrics import as_csv, section
from backend.report.text_report import as_sections
from tests.unit.metrics.test_study_metrics import ROW, kept_run


def value(number, *ci, **more):
    return {"value": number, "ci": list(ci) or None, "reason": "", **more}


def run(**changes):
    frechet = value(12.3456, 11.2, 13.5, extrapolated=value(9.87, 9.1, 10.6))
    kid = value(-0.00012, -0.0005, 0.0003, sd=0.001, subsets=100, subset_size=5)
    return {
        **kept_run(models=()),
        "models": [{"model": "gan", **ROW, "frechet": frechet, "kid": kid}],
        **changes,
    }


def text_of(run):
    return as_sections(Report("", "", (), (), (section([run]),)))


def test_values_have_the_digits_that_their_intervals_support():
    text = text_of(run())

    assert "12.3 [11.2, 13.5]" in text
    assert "−0.00012 [−0.00050, 0.00030]" in text
    assert "its SD, subsets of 5" in text
    assert "Frechet of gan extrapolated to infinitely many pictures: 9.87 [9.10, 10.60]" in text


def test_numbers_of_clusters_have_an_sd_over_clusterings_and_no_interval():
    text = text_of(run())

    assert "Overlap by clusters of pictures: F1/8 for precision, F8 for recall, with SDs over" in text
    assert re.search(r"0\.875 +0\.013 +0\.875 +0\.013", text)
    assert "their SD is over these, not over pictures" in text


def test_what_is_missing_is_explained_once():
    none = {
        "value": None,
        "ci": None,
        "reason": "too few",
        "extrapolated": {"value": None, "reason": "far too few"},
    }
    rows = [{**row, "frechet": none, "model": name} for row in run()["models"] for name in ("a", "b")]

    text = text_of(run(models=rows))

    assert text.count("No frechet: too few.") == 1
    assert "No extrapolation for b: far too few." in text


def test_the_csv_has_a_column_for_every_metric_and_names_that_no_spreadsheet_runs():
    runs = [run(), run(extractor={**run()["extractor"], "short_hash": "b" * 12})]
    runs[0]["models"][0]["model"] = runs[1]["models"][0]["model"] = "=HYPERLINK()"

    (found,) = csv.DictReader(io.StringIO(as_csv(runs)))

    assert found["model"] == "'=HYPERLINK()"
    assert found["frechet (layout-1)"] == found["frechet (layout-1) bbbbbbbbbbbb"] == "12.3456"
    assert found["frechet (layout-1, extrapolated)"] == "9.87"


def test_a_report_has_tables_of_distances_overlap_and_clusters_and_those_by_class_folded():
    classes = [{"class": name, "models": run()["models"]} for name in ("cats", "dogs")]

    found = section([run(classes=classes)])

    assert [table.name for table in found.tables] == [
        "picture-distances", "picture-overlap", "picture-clusters",
        "picture-distances-by-class", "picture-overlap-by-class", "picture-clusters-by-class",
    ]  # fmt: skip
    assert [table.is_folded for table in found.tables] == [False] * 3 + [True] * 3
    assert found.tables[0].cells == [
        ["gan", "9", "9", "12.3 [11.2, 13.5]", "−0.00012 [−0.00050, 0.00030]", "0.00100"]
    ]
    assert [cells[0] for cells in found.tables[3].cells] == ["cats", "dogs"]
    assert len(found.tables[3].rows) < LONG
    assert section([]) is None
