"""Studies of triplets from folders to scores of metrics, exports and reports, with simulated evaluators."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main

PARTS = {"2afc": ("ref", "p0", "p1"), "jnd": ("p0", "p1")}
SMALL = {
    "2afc": ("images=12", "picture_checks=2"),
    "jnd": ("images=12", "picture_checks=2", "practice_images=2", "spare_images=0"),
}


def run(*arguments):
    found = CliRunner().invoke(main, [*map(str, arguments)])
    assert found.exit_code == 0, found.output
    return found


@pytest.fixture(params=["2afc", "jnd"])
def study(request, tmp_path, monkeypatch):
    """A study `sim` of two sets of eight items, with three simulated sessions, and distances of a metric."""
    monkeypatch.chdir(tmp_path)
    kind, rng = request.param, np.random.default_rng(1)
    with Path("l2.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "d0", "d1"] if kind == "2afc" else ["item", "d"])
        for name in ("traditional", "cnn"):
            for i in range(8):
                for part in PARTS[kind]:
                    path = Path(f"sets/{name}/{part}/{i:03}.png")
                    path.parent.mkdir(parents=True, exist_ok=True)
                    Image.fromarray(rng.integers(0, 256, (32, 32, 3)).astype("uint8")).save(path)
                writer.writerow([f"{name}/{i:03}", *rng.random(2 if kind == "2afc" else 1)])
    settings = [each for setting in SMALL[kind] for each in ("--set", setting)]
    run("create", "sim", "--method", kind, "--items", "sets", "--size", 32, *settings)
    run("simulate", "sim", "--evaluators", 3, "--seed", 1)
    return kind


def test_scores_are_the_same_from_the_study_its_export_and_its_tree(study):
    run("export", "sim", "-o", "out", "--bapps", "--simulated")

    of_study, of_export, of_tree = (
        json.loads(run("agree", what, *more, "--json").stdout)
        for what, more in (
            ("sim", ("--metric", "l2=l2.csv", "--simulated")),
            ("out", ("--metric", "l2=l2.csv")),
            ("out/bapps", ("--metric", f"l2={numbered('out/bapps/items.csv')}")),
        )
    )

    assert of_study == of_export
    assert (of_study["votes"], of_study["evaluators"]) == (36, 3)
    for row, same in zip(of_study["metrics"], of_tree["metrics"], strict=True):
        assert row["score"] == pytest.approx(same["score"], abs=1e-5)
    assert run("agree", "out/bapps").stdout.startswith("Simulated sessions: ")
    assert run("agree", f"out/bapps/{study}/val/cnn").stdout.startswith("Simulated sessions: ")


def numbered(items):
    """Write the distances again, with the items named by their numbers in the tree; return the file."""
    with open("l2.csv", newline="") as file:
        header, *rows = csv.reader(file)
    with open(items, newline="") as file:
        stems = {row["item"]: f"{row['set']}/{row['stem']}" for row in csv.DictReader(file)}
    with open("numbered.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *([stems[row[0]], *row[1:]] for row in rows if row[0] in stems)])
    return "numbered.csv"


def test_the_pictures_of_the_tree_are_those_of_the_folders(study):
    run("export", "sim", "-o", "out", "--bapps", "--simulated")

    with open("out/bapps/items.csv", newline="") as file:
        listed = [*csv.DictReader(file)]
    assert listed
    for row in listed:
        name, stem = row["item"].split("/")
        for part in PARTS[study]:
            written = Image.open(f"out/bapps/{study}/val/{name}/{part}/{row['stem']}.png")
            given = Image.open(f"sets/{name}/{part}/{stem}.png")
            # stored pictures may be compressed with a small loss
            apart = np.abs(np.asarray(written, float) - np.asarray(given, float)).mean()
            assert written.size == given.size
            assert apart < 40


def test_a_study_without_real_sessions_says_so(study):
    found = CliRunner().invoke(main, ["agree", "sim"])

    assert found.exit_code == 1
    assert "ask for them with --simulated" in found.stderr


def test_an_export_of_what_has_no_votes_writes_nothing(study):
    found = CliRunner().invoke(main, ["export", "sim", "-o", "out", "--bapps"])

    assert found.exit_code == 1
    assert not Path("out").exists()


@pytest.mark.slow("a study is played, measured and scored whole")
def test_the_report_of_triplets_shows_how_far_people_agree(study):
    run("report", "sim", "-o", "report", "--simulated")

    table = Path("report/tables/agreement.md")
    assert table.exists() == (study == "2afc")
    if study == "2afc":
        human = json.loads(run("agree", "sim", "--simulated", "--json").stdout)["human"]
        (average,) = [row["unbiased"] for row in human if row["column"] == "average"]
        assert f"| average | {average:.1f} |" in table.read_text("utf-8")
