"""Making a study, by the command line as a researcher does: done, or one line and nothing left."""

import errno
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.cli import main
from backend.creation import Order, create
from backend.datadir import DataDir
from backend.errors import Conflict
from backend.stores import open_store

RNG = np.random.default_rng(3)


def fill(folder, count=30):
    folder.mkdir(parents=True)
    for i in range(count):
        Image.fromarray(RNG.integers(0, 256, (16, 16, 3)).astype("uint8")).save(folder / f"{i}.png")
    return folder


@pytest.fixture
def folders(tmp_path):
    return {name: fill(tmp_path / name) for name in ("real", "gan", "vae")}


@pytest.fixture
def run(tmp_path):
    def run(*args):
        result = CliRunner().invoke(main, [*map(str, args), "--data", str(tmp_path / "data")])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def sides(folders):
    return ["--real", folders["real"], "--model", f"gan={folders['gan']}", "--model", f"vae={folders['vae']}"]


def test_a_study_is_made_played_by_robots_scored_and_exported_alike(run, folders, tmp_path):
    made = run("create", "faces", *sides(folders), "--size", 16, "--evaluators", 3, "--set", "images=20")
    played = run("simulate", "faces", "--accuracy", "gan=0.6", "--accuracy", "vae=0.95", "--seed", 1)
    exported = run("export", "faces", "-o", tmp_path / "out")
    of_study = run("score", "faces", "--json")
    of_file = run("score", tmp_path / "out" / "data" / "study-faces_data.csv", "--json")

    assert (made.exit_code, played.exit_code, exported.exit_code) == (0, 0, 0)
    assert "6 simulated evaluators finished" in played.output
    assert json.loads(of_study.output) == json.loads(of_file.output)
    assert [model["model"] for model in json.loads(of_study.output)["models"]] == ["gan", "vae"]
    assert json.loads(run("status", "faces", "--json").output)["models"][0]["finished"] == 3


def test_a_time_study_gives_milliseconds(run, folders, tmp_path):
    settings = ["--set", "images=16", "--set", "blocks=1", "--set", "masks=phase", "--evaluators", 2]
    run("create", "glimpse", "--method", "time", *sides(folders), "--size", 16, *settings)
    run("simulate", "glimpse", "--accuracy", "all=threshold=300,slope=4")
    run("export", "glimpse", "-o", tmp_path / "out")

    scores = json.loads(run("score", "glimpse", "--json").output)

    assert (scores["method"], scores["unit"]) == ("time", "ms")
    assert all(100 <= model["score"] <= 1000 for model in scores["models"])
    of_file = run("score", tmp_path / "out" / "data" / "study-glimpse_data.csv", "--json")
    assert json.loads(of_file.output) == scores


@pytest.fixture
def gray(tmp_path):
    """Return options for small gray pictures, whose textures are quickly made, and few a session."""
    for name in ("real", "gan"):
        (tmp_path / name).mkdir()
        for i in range(12):
            noise = RNG.integers(0, 256, (16, 16)).astype("uint8")
            Image.fromarray(noise).save(tmp_path / name / f"{i}.png")
    sides = ["--real", tmp_path / "real", "--model", f"gan={tmp_path / 'gan'}", "--size", 16]
    numbers = ["--set", "images=8", "--set", "blocks=1", "--set", "spare_images=2"]
    return ["--method", "time", *sides, *numbers]


def masks_of(tmp_path, study):
    store = open_store("sqlite:///openhype.db", tmp_path / "data")
    found = store.study(study)
    store.close()
    folder = DataDir(tmp_path / "data").images(study)
    return found, {(folder / name).read_bytes() for name in found.masks}


def size_of(path):
    with Image.open(path) as picture:
        return picture.size


def test_masks_are_textures_unless_others_are_asked_for_and_kept_for_the_next_study(run, gray, tmp_path):
    first = run("create", "one", *gray)
    entries = {path.stat().st_ino for path in (tmp_path / "data" / "cache").rglob("*") if path.is_file()}
    run("create", "two", *gray)
    run("create", "three", *gray, "--set", "masks=phase")

    (one, textures), (_, again), (three, phases) = (masks_of(tmp_path, n) for n in ("one", "two", "three"))

    assert first.exit_code == 0
    assert (one.protocol.masks, three.protocol.masks) == ("texture", "phase")
    assert textures == again
    assert not textures & phases
    assert entries == {p.stat().st_ino for p in (tmp_path / "data" / "cache").rglob("*") if p.is_file()}


def test_masks_of_ones_own_are_told_apart(run, gray, tmp_path):
    own = fill(tmp_path / "own", 3)

    made = run("create", "glimpse", *gray, "--masks", own)
    refused = run("create", "other", *gray, "--set", "masks=own")

    assert made.exit_code == 0
    assert masks_of(tmp_path, "glimpse")[0].protocol.masks == "own"
    assert (refused.exit_code, "--masks DIR" in refused.stderr) == (1, True)


