"""Metrics kept with a study: merged, never stale, and damage counts as none."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.metrics import study_metrics
from backend.metrics.picture_sets import PictureSet
from backend.report.build import ReportOptions, with_stored_metrics
from backend.report.findings import FindingsOptions
from backend.stores.datadir import DataDir
from tests.unit import sample_studies

SOME = sample_studies.study(images=8)
VALUE = {"value": 0.5, "ci": None, "reason": ""}
ROW = {
    "reals": 9,
    "fakes": 9,
    **dict.fromkeys(("frechet", "kid", "precision", "recall", "density", "coverage"), VALUE),
    **{name: {"value": 0.875, "ci": None, "reason": "", "sd": 0.0125} for name in ("f1_8", "f8")},
}
SETS = [PictureSet(model, (Path(f"{model}.png"),), (), "") for model in (None, *SOME.models)]


def kept_run(name="layout-1", digit="a", models=SOME.models):
    return {
        "extractor": {"name": name, "hash": digit * 64, "short_hash": digit * 12, "size": "", "about": ""},
        "names": {key: key for key in ROW},
        "options": {"level": 0.95},
        "dimensions": 3,
        "reals": 9,
        "models": [{"model": model, **ROW} for model in models],
        "classes": [],
        "notes": [],
        "picture_px": "",
    }


NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_kept_runs_of_several_extractors_stand_side_by_side(tmp_path):
    data = DataDir(tmp_path)
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)
    study_metrics.keep(data, SOME, [kept_run("other", "b")], SETS, NOW)
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)

    found = study_metrics.stored_metrics(data, SOME)

    assert [run["extractor"]["name"] for run in study_metrics.stored_runs(data, SOME)] == [
        "other",
        "layout-1",
    ]
    assert found["kid (other)"] == found["kid (layout-1)"] == {"gan": 0.5, "vae": 0.5}


def test_two_extractors_of_one_name_are_told_apart_by_hash(tmp_path):
    data = DataDir(tmp_path)

    study_metrics.keep(data, SOME, [kept_run(), kept_run("layout-1", "b")], SETS, NOW)

    names = study_metrics.stored_metrics(data, SOME)
    assert {"kid (layout-1 aaaaaaaaaaaa)", "kid (layout-1 bbbbbbbbbbbb)"} < {*names}


def test_kept_metrics_are_never_those_of_another_study_or_of_other_pictures(tmp_path):
    data = DataDir(tmp_path)
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)
    later = sample_studies.replaced(SOME, created_at="2026-01-03T00:00:00.000Z")
    fewer, more = (
        sample_studies.replaced(SOME, models=models) for models in (("vae",), (*SOME.models, "new"))
    )

    assert study_metrics.stored_metrics(data, later) == {}
    assert study_metrics.stored_metrics(data, fewer)["kid (layout-1)"] == {"vae": 0.5}
    assert study_metrics.stored_metrics(data, more)["kid (layout-1)"] == {"gan": 0.5, "vae": 0.5}
    joined = [*SETS, PictureSet("new", (Path("new.png"),), (), "")]
    study_metrics.keep(data, more, [kept_run("other", "b", more.models)], joined, NOW)
    assert [run["extractor"]["name"] for run in study_metrics.stored_runs(data, more)] == ["other"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"form": 1}', b'{"form": 9, "created_at": "", "runs": []}']
)
def test_a_damaged_file_of_metrics_counts_as_none_and_is_made_anew(tmp_path, content):
    data = DataDir(tmp_path)
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)
    before = study_metrics.version(data, SOME.name)
    data.metrics(SOME.name).write_bytes(content)

    assert study_metrics.stored_metrics(data, SOME) == {}
    assert study_metrics.version(data, SOME.name) != before
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)
    assert study_metrics.stored_metrics(data, SOME)


def test_a_value_that_is_no_number_is_not_taken_from_a_file(tmp_path):
    data = DataDir(tmp_path)
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)
    path = data.metrics(SOME.name)
    text = path.read_text()

    for bad in ("NaN", '"x"', "1e999"):
        path.write_text(text.replace('"value": 0.5', f'"value": {bad}', 1))
        assert study_metrics.stored_metrics(data, SOME) == {}


def test_given_metrics_take_precedence_over_kept_ones_of_the_same_name(tmp_path):
    data = DataDir(tmp_path)
    study_metrics.keep(data, SOME, [kept_run()], SETS, NOW)
    given = ReportOptions(
        findings_options=FindingsOptions({"kid (layout-1)": {"gan": 7.0}, "mine": {"gan": 1.0}})
    )

    found = with_stored_metrics(given, data, SOME)

    assert found.metrics["kid (layout-1)"] == {"gan": 7.0}
    assert found.metrics["mine"] == {"gan": 1.0}
    assert found.metrics["recall (layout-1)"] == {"gan": 0.5, "vae": 0.5}
    assert [run["dimensions"] for run in found.picture_metrics] == [3]
