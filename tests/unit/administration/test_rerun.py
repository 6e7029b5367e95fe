"""The same study again: what it has of the first, what it lacks, and what is refused."""

import dataclasses

import numpy as np
import pytest
from click.testing import CliRunner
from PIL import Image

from backend.administration.rerun import free_name
from backend.cli import main
from backend.stores.datadir import DataDir
from backend.stores.opening import open_store

_FEW = ["--size", "16", "--evaluators", "2", "--set", "images=8"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    for side in ("reals", "gan", "vae"):
        (tmp_path / side).mkdir()
        for i in range(12):
            pixels = rng.integers(0, 256, (16, 16, 3)).astype("uint8")
            Image.fromarray(pixels).save(tmp_path / side / f"{i}.png")
    monkeypatch.chdir(tmp_path)
    made = run("create", "faces", "--real", "reals", "--model", "gan=gan", "--model", "vae=vae", *_FEW)
    assert made.exit_code == 0, made.output
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [*arguments])


def stored(folder):
    data = DataDir(folder / "openhype-data")
    return open_store("sqlite:///openhype.db", data.root), data


def test_it_has_the_stimuli_pictures_settings_and_no_session(folder):
    run("simulate", "faces")

    made = run("rerun", "faces", "--as", "faces-june")

    assert made.exit_code == 0, made.output
    store, data = stored(folder)
    first, again = store.study("faces"), store.study("faces-june")
    own = {"name", "created_at", "settings_id", "notes", "version", "begun_at"}
    for field in dataclasses.fields(first):
        if field.name not in own:
            assert getattr(again, field.name) == getattr(first, field.name)
    assert [*store.stimuli("faces-june")] == [*store.stimuli("faces")]
    files = [
        {file.name: file.read_bytes() for file in data.images(name).iterdir()}
        for name in ("faces", "faces-june")
    ]
    assert files[0] == files[1]
    assert (store.finished("faces-june", True)[0], again.begun_at) == (0, "")
    assert again.notes[-1] == f"runs the study faces again, which was made at {first.created_at}"


def test_the_first_can_be_deleted_and_the_second_is_played_and_compared(folder):
    run("rerun", "faces")
    for name in ("faces", "faces-2"):
        assert run("simulate", name, "--seed", "1").exit_code == 0

    compared = run("replicate", "faces", "faces-2", "--simulated")
    deleted = run("delete", "faces", "--yes", "faces")

    assert "Changes of scores between runs" in compared.output
    assert deleted.exit_code == 0, deleted.output
    store, data = stored(folder)
    assert all(data.picture("faces-2", stimulus.name) for stimulus in store.stimuli("faces-2"))


def test_a_model_joins_a_rerun_as_it_would_the_first(folder):
    (folder / "gan").rename(folder / "new")
    run("rerun", "faces")

    joined = run("join", "faces-2", "--model", "net=new")

    assert "of gan" in joined.output or joined.exit_code in (0, 1)
    assert "fault" not in joined.output


def test_settings_that_differ_are_told(folder):
    run("rerun", "faces")
    assert run("set", "faces-2", "images=6").exit_code == 0
    for name in ("faces", "faces-2"):
        run("simulate", name)

    compared = run("replicate", "faces", "faces-2", "--simulated", "--json")

    assert "note: faces and faces-2 differ in settings that may matter: images (8, then 6)" in compared.stderr


def test_names_are_numbered_from_two(folder):
    assert [run("rerun", "faces").exit_code for _ in range(2)] == [0, 0]

    assert free_name(stored(folder)[0], "faces") == "faces-4"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nosuch"], "there is no study 'nosuch'"),
        (["faces", "--as", "faces"], "a study faces exists already"),
        (["faces", "--as", "Faces June"], "name"),
        (["gate"], "gate is a qualification, which has no scores to compare"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_line(folder, arguments, message):
    run("qualification", "gate", "--real", "reals", "--model", "gan=gan", "--size", "16", "--set", "images=8")

    refused = run("rerun", *arguments)

    assert refused.exit_code == 1
    assert message in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_pictures_that_are_elsewhere_are_named(folder):
    _, data = stored(folder)
    data.images("faces").rename(folder / "elsewhere")

    assert "the pictures of faces are not in" in run("rerun", "faces").stderr


def test_runs_without_answers_are_told(folder):
    run("rerun", "faces")

    assert "study faces" in run("replicate", "faces", "faces-2").stderr
