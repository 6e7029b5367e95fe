"""`openhype replicate`: files and studies, what it prints and writes, and what it refuses."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from backend.cli import main

HEADER = "model,evaluator,truth,response,stimulus"


def write(path, share, who, stimulus="s", models=("gan", "vae"), people=8):
    rng = np.random.default_rng(sum(map(ord, who)))
    lines = [
        f"{model},{who}{model}{i},fake,{'real' if rng.random() < share else 'fake'},{stimulus}{j}"
        for model in models
        for i in range(people)
        for j in range(20)
    ]
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    return [write(tmp_path / f"{name}.csv", share, name) for name, share in (("march", 0.2), ("june", 0.7))]


def run(*arguments):
    return CliRunner().invoke(main, [*map(str, arguments)])


def test_runs_are_tested_against_each_other(files):
    found = json.loads(run("replicate", *files, "--json").stdout)

    assert [row["run"] for row in found["runs"]] == ["march", "june"]
    for row in found["differences"]:
        means = [one["score"] for one in found["scores"] if one["model"] == row["model"]]
        assert row["difference"] == pytest.approx(means[1] - means[0])
        assert (row["verdict"], row["shared"]) == ("changed", 20)


def test_the_terminal_says_what_changed(files):
    text = run("replicate", *files).stdout

    assert "Of 2 differences between runs, 2 are significant, and 0 are shown to be within 5 points." in text
    assert "20 of 20" in text


def test_a_page_with_figure_and_tables_is_written(files, tmp_path):
    made = run("replicate", *files, "-o", tmp_path / "out")

    assert made.exit_code == 0, made.output
    assert (tmp_path / "out" / "figures" / "runs.png").stat().st_size > 5000
    assert "model,a,b,difference" in (tmp_path / "out" / "tables" / "replication.csv").read_text()


def test_files_of_one_name_in_two_folders_are_two_runs(files, tmp_path):
    (tmp_path / "other").mkdir()
    other = write(tmp_path / "other" / "march.csv", 0.2, "other")

    found = json.loads(run("replicate", files[0], other, "--json").stdout)

    assert [row["run"] for row in found["runs"]] == [str(files[0]), str(other)]


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (lambda files, _: files[0], "march.csv is named twice; a run is compared with other ones"),
        (lambda _, folder: write(folder / "b.csv", 0.2, "b", stimulus="t"), "have no stimulus in common"),
        (lambda _, folder: write(folder / "b.csv", 0.2, "b", models=("net",)), "no model was judged in two"),
        (lambda _, folder: folder / "none.csv", "none.csv"),
        (lambda *_: "nosuch", "there is no study 'nosuch'"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_line(files, tmp_path, second, message):
    refused = run("replicate", files[0], second(files, tmp_path), "--data", tmp_path / "data")

    assert refused.exit_code == 1
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_one_run_alone_is_refused(files):
    assert "two runs or more are compared" in run("replicate", files[0]).stderr
