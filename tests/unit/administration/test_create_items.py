"""Making a study of items by the command line: done, or one line and nothing left."""

import csv
import json
import shutil
from collections import Counter
from pathlib import Path

import pytest
from click.testing import CliRunner

from backend.administration.study_spec import read_spec
from backend.cli import main
from backend.experiment.judgment import pictures_of
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

from ..stimuli.items import PAIR, fill

DATA = Path("openhype-data")
SETTINGS = ["--set", "images=8", "--set", "picture_checks=3"]


@pytest.fixture
def tree(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("cnn", "traditional"):
        fill(tmp_path / "val" / name, 10)
    return tmp_path / "val"


def run(*args):
    result = CliRunner().invoke(main, [*map(str, args)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def stored(name):
    store = open_store("sqlite:///openhype.db", DATA)
    found = store.study(name), list(store.stimuli(name))
    store.close()
    return found


def test_a_study_of_triplets_is_made_simulated_and_exported_with_even_judgments(tree):
    made = run("create", "sim", "--method", "2afc", "--items", tree, *SETTINGS)
    played = run("simulate", "sim")
    exported = run("export", "sim", "--simulated", "-o", "out")

    assert (made.exit_code, played.exit_code, exported.exit_code) == (0, 0, 0), made.output
    assert "2 sets, 8 items a session" in made.output
    # 20 triplets * 5 / 8 a session = 12.5
    assert "20 triplets, 5 judgments of each: 13 evaluators with 8 triplets a session" in made.output
    assert "13 simulated evaluators finished" in played.output
    with open("out/data/study-sim_data.csv", encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["trial_kind"] == "test"]
    counts = Counter(row["item"] for row in rows)
    assert set(counts) == {f"{name}/{i:03d}" for name in ("cnn", "traditional") for i in range(10)}
    assert set(counts.values()) <= {5, 6}
    assert json.loads(run("status", "sim", "--json").output)["simulated"] == 13


def test_the_pictures_of_every_item_are_there_and_no_others(tree):
    run("create", "sim", "--method", "2afc", "--items", f"mine={tree / 'cnn'}", *SETTINGS)

    study, stimuli = stored("sim")
    files = {path.name for path in DataDir(DATA).images("sim").iterdir()}
    assert study.models == ("mine",)
    assert study.protocol.stimuli.size_px == 24
    assert {name for each in stimuli for name in pictures_of(each.name)} == files
    assert len(files) == 3 * (10 + 4 * 3)


def test_evaluators_follow_from_the_judgments_unless_they_are_given_and_again_when_these_change(tree):
    run("create", "sim", "--method", "2afc", "--items", tree, *SETTINGS)
    pilot = run("create", "pilot", "--method", "2afc", "--items", tree, *SETTINGS, "--evaluators", 2)
    run("set", "sim", "judgments_per_item=2")

    assert stored("sim")[0].protocol.admission.evaluators == 5  # 20 * 2 / 8
    assert "evaluators=2 gives 0.8 judgments of each" in pilot.output  # 2 * 8 / 20


def test_a_file_declares_its_sets(tree):
    (tree.parent / "study.toml").write_text(
        'name = "sim"\nmethod = "2afc"\n[items]\nmine = "val/cnn"\n'
        "[settings]\nimages = 8\npicture_checks = 3\n"
    )

    made = run("create", "study.toml")

    assert made.exit_code == 0, made.output
    assert stored("sim")[0].models == ("mine",)
    assert read_spec(Path("study.toml")).items == (("mine", Path("val/cnn")),)


@pytest.mark.parametrize(
    ("args", "status", "message"),
    [
        (
            ["--method", "2afc", "--real", "val", "--model", "a=val"],
            2,
            "shows items of 3 pictures each (ref, p0, p1)",
        ),
        (["--method", "2afc"], 2, "given by --items [NAME=]DIR"),
        (
            ["--method", "2afc", "--items", "val", "--real", "val"],
            2,
            "not by --real DIR and --model NAME=DIR",
        ),
        (["--items", "val"], 2, "--items [NAME=]DIR goes with method 2afc"),
        (["--method", "2afc", "--items", "=val"], 2, "a set of items is DIR or NAME=DIR, not '=val'"),
        (["--method", "2afc", "--items", "a="], 2, "a set of items is DIR or NAME=DIR, not 'a='"),
        (["--method", "2afc", "--items", "nowhere"], 1, "nowhere does not exist"),
        (["--method", "2afc", "--items", "val", "--items", "val/cnn"], 1, "two sets are called 'cnn'"),
        (["--method", "2afc", "--items", "CNN=val/cnn", "--items", "val"], 1, "differ by case only"),
        (["--method", "2afc", "--items", "a/b=val/cnn"], 1, "a set's name must be"),
        (["--method", "2afc", "--items", "val", "--preprocess", "jpeg:90"], 1, "items are shown as they are"),
        (["--method", "2afc", "--items", "val", "--size", "8"], 1, "size_px must be from 16 to 2048, not 8"),
        (["--method", "2afc", "--items", "val", "--set", "images=21"], 1, "--set images=20"),
        (
            ["--method", "2afc", "--items", "val", "--set", "judgments_per_item=0"],
            1,
            "judgments_per_item must be from 1 to 1000, not 0",
        ),
        (
            ["--method", "2afc", "--items", "val", "--set", "judgments_per_item=1e400"],
            1,
            "must be a whole number",
        ),
        (["--real", "val", "--model", "a=val", "--set", "judgments_per_item=3"], 1, "and only with them"),
        (["--real", "val/cnn/p0", "--model", "a=val/cnn/p1", "--size", "0"], 1, "from 16 to 2048, not 0"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_line_and_leaves_nothing(tree, args, status, message):
    refused = run("create", "sim", *args)

    assert refused.exit_code == status, refused.output
    assert message in refused.stderr
    assert not list((tree.parent / "openhype-data" / "images").glob("*")) or status == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "s"\nmethod = "2afc"\n', "line 2: 2AFC (method 2afc) shows items"),
        ('name = "s"\nmethod = "2afc"\nitems = "nowhere"\n', "line 3: there is no folder 'nowhere'"),
        (
            'name = "s"\nitems = "val"\n',
            "line 2: HYPE-infinity (method infinity) takes its pictures from real",
        ),
        ('name = "s"\nmethod = "2afc"\nitems = 3\n', "line 3: items must be"),
        ('name = "s"\nmethod = "2afc"\n[items]\n', "must name at least one set"),
        ('name = "s"\nmethod = "2afc"\n[items]\na = 3\n', "line 4: a must be a folder in quotes, not 3"),
        ('name = "s"\nmethod = "2afc"\n[items]\n"a/b" = "val"\n', "line 4: a set's name must be"),
        (
            'name = "s"\nmethod = "2afc"\nitems = "val/cnn/p0"\n',
            "line 3: val/cnn/p0 has neither the folders ref",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_line(tree, text, message):
    (tree.parent / "study.toml").write_text(text)

    refused = run("create", "study.toml")

    assert refused.exit_code == 1, refused.output
    assert message in refused.stderr


def test_pictures_that_cannot_be_used_are_named_and_all_are_listed(tree):
    shutil.rmtree(tree / "cnn" / "p1")
    (tree / "cnn" / "p1").mkdir()

    refused = run("create", "sim", "--method", "2afc", "--items", tree, *SETTINGS)

    assert refused.exit_code == 1
    told = "10 lack a part (cnn/000, cnn/001, cnn/002, …; each has ref and p0, and no p1)"
    assert f"10 items cannot be used: {told}" in refused.stderr
    assert (tree.parent / "openhype-data" / "sim-files.txt").read_text().count(
        "has ref and p0, and no p1"
    ) == 10


def test_a_backup_has_the_pictures_of_items_and_a_deletion_removes_them(tree):
    run("create", "sim", "--method", "2afc", "--items", tree, *SETTINGS)
    saved = run("backup", "saved")
    gone = run("delete", "sim", "--yes", "sim")

    names = {path.name for path in (tree.parent / "saved").rglob("*.webp")}
    assert (saved.exit_code, gone.exit_code) == (0, 0), (saved.output, gone.output)
    assert len(names) == 3 * (20 + 4 * 3)
    assert not (tree.parent / "openhype-data" / "images" / "sim").exists()


def test_pairs_are_made_from_their_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fill(tmp_path / "pairs", 12, PAIR)

    made = run(
        "create", "same", "--method", "jnd", "--items", "pairs",
        "--set", "images=6", "--set", "spare_images=2", "--set", "picture_checks=4",
    )  # fmt: skip

    assert made.exit_code == 0, made.output
    assert "1 set, 6 items a session" in made.output