def test_masks_are_looked_at_before_and_after_a_study_is_made(run, gray, tmp_path):
    run("create", "glimpse", *gray, "--set", "masks=phase")
    run(
        "create",
        "none",
        "--real",
        tmp_path / "real",
        "--model",
        f"gan={tmp_path / 'gan'}",
        "--set",
        "images=8",
    )

    of_study = run("masks", "glimpse", "-o", tmp_path / "study.png", "--count", 4)
    of_folder = run("masks", tmp_path / "real", "-o", tmp_path / "folder.png", "--size", 16, "--count", 3)
    missing = run("masks", "nothing", "-o", tmp_path / "n.png")
    without = run("masks", "none", "-o", tmp_path / "n.png")

    assert (of_study.exit_code, of_folder.exit_code) == (0, 0)
    assert size_of(tmp_path / "study.png") == (36, 36)  # two by two of 16 px, 4 px apart
    assert size_of(tmp_path / "folder.png") == (56, 36)  # three sources above their masks
    assert (missing.exit_code, without.exit_code) == (1, 1)
    assert "study none has no masks" in without.stderr


def test_a_qualification_stands_before_its_study(run, folders):
    run("qualification", "test", *sides(folders), "--size", 16, "--set", "images=20")
    run(
        "create", "faces", *sides(folders), "--qualification", "test", "--evaluators", 1, "--set", "images=10"
    )

    played = run("simulate", "faces")

    assert played.exit_code == 0
    assert json.loads(run("status", "test", "--json").output)["models"][0]["finished"] == 2


def test_a_study_is_described_by_a_file(run, folders, tmp_path):
    (tmp_path / "faces.toml").write_text(
        'name = "faces"\nreal = "real"\n[models]\ngan = "gan"\n[settings]\nimages = 20\nsize_px = 16\n'
    )

    made = run("create", tmp_path / "faces.toml")

    assert made.exit_code == 0
    assert "made the study faces" in made.output


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("../x", [], "a study's name must be"),
        ("faces", ["--set", "images=90"], "study faces has 30 reals; a HYPE-infinity session needs 45"),
        ("faces", ["--set", "imags=4"], "no setting is called 'imags'"),
        ("faces", ["--qualification", "none"], "'none' is not one"),
        ("faces", ["--equalise", "blur"], "--equalise must be"),
        ("faces", ["--model", "gan=/nowhere"], "two models are called 'gan'"),
        ("faces", ["--model", " gan =/nowhere"], "two models are called 'gan'"),
        ("faces", ["--model", "GAN=/nowhere"], "the models 'gan' and 'GAN' differ in case alone"),
        ("none.toml", [], "wrong usage"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line_and_nothing_is_left(
    run, folders, tmp_path, name, options, message
):
    result = run("create", name, *sides(folders), *options)

    if message == "wrong usage":
        assert result.exit_code == 2
    else:
        assert result.exit_code == 1
        assert message in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
    assert not any((tmp_path / "data").glob("images/*"))
    assert run("status").output.startswith("no study yet")


def test_a_full_disk_is_said_in_one_line_and_nothing_is_left(run, folders, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a.png")

    monkeypatch.setattr("backend.intake._make_uniform", full)

    made = run("create", "faces", *sides(folders), "--size", 16, "--set", "images=20")

    assert (made.exit_code, made.stderr.splitlines()[-1]) == (1, "openhype: a.png: No space left on device")
    assert not list((tmp_path / "data" / "images").iterdir())


def test_a_taken_name_is_refused_and_the_first_study_keeps_its_pictures(run, folders, tmp_path):
    options = [*sides(folders), "--size", 16, "--set", "images=20"]
    run("create", "faces", *options)
    before = sorted((tmp_path / "data" / "images" / "faces").iterdir())

    again = run("create", "faces", *options)

    assert again.exit_code == 1
    assert "exists already" in again.stderr
    assert sorted((tmp_path / "data" / "images" / "faces").iterdir()) == before


def test_pictures_left_by_a_creation_that_died_do_not_stand_in_the_way(folders, tmp_path):
    data = DataDir(tmp_path / "data")
    fill(data.images("faces"))
    store = open_store("sqlite:///openhype.db", data.root)
    models = (("gan", folders["gan"]),)
    order = Order("faces", "study", "infinity", folders["real"], models, {"images": 20, "size_px": 16})

    create(store, data, order, datetime.now(UTC))

    assert {path.name for path in data.images("faces").iterdir()} == {s.name for s in store.stimuli("faces")}
    with pytest.raises(Conflict, match="exists already"):
        create(store, data, order, datetime.now(UTC))
    store.close()


def test_help_imports_nothing_heavy():
    program = (
        "import sys\nfrom backend.cli import main\n"
        "try:\n    main(['score', '--help'])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('numpy', 'scipy', 'PIL', 'flask', 'sklearn') if m in sys.modules])"
    )

    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

    assert found.stdout.strip().splitlines()[-1] == "[]"


def test_the_public_face_costs_nothing_to_import_and_scores(tmp_path):
    rows = "model,evaluator,truth,response\nm,a,real,fake\nm,b,real,real\n"
    (tmp_path / "r.csv").write_text(rows)
    program = (
        "import sys, openhype; assert 'numpy' not in sys.modules;"
        f"print(openhype.score({str(tmp_path / 'r.csv')!r})['models'][0]['score']);"
        "assert openhype.bootstrap([0, 1]).std > 0"
    )

    root = Path(__file__).resolve().parents[2]
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=root
    )

    assert found.stdout.split()[0] == "50.0"
