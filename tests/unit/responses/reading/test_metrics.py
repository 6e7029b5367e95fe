"""Metrics from a CSV: what is read, and what is refused with its place."""

import pytest

from backend.foundation.errors import InvalidInput, NotFound
from backend.responses.reading.metrics import read_metrics


def read(tmp_path, text):
    path = tmp_path / "metrics.csv"
    path.write_text(text, encoding="utf-8")
    return read_metrics(path)


def test_each_column_is_a_metric_by_model(tmp_path):
    found = read(tmp_path, "model,FID, KID\ngan,3.5,1e-3\n\nvae, 7,\n")

    assert found == {"FID": {"gan": 3.5, "vae": 7.0}, "KID": {"gan": 0.001}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: the header must be model and then names of metrics, not ''"),
        ("model\ngan\n", "line 1: the header must be model and then names of metrics, not 'model'"),
        ("name,FID\ngan,1\n", "line 1: the header must be model and then names of metrics, not 'name, FID'"),
        ("model,FID,\ngan,1,2\n", "line 1: the header must be model and then names"),
        ("model,FID,FID\ngan,1,2\n", "line 1: the header must name a column once; FID repeated"),
        ("model,FID\ngan,1\nvae,low\n", "line 3: FID must be a number or empty, not 'low'"),
        ("model,FID\ngan,nan\n", "line 2: FID must be a number or empty, not 'nan'"),
        ("model,FID\ngan\n", "line 2: expected 2 cells, got 1"),
        ("model,FID\ngan,1\ngan,2\n", "line 3: model must be a name that occurs once, not 'gan'"),
        ("model,FID\n,1\n", "line 2: model must be a name that occurs once, not ''"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_column(tmp_path, text, message):
    with pytest.raises(InvalidInput, match=message):
        read(tmp_path, text)


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path):
    (tmp_path / "b.csv").write_bytes(b"model,FID\n\xff,1\n")

    with pytest.raises(NotFound, match="there is no file"):
        read_metrics(tmp_path / "none.csv")
    with pytest.raises(InvalidInput, match="must be UTF-8 text"):
        read_metrics(tmp_path / "b.csv")


def test_a_model_whose_name_is_a_formula_is_found_by_its_own_name(tmp_path):
    path = tmp_path / "metrics.csv"
    path.write_text("model,fid\n'=gan,5\n", "utf-8")

    assert read_metrics(path) == {"fid": {"=gan": 5.0}}
