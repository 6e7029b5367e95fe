"""`openhype score`: one path for files and studies, with and without findings."""

import json

import pytest
from click.testing import CliRunner

import openhype
from backend.cli import main
from backend.foundation.errors import InvalidInput
from backend.responses.export import export

from .. import sample_studies as studies

HEADER = "model,evaluator,truth,response"
LINES = [
    f"{model},{model}{i},fake,{'real' if k < wrong + i else 'fake'}"
    for model, wrong in (("gan", 5), ("vae", 2), ("flow", 1))
    for i in range(3)
    for k in range(10)
]


SHARED = [line + f",p{number % 10}" for number, line in enumerate(LINES)]
"""Each model's answers as they are, to ten pictures with the same names."""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("\n".join([HEADER, *LINES]) + "\n")
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["score", *map(str, arguments)])


def test_json_has_findings_only_when_asked_for(file):
    assert "findings" not in json.loads(run(file, "--json").stdout)
    assert "findings" in json.loads(run(file, "--json", "--full").stdout)


def test_metrics_imply_findings_and_are_printed(file, tmp_path):
    (tmp_path / "m.csv").write_text("model,FID\ngan,1\nvae,2\nflow,3\n")

    found = run(file, "--metrics", tmp_path / "m.csv")

    assert "FID ↓: Spearman's ρ = −1.00, p " in found.stdout


def test_bad_metrics_are_one_line_and_status_1(file, tmp_path):
    (tmp_path / "m.csv").write_text("model,FID\ngan,low\n")

    found = run(file, "--metrics", tmp_path / "m.csv")

    assert (found.exit_code, found.stdout) == (1, "")
    assert found.stderr.endswith("m.csv line 2: FID must be a number or empty, not 'low'\n")


@pytest.mark.parametrize("option", [["--margin", "0"], ["--margin", "50"], ["--threshold-at", "0.5"]])
def test_options_out_of_range_are_wrong_usage(file, option):
    assert run(file, "--full", *option).exit_code == 2


def test_margin_and_threshold_reach_the_findings(file):
    found = json.loads(run(file, "--full", "--json", "--margin", "12").stdout)

    assert found["findings"]["models"][0]["chance"]["equivalence"]["margin"] == 12


@pytest.mark.parametrize("options", [[], ["--full"]])
def test_the_margin_reaches_the_pairs_of_models(file, options):
    file.write_text("\n".join([f"{HEADER},stimulus", *SHARED]) + "\n")

    found = json.loads(run(file, "--json", "--margin", "12", *options).stdout)

    assert {row["equivalence"]["margin"] for row in found["over_pictures"]["pairs"]} == {12}
    assert "within 12 points" in run(file, "--margin", "12", *options).stdout


def test_a_missing_column_is_refused(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("model,evaluator,truth\ngan,a,fake\n")

    found = run(path, "--full")

    assert (found.exit_code, "response missing" in found.stderr) == (1, True)


@pytest.mark.slow("finds everything there is twice, of a study and of its export")
def test_a_study_and_its_export_have_the_same_findings(world, tmp_path):
    study = studies.study()
    world.add(study)
    for i in range(4):
        world.player().play(right=lambda truth, i=i: truth == "real" or i % 2 == 0)
    data = ["--data", tmp_path]
    responses, *_ = export(world.store, study, tmp_path / "out")

    here, there = run("faces", "--full", "--json", *data), run(responses, "--full", "--json")

    assert here.exit_code == 0, here.stderr
    ours, theirs = json.loads(here.stdout), json.loads(there.stdout)
    # who left stands in the store alone
    assert ours["findings"].pop("attrition")["models"]
    assert theirs["findings"].pop("attrition") is None
    assert ours == theirs


def test_an_empty_study_is_refused(world, tmp_path):
    world.add(studies.study())

    found = run("faces", "--full", "--data", tmp_path)

    assert (found.exit_code, "no finished session yet" in found.stderr) == (1, True)


def test_the_notebook_gives_what_the_command_prints(file):
    metrics = {"FID": {"gan": 1.0, "vae": 2.0, "flow": 3.0}}

    found = openhype.score(file, metrics=metrics, margin=8)

    assert found["findings"]["metrics"][0]["rho"] == -1.0
    assert (
        openhype.score(file, full=True)["findings"]
        == json.loads(run(file, "--full", "--json").stdout)["findings"]
    )
    assert "findings" not in openhype.score(file)
    with pytest.raises(InvalidInput, match="exposures must be 'nominal' or 'shown', not 'real'"):
        openhype.score(file, exposures="real")


def test_the_notebook_fits_a_psychometric_function():
    exposures = [50.0] * 40 + [900.0] * 40

    found = openhype.fit_psychometric(exposures, [True, False] * 20 + [True] * 40)

    assert 50 < found.threshold_ms < 900
    assert found.guess == 0.5


def test_an_export_for_publication_names_what_is_missing(world, tmp_path):
    world.add(studies.study(images=10, spare_images=0))
    world.player().play()
    world.player().play()
    options = ["--data", str(world.data.root), "export", "faces", "-o", str(tmp_path / "out")]

    bare = CliRunner().invoke(main, [*options, "--croissant"])
    whole = CliRunner().invoke(
        main,
        [
            *options,
            "--croissant",
            "--creator",
            "Lovelace, Ada",
            "--license",
            "cc0-1.0",
            "--url",
            "https://x.example",
        ],
    )
    alone = CliRunner().invoke(main, [*options, "--license", "MIT"])

    assert "nothing is said of --creator, --license, --url" in bare.stderr
    assert "there is no CITATION.cff without --creator" in bare.stderr
    assert (whole.exit_code, whole.stderr) == (0, "")
    assert str(tmp_path / "out" / "model-cards" / "gan.md") in whole.stdout.splitlines()
    assert (tmp_path / "out" / "CITATION.cff").exists()
    assert alone.exit_code == 2
    assert "go with --croissant" in alone.stderr
